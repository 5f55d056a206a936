/* SPDX-License-Identifier: MIT */
/*
 * zip.h — interleaving and deinterleaving by 2 or 4 with vectors of four floats, which every
 * processor has.
 */
#ifndef PRT_KERN_MOVE_ZIP_H
#define PRT_KERN_MOVE_ZIP_H

#include <stddef.h>
#include <string.h>

typedef float prt_four __attribute__((vector_size(16)));

static inline prt_four prt_four_load(const float *p)
{
    prt_four v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void prt_four_store(float *p, prt_four v)
{
    memcpy(p, &v, sizeof(v));
}

/* Transposes a 4x4 square. */
static inline void prt_four_transpose(prt_four v[4])
{
    const prt_four a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const prt_four b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const prt_four c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const prt_four d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    v[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/* to[k * apart + i] = x[4 * i + k] for i < n and k < 4 */
static inline void prt_unzip4(size_t n, const float *x, float *to, size_t stride)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prt_four v[4];
        for (size_t k = 0; k < 4; k++)
            v[k] = prt_four_load(x + 4 * (i + k));
        prt_four_transpose(v);
        for (size_t k = 0; k < 4; k++)
            prt_four_store(to + k * stride + i, v[k]);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            to[k * stride + i] = x[4 * i + k];
}

/* to[4 * i + k] = x[k * apart + i] for i < n and k < 4 */
static inline void prt_zip4(size_t n, const float *x, size_t stride, float *to)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        prt_four v[4];
        for (size_t k = 0; k < 4; k++)
            v[k] = prt_four_load(x + k * stride + i);
        prt_four_transpose(v);
        for (size_t k = 0; k < 4; k++)
            prt_four_store(to + 4 * (i + k), v[k]);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            to[4 * i + k] = x[k * stride + i];
}

/* to[k * apart + i] = x[2 * i + k] for i < n and k < 2 */
static inline void prt_unzip2(size_t n, const float *x, float *to, size_t stride)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const prt_four a = prt_four_load(x + 2 * i), b = prt_four_load(x + 2 * i + 4);
        prt_four_store(to + i, __builtin_shufflevector(a, b, 0, 2, 4, 6));
        prt_four_store(to + stride + i, __builtin_shufflevector(a, b, 1, 3, 5, 7));
    }
    for (; i < n; i++) {
        to[i] = x[2 * i];
        to[stride + i] = x[2 * i + 1];
    }
}

/* to[i] = x[2 * i] for i < n; reads 2 * n - 1 elements of x */
static inline void prt_even_elements(size_t n, const float *x, float *to)
{
    size_t i = 0;
    for (; i + 4 < n; i += 4)
        prt_four_store(to + i,
            __builtin_shufflevector(prt_four_load(x + 2 * i), prt_four_load(x + 2 * i + 4), 0, 2, 4,
                6));
    for (; i < n; i++)
        to[i] = x[2 * i];
}

#endif
