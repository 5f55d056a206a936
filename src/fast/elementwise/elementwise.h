/* SPDX-License-Identifier: MIT */
/* elementwise.h — programs of Elementwise, which serve other operators where rows are short. */
#ifndef PRT_FAST_ELEMENTWISE_ELEMENTWISE_H
#define PRT_FAST_ELEMENTWISE_ELEMENTWISE_H

#include "fast/fast.h"
#include "op/internal/elementwise.h"

/* So many instructions are faster by tiles than row by row: inputs go on alike for a few elements
 * at a time only, and are spread out once, or for several instructions. */
bool prt_elementwise_pays(const prt_eval *c, uint32_t steps);

/* The program on all inputs, float32 or truth; output 0 is wanted. */
poprt_status prt_elementwise_run(prt_eval *c, const prt_kern *k, const prt_program_view *v);

#endif
