/* SPDX-License-Identifier: MIT */
/* one_hot.c — OneHot: adds an axis that has one value at the index and another value elsewhere. */
#include <math.h>

#include "op/share/shape_values.h"

/* Reads integer `k` of a tensor of any number type. Returns false if the element cannot be an
 * index. */
static bool read_index(const prt_tensor *t, size_t k, int64_t *out)
{
    if (prt_dtype_of(t->dtype)->kind == PRT_KIND_uint) {
        const uint64_t v = prt_load_u64(t->dtype, t->data, k);
        *out = (int64_t)v;
        return v <= INT64_MAX;
    }
    if (prt_dtype_is_float(t->dtype)) {
        const double v = prt_load_f64(t->dtype, t->data, k);
        if (!(fabs(v) < 0x1p62))
            return false;
        *out = (int64_t)v;
        return true;
    }
    *out = prt_load_i64(t->dtype, t->data, k);
    return true;
}

static poprt_status infer(prt_infer *c)
{
    const prt_one_hot_attrs *a = c->attrs;
    const prt_shape *index = &c->in[0];
    const prt_tensor *value = c->value[1];
    int64_t dims[PRT_MAX_RANK + 1], depth;
    uint32_t axis, count;
    if (value != NULL) {
        if (prt_tensor_count(value) != 1 || !read_index(value, 0, &depth) || depth < 0)
            return prt_infer_fail(c, POPRT_E_ARG, "depth must be exactly one number of at least 0");
    } else if (!prt_infer_ints(c, 1, &depth, 1, &count) || count != 1) {
        depth = PRT_DIM_UNKNOWN;
    }
    if (c->in[2].rank >= 0 &&
        (c->in[2].rank != 1 || (prt_dim_is_number(c->in[2].dims[0]) && c->in[2].dims[0] != 2)))
        return prt_infer_fail(c, POPRT_E_SHAPE, "values must have shape [2]");
    if (index->rank < 0)
        return prt_infer_unranked(c, 0, c->in[2].dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, index->rank + 1, false, &axis));
    for (int32_t i = 0, k = 0; i < index->rank + 1; i++)
        dims[i] = (uint32_t)i == axis ? depth : index->dims[k++];
    return prt_infer_set(c, 0, c->in[2].dtype, index->rank + 1, dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_one_hot_attrs *a = c->attrs;
    const prt_tensor *index = c->in[0], *values = c->in[2];
    int64_t dims[PRT_MAX_RANK + 1], depth;
    uint32_t axis;
    if (prt_tensor_count(c->in[1]) != 1 || !read_index(c->in[1], 0, &depth) || depth < 0)
        return prt_eval_fail(c, POPRT_E_ARG, "depth must be exactly one number of at least 0");
    if (prt_tensor_count(values) != 2)
        return prt_eval_fail(c, POPRT_E_SHAPE, "values must have shape [2]");
    PRT_TRY(prt_shape_axis(c, a->axis, index->rank + 1, &axis));
    for (uint32_t i = 0, k = 0; i < index->rank + 1; i++)
        dims[i] = i == axis ? depth : index->dims[k++];
    PRT_TRY(prt_shape_output(c, 0, values->dtype, index->rank + 1, dims));
    prt_tensor *y = c->out[0];
    prt_fill_elements(y->dtype, y->data, 0, values->data, 0, prt_tensor_count(y));
    const size_t outer = prt_dims_product(index->dims, 0, axis);
    const size_t inner = prt_dims_product(index->dims, axis, index->rank);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++) {
            int64_t at;
            if (!read_index(index, o * inner + i, &at) || at < -depth || at >= depth)
                continue;
            at = at < 0 ? at + depth : at;
            prt_element_copy(y->dtype, y->data, (o * (size_t)depth + (size_t)at) * inner + i,
                values->data, 1, 1);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_one_hot = { .infer = infer, .eval = eval };
