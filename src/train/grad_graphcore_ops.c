/* SPDX-License-Identifier: MIT */
/* grad_graphcore_ops.c — gradients of element-wise operators of ai.graphcore, and of those that
 * move elements. */
#include <math.h>
#include <stdio.h>

#include "train/terms.h"

#define X prt_grad_x(g, 0)
#define Y prt_grad_y(g)
#define G (g->out[0])

#define RULE(name, expression)                                                                     \
    poprt_status prt_grad_gc_##name(prt_grad *g)                                                   \
    {                                                                                              \
        return prt_grad_set(g, 0, expression);                                                     \
    }

RULE(expm1, MUL(G, ADD(Y, NUM(G, 1.0))))
RULE(log1p, DIV(G, ADD(X, NUM(G, 1.0))))
RULE(square, MUL(G, MUL(X, NUM(G, 2.0))))
RULE(first_only, G)

poprt_status prt_grad_gc_scale(prt_grad *g)
{
    const prt_gc_scale_attrs *a = g->op->attrs;
    return prt_grad_set(g, 0, MUL(G, NUM(G, (double)a->scale)));
}

poprt_status prt_grad_gc_leaky_relu(prt_grad *g)
{
    const prt_gc_leaky_relu_attrs *a = g->op->attrs;
    prt_value *negative = BINARY(less, X, NUM(G, 0.0));
    return prt_grad_set(g, 0, WHERE(negative, MUL(G, NUM(G, (double)a->alpha)), G));
}

/* Builds the ONNX operator with the same semantics on all inputs, and differentiates it. */
static poprt_status by(prt_grad *g, uint32_t id, const void *attrs)
{
    prt_value *in[3] = { NULL, NULL, NULL };
    for (uint32_t i = 0; i < g->op->n_in && i < 3; i++)
        in[i] = prt_grad_x(g, i);
    return prt_grad_by(g, prt_build_op(g->b, id, attrs, g->op->n_in, in));
}

poprt_status prt_grad_gc_gelu(prt_grad *g)
{
    prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
    PRT_ATTR_SET(attrs, gelu, approximate, PRT_STR("tanh"));
    return by(g, PRT_OP_gelu, &attrs);
}

poprt_status prt_grad_gc_gelu_erf(prt_grad *g)
{
    return by(g, PRT_OP_gelu, NULL);
}

poprt_status prt_grad_gc_erf(prt_grad *g)
{
    return by(g, PRT_OP_erf, NULL);
}

poprt_status prt_grad_gc_swish(prt_grad *g)
{
    return by(g, PRT_OP_swish, NULL);
}

poprt_status prt_grad_gc_where(prt_grad *g)
{
    return by(g, PRT_OP_where, NULL);
}

poprt_status prt_grad_gc_softmax(prt_grad *g)
{
    const prt_gc_softmax_v2_attrs *a = g->op->attrs;
    prt_softmax_attrs attrs = PRT_ATTRS_OF(softmax);
    PRT_ATTR_SET(attrs, softmax, axis, a->axis);
    return by(g, PRT_OP_softmax, &attrs);
}

poprt_status prt_grad_gc_remainder(prt_grad *g)
{
    return by(g, PRT_OP_mod, NULL);
}

poprt_status prt_grad_gc_atan2(prt_grad *g)
{
    prt_value *y = prt_grad_x(g, 0), *x = prt_grad_x(g, 1);
    prt_value *part = DIV(G, ADD(MUL(x, x), MUL(y, y)));
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, MUL(part, x)));
    return g->wanted[1] ? prt_grad_set(g, 1, CALL(neg, MUL(part, y))) : POPRT_OK;
}

poprt_status prt_grad_gc_add_bias(prt_grad *g)
{
    PRT_TRY(prt_grad_set(g, 0, G));
    return prt_grad_set_bias(g, 1, G);
}

static prt_value *scaled(prt_grad *g, uint32_t input, uint32_t scale, float factor)
{
    prt_value *x = prt_grad_x(g, input), *s = prt_grad_x(g, scale);
    return MUL(x, s != NULL ? prt_grad_cast_as(g, s, x) : NUM(x, (double)factor));
}

poprt_status prt_grad_gc_scaled_add(prt_grad *g)
{
    const prt_gc_scaled_add_attrs *a = g->op->attrs;
    return prt_grad_by(g, ADD(scaled(g, 0, 2, a->scale0), scaled(g, 1, 3, a->scale1)));
}

