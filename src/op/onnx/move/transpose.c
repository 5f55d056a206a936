/* SPDX-License-Identifier: MIT */
/* transpose.c — Transpose: permutes axes; without `perm` it reverses them. */
#include "op/alias.h"
#include "op/share/shape_values.h"

/* Writes the permutation of `rank` axes to `perm`. Fails with POPRT_E_SHAPE if the attribute is
 * not a permutation. */
static poprt_status read_perm(const prt_infer *c, int32_t rank, uint32_t *perm)
{
    const prt_transpose_attrs *a = c->attrs;
    uint32_t seen = 0;
    if (a->perm.count == 0) {
        for (int32_t i = 0; i < rank; i++)
            perm[i] = (uint32_t)(rank - 1 - i);
        return POPRT_OK;
    }
    if (a->perm.count != (uint32_t)rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "perm has %u axes, but the input has rank %d",
            a->perm.count, rank);
    for (int32_t i = 0; i < rank; i++) {
        PRT_TRY(prt_infer_axis(c, a->perm.data[i], rank, false, &perm[i]));
        if ((seen >> perm[i] & 1) != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "perm names axis %u twice", perm[i]);
        seen |= 1u << perm[i];
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_transpose_attrs *a = c->attrs;
    const prt_shape *in = &c->in[0];
    if (in->rank < 0)
        return prt_infer_unranked(c, 0, in->dtype,
            a->perm.count != 0 ? (int32_t)a->perm.count : -1);
    uint32_t perm[PRT_MAX_RANK];
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(read_perm(c, in->rank, perm));
    for (int32_t i = 0; i < in->rank; i++)
        dims[i] = in->dims[perm[i]];
    return prt_infer_set(c, 0, in->dtype, in->rank, dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_transpose_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_view v = { .rank = x->rank };
    for (uint32_t i = 0; i < x->rank; i++) {
        const uint32_t axis = a->perm.count == 0
            ? x->rank - 1 - i
            : (uint32_t)(a->perm.data[i] < 0 ? a->perm.data[i] + x->rank : a->perm.data[i]);
        v.dims[i] = x->dims[axis];
        v.stride[i] = (int64_t)prt_dims_product(x->dims, axis + 1, x->rank);
    }
    prt_view_eval(c, &v);
    return POPRT_OK;
}

/* The hook `view`: the permutation keeps the order of the axes longer than 1, so that no element
 * moves. */
static bool is_view(const prt_view_query *q, size_t *element)
{
    const prt_transpose_attrs *a = q->attrs;
    const prt_tensor *x = q->in[0];
    int64_t last = -1;
    *element = 0;
    if (x->size != q->y->size)
        return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t axis = (int64_t)(x->rank - 1 - i);
        if (i < a->perm.count)
            axis = a->perm.data[i] < 0 ? a->perm.data[i] + x->rank : a->perm.data[i];
        if (axis < 0 || axis >= (int64_t)x->rank)
            return false;
        if (x->dims[axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

const prt_op_hooks prt_op_transpose = { .infer = infer, .eval = eval, .view = is_view };
