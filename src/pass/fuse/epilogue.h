/* SPDX-License-Identifier: MIT */
/* epilogue.h — queries and edits of passes that fuse operators into a convolution or product. */
#ifndef PRT_PASS_FUSE_EPILOGUE_H
#define PRT_PASS_FUSE_EPILOGUE_H

#include "op/internal/fused.h"
#include "pass/engine/match.h"

/* Reads the activation that an operator computes. The bounds of a Clip must be constants. */
bool prt_epilogue_act(const prt_op *op, prt_act *act);

/* Rows of a rewrites array for all operators that may be an activation. */
#define PRT_EPILOGUE_ACTS(apply)                                                                   \
    { PRT_OP_relu, apply }, { PRT_OP_clip, apply }, { PRT_OP_leaky_relu, apply },                  \
        { PRT_OP_sigmoid, apply }, { PRT_OP_tanh, apply }, { PRT_OP_swish, apply },                \
        { PRT_OP_hard_sigmoid, apply }, { PRT_OP_hard_swish, apply },                              \
    {                                                                                              \
        PRT_OP_gelu, apply                                                                         \
    }

/* Returns whether `c` is float32 and broadcasts to y as one number or one for each channel.
 * `behind` is the number of dims after the channels. */
bool prt_epilogue_factor(const prt_value *c, const prt_type *y, uint32_t behind, int64_t channels);

/* Adds the constant in input `slot` of `add`, one number or one for each channel, to the bias `old`
 * (NULL: none) of the operator before it. `behind` and `channels` are as above. Returns NULL if the
 * input is something else or the sum cannot be made. */
prt_value *prt_epilogue_bias(prt_pass *p, prt_build *b, const prt_op *add, uint32_t slot,
    uint32_t behind, int64_t channels, prt_value *old);

/* Replaces `root` by a new op, which has the origin and the marks of `product`. Always returns
 * true; a failure is in `b`. */
bool prt_epilogue_replace(prt_build *b, prt_op *root, const prt_op *product, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in);

#endif