poprt_status prt_grad_gc_binary_const_scalar(prt_grad *g)
{
    static const struct {
        const char *name;
        uint32_t id;
    } ops[] = { { "Add", PRT_OP_add }, { "Sub", PRT_OP_sub }, { "Mul", PRT_OP_mul },
        { "Div", PRT_OP_div }, { "Pow", PRT_OP_pow } };
    const prt_gc_binary_const_scalar_attrs *a = g->op->attrs;
    prt_value *scalar = NUM(X, (double)a->value);
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++)
        if (prt_str_is(a->op, ops[i].name))
            return prt_grad_by(g,
                a->scalar_in_index == 0 ? prt_build_binary(g->b, ops[i].id, scalar, X)
                                        : prt_build_binary(g->b, ops[i].id, X, scalar));
    return prt_grad_refuse(g, "the operation is not known");
}

/* ((scale * image - offsets) * scales), with a fourth channel of zeros. */
poprt_status prt_grad_gc_normalize_image(prt_grad *g)
{
    const prt_gc_normalize_image_attrs *a = g->op->attrs;
    prt_value *scales = prt_grad_x(g, 2);
    if (!g->wanted[0] || prt_grad_rank(X) < 1)
        return prt_grad_refuse(g, "only the image, of known rank, has a gradient");
    int64_t pads[2 * PRT_MAX_RANK] = { 0 };
    const uint32_t rank = (uint32_t)prt_grad_rank(X);
    pads[2 * rank - 1] = 1;
    prt_value *v = SUB(MUL(X, NUM(X, (double)a->scale)), prt_grad_cast_as(g, prt_grad_x(g, 1), X));
    v = MUL(v, prt_grad_cast_as(g, scales, X));
    return prt_grad_by(g, BINARY(pad, v, prt_build_i64s(g->b, 2 * rank, pads)));
}

/* Prints the gradient too, unless print_gradient is 0. */
poprt_status prt_grad_gc_print_tensor(prt_grad *g)
{
    const prt_gc_print_tensor_attrs *a = g->op->attrs;
    prt_gc_print_tensor_attrs attrs = *a;
    const prt_str name = X->name;
    char text[512];
    if (a->print_gradient == 0)
        return prt_grad_set(g, 0, G);
    if (a->title.size != 0)
        (void)snprintf(text, sizeof(text), "%.*s_gradient", PRT_STR_ARG(a->title));
    else
        (void)snprintf(text, sizeof(text), "Gradient___%.*s", PRT_STR_ARG(name));
    const prt_str title = prt_module_str(g->b->graph->module, prt_str_of(text));
    if (title.data == NULL)
        return POPRT_E_NOMEM;
    PRT_ATTR_SET(attrs, gc_print_tensor, title, title);
    PRT_ATTR_SET(attrs, gc_print_tensor, print_gradient, 0);
    prt_value *dy = G;
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_gc_print_tensor, &attrs, 1, &dy));
}

/* ---- movement */

poprt_status prt_grad_gc_sort(prt_grad *g)
{
    const prt_gc_sort_attrs *a = g->op->attrs;
    PRT_TRY(prt_grad_widen(g, 2));
    return prt_grad_set(g, 0, prt_grad_scatter_at(g, G, &g->op->out[1], a->axis, X));
}

/* The reduced axes are moved behind the others, and flattened; the index counts their elements. */
poprt_status prt_grad_gc_reduce_median(prt_grad *g)
{
    static const int64_t column[2] = { -1, 1 }, all[1] = { -1 };
    const prt_gc_reduce_median_attrs *a = g->op->attrs;
    const int32_t rank = prt_grad_rank(X);
    int64_t perm[PRT_MAX_RANK], back[PRT_MAX_RANK];
    uint32_t set = 0;
    if (rank < 0)
        return prt_grad_refuse(g, "needs an input of known rank");
    PRT_TRY(prt_grad_widen(g, 2));
    for (uint32_t i = 0; i < a->axes.count; i++)
        set |= 1u << (a->axes.data[i] < 0 ? a->axes.data[i] + rank : a->axes.data[i]);
    if (!prt_attr_given(a, 0) && a->axes.count == 0)
        set = (1u << rank) - 1;
    for (int32_t pass = 0, at = 0; pass < 2; pass++)
        for (int32_t i = 0; i < rank; i++)
            if ((int32_t)(set >> i & 1) == pass) {
                back[i] = at;
                perm[at++] = i;
            }
    prt_value *moved = prt_grad_permute(g, X, (uint32_t)rank, perm);
    prt_value *dy = prt_grad_reshape_to(g, G, 2, column);
    prt_value *rows[2] = { prt_grad_reshape_to(g, CALL(size, dy), 1, (const int64_t[1]){ 1 }),
        prt_build_i64s(g->b, 1, all) };
    prt_value *flat = BINARY(reshape, moved, prt_grad_concat_values(g, 0, 2, rows));
    prt_value *at = prt_grad_reshape_to(g, &g->op->out[1], 2, column);
    prt_value *dx = prt_grad_reshape(g, prt_grad_scatter_at(g, dy, at, 1, flat), moved);
    return prt_grad_set(g, 0, prt_grad_permute(g, dx, (uint32_t)rank, back));
}

