/* SPDX-License-Identifier: MIT */
/*
 * epilogue.c — fuse_epilogue: fuses the operators behind a convolution or a product into it, so
 * that they are applied while the elements are in registers or cache:
 *
 *     Conv, fused_conv            then Add of a value of the same shape, then an activation
 *     MatMul with a matrix, Gemm  then Add of a bias for each column, then the same
 *     both                        then Add of a constant, one number or one for each channel
 *                                 then Mul by a constant, one number or one for each channel
 *     quantized_linear            as MatMul, without Mul
 *     nhwc_spread                 then an activation
 *
 * Requires float32 and, for residuals, equal types; the inner results have one reader. Factors are
 * folded into weights and bias, which must be constants with no other reader.
 */
#include <math.h>

#include "pass/fuse/epilogue.h"

/* ---- the product, as one of the fused operators ---- */

enum { INPUTS = 7 }; /* largest number of inputs of the fused operators */

typedef struct fused {
    prt_op *op; /* the producer that is fused */
    uint32_t id;
    prt_value *in[INPUTS]; /* data, weights and other required inputs; bias; residual; others */
    uint32_t needs;
    prt_fused_conv_attrs conv;
    prt_fused_linear_attrs linear;
    prt_quantized_linear_attrs quantized;
    prt_act act;
} fused;

static prt_value **bias_of(fused *f)
{
    return &f->in[f->needs];
}

static prt_value **residual_of(fused *f)
{
    return &f->in[f->needs + 1];
}

static bool from_conv(fused *f, const prt_op *op)
{
    const prt_conv_attrs *a = op->attrs;
    f->conv = PRT_ATTRS_OF(fused_conv);
    f->conv.group = a->group;
    f->conv.pads = a->pads;
    f->conv.auto_pad = a->auto_pad;
    f->conv.strides = a->strides;
    f->conv.dilations = a->dilations;
    f->conv.kernel_shape = a->kernel_shape;
    f->conv.present = a->present; /* both operators begin with the same attributes */
    f->id = PRT_OP_fused_conv;
    return true;
}

static bool from_linear(fused *f, const prt_op *op)
{
    const prt_value *w = prt_op_input(op, 1);
    f->linear = PRT_ATTRS_OF(fused_linear);
    f->id = PRT_OP_fused_linear;
    if (prt_op_is(op, PRT_OP_matmul))
        return prt_match_is_f32(w) && w->type->rank == 2 && prt_match_is_f32(prt_op_input(op, 0)) &&
            prt_op_input(op, 0)->type->rank >= 2;
    const prt_gemm_attrs *a = op->attrs;
    const prt_value *c = prt_op_input(op, 2);
    if (a->transA != 0 || a->alpha != 1.0f || a->beta != 1.0f || !prt_match_is_f32(w) ||
        (c != NULL &&
            (!prt_match_is_f32(c) || c->type->rank != 1 ||
                c->type->dims[0] != w->type->dims[a->transB != 0 ? 0 : 1])))
        return false;
    if (a->transB != 0)
        PRT_ATTR_SET(f->linear, fused_linear, transB, a->transB);
    return true;
}

/* Reads the producer of input `slot` of `user` as a fused operator. Returns false if it is not a
 * convolution or product, or has other readers or an activation. */
static bool match_product(fused *f, const prt_op *user, uint32_t slot)
{
    static const uint32_t ids[] = { PRT_OP_fused_conv, PRT_OP_fused_linear, PRT_OP_quantized_linear,
        PRT_OP_conv, PRT_OP_matmul, PRT_OP_gemm };
    *f = (fused){ .needs = 2 };
    for (size_t i = 0; i < PRT_COUNT_OF(ids) && f->op == NULL; i++)
        f->op = prt_match_interior(user, slot, ids[i]);
    if (f->op == NULL || !prt_match_is_f32(&f->op->out[0]))
        return false;
    f->needs = prt_op_is(f->op, PRT_OP_quantized_linear) ? 5 : 2;
    for (uint32_t i = 0; i < INPUTS; i++)
        f->in[i] = prt_op_input(f->op, i);
    f->id = f->op->def->id;
    switch (f->id) { /* an operator with an activation cannot absorb more */
    case PRT_OP_conv:
        return from_conv(f, f->op);
    case PRT_OP_fused_conv:
        f->conv = *(const prt_fused_conv_attrs *)f->op->attrs;
        return f->conv.activation == PRT_ACT_none;
    case PRT_OP_fused_linear:
        f->linear = *(const prt_fused_linear_attrs *)f->op->attrs;
        return f->linear.activation == PRT_ACT_none;
    case PRT_OP_quantized_linear:
        f->quantized = *(const prt_quantized_linear_attrs *)f->op->attrs;
        return f->quantized.activation == PRT_ACT_none;
    default:
        return from_linear(f, f->op);
    }
}

