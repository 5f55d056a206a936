/* SPDX-License-Identifier: MIT */
/*
 * nhwc.c — channels-last operators. The reference transposes X to channels first, runs the ONNX
 * operator and transposes the result back.
 */
#include "op/internal/nhwc.h"

#include "op/internal/fused.h"
#include "op/share/delegate.h"
#include "op/share/shape_values.h"

/* ---- transposition: [N, spatial..., C] to [N, C, spatial...] and back */

/* first_of returns the channels-last axis of channels-first axis i; last_of the reverse. */
static uint32_t first_of(uint32_t i, uint32_t rank)
{
    return i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
}

static uint32_t last_of(uint32_t i, uint32_t rank)
{
    return i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
}

static void transpose_shape(const prt_shape *from, bool to_first, prt_shape *to)
{
    *to = *from;
    for (uint32_t i = 0; from->rank > 0 && i < (uint32_t)from->rank; i++)
        to->dims[i] = from->dims[to_first ? first_of(i, (uint32_t)from->rank)
                                          : last_of(i, (uint32_t)from->rank)];
}

/* Copies the transposed elements; `to` has its shape and memory. */
static void transpose_data(const prt_tensor *from, bool to_first, prt_tensor *to)
{
    prt_view v = { .rank = from->rank };
    for (uint32_t i = 0; i < from->rank; i++) {
        const uint32_t axis = to_first ? first_of(i, from->rank) : last_of(i, from->rank);
        v.dims[i] = from->dims[axis];
        v.stride[i] = (int64_t)prt_dims_product(from->dims, axis + 1, from->rank);
    }
    prt_view_copy(&v, from->dtype, to->data, from->data);
}

static poprt_status transposed_tensor(prt_eval *c, const prt_tensor *from, bool copy,
    prt_tensor *to)
{
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < from->rank; i++)
        dims[i] = from->dims[first_of(i, from->rank)];
    PRT_TRY(prt_delegate_tensor(c, from->dtype, from->rank, dims, to));
    if (copy)
        transpose_data(from, true, to);
    return POPRT_OK;
}

poprt_status prt_nhwc_eval_transposed(prt_eval *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, const prt_tensor **in, prt_tensor *to)
{
    prt_tensor x, y;
    if (!images) {
        PRT_TRY(transposed_tensor(c, in[0], true, &x));
        in[0] = &x;
    }
    PRT_TRY(transposed_tensor(c, to, false, &y));
    prt_tensor *out[2] = { &y, NULL };
    PRT_TRY(prt_delegate_eval(c, id, attrs, n_in, in, 2, out));
    transpose_data(&y, false, to);
    return POPRT_OK;
}

poprt_status prt_nhwc_infer_transposed(prt_infer *c, uint32_t id, const void *attrs, bool images,
    uint32_t n_in, prt_shape *in, int32_t dtype)
{
    prt_shape out[2], y;
    if (!images)
        transpose_shape(&c->in[0], true, &in[0]);
    PRT_TRY(prt_delegate_infer(c, id, attrs, n_in, in, NULL, 2, out));
    transpose_shape(&out[0], false, &y);
    return prt_infer_set(c, 0, dtype, y.rank, y.dims);
}

/* ---- pools: attributes are the attributes of the ONNX operators */

static poprt_status infer_pool(prt_infer *c, uint32_t id)
{
    prt_shape in[1] = { c->in[0] };
    return prt_nhwc_infer_transposed(c, id, c->attrs, false, 1, in, c->in[0].dtype);
}

static poprt_status eval_pool(prt_eval *c, uint32_t id)
{
    const prt_tensor *in[1] = { c->in[0] };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    return prt_nhwc_eval_transposed(c, id, c->attrs, false, 1, in, c->out[0]);
}

static poprt_status infer_max(prt_infer *c)
{
    return infer_pool(c, PRT_OP_max_pool);
}

static poprt_status eval_max(prt_eval *c)
{
    return eval_pool(c, PRT_OP_max_pool);
}

