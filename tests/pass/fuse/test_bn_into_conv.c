/* SPDX-License-Identifier: MIT */
/*
 * test_bn_into_conv.c — fuse_bn_into_conv.
 * Covers: bn.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PARAMS(type, n)                                                                            \
    "s = const " type "[" #n "] {2, 0.5, -1, 3}\n"                                                 \
    "t = const " type "[" #n "] {1, -1, 0, 0.25}\n"                                                \
    "m = const " type "[" #n "] {0.5, 0, -0.5, 1}\n"                                               \
    "v = const " type "[" #n "] {1, 4, 0.25, 2}\n"

static const char *const plain =
    "x = input f32[2,3,5,5]\n"
    "w = const f32[4,3,1,1] {1, 2, 3, 4, 5, 6, -1, -2, -3, 0.5, 1, 2}\n"
    "b = const f32[4] {1, 2, 3, 4}\n" PARAMS("f32",
        4) "c = conv x w b {pads=[1,1,1,1], strides=[2,2]} @conv\n"
           "n = batch_normalization c s t m v {epsilon=0.001} @bn\n"
           "y = relu n\nreturn y\n";

static void assert_left_alone(const char *text)
{
    assert_pass_leaves("fuse_bn_into_conv", NULL, text);
}

/* The plain model with one part exchanged. */
static const char *with(const char *part, const char *other)
{
    static char text[2048];
    const char *at = strstr(plain, part);
    ck_assert_ptr_nonnull(at);
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - plain), plain, other,
        at + strlen(part));
    return text;
}

START_TEST(the_normalisation_goes_into_weights_and_bias)
{
    prt_graph *g = graph_from_text("x = input f32[1,1,2,2]\n"
                                   "%0 = const f32[2,1,1,1] {1, 2}\n"
                                   "%1 = const f32[2] {2, 3}\n%2 = const f32[2] {1, -1}\n"
                                   "%3 = const f32[2] {0.5, 1}\n%4 = const f32[2] {3, 15}\n"
                                   "c = conv x %0 {group=1} @conv\n"
                                   "y = batch_normalization c %1 %2 %3 %4 {epsilon=1}\n"
                                   "return y\n");
    ck_assert(run_pass(g, "fuse_bn_into_conv", NULL));
    ck_assert_graph(g,
        "x = input f32[1,1,2,2]\n"
        "%0 = const f32[2,1,1,1] {1, 1.5}\n%1 = const f32[2] {0.5, -1.75}\n"
        "y = conv x %0 %1 {group=1} @conv\n"
        "return y\n");
    ck_assert(!run_pass(g, "fuse_bn_into_conv", NULL));
    module_free(g);
}
END_TEST

START_TEST(results_stay_close)
{
    assert_pass_keeps_results(plain, "fuse_bn_into_conv", 1e-6);
    assert_pass_keeps_results(with("c = conv x w b {", "c = conv x w _ {"), "fuse_bn_into_conv",
        1e-6);
    assert_pass_keeps_results(with("c = conv x w b {", "c = conv x w {"), "fuse_bn_into_conv",
        1e-6);
    assert_pass_keeps_results("x = input f64[1,2,7]\n"
                              "w = const f64[4,1,2] {1, 2, 3, 4, 5, 6, 7, 8}\n" PARAMS("f64",
                                  4) "c = conv x w {group=2}\n"
                                     "y = batch_normalization c s t m v\nreturn y\n",
        "fuse_bn_into_conv", 1e-14);
    assert_pass_keeps_results("x = input f16[1,2,7]\n"
                              "w = const f16[4,1,2] {1, 2, 3, 4, 5, 6, 7, 8}\n" PARAMS("f16",
                                  4) "c = conv x w {group=2}\n"
                                     "y = batch_normalization c s t m v\nreturn y\n",
        "fuse_bn_into_conv", 4e-3);
}
END_TEST

