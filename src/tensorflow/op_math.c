/* SPDX-License-Identifier: MIT */
/* op_math.c — element-wise operators. */
#include "num/dtype.h"
#include "tensorflow/special.h"
#include "tensorflow/strings.h"

#define NUMBER(like, value) prt_build_number(&n->b, like, value)

/* Returns -x if x, or the first factor of x, ends with a Neg that can be left out; otherwise
 * NULL. */
static prt_value *without_neg(prt_tf_call *n, const prt_value *x)
{
    const prt_op *op = x != NULL ? x->def : NULL;
    if (op == NULL)
        return NULL;
    if (prt_op_is(op, PRT_OP_neg))
        return prt_op_input(op, 0);
    if (!prt_op_is(op, PRT_OP_mul) && !prt_op_is(op, PRT_OP_div))
        return NULL;
    const prt_op *factor = prt_op_input(op, 0)->def;
    return factor != NULL && prt_op_is(factor, PRT_OP_neg)
        ? prt_build_binary(&n->b, op->def->id, prt_op_input(factor, 0), prt_op_input(op, 1))
        : NULL;
}

/* Keras adds (-mean) scale + offset in its normalisations: the passes know offset - mean scale. */
static prt_value *difference(prt_tf_call *n, prt_value *const in[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *minus = without_neg(n, in[i]);
        if (minus != NULL)
            return BINARY(sub, in[1 - i], minus);
    }
    return NULL;
}

/* The operator of the row with the same inputs and the defaults of its attributes. Strings are
 * added by concatenation. */
poprt_status prt_tf_row_same(prt_tf_call *n)
{
    prt_value *in[4] = { NULL };
    const uint32_t id = n->node->row->id;
    if (n->n_in == 0 || n->n_in > PRT_COUNT_OF(in))
        return prt_tf_refuse(n, "%u inputs are too %s", n->n_in, n->n_in == 0 ? "few" : "many");
    for (uint32_t i = 0; i < n->n_in; i++)
        if ((in[i] = prt_tf_in(n, i)) == NULL)
            return prt_tf_end(n);
    if (id == PRT_OP_add && n->n_in == 2 && prt_tf_dtype(in[0]) == PRT_DTYPE_string)
        return prt_tf_end_with(n, prt_tf_concat_strings(n, in[0], in[1]));
    prt_value *y = id == PRT_OP_add && n->n_in == 2 ? difference(n, in) : NULL;
    if (y != NULL)
        return prt_tf_end_with(n, y);
    return prt_tf_end_with(n, prt_build_op(&n->b, id, NULL, n->n_in, in));
}

/* Integers are whole already. */
poprt_status prt_tf_row_round(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, prt_dtype_is_integer(prt_tf_dtype(x)) ? x : UNARY(round, x));
}

/* ---- comparisons */

/* Returns whether two shapes certainly do not broadcast to each other. */
static bool shapes_clash(const prt_value *x, const prt_value *y)
{
    const int32_t rx = prt_tf_rank(x), ry = prt_tf_rank(y);
    for (int32_t i = 1; i <= rx && i <= ry; i++) {
        const int64_t a = x->type->dims[rx - i], b = y->type->dims[ry - i];
        if (prt_dim_is_number(a) && prt_dim_is_number(b) && a != b && a != 1 && b != 1)
            return true;
    }
    return false;
}

poprt_status prt_tf_row_equal(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *y = prt_tf_in(n, 1);
    const bool negated = n->node->row->id == PRT_OP_not;
    if (!prt_tf_attr_bool(n, "incompatible_shape_error", true) && shapes_clash(x, y))
        return prt_tf_end_with(n, prt_build_scalar(&n->b, PRT_DTYPE_bool, negated));
    prt_value *equal = prt_tf_equal(n, x, y);
    return prt_tf_end_with(n, negated ? UNARY(not, equal) : equal);
}

poprt_status prt_tf_row_approximate_equal(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const double tolerance = (double)prt_tf_attr_f32(n, "tolerance", 1e-5F);
    prt_value *distance = UNARY(abs, BINARY(sub, x, prt_tf_in(n, 1)));
    return prt_tf_end_with(n, BINARY(less, distance, NUMBER(x, tolerance)));
}

