/* SPDX-License-Identifier: MIT */
/* rules.h — the table of gradient rules: what grads.def says of each operator. */
#ifndef PRT_TRAIN_RULES_H
#define PRT_TRAIN_RULES_H

#include "op/op.h"

typedef enum prt_grad_kind {
    PRT_GRAD_MISSING, /* the operator has no rule: differentiating through it is an error */
    PRT_GRAD_RULE,    /* a rule builds the gradients of the inputs */
    PRT_GRAD_ZERO     /* the derivative is zero or does not exist: the path ends */
} prt_grad_kind;

struct prt_grad;

typedef struct prt_grad_row {
    int32_t kind; /* prt_grad_kind */
    poprt_status (*rule)(struct prt_grad *g);
    const char *why; /* PRT_GRAD_MISSING: the reason; NULL if none is stated */
} prt_grad_row;

/* Returns the row of an operator; `def` may be NULL. An operator without a row ends the path if its
 * inputs or its outputs cannot have floating-point elements. */
prt_grad_row prt_grad_row_of(const prt_op_def *def);

#endif
