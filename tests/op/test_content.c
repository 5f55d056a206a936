/* SPDX-License-Identifier: MIT */
/* test_content.c — partial contents: what types can carry, hostile numbers, rounding of sizes. */
#include "op/content.h"

#include "support/check_main.h"
#include "support/op_check.h"

/* Such numbers lie where dims are expressions. */
START_TEST(huge_numbers_are_unknown)
{
    ck_content("x = input f32[n,6]\ns = shape x\n"
               "k = const i64[2] {-9223372036854775808,-4611686018427387904}\ny = add s k\n"
               "return y\n",
        "");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[2] {1,-4611686018427387905}\n"
               "y = mul s k\nreturn y\n",
        "n ?");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {4611686018427387903}\n"
               "y = mul s k\nreturn y\n",
        "(4611686018427387903*n) ?");
}
END_TEST

START_TEST(types_have_limits)
{
    ck_content("x = input f32[2000000000,6]\ns = shape x\ni = cast s {to=6}\ny = add i i\n"
               "return y\n",
        "? 12");
    ck_content("x = input f32[16777217,6]\ns = shape x\ny = cast s {to=1}\nreturn y\n", "? 6");
    ck_content("x = input f32[16777217,6]\ns = shape x\ny = cast s {to=11}\nreturn y\n",
        "16777217 6");
    ck_content("x = input f32[3,6]\ns = shape x\ny = cast s {to=3}\nreturn y\n", "");
    ck_content("x = input f32[n,6]\ns = shape x\ny = cast s {to=9}\nreturn y\n", "? 1");
}
END_TEST

START_TEST(float_division_is_exact_or_unknown)
{
    ck_content("x = input f32[7,6]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {2}\n"
               "y = div f k\nreturn y\n",
        "? 3");
    ck_content("x = input f32[7,6]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {0.5}\n"
               "y = mul f k\nreturn y\n",
        "");
}
END_TEST

/* Functions of floats that keep the shape do not keep the numbers. */
START_TEST(other_functions_forget_floats)
{
    ck_content("x = input f32[3,6]\ns = shape x\nf = cast s {to=1}\ny = softmax f\nreturn y\n",
        "");
    ck_content("x = input f32[3,6]\ns = shape x\nf = cast s {to=1}\ny = exp f\nreturn y\n", "");
}
END_TEST

/* Truncation is not the floor of a difference that may be negative. */
START_TEST(negative_quotients_round_up)
{
    ck_content("x = input f32[n]\ns = shape x\nk = const i64[] {-8}\nt = const i64[] {4}\n"
               "d = mul s k\ny = div d t\nreturn y\n",
        "(-2*n)");
}
END_TEST

START_TEST(signs_are_shown)
{
    prt_arena *arena = NULL;
    prt_dims *dims = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_dims_create(arena, &dims), POPRT_OK);
    const int64_t n = prt_dim_symbol(dims, PRT_STR("n"));
    ck_assert(prt_dim_never_negative(dims, n));
    ck_assert(prt_dim_never_negative(dims, 0));
    ck_assert(!prt_dim_never_negative(dims, -1));
    ck_assert(!prt_dim_never_negative(dims, PRT_DIM_UNKNOWN));
    ck_assert(prt_dim_never_negative(dims, prt_dim_add(dims, n, 3)));
    ck_assert(!prt_dim_never_negative(dims, prt_dim_sub(dims, n, 3)));
    ck_assert(!prt_dim_never_negative(dims, prt_dim_mul(dims, n, -1)));
    ck_assert(prt_dim_never_negative(dims, prt_dim_max(dims, prt_dim_sub(dims, n, 3), 0)));
    ck_assert(prt_dim_never_negative(dims, prt_dim_floordiv(dims, n, 2)));
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("op/content", huge_numbers_are_unknown, types_have_limits,
    float_division_is_exact_or_unknown, other_functions_forget_floats, negative_quotients_round_up,
    signs_are_shown)
