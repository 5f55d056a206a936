/* SPDX-License-Identifier: MIT */
/*
 * test_control.c — branches and loops of TensorFlow, as functions and as nodes of TensorFlow 1.
 * Covers: op_control.c, region.c, loop.c, frame.c, number.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

#define X "x = Placeholder() dtype=float shape=[2,3]\n"
#define CONST_I(name, value) name " = Const() value=int32[]{" value "}\n"
#define CONST_F(name, value) name " = Const() value=float[]{" value "}\n"

#define NEG_AND_EXP                                                                                \
    "def negate(a: float) -> (r: float = s:y:0) {\n  s = Neg(a) T=float\n}\n"                      \
    "def raise(a: float) -> (r: float = s:y:0) {\n  s = Exp(a) T=float\n}\n"

/* ---- branches */

START_TEST(an_if_becomes_an_if)
{
    static const char text[] = "c = Placeholder() dtype=bool shape=[]\n" X
                               "y = If(c, x) then_branch=@negate else_branch=@raise Tin=(float) "
                               "Tout=(float)\n" NEG_AND_EXP;
    assert_graphdef_results(text,
        "c = input bool[]\nx = input f32[2,3]\na = neg x\nb = exp x\ny = where c a b\nreturn y\n",
        0);
    assert_graphdef_has(text, "if then_branch else_branch");
}
END_TEST

START_TEST(numbers_and_tensors_are_conditions)
{
    assert_graphdef_results("c = Placeholder() dtype=int32 shape=[]\n" X
                            "y = StatelessIf(c, x) then_branch=@negate else_branch=@raise "
                            "Tin=(float) Tout=(float)\n" NEG_AND_EXP,
        "c = input i32[]\nx = input f32[2,3]\nq = cast c {to=9}\na = neg x\nb = exp x\n"
        "y = where q a b\nreturn y\n",
        0);
    /* A tensor with elements is true, even if they are zeros. */
    assert_graphdef_results("c = Const() value=int32[2]{0, 0}\n" X
                            "y = If(c, x) then_branch=@negate else_branch=@raise Tin=(float) "
                            "Tout=(float)\n" NEG_AND_EXP,
        "x = input f32[2,3]\ny = neg x\nreturn y\n", 0);
}
END_TEST

START_TEST(a_known_condition_leaves_one_branch)
{
    prt_graph *g = graphdef_convert(
        "c = Const() value=bool[]{0}\n" X "y = If(c, x) then_branch=@negate else_branch=@raise "
        "Tin=(float) Tout=(float)\n" NEG_AND_EXP);
    assert_text_has(graph_text(g), "exp !neg !if");
    module_free(g);
}
END_TEST

START_TEST(a_case_out_of_range_takes_the_last_branch)
{
    assert_graphdef_results(
        "i = Placeholder() dtype=int32 shape=[]\n" X
        "y = Case(i, x) branches=(@negate, @raise, @same) Tin=(float) Tout=(float)\n"
        "def same(a: float) -> (r: float = a) {\n}\n" NEG_AND_EXP,
        "i = input i32[]\nx = input f32[2,3]\nzero = const i32[] {0}\none = const i32[] {1}\n"
        "q = equal i zero\np = equal i one\na = neg x\nb = exp x\nw = where p b x\n"
        "y = where q a w\nreturn y\n",
        0);
}
END_TEST

START_TEST(branches_of_two_types_are_refused)
{
    assert_graphdef_refused(
        "c = Placeholder() dtype=bool shape=[]\n" X
        "y = If(c, x) then_branch=@negate else_branch=@count Tin=(float) Tout=(float)\n"
        "def count(a: float) -> (r: int32 = s:output:0) {\n  s = Const() "
        "value=int32[]{1}\n}\n" NEG_AND_EXP,
        "If branches two types");
}
END_TEST

/* ---- loops of functions */

