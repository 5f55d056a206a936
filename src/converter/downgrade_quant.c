/* SPDX-License-Identifier: MIT */
/* downgrade_quant.c — downgrades QuantizeLinear and DequantizeLinear, or computes them by
 * arithmetic. */
#include <math.h>

#include "converter/downgrade.h"
#include "converter/conversions.h"

#define BINARY(id, x, y) prt_build_binary(&b, PRT_OP_##id, x, y)

static int64_t axis_of(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_quantize_linear)
        ? ((const prt_quantize_linear_attrs *)op->attrs)->axis
        : ((const prt_dequantize_linear_attrs *)op->attrs)->axis;
}

static bool is_one(const prt_value *v)
{
    uint64_t count;
    return v != NULL && prt_type_count(v->type, &count) && count == 1;
}

/* Returns a scale or zero point per tensor unchanged, and one per axis with trailing dims of 1. */
static prt_value *align_to_axis(prt_build *build, const prt_op *op, prt_value *v)
{
    prt_build b = *build;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0)), *type = prt_down_ranked(v);
    int64_t dims[PRT_MAX_RANK];
    int64_t axis;
    if (type == NULL || type->rank != 1 || x == NULL || is_one(v) ||
        !prt_down_axis_of(axis_of(op), x->rank, &axis))
        return v;
    uint32_t rank = 1;
    dims[0] = -1;
    for (int64_t i = axis + 1; i < x->rank; i++)
        dims[rank++] = 1;
    v = prt_down_reshape(&b, v, rank, dims);
    *build = b;
    return v;
}

/* The zero point determines the type in older variants. */
poprt_status prt_down_quantize_type(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_quantize_linear_attrs *a = op->attrs;
    const int32_t dtype = prt_down_dtype(&op->out[0]);
    const prt_type *scale = prt_down_static(prt_op_input(op, 1));
    if (a->output_dtype == 0)
        return POPRT_OK;
    if (prt_op_input(op, 2) == NULL && dtype != PRT_DTYPE_u8) {
        size_t size;
        const prt_type *type = scale == NULL
            ? NULL
            : prt_type_tensor(op->graph->module->types, dtype, scale->rank, scale->dims);
        if (type == NULL || !prt_type_size(type, &size) || size > 1 << 20)
            return prt_down_refuse(d,
                "the zero point determines the type at that opset, so the shape of the scale must "
                "be known");
        unsigned char *zeros = PRT_NEW_N(op->graph->module->arena, unsigned char, size + 1);
        if (zeros == NULL)
            return POPRT_E_NOMEM;
        memset(zeros, 0, size);
        prt_build b = prt_build_before(op);
        prt_value *zero = prt_build_tensor(&b, dtype, (uint32_t)scale->rank, scale->dims, zeros);
        PRT_TRY(prt_build_status(&b));
        PRT_TRY(prt_down_set_input(op, 2, zero));
    }
    prt_down_reset_attr(op, "output_dtype");
    return POPRT_OK;
}

/* The result must have the type of the scale. */
poprt_status prt_down_dequantize_type(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_dequantize_linear_attrs *a = op->attrs;
    if (a->output_dtype != 0 && a->output_dtype != prt_down_dtype(prt_op_input(op, 1)))
        return prt_down_refuse(d, "at that opset its result has the type of the scale");
    prt_down_reset_attr(op, "output_dtype");
    return POPRT_OK;
}

poprt_status prt_down_quantize_axis(prt_downgrade *d)
{
    if (is_one(prt_op_input(d->op, 1))) {
        prt_down_reset_attr(d->op, "axis");
        return POPRT_OK;
    }
    return prt_op_is(d->op, PRT_OP_quantize_linear) ? prt_down_quantize_channels(d)
                                                    : prt_down_dequantize_channels(d);
}

/* Returns whether the op has 8-bit or 16-bit numbers (or int32 for DequantizeLinear), a float32
 * scale, and no blocks. */
static bool has_simple_types(const prt_op *op, uint32_t quantised)
{
    const int32_t dtype =
        quantised == 0 ? prt_down_dtype(prt_op_input(op, 0)) : prt_down_dtype(&op->out[0]);
    const prt_type *scale = prt_down_ranked(prt_op_input(op, 1));
    const bool small = dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i8 || dtype == PRT_DTYPE_u16 ||
        dtype == PRT_DTYPE_i16;
    return (small || (quantised == 0 && dtype == PRT_DTYPE_i32)) && scale != NULL &&
        scale->rank <= 1 && scale->dtype == PRT_DTYPE_f32 &&
        prt_down_ranked(prt_op_input(op, 0)) != NULL;
}

poprt_status prt_down_quantize_channels(prt_downgrade *d)
{
    prt_op *op = d->op;
    const int32_t to = prt_down_dtype(&op->out[0]);
    prt_value *x = prt_op_input(op, 0), *zero = prt_op_input(op, 2);
    if (!has_simple_types(op, 1) || prt_down_dtype(x) != PRT_DTYPE_f32)
        return prt_down_refuse(d,
            "it has blocks, or element types that do not exist at that opset");
    prt_build b = prt_build_before(op);
    const bool is_signed = to == PRT_DTYPE_i8 || to == PRT_DTYPE_i16;
    const int bits = (int)prt_dtype_bits(to);
    prt_value *y = BINARY(div, x, align_to_axis(&b, op, prt_op_input(op, 1)));
    y = prt_build_unary(&b, PRT_OP_round, y);
    if (zero != NULL)
        y = BINARY(add, y, prt_down_cast(&b, align_to_axis(&b, op, zero), PRT_DTYPE_f32));
    prt_value *in[3] = { y, prt_down_scalar(&b, is_signed ? -ldexp(1, bits - 1) : 0, x),
        prt_down_scalar(&b, ldexp(1, is_signed ? bits - 1 : bits) - 1, x) };
    y = prt_build_op(&b, PRT_OP_clip, NULL, 3, in);
    return prt_down_replace(d, &b, prt_down_cast(&b, y, to));
}

poprt_status prt_down_dequantize_channels(prt_downgrade *d)
{
    prt_op *op = d->op;
    prt_value *x = prt_op_input(op, 0), *zero = prt_op_input(op, 2);
    if (!has_simple_types(op, 0))
        return prt_down_refuse(d,
            "it has blocks, or element types that do not exist at that opset");
    prt_build b = prt_build_before(op);
    const bool wide = prt_down_dtype(x) == PRT_DTYPE_i32;
    const int32_t exact = wide ? PRT_DTYPE_f64 : PRT_DTYPE_f32;
    prt_value *y = prt_down_cast(&b, x, exact);
    if (zero != NULL)
        y = BINARY(sub, y, prt_down_cast(&b, align_to_axis(&b, op, zero), exact));
    y = prt_down_cast(&b, y, PRT_DTYPE_f32);
    return prt_down_replace(d, &b, BINARY(mul, y, align_to_axis(&b, op, prt_op_input(op, 1))));
}
