/* SPDX-License-Identifier: MIT */
/*
 * quantized.c — fuse_quantized: replaces DequantizeLinear of both operands, Conv or MatMul, and
 * QuantizeLinear by QLinearConv or QLinearMatMul, which sum integers exactly.
 *
 * Requires 8-bit integers, one scale for data and result, one scale or one for each filter (column)
 * for weights, and a bias quantised with the scale of data times weights. The floats in between
 * have one reader. Results may differ by one unit where the float result was halfway between two
 * integers. Runs before constant folding, which would turn quantised weights into floats.
 */
#include <math.h>

#include "pass/fuse/quantized.h"

bool prt_quantized_byte(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) &&
        (v->type->dtype == PRT_DTYPE_u8 || v->type->dtype == PRT_DTYPE_i8);
}

static bool is_f32(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->dtype == PRT_DTYPE_f32;
}

bool prt_quantized_one(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) &&
        (v->type->rank == 0 || (v->type->rank == 1 && v->type->dims[0] == 1));
}

prt_op *prt_quantized_side(const prt_op *op, uint32_t slot, int64_t axis)
{
    prt_op *d = prt_match_producer(op, slot, PRT_OP_dequantize_linear);
    if (d == NULL || !prt_quantized_byte(prt_op_input(d, 0)) ||
        !prt_quantized_byte(prt_op_input(d, 2)) || !is_f32(prt_op_input(d, 1)) ||
        !is_f32(&d->out[0]))
        return NULL;
    const prt_dequantize_linear_attrs *a = d->attrs;
    const prt_value *x = prt_op_input(d, 0), *scale = prt_op_input(d, 1);
    if (a->block_size != 0)
        return NULL;
    if (prt_quantized_one(scale))
        return d;
    const int64_t at = a->axis < 0 ? a->axis + x->type->rank : a->axis;
    return axis >= 0 && x->type->rank > 0 && scale->type->rank == 1 && at == axis ? d : NULL;
}

static double number(const prt_tensor *t, size_t i)
{
    return prt_load_f64(t->dtype, t->data, prt_tensor_count(t) != 1 ? i : 0);
}

bool prt_quantized_bias(const prt_op *conv, const prt_op *x, const prt_op *w, prt_value **bias)
{
    prt_tensor units, x_scale, w_scale, values, zero;
    *bias = NULL;
    if (prt_op_input(conv, 2) == NULL)
        return true;
    prt_op *d = prt_match_producer(conv, 2, PRT_OP_dequantize_linear);
    if (d == NULL || !prt_match_constant(d, 0, &values) || values.dtype != PRT_DTYPE_i32 ||
        values.rank != 1 || !prt_match_constant(d, 1, &units) ||
        !prt_match_constant(x, 1, &x_scale) || !prt_match_constant(w, 1, &w_scale))
        return false;
    const size_t n = prt_tensor_count(&values);
    const bool shifted = prt_op_input(d, 2) != NULL;
    if ((prt_tensor_count(&units) != 1 && prt_tensor_count(&units) != n) ||
        (prt_tensor_count(&w_scale) != 1 && prt_tensor_count(&w_scale) != n) ||
        (shifted &&
            (!prt_match_constant(d, 2, &zero) ||
                (prt_tensor_count(&zero) != 1 && prt_tensor_count(&zero) != n))))
        return false;
    for (size_t i = 0; i < n; i++) {
        const double want = number(&x_scale, 0) * number(&w_scale, i);
        if (!(fabs(number(&units, i) - want) <= 1e-6 * want) ||
            (shifted && number(&zero, i) != 0.0))
            return false;
    }
    *bias = prt_op_input(d, 0);
    return true;
}

static void copy_attrs(const prt_conv_attrs *from, prt_qlinear_conv_attrs *to)
{
    *to = PRT_ATTRS_OF(qlinear_conv);
    if (from->group != 1)
        PRT_ATTR_SET(*to, qlinear_conv, group, from->group);
    if (from->pads.count != 0)
        PRT_ATTR_SET(*to, qlinear_conv, pads, from->pads);
    if (from->strides.count != 0)
        PRT_ATTR_SET(*to, qlinear_conv, strides, from->strides);
    if (from->dilations.count != 0)
        PRT_ATTR_SET(*to, qlinear_conv, dilations, from->dilations);
    if (from->kernel_shape.count != 0)
        PRT_ATTR_SET(*to, qlinear_conv, kernel_shape, from->kernel_shape);
    if (!prt_str_is(from->auto_pad, "NOTSET"))
        PRT_ATTR_SET(*to, qlinear_conv, auto_pad, from->auto_pad);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_quantize_linear_attrs *q = root->attrs;
    prt_op *conv = prt_match_interior(root, 0, PRT_OP_conv);
    prt_op *op = conv != NULL ? conv : prt_match_interior(root, 0, PRT_OP_matmul);
    prt_value *bias = NULL;
    (void)p;
    if (op == NULL || q->block_size != 0 || q->precision != 0 ||
        !prt_quantized_byte(prt_op_input(root, 2)) || !is_f32(prt_op_input(root, 1)) ||
        !prt_quantized_one(prt_op_input(root, 1)))
        return false;
    const prt_value *right = prt_op_input(op, 1);
    if (!prt_type_is_tensor(right->type) || right->type->rank < 2)
        return false;
    const int64_t by = conv != NULL ? 0 : right->type->rank == 2 ? 1 : -1;
    const prt_op *x = prt_quantized_side(op, 0, -1), *w = prt_quantized_side(op, 1, by);
    if (x == NULL || w == NULL || (conv != NULL && !prt_quantized_bias(conv, x, w, &bias)))
        return false;
    prt_value *in[9] = { prt_op_input(x, 0), prt_op_input(x, 1), prt_op_input(x, 2),
        prt_op_input(w, 0), prt_op_input(w, 1), prt_op_input(w, 2), prt_op_input(root, 1),
        prt_op_input(root, 2), bias };
    prt_qlinear_conv_attrs attrs;
    if (conv != NULL)
        copy_attrs(conv->attrs, &attrs);
    prt_value *y = conv != NULL
        ? prt_build_op(b, PRT_OP_qlinear_conv, &attrs, bias != NULL ? 9 : 8, in)
        : prt_build_op(b, PRT_OP_qlinear_matmul, NULL, 8, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_quantize_linear, apply } };

const prt_pass_hooks prt_pass_fuse_quantized = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
