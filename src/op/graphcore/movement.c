/* SPDX-License-Identifier: MIT */
/*
 * movement.c — data movement of ai.graphcore: Reshape, Slice, DepthToSpace, Subsample, Reverse,
 * ConvFlipWeights; and Init, Zeros and ZerosLike, which give zeros.
 */
#include "op/check.h"
#include "op/graphcore/onnx_hooks.h"
#include "op/share/shape_values.h"

/* ---- operators equal to ONNX operators, with attributes instead of inputs */

static poprt_status infer_reshape(prt_infer *c)
{
    const prt_gc_reshape_attrs *a = c->attrs;
    const prt_reshape_attrs standard = { 0 };
    return prt_gc_infer_lists(c, &prt_op_reshape, &standard, 1, &a->shape);
}

const prt_op_hooks prt_op_gc_reshape = { .infer = infer_reshape, .eval = prt_copy_flat };

/* Without axes the ranges apply to the first axes. */
static uint32_t slice_lists(const prt_gc_slice_attrs *a, prt_i64s lists[PRT_GC_LISTS])
{
    lists[0] = a->starts;
    lists[1] = a->ends;
    lists[2] = a->axes;
    return a->axes.count != 0 ? 3 : 2;
}

static poprt_status infer_slice(prt_infer *c)
{
    const prt_slice_attrs standard = { 0 };
    prt_i64s lists[PRT_GC_LISTS];
    const uint32_t n = slice_lists(c->attrs, lists);
    return prt_gc_infer_lists(c, &prt_op_slice, &standard, n, lists);
}

static poprt_status eval_slice(prt_eval *c)
{
    const prt_slice_attrs standard = { 0 };
    prt_i64s lists[PRT_GC_LISTS];
    const uint32_t n = slice_lists(c->attrs, lists);
    return prt_gc_eval_lists(c, &prt_op_slice, &standard, n, lists);
}

const prt_op_hooks prt_op_gc_slice = { .infer = infer_slice, .eval = eval_slice };

static prt_depth_to_space_attrs to_space(const void *attrs)
{
    const prt_gc_depth_to_space_attrs *a = attrs;
    return (prt_depth_to_space_attrs){ .blocksize = a->blocksize, .mode = a->mode };
}

PRT_GC_SAME(gc_depth_to_space, depth_to_space, prt_depth_to_space_attrs, to_space);

/* ---- strided views of the input */

static prt_view view_of(const prt_tensor *x)
{
    prt_view v = { .rank = x->rank };
    for (uint32_t i = 0; i < x->rank; i++) {
        v.dims[i] = x->dims[i];
        v.stride[i] = (int64_t)prt_dims_product(x->dims, i + 1, x->rank);
    }
    return v;
}

static void reverse_axis(prt_view *v, uint32_t axis)
{
    if (v->dims[axis] == 0)
        return;
    v->first += (v->dims[axis] - 1) * v->stride[axis];
    v->stride[axis] = -v->stride[axis];
}

