/* SPDX-License-Identifier: MIT */
/*
 * formula.h — operators written out with older ones: what writing for an old opset and the
 * converter's passes both put in their place.
 */
#ifndef PRT_IR_FORMULA_H
#define PRT_IR_FORMULA_H

#include "ir/build.h"

/* x * HardSigmoid(x) with slope 1/6 and 1/2. */
prt_value *prt_build_hard_swish(prt_build *b, prt_value *x);
/* alpha * Elu(x / alpha), for alpha above 0; just Elu where it is 1. The element type of x must be
 * known. */
prt_value *prt_build_celu(prt_build *b, prt_value *x, float alpha);
/* x > y or x == y (with `greater`; else x < y or x == y): a NaN answers neither. */
prt_value *prt_build_or_equal(prt_build *b, bool greater, prt_value *x, prt_value *y);
/* What a CastLike with these attributes does, to the type `to`. */
prt_value *prt_build_cast_like(prt_build *b, const prt_cast_like_attrs *like, prt_value *x,
    int32_t to);

#endif
