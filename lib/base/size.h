/* SPDX-License-Identifier: MIT */
/* size.h — overflow-checked arithmetic for sizes read from files. Returns false on overflow; `out`
 * is then untouched. */
#ifndef PRT_BASE_SIZE_H
#define PRT_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool prt_size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool prt_size_add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool prt_i64_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool prt_i64_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* Saturating arithmetic, for estimates. */
static inline uint64_t prt_saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t prt_saturating_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline size_t prt_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* `size` rounded up to a multiple of `align`, a power of two. */
static inline size_t prt_size_align(size_t size, size_t align)
{
    return (size + align - 1) & ~(align - 1);
}

#endif
