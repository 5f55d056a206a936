/* SPDX-License-Identifier: MIT */
/* op_quant.c — quantisation, also where the numbers stay floats. Formulas of ranges that are
 * constants are folded. */
#include <float.h>
#include <math.h>

#include "num/dtype.h"
#include "tensorflow/formulas.h"

/* ---- fake quantisation */

/* The steps of a number of bits: q0 to q1. */
typedef struct steps {
    float q0, q1;
    bool symmetric; /* q0 is 1 */
} steps;

/* The range of a node: inputs 1 and 2, or attributes. */
typedef struct range {
    prt_value *low, *high;
    const float *low_data, *high_data; /* NULL: not constants */
    uint32_t count, rank;
} range;

static bool read_range(prt_tf_call *n, range *r)
{
    prt_tensor low, high;
    float given[2] = { prt_tf_attr_f32(n, "min", -6), prt_tf_attr_f32(n, "max", 6) };
    *r = (range){ .count = 1 };
    if (n->n_in == 1) {
        r->low = F32((double)given[0]);
        r->high = F32((double)given[1]);
        r->low_data = prt_arena_copy(n->c->arena, given, sizeof(given));
        r->high_data = r->low_data + 1;
        return r->low_data != NULL && r->high != NULL;
    }
    r->low = prt_tf_in(n, 1);
    r->high = prt_tf_in(n, 2);
    r->rank = prt_tf_rank(r->low) == 1;
    if (prt_tf_constant(n, 1, &low) && prt_tf_constant(n, 2, &high) && low.dtype == PRT_DTYPE_f32 &&
        high.dtype == PRT_DTYPE_f32 && prt_tensor_count(&low) == prt_tensor_count(&high) &&
        prt_tensor_count(&low) > 0 && prt_tensor_count(&low) <= INT32_MAX) {
        r->low_data = low.data;
        r->high_data = high.data;
        r->count = (uint32_t)prt_tensor_count(&low);
    }
    return r->low != NULL && r->high != NULL;
}

/* QuantizeLinear and DequantizeLinear with the scale and the zero point of constant ranges. Returns
 * NULL, and builds nothing, if a range is empty. */
static prt_value *linear(prt_tf_call *n, const range *r, const steps *q, prt_value *x)
{
    const int64_t count = r->count;
    float *scale = PRT_NEW_N(n->c->arena, float, r->count);
    float *low = PRT_NEW_N(n->c->arena, float, r->count);
    float *high = PRT_NEW_N(n->c->arena, float, r->count);
    uint8_t *zero = PRT_NEW_N(n->c->arena, uint8_t, r->count);
    if (scale == NULL || low == NULL || high == NULL || zero == NULL) {
        n->status = POPRT_E_NOMEM;
        return NULL;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        scale[i] = (r->high_data[i] - r->low_data[i]) / (q->q1 - q->q0);
        if (!(scale[i] > 0) || isinf(scale[i]))
            return NULL;
        float z = q->q0 - r->low_data[i] / scale[i];
        z = floorf((z < q->q0 ? q->q0 : z > q->q1 ? q->q1 : z) + 0.5f);
        zero[i] = (uint8_t)z;
        low[i] = (q->q0 - z) * scale[i];
        high[i] = (q->q1 - z) * scale[i];
    }
    prt_quantize_linear_attrs to = PRT_ATTRS_OF(quantize_linear);
    prt_dequantize_linear_attrs from = PRT_ATTRS_OF(dequantize_linear);
    if (r->rank == 1) {
        PRT_ATTR_SET(to, quantize_linear, axis, -1);
        PRT_ATTR_SET(from, dequantize_linear, axis, -1);
    }
    if (q->symmetric) {
        x = BINARY(max, x, prt_build_tensor(&n->b, PRT_DTYPE_f32, r->rank, &count, low));
        x = BINARY(min, x, prt_build_tensor(&n->b, PRT_DTYPE_f32, r->rank, &count, high));
    }
    prt_value *in[] = { x, prt_build_tensor(&n->b, PRT_DTYPE_f32, r->rank, &count, scale),
        prt_build_tensor(&n->b, PRT_DTYPE_u8, r->rank, &count, zero) };
    in[0] = prt_build_op(&n->b, PRT_OP_quantize_linear, &to, 3, in);
    return prt_build_op(&n->b, PRT_OP_dequantize_linear, &from, 3, in);
}