/* The block of an operator with axes and sizes, or a change of it. */
static prt_value *block_op(prt_grad *g, uint32_t id, prt_value *v, prt_value *block)
{
    prt_value *in[3] = { v, prt_grad_x(g, 1), block };
    return prt_build_op(g->b, id, g->op->attrs, block != NULL ? 3 : 2, in);
}

#define COPY_BLOCK(id)                                                                             \
    do {                                                                                           \
        PRT_ATTR_SET(attrs, id, axes, a->axes);                                                    \
        PRT_ATTR_SET(attrs, id, sizes, a->sizes);                                                  \
    } while (0)

/* DynamicSlice with the axes and sizes of another operator. */
static prt_value *sliced(prt_grad *g, prt_i64s axes, prt_i64s sizes, prt_value *v)
{
    prt_gc_dynamic_slice_attrs attrs = PRT_ATTRS_OF(gc_dynamic_slice);
    PRT_ATTR_SET(attrs, gc_dynamic_slice, axes, axes);
    PRT_ATTR_SET(attrs, gc_dynamic_slice, sizes, sizes);
    prt_value *in[2] = { v, prt_grad_x(g, 1) };
    return prt_build_op(g->b, PRT_OP_gc_dynamic_slice, &attrs, 2, in);
}

poprt_status prt_grad_gc_dynamic_slice(prt_grad *g)
{
    const prt_gc_dynamic_slice_attrs *a = g->op->attrs;
    prt_gc_dynamic_update_attrs attrs = PRT_ATTRS_OF(gc_dynamic_update);
    COPY_BLOCK(gc_dynamic_update);
    prt_value *in[3] = { prt_grad_filled(g, X, 0.0), prt_grad_x(g, 1), G };
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_gc_dynamic_update, &attrs, 3, in));
}

poprt_status prt_grad_gc_dynamic_update(prt_grad *g)
{
    const prt_gc_dynamic_update_attrs *a = g->op->attrs;
    prt_gc_dynamic_zero_attrs attrs = PRT_ATTRS_OF(gc_dynamic_zero);
    COPY_BLOCK(gc_dynamic_zero);
    prt_value *in[2] = { G, prt_grad_x(g, 1) };
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_gc_dynamic_zero, &attrs, 2, in)));
    return g->wanted[2] ? prt_grad_set(g, 2, sliced(g, a->axes, a->sizes, G)) : POPRT_OK;
}

poprt_status prt_grad_gc_dynamic_add(prt_grad *g)
{
    const prt_gc_dynamic_add_attrs *a = g->op->attrs;
    PRT_TRY(prt_grad_set(g, 0, G));
    return g->wanted[2] ? prt_grad_set(g, 2, sliced(g, a->axes, a->sizes, G)) : POPRT_OK;
}

poprt_status prt_grad_gc_dynamic_zero(prt_grad *g)
{
    return prt_grad_set(g, 0, block_op(g, PRT_OP_gc_dynamic_zero, G, NULL));
}

poprt_status prt_grad_gc_sequence_slice(prt_grad *g)
{
    static const uint32_t both[2] = { 0, 1 };
    return prt_grad_route(g, 2, both, PRT_DTYPE_i64);
}

/* One row of X for each output. */
poprt_status prt_grad_gc_host_concat_split_reshape(prt_grad *g)
{
    static const int64_t row[2] = { 1, -1 };
    prt_value **rows = PRT_NEW_N(g->b->graph->module->arena, prt_value *, g->op->n_out);
    if (rows == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < g->op->n_out; i++) {
        prt_value *d = G != NULL && i == 0 ? G : g->out[i];
        rows[i] = d != NULL ? d : prt_grad_filled(g, &g->op->out[i], 0.0);
        rows[i] = prt_grad_reshape_to(g, rows[i], 2, row);
    }
    return prt_grad_set(g, 0, prt_grad_concat_values(g, 0, g->op->n_out, rows));
}
