/* SPDX-License-Identifier: MIT */
/* test_nop_arithmetic.c — eliminate_nop_cast, eliminate_nop_arithmetic. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *text_of(const char *x, const char *op)
{
    static char text[1024];
    (void)snprintf(text, sizeof(text), "x = input %s\n%s\ny = identity s\nreturn y\n", x, op);
    return text;
}

static void goes(const char *x, const char *op)
{
    prt_graph *g = graph_from_text(text_of(x, op));
    ck_assert_msg(run_pass(g, "eliminate_nop_arithmetic", NULL), "%s", op);
    ck_assert_ptr_eq(g->first, g->last);
    ck_assert(!run_pass(g, "eliminate_nop_arithmetic", NULL));
    module_free(g);
    assert_pass_keeps_results(text_of(x, op), "eliminate_nop_arithmetic", 0);
}

START_TEST(neutral_elements_are_removed)
{
    goes("f32[2,3]", "c = const f32[] {0}\ns = add x c");
    goes("f32[2,3]", "c = const f32[1,3] {0,0,0}\ns = add c x");
    goes("f16[2,3]", "c = const f16[3] {0,-0.0,0}\ns = sub x c");
    goes("i32[2,3]", "c = const i32[2,1] {1,1}\ns = mul c x");
    goes("i64[n,3]", "c = const i64[1] {1}\ns = div x c");
    goes("f32[n,m]", "c = const i32[] {1}\ns = pow x c");
    goes("bool[3]", "c = const bool[] {true}\ns = and x c");
    goes("bool[3]", "c = const bool[3] {false,false,false}\ns = or c x");
}
END_TEST

START_TEST(near_misses_stay)
{
    static const char *const left[][2] = {
        { "f32[3]", "c = const f32[] {1}\ns = add x c" },
        { "f32[3]", "c = const f32[3] {0,0,1}\ns = add x c" },
        { "f32[3]", "c = const f32[1,3] {0,0,0}\ns = add x c" },
        { "f32[1]", "c = const f32[3] {1,1,1}\ns = mul x c" },
        { "f32[n]", "c = const f32[3] {1,1,1}\ns = mul x c" },
        { "f32[3]", "c = const f32[] {0}\ns = sub c x" },
        { "f32[3]", "c = const f32[] {1}\ns = div c x" },
        { "f32[3]", "c = const f32[] {1}\ns = pow c x" },
        { "f32[3]", "c = input f32[] {0}\ns = add x c" },
        { "bool[3]", "c = const bool[] {false}\ns = and x c" },
        { "f32[*]", "c = const f32[1] {0}\ns = add x c" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(left); i++)
        assert_pass_leaves("eliminate_nop_arithmetic", NULL, text_of(left[i][0], left[i][1]));
    assert_pass_leaves("eliminate_nop_arithmetic", NULL,
        "x = input f32[3]\nc = const f32[] {0}\ny = add x c\nreturn y\n");
}
END_TEST

START_TEST(casts_to_the_same_type_are_removed)
{
    assert_pass_rewrites("eliminate_nop_cast", NULL,
        "x = input f32[n]\ns = cast x {to=1}\ny = neg s\nreturn y\n",
        "x = input f32[n]\ny = neg x\nreturn y\n");
    assert_pass_leaves("eliminate_nop_cast", NULL,
        "x = input f32[n]\ns = cast x {to=10}\ny = neg s\nreturn y\n");
    assert_pass_leaves("eliminate_nop_cast", NULL,
        "x = input f32[n]\ny = cast x {to=1}\nreturn y\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results(
        "x = input f32[3]\nq = input bool[]\nz = const f32[] {0}\nr = if q {\n"
        "  then_branch { a = add x z; b = neg a; return b }\n"
        "  else_branch { c = exp x; return c }\n}\nreturn r\n",
        "eliminate_nop_arithmetic", 0);
    assert_pass_keeps_results("x = input f32[3]\nq = input bool[]\nr = if q {\n"
                              "  then_branch { a = cast x {to=1}; b = neg a; return b }\n"
                              "  else_branch { c = exp x; return c }\n}\nreturn r\n",
        "eliminate_nop_cast", 0);
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_arithmetic", neutral_elements_are_removed, near_misses_stay,
    casts_to_the_same_type_are_removed, regions_are_rewritten)
