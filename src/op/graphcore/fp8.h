/* SPDX-License-Identifier: MIT */
/*
 * fp8.h — 8-bit floats as ai.graphcore has them: formats F143 and F152, in ONNX's words
 * FLOAT8E4M3FNUZ and FLOAT8E5M2FNUZ, as bytes of type uint8, with a scale: a byte stands for its
 * number times 2^scale. What is too large becomes the largest number, infinity and NaN become NaN.
 */
#ifndef PRT_OP_GRAPHCORE_FP8_H
#define PRT_OP_GRAPHCORE_FP8_H

#include "op/op.h"

enum { PRT_FP8_SCALE_LEAST = -32, PRT_FP8_SCALE_MOST = 31 };

/* Element type of a format's name ("F143", "F152"); PRT_DTYPE_undefined for others. */
static inline int32_t prt_fp8_format(prt_str name)
{
    if (prt_str_is(name, "F143"))
        return PRT_DTYPE_f8e4m3fnuz;
    return prt_str_is(name, "F152") ? PRT_DTYPE_f8e5m2fnuz : PRT_DTYPE_undefined;
}

#endif
