/* SPDX-License-Identifier: MIT */
/*
 * downgrade_math.c — downgrades element-wise operators: broadcasting by attributes, newer element
 * types through wider ones, bounds and ratios as attributes, and element types as text.
 */
#include "converter/downgrade.h"
#include "converter/conversions.h"

poprt_status prt_down_selu(prt_downgrade *d)
{
    prt_down_mark_given(d->op, "alpha");
    prt_down_mark_given(d->op, "gamma");
    return POPRT_OK;
}

/* ---- broadcasting before numpy's rules ---- */

static bool is_one(const prt_type *type)
{
    uint64_t count;
    return prt_type_count(type, &count) && count == 1;
}

/* Returns whether the dims of b, apart from leading and trailing ones, are consecutive dims of a,
 * whose rank is at least that of b. Then `*first` and `*last` bound those dims in b, and `*axis` is
 * their position in a. */
static bool is_part(const prt_type *a, const prt_type *b, int32_t *first, int32_t *last,
    int64_t *axis)
{
    *first = 0;
    *last = b->rank;
    while (*first < *last && b->dims[*first] == 1)
        ++*first;
    while (*last > *first && b->dims[*last - 1] == 1)
        --*last;
    *axis = a->rank - b->rank + *first;
    if (a->rank < b->rank)
        return false;
    for (int32_t i = *first; i < *last; i++)
        if (b->dims[i] == PRT_DIM_UNKNOWN || a->dims[*axis + i - *first] != b->dims[i])
            return false;
    return true;
}

static bool is_commutative(uint32_t id)
{
    return (prt_op_of(id)->traits & PRT_COMMUTATIVE) != 0;
}

/* The shape of input 1 must be part of the shape of input 0, which is the result's shape. */
poprt_status prt_down_broadcast(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_type *a = prt_down_ranked(prt_op_input(op, 0));
    const prt_type *b = prt_down_ranked(prt_op_input(op, 1));
    int32_t first, last;
    int64_t axis;
    if (a != NULL && a == b)
        return POPRT_OK;
    if (a == NULL || b == NULL)
        return prt_down_refuse(d,
            "broadcasting takes attributes at that opset, so the ranks must be known");
    if (!is_part(a, b, &first, &last, &axis) && is_commutative(op->def->id) &&
        is_part(b, a, &first, &last, &axis)) {
        prt_value *left = prt_op_input(op, 0);
        prt_op_set_input(op, 0, prt_op_input(op, 1));
        prt_op_set_input(op, 1, left);
        const prt_type *type = a;
        a = b;
        b = type;
    }
    if (!is_part(a, b, &first, &last, &axis))
        return prt_down_refuse(d, "the shapes do not fit the broadcasting rules of that opset");
    if (first > 0 || last < b->rank) {
        prt_build build = prt_build_before(op);
        int64_t dims[PRT_MAX_RANK];
        int64_t open = 0;
        for (int32_t i = first; i < last; i++) {
            dims[i - first] = prt_dim_is_number(b->dims[i]) ? b->dims[i] : -1;
            open += !prt_dim_is_number(b->dims[i]);
        }
        if (open > 1)
            return prt_down_refuse(d, "the shapes must be known");
        prt_value *part =
            prt_down_reshape(&build, prt_op_input(op, 1), (uint32_t)(last - first), dims);
        PRT_TRY(prt_build_status(&build));
        prt_op_set_input(op, 1, part);
    }
    PRT_TRY(prt_down_add_int(d, "broadcast", 1));
    return is_one(b) || first == last ? POPRT_OK : prt_down_add_int(d, "axis", axis);
}