static poprt_status infer_average(prt_infer *c)
{
    return infer_pool(c, PRT_OP_average_pool);
}

static poprt_status eval_average(prt_eval *c)
{
    return eval_pool(c, PRT_OP_average_pool);
}

const prt_op_hooks prt_op_nhwc_max_pool = { .infer = infer_max, .eval = eval_max };
const prt_op_hooks prt_op_nhwc_average_pool = { .infer = infer_average, .eval = eval_average };

/* ---- convolution */

prt_conv_attrs prt_nhwc_plain_conv(const prt_nhwc_conv_attrs *a)
{
    return (prt_conv_attrs){ .group = a->group,
        .pads = a->pads,
        .auto_pad = PRT_STR("NOTSET"),
        .strides = a->strides,
        .dilations = a->dilations,
        .kernel_shape = a->kernel_shape };
}

void prt_nhwc_window(const prt_nhwc_conv_attrs *a, const prt_tensor *x, prt_window *w)
{
    const prt_window_spec spec = { .kernel = a->kernel_shape,
        .strides = a->strides,
        .dilations = a->dilations,
        .pads = a->pads };
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + (a->images != 0 ? 2 : 1), NULL, w);
}

/* Returns the shape that W has as input of Conv, from the attributes. Fails where W does not have
   that many elements. */
poprt_status prt_nhwc_infer_weights(prt_infer *c, const prt_nhwc_conv_attrs *a, int32_t dtype,
    prt_shape *to)
{
    const uint32_t spatial = a->kernel_shape.count;
    const bool floats = dtype == PRT_DTYPE_f32;
    prt_nhwc_weights w;
    size_t count;
    int64_t all;
    if (spatial < 1 || spatial > PRT_MAX_SPATIAL || a->group < 1 || a->channels < 1 ||
        a->filters < 1 || a->group > INT32_MAX || a->channels > INT32_MAX || a->filters > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG,
            "group, channels, filters and kernel_shape must "
            "be given and positive");
    *to = (prt_shape){ .kind = PRT_VALUE_TENSOR,
        .dtype = dtype,
        .rank = (int32_t)spatial + 2,
        .dims = { a->group * a->filters, a->channels } };
    for (uint32_t i = 0; i < spatial; i++) {
        to->dims[i + 2] = a->kernel_shape.data[i];
        if (a->kernel_shape.data[i] < 1)
            return prt_infer_fail(c, POPRT_E_ARG, "kernel_shape has %lld; at least 1 is needed",
                (long long)a->kernel_shape.data[i]);
    }
    if (!prt_nhwc_weights_of(a, &w) || !prt_nhwc_fits(a, &w) ||
        !(floats ? prt_nhwc_weights_size : prt_nhwc_qconv_size)(&w, &count) || count > INT64_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "weights do not fit the form '%.*s'",
            PRT_STR_ARG(prt_attr_text(PRT_ATTR_form, &a->form)));
    PRT_TRY(prt_infer_rank(c, 1, 1));
    return prt_infer_merge(c, prt_infer_dim(c, 1, 0), (int64_t)count, "size of W", &all);
}

static poprt_status check_gate(prt_infer *c)
{
    const prt_nhwc_conv_attrs *a = c->attrs;
    int64_t dim;
    if (!prt_infer_has(c, 4))
        return POPRT_OK;
    if (a->group != 1 || a->images != 0 || a->form != PRT_NHWC_panels)
        return prt_infer_fail(c, POPRT_E_ARG,
            "a gate needs the form 'panels', group 1 and images 0");
    PRT_TRY(prt_infer_rank(c, 4, (int32_t)a->kernel_shape.count + 2));
    for (uint32_t i = 1; i <= a->kernel_shape.count; i++)
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 4, i), 1, "a dim of the gate", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 4, 0), prt_infer_dim(c, 0, 0), "images", &dim));
    return prt_infer_merge(c, prt_infer_dim(c, 4, a->kernel_shape.count + 1), a->channels,
        "channels of the gate", &dim);
}

