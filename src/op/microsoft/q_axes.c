/* SPDX-License-Identifier: MIT */
/*
 * q_axes.c — quantised operators along axes: QLinearSoftmax, QLinearReduceMean and QLinearConcat;
 * and ReduceSumInteger.
 */
#include "op/share/delegate.h"
#include "op/share/reals.h"
#include "op/share/quant.h"

/* ---- QLinearSoftmax: before opset 13 of Softmax, all dims from `axis` on are one dim ---- */

static poprt_status infer_softmax(prt_infer *c)
{
    const prt_ms_qlinear_softmax_attrs *a = c->attrs;
    uint32_t axis;
    if (a->opset < 1)
        return prt_infer_fail(c, POPRT_E_ARG,
            "opset is %lld; at least 1, an opset of Softmax, is needed", (long long)a->opset);
    PRT_TRY(prt_quant_check(c, 1));
    PRT_TRY(prt_quant_check(c, 3));
    if (c->in[0].rank >= 0)
        PRT_TRY(prt_infer_axis(c, a->axis, c->in[0].rank, a->opset < 13, &axis));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_softmax(prt_eval *c)
{
    const prt_ms_qlinear_softmax_attrs *a = c->attrs;
    prt_softmax_attrs attrs = { .axis = a->axis };
    prt_tensor x, y;
    const prt_tensor *in[] = { &x };
    prt_tensor *out[] = { &y };
    PRT_TRY(prt_quant_dequantize_input(c, 0, &x));
    if (a->opset < 13) {
        const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + (int64_t)x.rank : a->axis);
        const int64_t dims[] = { (int64_t)prt_dims_product(x.dims, 0, axis),
            (int64_t)prt_dims_product(x.dims, axis, x.rank) };
        x.rank = 2;
        memcpy(x.dims, dims, sizeof(dims));
        attrs.axis = 1;
    }
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, x.dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_softmax, &attrs, 1, in, 1, out));
    prt_quant_quantize_output(c, &y, 3);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qlinear_softmax = { .infer = infer_softmax, .eval = eval_softmax };

/* ---- sums and means: `axes` is an attribute here, but an input of ReduceMean and ReduceSum
   ---- */

static void axes_tensor(prt_i64s axes, prt_tensor *to)
{
    const int64_t count = axes.count;
    (void)prt_tensor_init(to, PRT_DTYPE_i64, 1, &count, (void *)(uintptr_t)axes.data);
}

static poprt_status infer_reduce(prt_infer *c, uint32_t id, prt_i64s axes, int64_t keepdims,
    int32_t dtype)
{
    const prt_reduce_mean_attrs attrs = { .keepdims = keepdims };
    prt_tensor list;
    axes_tensor(axes, &list);
    prt_shape in[2] = { c->in[0] }, y;
    prt_shape_of_tensor(&list, &in[1]);
    const prt_tensor *value[] = { NULL, &list };
    PRT_TRY(prt_delegate_infer(c, id, &attrs, 2, in, value, 1, &y));
    return prt_infer_set(c, 0, dtype, y.rank, y.dims);
}

static poprt_status eval_reduce(prt_eval *c, uint32_t id, prt_i64s axes, int64_t keepdims,
    const prt_tensor *x, prt_tensor *y)
{
    const prt_reduce_mean_attrs attrs = { .keepdims = keepdims };
    prt_tensor list;
    axes_tensor(axes, &list);
    const prt_tensor *in[] = { x, &list };
    PRT_TRY(prt_delegate_tensor(c, x->dtype, c->out[0]->rank, c->out[0]->dims, y));
    return prt_delegate_eval(c, id, &attrs, 2, in, 1, &y);
}

static poprt_status infer_mean(prt_infer *c)
{
    const prt_ms_qlinear_reduce_mean_attrs *a = c->attrs;
    PRT_TRY(prt_quant_check(c, 1));
    PRT_TRY(prt_quant_check(c, 3));
    return infer_reduce(c, PRT_OP_reduce_mean, a->axes, a->keepdims, c->in[0].dtype);
}

