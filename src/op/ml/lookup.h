/* SPDX-License-Identifier: MIT */
/* lookup.h — which of a list of keys an element is: a hash table over numbers or strings. */
#ifndef PRT_OP_ML_LOOKUP_H
#define PRT_OP_ML_LOOKUP_H

#include "op/op.h"

typedef struct prt_lookup {
    int32_t dtype; /* of the keys: an integer, a float or string */
    const void *keys;
    uint32_t *slots; /* index of a key plus 1; 0: free */
    size_t mask;
} prt_lookup;

/* Of equal keys the last is found, or with `first` the first. Any NaN is like any other, -0 is 0.
 * `keys` must stay. */
poprt_status prt_lookup_init(prt_eval *c, prt_lookup *l, int32_t dtype, const void *keys,
    uint32_t count, bool first);

/* Index of the key that element `i` of `data` (of the keys' type) equals, or -1. */
int64_t prt_lookup_find(const prt_lookup *l, const void *data, size_t i);

/* Strings of an attribute as elements of a tensor; NULL (failure recorded) when refused. */
poprt_string *prt_lookup_strings(prt_eval *c, prt_strs list);

#endif
