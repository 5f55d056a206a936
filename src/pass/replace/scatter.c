/* SPDX-License-Identifier: MIT */
/*
 * scatter.c — replace_scatter_nd_with_concat: ScatterND whose constant indices form a box, each
 * position once and in order, which is how exporters write x[a:b, :, c:d] = u. It becomes u
 * concatenated with the surrounding slices of x, axis by axis:
 *
 *     Concat(x[:a], Concat(x[a:b, :, :c], u, x[a:b, :, d:]), x[b:])
 *
 * Requires: no reduction, static shapes, at most three axes that the box does not fill. Bitwise
 * equal.
 */
#include "pass/engine/match.h"

enum { MOST = 3 };

typedef struct box {
    uint32_t axes; /* axes that the indices name; the box fills the others */
    int64_t begin[PRT_MAX_RANK], dims[PRT_MAX_RANK];
} box;

/* Returns member `k` of tuple `t` as a non-negative index; -1 if it is out of range. */
static int64_t place(const prt_tensor *index, const box *a, const prt_type *x, size_t t, uint32_t k)
{
    const int64_t at = prt_load_i64(index->dtype, index->data, t * a->axes + k);
    const int64_t dim = x->dims[k], from_front = at < 0 && at >= -dim ? at + dim : at;
    return from_front < dim ? from_front : -1;
}

/* Returns whether the indices are a box: the first and last tuple are its corners, and all others
 * are in order. */
static bool find_box(const prt_tensor *index, const prt_type *x, box *to)
{
    const size_t count = prt_tensor_count(index);
    size_t places = 1;
    to->axes = index->rank != 0 ? (uint32_t)index->dims[index->rank - 1] : 0;
    if (count == 0 || to->axes > (uint32_t)x->rank)
        return false;
    const size_t tuples = count / to->axes;
    memcpy(to->dims, x->dims, (size_t)x->rank * sizeof(int64_t));
    memset(to->begin, 0, sizeof(to->begin));
    for (uint32_t k = 0; k < to->axes; k++) {
        const int64_t last = place(index, to, x, tuples - 1, k);
        to->begin[k] = place(index, to, x, 0, k);
        to->dims[k] = last - to->begin[k] + 1;
        if (to->begin[k] < 0 || last < 0 || to->dims[k] <= 0)
            return false;
        places *= (size_t)to->dims[k];
    }
    for (size_t t = 0; places == tuples && t < tuples; t++) {
        size_t rest = t;
        for (uint32_t k = to->axes; k-- > 0; rest /= (size_t)to->dims[k])
            if (place(index, to, x, t, k) != to->begin[k] + (int64_t)(rest % (size_t)to->dims[k]))
                return false;
    }
    return places == tuples;
}

static prt_value *slice(prt_build *b, prt_value *x, int64_t axis, int64_t from, int64_t to)
{
    prt_value *in[4] = { x, prt_build_i64s(b, 1, &from), prt_build_i64s(b, 1, &to),
        prt_build_i64s(b, 1, &axis) };
    return prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

/* Builds x with the box replaced by `u`, for the axes from `axis` on. */
static prt_value *build_axis(prt_build *b, const box *a, const prt_type *type, prt_value *x,
    prt_value *u, uint32_t axis)
{
    while (axis < a->axes && a->dims[axis] == type->dims[axis])
        axis++;
    if (axis >= a->axes)
        return u;
    const int64_t dim = type->dims[axis], begin = a->begin[axis], end = begin + a->dims[axis];
    uint32_t next = axis + 1, n = 0;
    while (next < a->axes && a->dims[next] == type->dims[next])
        next++;
    prt_value *parts[3];
    if (begin != 0)
        parts[n++] = slice(b, x, axis, 0, begin);
    parts[n++] =
        next < a->axes ? build_axis(b, a, type, slice(b, x, axis, begin, end), u, next) : u;
    if (end != dim)
        parts[n++] = slice(b, x, axis, end, dim);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, axis);
    return prt_build_op(b, PRT_OP_concat, &attrs, n, parts);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_scatter_nd_attrs *attrs = root->attrs;
    const prt_type *x = prt_match_static(prt_op_input(root, 0));
    prt_value *u = prt_op_input(root, 2);
    const prt_type *update = prt_match_static(u);
    prt_tensor index;
    box a;
    (void)p;
    if (!prt_str_is(attrs->reduction, "none") || x == NULL || update == NULL ||
        !prt_match_constant(root, 1, &index) || !find_box(&index, x, &a))
        return false;
    uint32_t open = 0;
    size_t size = 1;
    for (int32_t i = 0; i < x->rank; i++) {
        open += a.dims[i] != x->dims[i];
        size *= (size_t)a.dims[i];
    }
    if (open > MOST || prt_dims_product(update->dims, 0, (uint32_t)update->rank) != size)
        return false;
    if (update->rank != x->rank ||
        memcmp(update->dims, a.dims, (size_t)x->rank * sizeof(int64_t)) != 0)
        u = prt_build_binary(b, PRT_OP_reshape, u, prt_build_i64s(b, (uint32_t)x->rank, a.dims));
    prt_value *y = build_axis(b, &a, x, prt_op_input(root, 0), u, 0);
    /* the box is all of x, and u has a name to keep */
    if (y == u && !prt_pass_may_replace(&root->out[0], u))
        y = prt_build_unary(b, PRT_OP_identity, u);
    return prt_match_replace(b, root, y);
}

PRT_PASS_OF_REWRITE(replace_scatter_nd_with_concat, PRT_OP_scatter_nd, apply);
