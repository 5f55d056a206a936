/* SPDX-License-Identifier: MIT */
/* gemm.c — packing, which is the same at every level. */
#include "kern/gemm.h"

#include <string.h>

/* Rows of B are contiguous. */
static void pack_rows(size_t k, size_t columns, const float *b, size_t row, float *to)
{
    const size_t width = prt_gemm_width(columns);
    for (size_t i = 0; i < k; i++) {
        memcpy(to, b + i * row, columns * sizeof(float));
        memset(to + columns, 0, (width - columns) * sizeof(float));
        to += width;
    }
}

/* Columns of B are contiguous: squares that stay in the cache. */
static void pack_columns(size_t k, size_t columns, const float *b, size_t column, float *to)
{
    enum { SQUARE = 16 };
    const size_t width = prt_gemm_width(columns);
    for (size_t i = 0; i < k; i += SQUARE) {
        const size_t end = k - i < SQUARE ? k : i + SQUARE;
        for (size_t j = 0; j < columns; j++)
            for (size_t p = i; p < end; p++)
                to[p * width + j] = b[j * column + p];
        for (size_t p = i; p < end; p++)
            memset(to + p * width + columns, 0, (width - columns) * sizeof(float));
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
