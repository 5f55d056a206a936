/* SPDX-License-Identifier: MIT */
/*
 * formula.h — operators expressed by operators of older opsets, shared by the writer of old opsets
 * and the passes.
 */
#ifndef PRT_IR_FORMULA_H
#define PRT_IR_FORMULA_H

#include "ir/build.h"

/* x * HardSigmoid(x) with alpha 1/6 and beta 1/2. */
prt_value *prt_build_hard_swish(prt_build *b, prt_value *x);
/* alpha * Elu(x / alpha), for alpha > 0; Elu alone if alpha is 1. The element type of x must be
 * known. */
prt_value *prt_build_celu(prt_build *b, prt_value *x, float alpha);
/* x > y or x == y if `greater` is set, else x < y or x == y. False for NaN. */
prt_value *prt_build_or_equal(prt_build *b, bool greater, prt_value *x, prt_value *y);
/* The Cast to type `to` that is equivalent to a CastLike with these attributes. */
prt_value *prt_build_cast_like(prt_build *b, const prt_cast_like_attrs *like, prt_value *x,
    int32_t to);

#endif