#define WHILE(limit, body)                                                                         \
    X CONST_I("zero",                                                                              \
        "0") "w = While(zero, x) cond=@more body=@step T=(int32,float)\n"                          \
             "y = Identity(w:1) T=float\n"                                                         \
             "def more(i: int32, a: float) -> (r: bool = s:z:0) {\n"                               \
             "  n = Const() value=int32[]{" limit "}\n  s = Less(i, n:output:0) T=int32\n}\n"      \
             "def step(i: int32, a: float) -> (j: int32 = k:z:0, b: float = m:output:0) {\n"       \
             "  one = Const() value=int32[]{1}\n  k = AddV2(i, one:output:0) T=int32\n" body "}\n"

START_TEST(a_counter_gives_the_loop_its_trip_count)
{
    static const char text[] = WHILE("3", "  s = AddV2(a, a) T=float\n  m = Identity(s:z:0)\n");
    assert_graphdef_results(text,
        "x = input f32[2,3]\nc = const f32[] {8}\ny = mul x c\nreturn y\n", 1e-6);
    /* The trip count is a constant, and the body computes no condition. */
    assert_graphdef_has(text, "loop {3} !less");
}
END_TEST

START_TEST(a_loop_that_does_not_run_gives_the_start_values)
{
    assert_graphdef_results(WHILE("0", "  s = AddV2(a, a) T=float\n  m = Identity(s:z:0)\n"),
        "x = input f32[2,3]\ny = identity x\nreturn y\n", 0);
}
END_TEST

START_TEST(a_variable_may_change_its_shape)
{
    assert_graphdef_results(
        X CONST_I("zero",
            "0") "w = While(zero, x) cond=@more body=@step T=(int32,float)\n"
                 "y = Identity(w:1) T=float\n"
                 "def more(i: int32, a: float) -> (r: bool = s:z:0) {\n"
                 "  n = Const() value=int32[]{2}\n  s = Less(i, n:output:0) T=int32\n}\n"
                 "def step(i: int32, a: float) -> (j: int32 = k:z:0, b: float = m:output:0) {\n"
                 "  one = Const() value=int32[]{1}\n  k = AddV2(i, one:output:0) T=int32\n"
                 "  axis = Const() value=int32[]{0}\n"
                 "  m = ConcatV2(a, a, axis:output:0) N=2 T=float Tidx=int32\n}\n",
        "x = input f32[2,3]\ny = concat x x x x {axis=0}\nreturn y\n", 0);
}
END_TEST

START_TEST(a_condition_on_data_is_computed_in_each_iteration)
{
    static const char text[] =
        X "w = While(x) cond=@more body=@step T=(float)\ny = Identity(w) T=float\n"
          "def more(a: float) -> (r: bool = s:z:0) {\n"
          "  n = Const() value=float[]{100.0}\n  axes = Const() value=int32[2]{0, 1}\n"
          "  m = Max(a, axes:output:0) T=float Tidx=int32\n"
          "  s = Less(m:output:0, n:output:0) T=float\n}\n"
          "def step(a: float) -> (b: float = m:z:0) {\n"
          "  one = Const() value=float[]{90.0}\n  m = AddV2(a, one:output:0) T=float\n}\n";
    assert_graphdef_results(text,
        "x = input f32[2,3]\nc = const f32[] {180}\ny = add x c\nreturn y\n", 1e-6);
    assert_graphdef_has(text, "loop less");
}
END_TEST