static poprt_status eval_mean(prt_eval *c)
{
    const prt_ms_qlinear_reduce_mean_attrs *a = c->attrs;
    prt_tensor x, y;
    PRT_TRY(prt_quant_dequantize_input(c, 0, &x));
    PRT_TRY(eval_reduce(c, PRT_OP_reduce_mean, a->axes, a->keepdims, &x, &y));
    prt_quant_quantize_output(c, &y, 3);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qlinear_reduce_mean = { .infer = infer_mean, .eval = eval_mean };

/* Infers the result type: int32 for int8, uint32 for uint8. */
static poprt_status infer_sum(prt_infer *c)
{
    const prt_ms_reduce_sum_integer_attrs *a = c->attrs;
    const int32_t dtype = c->in[0].dtype == PRT_DTYPE_i8 ? PRT_DTYPE_i32
        : c->in[0].dtype == PRT_DTYPE_u8                 ? PRT_DTYPE_u32
                                                         : PRT_DTYPE_undefined;
    return infer_reduce(c, PRT_OP_reduce_sum, a->axes, a->keepdims, dtype);
}

static poprt_status eval_sum(prt_eval *c)
{
    const prt_ms_reduce_sum_integer_attrs *a = c->attrs;
    const prt_tensor *from = c->in[0];
    prt_tensor x, y;
    const size_t n = prt_tensor_count(from), m = prt_tensor_count(c->out[0]);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_i64, from->rank, from->dims, &x));
    for (size_t i = 0; i < n; i++)
        ((int64_t *)x.data)[i] = prt_load_i64(from->dtype, from->data, i);
    PRT_TRY(eval_reduce(c, PRT_OP_reduce_sum, a->axes, a->keepdims, &x, &y));
    for (size_t i = 0; i < m; i++)
        prt_store_i64(c->out[0]->dtype, c->out[0]->data, i, ((const int64_t *)y.data)[i]);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_reduce_sum_integer = { .infer = infer_sum, .eval = eval_sum };

/* ---- QLinearConcat: inputs are scale and zero point of Y, then tensor, scale and zero point, …
   ---- */

static poprt_status check_triple(const prt_infer *c, uint32_t i)
{
    const prt_shape *x = &c->in[i], *scale = &c->in[i + 1], *zero = &c->in[i + 2];
    if (x->dtype == PRT_DTYPE_f32 || zero->dtype == PRT_DTYPE_f32 || scale->dtype == PRT_DTYPE_i8 ||
        scale->dtype == PRT_DTYPE_u8)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "inputs %u to %u must be 8-bit integers, a float32 scale and a zero point", i, i + 2);
    return prt_quant_check(c, i + 1);
}

static poprt_status infer_concat(prt_infer *c)
{
    const prt_ms_qlinear_concat_attrs *a = c->attrs;
    const prt_concat_attrs attrs = { .present = 1, .axis = a->axis };
    const uint32_t n = c->n_in / 3;
    prt_shape *in = PRT_NEW_N(c->scratch, prt_shape, n), y;
    if (in == NULL)
        return POPRT_E_NOMEM;
    if (c->n_in % 3 != 2 || c->n_in < 5)
        return prt_infer_fail(c, POPRT_E_PARSE,
            "%u inputs; a scale, a zero point and at least one group of three are needed", c->n_in);
    PRT_TRY(prt_quant_check(c, 0));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 2 + 3 * i; k < 5 + 3 * i; k++)
            if (!prt_infer_has(c, k))
                return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", k);
        PRT_TRY(check_triple(c, 2 + 3 * i));
        in[i] = c->in[2 + 3 * i];
    }
    PRT_TRY(prt_delegate_infer(c, PRT_OP_concat, &attrs, n, in, NULL, 1, &y));
    return prt_infer_set(c, 0, c->in[1].dtype, y.rank, y.dims);
}

static poprt_status eval_concat(prt_eval *c)
{
    const prt_ms_qlinear_concat_attrs *a = c->attrs;
    const prt_concat_attrs attrs = { .present = 1, .axis = a->axis };
    const uint32_t n = c->n_in / 3;
    prt_tensor *x = prt_eval_scratch(c, n, sizeof(prt_tensor)), y;
    const prt_tensor **in = prt_eval_scratch(c, n, sizeof(prt_tensor *));
    prt_tensor *out[] = { &y };
    if (x == NULL || in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        PRT_TRY(prt_quant_dequantize_input(c, 2 + 3 * i, &x[i]));
        in[i] = &x[i];
    }
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, c->out[0]->rank, c->out[0]->dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_concat, &attrs, n, in, 1, out));
    prt_quant_quantize_output(c, &y, 0);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qlinear_concat = { .infer = infer_concat, .eval = eval_concat };
