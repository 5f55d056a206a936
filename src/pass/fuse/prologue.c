/* SPDX-License-Identifier: MIT */
/*
 * prologue.c — fuse_prologue: folds a constant factor or sum on the input of a convolution, one
 * number or one for each channel, into the convolution's weights or bias. Sums are folded only
 * without padding, because the zeros of the padding come after the sum.
 *
 * Requires float32, constant weights and bias, and no other reader of the removed results.
 */
#include <math.h>

#include "pass/fuse/epilogue.h"

typedef struct site {
    prt_op *conv;
    const prt_op *before;               /* Mul or Add */
    prt_value *x;                       /* the other input of `before` */
    prt_tensor c, w;                    /* the constant of `before`, the weights */
    size_t group, filters, depth, taps; /* depth: input channels of a group */
} site;

static bool is_unpadded(const prt_i64s *pads, prt_str auto_pad)
{
    for (uint32_t i = 0; i < pads->count; i++)
        if (pads->data[i] != 0)
            return false;
    return prt_str_is(auto_pad, "NOTSET") || prt_str_is(auto_pad, "VALID");
}

static bool match(site *s, prt_op *conv, uint32_t before)
{
    *s = (site){ .conv = conv, .before = prt_match_interior(conv, 0, before) };
    if (s->before == NULL || !prt_match_constant(conv, 1, &s->w) || s->w.dtype != PRT_DTYPE_f32 ||
        s->w.rank < 3 || !prt_match_is_f32(prt_op_input(conv, 0)))
        return false;
    s->group =
        (size_t)(prt_op_is(conv, PRT_OP_conv) ? ((const prt_conv_attrs *)conv->attrs)->group
                                              : ((const prt_fused_conv_attrs *)conv->attrs)->group);
    s->filters = (size_t)s->w.dims[0];
    s->depth = (size_t)s->w.dims[1];
    s->taps = prt_dims_product(s->w.dims, 2, s->w.rank);
    const prt_type *type = prt_op_input(conv, 0)->type;
    for (uint32_t slot = 0; slot < 2; slot++) {
        s->x = prt_op_input(s->before, 1 - slot);
        if (prt_match_constant(s->before, slot, &s->c) && prt_match_is_f32(s->x) &&
            s->x->type == type &&
            prt_epilogue_factor(prt_op_input(s->before, slot), type, s->w.rank - 2,
                (int64_t)(s->depth * s->group)))
            return s->group != 0 && s->filters % s->group == 0;
    }
    return false;
}

/* Returns the constant for the channel that filter f reads at `depth`. */
static double number_of(const site *s, size_t f, size_t depth)
{
    const size_t channel = f / (s->filters / s->group) * s->depth + depth;
    return prt_load_f64(s->c.dtype, s->c.data, prt_tensor_count(&s->c) == 1 ? 0 : channel);
}

static bool replace(const site *s, prt_build *b, prt_value *w, prt_value *bias)
{
    prt_value *in[4] = { s->x, w, bias, prt_op_input(s->conv, 3) };
    if (w == NULL)
        return b->status != POPRT_OK;
    return prt_match_replace_named(b, s->conv, s->conv->def->id, s->conv->attrs,
        in[3] != NULL      ? 4
            : bias != NULL ? 3
                           : 2,
        in);
}

static bool apply_mul(prt_pass *p, prt_build *b, const site *s)
{
    const size_t count = prt_tensor_count(&s->w);
    float *w = PRT_NEW_N(p->arena, float, count + 1);
    if (w == NULL || !prt_pass_reserve(p, count * sizeof(float)))
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t kernel = i / s->taps;
        w[i] = (float)(prt_load_f64(s->w.dtype, s->w.data, i) *
            number_of(s, kernel / s->depth, kernel % s->depth));
        if (!isfinite(w[i]))
            return false;
    }
    return replace(s, b, prt_build_tensor(b, PRT_DTYPE_f32, s->w.rank, s->w.dims, w),
        prt_op_input(s->conv, 2));
}

static bool apply_add(prt_pass *p, prt_build *b, const site *s)
{
    prt_tensor old;
    const bool has = prt_op_input(s->conv, 2) != NULL;
    float *bias = PRT_NEW_N(p->arena, float, s->filters + 1);
    if (bias == NULL ||
        (has && (!prt_match_constant(s->conv, 2, &old) || old.dtype != PRT_DTYPE_f32)))
        return false;
    for (size_t f = 0; f < s->filters; f++) {
        double sum = has ? prt_load_f64(old.dtype, old.data, f) : 0.0;
        for (size_t d = 0; d < s->depth; d++)
            for (size_t t = 0; t < s->taps; t++)
                sum += number_of(s, f, d) *
                    prt_load_f64(s->w.dtype, s->w.data, (f * s->depth + d) * s->taps + t);
        bias[f] = (float)sum;
        if (!isfinite(bias[f]))
            return false;
    }
    return replace(s, b, prt_op_input(s->conv, 1),
        prt_build_tensor(b, PRT_DTYPE_f32, 1, &s->w.dims[0], bias));
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    site s;
    const bool plain = prt_op_is(root, PRT_OP_conv);
    const prt_conv_attrs *a = root->attrs;
    const prt_fused_conv_attrs *f = root->attrs;
    if (match(&s, root, PRT_OP_mul))
        return prt_match_own_constant(root, 1, &s.w) && apply_mul(p, b, &s);
    if ((plain ? is_unpadded(&a->pads, a->auto_pad) : is_unpadded(&f->pads, f->auto_pad)) &&
        match(&s, root, PRT_OP_add))
        return apply_add(p, b, &s);
    return false;
}

static const prt_rewrite rewrites[] = { { PRT_OP_conv, apply }, { PRT_OP_fused_conv, apply } };

const prt_pass_hooks prt_pass_fuse_prologue = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