bool prt_epilogue_replace(prt_build *b, prt_op *root, const prt_op *product, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in)
{
    b->origin = product->origin;
    prt_value *y = prt_build_op(b, id, attrs, n_in, in);
    prt_match_mark(b, y, product);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool replace(fused *f, prt_build *b, prt_op *root)
{
    const void *attrs = &f->linear;
    if (f->id == PRT_OP_fused_conv) {
        PRT_ATTR_SET(f->conv, fused_conv, activation, f->act.kind);
        PRT_ATTR_SET(f->conv, fused_conv, alpha, f->act.a);
        PRT_ATTR_SET(f->conv, fused_conv, beta, f->act.b);
        attrs = &f->conv;
    } else if (f->id == PRT_OP_quantized_linear) {
        PRT_ATTR_SET(f->quantized, quantized_linear, activation, f->act.kind);
        PRT_ATTR_SET(f->quantized, quantized_linear, alpha, f->act.a);
        PRT_ATTR_SET(f->quantized, quantized_linear, beta, f->act.b);
        attrs = &f->quantized;
    } else {
        PRT_ATTR_SET(f->linear, fused_linear, activation, f->act.kind);
        PRT_ATTR_SET(f->linear, fused_linear, alpha, f->act.a);
        PRT_ATTR_SET(f->linear, fused_linear, beta, f->act.b);
    }
    uint32_t n = INPUTS;
    while (n > f->needs && f->in[n - 1] == NULL)
        n--;
    return prt_epilogue_replace(b, root, f->op, f->id, attrs, n, f->in);
}

/* ---- activations ---- */

static bool read_scalar(const prt_op *op, uint32_t slot, float absent, float *out)
{
    prt_tensor t;
    *out = absent;
    if (prt_op_input(op, slot) == NULL)
        return true;
    if (!prt_match_constant(op, slot, &t) || t.dtype != PRT_DTYPE_f32 || prt_tensor_count(&t) != 1)
        return false;
    *out = (float)prt_load_f64(t.dtype, t.data, 0);
    return true;
}

bool prt_epilogue_act(const prt_op *op, prt_act *act)
{
    if (!prt_op_is(op, PRT_OP_clip))
        return prt_fused_act_of(op->def->id, op->attrs, act);
    *act = (prt_act){ PRT_ACT_clip, 0, 0 };
    return read_scalar(op, 1, -INFINITY, &act->a) && read_scalar(op, 2, INFINITY, &act->b);
}

/* Fuses an activation into nhwc_spread, a transposed convolution with channels last. */
static bool fuse_into_depth_to_space_conv(prt_build *b, prt_op *root, const prt_op *conv,
    const prt_act *act)
{
    prt_nhwc_spread_attrs attrs = *(const prt_nhwc_spread_attrs *)conv->attrs;
    prt_value *in[3] = { prt_op_input(conv, 0), prt_op_input(conv, 1), prt_op_input(conv, 2) };
    if (attrs.activation != PRT_ACT_none)
        return false;
    PRT_ATTR_SET(attrs, nhwc_spread, activation, act->kind);
    PRT_ATTR_SET(attrs, nhwc_spread, alpha, act->a);
    PRT_ATTR_SET(attrs, nhwc_spread, beta, act->b);
    return prt_epilogue_replace(b, root, conv, PRT_OP_nhwc_spread, &attrs, conv->n_in, in);
}

static bool apply_act(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *conv = prt_match_interior(root, 0, PRT_OP_nhwc_spread);
    fused f;
    prt_act act;
    (void)p;
    if (!prt_epilogue_act(root, &act))
        return false;
    if (conv != NULL)
        return fuse_into_depth_to_space_conv(b, root, conv, &act);
    if (!match_product(&f, root, 0))
        return false;
    f.act = act;
    return replace(&f, b, root);
}

/* ---- sums ---- */

bool prt_epilogue_factor(const prt_value *c, const prt_type *y, uint32_t behind, int64_t channels)
{
    const prt_type *t = c->type;
    if (!prt_match_is_f32(c) || t->rank > y->rank)
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i] != 1 && (t->dims[i] != channels || t->rank - i != (int32_t)behind + 1))
            return false;
    return true;
}

/* Returns whether the value is a vector with an element for each column of the product. */
static bool is_bias(const prt_value *v, const prt_type *y)
{
    return prt_match_is_f32(v) && v->type->rank == 1 && y->rank >= 1 &&
        v->type->dims[0] == y->dims[y->rank - 1] && prt_dim_is_number(v->type->dims[0]);
}

