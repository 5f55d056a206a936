/* SPDX-License-Identifier: MIT */
/* test_content.c — partially known contents: limits of types, hostile numbers, rounding of
 * sizes.
 * Covers: content_eval.c, infer.c. */
#include "op/content.h"

#include "support/check_main.h"
#include "support/op_check.h"

/* These numbers lie in the range that encodes dims as expressions. */
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

START_TEST(values_beyond_their_type_are_unknown)
{
    ck_content("x = input f32[2000000000,6]\ns = shape x\ni = cast s {to=6}\ny = add i i\n"
               "return y\n",
        "? 12");
    ck_content("x = input f32[16777217,6]\ns = shape x\ny = cast s {to=1}\nreturn y\n", "? 6");
    ck_content("x = input f32[16777217,6]\ns = shape x\ny = cast s {to=11}\nreturn y\n",
        "16777217 6");
    ck_content("x = input f32[3,6]\ns = shape x\ny = cast s {to=3}\nreturn y\n", "");
    ck_content("x = input f32[n,6]\ns = shape x\ny = cast s {to=9}\nreturn y\n", "min(n, 1) 1");
}
END_TEST

/* y = ROUND(sizes as floats OP constant) as integers again */
#define ROUNDED(type, op, constant, round)                                                         \
    "x = input f32[" type "]\ns = shape x\nf = cast s {to=1}\n"                                    \
    "k = const f32[] {" constant "}\ng = " op " f k\nh = " round                                   \
    " g\ny = cast h {to=7}\nreturn y\n"

START_TEST(ratios_are_rounded)
{
    ck_content(ROUNDED("n,7", "div", "2", "ceil"), "((n+1)/2) 4");
    ck_content(ROUNDED("n,7", "div", "3", "floor"), "(n/3) 2");
    ck_content(ROUNDED("n,7", "div", "3", "identity"), "(n/3) 2");
    ck_content(ROUNDED("n,7", "mul", "0.75", "floor"), "((3*n)/4) 5");
    ck_content(ROUNDED("n,7", "mul", "0.3", "floor"), "");
    ck_content(ROUNDED("n,7", "add", "0.5", "floor"), "n 7");
    ck_content(ROUNDED("n,7", "div", "2", "round"), "");
    ck_content(ROUNDED("n,7", "sub", "2.5", "identity"), "? 4");
    /* The product of a third in float and 3 is unknown. */
    ck_content("x = input f32[n]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {3}\n"
               "g = div f k\nh = mul g k\ni = floor h\ny = cast i {to=7}\nreturn y\n",
        "");
    ck_content("x = input f32[n]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {4}\n"
               "g = div f k\nh = mul g k\ni = floor h\ny = cast i {to=7}\nreturn y\n",
        "n");
}
END_TEST

START_TEST(float_division_is_exact_or_a_ratio)
{
    ck_content("x = input f32[7,6]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {2}\n"
               "y = div f k\nreturn y\n",
        "ratio(7, 2) 3");
    ck_content("x = input f32[7,6]\ns = shape x\nf = cast s {to=1}\nk = const f32[] {0.5}\n"
               "y = mul f k\nreturn y\n",
        "ratio(7, 2) 3");
}
END_TEST

/* How torch exports pads: pairs per axis from the last one, reversed and transposed. */
START_TEST(moved_sizes_stay_known)
{
    ck_content("x = input f32[n,6]\ns = shape x\nz = const i64[2] {0,1}\n"
               "c = concat s z {axis=0}\nt = const i64[2] {-1,2}\nm = reshape c t\n"
               "b = const i64[1] {-1}\ne = const i64[1] {-9223372036854775807}\n"
               "a = const i64[1] {0}\nr = slice m b e a b\np = transpose r {perm=[1,0]}\n"
               "f = const i64[1] {-1}\ny = reshape p f\nreturn y\n",
        "0 n 1 6");
    ck_content("x = input f32[n,6]\ns = shape x\np = const i64[2] {1,2}\nv = const i64[] {7}\n"
               "y = pad s p v\nreturn y\n",
        "7 n 6 7 7");
    ck_content("x = input f32[n,m]\ns = shape x\ni = const i64[1,1] {1}\nu = const i64[1] {5}\n"
               "y = scatter_nd s i u\nreturn y\n",
        "n 5");
    ck_content("x = input f32[n,m]\ns = shape x\ni = const i64[1,1] {1}\nu = const i64[1] {5}\n"
               "y = scatter_nd s i u {reduction=add}\nreturn y\n",
        "");
    ck_content("x = input f32[n,m]\ns = shape x\nk = const i64[2,1] {1,2}\ny = mul s k\n"
               "return y\n",
        "n m (2*n) (2*m)");
}
END_TEST

/* All inputs are known, so the kernel computes the result. */
START_TEST(known_numbers_are_computed)
{
    ck_content("x = input f32[3,n,0]\ns = shape x {start=0,end=1}\nz = const i64[] {0}\n"
               "y = cumsum s z\nreturn y\n",
        "3");
    ck_type("x = input f32[3,0,2]\ns = shape x\ny = nonzero s\nreturn y\n", "i64[1,2]");
    ck_content("x = input f32[3,0,2]\ns = shape x\ny = nonzero s\nreturn y\n", "0 2");
    ck_content("x = input f32[3,0,2]\ns = shape x\nk = const i64[1] {2}\n"
               "v, i = topk s k\nreturn i\n",
        "0 2");
    ck_type("x = input f32[n,0,2]\ns = shape x\ny = nonzero s\nreturn y\n", "i64[1,?]");
}
END_TEST

/* Comparisons are 0 or 1, and a choice by a comparison is a formula. */
START_TEST(comparisons_are_expressions)
{
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {4}\nc = greater s k\n"
               "y = where c k s\nreturn y\n",
        "((n+(4*min(max((n-4), 0), 1)))-(n*min(max((n-4), 0), 1))) 4");
    ck_content("x = input f32[n,m]\ns = shape x\nz = const i64[] {0}\nc = equal s z\n"
               "y = not c\nreturn y\n",
        "min(n, 1) min(m, 1)");
    ck_content("x = input f32[n,6]\ns = shape x\nz = const i64[] {0}\nb = cast s {to=9}\n"
               "t = const bool[2] {1,1}\ny = and b t\nreturn y\n",
        "min(n, 1) 1");
}
END_TEST

/* Functions of floats that keep the shape do not keep the contents. */
START_TEST(other_float_functions_give_unknown)
{
    ck_content("x = input f32[3,6]\ns = shape x\nf = cast s {to=1}\ny = softmax f\nreturn y\n", "");
    ck_content("x = input f32[3,6]\ns = shape x\nf = cast s {to=1}\ny = exp f\nreturn y\n", "");
}
END_TEST

/* Truncation differs from the floor of a difference that may be negative. */
START_TEST(negative_quotients_round_up)
{
    ck_content("x = input f32[n]\ns = shape x\nk = const i64[] {-8}\nt = const i64[] {4}\n"
               "d = mul s k\ny = div d t\nreturn y\n",
        "(-2*n)");
}
END_TEST

START_TEST(signs_of_expressions_are_found)
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

PRT_TEST_MAIN("op/content", huge_numbers_are_unknown, values_beyond_their_type_are_unknown,
    ratios_are_rounded, float_division_is_exact_or_a_ratio, other_float_functions_give_unknown,
    moved_sizes_stay_known, known_numbers_are_computed, comparisons_are_expressions,
    negative_quotients_round_up, signs_of_expressions_are_found)
