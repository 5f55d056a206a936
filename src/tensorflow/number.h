/* SPDX-License-Identifier: MIT */
/* number.h — integers of one element that are known, or known to be equal, while converting. */
#ifndef PRT_TENSORFLOW_NUMBER_H
#define PRT_TENSORFLOW_NUMBER_H

#include "tensorflow/convert.h"

/* Returns the value behind casts, reshapes and identities. */
prt_value *prt_tf_without_moves(prt_value *v);

/* Sets `out` to the number, or to the expression, that a value of one element has. Returns false if
 * it is not known. */
bool prt_tf_known_number(prt_tf_call *call, const prt_value *v, int64_t *out);
bool prt_tf_is_number(prt_tf_call *call, const prt_value *v, int64_t number);
/* Returns whether two values of one element are known to be equal. */
bool prt_tf_same_number(prt_tf_call *call, prt_value *a, prt_value *b);

/* Returns whether a value is 0, 1, 2, … and sets `limit` to the number of its elements: a value, or
 * NULL if it is `*count`. */
bool prt_tf_is_range(prt_tf_call *call, prt_value *v, prt_value **limit, int64_t *count);

#endif
