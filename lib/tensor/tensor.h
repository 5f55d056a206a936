/* SPDX-License-Identifier: MIT */
/*
 * tensor.h — a value at run time: a tensor with numeric dims, or a sequence, optional or map of
 * values. It does not record who owns the bytes.
 */
#ifndef PRT_TENSOR_TENSOR_H
#define PRT_TENSOR_TENSOR_H

#include "tensor/type.h"

typedef struct prt_tensor prt_tensor;
struct prt_tensor {
    int32_t kind;  /* prt_value_kind: TENSOR, SEQUENCE, OPTIONAL, MAP, or ABSENT */
    int32_t dtype; /* element type; of the items of sequences and optionals, of the keys of maps */
    uint32_t rank;
    uint32_t capacity; /* of a KV cache [..., rows, size] with spare capacity: the stride from one
                        * head to the next, in rows; 0: the number of rows. Only operators that
                        * support caches get such tensors (runtime/cache.c) */
    int64_t dims[PRT_MAX_RANK];
    void *data;   /* elements; poprt_string[] for strings */
    size_t size;  /* bytes at `data`, for tensors */
    size_t pitch; /* row stride of the last axis, in elements, of columns of a larger tensor; 0: the
                   * rows are contiguous. Only arguments accepted by prt_alias_takes_columns
                   * (op/alias.h) are such tensors */
    size_t count; /* items of a sequence; 0 or 1 for an optional; entries of a map */
    prt_tensor *items; /* sequences, optionals: the items; maps: one tensor [count] of values, whose
                        * keys are in `data` */
};

/* Returns the number of elements. The dims were checked when the tensor was made. */
static inline size_t prt_tensor_count(const prt_tensor *t)
{
    size_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        n *= (size_t)t->dims[i];
    return n;
}

/* Returns the product of dims [first, last). */
static inline size_t prt_dims_product(const int64_t *dims, uint32_t first, uint32_t last)
{
    size_t n = 1;
    for (uint32_t i = first; i < last; i++)
        n *= (size_t)dims[i];
    return n;
}

/* Compares dims inline, because ranks are small. */
static inline bool prt_dims_equal(const int64_t *a, const int64_t *b, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Returns the row stride of the last axis, in elements. The rank must not be 0. */
static inline size_t prt_tensor_pitch(const prt_tensor *t)
{
    return t->pitch != 0 ? t->pitch : (size_t)t->dims[t->rank - 1];
}

/* Makes a tensor header over existing bytes. Returns false when the size overflows. */
bool prt_tensor_init(prt_tensor *t, int32_t dtype, uint32_t rank, const int64_t *dims, void *data);

#endif
