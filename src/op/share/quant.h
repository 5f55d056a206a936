/* SPDX-License-Identifier: MIT */
/*
 * quant.h — quantisation to integers and back: ranges, rounding, and a scale and zero point for a
 * whole tensor.
 */
#ifndef PRT_OP_SHARE_QUANT_H
#define PRT_OP_SHARE_QUANT_H

#include "op/op.h"

/* Reads the range of an integer type. Returns false for other types. */
bool prt_quant_range(int32_t dtype, double *low, double *high);

/* Quantises: rounds `value` (already divided by the scale) half to even, adds the zero point,
 * and stores it clamped to the type's range. NaN becomes the lowest number. Integer types only. */
void prt_quant_store(int32_t dtype, void *data, size_t index, double value, double zero);

/* Per-tensor scale and zero point: inputs `scale` and scale + 1 of an operator. An absent zero
 * point is 0. */
typedef struct prt_quant {
    double scale, zero;
} prt_quant;

/* Checks that both inputs have exactly one element. */
poprt_status prt_quant_check(const prt_infer *c, uint32_t scale);
prt_quant prt_quant_of(const prt_eval *c, uint32_t scale);

/* Returns the single number in input i, or `absent` if the input is absent. */
double prt_quant_number(const prt_eval *c, uint32_t i, double absent);

/* Dequantises input `data`, (x - zero) * scale, into a tensor of doubles in scratch. The scale
 * and zero point are the inputs after it. */
poprt_status prt_quant_dequantize_input(prt_eval *c, uint32_t data, prt_tensor *to);

/* Quantises doubles to output 0 with the scale and zero point in inputs `scale` and scale + 1. */
void prt_quant_quantize_output(prt_eval *c, const prt_tensor *from, uint32_t scale);

/* Runs DynamicQuantizeLinear on `n` numbers; y may be NULL. */
void prt_quant_dynamic_run(size_t n, const float *x, uint8_t *y, float *scale, uint8_t *zero);

/* Quantises a float tensor like DynamicQuantizeLinear: uint8 in scratch, one scale and zero
 * point. */
poprt_status prt_quant_dynamic(prt_eval *c, const prt_tensor *x, prt_tensor *to, prt_quant *q);

#endif