/* The formula, where the range is not known or the bits are not 8. An empty range gives 0. */
static prt_value *nudged(prt_tf_call *n, const range *r, const steps *q, prt_value *x)
{
    prt_value *q0 = F32((double)q->q0), *q1 = F32((double)q->q1);
    prt_value *width = BINARY(sub, r->high, r->low), *none = BINARY(equal, width, F32(0));
    prt_value *scale = BINARY(div, WHERE(none, F32(1), width), BINARY(sub, q1, q0));
    prt_value *zero = BINARY(sub, q0, BINARY(div, r->low, scale));
    zero = BINARY(max, BINARY(min, zero, q1), q0);
    zero = UNARY(floor, BINARY(add, zero, F32(0.5)));
    prt_value *low = BINARY(mul, BINARY(sub, q0, zero), scale);
    prt_value *high = BINARY(mul, BINARY(sub, q1, zero), scale);
    x = BINARY(sub, BINARY(max, BINARY(min, x, high), low), low);
    x = UNARY(floor, BINARY(add, BINARY(div, x, scale), F32(0.5)));
    return WHERE(none, F32(0), BINARY(add, BINARY(mul, x, scale), low));
}

poprt_status prt_tf_row_fake_quant(prt_tf_call *n)
{
    enum { PER_CHANNEL_SINCE = 13 };
    range r;
    const int64_t bits = prt_tf_attr_i64(n, "num_bits", 8);
    const bool symmetric = prt_tf_attr_bool(n, "narrow_range", false);
    prt_value *x = prt_tf_in(n, 0), *y = NULL;
    if (x == NULL || !read_range(n, &r))
        return prt_tf_end(n);
    if (bits < 2 || bits > 16)
        return prt_tf_refuse(n, "num_bits is not in 2 to 16");
    const steps q = { symmetric ? 1.0f : 0.0f, (float)((1 << bits) - 1), symmetric };
    if (bits == 8 && r.low_data != NULL &&
        (r.rank == 0 || prt_module_opset(n->c->module, PRT_STR("")) >= PER_CHANNEL_SINCE))
        y = linear(n, &r, &q, x);
    PRT_TRY(prt_tf_end(n));
    prt_tf_set(n, 0, y != NULL ? y : nudged(n, &r, &q, x));
    return prt_tf_end(n);
}

/* ---- quantise and dequantise in floats */

/* Returns a vector of one number per index of `axis` in the form that broadcasts; scalars as they
 * are. */
static prt_value *along(prt_tf_call *n, prt_value *v, const prt_value *x, int64_t axis)
{
    int64_t dims[PRT_MAX_RANK];
    const int32_t rank = prt_tf_rank(x);
    if (axis < 0 || v == NULL)
        return v;
    if (rank <= axis) {
        (void)prt_tf_refuse(n, "the rank of input 0 is not known, or at most its axis");
        return NULL;
    }
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == axis ? -1 : 1;
    return prt_build_reshape(&n->b, v, (uint32_t)rank, dims);
}

/* Returns the smallest or largest number of a tensor, for each index of `axis` if that is from
 * 0. */
static prt_value *extreme(prt_tf_call *n, uint32_t id, prt_value *x, int64_t axis)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count = 0;
    const int32_t rank = prt_tf_rank(x);
    if (axis < 0)
        return prt_build_reduce(&n->b, id, x, NULL, false);
    if (rank <= axis) {
        (void)prt_tf_refuse(n, "the rank of input 0 is not known, or at most its axis");
        return NULL;
    }
    for (int32_t i = 0; i < rank; i++)
        if (i != axis)
            axes[count++] = i;
    return count == 0 ? x
                      : prt_build_reduce(&n->b, id, x, prt_build_i64s(&n->b, count, axes), true);
}

/* Returns q / bound if both have one sign, else the largest number. */
static prt_value *scale_from(prt_tf_call *n, prt_value *bound, double q)
{
    prt_value *zero = prt_build_number(&n->b, bound, 0);
    prt_value *some = q < 0 ? BINARY(less, bound, zero) : BINARY(greater, bound, zero);
    if (q == 0)
        return prt_build_number(&n->b, bound, (double)FLT_MAX);
    prt_value *scale = BINARY(div, prt_build_number(&n->b, bound, q),
        WHERE(some, bound, prt_build_number(&n->b, bound, 1)));
    return WHERE(some, scale, prt_build_number(&n->b, bound, (double)FLT_MAX));
}

