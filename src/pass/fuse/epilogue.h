/* SPDX-License-Identifier: MIT */
/* epilogue.h — what passes ask about operators that others may take in. */
#ifndef PRT_PASS_FUSE_EPILOGUE_H
#define PRT_PASS_FUSE_EPILOGUE_H

#include "op/internal/fused.h"
#include "pass/engine/match.h"

/* The activation that an operator is; bounds of Clip are constants. */
bool prt_epilogue_act(const prt_op *op, prt_act *act);

/* Rows of rewrites: the operators that may be one. */
#define PRT_EPILOGUE_ACTS(apply)                                                                   \
    { PRT_OP_relu, apply }, { PRT_OP_clip, apply }, { PRT_OP_leaky_relu, apply },                  \
        { PRT_OP_sigmoid, apply }, { PRT_OP_tanh, apply }, { PRT_OP_swish, apply },                \
        { PRT_OP_hard_sigmoid, apply }, { PRT_OP_hard_swish, apply },                              \
    {                                                                                              \
        PRT_OP_gelu, apply                                                                         \
    }

/* `c` is of float32 and broadcasts to y: one number, or one for each channel; `behind` dims follow
 * those of the channels. */
bool prt_epilogue_factor(const prt_value *c, const prt_type *y, uint32_t behind, int64_t channels);

/* The bias `old` (NULL: none) of what an Add is behind, with the constant in input `slot` of the
 * Add, one number or one for each channel, as above; NULL: it is not that, or cannot be made. */
prt_value *prt_epilogue_bias(prt_pass *p, prt_build *b, const prt_op *add, uint32_t slot,
    uint32_t behind, int64_t channels, prt_value *old);

/* The op, which goes by the name of `product` in errors, in place of `root` behind that; true, a
 * failure stays in `b`. */
bool prt_epilogue_put(prt_build *b, prt_op *root, const prt_op *product, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in);

#endif
