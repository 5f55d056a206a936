/* SPDX-License-Identifier: MIT */
/*
 * bitwise.c — And, Or, Xor on bool; BitwiseAnd, BitwiseOr, BitwiseXor and BitShift on integers.
 */
#include "op/share/broadcast.h"
#include "op/content.h"

/* Signed and unsigned types have the same loop: the operation does not depend on the sign. */
#define BITS(name, expr)                                                                           \
    static bool name##_u64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y)            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = (expr);                                                                         \
        return true;                                                                               \
    }                                                                                              \
    static bool name##_i64(size_t n, const int64_t *a, const int64_t *b, int64_t *y)               \
    {                                                                                              \
        return name##_u64(n, (const uint64_t *)a, (const uint64_t *)b, (uint64_t *)y);             \
    }

BITS(and, a[i] & b[i])
BITS(or, a[i] | b[i])
BITS(xor, a[i] ^ b[i])

static bool numbers(const int64_t *in)
{
    return prt_dim_is_number(in[0]) && prt_dim_is_number(in[1]);
}

/* If one operand is zero, the result is zero, even if the other is not known. Bool expressions
 * are 0 or 1. */
static int64_t known_and(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    if (in[0] == 0 || in[1] == 0)
        return 0;
    if (c->in[0].dtype == PRT_DTYPE_bool)
        return prt_dim_min(c->dims, in[0], in[1]);
    return numbers(in) ? in[0] & in[1] : PRT_DIM_UNKNOWN;
}

static int64_t known_or(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    const bool truth = c->in[0].dtype == PRT_DTYPE_bool;
    if (truth && (in[0] == 1 || in[1] == 1))
        return 1;
    if (truth)
        return prt_dim_max(c->dims, in[0], in[1]);
    return numbers(in) ? in[0] | in[1] : PRT_DIM_UNKNOWN;
}

static int64_t known_xor(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    if (c->in[0].dtype == PRT_DTYPE_bool)
        return prt_known_is_true(c->dims, prt_dim_sub(c->dims, in[0], in[1]));
    return numbers(in) ? in[0] ^ in[1] : PRT_DIM_UNKNOWN;
}

#define LOGIC(id, fn)                                                                              \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        PRT_TRY(prt_infer_nary(c));                                                                \
        return prt_known_map(c, known_##fn);                                                       \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return prt_eval_binary(c, &(prt_binary_fns){ NULL, fn##_i64, fn##_u64 });                  \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

LOGIC(and, and)
LOGIC(or, or)
LOGIC(xor, xor)
LOGIC(bitwise_and, and)
LOGIC(bitwise_or, or)
LOGIC(bitwise_xor, xor)

static poprt_status infer_bit_shift(prt_infer *c)
{
    const prt_bit_shift_attrs *a = c->attrs;
    if (!prt_str_is(a->direction, "LEFT") && !prt_str_is(a->direction, "RIGHT"))
        return prt_infer_fail(c, POPRT_E_PARSE, "direction is \"%.*s\"; accepted: LEFT, RIGHT",
            PRT_STR_ARG(a->direction));
    return prt_infer_nary(c);
}

/* Shifts one element of `bits` bits. A shift amount outside [0, bits) shifts all bits out. A
 * right shift of a signed number fills with the sign bit, every other shift fills with zeros. */
static int64_t shifted(int64_t x, int64_t by, bool no_sign, uint32_t bits, bool left)
{
    const bool out = no_sign ? (uint64_t)by >= bits : by < 0 || by >= (int64_t)bits;
    if (left || no_sign) {
        if (out)
            return 0;
        return (int64_t)(left ? (uint64_t)x << by : (uint64_t)x >> by);
    }
    const int64_t most = out ? 63 : by;
    return x < 0 ? ~(~x >> most) : x >> most;
}

static poprt_status eval_bit_shift(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const prt_bit_shift_attrs *attrs = c->attrs;
    const int32_t dtype = c->in[0]->dtype;
    const bool no_sign = prt_dtype_is_unsigned(dtype);
    const bool left = prt_str_is(attrs->direction, "LEFT");
    const uint32_t bits = prt_dtype_bits(dtype);
    int64_t x[PRT_RUN], by[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 2, c->in);
    while (prt_rows_next(&r)) {
        prt_read_i64(dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        prt_read_i64(dtype, c->in[1]->data, r.from[1], r.step[1], r.count, by);
        for (size_t i = 0; i < r.count; i++)
            x[i] = shifted(x[i], by[i], no_sign, bits, left);
        prt_write_i64(dtype, c->out[0]->data, r.to, r.count, x);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_bit_shift = { .infer = infer_bit_shift, .eval = eval_bit_shift };
