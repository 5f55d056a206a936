/* SPDX-License-Identifier: MIT */
/*
 * fp8.h — layers that can compute with 8-bit floats, and the encoding of numbers, shared by
 * float_to_fp8, calibration and the comparison of layers.
 */
#ifndef PRT_PASS_PRECISION_FP8_H
#define PRT_PASS_PRECISION_FP8_H

#include "pass/engine/pass.h"

enum { PRT_FP8_LEAST = -32, PRT_FP8_MOST = 31 }; /* range of scales, log2 */

/* Encoding: a byte of `format` (PRT_DTYPE_f8e4m3fnuz for F143, PRT_DTYPE_f8e5m2fnuz for F152)
 * represents its number times 2^scale. */
typedef struct prt_fp8_code {
    int32_t format, scale;
} prt_fp8_code;

/* Converts "F143" or "F152" to a format (PRT_DTYPE_undefined for other names), and back. */
int32_t prt_fp8_format_of(prt_str name);
const char *prt_fp8_name(int32_t format);

/* Encodes to the nearest byte, saturating; decodes a byte to its number. */
uint8_t prt_fp8_encode(prt_fp8_code code, double value);
double prt_fp8_decode(prt_fp8_code code, uint8_t byte);

/* Computes prt_fp8_decode of prt_fp8_encode for finite numbers, faster. */
void prt_fp8_round(prt_fp8_code code, size_t count, const double *values, double *to);

/* Returns whether the op is a Conv, MatMul or Gemm with float32 or float16 operands. */
bool prt_fp8_is_layer(const prt_op *op);

/* Returns the right operand if it is a constant; else false. */
bool prt_fp8_weight(const prt_op *op, prt_tensor *out);

#endif
