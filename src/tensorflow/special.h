/* SPDX-License-Identifier: MIT */
/* special.h — special functions, for rows that need them. */
#ifndef PRT_TENSORFLOW_SPECIAL_H
#define PRT_TENSORFLOW_SPECIAL_H

#include "tensorflow/rows.h"

/* Returns the inverse error function of float32 or float64 numbers. */
prt_value *prt_tf_erfinv(prt_tf_call *n, prt_value *x);

#endif
