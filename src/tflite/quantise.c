/* SPDX-License-Identifier: MIT */
/* quantise.c — integers that stand for real numbers: (q - zero point) * scale. */
#include <math.h>

#include "tflite/convert.h"

bool prt_tflite_is_quantised(const prt_tflite_tensor *t)
{
    return t != NULL && t->quantization != NULL && prt_dtype_is_integer(t->dtype);
}

static bool same(const prt_tflite_quantization *a, const prt_tflite_quantization *b)
{
    return a->count == 1 && b->count == 1 && a->scales[0] == b->scales[0] &&
        a->zero_points[0] == b->zero_points[0];
}

bool prt_tflite_same_scale(const prt_tflite_call *n)
{
    const prt_tflite_tensor *first = NULL;
    bool floats = false; /* an output has real numbers */
    const uint32_t n_in = (uint32_t)n->op->inputs.count;
    for (uint32_t i = 0; i < n_in + n->op->outputs.count; i++) {
        const prt_tflite_tensor *t =
            i < n_in ? prt_tflite_input(n, i) : prt_tflite_output(n, i - n_in);
        floats = floats || (i >= n_in && prt_dtype_is_float(t->dtype));
        if (!prt_tflite_is_quantised(t))
            continue;
        first = first != NULL ? first : t;
        if (t->dtype != first->dtype || !same(t->quantization, first->quantization))
            return false;
    }
    return first == NULL || !floats;
}

/* Returns a constant of one scale or zero point, or of one for each index of an axis. */
static prt_value *scales(prt_build *b, const prt_tflite_quantization *q)
{
    const int64_t dims[] = { q->count };
    return prt_build_tensor(b, PRT_DTYPE_f32, q->count > 1, dims, q->scales);
}

static prt_value *zero_points(prt_build *b, const prt_tflite_quantization *q, int32_t dtype)
{
    const int64_t dims[] = { q->count };
    int32_t *wide = PRT_NEW_N(b->graph->module->arena, int32_t, q->count);
    if (wide == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    unsigned char *bytes = (unsigned char *)wide;
    for (uint32_t i = 0; i < q->count; i++)
        prt_store_i64(dtype, bytes, i, q->zero_points[i]);
    return prt_build_tensor(b, dtype, q->count > 1, dims, bytes);
}

/* Returns scales or zero points with trailing dims of 1, so that they broadcast along an axis. */
static prt_value *align(prt_build *b, prt_value *v, int64_t axis, int32_t rank)
{
    int64_t dims[PRT_MAX_RANK] = { -1 };
    uint32_t count = 1;
    if (v == NULL || v->type->rank == 0)
        return v;
    for (int64_t i = axis + 1; i < rank; i++)
        dims[count++] = 1;
    return prt_build_reshape(b, v, count, dims);
}

prt_value *prt_tflite_dequantise(prt_build *b, const prt_tflite_tensor *t, prt_value *stored,
    const int64_t *perm)
{
    if (!prt_tflite_is_quantised(t) || stored == NULL || prt_tf_rank(stored) < 0)
        return stored;
    const prt_tflite_quantization *q = t->quantization;
    const int32_t dtype = prt_tf_dtype(stored), rank = prt_tf_rank(stored);
    int64_t axis = q->axis;
    for (int64_t i = 0; perm != NULL && i < rank; i++)
        if (perm[i] == (int64_t)q->axis)
            axis = i;
    prt_dequantize_linear_attrs attrs = PRT_ATTRS_OF(dequantize_linear);
    if (q->count > 1)
        PRT_ATTR_SET(attrs, dequantize_linear, axis, axis);
    if (dtype == PRT_DTYPE_i8 || dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i32) {
        prt_value *in[3] = { stored, scales(b, q), zero_points(b, q, dtype) };
        return prt_build_op(b, PRT_OP_dequantize_linear, &attrs, dtype == PRT_DTYPE_i32 ? 2 : 3,
            in);
    }
    /* 16-bit integers need opset 21 for DequantizeLinear, and 64-bit integers have no such form. */
    prt_value *real = prt_build_cast(b, stored, PRT_DTYPE_f32);
    real = prt_build_binary(b, PRT_OP_sub, real,
        align(b, prt_build_cast(b, zero_points(b, q, PRT_DTYPE_i32), PRT_DTYPE_f32), axis, rank));
    return prt_build_binary(b, PRT_OP_mul, real, align(b, scales(b, q), axis, rank));
}

prt_value *prt_tflite_quantise(prt_build *b, const prt_tflite_tensor *t, prt_value *real)
{
    const prt_tflite_quantization *q = t->quantization;
    const int32_t dtype = t->dtype, rank = prt_tf_rank(real);
    if (real == NULL)
        return NULL;
    prt_quantize_linear_attrs attrs = PRT_ATTRS_OF(quantize_linear);
    if (q->count > 1)
        PRT_ATTR_SET(attrs, quantize_linear, axis, q->axis);
    if (dtype == PRT_DTYPE_i8 || dtype == PRT_DTYPE_u8) {
        prt_value *in[3] = { real, scales(b, q), zero_points(b, q, dtype) };
        return prt_build_op(b, PRT_OP_quantize_linear, &attrs, 3, in);
    }
    prt_value *v = prt_build_binary(b, PRT_OP_div, real, align(b, scales(b, q), q->axis, rank));
    v = prt_build_unary(b, PRT_OP_round, v);
    v = prt_build_binary(b, PRT_OP_add, v,
        align(b, prt_build_cast(b, zero_points(b, q, PRT_DTYPE_i32), PRT_DTYPE_f32), q->axis,
            rank));
    const double most = ldexp(1, (int)prt_dtype_bits(dtype) - 1);
    return prt_build_cast(b, prt_build_clip(b, v, -most, most > 65536 ? most - 128 : most - 1),
        dtype);
}

double prt_tflite_stored_number(const prt_tflite_tensor *t, double real)
{
    const prt_tflite_quantization *q = t->quantization;
    const bool is_unsigned = t->dtype == PRT_DTYPE_u8;
    const double bits = prt_dtype_bits(t->dtype);
    const double low = is_unsigned ? 0 : -exp2(bits - 1);
    const double high = is_unsigned ? exp2(bits) - 1 : exp2(bits - 1) - 1;
    const double v = rint(real / (double)q->scales[0]) + (double)q->zero_points[0];
    return v < low ? low : v > high ? high : v;
}
