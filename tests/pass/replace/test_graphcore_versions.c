/* SPDX-License-Identifier: MIT */
/* test_graphcore_versions.c — standard operators that become second forms of ai.graphcore. */
#include "ir/extra.h"
#include "support/check_main.h"
#include "support/graph_text.h"

#define REGION(type, then)                                                                         \
    "q = input bool[]\nx = input " type "\nr = if q {\n  then_branch { " then "; return t }\n"     \
    "  else_branch { return x }\n}\nreturn r\n"

START_TEST(operators_get_their_second_names)
{
    assert_pass_rewrites("replace_erf_with_erfv2", NULL,
        "x = input f32[n]\ny = erf x @e\nreturn y\n",
        "x = input f32[n]\ny = gc_erf_v2 x @e\nreturn y\n");
    assert_pass_rewrites("replace_round", NULL, "x = input f16[2]\ny = round x\nreturn y\n",
        "x = input f16[2]\ny = gc_round_v2 x\nreturn y\n");
    assert_pass_rewrites("replace_isinf", NULL,
        "x = input f32[?]\ny = isinf x {detect_negative=0}\nreturn y\n",
        "x = input f32[?]\ny = gc_is_inf_v2 x {detect_negative=0,detect_positive=1}\nreturn y\n");
    assert_pass_rewrites("replace_where_with_wherev2", NULL,
        "c = input bool[2]\nx = input string[2]\nz = input string[]\ny = where c x z\nreturn y\n",
        "c = input bool[2]\nx = input string[2]\nz = input string[]\ny = gc_where_v2 c x z\n"
        "return y\n");
}
END_TEST

START_TEST(softmax_of_odd_rows_is_replaced)
{
    assert_pass_rewrites("replace_softmax", NULL,
        "x = input f32[n,5]\ny = softmax x {axis=1} @s\nreturn y\n",
        "x = input f32[n,5]\ny = gc_softmax_v2 x {axis=1} @s\nreturn y\n");
    assert_pass_leaves("replace_softmax", NULL, "x = input f32[n,4]\ny = softmax x\nreturn y\n");
    assert_pass_leaves("replace_softmax", NULL, "x = input f32[5,n]\ny = softmax x\nreturn y\n");
    assert_pass_leaves("replace_softmax", NULL,
        "x = input f32[3,5]\ny = softmax x {axis=0}\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,5]\ny = softmax x\nreturn y\n", "replace_softmax",
        0);
}
END_TEST

START_TEST(marks_and_interior_names_stay)
{
    prt_graph *g = graph_from_text("x = input f32[n]\ne = erf x\ny = neg e\nreturn y, e\n");
    int64_t number = 0;
    ck_assert_int_eq(prt_op_set_mark_i64(g->first, "__ipu_number", 3), POPRT_OK);
    ck_assert(run_pass(g, "replace_erf_with_erfv2", NULL));
    ck_assert_graph(g, "x = input f32[n]\ne = gc_erf_v2 x !{device=3}\ny = neg e\nreturn y, e\n");
    ck_assert(prt_op_mark_i64(g->first, "__ipu_number", &number));
    ck_assert_int_eq(number, 3);
    module_free(g);
    assert_pass_leaves("replace_round", NULL, "x = input f32[n]\ny = floor x\nreturn y\n");
    assert_pass_leaves("replace_isinf", NULL, "x = input f32[n]\ny = isnan x\nreturn y\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_rewrites("replace_erf_with_erfv2", NULL, REGION("f32[4]", "t = erf x"),
        REGION("f32[4]", "t = gc_erf_v2 x"));
    assert_pass_rewrites("replace_round", NULL, REGION("f32[4]", "t = round x"),
        REGION("f32[4]", "t = gc_round_v2 x"));
    assert_pass_rewrites("replace_isinf", NULL, REGION("f32[4]", "z = isinf x; t = where z x x"),
        REGION("f32[4]",
            "z = gc_is_inf_v2 x {detect_negative=1,detect_positive=1}; t = where z x x"));
    assert_pass_rewrites("replace_where_with_wherev2", NULL, REGION("f32[4]", "t = where q x x"),
        REGION("f32[4]", "t = gc_where_v2 q x x"));
    assert_pass_rewrites("replace_softmax", NULL, REGION("f32[4,3]", "t = softmax x"),
        REGION("f32[4,3]", "t = gc_softmax_v2 x {axis=-1}"));
}
END_TEST

START_TEST(results_are_the_same_bits)
{
    assert_pass_keeps_results("x = input f32[3,50]\ny = erf x\nreturn y\n",
        "replace_erf_with_erfv2", 0);
    assert_pass_keeps_results("x = input f16[3,50]\ny = round x\nreturn y\n", "replace_round", 0);
    assert_pass_keeps_results("x = input f32[3,50]\nz = log x\ny = isinf z\nreturn y\n",
        "replace_isinf", 0);
    assert_pass_keeps_results("c = input bool[3,1]\nx = input f32[50]\ny = where c x x\n"
                              "z = neg x\nw = where c y z\nreturn w\n",
        "replace_where_with_wherev2", 0);
}
END_TEST

PRT_TEST_MAIN("pass/replace/graphcore_versions", operators_get_their_second_names,
    softmax_of_odd_rows_is_replaced, marks_and_interior_names_stay, regions_are_rewritten,
    results_are_the_same_bits)