poprt_status prt_tf_row_is_finite(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, UNARY(not, BINARY(or, UNARY(isnan, x), UNARY(isinf, x))));
}

/* ---- formulas */

poprt_status prt_tf_row_rsqrt(prt_tf_call *n)
{
    return prt_tf_end_with(n, UNARY(reciprocal, UNARY(sqrt, prt_tf_in(n, 0))));
}

poprt_status prt_tf_row_square(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, BINARY(mul, x, x));
}

poprt_status prt_tf_row_squared_difference(prt_tf_call *n)
{
    prt_value *d = BINARY(sub, prt_tf_in(n, 0), prt_tf_in(n, 1));
    return prt_tf_end_with(n, BINARY(mul, d, d));
}

poprt_status prt_tf_row_expm1(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, BINARY(sub, UNARY(exp, x), NUMBER(x, 1)));
}

poprt_status prt_tf_row_log1p(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_tf_end_with(n, UNARY(log, BINARY(add, x, NUMBER(x, 1))));
}

/* 1 - Erf(x), as 1 + Erf(-x): Gelu is x Erfc(-x / sqrt(2)) / 2 in TensorFlow, and known to the
 * passes with a sum. */
poprt_status prt_tf_row_erfc(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *negated = without_neg(n, x);
    return prt_tf_end_with(n,
        BINARY(add, NUMBER(x, 1), UNARY(erf, negated != NULL ? negated : UNARY(neg, x))));
}

poprt_status prt_tf_row_relu6(prt_tf_call *n)
{
    return prt_tf_end_with(n, prt_build_clip(&n->b, prt_tf_in(n, 0), 0, 6));
}

poprt_status prt_tf_row_leaky_relu(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_leaky_relu_attrs attrs = PRT_ATTRS_OF(leaky_relu);
    PRT_ATTR_SET(attrs, leaky_relu, alpha, prt_tf_attr_f32(n, "alpha", 0.2F));
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_leaky_relu, &attrs, 1, &x));
}

/* Returns whether no element of an integer tensor is negative, as far as contents are known. */
static bool never_negative(prt_tf_call *n, const prt_value *v)
{
    int64_t values[PRT_CONTENT_MAX];
    uint32_t count;
    if (prt_dtype_of(prt_tf_dtype(v))->kind == PRT_KIND_uint)
        return true;
    bool known = prt_tf_value_ints(n, v, PRT_CONTENT_MAX, values, &count);
    for (uint32_t i = 0; known && i < count; i++)
        known = prt_dim_never_negative(n->c->module->dims, values[i]);
    return known;
}

/* The quotient of integers is truncated; it is one too large where there is a remainder and the
 * signs differ. */
poprt_status prt_tf_row_floor_div(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *y = prt_tf_in(n, 1);
    prt_value *q = BINARY(div, x, y);
    if (prt_dtype_is_float(prt_tf_dtype(x)))
        return prt_tf_end_with(n, UNARY(floor, q));
    if (never_negative(n, x) && never_negative(n, y))
        return prt_tf_end_with(n, q);
    prt_value *exact = BINARY(equal, BINARY(mul, q, y), x);
    prt_value *zero = NUMBER(x, 0);
    prt_value *opposite = BINARY(xor, BINARY(less, x, zero), BINARY(less, y, zero));
    prt_value *excess = BINARY(and, opposite, UNARY(not, exact));
    return prt_tf_end_with(n, BINARY(sub, q, prt_build_cast_as(&n->b, excess, x)));
}

/* FloorMod has the sign of the divisor, the others have that of the dividend. */
poprt_status prt_tf_row_remainder(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), prt_tf_in(n, 1) };
    prt_mod_attrs attrs = PRT_ATTRS_OF(mod);
    if (n->node->row->id == PRT_OP_mod)
        PRT_ATTR_SET(attrs, mod, fmod, 1);
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_mod, &attrs, 2, in));
}

/* x op y, but 0 where y is 0. */
poprt_status prt_tf_row_no_nan(prt_tf_call *n)
{
    prt_value *y = prt_tf_in(n, 1), *zero = NUMBER(y, 0);
    prt_value *z = prt_build_binary(&n->b, n->node->row->id, prt_tf_in(n, 0), y);
    return prt_tf_end_with(n, prt_build_where(&n->b, BINARY(equal, y, zero), zero, z));
}

