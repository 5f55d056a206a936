/* SPDX-License-Identifier: MIT */
/*
 * fp8.h — layers that can compute with 8-bit floats, and how numbers become such: what
 * float_to_fp8, calibration and the comparison of layers share.
 */
#ifndef PRT_PASS_PRECISION_FP8_H
#define PRT_PASS_PRECISION_FP8_H

#include "pass/engine/pass.h"

enum { PRT_FP8_LEAST = -32, PRT_FP8_MOST = 31 }; /* scales, log2 */

/* A byte of `format` (PRT_DTYPE_f8e4m3fnuz for F143, PRT_DTYPE_f8e5m2fnuz for F152) stands for its
 * number times 2^scale. */
typedef struct prt_fp8_code {
    int32_t format, scale;
} prt_fp8_code;

/* "F143" or "F152" as a format; PRT_DTYPE_undefined for others. And back. */
int32_t prt_fp8_format_of(prt_str name);
const char *prt_fp8_name(int32_t format);

/* The nearest byte, saturating; and the number of a byte. */
uint8_t prt_fp8_encode(prt_fp8_code code, double value);
double prt_fp8_decode(prt_fp8_code code, uint8_t byte);

/* What prt_fp8_decode makes of prt_fp8_encode's bytes, fast; for finite numbers. */
void prt_fp8_round(prt_fp8_code code, size_t count, const double *values, double *to);

/* Conv, MatMul or Gemm of float32 or float16 operands. */
bool prt_fp8_is_layer(const prt_op *op);

/* Its right side as a constant. */
bool prt_fp8_weight(const prt_op *op, prt_tensor *out);

#endif
