/* SPDX-License-Identifier: MIT */
/*
 * elementwise.h — programs of Elementwise; other operators use them as well where rows are
 * short.
 */
#ifndef PRT_FAST_ELEMENTWISE_ELEMENTWISE_H
#define PRT_FAST_ELEMENTWISE_ELEMENTWISE_H

#include "fast/fast.h"
#include "op/internal/elementwise.h"

/* Returns whether `steps` instructions are faster by tiles than row by row: runs with a constant
 * broadcast pattern are short, and broadcast inputs repeat or serve several instructions. */
bool prt_elementwise_pays(const prt_eval *c, uint32_t steps);

/* Runs the program on all inputs, which are float32 or bool. Output 0 has to be wanted. */
poprt_status prt_elementwise_run(prt_eval *c, const prt_kern *k, const prt_program_view *v);

#endif