/* The slope must be one number or one number for each channel, with rank 1. */
poprt_status prt_down_prelu(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    const prt_type *slope = prt_down_ranked(prt_op_input(op, 1));
    int32_t first, last;
    int64_t axis = 0;
    if (x == NULL || slope == NULL)
        return prt_down_refuse(d, "the ranks must be known");
    const bool one = is_one(slope);
    if (!one && (!is_part(x, slope, &first, &last, &axis) || axis != 1 || last - first != 1))
        return prt_down_refuse(d,
            "at that opset the slope must be one number or one for each channel");
    if (slope->rank == 1)
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    const int64_t dim = -1;
    prt_value *list = prt_down_reshape(&b, prt_op_input(op, 1), 1, &dim);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, list);
    return POPRT_OK;
}

/* ---- variadic operators whose inputs must have the same shape ---- */

poprt_status prt_down_variadic(prt_downgrade *d)
{
    prt_op *op = d->op;
    bool same = true;
    for (uint32_t i = 0; i < op->n_in; i++)
        same = same && prt_down_ranked(prt_op_input(op, i)) != NULL &&
            prt_op_input(op, i)->type == prt_op_input(op, 0)->type;
    if (same || op->n_in < 2)
        return POPRT_OK;
    if (!prt_op_is(op, PRT_OP_sum) && !prt_op_is(op, PRT_OP_mean))
        return prt_down_refuse(d, "at that opset its inputs must have the same shape");
    prt_build b = prt_build_before(op);
    prt_value *sum = prt_op_input(op, 0);
    for (uint32_t i = 1; i < op->n_in; i++)
        sum = prt_build_binary(&b, PRT_OP_add, sum, prt_op_input(op, i));
    if (prt_op_is(op, PRT_OP_mean))
        sum = prt_build_binary(&b, PRT_OP_div, sum, prt_down_scalar(&b, op->n_in, sum));
    return prt_down_replace(d, &b, sum);
}

/* ---- newer element types ---- */

static bool takes(const prt_downgrade *d, const prt_value *v)
{
    return prt_down_supports(d, d->op->def->name, v);
}

static bool is_small_integer(int32_t dtype)
{
    return prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) < 32;
}

/* Computes integers of 8 and 16 bits in 32 bits, or in floats that can represent all of them. The
 * cast back drops exactly the bits that the original operation would lose. */
poprt_status prt_down_16_bit_floats(prt_downgrade *d)
{
    prt_op *op = d->op;
    const int32_t dtype = prt_down_dtype(prt_op_input(op, 0));
    if (takes(d, prt_op_input(op, 0)) || !prt_dtype_is_integer(dtype) || prt_dtype_bits(dtype) > 32)
        return POPRT_OK; /* the history check reports the reason */
    const bool compares = prt_down_dtype(&op->out[0]) == PRT_DTYPE_bool;
    const int32_t wide = is_small_integer(dtype) && !compares ? PRT_DTYPE_i32 : PRT_DTYPE_f64;
    prt_build b = prt_build_before(op);
    prt_value *y = prt_build_binary(&b, op->def->id, prt_down_cast(&b, prt_op_input(op, 0), wide),
        prt_down_cast(&b, prt_op_input(op, 1), wide));
    return prt_down_replace(d, &b, compares ? y : prt_down_cast(&b, y, dtype));
}

/* Both inputs must have the same type, and must not be integers. */
poprt_status prt_down_pow(prt_downgrade *d)
{
    prt_op *op = d->op;
    const int32_t x = prt_down_dtype(prt_op_input(op, 0)), y = prt_down_dtype(prt_op_input(op, 1));
    const bool fits = takes(d, prt_op_input(op, 0));
    if (fits && x == y)
        return POPRT_OK;
    if (x == PRT_DTYPE_bf16 || y == PRT_DTYPE_undefined || x == PRT_DTYPE_undefined)
        return POPRT_OK;
    const bool wide = !fits || prt_dtype_bits(y) > prt_dtype_bits(x);
    const int32_t both = wide ? PRT_DTYPE_f64 : x;
    prt_build b = prt_build_before(op);
    prt_value *z = prt_build_binary(&b, PRT_OP_pow, prt_down_cast(&b, prt_op_input(op, 0), both),
        prt_down_cast(&b, prt_op_input(op, 1), both));
    return prt_down_replace(d, &b, prt_down_cast(&b, z, x));
}

