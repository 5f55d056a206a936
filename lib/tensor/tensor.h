/* SPDX-License-Identifier: MIT */
/*
 * tensor.h — a value at run time: a tensor with plain dims, or a sequence, optional or map whose
 * items are values again. Says nothing about who owns the bytes.
 */
#ifndef PRT_TENSOR_TENSOR_H
#define PRT_TENSOR_TENSOR_H

#include "tensor/type.h"

typedef struct prt_tensor prt_tensor;
struct prt_tensor {
    int32_t kind;  /* prt_value_kind: TENSOR, SEQUENCE, OPTIONAL, MAP, or ABSENT */
    int32_t dtype; /* element type; of the items for sequences and optionals; key type for maps */
    uint32_t rank;
    uint32_t room; /* of a cache [..., rows, size] that leaves some free: from one head to the next
                    * there are so many rows; 0: as many as there are. Only operators that know
                    * caches get such tensors (runtime/cache.c) */
    int64_t dims[PRT_MAX_RANK];
    void *data;   /* elements; poprt_string[] for strings */
    size_t size;  /* bytes at `data` for tensors */
    size_t pitch; /* elements from one row of the last axis to the next, of some columns of a larger
                   * tensor; 0: no more than a row has. Only arguments of which
                   * prt_alias_takes_columns says so (op/alias.h) are such tensors */
    size_t count; /* items of a sequence; 0 or 1 for an optional; entries of a map */
    prt_tensor *items; /* sequences and optionals: the items; maps: one tensor [count] of values,
                        * with the keys in `data` */
};

/* Number of elements of a tensor. Dims were checked when it was made. */
static inline size_t prt_tensor_count(const prt_tensor *t)
{
    size_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        n *= (size_t)t->dims[i];
    return n;
}

/* Product of dims [first, last). */
static inline size_t prt_dims_product(const int64_t *dims, uint32_t first, uint32_t last)
{
    size_t n = 1;
    for (uint32_t i = first; i < last; i++)
        n *= (size_t)dims[i];
    return n;
}

/* The same dims, in line: ranks are small. */
static inline bool prt_dims_equal(const int64_t *a, const int64_t *b, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Elements from one row of the last axis to the next. The rank is not 0. */
static inline size_t prt_tensor_pitch(const prt_tensor *t)
{
    return t->pitch != 0 ? t->pitch : (size_t)t->dims[t->rank - 1];
}

/* A tensor header over existing bytes. False when the size overflows. */
bool prt_tensor_init(prt_tensor *t, int32_t dtype, uint32_t rank, const int64_t *dims, void *data);

#endif
