/* SPDX-License-Identifier: MIT */
/*
 * group_norm.c — fuse_group_norm: replaces the formula of GroupNormalization that exporters wrote
 * before the operator existed, and fuses operators behind group norms:
 *
 *     Reshape(InstanceNormalization(Reshape(x, [N, groups, -1])))    GroupNormalization
 *     a norm, then Mul by or Add of a constant for each channel      its scale and bias
 *     NhwcGroupNorm, then an activation                              its activation
 *     com.microsoft.GroupNorm, channels last                         NhwcGroupNorm
 *
 * Requires float32; the inner results have one reader.
 */
#include "pass/fuse/epilogue.h"

/* ---- Reshape, InstanceNormalization, Reshape */

/* Expands constant input `slot` of `op` from one number for each group to one for each of
 * `channels`. NULL: it is something else, or no memory. */
static prt_value *expand_groups(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    int64_t groups, int64_t channels)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || t.dtype != PRT_DTYPE_f32 || t.rank != 1 ||
        t.dims[0] != groups)
        return NULL;
    float *to = PRT_NEW_N(p->arena, float, (size_t)channels);
    if (to == NULL)
        return NULL;
    for (int64_t i = 0; i < channels; i++)
        to[i] = (float)prt_load_f64(t.dtype, t.data, (size_t)(i / (channels / groups)));
    return prt_build_tensor(b, PRT_DTYPE_f32, 1, &channels, to);
}

static bool apply_reshape(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *norm = prt_match_interior(root, 0, PRT_OP_instance_normalization);
    const prt_op *first = norm != NULL ? prt_match_interior(norm, 0, PRT_OP_reshape) : NULL;
    prt_value *x = first != NULL ? prt_op_input(first, 0) : NULL;
    if (x == NULL || !prt_match_is_f32(x) || !prt_match_is_f32(&first->out[0]) ||
        root->out[0].type != x->type || x->type->rank < 3 || first->out[0].type->rank != 3)
        return false;
    const int64_t groups = prt_match_dim(&first->out[0], 1), channels = prt_match_dim(x, 1);
    if (groups < 1 || channels < 1 || channels % groups != 0 ||
        first->out[0].type->dims[0] != x->type->dims[0] ||
        (!prt_dim_is_number(x->type->dims[0]) && !prt_dim_is_expr(x->type->dims[0])))
        return false;
    prt_value *in[3] = { x, expand_groups(p, b, norm, 1, groups, channels),
        expand_groups(p, b, norm, 2, groups, channels) };
    if (in[1] == NULL || in[2] == NULL)
        return b->status != POPRT_OK;
    prt_group_normalization_attrs attrs = PRT_ATTRS_OF(group_normalization);
    PRT_ATTR_SET(attrs, group_normalization, num_groups, groups);
    PRT_ATTR_SET(attrs, group_normalization, epsilon,
        ((const prt_instance_normalization_attrs *)norm->attrs)->epsilon);
    return prt_match_replace_named(b, root, PRT_OP_group_normalization, &attrs, 3, in);
}

/* ---- scale and bias */

static prt_op *norm_at(const prt_op *user, uint32_t slot)
{
    static const uint32_t ids[] = { PRT_OP_group_normalization, PRT_OP_instance_normalization,
        PRT_OP_nhwc_group_norm };
    prt_op *norm = NULL;
    for (size_t i = 0; i < PRT_COUNT_OF(ids) && norm == NULL; i++)
        norm = prt_match_interior(user, slot, ids[i]);
    const bool last = norm != NULL && prt_op_is(norm, PRT_OP_nhwc_group_norm);
    if (norm == NULL || !prt_match_is_f32(&norm->out[0]) || norm->out[0].type->rank < 3 ||
        (last && ((const prt_nhwc_group_norm_attrs *)norm->attrs)->activation != PRT_ACT_none))
        return NULL;
    return norm;
}