/* Computes Max or Min of types that the target lacks by comparison and Where. */
poprt_status prt_down_extreme(prt_downgrade *d)
{
    prt_op *op = d->op;
    const uint32_t test = prt_op_is(op, PRT_OP_max) ? PRT_OP_greater : PRT_OP_less;
    if (takes(d, prt_op_input(op, 0)) || !prt_down_supports(d, "Where", NULL))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    prt_value *best = prt_op_input(op, 0);
    for (uint32_t i = 1; i < op->n_in; i++) {
        prt_value *next = prt_op_input(op, i);
        prt_value *in[3] = { prt_build_binary(&b, test, best, next), best, next };
        best = prt_build_op(&b, PRT_OP_where, NULL, 3, in);
    }
    if (op->n_in == 1)
        best = prt_build_unary(&b, PRT_OP_identity, best);
    return prt_down_replace(d, &b, best);
}

/* Clips by Max and Min, which are downgraded by their own rows. */
static poprt_status clip_by_min_max(prt_downgrade *d, prt_value *least, prt_value *most)
{
    prt_op *op = d->op;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0);
    if (least != NULL)
        x = prt_build_binary(&b, PRT_OP_max, x, least);
    if (most != NULL)
        x = prt_build_binary(&b, PRT_OP_min, x, most);
    if (least == NULL && most == NULL)
        x = prt_build_unary(&b, PRT_OP_identity, x);
    return prt_down_replace(d, &b, x);
}

poprt_status prt_down_relu(prt_downgrade *d)
{
    prt_op *op = d->op;
    if (takes(d, prt_op_input(op, 0)))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    prt_value *zero = prt_down_scalar(&b, 0, prt_op_input(op, 0));
    PRT_TRY(prt_build_status(&b));
    return clip_by_min_max(d, zero, NULL);
}

poprt_status prt_down_clip_type(prt_downgrade *d)
{
    if (takes(d, prt_op_input(d->op, 0)))
        return POPRT_OK;
    return clip_by_min_max(d, prt_op_input(d->op, 1), prt_op_input(d->op, 2));
}

poprt_status prt_down_clip_bounds(prt_downgrade *d)
{
    static const char *const names[2] = { "min", "max" };
    prt_op *op = d->op;
    double bounds[2];
    for (uint32_t i = 0; i < 2; i++)
        if (prt_op_input(op, i + 1) != NULL &&
            !prt_down_number(prt_op_input(op, i + 1), &bounds[i]))
            return clip_by_min_max(d, prt_op_input(op, 1), prt_op_input(op, 2));
    for (uint32_t i = 0; i < 2; i++)
        if (prt_op_input(op, i + 1) != NULL)
            PRT_TRY(prt_down_add_float(d, names[i], (float)bounds[i]));
    prt_down_keep_inputs(op, 1);
    return POPRT_OK;
}

/* ---- Cast, Dropout ---- */

poprt_status prt_down_cast_name(prt_downgrade *d)
{
    static const struct {
        int32_t dtype;
        const char *name;
    } names[] = { { PRT_DTYPE_f32, "FLOAT" }, { PRT_DTYPE_u8, "UINT8" }, { PRT_DTYPE_i8, "INT8" },
        { PRT_DTYPE_u16, "UINT16" }, { PRT_DTYPE_i16, "INT16" }, { PRT_DTYPE_i32, "INT32" },
        { PRT_DTYPE_i64, "INT64" }, { PRT_DTYPE_bool, "BOOL" }, { PRT_DTYPE_f16, "FLOAT16" },
        { PRT_DTYPE_f64, "DOUBLE" }, { PRT_DTYPE_u32, "UINT32" }, { PRT_DTYPE_u64, "UINT64" } };
    const int64_t to = ((const prt_cast_attrs *)d->op->attrs)->to;
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (names[i].dtype == to) {
            prt_down_reset_attr(d->op, "to");
            return prt_down_add_text(d, "to", names[i].name);
        }
    return prt_down_refuse(d, "the element type does not exist at that opset");
}

