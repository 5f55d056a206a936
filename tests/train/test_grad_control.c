/* SPDX-License-Identifier: MIT */
/*
 * test_grad_control.c — gradients of If, Loop and Scan against differences.
 * Covers: region.c, path.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"

START_TEST(if_differentiates_the_branch_that_runs)
{
    static const char *const conditions[] = { "true", "false" };
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            "x = input f64[2,3]\nz = input f64[3]\nc = const bool[] {%s}\nw = exp x\n"
            "p, q = if c {\n  then_branch {\n    t = mul w z\n    u = sin x\n    return t, u\n  }\n"
            "  else_branch {\n    k = const f64[] {3}\n    v = mul x k\n    return x, v\n  }\n}\n"
            "y = mul p q\nreturn y\n",
            conditions[i]);
        check_gradients(text, -1, 1);
    }
}
END_TEST

START_TEST(nested_if_passes_gradients_out)
{
    check_gradients("x = input f64[3]\nc = const bool[] {true}\nd = const bool[] {false}\n"
                    "y = if c {\n  then_branch {\n    s = mul x x\n    r = if d {\n"
                    "      then_branch {\n        a = neg s\n        return a\n      }\n"
                    "      else_branch {\n        b = mul s x\n        return b\n      }\n    }\n"
                    "    return r\n  }\n  else_branch {\n    return x\n  }\n}\nreturn y\n",
        -1, 1);
}
END_TEST

#define BODY                                                                                       \
    "body {\ni = input i64[]\nk = input bool[]\nv = input f64[3]\nn = input i64[]\n"               \
    "f = cast i {to=11}\none = const i64[] {1}\nm2 = add n one\na = mul v w\nb = sin a\n"          \
    "e = add b f\nq = mul e e\nreturn k, e, m2, q, v\n}"

START_TEST(loop_with_a_trip_count)
{
    check_gradients("x = input f64[3]\nw = input f64[3]\nm = const i64[] {4}\n"
                    "z = const i64[] {0}\ny, c, s, t = loop m _ x z {" BODY "}\n"
                    "return y, s, t\n",
        -1, 1);
    check_gradients("x = input f64[3]\nw = input f64[3]\nm = const i64[] {0}\n"
                    "z = const i64[] {0}\ny, c, s, t = loop m _ x z {" BODY "}\nreturn y\n",
        -1, 1);
}
END_TEST

START_TEST(loop_that_ends_by_its_condition)
{
    check_gradients("x = input f64[2]\nl = const f64[] {6}\nt = const bool[] {true}\n"
                    "y = loop _ t x {body {\ni = input i64[]\nk = input bool[]\nv = input f64[2]\n"
                    "d = mul v x\nn = add d v\ns = reduce_max n {keepdims=0}\n"
                    "o = less s l\nreturn o, n\n}}\nreturn y\n",
        0.7, 1.5);
}
END_TEST

START_TEST(loop_swaps_carried_values)
{
    check_gradients("a = input f64[2]\nb = input f64[2]\nm = const i64[] {3}\n"
                    "y, z = loop m _ a b {body {\ni = input i64[]\nk = input bool[]\n"
                    "v = input f64[2]\nw = input f64[2]\np = mul v w\nreturn k, w, p\n}}\n"
                    "return y, z\n",
        -1, 1);
}
END_TEST

START_TEST(nested_loops)
{
    check_gradients("x = input f64[2]\nw = input f64[2]\nm = const i64[] {3}\nn = const i64[] {2}\n"
                    "y = loop m _ x {body {\ni = input i64[]\nk = input bool[]\nv = input f64[2]\n"
                    "r = loop n _ v {body {\nj = input i64[]\nl = input bool[]\nu = input f64[2]\n"
                    "a = mul u w\nb = add a v\nreturn l, b\n}}\nt = tanh r\nreturn k, t\n}}\n"
                    "return y\n",
        -1, 1);
}
END_TEST

#define SCAN_BODY                                                                                  \
    "body {\ns = input f64[2]\nc = input f64[2]\nd = input f64[2]\np = mul s c\nq = add p d\n"     \
    "r = mul q w\nt = neg r\nreturn q, r, t\n}"

START_TEST(scan_in_both_directions_and_along_other_axes)
{
    check_gradients("x = input f64[2]\nw = input f64[2]\na = input f64[3,2]\nb = input f64[3,2]\n"
                    "y, z, u = scan x a b {num_scan_inputs=2," SCAN_BODY "}\nreturn y, z, u\n",
        -1, 1);
    check_gradients("x = input f64[2]\nw = input f64[2]\na = input f64[3,2]\nb = input f64[2,3]\n"
                    "y, z, u = scan x a b {num_scan_inputs=2,scan_input_axes=[0,-1],"
                    "scan_input_directions=[1,0],scan_output_axes=[-1,0],"
                    "scan_output_directions=[0,1]," SCAN_BODY "}\nreturn y, z, u\n",
        -1, 1);
}
END_TEST

START_TEST(a_scan_in_a_loop)
{
    check_gradients("x = input f64[2]\nw = input f64[2]\na = input f64[3,2]\nm = const i64[] {2}\n"
                    "y = loop m _ x {body {\ni = input i64[]\nk = input bool[]\nv = input f64[2]\n"
                    "g, h = scan v a {num_scan_inputs=1,body {\ns = input f64[2]\n"
                    "e = input f64[2]\nd = mul s e\nf = add d w\nreturn f, d\n}}\n"
                    "o = reduce_sum h {keepdims=0}\nt = mul g o\nu = sin t\nreturn k, u\n}}\n"
                    "return y\n",
        -1, 1);
}
END_TEST

START_TEST(operators_without_a_rule_in_regions_are_named_together)
{
    const char *message =
        gradient_error("x = input f64[2]\nc = const bool[] {true}\n"
                       "y = if c {\n  then_branch {\n    s = sequence_construct x\n"
                       "    p = const i64[] {0}\n    t = sequence_at s p\n    return t\n  }\n"
                       "  else_branch {\n    return x\n  }\n}\n"
                       "u = sequence_construct y\nq = const i64[] {0}\nz = sequence_at u q\n"
                       "return z\n");
    size_t count = 0;
    for (const char *at = message; (at = strstr(at, "SequenceAt: ")) != NULL; at++)
        count++;
    ck_assert_msg(count == 2, "%s", message);
}
END_TEST

PRT_TEST_MAIN("train/grad_control", if_differentiates_the_branch_that_runs,
    nested_if_passes_gradients_out, loop_with_a_trip_count, loop_that_ends_by_its_condition,
    loop_swaps_carried_values, nested_loops, scan_in_both_directions_and_along_other_axes,
    a_scan_in_a_loop, operators_without_a_rule_in_regions_are_named_together)
