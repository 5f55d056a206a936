/* SPDX-License-Identifier: MIT */
/* gemm.c — packing, which is the same at every level. */
#include "kern/gemm.h"

#include <stdint.h>

size_t prt_gemm_packed(size_t k, size_t n)
{
    if (n > SIZE_MAX - PRT_GEMM_SLICE)
        return SIZE_MAX;
    const size_t width = (n + PRT_GEMM_SLICE - 1) / PRT_GEMM_SLICE * PRT_GEMM_SLICE;
    return k != 0 && width > SIZE_MAX / k ? SIZE_MAX : width * k;
}

void prt_gemm_pack(size_t k, size_t n, const float *b, size_t row, size_t column, float *packed)
{
    for (size_t first = 0; first < n; first += PRT_GEMM_PANEL) {
        const size_t left = n - first, used = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        const size_t width = (used + PRT_GEMM_SLICE - 1) / PRT_GEMM_SLICE * PRT_GEMM_SLICE;
        for (size_t i = 0; i < k; i++) {
            const float *from = b + i * row + first * column;
            for (size_t j = 0; j < used; j++)
                packed[j] = from[j * column];
            for (size_t j = used; j < width; j++)
                packed[j] = 0.0f;
            packed += width;
        }
    }
}
