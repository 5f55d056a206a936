/* SPDX-License-Identifier: MIT */
/* test_after_opset11.c — operators that opset 11 does not have. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define REGION(type, then)                                                                         \
    "q = input bool[]\nx = input " type "\nr = if q {\n  then_branch { " then "; return t }\n"     \
    "  else_branch { return x }\n}\nreturn r\n"

START_TEST(cast_like_becomes_cast)
{
    static const char *const pass = "replace_castlike";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\nz = input f16[?]\ny = cast_like x z {saturate=0} @c\nreturn y\n",
        "x = input f32[n]\nz = input f16[?]\ny = cast x {saturate=0,to=10} @c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nz = \"other.Op\" x\ny = cast_like x z\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[2]\ny = cast x {to=10}\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,5]\nz = input i8[1]\ny = cast_like x z\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results(REGION("f32[4]", "s = cast_like x q; t = cast_like s x"), pass, 0);
}
END_TEST

START_TEST(celu_becomes_elu)
{
    static const char *const pass = "replace_celu";
    assert_pass_rewrites(pass, NULL, "x = input f16[n]\ny = celu x\nreturn y\n",
        "x = input f16[n]\ny = elu x\nreturn y\n");
    assert_pass_rewrites(pass, NULL, "x = input f32[n]\ny = celu x {alpha=2} @c\nreturn y\n",
        "x = input f32[n]\n%0 = const f32[] {2}\n%1 = div x %0 @c\n%2 = elu %1 @c\n"
        "y = mul %2 %0 @c\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,50]\ny = celu x {alpha=0.75}\nreturn y\n", pass,
        3e-7);
    assert_pass_keeps_results("x = input f64[3,50]\ny = celu x\nreturn y\n", pass, 0);
    assert_pass_keeps_results(REGION("f32[4]", "t = celu x {alpha=3}"), pass, 3e-7);
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = celu x {alpha=0}\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = celu x {alpha=-2}\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = elu x\nreturn y\n");
}
END_TEST

START_TEST(clip_gets_explicit_bounds)
{
    static const char *const pass = "replace_clip_empty_inputs";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\nm = const f32[] {2}\ny = clip x _ m @c\nreturn y\n",
        "x = input f32[n]\nm = const f32[] {2}\n%0 = const f32[] {-inf}\ny = clip x %0 m @c\n"
        "return y\n");
    assert_pass_rewrites(pass, NULL, "x = input u16[n]\ny = clip x\nreturn y\n",
        "x = input u16[n]\n%0 = const u16[] {0}\n%1 = const u16[] {65535}\ny = clip x %0 %1\n"
        "return y\n");
    assert_pass_rewrites(pass, NULL, "x = input i8[n]\nm = input i8[]\ny = clip x m\nreturn y\n",
        "x = input i8[n]\nm = input i8[]\n%0 = const i8[] {127}\ny = clip x m %0\nreturn y\n");
    assert_pass_rewrites(pass, NULL, "x = input i64[n]\ny = clip x\nreturn y\n",
        "x = input i64[n]\n%0 = const i64[] {-9223372036854775808}\n"
        "%1 = const i64[] {9223372036854775807}\ny = clip x %0 %1\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\nm = input f32[]\ny = clip x m m\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = relu x\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,50]\nm = input f32[]\nz = log x\ny = clip z _ m\n"
                              "w = exp y\nreturn w\n",
        pass, 0);
    assert_pass_keeps_results(REGION("u64[4]", "t = clip x"), pass, 0);
}
END_TEST

START_TEST(or_equal_comparisons_are_expanded)
{
    assert_pass_rewrites("replace_greater_or_equal", NULL,
        "x = input i32[n]\nz = input i32[]\ny = greater_or_equal x z @c\nreturn y\n",
        "x = input i32[n]\nz = input i32[]\n%0 = less x z @c\ny = not %0 @c\nreturn y\n");
    assert_pass_rewrites("replace_less_or_equal", NULL,
        "x = input u8[n]\nz = input u8[]\ny = less_or_equal x z\nreturn y\n",
        "x = input u8[n]\nz = input u8[]\n%0 = less z x\ny = not %0\nreturn y\n");
    assert_pass_rewrites("replace_greater_or_equal", NULL,
        "x = input f32[n]\nz = input f32[]\ny = greater_or_equal x z\nreturn y\n",
        "x = input f32[n]\nz = input f32[]\n%0 = greater x z\n%1 = equal x z\ny = or %0 %1\n"
        "return y\n");
    assert_pass_rewrites("replace_less_or_equal", NULL,
        "x = input f16[n]\nz = input f16[]\ny = less_or_equal x z\nreturn y\n",
        "x = input f16[n]\nz = input f16[]\n%0 = less x z\n%1 = equal x z\ny = or %0 %1\n"
        "return y\n");
    assert_pass_leaves("replace_less_or_equal", NULL,
        "x = input f16[n]\ny = greater_or_equal x x\nreturn y\n");
    assert_pass_leaves("replace_greater_or_equal", NULL,
        "x = input f16[n]\ny = less_or_equal x x\nreturn y\n");
}
END_TEST

/* log of a negative number is NaN */
#define COMPARED(id)                                                                               \
    "x = input f32[50]\nz = input f32[1]\na = log x\ny = " id " a z\nw = " id " a a\nreturn y, "   \
    "w\n"
