/* SPDX-License-Identifier: MIT */
/*
 * dynamic.c — DynamicSlice, DynamicUpdate, DynamicAdd, DynamicZero: operations on a block at an
 * offset that is an input. Start offsets are taken modulo the dim; a block wraps around at the end.
 */
#include "op/share/shape_values.h"

/* All four operators begin with these attributes. */
typedef prt_gc_dynamic_add_attrs attrs;

/* Checks axes, sizes and offset against the whole tensor, and returns the dims of the block. */
static poprt_status infer_block(prt_infer *c, int64_t *dims)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *offset = &c->in[1];
    uint32_t set = 0;
    if (a->axes.count != a->sizes.count)
        return prt_infer_fail(c, POPRT_E_ARG,
            "there are %u axes and %u sizes; equal numbers are needed", a->axes.count,
            a->sizes.count);
    if (offset->rank > 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "offset has rank %d, not 1", offset->rank);
    const int64_t given = offset->rank == 1 ? offset->dims[0] : 1;
    if (offset->rank >= 0 && prt_dim_is_number(given) && given != (int64_t)a->axes.count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "offset has %lld elements, but there are %u axes",
            (long long)given, a->axes.count);
    if (x->rank < 0)
        return POPRT_OK;
    memcpy(dims, x->dims, (size_t)x->rank * sizeof(int64_t));
    for (uint32_t i = 0; i < a->axes.count; i++) {
        const int64_t axis = a->axes.data[i], size = a->sizes.data[i];
        if (axis < 0 || axis >= x->rank || (set >> axis & 1) != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "axis %lld is outside [0, %d) or repeated",
                (long long)axis, x->rank);
        if (size < 0 || (prt_dim_is_number(x->dims[axis]) && size > x->dims[axis]))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "size %lld does not fit axis %lld of %lld elements", (long long)size,
                (long long)axis, (long long)x->dims[axis]);
        set |= 1u << axis;
        dims[axis] = size;
    }
    return POPRT_OK;
}

/* Fails unless input i, if given, has the dims of the block. */
static poprt_status check_block(const prt_infer *c, uint32_t i, const int64_t *dims)
{
    if (c->in[0].rank < 0 || !prt_infer_ranked(c, i))
        return POPRT_OK;
    if (c->in[i].rank != c->in[0].rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the block has rank %d, but the tensor has rank %d",
            c->in[i].rank, c->in[0].rank);
    for (int32_t k = 0; k < c->in[i].rank; k++) {
        int64_t merged;
        PRT_TRY(prt_infer_merge(c, dims[k], c->in[i].dims[k], "a dim of the block", &merged));
    }
    return POPRT_OK;
}

static poprt_status infer_slice(prt_infer *c)
{
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(infer_block(c, dims));
    PRT_TRY(check_block(c, 2, dims));
    return prt_infer_set(c, 0, c->in[0].dtype, c->in[0].rank, dims);
}

static poprt_status infer_change(prt_infer *c)
{
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(infer_block(c, dims));
    PRT_TRY(check_block(c, 2, dims));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

/* Operation on one element of the whole tensor and the corresponding element of the block. */
typedef void (*element_fn)(const prt_eval *c, size_t whole, size_t block);

static poprt_status visit_block(prt_eval *c, element_fn fn)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t start[PRT_MAX_RANK] = { 0 }, dims[PRT_MAX_RANK], at[PRT_MAX_RANK] = { 0 };
    memcpy(dims, x->dims, sizeof(dims));
    for (uint32_t i = 0; i < a->axes.count; i++) {
        const uint32_t axis = (uint32_t)a->axes.data[i];
        const int64_t dim = x->dims[axis];
        const int64_t offset = prt_load_i64(c->in[1]->dtype, c->in[1]->data, i);
        if (offset < 0)
            return prt_eval_fail(c, POPRT_E_ARG, "offset %lld of axis %u is negative",
                (long long)offset, axis);
        start[axis] = dim != 0 ? offset % dim : 0;
        dims[axis] = a->sizes.data[i];
    }
    const size_t n = prt_dims_product(dims, 0, x->rank);
    for (size_t block = 0; block < n; block++) {
        size_t whole = 0;
        for (uint32_t k = 0; k < x->rank; k++) {
            const int64_t i = start[k] + at[k];
            whole = whole * (size_t)x->dims[k] + (size_t)(i < x->dims[k] ? i : i - x->dims[k]);
        }
        fn(c, whole, block);
        (void)prt_at_next(x->rank, dims, at);
    }
    return POPRT_OK;
}

static void copy_from_whole(const prt_eval *c, size_t whole, size_t block)
{
    prt_element_copy(c->in[0]->dtype, c->out[0]->data, block, c->in[0]->data, whole, 1);
}

static void copy_to_whole(const prt_eval *c, size_t whole, size_t block)
{
    prt_element_copy(c->in[0]->dtype, c->out[0]->data, whole, c->in[2]->data, block, 1);
}

static void clear(const prt_eval *c, size_t whole, size_t block)
{
    (void)block;
    prt_zero_elements(c->in[0]->dtype, c->out[0]->data, whole, 1);
}

/* Adds an element; each element is visited once, so it is rounded once. */
static void add(const prt_eval *c, size_t whole, size_t block)
{
    const int32_t dtype = c->in[0]->dtype;
    if (prt_dtype_is_float(dtype))
        prt_store_f64(dtype, c->out[0]->data, whole,
            prt_load_f64(dtype, c->in[0]->data, whole) +
                prt_load_f64(dtype, c->in[2]->data, block));
    else
        prt_store_u64(dtype, c->out[0]->data, whole,
            (uint64_t)prt_load_i64(dtype, c->in[0]->data, whole) +
                (uint64_t)prt_load_i64(dtype, c->in[2]->data, block));
}

static poprt_status eval_slice(prt_eval *c)
{
    return prt_eval_wants(c, 0) ? visit_block(c, copy_from_whole) : POPRT_OK;
}

static poprt_status change(prt_eval *c, element_fn fn)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_copy(c, 0, c->in[0]));
    return visit_block(c, fn);
}

static poprt_status eval_update(prt_eval *c)
{
    return change(c, copy_to_whole);
}

static poprt_status eval_add(prt_eval *c)
{
    return change(c, add);
}

static poprt_status eval_zero(prt_eval *c)
{
    return change(c, clear);
}

const prt_op_hooks prt_op_gc_dynamic_slice = { .infer = infer_slice, .eval = eval_slice };
const prt_op_hooks prt_op_gc_dynamic_update = { .infer = infer_change, .eval = eval_update };
const prt_op_hooks prt_op_gc_dynamic_add = { .infer = infer_change, .eval = eval_add };
const prt_op_hooks prt_op_gc_dynamic_zero = { .infer = infer_change, .eval = eval_zero };
