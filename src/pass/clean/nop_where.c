/* SPDX-License-Identifier: MIT */
/*
 * nop_where.c — eliminate_nop_where: readers of a Where that always selects its first value read
 * that value instead. Either the condition is a constant of true; or, in a decoding loop, it is the
 * last token's row of a lower triangle, cut to the n tokens so far:
 *
 *     Where(triangle[..., n - 1 : n, : n], X, number), with X n wide
 *
 * If n exceeds the triangle, the original Where could not be computed either.
 */
#include "pass/engine/rewrite.h"

enum { MOST_CHECKED = 1 << 22 };

static bool is_set(const prt_tensor *t, size_t at)
{
    return ((const unsigned char *)t->data)[at] != 0;
}

static bool is_true(const prt_op *op, uint32_t slot)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || t.dtype != PRT_DTYPE_bool ||
        prt_tensor_count(&t) > MOST_CHECKED)
        return false;
    for (size_t i = 0; i < prt_tensor_count(&t); i++)
        if (!is_set(&t, i))
            return false;
    return true;
}

/* Result for the constant checked last: layers share one triangle. */
typedef struct triangle_check {
    const void *data;
    bool triangle;
} triangle_check;

static bool is_filled(const prt_tensor *t)
{
    const size_t m = (size_t)t->dims[t->rank - 1];
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            if (!is_set(t, i * m + j))
                return false;
    return true;
}

/* Returns whether the constant is [..., m, m] and true on and below the diagonal. Elements above it
 * are not checked. */
static bool is_triangle(prt_pass *p, const prt_op *op, uint32_t slot)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || t.dtype != PRT_DTYPE_bool || t.rank < 2 ||
        prt_dims_product(t.dims, 0, t.rank - 2) != 1 || t.dims[t.rank - 2] != t.dims[t.rank - 1])
        return false;
    triangle_check *last = p->memo;
    if (last == NULL)
        p->memo = last = PRT_NEW(p->arena, triangle_check);
    if (last == NULL)
        return false;
    if (last->data == t.data)
        return last->triangle;
    if (!prt_pass_reserve(p, t.size))
        return false;
    *last = (triangle_check){ t.data, is_filled(&t) };
    return last->triangle;
}

/* Reads the single integer of an input: a number or a dimension expression. */
static bool one_integer(const prt_op *op, uint32_t slot, int64_t *out)
{
    prt_tensor t;
    if (prt_match_constant(op, slot, &t)) {
        if (prt_tensor_count(&t) != 1 || !prt_dtype_is_integer(t.dtype))
            return false;
        *out = prt_load_i64(t.dtype, t.data, 0);
        return true;
    }
    const prt_value *v = prt_op_input(op, slot);
    if (v == NULL || v->content == NULL || v->content->count != 1)
        return false;
    *out = v->content->values[0];
    return *out != PRT_DIM_UNKNOWN;
}

/* Reads a Slice of one axis with step 1; `axis` counts from the last axis, which is 0. */
static bool slices(const prt_op *op, int64_t *axis, int64_t *start, int64_t *end)
{
    int64_t step = 1;
    const prt_value *x = op != NULL ? prt_op_input(op, 0) : NULL;
    if (!prt_op_is(op, PRT_OP_slice) || !prt_type_is_tensor(x->type) || x->type->rank < 2 ||
        !one_integer(op, 1, start) || !one_integer(op, 2, end) || !one_integer(op, 3, axis) ||
        (prt_op_input(op, 4) != NULL && !one_integer(op, 4, &step)) || step != 1)
        return false;
    *axis = *axis < 0 ? -1 - *axis : x->type->rank - 1 - *axis;
    return true;
}

/* Matches row n - 1 and the first n columns of a triangle. */
static bool is_last_row(prt_pass *p, const prt_op *columns, int64_t *n)
{
    prt_dims *dims = p->module->dims;
    int64_t axis[2], start[2], end[2];
    if (columns == NULL || !slices(columns, &axis[0], &start[0], &end[0]))
        return false;
    const prt_op *rows = prt_op_input(columns, 0)->def;
    if (!slices(rows, &axis[1], &start[1], &end[1]))
        return false;
    *n = end[0];
    return axis[0] == 0 && start[0] == 0 && axis[1] == 1 && end[1] == *n &&
        prt_dim_sub(dims, *n, 1) == start[1] && prt_dim_never_negative(dims, start[1]) &&
        is_triangle(p, rows, 0);
}

/* Returns whether the first value alone determines the shape of the result: the condition has
 * leading ones only, and the second value is one number. */
static bool is_shaped_by_first(const prt_op *op, int64_t n)
{
    const prt_type *cond = prt_op_input(op, 0)->type, *x = prt_op_input(op, 1)->type;
    prt_tensor t;
    if (!prt_type_is_tensor(x) || !prt_type_is_tensor(cond) || cond->rank < 2 ||
        x->rank < cond->rank || x->dims[x->rank - 1] != n || !prt_match_constant(op, 2, &t) ||
        prt_tensor_count(&t) != 1 || (int32_t)t.rank > x->rank)
        return false;
    for (int32_t i = 0; i + 2 < cond->rank; i++)
        if (cond->dims[i] != 1)
            return false;
    return true;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 1);
    int64_t n = 0;
    const bool row = is_last_row(p, prt_op_input(root, 0)->def, &n) && is_shaped_by_first(root, n);
    if (!row && (x->type != root->out[0].type || x->type->rank < 0 || !is_true(root, 0)))
        return false;
    return prt_pass_replace(b, &root->out[0], x);
}

static const prt_rewrite rewrites[] = { { PRT_OP_where, apply } };

const prt_pass_hooks prt_pass_eliminate_nop_where = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