/* The scale is the smaller one of those of the two sides of the range. */
poprt_status prt_tf_row_quantize_and_dequantize(prt_tf_call *n)
{
    const bool by_input = n->n_in > 3; /* V3: num_bits is an input, the range is given */
    const bool given = prt_tf_attr_bool(n, "range_given", by_input);
    const bool is_signed = prt_tf_attr_bool(n, "signed_input", true);
    const bool symmetric = prt_tf_attr_bool(n, "narrow_range", false);
    const bool even = prt_tf_attr_is(n, "round_mode", "HALF_TO_EVEN", "HALF_TO_EVEN");
    const int64_t axis = prt_tf_attr_i64(n, "axis", -1);
    int64_t bits = prt_tf_attr_i64(n, "num_bits", 8);
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || (by_input && !prt_tf_need_int(n, 3, "num_bits", &bits)))
        return prt_tf_end(n);
    if (bits < 1 || bits > 62)
        return prt_tf_refuse(n, "num_bits is out of range");
    const double half = ldexp(1, (int)bits - 1);
    const double q0 = is_signed ? (symmetric ? 1 : 0) - half : 0,
                 q1 = is_signed ? half - 1 : 2 * half - 1;
    prt_value *low =
        given ? along(n, prt_tf_in(n, 1), x, axis) : extreme(n, PRT_OP_reduce_min, x, axis);
    prt_value *high =
        given ? along(n, prt_tf_in(n, 2), x, axis) : extreme(n, PRT_OP_reduce_max, x, axis);
    if (low == NULL || high == NULL)
        return prt_tf_end(n);
    prt_value *from_low = scale_from(n, low, q0), *from_high = scale_from(n, high, q1);
    prt_value *left = BINARY(less, from_low, from_high);
    prt_value *scale = BINARY(min, from_low, from_high);
    prt_value *first = prt_build_number(&n->b, x, q0), *last = prt_build_number(&n->b, x, q1);
    prt_value *inverse = BINARY(div, high, last);
    if (q0 < 0)
        inverse = WHERE(left, BINARY(div, low, first), inverse);
    if (given)
        x = BINARY(max, BINARY(min, x, BINARY(mul, inverse, last)), BINARY(mul, inverse, first));
    x = BINARY(mul, x, scale);
    x = even ? UNARY(round, x) : UNARY(floor, BINARY(add, x, prt_build_number(&n->b, x, 0.5)));
    prt_tf_set(n, 0, BINARY(mul, x, inverse));
    return prt_tf_end(n);
}

/* ---- integers */

typedef enum mode { MIN_COMBINED, MIN_FIRST, SCALED, MODES } mode;

/* An integer type of quantised tensors, and how numbers are mapped to it. */
typedef struct mapping {
    int32_t dtype;
    bool is_signed;
    double lowest, highest;
    mode mode;
    int64_t axis;
    prt_value *low, *high;
} mapping;

static bool read_mapping(prt_tf_call *n, const prt_value *x, int32_t dtype, mapping *m)
{
    static const char *const names[MODES] = { "MIN_COMBINED", "MIN_FIRST", "SCALED" };
    const prt_str name = prt_tf_attr_str(n, "mode", "MIN_COMBINED");
    *m = (mapping){ .dtype = dtype, .axis = prt_tf_attr_i64(n, "axis", -1) };
    while (m->mode < MODES && !prt_str_is(name, names[m->mode]))
        m->mode++;
    if (m->mode == MODES || !prt_dtype_is_integer(dtype) || prt_dtype_bits(dtype) > 32) {
        (void)prt_tf_refuse(n, "the mode or the integer type is not known");
        return false;
    }
    const double count = ldexp(1, (int)prt_dtype_bits(dtype));
    m->is_signed = prt_dtype_of(dtype)->kind == PRT_KIND_int;
    m->lowest = m->is_signed ? -count / 2 : 0;
    m->highest = m->lowest + count - 1;
    if (m->mode == SCALED && prt_tf_attr_bool(n, "narrow_range", false))
        m->lowest++;
    m->low = along(n, prt_tf_in(n, 1), x, m->axis);
    m->high = along(n, prt_tf_in(n, 2), x, m->axis);
    return m->low != NULL && m->high != NULL;
}

