/* SPDX-License-Identifier: MIT */
/* op_bits.c — operators on the bits of numbers. */
#include <math.h>

#include "num/dtype.h"
#include "tensorflow/special.h"

#define NUMBER(like, value) prt_build_number(&n->b, like, value)

/* ---- integers */

/* Returns the bits of an integer as a last axis: the quotients by `powers`, rounded down, modulo
 * 2. */
static prt_value *bits_of(prt_tf_call *n, prt_value *x, prt_value *powers)
{
    static const int64_t last[] = { -1 };
    x = prt_build_unsqueeze(&n->b, prt_build_cast(&n->b, x, PRT_DTYPE_i64), 1, last);
    x = BINARY(div, BINARY(sub, x, BINARY(mod, x, powers)), powers);
    return BINARY(mod, x, prt_build_i64(&n->b, 2));
}

/* Before opset 18 numbers of at most 32 bits are combined bit by bit. */
poprt_status prt_tf_row_bitwise(prt_tf_call *n)
{
    const uint32_t id = n->node->row->id;
    prt_value *x = prt_tf_in(n, 0);
    const uint32_t bits = prt_dtype_bits(prt_tf_dtype(x));
    if (prt_module_opset(n->c->module, PRT_STR("")) >= 18 || bits == 0 || bits > 32)
        return prt_tf_row_same(n);
    int64_t power[32];
    for (uint32_t i = 0; i < bits; i++)
        power[i] = (int64_t)1 << i;
    prt_value *powers = prt_build_i64s(&n->b, bits, power);
    prt_value *a = bits_of(n, x, powers), *b = bits_of(n, prt_tf_in(n, 1), powers);
    prt_value *y = id == PRT_OP_bitwise_and ? BINARY(mul, a, b)
        : id == PRT_OP_bitwise_or           ? BINARY(max, a, b)
                                            : UNARY(abs, BINARY(sub, a, b));
    y = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, BINARY(mul, y, powers), -1, false);
    return prt_tf_end_with(n, prt_build_cast_as(&n->b, y, x));
}

/* -1 - x, of which an unsigned number is the remainder. */
poprt_status prt_tf_row_invert(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, BINARY(sub, NUMBER(x, -1), x));
}

static int32_t unsigned_of(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_i8:
        return PRT_DTYPE_u8;
    case PRT_DTYPE_i16:
        return PRT_DTYPE_u16;
    case PRT_DTYPE_i32:
        return PRT_DTYPE_u32;
    case PRT_DTYPE_i64:
        return PRT_DTYPE_u64;
    default:
        return dtype;
    }
}

/* Shifts of signed numbers go through the unsigned type. The right shift of a negative number is
 * that of its complement -1 - x, complemented. Counts are clamped as TensorFlow does it. */
poprt_status prt_tf_row_shift(prt_tf_call *n)
{
    const bool right = n->node->row->id == PRT_OP_bit_shift;
    prt_value *x = prt_tf_in(n, 0), *minus = NUMBER(x, -1);
    const int32_t dtype = prt_tf_dtype(x), plain = unsigned_of(dtype);
    const bool flips = right && plain != dtype;
    prt_value *count = prt_build_clip(&n->b, prt_tf_in(n, 1), 0, prt_dtype_bits(dtype) - 1.0);
    prt_value *negative = flips ? BINARY(less, x, NUMBER(x, 0)) : NULL;
    if (flips)
        x = prt_build_where(&n->b, negative, BINARY(sub, minus, x), x);
    prt_bit_shift_attrs attrs = PRT_ATTRS_OF(bit_shift);
    PRT_ATTR_SET(attrs, bit_shift, direction, right ? PRT_STR("RIGHT") : PRT_STR("LEFT"));
    prt_value *in[] = { prt_build_cast(&n->b, x, plain), prt_build_cast(&n->b, count, plain) };
    prt_value *y = prt_build_op(&n->b, PRT_OP_bit_shift, &attrs, 2, in);
    y = prt_build_cast(&n->b, y, dtype);
    if (flips)
        y = prt_build_where(&n->b, negative, BINARY(sub, minus, y), y);
    return prt_tf_end_with(n, y);
}

