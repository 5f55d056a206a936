/* SPDX-License-Identifier: MIT */
/* lookup.h — a hash table from keys (numbers or strings) to their index in a list. */
#ifndef PRT_OP_ML_LOOKUP_H
#define PRT_OP_ML_LOOKUP_H

#include "op/op.h"

typedef struct prt_lookup {
    int32_t dtype; /* type of the keys: an integer, a float or string */
    const void *keys;
    uint32_t *slots; /* index of a key plus 1; 0: free */
    size_t mask;
} prt_lookup;

/* Builds the table. Of equal keys the last one is found, or with `first` the first one. All NaN are
   equal, and so are -0 and 0. The table borrows `keys`. Fails with POPRT_E_NOMEM. */
poprt_status prt_lookup_init(prt_eval *c, prt_lookup *l, int32_t dtype, const void *keys,
    uint32_t count, bool first);

/* Returns the index of the key that equals element `i` of `data` (of the keys' type), or -1. */
int64_t prt_lookup_find(const prt_lookup *l, const void *data, size_t i);

/* Returns the strings of an attribute as tensor elements in scratch memory; NULL, with the failure
   recorded, on allocation failure. */
poprt_string *prt_lookup_strings(prt_eval *c, prt_strs list);

#endif
