/* SPDX-License-Identifier: MIT */
/*
 * quant.h — numbers to and from quantised integers: ranges, rounding, and a scale and zero point
 * for a whole tensor.
 */
#ifndef PRT_OP_SHARE_QUANT_H
#define PRT_OP_SHARE_QUANT_H

#include "op/op.h"

/* The range of an integer type; false for other types. */
bool prt_quant_range(int32_t dtype, double *low, double *high);

/* Rounds `value`, a quotient by the scale, to even, adds the zero point and stores it within the
 * type's range; NaN becomes the lowest number. Integer types. */
void prt_quant_store(int32_t dtype, void *data, size_t index, double value, double zero);

/* Scale and zero point of a whole tensor: inputs `scale` and scale + 1 of an operator. A zero
 * point that is absent is 0. */
typedef struct prt_quant {
    double scale, zero;
} prt_quant;

/* Checks that each of them is one number. */
poprt_status prt_quant_check(const prt_infer *c, uint32_t scale);
prt_quant prt_quant_of(const prt_eval *c, uint32_t scale);

/* The one number in input i, `absent` where it is not there. */
double prt_quant_number(const prt_eval *c, uint32_t i, double absent);

/* (x - zero) * scale of input `data`, whose scale and zero point are the inputs after it, as a
 * tensor of doubles in scratch. */
poprt_status prt_quant_open(prt_eval *c, uint32_t data, prt_tensor *to);

/* Writes doubles to output 0 with the scale and zero point in inputs `scale` and scale + 1. */
void prt_quant_close(prt_eval *c, const prt_tensor *from, uint32_t scale);

/* DynamicQuantizeLinear of `n` numbers; y may be NULL. */
void prt_quant_dynamic_run(size_t n, const float *x, uint8_t *y, float *scale, uint8_t *zero);

/* A float tensor as DynamicQuantizeLinear has it: uint8 in scratch, one scale and zero point. */
poprt_status prt_quant_dynamic(prt_eval *c, const prt_tensor *x, prt_tensor *to, prt_quant *q);

#endif
