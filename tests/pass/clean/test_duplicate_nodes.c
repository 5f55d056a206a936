/* SPDX-License-Identifier: MIT */
/* test_duplicate_nodes.c — eliminate_duplicate_nodes. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static void assert_rewrites(const char *before, const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert(run_pass(g, "eliminate_duplicate_nodes", NULL));
    ck_assert_graph(g, after);
    ck_assert(!run_pass(g, "eliminate_duplicate_nodes", NULL));
    module_free(g);
}

static void assert_left_alone(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "eliminate_duplicate_nodes", NULL));
    ck_assert_graph(g, text);
    module_free(g);
}

START_TEST(duplicates_are_merged_and_so_are_their_readers)
{
    assert_rewrites("x = input f32[2]\na = exp x\nb = exp x\nc = neg a\nd = neg b\ny = add c d\n"
                    "return y\n",
        "x = input f32[2]\na = exp x\nc = neg a\ny = add c c\nreturn y\n");
}
END_TEST

START_TEST(nodes_with_other_attributes_stay)
{
    assert_rewrites("x = input f32[2,3]\na = softmax x {axis=0}\nb = softmax x {axis=1}\n"
                    "c = softmax x {axis=0}\ny = sum a b c\nreturn y\n",
        "x = input f32[2,3]\na = softmax x {axis=0}\nb = softmax x {axis=1}\ny = sum a b a\n"
        "return y\n");
}
END_TEST

/* Attributes that are tensors, lists and types are compared by their contents. */
START_TEST(attributes_of_every_kind_are_compared)
{
    static const char *const cases[][3] = {
        { "constant_of_shape d", "{value=f32[1] {4}}", "{value=f32[1] {5}}" },
        { "constant_of_shape d", "{value=f32[1] {4}}", "{value=i32[1] {4}}" },
        { "ml_label_encoder t", "{keys_tensor=string[1] {a},values_tensor=i64[1] {1}}",
            "{keys_tensor=string[1] {b},values_tensor=i64[1] {1}}" },
        { "ml_linear_regressor x", "{coefficients=[1,2]}", "{coefficients=[1,3]}" },
        { "ml_category_mapper t", "{cats_strings=[a,b],cats_int64s=[1,2]}",
            "{cats_strings=[a,c],cats_int64s=[1,2]}" },
        { "ml_category_mapper t", "{cats_strings=[a,b],cats_int64s=[1,2]}",
            "{cats_strings=[a,b],cats_int64s=[1,3]}" },
        { "gelu x", "{approximate=tanh}", "{approximate=none}" },
        { "leaky_relu x", "{alpha=0.5}", "{alpha=0.25}" },
        { "optional", "{type=f32[2]}", "{type=f32[3]}" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            "d = input i64[1]\nx = input f32[1,2]\nt = input string[1]\na = %s %s\nb = %s %s\n"
            "c = %s %s\np = identity a\nq = identity b\nr = identity c\nreturn p, q, r\n",
            cases[i][0], cases[i][1], cases[i][0], cases[i][2], cases[i][0], cases[i][1]);
        prt_graph *g = graph_from_text(text);
        ck_assert_msg(run_pass(g, "eliminate_duplicate_nodes", NULL), "%s", text);
        uint32_t makers = 0;
        prt_for_each_op (op, g)
            makers += !prt_op_is(op, PRT_OP_identity);
        ck_assert_msg(makers == 2, "%s: %u nodes", text, makers);
        module_free(g);
    }
}
END_TEST

START_TEST(nodes_with_several_results_are_merged)
{
    assert_rewrites("x = input f32[4]\na, b = split x {axis=0}\nc, d = split x {axis=0}\n"
                    "y = sum a b c d\nreturn y\n",
        "x = input f32[4]\na, b = split x {axis=0}\ny = sum a b a b\nreturn y\n");
}
END_TEST

START_TEST(random_nodes_are_not_merged)
{
    assert_left_alone("x = input f32[4]\na = random_uniform_like x\nb = random_uniform_like x\n"
                      "y = add a b\nreturn y\n");
}
END_TEST

START_TEST(two_outputs_stay_two)
{
    assert_left_alone("x = input f32[4]\na = exp x\nb = exp x\nreturn a, b\n");
    assert_rewrites("x = input f32[4]\na = exp x\nb = exp x\nc = neg a\nreturn b, c\n",
        "x = input f32[4]\nb = exp x\nc = neg b\nreturn b, c\n");
}
END_TEST

PRT_TEST_MAIN("pass/clean/duplicate_nodes", duplicates_are_merged_and_so_are_their_readers,
    nodes_with_other_attributes_stay, nodes_with_several_results_are_merged,
    attributes_of_every_kind_are_compared, random_nodes_are_not_merged, two_outputs_stay_two)
