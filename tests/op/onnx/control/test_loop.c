/* SPDX-License-Identifier: MIT */
/* test_loop.c — If, Loop and Scan: bounds, swaps, zero iterations, inferred types, errors.
 * Covers: if.c, scan.c, loop_carry.c, infer.c. */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/op_text.h"

#define COUNT(m, c)                                                                                \
    "m = const i64[] {" m "}\nc = const bool[] {" c "}\nx = const i64[] {10}\n"                    \
    "y, z = loop m c x {body {\ni = input i64[]\nk = input bool[]\nv = input i64[]\n"              \
    "n = add v i\no = identity k\nreturn o, n, i\n}}\n"

START_TEST(loop_runs_up_to_its_bound)
{
    ck_assert_str_eq(op_value(COUNT("4", "true") "return y, z\n"), "i64[]: 16");
    ck_assert_str_eq(op_value_of(COUNT("4", "true") "return y, z\n", 1), "i64[4]: 0 1 2 3");
    ck_assert_str_eq(op_value(COUNT("-1", "true") "return y, z\n"), "i64[]: 10");
    ck_assert_str_eq(op_value_of(COUNT("0", "true") "return y, z\n", 1), "i64[0]:");
    ck_assert_str_eq(op_value_of(COUNT("4", "false") "return y, z\n", 1), "i64[0]:");
}
END_TEST

START_TEST(loop_ends_by_condition)
{
    ck_assert_str_eq(op_value("x = const i64[] {1}\nl = const i64[] {100}\n"
                              "y = loop _ _ x {body {\ni = input i64[]\nk = input bool[]\n"
                              "v = input i64[]\nn = add v v\no = less n l\nreturn o, n\n}}\n"
                              "return y\n"),
        "i64[]: 128");
}
END_TEST

START_TEST(loop_swaps_carried_values)
{
    ck_assert_str_eq(op_value_of("m = const i64[] {3}\na = const f32[1] {1}\nb = const f32[1] {2}\n"
                                 "y, z = loop m _ a b {body {\ni = input i64[]\nk = input bool[]\n"
                                 "v = input f32[1]\nw = input f32[1]\nreturn k, w, v\n}}\n"
                                 "return y, z\n",
                         0),
        "f32[1]: 2");
    /* A carried value that grows. */
    ck_assert_str_eq(op_value("m = const i64[] {5}\na = const i32[1] {7}\n"
                              "y = loop m _ a {body {\ni = input i64[]\nk = input bool[]\n"
                              "v = input i32[*]\nw = concat v a {axis=0}\nreturn k, w\n}}\n"
                              "return y\n"),
        "i32[6]: 7 7 7 7 7 7");
    /* A carried value that grows from zero rows but is declared with a fixed shape, as
     * torchvision exports it. */
    ck_assert_str_eq(op_value("m = const i64[] {3}\na = const i32[0,2] {}\n"
                              "b = const i32[1,2] {7,8}\n"
                              "y = loop m _ a {body {\ni = input i64[]\nk = input bool[]\n"
                              "v = input i32[0,2]\nw = concat v b {axis=0}\nreturn k, w\n}}\n"
                              "return y\n"),
        "i32[3,2]: 7 8 7 8 7 8");
}
END_TEST

START_TEST(loop_carries_strings)
{
    ck_assert_str_eq(op_value_of("m = const i64[] {3}\na = const string[1] {a}\n"
                                 "y, z = loop m _ a {body {\ni = input i64[]\nk = input bool[]\n"
                                 "v = input string[1]\nw = string_concat v a\n"
                                 "return k, w, v\n}}\nreturn y, z\n",
                         1),
        "string[3,1]: 'a' 'aa' 'aaa'");
}
END_TEST

START_TEST(loop_types_are_inferred)
{
    ck_assert_str_eq(op_type(COUNT("4", "true") "return z, y\n"), "i64[4]");
    /* A value that may grow has no fixed size. */
    ck_assert_str_eq(op_type("m = input i64[]\na = input f32[3]\ny = loop m _ a {body {\n"
                             "i = input i64[]\nk = input bool[]\nv = input f32[*]\n"
                             "w = concat v a {axis=0}\nreturn k, w\n}}\nreturn y\n"),
        "f32[?]");
}
END_TEST