static poprt_status infer_subsample(prt_infer *c)
{
    const prt_gc_subsample_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < a->strides.count; i++)
        if (a->strides.data[i] < 1)
            return prt_infer_fail(c, POPRT_E_ARG, "stride %u is %lld; at least 1 is needed", i,
                (long long)a->strides.data[i]);
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (a->strides.count != (uint32_t)x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%u strides for an input of rank %d",
            a->strides.count, x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = prt_dim_is_number(a->strides.data[i])
            ? prt_dim_ceildiv(c->dims, x->dims[i], a->strides.data[i])
            : PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status eval_subsample(prt_eval *c)
{
    const prt_gc_subsample_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_view v = view_of(x);
    for (uint32_t i = 0; i < x->rank; i++) {
        const int64_t by = a->strides.data[i];
        v.dims[i] = x->dims[i] / by + (x->dims[i] % by != 0);
        v.stride[i] = v.dims[i] > 1 ? v.stride[i] * by : v.stride[i];
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, v.rank, v.dims));
    prt_view_eval(c, &v);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_subsample = { .infer = infer_subsample, .eval = eval_subsample };

static poprt_status infer_reverse(prt_infer *c)
{
    const prt_gc_reverse_attrs *a = c->attrs;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < a->dimensions.count; i++) {
        const int64_t d = a->dimensions.data[i];
        const int64_t rank = c->in[0].rank >= 0 ? c->in[0].rank : PRT_MAX_RANK;
        if (d < 0 || d >= rank)
            return prt_infer_fail(c, POPRT_E_SHAPE, "dimension %lld is outside [0, %lld)",
                (long long)d, (long long)rank);
        if ((seen >> d & 1) != 0)
            return prt_infer_fail(c, POPRT_E_ARG, "dimensions names %lld twice", (long long)d);
        seen |= (uint64_t)1 << d;
    }
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_reverse(prt_eval *c)
{
    const prt_gc_reverse_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    prt_view v = view_of(x);
    for (uint32_t i = 0; i < a->dimensions.count; i++)
        reverse_axis(&v, (uint32_t)a->dimensions.data[i]);
    prt_view_eval(c, &v);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_reverse = { .infer = infer_reverse, .eval = eval_reverse };

/* ConvFlipWeights: in each group, swaps input and output channels and reverses each kernel. The
   result is the weights of the convolution that computes the input's gradient. */
static poprt_status infer_flip(prt_infer *c)
{
    const prt_gc_conv_flip_weights_attrs *a = c->attrs;
    const prt_shape *w = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    if (a->group < 1 || a->group > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "group is %lld; at least 1 is needed",
            (long long)a->group);
    if (w->rank < 0)
        return prt_infer_unranked(c, 0, w->dtype, PRT_RANK_UNKNOWN);
    if (w->rank < 3)
        return prt_infer_fail(c, POPRT_E_SHAPE, "weights have rank %d; at least 3 is needed",
            w->rank);
    if (prt_dim_is_number(w->dims[0]) && w->dims[0] % a->group != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld filters do not divide into %lld groups",
            (long long)w->dims[0], (long long)a->group);
    memcpy(dims, w->dims, sizeof(dims));
    dims[0] = prt_dim_mul(c->dims, w->dims[1], a->group);
    dims[1] = prt_dim_floordiv(c->dims, w->dims[0], a->group);
    return prt_infer_set(c, 0, w->dtype, w->rank, dims);
}

static poprt_status eval_flip(prt_eval *c)
{
    const prt_gc_conv_flip_weights_attrs *a = c->attrs;
    const prt_tensor *w = c->in[0];
    const int64_t filters = w->dims[0] / a->group, channels = w->dims[1];
    const int64_t taps = (int64_t)prt_dims_product(w->dims, 2, w->rank);
    prt_view v = { .rank = w->rank + 1,
        .dims = { a->group, channels, filters },
        .stride = { filters * channels * taps, taps, channels * taps } };
    for (uint32_t i = 2; i < w->rank; i++) {
        v.dims[i + 1] = w->dims[i];
        v.stride[i + 1] = (int64_t)prt_dims_product(w->dims, i + 1, w->rank);
        reverse_axis(&v, i + 1);
    }
    prt_view_eval(c, &v);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_conv_flip_weights = { .infer = infer_flip, .eval = eval_flip };

/* ---- zeros */

static const uint64_t FILLED = PRT_T_NUM | PRT_T(bool) | PRT_T_F8;

/* Returns the element type of PopART's DataType `number`; undefined for unknown numbers. */
static int32_t popart_dtype(int64_t number)
{
    static const int32_t of[] = { PRT_DTYPE_u8, PRT_DTYPE_i8, PRT_DTYPE_f8e4m3fnuz,
        PRT_DTYPE_f8e5m2fnuz, PRT_DTYPE_u16, PRT_DTYPE_i16, PRT_DTYPE_i32, PRT_DTYPE_i64,
        PRT_DTYPE_u32, PRT_DTYPE_u64, PRT_DTYPE_bool, PRT_DTYPE_f32, PRT_DTYPE_f16, PRT_DTYPE_bf16,
        PRT_DTYPE_f64 };
    return number >= 0 && number < (int64_t)PRT_COUNT_OF(of) ? of[number] : PRT_DTYPE_undefined;
}

static poprt_status infer_init(prt_infer *c)
{
    const prt_gc_init_attrs *a = c->attrs;
    const int32_t dtype = popart_dtype(a->data_type);
    if (dtype == PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "data_type %lld is not a DataType of a supported element type",
            (long long)a->data_type);
    if (a->init_type != 0 && a->init_type != 1)
        return prt_infer_fail(c, POPRT_E_ARG, "init_type is %lld; accepted: 0, 1",
            (long long)a->init_type);
    return prt_gc_infer_shape(c, dtype, a->shape);
}

static poprt_status infer_zeros(prt_infer *c)
{
    const prt_gc_zeros_attrs *a = c->attrs;
    PRT_TRY(prt_infer_dtype_attr(c, "dtype", FILLED, a->dtype));
    return prt_gc_infer_shape(c, (int32_t)a->dtype, a->shape);
}

static poprt_status infer_zeros_like(prt_infer *c)
{
    const prt_gc_zeros_like_attrs *a = c->attrs;
    const int64_t dtype = a->dtype != 0 ? a->dtype : c->in[0].dtype;
    if (dtype != PRT_DTYPE_undefined)
        PRT_TRY(prt_infer_dtype_attr(c, "dtype", FILLED, dtype));
    return prt_infer_like(c, 0, 0, (int32_t)dtype);
}

static poprt_status eval_zeros(prt_eval *c)
{
    if (prt_eval_wants(c, 0))
        prt_zero_elements(c->out[0]->dtype, c->out[0]->data, 0, prt_tensor_count(c->out[0]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_init = { .infer = infer_init, .eval = eval_zeros };
const prt_op_hooks prt_op_gc_zeros = { .infer = infer_zeros, .eval = eval_zeros };
const prt_op_hooks prt_op_gc_zeros_like = { .infer = infer_zeros_like, .eval = eval_zeros };
