/* SPDX-License-Identifier: MIT */
/*
 * max_unpool.c — MaxUnpool: writes each value to the position of MaxPool's index; all other
 * elements are zero.
 */
#include "op/share/sliding.h"

/* Returns the default output size: the extent of the pooling windows. */
static int64_t covered(prt_dims *d, const prt_max_unpool_attrs *a, int64_t in, uint32_t i)
{
    const uint32_t n = a->kernel_shape.count;
    const int64_t reach = prt_dim_mul(d, prt_dim_sub(d, in, 1), prt_i64s_at(a->strides, i, 1));
    const int64_t pads = prt_i64s_at(a->pads, i, 0) + prt_i64s_at(a->pads, n + i, 0);
    return prt_dim_sub(d, prt_dim_add(d, reach, a->kernel_shape.data[i]), pads);
}

static poprt_status infer(prt_infer *c)
{
    const prt_max_unpool_attrs *a = c->attrs;
    const prt_window_spec spec = { .kernel = a->kernel_shape,
        .strides = a->strides,
        .pads = a->pads };
    const uint32_t spatial = a->kernel_shape.count;
    const int32_t rank = (int32_t)spatial + 2;
    int64_t dims[PRT_MAX_RANK] = { 0 }, merged;
    uint32_t count = 0;
    PRT_TRY(prt_window_check(c, &spec, spatial));
    PRT_TRY(prt_infer_rank(c, 0, rank));
    PRT_TRY(prt_infer_rank(c, 1, rank));
    for (uint32_t i = 0; i < spatial + 2; i++)
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, i), prt_infer_dim(c, 1, i), "index dim",
            &merged));
    if (!prt_infer_has(c, 2)) {
        for (uint32_t i = 0; i < spatial + 2; i++) {
            dims[i] = prt_infer_dim(c, 0, i);
            if (i >= 2)
                dims[i] = covered(c->dims, a, dims[i], i - 2);
        }
        return prt_infer_exact(c, 0, c->in[0].dtype, rank, dims);
    }
    if (!prt_infer_ints(c, 2, dims, PRT_MAX_RANK, &count) && c->dims != NULL)
        return prt_infer_unranked(c, 0, c->in[0].dtype, rank);
    if (count != spatial + 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "output_shape has %u values; %d are required",
            count, rank);
    return prt_infer_exact(c, 0, c->in[0].dtype, rank, dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_max_unpool_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const int64_t *index = c->in[1]->data;
    prt_tensor *y = c->out[0];
    int64_t dims[PRT_MAX_RANK] = { 0 }, at[PRT_MAX_RANK] = { 0 };
    /* Indices refer to the default shape; a larger output_shape only extends it. */
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : covered(NULL, a, x->dims[i], i - 2);
    const size_t n = prt_tensor_count(x);
    if (y->size != 0)
        memset(y->data, 0, y->size);
    bool alike = prt_dtype_bits(y->dtype) == 32; /* the index is also the index in the output */
    for (uint32_t i = 0; i < x->rank; i++)
        alike = alike && dims[i] == y->dims[i];
    const size_t all = alike ? prt_tensor_count(y) : 0;
    for (size_t i = 0; i < n; i++) {
        size_t to = 0;
        if (index[i] >= 0 && (size_t)index[i] < all) {
            ((uint32_t *)y->data)[index[i]] = ((const uint32_t *)x->data)[i];
            continue;
        }
        bool fits = index[i] >= 0;
        if (fits)
            prt_unravel((size_t)index[i], x->rank, dims, at);
        for (uint32_t k = 0; fits && k < x->rank; k++) {
            fits = at[k] < y->dims[k];
            to = to * (size_t)y->dims[k] + (size_t)at[k];
        }
        if (!fits || (size_t)index[i] >= prt_dims_product(dims, 0, x->rank))
            return prt_eval_fail(c, POPRT_E_SHAPE, "index %lld is outside the output",
                (long long)index[i]);
        prt_element_copy(y->dtype, y->data, to, x->data, i, 1);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_max_unpool = { .infer = infer, .eval = eval };
