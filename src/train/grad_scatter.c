/* SPDX-License-Identifier: MIT */
/*
 * grad_scatter.c — gradients of operators that write elements into a copy of their input, and of
 * OneHot. As in PopART, all elements equal to a maximum or minimum get the whole gradient.
 */
#include "train/terms.h"

/* The parts in which the scatters differ: how elements are read at the indices, and how they are
 * written into a tensor. */
typedef struct scatter {
    uint32_t id; /* PRT_OP_scatter_elements or PRT_OP_scatter_nd */
    int64_t axis;
    prt_value *indices;
} scatter;

static prt_value *read_at(prt_grad *g, const scatter *s, prt_value *v)
{
    if (s->id == PRT_OP_scatter_elements)
        return prt_grad_gather_at(g, v, s->indices, s->axis);
    return BINARY(gather_nd, v, s->indices);
}

/* `v` with `updates` written, or added, at the indices. */
static prt_value *write_at(prt_grad *g, const scatter *s, prt_value *v, prt_value *updates,
    const char *reduction)
{
    prt_value *in[3] = { v, s->indices, updates };
    if (s->id == PRT_OP_scatter_elements) {
        prt_scatter_elements_attrs attrs = PRT_ATTRS_OF(scatter_elements);
        PRT_ATTR_SET(attrs, scatter_elements, axis, s->axis);
        PRT_ATTR_SET(attrs, scatter_elements, reduction, prt_str_of(reduction));
        return prt_build_op(g->b, PRT_OP_scatter_elements, &attrs, 3, in);
    }
    prt_scatter_nd_attrs attrs = PRT_ATTRS_OF(scatter_nd);
    PRT_ATTR_SET(attrs, scatter_nd, reduction, prt_str_of(reduction));
    return prt_build_op(g->b, PRT_OP_scatter_nd, &attrs, 3, in);
}

/* Without a reduction, written elements of the data have no gradient. The result of several updates
 * of one element is not defined; each gets the gradient. */
static poprt_status replaced(prt_grad *g, const scatter *s)
{
    if (g->wanted[0]) {
        prt_value *zeros = prt_grad_filled(g, prt_grad_x(g, 2), 0.0);
        PRT_TRY(prt_grad_set(g, 0, write_at(g, s, g->out[0], zeros, "none")));
    }
    return g->wanted[2] ? prt_grad_set(g, 2, read_at(g, s, g->out[0])) : POPRT_OK;
}

/* The gradient of a product is the result divided by the factor. If the factor is 0, it is the
 * product of the other factors. So zeros are counted, and multiplied as ones. */
static poprt_status multiplied(prt_grad *g, const scatter *s)
{
    prt_value *dy = g->out[0], *data = prt_grad_x(g, 0), *updates = prt_grad_x(g, 2);
    prt_value *zero = NUM(dy, 0.0), *one = NUM(dy, 1.0);
    prt_value *data_is_zero = BINARY(equal, data, zero);
    prt_value *update_is_zero = BINARY(equal, updates, zero);
    prt_value *safe_data = WHERE(data_is_zero, one, data);
    prt_value *safe_updates = WHERE(update_is_zero, one, updates);
    prt_value *product = write_at(g, s, safe_data, safe_updates, "mul");
    prt_value *zeros = write_at(g, s, prt_grad_cast_as(g, data_is_zero, dy),
        prt_grad_cast_as(g, update_is_zero, dy), "add");
    prt_value *d = MUL(dy, product);
    /* The factor itself is no zero and there are no others, or it is the only one. */
    if (g->wanted[0]) {
        prt_value *own = prt_grad_cast_as(g, data_is_zero, dy);
        prt_value *alone = BINARY(equal, zeros, own);
        PRT_TRY(prt_grad_set(g, 0, WHERE(alone, DIV(d, safe_data), zero)));
    }
    if (g->wanted[2]) {
        prt_value *own = prt_grad_cast_as(g, update_is_zero, dy);
        prt_value *alone = BINARY(equal, read_at(g, s, zeros), own);
        return prt_grad_set(g, 2, WHERE(alone, DIV(read_at(g, s, d), safe_updates), zero));
    }
    return POPRT_OK;
}

static poprt_status scattered(prt_grad *g, const scatter *s, prt_str reduction)
{
    prt_value *dy = g->out[0], *y = prt_grad_y(g), *zero = NUM(dy, 0.0);
    if (prt_str_is(reduction, "none"))
        return replaced(g, s);
    if (prt_str_is(reduction, "mul"))
        return multiplied(g, s);
    const bool sum = prt_str_is(reduction, "add");
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, sum ? dy : WHERE(BINARY(equal, prt_grad_x(g, 0), y), dy, zero)));
    if (!g->wanted[2])
        return POPRT_OK;
    prt_value *d = read_at(g, s, dy);
    return prt_grad_set(g, 2,
        sum ? d : WHERE(BINARY(equal, prt_grad_x(g, 2), read_at(g, s, y)), d, zero));
}

poprt_status prt_grad_scatter_elements(prt_grad *g)
{
    const prt_scatter_elements_attrs *a = g->op->attrs;
    const scatter s = { PRT_OP_scatter_elements, a->axis, prt_grad_x(g, 1) };
    return scattered(g, &s, a->reduction);
}

poprt_status prt_grad_scatter_nd(prt_grad *g)
{
    const prt_scatter_nd_attrs *a = g->op->attrs;
    const scatter s = { PRT_OP_scatter_nd, 0, prt_grad_x(g, 1) };
    return scattered(g, &s, a->reduction);
}

poprt_status prt_grad_tensor_scatter(prt_grad *g)
{
    static const uint32_t both[2] = { 0, 1 };
    return prt_grad_route(g, 2, both, PRT_DTYPE_i64);
}

/* OneHot of the numbers 0 and 1 says which value each element is. */
poprt_status prt_grad_one_hot(prt_grad *g)
{
    static const uint8_t values[2] = { 0, 1 };
    static const int64_t two[1] = { 2 }, one[1] = { 1 };
    prt_value *dy = g->out[0], *parts[2];
    prt_value *in[3] = { prt_grad_x(g, 0), prt_grad_x(g, 1),
        prt_build_tensor(g->b, PRT_DTYPE_bool, 1, two, values) };
    prt_value *on = prt_build_op(g->b, PRT_OP_one_hot, g->op->attrs, 3, in);
    prt_reduce_sum_attrs sum = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(sum, reduce_sum, keepdims, 0);
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *zero = NUM(dy, 0.0);
        prt_value *part = i == 0 ? WHERE(on, zero, dy) : WHERE(on, dy, zero);
        parts[i] =
            prt_grad_reshape_to(g, prt_build_op(g->b, PRT_OP_reduce_sum, &sum, 1, &part), 1, one);
    }
    return prt_grad_set(g, 2, prt_grad_concat_values(g, 0, 2, parts));
}
