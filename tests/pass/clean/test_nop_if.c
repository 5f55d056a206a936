/* SPDX-License-Identifier: MIT */
/* test_nop_if.c — eliminate_nop_if. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "eliminate_nop_if";

#define WITH(value)                                                                                \
    "x = input f32[2]\nq = const bool[] {" value "}\nr = if q {\n"                                 \
    "  then_branch { k = const f32[2] {1,2}; t = add x k; return t }\n"                            \
    "  else_branch { e = neg x; return e }\n}\ny = exp r\nreturn y\n"

START_TEST(only_the_taken_branch_stays)
{
    assert_pass_rewrites(pass, NULL, WITH("true"),
        "x = input f32[2]\nq = const bool[] {true}\nk = const f32[2] {1,2}\nt = add x k\n"
        "y = exp t\nreturn y\n");
    assert_pass_rewrites(pass, NULL, WITH("false"),
        "x = input f32[2]\nq = const bool[] {false}\ne = neg x\ny = exp e\nreturn y\n");
    assert_pass_keeps_results(WITH("true"), pass, 0);
    assert_pass_keeps_results(WITH("false"), pass, 0);
}
END_TEST

START_TEST(branches_may_return_captured_values)
{
    static const char *const to_reader = "x = input f32[2]\nq = const bool[] {true}\nr = if q {\n"
                                         "  then_branch { return x }\n"
                                         "  else_branch { e = neg x; return e }\n}\ny = exp r\n"
                                         "return y\n";
    static const char *const to_output =
        "x = input f32[2]\nq = const bool[] {true}\nr, s = if q {\n"
        "  then_branch { a = exp x; return x, a }\n"
        "  else_branch { e = neg x; return e, e }\n}\n"
        "return r as first, s\n";
    assert_pass_rewrites(pass, NULL, to_reader,
        "x = input f32[2]\nq = const bool[] {true}\ny = exp x\nreturn y\n");
    assert_pass_rewrites(pass, NULL, to_output,
        "x = input f32[2]\nq = const bool[] {true}\ns = exp x\nr = identity x\n"
        "return r as first, s\n");
    assert_pass_keeps_results(to_output, pass, 0);
    assert_pass_keeps_results("x = input f32[2]\nq = const bool[1] {false}\nr, s = if q {\n"
                              "  then_branch { a = exp x; return x, a }\n"
                              "  else_branch { e = neg x; return e, e }\n}\nreturn r, s\n",
        pass, 0);
}
END_TEST

START_TEST(nested_ifs_are_removed_together)
{
    static const char *const text =
        "x = input f32[2]\np = input bool[]\nq = const bool[] {true}\nr = if p {\n"
        "  then_branch {\n    i = if q {\n      then_branch {\n        j = if q {\n"
        "          then_branch { a = exp x; return a }\n          else_branch { b = neg x; return "
        "b }\n"
        "        }\n        return j\n      }\n      else_branch { c = abs x; return c }\n    }\n"
        "    return i\n  }\n  else_branch { d = sign x; return d }\n}\nreturn r\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[2]\np = input bool[]\nq = const bool[] {true}\nr = if p {\n"
        "  then_branch { i = exp x; return i }\n  else_branch { d = sign x; return d }\n}\n"
        "return r\n");
    assert_pass_keeps_results(text, pass, 0);
}
END_TEST

START_TEST(near_misses_stay)
{
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nq = input bool[]\nr = if q {\n"
        "  then_branch { return x }\n  else_branch { e = neg x; return e }\n"
        "}\nreturn r\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nq = input bool[] {true}\nr = if q {\n"
        "  then_branch { return x }\n  else_branch { e = neg x; return e }\n"
        "}\nreturn r\n");
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_if", only_the_taken_branch_stays, branches_may_return_captured_values,
    nested_ifs_are_removed_together, near_misses_stay)
