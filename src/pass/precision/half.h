/* SPDX-License-Identifier: MIT */
/* half.h — float32 throughout a model becomes a type of 16 bits, for passes that end so. */
#ifndef PRT_PASS_PRECISION_HALF_H
#define PRT_PASS_PRECISION_HALF_H

#include "pass/precision/retype.h"

/* Everything that float_to_half converts becomes `to`, float16 or bfloat16. `more` says which ops
 * are kept (its mode and user); NULL: those alone that cannot be converted. */
poprt_status prt_retype_all(prt_pass *p, int32_t to, const prt_retype *more, bool *changed);

#endif
