/* SPDX-License-Identifier: MIT */
/*
 * batch_norm.c — batchnorm_workaround: BatchNormalization for inference in the form that a backend
 * requires: operands of one type, images of rank 3 or more.
 *
 * Difference from the reference: if types differ, narrower operands are cast to the widest and the
 * result is cast back, which adds one rounding; casting parameters down would lose bits. Nothing
 * else rounds.
 */
#include "pass/engine/match.h"

/* Returns the narrowest float type that holds both. */
static int32_t wider(int32_t a, int32_t b)
{
    if (a == b)
        return a;
    return a == PRT_DTYPE_f64 || b == PRT_DTYPE_f64 ? PRT_DTYPE_f64 : PRT_DTYPE_f32;
}

static prt_value *with_axis(prt_build *b, uint32_t id, prt_value *x)
{
    static const int64_t axis = 2;
    return prt_build_binary(b, id, x, prt_build_i64s(b, 1, &axis));
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_batch_normalization_attrs *a = root->attrs;
    const prt_type *x = prt_match_ranked(prt_op_input(root, 0));
    prt_value *in[5];
    int32_t dtype = x != NULL ? x->dtype : PRT_DTYPE_undefined;
    bool mixed = false;
    (void)p;
    if (x == NULL || a->training_mode != 0)
        return false;
    for (uint32_t i = 0; i < 5; i++) {
        in[i] = prt_op_input(root, i);
        if (prt_match_dtype(in[i]) == PRT_DTYPE_undefined)
            return false;
        mixed = mixed || in[i]->type->dtype != x->dtype;
        dtype = wider(dtype, in[i]->type->dtype);
    }
    if (!mixed && x->rank != 2)
        return false;
    for (uint32_t i = 0; i < 5; i++)
        in[i] = prt_match_add_cast(b, in[i], dtype);
    if (x->rank == 2)
        in[0] = with_axis(b, PRT_OP_unsqueeze, in[0]);
    prt_value *y = prt_build_op(b, PRT_OP_batch_normalization, a, 5, in);
    if (x->rank == 2)
        y = with_axis(b, PRT_OP_squeeze, y);
    return prt_match_replace(b, root,
        b->status == POPRT_OK ? prt_match_add_cast(b, y, x->dtype) : y);
}

PRT_PASS_OF_REWRITE(batchnorm_workaround, PRT_OP_batch_normalization, apply);
