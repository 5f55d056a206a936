/* SPDX-License-Identifier: MIT */
/*
 * test_separable.c — fuse_gate and fuse_separable, on graphs with channels last.
 * Covers: channel_scale.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static void ck_becomes(const char *text, const char *pass, const char *part, const char *absent)
{
    prt_graph *g = graph_from_text(text);
    assert_pass_keeps_results(text, pass, 1e-5);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_msg(strstr(graph_text(g), part) != NULL && strstr(graph_text(g), absent) == NULL,
        "%s", graph_text(g));
    ck_assert(!run_pass(g, pass, NULL));
    module_free(g);
}

/* ---- gates */

#define PIXELS(h, w) "x = input f32[2," #h "," #w ",4]\nv = const f32[64] fill 0.5\n"
#define GATED "y = nhwc_conv p v {channels=4,filters=3,kernel_shape=[1,1]}\nreturn y\n"

START_TEST(gates_go_into_convolutions)
{
    prt_graph *g = graph_from_text(PIXELS(3,
        2) "g = input f32[2,1,1,4]\nr = input f32[2,3,2,3]\n"
           "b = input f32[3]\np = mul g x\n"
           "y = nhwc_conv p v b r {channels=4,filters=3,kernel_shape=[1,1]} @n\nreturn y\n");
    ck_assert(run_pass(g, "fuse_gate", NULL));
    ck_assert_graph(g,
        PIXELS(3,
            2) "g = input f32[2,1,1,4]\nr = input f32[2,3,2,3]\n"
               "b = input f32[3]\n"
               "y = nhwc_conv x v b r g {channels=4,filters=3,kernel_shape=[1,1]} @n\nreturn y\n");
    module_free(g);
    ck_becomes(PIXELS(3, 2) "g = input f32[2,1,1,4]\np = mul x g\n" GATED, "fuse_gate", "_ _ g",
        "mul");
    ck_becomes("x = input f32[n,3,2,4]\nv = const f32[64] fill 0.5\ng = input f32[n,1,1,4]\n"
               "p = mul x g\n" GATED,
        "fuse_gate", "_ _ g", "mul");
    ck_becomes(PIXELS(1, 2) "g = input f32[2,1,1,4]\np = mul x g\n" GATED, "fuse_gate", "_ _ g",
        "mul"); /* more filters than pixels */
}
END_TEST

START_TEST(other_factors_are_left)
{
    static const char *const graphs[] = {
        PIXELS(3, 2) "g = input f32[1,1,1,4]\np = mul x g\n" GATED,
        PIXELS(3, 2) "g = input f32[2,1,2,4]\np = mul x g\n" GATED,
        PIXELS(3, 2) "g = input f32[2,1,1,1]\np = mul x g\n" GATED,
        PIXELS(3, 2) "g = input f32[4]\np = mul x g\n" GATED,
        PIXELS(3, 2) "g = input f32[2,1,1,4]\np = add x g\n" GATED,
        PIXELS(3, 2) "g = input f32[2,1,1,4]\np = mul x g\n"
                     "y = nhwc_conv p v {channels=4,filters=3,kernel_shape=[1,1]}\nreturn y, p\n",
        PIXELS(3, 2) "g = input f32[2,1,1,4]\np = mul x g\nw = const f32[4] fill 1\n"
                     "y = nhwc_conv p w {form=\"taps\",group=4,kernel_shape=[1,1]}\nreturn y\n",
        PIXELS(3,
            2) "g = input f32[2,1,1,4]\nh = input f32[2,1,1,4]\np = mul x g\n"
               "y = nhwc_conv p v _ _ h {channels=4,filters=3,kernel_shape=[1,1]}\nreturn y\n",
        "x = input f32[2,h,2,4]\nv = const f32[64] fill 0.5\ng = input f32[2,1,1,4]\n"
        "p = mul x g\n" GATED,
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves("fuse_gate", NULL, graphs[i]);
}
END_TEST

/* ---- separable convolutions: of 50 by 50 by 70, which is large enough */

#define IN                                                                                         \
    "x = input f32[1,50,50,2]\nu = const f32[160] fill 0.25\nw = const f32[70] fill 0.5\n"         \
    "v = const f32[1120] fill 0.125\n"
#define FIRST "a = nhwc_conv x u {channels=2,filters=70,kernel_shape=[1,1],activation=\"Relu\"}\n"
#define DEPTHWISE                                                                                  \
    "d = nhwc_conv a w {form=\"taps\",group=70,kernel_shape=[1,1],activation=\"Clip\","            \
    "alpha=-1,beta=0.5}\n"
#define LAST "y = nhwc_conv d v {channels=70,filters=1,kernel_shape=[1,1]}\n"

START_TEST(parts_become_one)
{
    ck_becomes(IN FIRST DEPTHWISE LAST "return y\n", "fuse_separable",
        "nhwc_separable x w _ u _ v {hidden=70", "nhwc_conv");
    ck_becomes(IN FIRST DEPTHWISE "return d\n", "fuse_separable", "nhwc_separable x w _ u {",
        "nhwc_conv");
    ck_becomes("a = input f32[1,50,50,70]\nw = const f32[70] fill 0.5\nb = const f32[70] fill 1\n"
               "v = const f32[1120] fill 0.125\nr = input f32[1,50,50,1]\n"
               "d = nhwc_conv a w b {form=\"taps\",group=70,kernel_shape=[1,1]}\n"
               "y = nhwc_conv d v _ r {channels=70,filters=1,kernel_shape=[1,1]}\nreturn y\n",
        "fuse_separable", "nhwc_separable a w b _ _ v _ r", "nhwc_conv");
    ck_becomes(IN FIRST DEPTHWISE "k = const i64[2] {1,2}\nm = reduce_mean d k\ng = sigmoid m\n"
                                  "s = mul d g\nreturn s\n",
        "fuse_separable", "d, m = nhwc_separable", "reduce_mean");
    ck_becomes(
        "x = input f32[1,5,5,2]\nu = const f32[160] fill 0.25\nw = const f32[70] fill 0.5\n" FIRST
            DEPTHWISE "k = const i64[2] {1,2}\nm = reduce_mean d k\ns = mul d m\nreturn s\n",
        "fuse_separable", "d, m = nhwc_separable a w", "reduce_mean");
}
END_TEST

#define SMALL(side)                                                                                \
    "x = input f32[1," #side "," #side ",2]\nu = const f32[832] fill 0.25\n"                       \
    "w = const f32[416] fill 0.5\nv = const f32[6656] fill 0.125\n"                                \
    "a = nhwc_conv x u {channels=2,filters=416,kernel_shape=[1,1]}\n"                              \
    "d = nhwc_conv a w {form=\"taps\",group=416,kernel_shape=[1,1]}\n"                             \
    "y = nhwc_conv d v {channels=416,filters=1,kernel_shape=[1,1]}\nreturn y\n"

/* Asserts that the graph becomes one op with these products, but not with float32 products. */
static void ck_becomes_one_with(const char *products, const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "fuse_separable", "products=float32"));
    ck_assert(run_pass(g, "fuse_separable", products));
    ck_assert_msg(strstr(graph_text(g), "nhwc_conv") == NULL, "%s", graph_text(g));
    module_free(g);
}