/* Rounds halves away from zero. */
static prt_value *round_away(prt_tf_call *n, prt_value *x)
{
    return BINARY(mul, UNARY(sign, x), UNARY(floor, BINARY(add, UNARY(abs, x), F32(0.5))));
}

poprt_status prt_tf_row_dequantize(prt_tf_call *n)
{
    mapping m;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || !read_mapping(n, x, prt_tf_dtype(x), &m))
        return prt_tf_end(n);
    prt_value *width = BINARY(sub, m.high, m.low);
    prt_value *scale = BINARY(div, width, F32(m.highest - m.lowest));
    prt_value *y = prt_build_cast(&n->b, x, PRT_DTYPE_f32);
    if (m.mode == SCALED) {
        scale = BINARY(div, m.high, F32(m.highest));
        if (m.is_signed)
            scale = BINARY(max, scale, BINARY(div, m.low, F32(m.lowest)));
        y = BINARY(mul, y, scale);
    } else {
        prt_value *low = m.low;
        if (m.mode == MIN_FIRST)
            low = BINARY(mul, round_away(n, BINARY(div, low, scale)), scale);
        y = BINARY(add, BINARY(mul, BINARY(sub, y, F32(m.lowest)), scale), low);
    }
    prt_tf_set(n, 0, prt_build_cast(&n->b, y, prt_tf_attr_dtype(n, "dtype", PRT_DTYPE_f32)));
    return prt_tf_end(n);
}

/* Widens the range so that it holds 0 and is not empty. */
static void widen(prt_tf_call *n, mapping *m)
{
    const double least = (double)prt_tf_attr_f32(n, "ensure_minimum_range", 0.01f);
    prt_value *zero = F32(0);
    prt_value *low = BINARY(min, m->low, zero);
    prt_value *size = BINARY(max, UNARY(abs, m->low), UNARY(abs, m->high));
    size = BINARY(mul, BINARY(max, size, F32(1)), F32(least));
    m->high = BINARY(max, BINARY(max, m->high, BINARY(add, low, size)), zero);
    m->low = low;
}

static prt_value *clamp(prt_tf_call *n, prt_value *x, prt_value *low, prt_value *high)
{
    return BINARY(max, BINARY(min, x, high), low);
}

poprt_status prt_tf_row_quantize(prt_tf_call *n)
{
    mapping m;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || !read_mapping(n, x, prt_tf_attr_dtype(n, "T", PRT_DTYPE_u8), &m))
        return prt_tf_end(n);
    if (m.mode == MIN_FIRST || prt_dtype_bits(m.dtype) > 16)
        return prt_tf_refuse(n, "mode MIN_FIRST and 32 bits are not supported");
    widen(n, &m);
    if (m.mode == SCALED) {
        prt_value *scale =
            BINARY(min, scale_from(n, m.low, m.lowest), scale_from(n, m.high, m.highest));
        m.low = BINARY(div, F32(m.lowest), scale);
        m.high = BINARY(div, F32(m.highest), scale);
        x = BINARY(mul, clamp(n, x, m.low, m.high), scale);
        const bool even = prt_tf_attr_is(n, "round_mode", "HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN");
        x = even ? UNARY(round, x) : round_away(n, x);
    } else {
        prt_value *scale = BINARY(div, F32(m.highest - m.lowest), BINARY(sub, m.high, m.low));
        x = BINARY(mul, BINARY(sub, clamp(n, x, m.low, m.high), m.low), scale);
        x = m.is_signed ? round_away(n, BINARY(add, x, F32(m.lowest)))
                        : UNARY(floor, BINARY(add, x, F32(0.5)));
    }
    static const int64_t flat = -1;
    x = prt_build_clip(&n->b, x, m.lowest, m.highest);
    prt_tf_set(n, 0, prt_build_cast(&n->b, x, m.dtype));
    prt_tf_set(n, 1, m.axis < 0 ? m.low : prt_build_reshape(&n->b, m.low, 1, &flat));
    prt_tf_set(n, 2, m.axis < 0 ? m.high : prt_build_reshape(&n->b, m.high, 1, &flat));
    return prt_tf_end(n);
}
