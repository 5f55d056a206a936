/* SPDX-License-Identifier: MIT */
/* test_nop_moves.c — removal of Slice, Pad, Expand, Flatten, Reshape and Transpose nodes without
 * effect. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define X "x = input f32[2,3]\na = const i64[2] {0,0}\nb = const i64[2] {2,9}\n"

static void check_removed(const char *pass, const char *op, const char *text, bool goes)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, pass, NULL) == goes, "%s", text);
    ck_assert_msg((strstr(graph_text(g), op) == NULL) == goes, "%s", graph_text(g));
    module_free(g);
}

START_TEST(slices_of_everything_are_removed)
{
    static const char *const pass = "eliminate_nop_slice";
    check_removed(pass, "slice", X "s = slice x a b\ny = neg s\nreturn y\n", true);
    check_removed(pass, "slice",
        X "e = const i64[2] {0,1}\nt = const i64[2] {1,1}\ns = slice x a b e t\n"
          "y = neg s\nreturn y\n",
        true);
    /* fewer; backwards; of unknown length; a graph's input that would be its output */
    check_removed(pass, "slice", X "c = const i64[2] {2,2}\ns = slice x a c\ny = neg s\nreturn y\n",
        false);
    check_removed(pass, "slice",
        X "c = const i64[1] {2}\nd = const i64[1] {-9}\ne = const i64[1] {1}\n"
          "t = const i64[1] {-1}\ns = slice x c d e t\ny = neg s\nreturn y\n",
        false);
    check_removed(pass, "slice",
        "x = input f32[n]\na = const i64[1] {0}\nb = const i64[1] {9}\n"
        "s = slice x a b\ny = neg s\nreturn y\n",
        false);
    check_removed(pass, "slice", X "y = slice x a b\nreturn y\n", false);
}
END_TEST

/* transformers 5 looks up masks by the coordinates of every element. */
START_TEST(gathers_of_everything_are_removed)
{
    static const char *const pass = "eliminate_nop_slice";
    static const char *const whole[] = {
        "i = const i64[2,2,1] {0,1,-2,3}\ny = gather f i\nreturn y\n",
        "i = const i64[1,4,2] {0,0,0,1,1,0,-1,-1}\ny = gather_nd x i\nreturn y\n",
    };
    static const char *const others[] = {
        "i = const i64[4] {0,1,3,2}\ny = gather f i\nreturn y\n",
        "i = const i64[3] {0,1,2}\ny = gather f i\nreturn y\n",
        "i = const i64[2] {0,1}\ny = gather x i {axis=1}\nreturn y\n",
        "i = const i64[4,2] {0,0,1,0,0,1,1,1}\ny = gather_nd x i\nreturn y\n",
        "i = const i64[2,1] {0,1}\ny = gather_nd x i\nreturn y\n",
        "i = const i64[2,1] {0,1}\ny = gather_nd x i {batch_dims=1}\nreturn y\n",
    };
    char text[512];
    for (size_t i = 0; i < PRT_COUNT_OF(whole); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,2]\ns = const i64[1] {-1}\nf = reshape x s\n%s", whole[i]);
        check_removed(pass, "gather", text, true);
        assert_pass_keeps_results(text, pass, 0);
    }
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,2]\ns = const i64[1] {-1}\nf = reshape x s\n%s", others[i]);
        check_removed(pass, "gather", text, false);
    }
}
END_TEST

START_TEST(pads_of_zero_are_removed)
{
    static const char *const pass = "eliminate_nop_pad";
    check_removed(pass, "pad",
        "x = input f32[n,3]\np = const i64[4] {0,0,0,0}\ns = pad x p\ny = neg s\n"
        "return y\n",
        true);
    check_removed(pass, "pad",
        "x = input f32[2,3]\np = const i64[4] {0,1,0,-1}\ns = pad x p\ny = neg s\n"
        "return y\n",
        false);
    check_removed(pass, "pad",
        "x = input f32[2,3]\np = input i64[4]\ns = pad x p\ny = neg s\nreturn y\n", false);
}
END_TEST

/* One operator "s" of x, then Neg. */
static const char *one(const char *x, const char *op)
{
    static char text[1024];
    (void)snprintf(text, sizeof(text), "x = input %s\n%s\ny = neg s\nreturn y\n", x, op);
    return text;
}