/* Inputs: m iterations, x f32[b,n,2]. Carried: a value that keeps its shape and a value that
 * grows. */
#define WALK(trips, condition, results)                                                            \
    "x = input f32[b,n,2]\nq = input i64[]\nd = input bool[]\ns = shape x\n"                       \
    "j = const i64[] {1}\nt = gather s j\nh = const f32[1,2] zeros\ng = const f32[0,2] {}\n"       \
    "y, w, z = loop " trips " _ h g {body {\ni = input i64[]\nk = input bool[]\n"                  \
    "v = input f32[*]\nu = input f32[*]\no = const f32[] {1}\np = add v o\n"                       \
    "r = concat u p {axis=0}\nreturn " condition ", p, r, p\n}}\nreturn " results "\n"

START_TEST(constant_carried_shapes_are_kept)
{
    ck_assert_str_eq(op_type(WALK("t", "k", "y")), "f32[1,2]");
    ck_assert_str_eq(op_type(WALK("t", "k", "w")), "f32[?,2]");
    ck_assert_str_eq(op_type(WALK("t", "k", "z")), "f32[n,1,2]");
    ck_assert_str_eq(op_type(WALK("q", "k", "z")), "f32[?,1,2]");
    /* The loop may end early. */
    ck_assert_str_eq(op_type(WALK("t", "d", "z")), "f32[?,1,2]");
}
END_TEST

/* If the declared dims of a body contradict its initial values, inference ignores all declared
 * dims. */
START_TEST(wrong_declared_shapes_are_ignored)
{
    ck_assert_str_eq(
        op_value_of(
            "m = const i64[] {2}\na = const f32[] {1}\nb = const f32[] {5}\nq = const i64[1] {0}\n"
            "y, z = loop m _ a b {body {\ni = input i64[]\nk = input bool[]\nv = input f32[3]\n"
            "w = input f32[]\nu = unsqueeze w q\nreturn k, v, u\n}}\nreturn y, z\n",
            1),
        "f32[1,1]: 5");
}
END_TEST

/* Types found in a trial with better inputs do not stay in the inner loop. */
START_TEST(inference_trials_leave_inner_types_alone)
{
    prt_graph *g = graph_from_text(
        "m = input i64[]\na = input f32[1]\ny = loop m _ a {body {\ni = input i64[]\n"
        "k = input bool[]\nv = input f32[*]\nw = loop m _ v {body {\ne = input i64[]\n"
        "f = input bool[]\nu = input f32[*]\np = neg u\nreturn f, p\n}}\n"
        "c = concat w a {axis=0}\nreturn k, c\n}}\nreturn y\n");
    const prt_value *inner = prt_map_find(&g->module->names, PRT_STR("p"));
    ck_assert_ptr_nonnull(inner);
    ck_assert_int_eq(inner->type->rank, 1);
    ck_assert_int_eq(inner->type->dims[0], PRT_DIM_UNKNOWN);
    module_free(g);
}
END_TEST

