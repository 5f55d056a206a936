/* SPDX-License-Identifier: MIT */
/* special.h — special functions, for rows that need them. */
#ifndef PRT_TENSORFLOW_SPECIAL_H
#define PRT_TENSORFLOW_SPECIAL_H

#include "tensorflow/formulas.h"

/* Returns the inverse error function of float32 or float64 numbers. */
prt_value *prt_tf_erfinv(prt_tf_call *n, prt_value *x);

/* Returns whether the sign bit of each float is set; `zero` is a 0 of their type. */
prt_value *prt_tf_sign_bit(prt_tf_call *n, prt_value *x, prt_value *zero);

#endif