/* x / y, x log y or x log(1 + y), but 0 where x is 0. */
poprt_status prt_tf_row_zero_times(prt_tf_call *n)
{
    const uint32_t id = n->node->row->id;
    prt_value *x = prt_tf_in(n, 0), *y = prt_tf_in(n, 1), *zero = NUMBER(x, 0);
    if (id != PRT_OP_div)
        y = UNARY(log, id == PRT_OP_log ? y : BINARY(add, y, NUMBER(x, 1)));
    prt_value *z = id == PRT_OP_div ? BINARY(div, x, y) : BINARY(mul, x, y);
    return prt_tf_end_with(n, prt_build_where(&n->b, BINARY(equal, x, zero), zero, z));
}

/* Atan(y / x), or y where that is zero, and half a turn more where x is negative. */
poprt_status prt_tf_row_atan2(prt_tf_call *n)
{
    prt_value *y = prt_tf_in(n, 0), *x = prt_tf_in(n, 1), *zero = NUMBER(y, 0);
    prt_value *angle =
        prt_build_where(&n->b, BINARY(equal, y, zero), y, UNARY(atan, BINARY(div, y, x)));
    const double pi = 3.14159265358979323846;
    prt_value *half =
        prt_build_where(&n->b, prt_tf_sign_bit(n, y, zero), NUMBER(y, -pi), NUMBER(y, pi));
    half = prt_build_where(&n->b, prt_tf_sign_bit(n, x, zero), half, zero);
    return prt_tf_end_with(n, BINARY(add, angle, half));
}

/* ---- sums, bounds, choices, types */

poprt_status prt_tf_row_add_n(prt_tf_call *n)
{
    prt_value *sum = prt_tf_in(n, 0);
    for (uint32_t i = 1; i < n->n_in; i++)
        sum = BINARY(add, sum, prt_tf_in(n, i));
    return prt_tf_end_with(n, sum);
}

poprt_status prt_tf_row_clip_by_value(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), prt_tf_in(n, 1), prt_tf_in(n, 2) };
    if (prt_tf_rank(in[1]) == 0 && prt_tf_rank(in[2]) == 0)
        return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_clip, NULL, 3, in));
    return prt_tf_end_with(n, BINARY(max, BINARY(min, in[0], in[2]), in[1]));
}

/* A condition of lower rank chooses among the first axes: it gets axes of 1 at its end. */
poprt_status prt_tf_row_select(prt_tf_call *n)
{
    prt_value *test = prt_tf_in(n, 0), *x = prt_tf_in(n, 1), *y = prt_tf_in(n, 2);
    const int32_t rank = prt_tf_rank(test), wanted = prt_tf_rank(x);
    if (rank > 0 && wanted > rank) {
        int64_t axes[PRT_MAX_RANK];
        for (int32_t i = rank; i < wanted; i++)
            axes[i - rank] = i;
        test = prt_build_unsqueeze(&n->b, test, (uint32_t)(wanted - rank), axes);
    } else if (rank < 0 || (rank != 0 && rank != wanted)) {
        prt_value *shape = prt_build_shape(&n->b, test);
        prt_value *more = BINARY(sub, UNARY(shape, prt_build_shape(&n->b, x)), UNARY(shape, shape));
        prt_value *parts[] = { shape, prt_build_expand(&n->b, prt_build_i64(&n->b, 1), more) };
        test = prt_build_reshape_to(&n->b, test, prt_build_concat(&n->b, 0, 2, parts));
    }
    return prt_tf_end_with(n, prt_build_where(&n->b, test, x, y));
}

poprt_status prt_tf_row_cast(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t from = prt_tf_dtype(x), to = prt_tf_attr_dtype(n, "DstT", PRT_DTYPE_undefined);
    if (to == PRT_DTYPE_undefined)
        return prt_tf_refuse(n, "the type that it casts to does not exist in ONNX");
    if (prt_tf_attr_bool(n, "Truncate", false) && prt_dtype_is_float(from) &&
        prt_dtype_is_float(to) && prt_dtype_bits(to) < prt_dtype_bits(from))
        return prt_tf_refuse(n, "it rounds toward zero (Truncate)");
    return prt_tf_end_with(n, prt_build_cast(&n->b, x, to));
}