static bool apply_affine(prt_pass *p, prt_build *b, prt_op *root)
{
    const bool mul = prt_op_is(root, PRT_OP_mul);
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *norm = norm_at(root, slot);
        prt_value *c = prt_op_input(root, 1 - slot);
        if (norm == NULL || root->out[0].type != norm->out[0].type)
            continue;
        const prt_type *y = norm->out[0].type;
        const uint32_t behind = prt_op_is(norm, PRT_OP_nhwc_group_norm) ? 0 : (uint32_t)y->rank - 2;
        const int64_t channels = prt_match_dim(&norm->out[0], y->rank - 1 - (int32_t)behind);
        prt_tensor t;
        if (channels < 1 || !prt_match_constant(root, 1 - slot, &t) ||
            !prt_epilogue_factor(c, y, behind, channels))
            continue;
        const int64_t count = (int64_t)prt_tensor_count(&t);
        prt_value *in[3] = { prt_op_input(norm, 0), prt_op_input(norm, 1), prt_op_input(norm, 2) };
        c = prt_match_reshape_constant(b, c, 1, &count);
        for (uint32_t i = mul ? 1 : 2; c != NULL && i < 3 && in[i] != NULL; i++)
            in[i] =
                prt_match_compute(p, b, in[i], root->def->id, NULL, 2, (prt_value *[]){ in[i], c });
        if (c == NULL || in[1] == NULL || in[2] == NULL)
            return b->status != POPRT_OK;
        return prt_match_replace_named(b, root, norm->def->id, norm->attrs, 3, in);
    }
    return false;
}

/* ---- channels last */

static bool replace_by_nhwc(prt_build *b, prt_op *root, const prt_op *norm,
    prt_nhwc_group_norm_attrs *attrs, const prt_act *act)
{
    prt_value *in[3] = { prt_op_input(norm, 0), prt_op_input(norm, 1), prt_op_input(norm, 2) };
    if (act->kind != PRT_ACT_none) {
        PRT_ATTR_SET(*attrs, nhwc_group_norm, activation, act->kind);
        PRT_ATTR_SET(*attrs, nhwc_group_norm, alpha, act->a);
        PRT_ATTR_SET(*attrs, nhwc_group_norm, beta, act->b);
    }
    return prt_match_replace_named(b, root, PRT_OP_nhwc_group_norm, attrs, 3, in);
}

static bool apply_act(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *norm = norm_at(root, 0);
    prt_act act;
    (void)p;
    if (norm == NULL || !prt_op_is(norm, PRT_OP_nhwc_group_norm) || !prt_epilogue_act(root, &act))
        return false;
    prt_nhwc_group_norm_attrs attrs = *(const prt_nhwc_group_norm_attrs *)norm->attrs;
    return replace_by_nhwc(b, root, norm, &attrs, &act);
}

static bool apply_microsoft(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_group_norm_attrs *a = root->attrs;
    prt_nhwc_group_norm_attrs attrs = PRT_ATTRS_OF(nhwc_group_norm);
    const prt_act act = { a->activation != 0 ? PRT_ACT_silu : PRT_ACT_none, 0, 0 };
    (void)p;
    if (a->channels_last == 0 || prt_op_input(root, 0)->type->rank < 3)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!prt_match_is_f32(prt_op_input(root, i)))
            return false;
    PRT_ATTR_SET(attrs, nhwc_group_norm, num_groups, a->groups);
    PRT_ATTR_SET(attrs, nhwc_group_norm, epsilon, a->epsilon);
    return replace_by_nhwc(b, root, root, &attrs, &act);
}

static const prt_rewrite rewrites[] = {
    { PRT_OP_reshape, apply_reshape },
    { PRT_OP_mul, apply_affine },
    { PRT_OP_add, apply_affine },
    PRT_EPILOGUE_ACTS(apply_act),
    { PRT_OP_ms_group_norm, apply_microsoft },
};

const prt_pass_hooks prt_pass_fuse_group_norm = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