START_TEST(a_variable_that_never_changes_stays_outside)
{
    prt_graph *g = graphdef_convert(X CONST_I("zero", "0") CONST_F("half",
        "0.5") "w = While(zero, x, half) cond=@more body=@step T=(int32,float,float)\n"
               "y = Identity(w:1) T=float\nz = Identity(w:2) T=float\n"
               "def more(i: int32, a: float, h: float) -> (r: bool = s:z:0) {\n"
               "  n = Const() value=int32[]{2}\n  s = Less(i, n:output:0) T=int32\n}\n"
               "def step(i: int32, a: float, h: float) -> (j: int32 = k:z:0, b: float = m:z:0, "
               "g: float = p:output:0) {\n"
               "  one = Const() value=int32[]{1}\n  k = AddV2(i, one:output:0) T=int32\n"
               "  m = Mul(a, h) T=float\n  p = Identity(h) T=float\n}\n");
    assert_text_has(graph_text(g), "half:0 loop_2 !loop_3");
    module_free(g);
}
END_TEST

/* ---- nodes of TensorFlow 1 */

START_TEST(switch_and_merge_are_an_if)
{
    assert_graphdef_results(
        "c = Placeholder() dtype=bool shape=[]\n" X
        "s = Switch(x, c) T=float\np = Identity(c) T=bool\n"
        "outside = Abs(x) T=float\nt = Switch(outside, p) T=float\n"
        "a = Neg(s) T=float\nb = Exp(t:1) T=float\nm = Merge(a, b) N=2 T=float\n"
        "y = Identity(m) T=float\nwhich = Identity(m:1) T=int32\n",
        "c = input bool[]\nx = input f32[2,3]\na = neg x\nq = abs x\nb = exp q\ny = where c b a\n"
        "zero = const i32[] {0}\none = const i32[] {1}\ni = where c one zero\nreturn y, i\n",
        0);
}
END_TEST

START_TEST(branches_in_branches_are_nested)
{
    assert_graphdef_results(
        "c = Placeholder() dtype=bool shape=[]\nd = Placeholder() dtype=bool shape=[]\n" X
        "s = Switch(x, c) T=float\nsd = Switch(d, c) T=bool\n"
        "i = Switch(s, sd) T=float\n" /* in the false side of c, on d */
        "a = Neg(i) T=float\nb = Exp(i:1) T=float\nm = Merge(a, b) N=2 T=float\n"
        "y = Merge(m, s:1) N=2 T=float\nz = Identity(y) T=float\n",
        "c = input bool[]\nd = input bool[]\nx = input f32[2,3]\na = neg x\nb = exp x\n"
        "m = where d b a\ny = where c x m\nreturn y\n",
        0);
}
END_TEST

/* i < 4: x = x + x + h, with h from outside of the frame. */
#define FRAME                                                                                      \
    X CONST_I("zero", "0")                                                                         \
        CONST_F("h", "0.5") "ei = Enter(zero) T=int32 frame_name=\"f\"\nex = Enter(x) T=float "    \
                            "frame_name=\"f\"\n"                                                   \
                            "eh = Enter(h) T=float frame_name=\"f\" is_constant=true\n"            \
                            "mi = Merge(ei, ni) N=2 T=int32\nmx = Merge(ex, nx) N=2 T=float\n"     \
                            "n = Const(^mi) value=int32[]{4}\nless = Less(mi, n) T=int32\nlc = "   \
                            "LoopCond(less)\n"                                                     \
                            "si = Switch(mi, lc) T=int32\nsx = Switch(mx, lc) T=float\n"           \
                            "one = Const(^si) value=int32[]{1}\nadd = AddV2(si:1, one) T=int32\n"  \
                            "twice = AddV2(sx:1, sx:1) T=float\nmore = AddV2(twice, eh) T=float\n" \
                            "ni = NextIteration(add) T=int32\nnx = NextIteration(more) T=float\n"

START_TEST(a_frame_is_a_loop)
{
    assert_graphdef_results(FRAME "q = Exit(sx) T=float\ny = Identity(q) T=float\n",
        "x = input f32[2,3]\nc = const f32[] {16}\nd = const f32[] {7.5}\na = mul x c\n"
        "y = add a d\nreturn y\n",
        1e-6);
    assert_graphdef_results(FRAME "q = Exit(si) T=int32\ny = Identity(q) T=int32\n",
        "x = input f32[2,3]\ny = const i32[] {4}\nreturn y\n", 0);
}
END_TEST

