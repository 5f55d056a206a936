/* SPDX-License-Identifier: MIT */
/* gemm.c — packing of B into panels, common to all instruction-set levels. */
#include "kern/gemm/gemm.h"

#include <stdint.h>
#include <string.h>

/* Packs a B whose rows are contiguous. */
static void pack_rows(size_t k, size_t columns, const float *b, size_t row, float *to)
{
    const size_t width = prt_gemm_width(columns);
    for (size_t i = 0; i < k; i++) {
        memcpy(to, b + i * row, columns * sizeof(float));
        memset(to + columns, 0, (width - columns) * sizeof(float));
        to += width;
    }
}

typedef float four __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define CHOOSE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int32_t places __attribute__((vector_size(16)));
#define CHOOSE(a, b, i, j, k, l) __builtin_shuffle(a, b, (places){ i, j, k, l })
#endif

static inline four load_four(const float *p)
{
    four v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Transposes a 4x4 square: rows `column` apart become columns, in rows `width` apart. */
static inline void transpose_4x4(const float *b, size_t column, float *to, size_t width)
{
    const four r0 = load_four(b), r1 = load_four(b + column), r2 = load_four(b + 2 * column);
    const four r3 = load_four(b + 3 * column);
    const four a = CHOOSE(r0, r1, 0, 4, 1, 5), c = CHOOSE(r2, r3, 0, 4, 1, 5);
    const four d = CHOOSE(r0, r1, 2, 6, 3, 7), e = CHOOSE(r2, r3, 2, 6, 3, 7);
    const four transposed[4] = { CHOOSE(a, c, 0, 1, 4, 5), CHOOSE(a, c, 2, 3, 6, 7),
        CHOOSE(d, e, 0, 1, 4, 5), CHOOSE(d, e, 2, 3, 6, 7) };
    for (size_t i = 0; i < 4; i++)
        memcpy(to + i * width, &transposed[i], sizeof(four));
}

/* Packs a B whose columns are contiguous (a transposed B). It reads 16 columns side by side, which
 * fill a cache line of `to`. */
static void pack_columns(size_t k, size_t columns, const float *b, size_t column, float *to)
{
    const size_t width = prt_gemm_width(columns);
    for (size_t j = 0; j < width; j += PRT_GEMM_SLICE) {
        const size_t left = columns - j, some = left < PRT_GEMM_SLICE ? left : PRT_GEMM_SLICE;
        size_t i = 0;
        for (; some == PRT_GEMM_SLICE && i + 4 <= k; i += 4)
            for (size_t c = j; c < j + PRT_GEMM_SLICE; c += 4)
                transpose_4x4(b + c * column + i, column, to + i * width + c, width);
        for (; i < k; i++)
            for (size_t c = j; c < j + PRT_GEMM_SLICE; c++)
                to[i * width + c] = c < columns ? b[c * column + i] : 0.0f;
    }
}

void prt_gemm_pack(size_t k, size_t columns, const float *b, size_t row, size_t column, float *to)
{
    const size_t width = prt_gemm_width(columns);
    if (column == 1) {
        pack_rows(k, columns, b, row, to);
        return;
    }
    if (row == 1) {
        pack_columns(k, columns, b, column, to);
        return;
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < width; j++)
            to[j] = j < columns ? b[i * row + j * column] : 0.0f;
        to += width;
    }
}

void prt_gemm_pack_all(size_t k, size_t columns, const float *b, size_t row, size_t column,
    float *to)
{
    for (size_t first = 0; first < columns; first += PRT_GEMM_PANEL) {
        const size_t left = columns - first;
        prt_gemm_pack(k, left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL, b + first * column, row,
            column, to + first * k);
    }
}

void prt_gemm_unpack_all(size_t k, size_t columns, const float *from, float *b, size_t row,
    size_t column)
{
    for (size_t first = 0; first < columns; first += PRT_GEMM_PANEL) {
        const size_t left = columns - first, some = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        for (size_t i = 0; i < k; i++, from += prt_gemm_width(some))
            for (size_t j = 0; j < some; j++)
                b[i * row + (first + j) * column] = from[j];
    }
}
