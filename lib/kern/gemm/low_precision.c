/* SPDX-License-Identifier: MIT */
/* low_precision.c — packing of low-precision panels, common to all instruction-set levels. */
#include "kern/gemm/low_precision.h"

#include <math.h>
#include <string.h>

#include "num/dtype.h"
#include "num/float.h"

static void store(int kind, void *to, size_t at, float x)
{
    static const float most[PRT_LOW_PRECISION_COUNT] = PRT_LOW_PRECISION_MAX;
    x = x > most[kind] ? most[kind] : x < -most[kind] ? -most[kind] : x;
    uint8_t *bytes = to;
    uint16_t *words = to;
    switch (kind) {
    case PRT_LOW_PRECISION_f16:
        words[at] = prt_f32_to_f16(x);
        break;
    case PRT_LOW_PRECISION_bf16:
        words[at] = prt_f32_to_bf16(x);
        break;
    case PRT_LOW_PRECISION_e4m3:
        bytes[at] = prt_f64_to_f8e4m3fnuz((double)x, true);
        break;
    case PRT_LOW_PRECISION_e5m2:
        bytes[at] = prt_f64_to_f8e5m2fnuz((double)x, true);
        break;
    case PRT_LOW_PRECISION_i4:
        prt_packed_store(4, to, at, (uint32_t)lrintf(x) & 15);
        break;
    default:
        bytes[at] = (uint8_t)(int8_t)lrintf(x);
        break;
    }
}

void prt_low_precision_pack(int kind, size_t k, size_t columns, const float *panel,
    const prt_low_precision_scales *by, void *to)
{
    const size_t width = prt_gemm_width(columns);
    memset(to, 0, prt_low_precision_bytes(kind, prt_low_precision_rows(kind, k) * width));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < columns; j++) {
            const size_t block = by->block != 0 ? i / by->block * width : 0;
            const float x = panel[i * width + j];
            const float s = by->scale != NULL ? by->scale[block + j] : 1.0f;
            store(kind, to, prt_low_precision_at(kind, width, i, j), s != 1.0f ? x / s : x);
        }
}
