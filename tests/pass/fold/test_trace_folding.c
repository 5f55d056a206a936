/* SPDX-License-Identifier: MIT */
/* test_trace_folding.c — trace_folding: only values that follow from shapes are folded. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "trace_folding";

START_TEST(shapes_become_constants)
{
    static const char *const text =
        "x = input f32[2,3,4]\n%0 = const i64[] {1}\n%1 = const i64[1] {-1}\n%2 = const i64[1] "
        "{0}\n"
        "s = shape x\ng = gather s %0\nu = unsqueeze g %2\nc = concat u %1\ny = reshape x c\n"
        "return y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2,3,4]\nc = const i64[2] {3,-1}\ny = reshape x c\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
}
END_TEST

START_TEST(only_known_dims_become_constants)
{
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,3]\n%0 = const i64[] {1}\n%1 = const i64[] {0}\ns = shape x\n"
        "a = gather s %0\nb = gather s %1\nc = mul a b\ny = cast c {to=1}\nz = cast a {to=1}\n"
        "return y, z\n",
        "x = input f32[n,3]\n%1 = const i64[] {0}\na = const i64[] {3}\ns = shape x\n"
        "b = gather s %1\nc = mul a b\ny = cast c {to=1}\nz = cast a {to=1}\nreturn y, z\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n,3]\ns = shape x\ny = neg s\nreturn y\n");
}
END_TEST

START_TEST(nothing_is_evaluated)
{
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\na = const f32[2] {1,2}\nb = exp a\ny = add x b\nreturn y\n");
    /* outputs keep their producer */
    assert_pass_leaves(pass, NULL, "x = input f32[2]\ny = shape x\nreturn y\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results(
        "x = input f32[2,3]\nq = input bool[]\nr = if q {\n"
        "  then_branch { s = shape x; t = cast s {to=1}; return t }\n"
        "  else_branch { u = shape x; v = cast u {to=1}; w = neg v; return w }\n"
        "}\nreturn r\n",
        pass, 0);
}
END_TEST

PRT_TEST_MAIN("pass/fold/trace_folding", shapes_become_constants, only_known_dims_become_constants,
    nothing_is_evaluated, regions_are_rewritten)