START_TEST(malformed_frames_are_refused)
{
    assert_graphdef_refused(FRAME "y = Neg(sx:1) T=float\n", "Merge outside of the loop");
    assert_graphdef_refused(X "ex = Enter(x) T=float frame_name=\"f\"\nq = Exit(ex) T=float\n"
                              "y = Neg(q) T=float\n",
        "Exit malformed");
    assert_graphdef_refused(X "a = Neg(x) T=float\nb = Exp(x) T=float\n"
                              "m = Merge(a, b) N=2 T=float\ny = Abs(m) T=float\n",
        "Merge sides condition");
    assert_graphdef_refused("c = Placeholder() dtype=bool shape=[]\n" X
                            "s = Switch(x, c) T=float\na = Neg(s) T=float\nb = Exp(s:2) T=float\n"
                            "m = Merge(a, b) N=2 T=float\ny = Abs(m) T=float\n",
        "Merge sides condition");
    assert_graphdef_refused("s = Switch() T=float\ny = Neg(s) T=float\n", "Neg input 0");
}
END_TEST

/* A tensor of complex numbers is not a condition, neither of a branch nor of a loop. */
START_TEST(conditions_that_are_not_tensors_are_refused)
{
    assert_graphdef_refused(X "c = Complex(x, x) T=float Tout=complex64\ns = Switch(x, c) T=float\n"
                              "a = Neg(s) T=float\nb = Exp(s:1) T=float\n"
                              "m = Merge(a, b) N=2 T=float\ny = Abs(m) T=float\n",
        "Merge condition tensor");
    assert_graphdef_refused(X
        "w = While(x) cond=@more body=@step T=(float)\ny = Abs(w) T=float\n"
        "def more(a: float) -> (r: complex64 = c:out:0) {\n"
        "  c = Complex(a, a) T=float Tout=complex64\n}\n"
        "def step(a: float) -> (b: float = m:y:0) {\n  m = Neg(a) T=float\n}\n",
        "While condition tensor");
}
END_TEST

/* Each branch needs the result of the one before. */
START_TEST(chains_of_branches_have_a_limit)
{
    enum { LINE = 200, LINKS = 1100 };
    static char text[LINKS * LINE];
    for (int links = 100; links <= LINKS; links += LINKS - 100) {
        int at = snprintf(text, sizeof(text),
            "c = Placeholder() dtype=bool shape=[]\n"
            "m0 = Placeholder() dtype=float shape=[2]\n");
        for (int i = 0; i < links; i++)
            at += snprintf(text + at, sizeof(text) - (size_t)at,
                "s%d = Switch(m%d, c) T=float\na%d = Neg(s%d) T=float\nm%d = Merge(a%d, s%d:1) N=2 "
                "T=float\n",
                i, i, i, i, i + 1, i, i);
        (void)snprintf(text + at, sizeof(text) - (size_t)at, "y = Abs(m%d) T=float\n", links);
        if (links == LINKS)
            assert_graphdef_refused(text, "1000 branches loops");
        else
            module_free(graphdef_convert(text));
    }
}
END_TEST

PRT_TEST_MAIN("tensorflow/control", an_if_becomes_an_if, numbers_and_tensors_are_conditions,
    a_known_condition_leaves_one_branch, a_case_out_of_range_takes_the_last_branch,
    branches_of_two_types_are_refused, a_counter_gives_the_loop_its_trip_count,
    a_loop_that_does_not_run_gives_the_start_values, a_variable_may_change_its_shape,
    a_condition_on_data_is_computed_in_each_iteration, a_variable_that_never_changes_stays_outside,
    switch_and_merge_are_an_if, branches_in_branches_are_nested, a_frame_is_a_loop,
    malformed_frames_are_refused, conditions_that_are_not_tensors_are_refused,
    chains_of_branches_have_a_limit)