/* bf16x3 products lower the least size, except for very few pixels. */
START_TEST(the_least_size_depends_on_products)
{
    ck_becomes_one_with("products=split", SMALL(12));
    assert_pass_leaves("fuse_separable", "products=split", SMALL(11));
}
END_TEST

#define THREE(side)                                                                                \
    "x = input f32[1," #side "," #side ",416]\nw = const f32[3744] fill 0.5\n"                     \
    "v = const f32[6656] fill 0.125\n"                                                             \
    "d = nhwc_conv x w {form=\"taps\",group=416,kernel_shape=[3,3],pads=[1,1,1,1]}\n"              \
    "y = nhwc_conv d v {channels=416,filters=1,kernel_shape=[1,1]}\nreturn y\n"

/* With AVX2 less of 3x3 windows than elsewhere, but not of others. */
START_TEST(blocks_of_3x3_fuse_for_avx2_from_14_pixels)
{
    ck_becomes_one_with("products=avx2", THREE(14));
    assert_pass_leaves("fuse_separable", "products=avx2", THREE(12));
    assert_pass_leaves("fuse_separable", "products=avx2", SMALL(14));
}
END_TEST

START_TEST(other_parts_are_left)
{
    static const char *const graphs[] = {
        IN FIRST DEPTHWISE LAST "return y, a, d\n", /* read elsewhere */
        /* small */
        "x = input f32[1,5,5,2]\nu = const f32[160] fill 0.25\nw = const f32[70] fill 0.5\n"
        "v = const f32[1120] fill 0.125\n" FIRST DEPTHWISE LAST "return y\n",
        /* of unknown size */
        "x = input f32[1,h,50,2]\nu = const f32[160] fill 0.25\nw = const f32[70] fill 0.5\n"
        "v = const f32[1120] fill 0.125\n" FIRST DEPTHWISE LAST "return y\n",
        ("x = input f32[1,50,50,70]\nw = const f32[70] fill 0.5\n"
         "y = nhwc_conv x w {form=\"taps\",group=70,kernel_shape=[1,1]}\nreturn y\n"),
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves("fuse_separable", NULL, graphs[i]);
    /* A residual in between, a stride of two, a mean without its dims. */
    ck_becomes(IN
        "r = input f32[1,50,50,70]\n"
        "a = nhwc_conv x u _ r {channels=2,filters=70,kernel_shape=[1,1]}\n" DEPTHWISE LAST
        "return y\n",
        "fuse_separable", "nhwc_separable a w", "nhwc_separable x");
    ck_becomes(
        "x = input f32[1,100,100,2]\nu = const f32[160] fill 0.25\n"
        "w = const f32[70] fill 0.5\nv = const f32[1120] fill 0.125\n"
        "a = nhwc_conv x u {channels=2,filters=70,kernel_shape=[1,1],strides=[2,2]}\n" DEPTHWISE
            LAST "return y\n",
        "fuse_separable", "nhwc_separable a w", "nhwc_separable x");
    ck_becomes(IN FIRST DEPTHWISE "k = const i64[2] {1,2}\nm = reduce_mean d k {keepdims=0}\n"
                                  "return m, d\n",
        "fuse_separable", "reduce_mean", ", m = nhwc_sep");
}
END_TEST

PRT_TEST_MAIN("pass/layout/separable", gates_go_into_convolutions, other_factors_are_left,
    parts_become_one, the_least_size_depends_on_products,
    blocks_of_3x3_fuse_for_avx2_from_14_pixels, other_parts_are_left)