static poprt_status infer_conv(prt_infer *c)
{
    const prt_nhwc_conv_attrs *a = c->attrs;
    const prt_conv_attrs conv = prt_nhwc_plain_conv(a);
    prt_shape in[3] = { c->in[0], { .kind = PRT_VALUE_ABSENT }, { .kind = PRT_VALUE_ABSENT } };
    const uint32_t n_in = c->n_in < 3 ? 2 : 3;
    int64_t dim;
    PRT_TRY(prt_nhwc_infer_weights(c, a, PRT_DTYPE_f32, &in[1]));
    if (n_in == 3)
        in[2] = c->in[2];
    PRT_TRY(
        prt_nhwc_infer_transposed(c, PRT_OP_conv, &conv, a->images != 0, n_in, in, c->in[0].dtype));
    PRT_TRY(check_gate(c));
    if (!prt_infer_ranked(c, 3) || !prt_infer_wants(c, 0) || c->out[0].rank < 0)
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, 3, c->out[0].rank));
    for (int32_t k = 0; k < c->out[0].rank; k++)
        PRT_TRY(
            prt_infer_merge(c, c->out[0].dims[k], c->in[3].dims[k], "a dim of the residual", &dim));
    return POPRT_OK;
}

/* Returns X with its channels multiplied by the gate. */
static poprt_status apply_gate(prt_eval *c, prt_tensor *to)
{
    const prt_tensor *x = c->in[0], *gate = c->in[4];
    PRT_TRY(prt_delegate_tensor(c, x->dtype, x->rank, x->dims, to));
    const size_t channels = (size_t)x->dims[x->rank - 1];
    const size_t image = prt_dims_product(x->dims, 1, x->rank);
    for (size_t i = 0; i < prt_tensor_count(x); i++) {
        const double v = prt_real_at(x, i) * prt_real_at(gate, i / image * channels + i % channels);
        prt_reals_store(to->dtype, to->data, i, 1, 1, &v);
    }
    return POPRT_OK;
}

static poprt_status eval_conv(prt_eval *c)
{
    const prt_nhwc_conv_attrs *a = c->attrs;
    const prt_conv_attrs conv = prt_nhwc_plain_conv(a);
    const uint32_t spatial = a->kernel_shape.count;
    int64_t dims[PRT_MAX_RANK] = { a->group * a->filters, a->channels };
    prt_nhwc_weights layout;
    prt_tensor w;
    const prt_act act = { a->activation, a->alpha, a->beta };
    memcpy(dims + 2, a->kernel_shape.data, spatial * sizeof(int64_t));
    if (!prt_nhwc_weights_of(a, &layout) || !prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f32, spatial + 2, dims, &w));
    prt_nhwc_weights_unpack(&layout, c->in[1]->data, w.data);
    prt_tensor x = *c->in[0];
    if (prt_eval_has(c, 4))
        PRT_TRY(apply_gate(c, &x));
    const prt_tensor *in[3] = { &x, &w, prt_eval_has(c, 2) ? c->in[2] : NULL };
    PRT_TRY(prt_nhwc_eval_transposed(c, PRT_OP_conv, &conv, a->images != 0, 3, in, c->out[0]));
    prt_fused_finish(c, NULL, prt_eval_has(c, 3) ? c->in[3] : NULL, &act);
    return POPRT_OK;
}

/* The kernels of the algorithm taps need channels without gaps, except for 1x1 kernels. */
static bool conv_columns(const void *attrs, bool out, uint32_t i)
{
    const prt_nhwc_conv_attrs *a = attrs;
    if (a->form == PRT_NHWC_taps)
        return !out && i == 0 && prt_nhwc_is_pointwise(&a->kernel_shape);
    return out || i != 0 || a->images == 0;
}

const prt_op_hooks prt_op_nhwc_conv = { .infer = infer_conv,
    .eval = eval_conv,
    .columns = conv_columns };
