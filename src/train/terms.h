/* SPDX-License-Identifier: MIT */
/* terms.h — shorthands of one builder call each, for rules that are long formulas. `g` is the
 * prt_grad of the rule. */
#ifndef PRT_TRAIN_TERMS_H
#define PRT_TRAIN_TERMS_H

#include "train/rule.h"

#define NUM(like, v) prt_grad_number(g, like, v)
#define ADD(p, q) prt_grad_add(g, p, q)
#define SUB(p, q) prt_grad_sub(g, p, q)
#define MUL(p, q) prt_grad_mul(g, p, q)
#define DIV(p, q) prt_grad_div(g, p, q)
#define CALL(id, p) prt_grad_call(g, PRT_OP_##id, p)
#define BINARY(id, p, q) prt_build_binary(g->b, PRT_OP_##id, p, q)
#define WHERE(c, p, q) prt_grad_where(g, c, p, q)

#endif