/* ---- bits as another type */

prt_value *prt_tf_sign_bit(prt_tf_call *n, prt_value *x, prt_value *zero)
{
    return BINARY(or, BINARY(less, x, zero), BINARY(less, UNARY(reciprocal, x), zero));
}

/* Types of different sizes change the last axis. */
static poprt_status bitcast_constant(prt_tf_call *n, const prt_tensor *t, int32_t to)
{
    const uint32_t before = prt_dtype_bits(t->dtype), after = prt_dtype_bits(to);
    int64_t dims[PRT_MAX_RANK];
    uint32_t rank = t->rank;
    memcpy(dims, t->dims, rank * sizeof(*dims));
    if (before > after && rank < PRT_MAX_RANK)
        dims[rank++] = (int64_t)(before / after);
    else if (before < after && rank > 0 && dims[rank - 1] == (int64_t)(after / before))
        rank--;
    else if (before != after)
        return prt_tf_refuse(n, "the last axis does not hold one element of the new type");
    return prt_tf_end_with(n, prt_build_tensor(&n->b, to, rank, dims, t->data));
}

enum { EXPONENTS = 256, FRACTION = 1 << 23 }; /* of float32 */

/* Returns a table of scale * 2^(sign * exponent), of the exponents of float32; 0 counts as 1. */
static prt_value *powers(prt_tf_call *n, int sign, int offset)
{
    double table[EXPONENTS];
    const int64_t count = EXPONENTS;
    for (int i = 0; i < EXPONENTS; i++)
        table[i] = ldexp(1, sign * (i > 1 ? i : 1) + offset);
    return prt_build_tensor(&n->b, PRT_DTYPE_f64, 1, &count, table);
}

/* Returns the bits of float32 numbers as int64. The exponent is that of a logarithm in float64,
 * corrected by comparing with its power and the next one. */
static prt_value *bits_of_f32(prt_tf_call *n, prt_value *x)
{
    prt_value *size = prt_build_cast(&n->b, UNARY(abs, x), PRT_DTYPE_f64), *one = I64(1);
    prt_value *finite = BINARY(less, size, NUMBER(size, 0x1p128));
    size = WHERE(finite, size, NUMBER(size, 0));
    prt_value *logarithm = BINARY(div, UNARY(log, size), NUMBER(size, log(2)));
    prt_value *exponent = BINARY(add, UNARY(floor, logarithm), NUMBER(size, 127));
    exponent = BINARY(min, BINARY(max, exponent, NUMBER(size, 0)), NUMBER(size, 254));
    exponent = prt_build_cast(&n->b, exponent, PRT_DTYPE_i64);
    prt_value *lower = powers(n, 1, -127);
    prt_value *above = BINARY(less, size, prt_build_gather(&n->b, lower, exponent, 0));
    prt_value *next = prt_build_gather(&n->b, lower, BINARY(add, exponent, one), 0);
    prt_value *below = UNARY(not, BINARY(less, size, next));
    exponent = BINARY(sub, exponent, prt_build_cast(&n->b, above, PRT_DTYPE_i64));
    exponent = BINARY(add, exponent, prt_build_cast(&n->b, below, PRT_DTYPE_i64));
    exponent = BINARY(max, exponent, I64(0));
    prt_value *scale = prt_build_gather(&n->b, powers(n, -1, 150), exponent, 0);
    prt_value *fraction = prt_build_cast(&n->b, BINARY(mul, size, scale), PRT_DTYPE_i64);
    prt_value *steps = BINARY(sub, BINARY(max, exponent, one), one);
    prt_value *bits = BINARY(add, BINARY(mul, steps, I64(FRACTION)), fraction);
    prt_value *special = WHERE(UNARY(isnan, x), I64(0x7fc00000), I64(0x7f800000));
    bits = WHERE(finite, bits, special);
    prt_value *negative = prt_tf_sign_bit(n, x, NUMBER(x, 0));
    return WHERE(negative, BINARY(add, bits, I64((int64_t)1 << 31)), bits);
}

