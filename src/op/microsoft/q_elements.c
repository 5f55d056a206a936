/* SPDX-License-Identifier: MIT */
/*
 * q_elements.c — element-wise operators on quantised tensors: inputs are dequantised, the float
 * operator is applied, and the result is quantised, rounded once.
 */
#include "op/check.h"
#include "op/share/delegate.h"
#include "op/share/quant.h"

/* Infers output 0 with the shape that inputs `slots` broadcast to. */
static poprt_status infer_broadcast(prt_infer *c, const uint32_t *slots, uint32_t n, int32_t dtype)
{
    prt_shape in[3], out = { .kind = PRT_VALUE_TENSOR, .rank = 0 };
    for (uint32_t i = 0; i < n; i++)
        in[i] = c->in[slots[i]];
    prt_infer sub = *c;
    sub.in = in;
    sub.n_in = n;
    PRT_TRY(prt_infer_broadcast(&sub, 0, n, &out));
    return prt_infer_set(c, 0, dtype, out.rank, out.dims);
}

/* ---- QLinearAdd, QLinearMul: inputs are A, B (each with scale, zero point), scale and zero point
   of C ---- */

static poprt_status infer_binary(prt_infer *c)
{
    static const uint32_t slots[] = { 0, 3 };
    for (uint32_t i = 1; i < 8; i += i == 4 ? 2 : 3)
        PRT_TRY(prt_quant_check(c, i));
    return infer_broadcast(c, slots, 2, c->in[0].dtype);
}

static poprt_status eval_binary(prt_eval *c, uint32_t id)
{
    prt_tensor a, b, y;
    const prt_tensor *in[] = { &a, &b };
    prt_tensor *out[] = { &y };
    PRT_TRY(prt_quant_dequantize_input(c, 0, &a));
    PRT_TRY(prt_quant_dequantize_input(c, 3, &b));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, c->out[0]->rank, c->out[0]->dims, &y));
    PRT_TRY(prt_delegate_eval(c, id, NULL, 2, in, 1, out));
    prt_quant_quantize_output(c, &y, 6);
    return POPRT_OK;
}

static poprt_status eval_add(prt_eval *c)
{
    return eval_binary(c, PRT_OP_add);
}

static poprt_status eval_mul(prt_eval *c)
{
    return eval_binary(c, PRT_OP_mul);
}

const prt_op_hooks prt_op_ms_qlinear_add = { .infer = infer_binary, .eval = eval_add };
const prt_op_hooks prt_op_ms_qlinear_mul = { .infer = infer_binary, .eval = eval_mul };

/* ---- MulInteger: inputs are A and B, each with its zero point ---- */

static poprt_status infer_mul_integer(prt_infer *c)
{
    static const uint32_t slots[] = { 0, 2 };
    int64_t unused;
    PRT_TRY(prt_infer_scalar(c, 1, &unused));
    PRT_TRY(prt_infer_scalar(c, 3, &unused));
    return infer_broadcast(c, slots, 2, PRT_DTYPE_i32);
}

/* Returns input i minus its zero point, as int32. */
static poprt_status centre(prt_eval *c, uint32_t i, prt_tensor *to)
{
    const prt_tensor *x = c->in[i];
    const size_t n = prt_tensor_count(x);
    const int32_t zero = (int32_t)prt_quant_number(c, i + 1, 0);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_i32, x->rank, x->dims, to));
    for (size_t k = 0; k < n; k++)
        ((int32_t *)to->data)[k] = (int32_t)prt_load_i64(x->dtype, x->data, k) - zero;
    return POPRT_OK;
}

static poprt_status eval_mul_integer(prt_eval *c)
{
    prt_tensor a, b;
    const prt_tensor *in[] = { &a, &b };
    PRT_TRY(centre(c, 0, &a));
    PRT_TRY(centre(c, 2, &b));
    return prt_delegate_eval(c, PRT_OP_mul, NULL, 2, in, 1, c->out);
}

const prt_op_hooks prt_op_ms_mul_integer = { .infer = infer_mul_integer, .eval = eval_mul_integer };

/* ---- QLinearWhere: inputs are condition, X, Y (each with scale, zero point), those of Z ---- */

static poprt_status infer_where(prt_infer *c)
{
    static const uint32_t slots[] = { 0, 1, 4 };
    for (uint32_t i = 2; i < 9; i += i == 5 ? 2 : 3)
        PRT_TRY(prt_quant_check(c, i));
    return infer_broadcast(c, slots, 3, c->in[1].dtype);
}

static poprt_status eval_where(prt_eval *c)
{
    prt_tensor x, y, z;
    const prt_tensor *in[] = { c->in[0], &x, &y };
    prt_tensor *out[] = { &z };
    PRT_TRY(prt_quant_dequantize_input(c, 1, &x));
    PRT_TRY(prt_quant_dequantize_input(c, 4, &y));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, c->out[0]->rank, c->out[0]->dims, &z));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_where, NULL, 3, in, 1, out));
    prt_quant_quantize_output(c, &z, 7);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qlinear_where = { .infer = infer_where, .eval = eval_where };

/* ---- unary functions: inputs are X, its scale and zero point, scale and zero point of Y ---- */

static poprt_status infer_unary(prt_infer *c)
{
    PRT_TRY(prt_quant_check(c, 1));
    PRT_TRY(prt_quant_check(c, 3));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_unary(prt_eval *c, uint32_t id, const void *attrs)
{
    prt_tensor x, y;
    const prt_tensor *in[] = { &x };
    prt_tensor *out[] = { &y };
    PRT_TRY(prt_quant_dequantize_input(c, 0, &x));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, x.dims, &y));
    PRT_TRY(prt_delegate_eval(c, id, attrs, 1, in, 1, out));
    prt_quant_quantize_output(c, &y, 3);
    return POPRT_OK;
}

static poprt_status eval_sigmoid(prt_eval *c)
{
    return eval_unary(c, PRT_OP_sigmoid, NULL);
}

static poprt_status eval_leaky_relu(prt_eval *c)
{
    const prt_ms_qlinear_leaky_relu_attrs *a = c->attrs;
    const prt_leaky_relu_attrs attrs = { .present = 1, .alpha = a->alpha };
    return eval_unary(c, PRT_OP_leaky_relu, &attrs);
}

const prt_op_hooks prt_op_ms_qlinear_sigmoid = { .infer = infer_unary, .eval = eval_sigmoid };
const prt_op_hooks prt_op_ms_qlinear_leaky_relu = { .infer = infer_unary, .eval = eval_leaky_relu };
