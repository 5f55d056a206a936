/* SPDX-License-Identifier: MIT */
/*
 * fp8.h — 8-bit floats of ai.graphcore: formats F143 and F152 (FLOAT8E4M3FNUZ and FLOAT8E5M2FNUZ of
 * ONNX) stored as uint8, with a scale: the value is the float times 2^scale. Too large values are
 * saturated to the largest number; infinity and NaN become NaN.
 */
#ifndef PRT_OP_GRAPHCORE_FP8_H
#define PRT_OP_GRAPHCORE_FP8_H

#include "op/op.h"

/* Range of a scale, the exponent of the factor. */
enum { PRT_FP8_SCALE_MIN = -32, PRT_FP8_SCALE_MAX = 31 };

/* Returns the element type of a format ("F143", "F152"); PRT_DTYPE_undefined for other names. */
static inline int32_t prt_fp8_format(prt_str name)
{
    if (prt_str_is(name, "F143"))
        return PRT_DTYPE_f8e4m3fnuz;
    return prt_str_is(name, "F152") ? PRT_DTYPE_f8e5m2fnuz : PRT_DTYPE_undefined;
}

#endif