static prt_value *f32_of_bits(prt_tf_call *n, prt_value *bits)
{
    prt_value *step = I64(FRACTION), *zero = I64(0);
    prt_value *exponent = BINARY(mod, BINARY(div, bits, step), I64(EXPONENTS));
    prt_value *fraction = BINARY(mod, bits, step);
    prt_value *whole = WHERE(BINARY(equal, exponent, zero), fraction, BINARY(add, fraction, step));
    prt_value *scale = prt_build_gather(&n->b, powers(n, 1, -150), exponent, 0);
    prt_value *y = BINARY(mul, prt_build_cast(&n->b, whole, PRT_DTYPE_f64), scale);
    prt_value *special =
        WHERE(BINARY(equal, fraction, zero), NUMBER(y, (double)INFINITY), NUMBER(y, (double)NAN));
    y = WHERE(BINARY(equal, exponent, I64(EXPONENTS - 1)), special, y);
    prt_value *negative = BINARY(less, I64(INT32_MAX), bits);
    return prt_build_cast(&n->b, WHERE(negative, UNARY(neg, y), y), PRT_DTYPE_f32);
}

static bool has_formula(int32_t dtype)
{
    return dtype == PRT_DTYPE_f32 || (prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) <= 32);
}

/* Computes the bits as numbers in int64, and numbers of the other type from them. */
static prt_value *bitcast(prt_tf_call *n, prt_value *x, int32_t to)
{
    static const int64_t last[] = { -1 };
    const int32_t from = prt_tf_dtype(x);
    const uint32_t before = prt_dtype_bits(from), after = prt_dtype_bits(to);
    const uint32_t least = before < after ? before : after;
    int64_t power[4];
    const int64_t count = (before > after ? before : after) / least;
    for (int64_t i = 0; i < count; i++)
        power[i] = (int64_t)1 << (least * (uint32_t)i);
    x = from == PRT_DTYPE_f32
        ? bits_of_f32(n, x)
        : BINARY(mod, prt_build_cast(&n->b, x, PRT_DTYPE_i64), I64((int64_t)1 << before));
    prt_value *places = prt_build_i64s(&n->b, (uint32_t)count, power);
    if (before > after)
        x = BINARY(mod, BINARY(div, prt_build_unsqueeze(&n->b, x, 1, last), places),
            I64((int64_t)1 << after));
    else if (before < after)
        x = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, BINARY(mul, x, places), -1, false);
    return to == PRT_DTYPE_f32 ? f32_of_bits(n, x) : prt_build_cast(&n->b, x, to);
}

/* Integers of one size only change their type. BitCast exists since opset 26, for types of one
 * size; before that numbers of at most 32 bits are computed. The bits of a NaN may differ. */
poprt_status prt_tf_row_bitcast(prt_tf_call *n)
{
    prt_tensor t;
    prt_value *x = prt_tf_in(n, 0);
    const int32_t from = prt_tf_dtype(x), to = prt_tf_attr_dtype(n, "type", PRT_DTYPE_undefined);
    const uint32_t before = prt_dtype_bits(from), after = prt_dtype_bits(to);
    if (x == NULL)
        return prt_tf_end(n);
    if (before == 0 || after == 0 || from == PRT_DTYPE_string || before % 8 != 0 || after % 8 != 0)
        return prt_tf_refuse(n, "the type of the input or output has no bits in ONNX");
    if (prt_tf_constant(n, 0, &t))
        return bitcast_constant(n, &t, to);
    if (before == after && prt_dtype_is_integer(from) && prt_dtype_is_integer(to))
        return prt_tf_end_with(n, prt_build_cast(&n->b, x, to));
    if (before == after && prt_module_opset(n->c->module, PRT_STR("")) >= 26) {
        prt_bit_cast_attrs attrs = PRT_ATTRS_OF(bit_cast);
        PRT_ATTR_SET(attrs, bit_cast, to, to);
        return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_bit_cast, &attrs, 1, &x));
    }
    if (!has_formula(from) || !has_formula(to))
        return prt_tf_refuse(n,
            "the input is computed, and only float32 and integers of at most "
            "32 bits have a formula");
    return prt_tf_end_with(n, bitcast(n, x, to));
}
