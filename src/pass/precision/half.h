/* SPDX-License-Identifier: MIT */
/* half.h — conversion of a whole model from float32 to a 16-bit type, for passes that end with
 * it. */
#ifndef PRT_PASS_PRECISION_HALF_H
#define PRT_PASS_PRECISION_HALF_H

#include "pass/precision/retype.h"

/* Converts everything that float_to_half converts to `to`, float16 or bfloat16. `more` (its mode
 * and user) selects the ops to keep; NULL keeps only ops that cannot be converted. */
poprt_status prt_retype_all(prt_pass *p, int32_t to, const prt_retype *more, bool *changed);

#endif
