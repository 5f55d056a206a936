/* SPDX-License-Identifier: MIT */
/* gradient.h — shape inference of the operators of op/internal/gradients.def. */
#ifndef PRT_OP_INTERNAL_GRADIENT_H
#define PRT_OP_INTERNAL_GRADIENT_H

#include "op/op.h"

enum { PRT_GRADIENT_MOST_OUTPUTS = 4 };

/* The forward operator of a gradient operator. */
typedef struct prt_gradient {
    uint32_t id;       /* PRT_OP_*: its infer hook checks the inputs */
    const void *attrs; /* its attributes, with the values of the gradient operator */
    uint32_t n_in;     /* its inputs, which come first */
    uint32_t n_out;    /* its outputs, at most PRT_GRADIENT_MOST_OUTPUTS; their gradients follow */
    uint32_t n_likes;  /* outputs of the gradient operator */
    const uint32_t *like; /* the forward input that has the type of output i */
} prt_gradient;

/* Checks the forward inputs, checks that the gradients have the shapes of the forward outputs, and
 * sets the outputs. An output whose forward input is absent stays unknown. */
poprt_status prt_gradient_infer(prt_infer *c, const prt_gradient *forward);

#endif