START_TEST(wrong_loops_are_refused)
{
    ck_assert_str_eq(op_status("m = const i64[2] {1,2}\nx = const f32[] {1}\n"
                               "y = loop m _ x {body {\ni = input i64[]\nk = input bool[]\n"
                               "v = input f32[]\nreturn k, v\n}}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("m = const i64[] {1}\ny = loop m _ {}\nreturn y\n"),
        "POPRT_E_PARSE");
    /* Collected shapes that differ. */
    ck_assert_str_eq(op_status("m = const i64[] {3}\na = const i32[1] {7}\n"
                               "y, z = loop m _ a {body {\ni = input i64[]\nk = input bool[]\n"
                               "v = input i32[*]\nw = concat v a {axis=0}\nreturn k, w, w\n}}\n"
                               "return y, z\n"),
        "POPRT_E_SHAPE");
    /* A condition of several elements. */
    ck_assert_str_eq(op_status("m = const i64[] {3}\na = const bool[2] {true,true}\n"
                               "y = loop m _ a {body {\ni = input i64[]\nk = input bool[]\n"
                               "v = input bool[2]\nreturn v, v\n}}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

#define CHOOSE(c, a, b)                                                                            \
    "c = " c "\ny = if c {\nthen_branch {\nt = " a "\nreturn t\n}\nelse_branch {\ne = " b          \
    "\nreturn e\n}\n}\nreturn y\n"

START_TEST(if_returns_the_outputs_of_its_branch)
{
    ck_assert_str_eq(op_value(
                         CHOOSE("const bool[] {true}", "const f32[1] {1}", "const f32[2] {2,3}")),
        "f32[1]: 1");
    ck_assert_str_eq(op_value(
                         CHOOSE("const bool[1] {false}", "const f32[1] {1}", "const i64[2] {2,3}")),
        "i64[2]: 2 3");
    ck_assert_str_eq(op_type(CHOOSE("input bool[]", "const f32[1,2] {1,1}", "const f32[1,1] {2}")),
        "f32[1,?]");
    ck_assert_str_eq(op_type(CHOOSE("input bool[]", "const f32[1] {1}", "const f32[] {2}")),
        "f32[*]");
    ck_assert_str_eq(op_type(CHOOSE("const bool[] {false}", "const f32[1] {1}",
                         "const f32[3] {2,3,4}")),
        "f32[3]");
    ck_assert_str_eq(op_content(
                         CHOOSE("const bool[] {true}", "const i64[1] {4}", "const i64[2] {2,3}")),
        "4");
    ck_assert_str_eq(op_status(CHOOSE("const bool[0] {}", "const f32[1] {1}", "const f32[] {2}")),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("c = const bool[] {true}\ny = if c {then_branch {\n"
                               "t = const f32[] {1}\nreturn t\n}}\nreturn y\n"),
        "POPRT_E_PARSE");
}
END_TEST

#define SUM(x, more)                                                                               \
    "s = const f32[2] {0,0}\nx = " x "\ny, z = scan s x {num_scan_inputs=1" more                   \
    ", body {\na = input f32[2]\nb = input f32[2]\nc = add a b\nreturn c, c\n}}\n"

START_TEST(scan_follows_axes_and_directions)
{
    ck_assert_str_eq(op_value_of(SUM("const f32[3,2] {1,2,3,4,5,6}", "") "return y, z\n", 1),
        "f32[3,2]: 1 2 4 6 9 12");
    ck_assert_str_eq(
        op_value_of(SUM("const f32[2,3] {1,2,3,4,5,6}",
                        ", scan_input_axes=[-1], scan_output_axes=[1]") "return y, z\n",
            1),
        "f32[2,3]: 1 3 6 4 9 15");
    ck_assert_str_eq(
        op_value_of(SUM("const f32[3,2] {1,2,3,4,5,6}",
                        ", scan_input_directions=[1], scan_output_directions=[1]") "return y, z\n",
            1),
        "f32[3,2]: 9 12 8 10 5 6");
    ck_assert_str_eq(op_value_of(SUM("const f32[0,2] {}", "") "return y, z\n", 1), "f32[0,2]:");
    ck_assert_str_eq(op_type(SUM("input f32[seq,2]", "") "return z, y\n"), "f32[seq,2]");
}
END_TEST

START_TEST(wrong_scans_are_refused)
{
    ck_assert_str_eq(op_status(
                         SUM("const f32[3,2] zeros", ", scan_input_axes=[2]") "return y, z\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(
                         SUM("const f32[3,2] zeros", ", scan_input_axes=[0,0]") "return y, z\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(
                         SUM("const f32[3,2] zeros", ", scan_output_axes=[2]") "return y, z\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(SUM("const f32[3,2] zeros",
                         ", scan_input_directions=[2]") "return y, z\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("s = const f32[2] {0,0}\nx = const f32[2] {0,0}\n"
                               "y = scan s x {num_scan_inputs=3, body {\na = input f32[2]\n"
                               "b = input f32[]\nreturn a\n}}\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

PRT_TEST_MAIN("op/loop", loop_runs_up_to_its_bound, loop_ends_by_condition,
    loop_swaps_carried_values, loop_carries_strings, loop_types_are_inferred,
    constant_carried_shapes_are_kept, wrong_declared_shapes_are_ignored,
    inference_trials_leave_inner_types_alone, wrong_loops_are_refused,
    if_returns_the_outputs_of_its_branch, scan_follows_axes_and_directions, wrong_scans_are_refused)