START_TEST(transposed_convolutions_count_channels_by_group)
{
    assert_pass_keeps_results(
        "x = input f32[1,4,6]\n"
        "w = const f32[4,2,2] {1, 2, 3, 4, 5, 6, 7, 8, -1, 2, -3, 4, 5, -6, 7, 8}\n" PARAMS("f32",
            4) "c = conv_transpose x w {group=2, strides=[2]}\n"
               "y = batch_normalization c s t m v\nreturn y\n",
        "fuse_bn_into_conv", 1e-6);
}
END_TEST

START_TEST(shared_weights_are_copied)
{
    prt_graph *g =
        graph_from_text(with("y = relu n\nreturn y\n", "d = conv x w\ny = relu n\nreturn y, d\n"));
    prt_graph *before = graph_from_text(graph_text(g));
    ck_assert(run_pass(g, "fuse_bn_into_conv", NULL));
    assert_same_results(before, g, 1e-6, 9);
    module_free(before);
    module_free(g);
}
END_TEST

START_TEST(the_graphs_output_keeps_its_name)
{
    prt_graph *g = graph_from_text(with("y = relu n\nreturn y\n", "return n as out\n"));
    ck_assert(run_pass(g, "fuse_bn_into_conv", NULL));
    ck_assert(prt_str_is(g->ret->in[0].value->name, "n"));
    ck_assert(prt_str_is(g->output_names.data[0], "out"));
    module_free(g);
}
END_TEST

START_TEST(regions_are_fused)
{
    assert_pass_keeps_results(
        "q = input bool[]\nx = input f32[1,2,4]\n"
        "w = const f32[4,2,1] {1, 2, 3, 4, 5, 6, 7, 8}\n" PARAMS("f32",
            4) "r = if q {\n"
               "  then_branch { c = conv x w; n = batch_normalization c s t m v; return n }\n"
               "  else_branch { d = conv x w; return d }\n"
               "}\nreturn r\n",
        "fuse_bn_into_conv", 1e-6);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_left_alone(with("return y\n", "return y, c\n"));
    assert_left_alone(with("y = relu n\n", "k = add n c\ny = relu k\n"));
    assert_left_alone(with("w = const f32[4,3,1,1] {1, 2, 3, 4, 5, 6, -1, -2, -3, 0.5, 1, 2}",
        "w = input f32[4,3,1,1]"));
    assert_left_alone(with("s = const f32[4] {2, 0.5, -1, 3}", "s = input f32[4] {2, 0.5, -1, 3}"));
    assert_left_alone(with("b = const f32[4] {1, 2, 3, 4}", "b = input f32[4]"));
    assert_left_alone(with("c = conv x w b {pads=[1,1,1,1], strides=[2,2]} @conv",
        "c = conv x w b\nz = neg c\nc2 = neg z"));
    assert_left_alone(
        "x = input f32[2,4,3]\n" PARAMS("f32", 4) "y = batch_normalization x s t m v\nreturn y\n");
}
END_TEST

START_TEST(training_is_left)
{
    assert_left_alone(with("{epsilon=0.001}", "{training_mode=1}"));
}
END_TEST

START_TEST(weights_beyond_the_type_are_left)
{
    assert_left_alone("x = input f16[1,1,4]\n"
                      "w = const f16[4,1,1] fill 60000\n" PARAMS("f16",
                          4) "c = conv x w\ny = batch_normalization c s t m v\nreturn y\n");
    assert_left_alone(with("{1, 4, 0.25, 2}", "{-1, 4, 0.25, 2}"));
}
END_TEST

PRT_TEST_MAIN("pass/fuse/bn_into_conv", the_normalisation_goes_into_weights_and_bias,
    results_stay_close, transposed_convolutions_count_channels_by_group, shared_weights_are_copied,
    the_graphs_output_keeps_its_name, regions_are_fused, near_misses_are_left, training_is_left,
    weights_beyond_the_type_are_left)