START_TEST(expands_to_the_same_shape_are_removed)
{
    static const char *const pass = "eliminate_nop_expand";
    check_removed(pass, "expand", one("f32[2,3]", "e = const i64[2] {2,1}\ns = expand x e"), true);
    check_removed(pass, "expand", one("f32[2,3]", "e = const i64[0] {}\ns = expand x e"), true);
    check_removed(pass, "expand", one("f32[n,3]", "e = const i64[1] {3}\ns = expand x e"), true);
    /* more elements; a rank more; a dim that may be 1; a shape that is not known */
    check_removed(pass, "expand", one("f32[2,1]", "e = const i64[2] {2,3}\ns = expand x e"), false);
    check_removed(pass, "expand", one("f32[3]", "e = const i64[2] {1,3}\ns = expand x e"), false);
    check_removed(pass, "expand", one("f32[n]", "e = const i64[1] {3}\ns = expand x e"), false);
    check_removed(pass, "expand", one("f32[3]", "e = input i64[1]\ns = expand x e"), false);
}
END_TEST

START_TEST(flattens_of_matrices_are_removed)
{
    static const char *const pass = "eliminate_nop_flatten";
    check_removed(pass, "flatten", one("f32[n,3]", "s = flatten x"), true);
    check_removed(pass, "flatten", one("f32[n,3]", "s = flatten x {axis=-1}"), true);
    check_removed(pass, "flatten", one("f32[1,m]", "s = flatten x {axis=0}"), true);
    check_removed(pass, "flatten", one("f32[n,3]", "s = flatten x {axis=0}"), false);
    check_removed(pass, "flatten", one("f32[n,3]", "s = flatten x {axis=2}"), false);
    check_removed(pass, "flatten", one("f32[n,3,1]", "s = flatten x"), false);
}
END_TEST

START_TEST(reshapes_to_the_same_shape_are_removed)
{
    static const char *const pass = "eliminate_nop_reshape";
    check_removed(pass, "reshape", one("f32[n,3]", "e = const i64[2] {-1,3}\ns = reshape x e"),
        true);
    check_removed(pass, "reshape", one("f32[n,3]", "e = const i64[2] {0,-1}\ns = reshape x e"),
        true);
    check_removed(pass, "reshape", one("f32[2,3]", "e = const i64[2] {-1,3}\ns = reshape x e"),
        true);
    check_removed(pass, "reshape",
        one("f32[0,n]", "e = const i64[2] {0,-1}\ns = reshape x e {allowzero=0}"), true);
    check_removed(pass, "reshape", one("f32[n,3]", "e = const i64[2] {3,-1}\ns = reshape x e"),
        false);
    check_removed(pass, "reshape", one("f32[n,3]", "e = const i64[1] {-1}\ns = reshape x e"),
        false);
    check_removed(pass, "reshape", one("f32[n,3]", "e = input i64[2]\ns = reshape x e"), false);
    check_removed(pass, "reshape",
        one("f32[n,3]", "e = const i64[2] {0,3}\ns = reshape x e {allowzero=1}"), false);
}
END_TEST

START_TEST(transposes_without_effect_are_removed)
{
    static const char *const pass = "eliminate_nop_transpose";
    check_removed(pass, "transpose", one("f32[n,3]", "s = transpose x {perm=[0,1]}"), true);
    check_removed(pass, "transpose", one("f32[n]", "s = transpose x"), true);
    check_removed(pass, "transpose", one("f32[n,3]", "s = transpose x {perm=[1,0]}"), false);
    check_removed(pass, "transpose", one("f32[n,3]", "s = transpose x"), false);
    check_removed(pass, "transpose", one("f32[*]", "s = transpose x"), false);
}
END_TEST

START_TEST(results_and_names_stay)
{
    assert_pass_rewrites("eliminate_nop_reshape", NULL,
        "x = input f32[2,3]\ne = const i64[2] {2,3}\nn = neg x\ny = reshape n e\nreturn y as out\n",
        "x = input f32[2,3]\ne = const i64[2] {2,3}\ny = neg x\nreturn y as out\n");
    assert_pass_keeps_results(
        "x = input f32[2,3]\nc = input bool[]\nr = if c {\n"
        "  then_branch { t = transpose x {perm=[0,1]}; n = neg t; return n }\n"
        "  else_branch { m = exp x; return m }\n}\nreturn r\n",
        "eliminate_nop_transpose", 0);
    assert_pass_keeps_results("x = input f32[2,3]\ne = const i64[2] {1,3}\nc = input bool[]\n"
                              "r = if c {\n  then_branch { t = expand x e; n = neg t; return n }\n"
                              "  else_branch { m = exp x; return m }\n}\nreturn r\n",
        "eliminate_nop_expand", 0);
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_moves", slices_of_everything_are_removed,
    gathers_of_everything_are_removed, pads_of_zero_are_removed,
    expands_to_the_same_shape_are_removed, flattens_of_matrices_are_removed,
    reshapes_to_the_same_shape_are_removed, transposes_without_effect_are_removed,
    results_and_names_stay)
