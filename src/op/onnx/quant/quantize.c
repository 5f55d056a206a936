/* SPDX-License-Identifier: MIT */
/*
 * quantize.c — QuantizeLinear, DequantizeLinear (per tensor, per axis, per block) and
 * DynamicQuantizeLinear.
 */
#include <float.h>
#include <math.h>

#include "op/check.h"
#include "op/share/quant.h"

/* ---- layout of scales ---- */

typedef struct layout {
    size_t outer, axis, inner;           /* the tensor as a block [outer, axis, inner] */
    size_t block;                        /* elements along the axis that share a scale */
    size_t by_outer, by_block, by_inner; /* strides in the scale */
} layout;

/* Checks that the zero point has the scale's shape; a single number may have rank 0 or 1 in
 * either. */
static poprt_status check_zero_point(const prt_infer *c)
{
    const prt_shape *s = &c->in[1], *z = &c->in[2];
    int64_t dim;
    if (!prt_infer_ranked(c, 1) || !prt_infer_ranked(c, 2))
        return POPRT_OK;
    if (s->rank <= 1 && z->rank <= 1)
        return prt_infer_merge(c, s->rank == 0 ? 1 : s->dims[0], z->rank == 0 ? 1 : z->dims[0],
            "the number of scales", &dim);
    if (s->rank != z->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the scale has rank %d, but the zero point has rank %d", s->rank, z->rank);
    for (int32_t k = 0; k < s->rank; k++)
        PRT_TRY(prt_infer_merge(c, s->dims[k], z->dims[k], "a dim of the scale", &dim));
    return POPRT_OK;
}

/* Checks the scale against the input; `axis_attr` is used unless the scale is a single number. */
static poprt_status check_scale(prt_infer *c, int64_t axis_attr, int64_t block)
{
    const prt_shape *x = &c->in[0], *s = &c->in[1];
    uint32_t axis;
    int64_t dim;
    if (block < 0)
        return prt_infer_fail(c, POPRT_E_ARG, "block_size is %lld; it must be at least 0",
            (long long)block);
    PRT_TRY(check_zero_point(c));
    if (!prt_infer_ranked(c, 1) || !prt_infer_ranked(c, 0) || s->rank == 0 ||
        (block == 0 && s->rank == 1 && (s->dims[0] == 1 || !prt_dim_is_number(s->dims[0]))))
        return POPRT_OK;
    PRT_TRY(prt_infer_axis(c, axis_attr, x->rank, false, &axis));
    if (block == 0) {
        if (s->rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the scale has rank %d; without block_size, rank 0 or 1 is required", s->rank);
        return prt_infer_merge(c, x->dims[axis], s->dims[0], "the number of scales", &dim);
    }
    if (s->rank != x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the scale has rank %d, but the input has rank %d",
            s->rank, x->rank);
    for (int32_t k = 0; k < x->rank; k++) {
        const int64_t want =
            k == (int32_t)axis ? prt_dim_ceildiv(c->dims, x->dims[k], block) : x->dims[k];
        PRT_TRY(prt_infer_merge(c, want, s->dims[k], "a dim of the scale", &dim));
    }
    return POPRT_OK;
}

static layout layout_of(const prt_tensor *x, const prt_tensor *scale, int64_t axis_attr,
    int64_t block)
{
    if (scale->rank == 0 || (block == 0 && scale->dims[0] == 1))
        return (layout){ .outer = 1, .axis = 1, .inner = prt_tensor_count(x), .block = 1 };
    const uint32_t axis = (uint32_t)(axis_attr < 0 ? axis_attr + (int64_t)x->rank : axis_attr);
    layout l = { .outer = prt_dims_product(x->dims, 0, axis),
        .axis = (size_t)x->dims[axis],
        .inner = prt_dims_product(x->dims, axis + 1, x->rank),
        .block = 1,
        .by_block = 1 };
    if (block != 0) {
        l.block = (size_t)block;
        l.by_outer = (size_t)scale->dims[axis] * l.inner;
        l.by_block = l.inner;
        l.by_inner = 1;
    }
    return l;
}

/* ---- QuantizeLinear ---- */

static poprt_status quantize_infer(prt_infer *c)
{
    const prt_quantize_linear_attrs *a = c->attrs;
    int64_t dtype = PRT_DTYPE_u8;
    if (a->output_dtype != 0)
        dtype = a->output_dtype;
    else if (prt_infer_has(c, 2))
        dtype = c->in[2].dtype;
    if (dtype != PRT_DTYPE_undefined)
        PRT_TRY(prt_infer_dtype_attr(c, "output_dtype", c->def->types[2].set, dtype));
    if (prt_infer_has(c, 2) && c->in[2].dtype != PRT_DTYPE_undefined && c->in[2].dtype != dtype)
        return prt_infer_fail(c, POPRT_E_TYPE, "output_dtype differs from the zero point's type");
    if (a->precision != 0)
        PRT_TRY(prt_infer_dtype_attr(c, "precision", PRT_T_FB, a->precision));
    PRT_TRY(check_scale(c, a->axis, a->block_size));
    return prt_infer_like(c, 0, 0, (int32_t)dtype);
}

/* Divides with the precision of the given type. */
static double divide(int32_t precision, double x, double scale)
{
    unsigned char bytes[8];
    if (precision == PRT_DTYPE_f32)
        return (double)((float)x / (float)scale);
    if (precision != PRT_DTYPE_f16 && precision != PRT_DTYPE_bf16)
        return x / scale;
    prt_store_f64(precision, bytes, 0, x / scale);
    return prt_load_f64(precision, bytes, 0);
}

typedef struct quantizer {
    int32_t precision;
    bool integer, saturate;
} quantizer;

/* Processes one element with its scale and zero point. */
typedef void (
    *element_fn)(const void *user, prt_tensor *y, size_t i, double x, double scale, double zero);

/* Calls `fn` for every element of x in order. Scale and zero point are loaded once for each run
 * of elements that share them. */
static void for_each(const layout *l, const prt_eval *c, element_fn fn, const void *user)
{
    const prt_tensor *x = c->in[0], *s = c->in[1], *z = prt_eval_has(c, 2) ? c->in[2] : NULL;
    size_t i = 0;
    for (size_t o = 0; o < l->outer && l->axis * l->inner != 0; o++)
        for (size_t k = 0; k < l->axis; k++) {
            size_t at = o * l->by_outer + k / l->block * l->by_block;
            double scale = prt_load_f64(s->dtype, s->data, at);
            double zero = z != NULL ? prt_load_f64(z->dtype, z->data, at) : 0;
            for (size_t n = 0; n < l->inner; n++, at += l->by_inner, i++) {
                if (l->by_inner != 0) {
                    scale = prt_load_f64(s->dtype, s->data, at);
                    zero = z != NULL ? prt_load_f64(z->dtype, z->data, at) : 0;
                }
                fn(user, c->out[0], i, prt_load_f64(x->dtype, x->data, i), scale, zero);
            }
        }
}

static void quantize_one(const void *user, prt_tensor *y, size_t i, double x, double scale,
    double zero)
{
    const quantizer *q = user;
    double v = divide(q->precision, x, scale);
    if (!q->integer) {
        if (isinf(v) && q->saturate) /* saturates in all small formats, like Cast */
            v = copysign(DBL_MAX, v);
        prt_store_f64_as(y->dtype, y->data, i, v + zero, q->saturate);
        return;
    }
    prt_quant_store(y->dtype, y->data, i, v, zero);
}

static int32_t division_type(const prt_quantize_linear_attrs *a, const prt_tensor *x,
    const prt_tensor *scale)
{
    if (a->precision != 0)
        return (int32_t)a->precision;
    if (scale->dtype == PRT_DTYPE_f32 || scale->dtype == PRT_DTYPE_f16 ||
        scale->dtype == PRT_DTYPE_bf16)
        return scale->dtype;
    return prt_dtype_is_float(x->dtype) ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
}

static poprt_status quantize_eval(prt_eval *c)
{
    const prt_quantize_linear_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *s = c->in[1];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const layout l = layout_of(x, s, a->axis, a->block_size);
    quantizer q = { .precision = division_type(a, x, s), .saturate = a->saturate != 0 };
    q.integer = prt_dtype_is_integer(c->out[0]->dtype);
    for_each(&l, c, quantize_one, &q);
    return POPRT_OK;
}

/* ---- DequantizeLinear ---- */

static poprt_status dequantize_infer(prt_infer *c)
{
    const prt_dequantize_linear_attrs *a = c->attrs;
    const int64_t dtype = a->output_dtype != 0 ? a->output_dtype : c->in[1].dtype;
    if (dtype != PRT_DTYPE_undefined)
        PRT_TRY(prt_infer_dtype_attr(c, "output_dtype", c->def->types[2].set, dtype));
    PRT_TRY(check_scale(c, a->axis, a->block_size));
    return prt_infer_like(c, 0, 0, (int32_t)dtype);
}

static void dequantize_one(const void *user, prt_tensor *y, size_t i, double x, double scale,
    double zero)
{
    (void)user;
    prt_store_f64(y->dtype, y->data, i, (x - zero) * scale);
}

static poprt_status dequantize_eval(prt_eval *c)
{
    const prt_dequantize_linear_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const layout l = layout_of(c->in[0], c->in[1], a->axis, a->block_size);
    for_each(&l, c, dequantize_one, NULL);
    return POPRT_OK;
}

/* ---- DynamicQuantizeLinear ---- */

static poprt_status dynamic_infer(prt_infer *c)
{
    PRT_TRY(prt_infer_like(c, 0, 0, PRT_DTYPE_u8));
    PRT_TRY(prt_infer_set(c, 1, PRT_DTYPE_f32, 0, NULL));
    return prt_infer_set(c, 2, PRT_DTYPE_u8, 0, NULL);
}

static float clamp_byte(float v)
{
    if (!(v > 0))
        return 0;
    return v > 255 ? 255 : v;
}

/* The range always includes zero; the scale of an empty range is 1. */
void prt_quant_dynamic_run(size_t n, const float *x, uint8_t *y, float *scale, uint8_t *zero)
{
    float low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *scale = high == low ? 1.0f : (high - low) / 255.0f;
    const float middle = nearbyintf(clamp_byte(-low / *scale));
    for (size_t i = 0; y != NULL && i < n; i++)
        y[i] = (uint8_t)clamp_byte(nearbyintf(x[i] / *scale) + middle);
    *zero = (uint8_t)middle;
}

static poprt_status dynamic_eval(prt_eval *c)
{
    float scale;
    uint8_t zero;
    prt_quant_dynamic_run(prt_tensor_count(c->in[0]), c->in[0]->data,
        prt_eval_wants(c, 0) ? c->out[0]->data : NULL, &scale, &zero);
    if (prt_eval_wants(c, 1))
        *(float *)c->out[1]->data = scale;
    if (prt_eval_wants(c, 2))
        *(uint8_t *)c->out[2]->data = zero;
    return POPRT_OK;
}

const prt_op_hooks prt_op_quantize_linear = { .infer = quantize_infer, .eval = quantize_eval };
const prt_op_hooks prt_op_dequantize_linear = { .infer = dequantize_infer,
    .eval = dequantize_eval };
const prt_op_hooks prt_op_dynamic_quantize_linear = { .infer = dynamic_infer,
    .eval = dynamic_eval };