#define COUNTED(id) "x = input i32[50]\nz = input i32[3,1]\ny = " id " x z\nreturn y\n"

START_TEST(comparisons_keep_their_results)
{
    assert_pass_keeps_results(COMPARED("greater_or_equal"), "replace_greater_or_equal", 0);
    assert_pass_keeps_results(COMPARED("less_or_equal"), "replace_less_or_equal", 0);
    assert_pass_keeps_results(COUNTED("greater_or_equal"), "replace_greater_or_equal", 0);
    assert_pass_keeps_results(COUNTED("less_or_equal"), "replace_less_or_equal", 0);
    assert_pass_keeps_results(REGION("bool[4]", "c = cast x {to=3}; t = greater_or_equal c c"),
        "replace_greater_or_equal", 0);
    assert_pass_keeps_results(REGION("bool[4]", "c = cast x {to=1}; t = less_or_equal c c"),
        "replace_less_or_equal", 0);
}
END_TEST

START_TEST(hard_swish_becomes_hard_sigmoid)
{
    static const char *const pass = "replace_hardswish";
    assert_pass_rewrites(pass, NULL, "x = input f32[n]\ny = hard_swish x @h\nreturn y\n",
        "x = input f32[n]\n%0 = hard_sigmoid x {alpha=0.16666667} @h\ny = mul x %0 @h\n"
        "return y\n");
    assert_pass_keeps_results("x = input f32[3,50]\ny = hard_swish x\nreturn y\n", pass, 2e-7);
    assert_pass_keeps_results(REGION("f16[4]", "t = hard_swish x"), pass, 2e-3);
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = hard_sigmoid x\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\ny = swish x\nreturn y\n");
}
END_TEST

START_TEST(trilu_becomes_where)
{
    static const char *const pass = "replace_trilu";
    assert_pass_rewrites(pass, NULL, "x = input f32[n,2,3]\ny = trilu x @t\nreturn y\n",
        "x = input f32[n,2,3]\ntriu_2_3_0 = const bool[2,3] {true,true,true,false,true,true}\n"
        "%1 = const f32[] {0}\ny = where triu_2_3_0 x %1 @t\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input i32[2,2]\nk = const i64[1] {-1}\ny = trilu x k {upper=0}\nreturn y\n",
        "x = input i32[2,2]\nk = const i64[1] {-1}\ntril_2_2_-1 = const bool[2,2] "
        "{false,false,true,false}\n%1 = const i32[] {0}\ny = where tril_2_2_-1 x %1\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[2,n]\ny = trilu x\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,2]\nk = input i64[]\ny = trilu x k\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[0,9000,9000]\ny = trilu x\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input string[2,2]\ny = trilu x\nreturn y\n");
    assert_pass_keeps_results("x = input f32[2,5,4]\nk = const i64[] {9223372036854775807}\n"
                              "y = trilu x k\nz = trilu x {upper=0}\nreturn y, z\n",
        pass, 0);
    assert_pass_keeps_results(REGION("bool[3,4]", "t = trilu x"), pass, 0);
    assert_pass_keeps_results("x = input f64[0,4]\ny = trilu x\nreturn y\n", pass, 0);
}
END_TEST

PRT_TEST_MAIN("pass/replace/after_opset11", cast_like_becomes_cast, celu_becomes_elu,
    clip_gets_explicit_bounds, or_equal_comparisons_are_expanded, comparisons_keep_their_results,
    hard_swish_becomes_hard_sigmoid, trilu_becomes_where)