/* Replaces the mask by ones, because nothing is dropped. Not all implementations of these versions
 * return such a mask. */
static poprt_status replace_mask(prt_downgrade *d)
{
    prt_op *op = d->op;
    if (op->n_out < 2)
        return POPRT_OK;
    prt_value *mask = &op->out[1];
    prt_build b = prt_build_before(op);
    if (prt_value_used(mask)) {
        const prt_tensor yes = { .kind = PRT_VALUE_TENSOR,
            .dtype = PRT_DTYPE_bool,
            .rank = 1,
            .dims = { 1 },
            .data = (unsigned char[]){ 1 },
            .size = 1 };
        const prt_constant_of_shape_attrs attrs = { .value = &yes };
        prt_value *shape = prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, 0));
        prt_value *all = prt_build_op(&b, PRT_OP_constant_of_shape, &attrs, 1, &shape);
        prt_build_replace_uses(&b, mask, all);
        PRT_TRY(prt_build_status(&b));
    }
    op->n_out = 1;
    return POPRT_OK;
}

poprt_status prt_down_dropout(prt_downgrade *d)
{
    prt_op *op = d->op;
    double ratio = 0.5, training = 0;
    if (prt_op_input(op, 2) != NULL &&
        (!prt_down_number(prt_op_input(op, 2), &training) || training != 0))
        return prt_down_refuse(d, "training mode does not exist at that opset");
    /* In inference nothing is dropped, so ratio and seed have no effect. */
    (void)prt_down_number(prt_op_input(op, 1), &ratio);
    prt_down_reset_attr(op, "seed");
    prt_down_keep_inputs(op, 1);
    PRT_TRY(prt_down_add_float(d, "ratio", (float)ratio));
    return replace_mask(d);
}

poprt_status prt_down_dropout_test(prt_downgrade *d)
{
    return prt_down_add_int(d, "is_test", 1);
}

/* Derives the remainder with the sign of the divisor from the one with the sign of the dividend:
 * adds the divisor if both are nonzero and have different signs. The result is exact. ONNX Runtime
 * cannot compare 16-bit floats, so these are computed in float32 without changing the result. */
poprt_status prt_down_mod(prt_downgrade *d)
{
    prt_op *op = d->op;
    const int32_t dtype = prt_down_dtype(prt_op_input(op, 0));
    const prt_mod_attrs fmod = { .present = 1, .fmod = 1 };
    if (((const prt_mod_attrs *)op->attrs)->fmod != 0 || !prt_dtype_is_float(dtype))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    const bool is_16_bit = dtype == PRT_DTYPE_f16 || dtype == PRT_DTYPE_bf16;
    const int32_t wide = is_16_bit ? (int32_t)PRT_DTYPE_f32 : dtype;
    prt_value *in[2] = { prt_down_cast(&b, op->in[0].value, wide),
        prt_down_cast(&b, op->in[1].value, wide) };
    prt_value *rest = prt_build_op(&b, PRT_OP_mod, &fmod, 2, in);
    prt_value *zero = prt_down_scalar(&b, 0, in[0]), *y = in[1];
    prt_value *low = prt_build_binary(&b, PRT_OP_and, prt_build_binary(&b, PRT_OP_less, rest, zero),
        prt_build_binary(&b, PRT_OP_greater, y, zero));
    prt_value *high =
        prt_build_binary(&b, PRT_OP_and, prt_build_binary(&b, PRT_OP_greater, rest, zero),
            prt_build_binary(&b, PRT_OP_less, y, zero));
    prt_value *choice[3] = { prt_build_binary(&b, PRT_OP_or, low, high),
        prt_build_binary(&b, PRT_OP_add, rest, y), rest };
    prt_value *out = prt_build_op(&b, PRT_OP_where, NULL, 3, choice);
    return prt_down_replace(d, &b, prt_down_cast(&b, out, dtype));
}