/* Makes a vector that repeats one number `count` times. */
static prt_value *repeated(prt_pass *p, prt_build *b, const prt_tensor *number, int64_t count)
{
    float *all = PRT_NEW_N(p->arena, float, (size_t)count);
    for (int64_t i = 0; all != NULL && i < count; i++)
        all[i] = (float)prt_load_f64(number->dtype, number->data, 0);
    return all != NULL ? prt_build_tensor(b, PRT_DTYPE_f32, 1, &count, all) : NULL;
}

prt_value *prt_epilogue_bias(prt_pass *p, prt_build *b, const prt_op *add, uint32_t slot,
    uint32_t behind, int64_t channels, prt_value *old)
{
    prt_tensor c;
    prt_value *other = prt_op_input(add, slot);
    if (!prt_match_constant(add, slot, &c) || channels < 1 ||
        !prt_epilogue_factor(other, add->out[0].type, behind, channels))
        return NULL;
    if ((int64_t)prt_tensor_count(&c) == channels)
        other = prt_match_reshape_constant(b, other, 1, &channels);
    else if (prt_tensor_count(&c) == 1)
        other = repeated(p, b, &c, channels);
    else
        return NULL;
    if (other == NULL || old == NULL)
        return other;
    return prt_match_compute(p, b, old, PRT_OP_add, NULL, 2, (prt_value *[]){ old, other });
}

/* Like prt_epilogue_bias, for the operator in `f`. */
static prt_value *added_bias(prt_pass *p, prt_build *b, fused *f, const prt_op *root, uint32_t slot)
{
    const prt_type *w = prt_match_ranked(f->in[1]);
    const bool conv = f->id == PRT_OP_fused_conv;
    if (conv && w == NULL)
        return NULL;
    return prt_epilogue_bias(p, b, root, slot, conv ? (uint32_t)w->rank - 2 : 0,
        prt_match_dim(&f->op->out[0], conv ? 1 : -1), *bias_of(f));
}

static bool apply_add(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        fused f;
        prt_value *other = prt_op_input(root, 1 - slot), *bias = NULL;
        if (!prt_match_is_f32(other) || !match_product(&f, root, slot) || *residual_of(&f) != NULL)
            continue;
        const prt_type *y = f.op->out[0].type;
        if (f.id != PRT_OP_fused_conv && *bias_of(&f) == NULL && is_bias(other, y))
            *bias_of(&f) = other;
        else if ((bias = added_bias(p, b, &f, root, 1 - slot)) != NULL)
            *bias_of(&f) = bias;
        else if (b->status == POPRT_OK && other->type == y && other != &f.op->out[0])
            *residual_of(&f) = other;
        else
            continue;
        return replace(&f, b, root);
    }
    return b->status != POPRT_OK;
}

/* ---- factors ---- */

/* Multiplies constant `x` by the factor, whose elements go along axis `axis` of x. */
static prt_value *multiplied(prt_pass *p, prt_build *b, const prt_tensor *x, prt_value *x_value,
    prt_value *factor, uint32_t axis)
{
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = 1;
    for (int32_t i = 0; i < factor->type->rank; i++)
        dims[axis] *= factor->type->dims[i];
    prt_value *in[2] = { x_value, prt_match_reshape_constant(b, factor, x->rank, dims) };
    return in[1] != NULL ? prt_match_compute(p, b, x_value, PRT_OP_mul, NULL, 2, in) : NULL;
}

static bool apply_mul(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        fused f;
        prt_tensor w, bias, c;
        if (!prt_match_constant(root, 1 - slot, &c) || !match_product(&f, root, slot) ||
            f.in[3] != NULL || f.id == PRT_OP_quantized_linear ||
            !prt_match_own_constant(f.op, 1, &w) ||
            (f.in[2] != NULL && !prt_match_own_constant(f.op, 2, &bias)))
            continue;
        const prt_type *y = f.op->out[0].type;
        const bool conv = f.id == PRT_OP_fused_conv;
        const uint32_t axis = conv || f.linear.transB != 0 ? 0 : 1;
        prt_value *factor = prt_op_input(root, 1 - slot);
        if (f.linear.columns != 0 || f.linear.compute != PRT_LINEAR_float || w.rank <= axis ||
            !prt_epilogue_factor(factor, y, conv ? w.rank - 2 : 0, w.dims[axis]))
            continue;
        f.in[1] = multiplied(p, b, &w, f.in[1], factor, axis);
        if (f.in[1] != NULL && f.in[2] != NULL &&
            (f.in[2] = multiplied(p, b, &bias, f.in[2], factor, 0)) == NULL)
            f.in[1] = NULL;
        return f.in[1] != NULL ? replace(&f, b, root) : b->status != POPRT_OK;
    }
    return false;
}

static const prt_rewrite rewrites[] = {
    { PRT_OP_add, apply_add },
    { PRT_OP_mul, apply_mul },
    PRT_EPILOGUE_ACTS(apply_act),
};

const prt_pass_hooks prt_pass_fuse_epilogue = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
