/* SPDX-License-Identifier: MIT */
/* fused.h — activations by name, for the operators of op/internal/fused.def. */
#ifndef PRT_OP_INTERNAL_FUSED_H
#define PRT_OP_INTERNAL_FUSED_H

#include "kern/vector/act.h"
#include "op/op.h"

/* False for a name that is none. */
bool prt_fused_act(prt_str name, float alpha, float beta, prt_act *out);
/* The activation that an operator with these attributes is; false when it is none. */
bool prt_fused_act_of(uint32_t op, const void *attrs, prt_act *out);
/* In double. */
double prt_fused_act_value(const prt_act *act, double x);
/* The name of a kind. */
const char *prt_fused_act_name(int kind);

/* Output 0 = act(output 0 + bias by the last dim + residual); NULL: without. */
void prt_fused_finish(prt_eval *c, const prt_tensor *bias, const prt_tensor *residual,
    const prt_act *act);

/* The same of output 0 times a scale by the last dim. */
void prt_fused_finish_scaled(prt_eval *c, const prt_tensor *scale, const prt_tensor *bias,
    const prt_tensor *residual, const prt_act *act);

/* The name of an activation is known. */
poprt_status prt_fused_check_act(const prt_infer *c, prt_str name);
/* Input i, a residual, has the shape of the result. */
poprt_status prt_fused_check_residual(prt_infer *c, uint32_t i, const prt_shape *y);

/* The conv attributes within those of fused_conv. */
prt_conv_attrs prt_fused_conv_of(const prt_fused_conv_attrs *a);

#endif
