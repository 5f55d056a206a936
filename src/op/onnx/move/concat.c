/* SPDX-License-Identifier: MIT */
/* concat.c — Concat: concatenates tensors along one axis. */
#include "op/share/shape_values.h"

/* Concatenates the known integers of shape tensors. */
static poprt_status concat_content(prt_infer *c)
{
    int64_t values[PRT_CONTENT_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        int64_t more[PRT_CONTENT_MAX];
        uint32_t n;
        if (!prt_shape_values(c, i, more, &n) || n > PRT_CONTENT_MAX - count)
            return POPRT_OK;
        memcpy(values + count, more, n * sizeof(int64_t));
        count += n;
    }
    return prt_shape_values_set(c, 0, count, values);
}

/* Adds the dims of input `i` to the output dims. */
static poprt_status add_dims(const prt_infer *c, uint32_t i, uint32_t axis, prt_shape *out)
{
    const prt_shape *in = &c->in[i];
    if (in->rank != out->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "input %u has rank %d, but another input has rank %d", i, in->rank, out->rank);
    for (int32_t k = 0; k < out->rank; k++) {
        int64_t *d = &out->dims[k];
        if ((uint32_t)k == axis)
            *d = prt_dim_add(c->dims, *d, in->dims[k]);
        else
            PRT_TRY(prt_infer_merge(c, *d, in->dims[k], "a dim other than the axis", d));
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_concat_attrs *a = c->attrs;
    prt_shape out = { .rank = PRT_RANK_UNKNOWN };
    uint32_t axis = 0, unranked = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
        if (!prt_infer_ranked(c, i)) {
            unranked++;
        } else if (out.rank < 0) {
            out = c->in[i];
            PRT_TRY(prt_infer_axis(c, a->axis, out.rank, false, &axis));
        } else {
            PRT_TRY(add_dims(c, i, axis, &out));
        }
    }
    if (out.rank > 0 && unranked != 0)
        out.dims[axis] = PRT_DIM_UNKNOWN;
    PRT_TRY(prt_infer_set(c, 0, c->in[0].dtype, out.rank, out.dims));
    return out.rank == 1 ? concat_content(c) : POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_concat_attrs *a = c->attrs;
    const prt_tensor *first = c->in[0];
    prt_tensor *y = c->out[0];
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, first->rank, &axis));
    const size_t outer = prt_dims_product(y->dims, 0, axis);
    const size_t row = prt_dims_product(y->dims, axis, y->rank);
    size_t at = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const prt_tensor *x = c->in[i];
        const size_t part = prt_dims_product(x->dims, axis, x->rank);
        if (part > row - at || prt_tensor_count(x) != outer * part)
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "the shape of input %u does not match the output", i);
        for (size_t o = 0; o < outer; o++)
            prt_element_copy(x->dtype, y->data, o * row + at, x->data, o * part, part);
        at += part;
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_concat = { .infer = infer, .eval = eval };
