/* SPDX-License-Identifier: MIT */
/* fused.h — activations, and helpers shared by the operators of op/internal/fused.def. */
#ifndef PRT_OP_INTERNAL_FUSED_H
#define PRT_OP_INTERNAL_FUSED_H

#include "op/words.h"

/* Finds the activation that operator `op` with these attributes computes. Returns false if it is
   not an activation. */
bool prt_fused_act_of(uint32_t op, const void *attrs, prt_act *out);
/* Returns the activation of x in double precision. */
double prt_fused_act_value(const prt_act *act, double x);

/* Sets output 0 to act(output 0 + bias + residual); bias broadcasts along the last dim. NULL omits
   an operand. */
void prt_fused_finish(prt_eval *c, const prt_tensor *bias, const prt_tensor *residual,
    const prt_act *act);

/* The same with output 0 first multiplied by `scale`, which broadcasts along the last dim. */
void prt_fused_finish_scaled(prt_eval *c, const prt_tensor *scale, const prt_tensor *bias,
    const prt_tensor *residual, const prt_act *act);

/* Fails where input i, a residual, does not have the shape of the result. */
poprt_status prt_fused_check_residual(prt_infer *c, uint32_t i, const prt_shape *y);

/* Returns the attributes of the Conv within a fused_conv. They borrow from `a`. */
prt_conv_attrs prt_fused_conv_of(const prt_fused_conv_attrs *a);

#endif
