/* SPDX-License-Identifier: MIT */
/*
 * test_channels_last.c — channels_last: placement of Transposes, equal results, near misses.
 * Covers: qconv.c, shapes.c, sink_transpose.c, to_nhwc.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pass/layout/channels_last.h"

#define PASS "channels_last"
/* Four channels in and out: the convolution does not convert such an image itself. */
#define CONV(y, x) y " = conv " x " w {pads=[1,1,1,1]}\n"
#define WEIGHTS                                                                                    \
    "w = const f32[5,5,3,3] fill 0.125\nv = const f32[5,1,3,3] {1,2,3,4,5,6,7,8,9,"                \
    "1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,9,8,7,6,5,4,3,2,1,0,0,0,0,1,0,0,0,0}\n"
#define IMAGE "x = input f32[2,5,6,7]\n" WEIGHTS

/* ---- convolutions */

START_TEST(a_convolution_between_transposes)
{
    prt_graph *g = graph_from_text("x = input f32[1,5,4,4]\nb = input f32[5]\n"
                                   "%0 = const f32[5,1,1,1] {1,2,3,4,5}\n"
                                   "y = conv x %0 b {group=5} @n\nreturn y\n");
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_graph(g,
        "x = input f32[1,5,4,4]\nb = input f32[5]\n%0 = const f32[5] {1,2,3,4,5}\n"
        "%1 = transpose x {perm=[0,2,3,1]} @n\n"
        "%2 = nhwc_conv %1 %0 b {form=\"taps\",group=5,channels=1,filters=1,kernel_shape=[1,1],"
        "pads=[0,0,0,0],strides=[],dilations=[]} @n\n"
        "y = transpose %2 {perm=[0,3,1,2]} @n\nreturn y\n");
    module_free(g);
}
END_TEST

START_TEST(small_groups_are_convolved_by_taps)
{
    ck_channels_last("x = input f32[2,6,5,7]\nw = const f32[6,2,3,3] fill 0.5\nb = input f32[6]\n"
                     "y = conv x w b {group=3,pads=[1,1,1,1],strides=[2,1]}\nreturn y\n",
        2, "nhwc_conv form=taps channels=2");
    ck_channels_last("x = input f32[2,16,5,7]\nw = const f32[16,8,3,1] fill 0.5\n"
                     "y = conv x w {group=2,dilations=[2,1]}\nz = relu y\nreturn z\n",
        2, "form=taps channels=8");
    ck_channels_last("x = input f32[2,12,5,7]\nw = const f32[24,4,3,3] fill 0.5\n"
                     "y = conv x w {group=3}\nreturn y\n",
        2, "form=panels channels=4 filters=8");
}
END_TEST

START_TEST(chains_have_transposes_at_their_ends)
{
    ck_channels_last(IMAGE CONV("a",
                         "x") "b = relu a\nc = conv b v {group=5,strides=[2,2]}\n" CONV("y",
                         "c") "return y\n",
        2, "form=panels form=taps !=conv");
    ck_channels_last(
        "x = input f32[2,5,9]\nw = const f32[5,5,3] fill 0.5\na = conv x w {pads=[1,1]}\n"
        "b = sigmoid a\ny = conv b w {dilations=[2]}\nreturn y\n",
        2, "kernel_shape=[3]");
    ck_channels_last("x = input f32[2,3,9,8]\nw = const f32[5,3,3,3] fill 0.5\n"
                     "v = const f32[2,5,1,1] "
                     "fill 0.25\na = conv x w\ny = conv a v\nreturn y\n",
        1, "images=1");
    ck_channels_last("x = input f32[1,40,10,11]\nw = const f32[33,40,3,3] fill 0.01\n"
                     "y = conv x w {pads=[1,1,1,1]}\nreturn y\n",
        2, "form=winograd");
    ck_channels_last("x = input f32[1,40,10,10]\nw = const f32[33,40,3,3] fill 0.01\n"
                     "y = conv x w {pads=[1,1,1,1],strides=[1,2]}\nreturn y\n",
        2, "form=panels");
    ck_channels_last("x = input f32[1,32,10,10]\nw = const f32[16,16,3,3] fill 0.01\n"
                     "y = conv x w {group=2}\nreturn y\n",
        2, "group=2");
}
END_TEST

START_TEST(residuals_and_activations_become_epilogues)
{
    ck_channels_last(IMAGE CONV("a", "x")
                         CONV("b", "a") "s = add b a\nt = relu s\n" CONV("y", "t") "return y\n",
        2, "add relu");
    ck_channels_last(IMAGE
        "r = input f32[2,5,6,7]\n"
        "y = fused_conv x w _ r {pads=[1,1,1,1],activation=\"Clip\",alpha=-1,beta=2}\n"
        "return y\n",
        3, "activation=Clip alpha=-1");
    ck_channels_last(IMAGE
        "b = const f32[5] {1,2,3,4,5}\n"
        "a = fused_conv x w b {pads=[1,1,1,1],activation=\"Relu\"}\n"
        "y = fused_conv a w b a {pads=[1,1,1,1],activation=\"Gelu\"}\nreturn y\n",
        2, "");
}
END_TEST

/* Few filters work on several pixels of a row at once. */
static void ck_pixel_blocking(const char *inputs, const char *dims, size_t count, const char *rest,
    size_t transposes, const char *parts)
{
    char text[4096];
    size_t at = (size_t)snprintf(text, sizeof(text), "%sw = const f32[%s] {", inputs, dims);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", i != 0 ? "," : "",
            (int)(i * i % 23) - 11);
    (void)snprintf(text + at, sizeof(text) - at, "}\n%s\nreturn y\n", rest);
    ck_channels_last(text, transposes, parts);
}

START_TEST(few_filters_use_blocks_of_pixels)
{
    char in[64], rest[128];
    /* one filter; the last pixels of a row of 17 are cut off */
    ck_pixel_blocking("x = input f32[n,5,3,16]\nb = const f32[1] {2}\n", "1,5,3,3", 45,
        "y = conv x w b {pads=[1,1,1,1]}", 1,
        "filters=16, kernel_shape=[3,18], pads=[1,1,1,1], strides=[1,16]");
    ck_pixel_blocking("x = input f32[2,64,h,17]\n", "1,64,1,5", 320,
        "y = conv x w {pads=[0,2,0,2]}", 1, "filters=9, slice");
    /* strides, remainders of a window, other paddings of a row */
    for (int width = 10; width < 31; width++) {
        (void)snprintf(in, sizeof(in), "x = input f32[1,5,2,%d]\nb = input f32[3]\n", width);
        (void)snprintf(rest, sizeof(rest), "y = conv x w b {strides=[1,%d],pads=[1,3,0,%d]}",
            width % 3 + 1, width % 4);
        ck_pixel_blocking(in, "3,5,2,7", 210, rest, 2, "nhwc_conv");
    }
    /* with a residual; 1-D convolutions and volumes */
    ck_pixel_blocking("x = input f32[1,6,5,8]\nr = input f32[1,4,5,8]\n", "4,6,3,3", 216,
        "y = fused_conv x w _ r {pads=[1,1,1,1],activation=\"Relu\"}", 3, "filters=16,");
    ck_pixel_blocking("x = input f32[n,1,40]\n", "2,1,9", 18, "y = conv x w", 1,
        "filters=16, strides=[8]");
    ck_pixel_blocking("x = input f32[1,5,4,5,12]\n", "2,5,2,2,3", 120,
        "y = conv x w {pads=[0,1,0,1,0,1]}", 2, "filters=12");
    /* no saving, or rows of unknown length */
    ck_pixel_blocking("x = input f32[1,6,5,8]\n", "4,6,1,1", 24, "y = conv x w", 2, "filters=4");
    ck_pixel_blocking("x = input f32[1,6,5,8]\n", "9,6,3,3", 486, "y = conv x w", 2, "filters=9");
    ck_pixel_blocking("x = input f32[1,6,5,w]\n", "4,6,3,3", 216, "y = conv x w", 2, "filters=4");
    ck_pixel_blocking("x = input f32[1,6,5,40]\n", "4,6,3,3", 216, "y = conv x w {dilations=[1,2]}",
        2, "filters=4");
    ck_pixel_blocking("x = input f32[1,6,5,9]\nr = input f32[1,4,5,9]\n", "4,6,3,3", 216,
        "y = fused_conv x w _ r {pads=[1,1,1,1]}", 3, "filters=12");
}
END_TEST

/* Dilated 3x3 kernels use large Winograd tiles, small ones or panels. The choice depends on how
 * far the pixels fill the tiles, and on the work that panels would skip. */
START_TEST(dilations_choose_the_algorithm)
{
    static const struct {
        int channels, side;
        const char *dilations, *form;
    } cases[] = { { 16, 24, "2,1", "form=winograd," }, { 16, 24, "3,6", "form=winograd," },
        { 16, 22, "4,4", "form=winograd2" }, { 16, 11, "8,8", "form=panels" },
        { 16, 33, "18,18", "form=winograd2" }, { 64, 33, "18,18", "form=panels" } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,%d,%d,%d]\n"
            "w = const f32[16,%d,3,3] fill 0.125\ny = conv x w {dilations=[%s],pads=[%s,%s]}\n"
            "return y\n",
            cases[i].channels, cases[i].side, cases[i].side, cases[i].channels, cases[i].dilations,
            cases[i].dilations, cases[i].dilations);
        ck_channels_last(text, 2, cases[i].form);
    }
}
END_TEST

START_TEST(padding_by_name_is_resolved)
{
    ck_channels_last(IMAGE "y = conv x w {auto_pad=\"SAME_UPPER\",strides=[2,2]}\nreturn y\n", 2,
        "pads=[0,1,1,1]");
    ck_channels_last(IMAGE "y = conv x w {auto_pad=\"SAME_LOWER\",strides=[2,2]}\nreturn y\n", 2,
        "pads=[1,1,0,1]");
    ck_channels_last("x = input f32[n,5,h,7]\n" WEIGHTS
                     "y = conv x w {auto_pad=\"VALID\"}\nreturn y\n",
        2, "pads=[0,0,0,0]");
    /* Steps of one pixel ask for the same padding everywhere. */
    ck_channels_last("x = input f32[n,5,h,7]\nw = const f32[6,5,2,3] ones\n"
                     "y = conv x w {auto_pad=\"SAME_UPPER\"}\nreturn y\n",
        2, "pads=[0,1,1,1]");
    ck_channels_last("x = input f32[n,5,h,7]\nw = const f32[6,5,2,3] ones\n"
                     "y = conv x w {auto_pad=\"SAME_LOWER\",strides=[1,2]}\nreturn y\n",
        2, "pads=[1,1,0,1]");
    ck_left_alone("x = input f32[n,5,h,7]\n" WEIGHTS
                  "y = conv x w {auto_pad=\"SAME_UPPER\",strides=[2,1]}\nreturn y\n");
}
END_TEST

START_TEST(sizes_may_be_symbols)
{
    ck_channels_last("x = input f32[n,5,6,7]\n" WEIGHTS CONV("a", "x") CONV("y", "a") "return y\n",
        2, "");
    ck_channels_last("x = input f32[n,5,h,w]\n"
                     "w = const f32[5,5,3,3] fill 0.125\n" CONV("a", "x") "b = relu a\n" CONV("y",
                         "b") "return y\n",
        2, "");
    ck_channels_last("x = input f32[n,40,h,w]\nw = const f32[33,40,3,3] fill 0.01\n"
                     "y = conv x w {pads=[1,1,1,1]}\nreturn y\n",
        2, "form=winograd");
}
END_TEST

START_TEST(norms_of_channels_go_along)
{
    ck_channels_last(IMAGE CONV("a",
                         "x") "s = const f32[5] {1,2,3,4,5}\n"
                              "y = instance_normalization a s s {epsilon=0.001}\nreturn y\n",
        2, "nhwc_group_norm num_groups=5 epsilon=0.001");
    ck_channels_last(IMAGE CONV("a",
                         "x") "s = const f32[5] {1,2,3,4,5}\n"
                              "y = group_normalization a s s {num_groups=1}\nreturn y\n",
        2, "nhwc_group_norm");
}
END_TEST

/* ---- operators that Transposes move past */

START_TEST(elementwise_operators_go_along)
{
    static const char *const lines[] = { "b = mul a h\n", "b = add a c\n", "b = sub c a\n",
        "b = div c1 a\n", "b = add a a\n", "b = clip a lo hi\n", "b = prelu a c\n",
        "b = max a h one\n", "b = pow a two\n", "b = mul a gate\n", "b = mul one4 a\n",
        "b = elu a\n", "b = erf a\n", "b = clip a _ hi\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        char text[2000];
        (void)snprintf(text, sizeof(text),
            IMAGE
            "h = const f32[] {0.5}\nc = const f32[5,1,1] {1,2,3,4,5}\n"
            "c1 = const f32[1,5,1,1] {1,2,3,4,5}\nlo = const f32[] {-1}\nhi = const f32[] {1}\n"
            "one = const f32[1,1] {0.25}\none4 = const f32[1,1,1,1] {0.25}\ntwo = const i64[] {2}\n"
            "gate = input f32[2,5,1,1]\n" CONV("a", "x") "%s" CONV("y", "b") "return y\n",
            lines[i]);
        ck_channels_last(text, 2, "");
    }
    /* A constant as large as the image, or that differs along a row, is not worth it. */
    static const char *const others[] = { "k = const f32[1,5,6,7] fill 2\n",
        "k = const f32[7] fill 2\n", "k = const f32[6,1] fill 2\n", "k = input f32[5,1,1]\n",
        "k = input f32[5,6,7]\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++) {
        char text[2000];
        (void)snprintf(text, sizeof(text),
            IMAGE "%s" CONV("a", "x") "b = mul a k\n" CONV("y", "b") "return y\n", others[i]);
        ck_channels_last(text, 4, "");
    }
}
END_TEST

/* A Transpose of rank 3 is its own inverse: transposing the other operand would never end. */
START_TEST(transposes_of_rank_three_do_not_chase_each_other)
{
    static const char *const ends[] = { "y = add a x\n", "y = sub x a\n", "y = max a x x\n",
        "y = concat a x {axis=1}\n", "y = concat x a {axis=2}\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[300];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,5,9]\nw = const f32[5,5,3] fill 0.5\n"
            "a = conv x w {pads=[1,1]}\n%sreturn y\n",
            ends[i]);
        ck_channels_last(text, 2, "");
    }
    ck_channels_last(
        "x = input f32[2,5,9]\nw = const f32[5,5,3] fill 0.5\na = conv x w {pads=[1,1]}\n"
        "b = conv a w {pads=[1,1]}\ny = add a b\nreturn y\n",
        2, "");
}
END_TEST

/* A Transpose has a result of known rank, even if the rank of its operand is unknown. */
START_TEST(other_transposes_are_left)
{
    assert_pass_leaves(PASS, NULL,
        "x = input f32\na = transpose x {perm=[0,2,1]}\nb = relu a\n"
        "y = neg b\nreturn y\n");
}
END_TEST

START_TEST(concat_and_split_go_along)
{
    ck_channels_last(IMAGE CONV("a", "x") CONV("b",
                         "a") "c = concat a b {axis=1}\nd = relu c\n"
                              "e, f = split d {axis=-3,num_outputs=2}\ng = mul e f\n" CONV("y",
                                  "g") "return y\n",
        2, "axis=3 !axis=1");
    ck_channels_last(IMAGE CONV("a", "x") "s = const i64[2] {2,4}\nb, c = split a s {axis=2}\n"
                                          "d = concat c b {axis=-2}\n" CONV("y", "d") "return y\n",
        2, "");
    ck_channels_last(IMAGE "z = input f32[2,5,6,7]\n" CONV("a", "x") "c = concat a z x {axis=1}\n"
                                                                     "return c\n",
        2, "axis=1");
    ck_channels_last(
        IMAGE CONV("a",
            "x") "s = const i64[2] {1,0}\ne = const i64[2] {4,9}\n"
                 "k = const i64[2] {-3,3}\nt = const i64[2] {1,2}\nb = slice a s e k t\n"
                 "y = relu b\nreturn y\n",
        2, "slice");
    ck_channels_last(IMAGE CONV("a", "x") "p = const i64[8] {0,1,2,3,1,0,2,0}\nb = pad a p\n"
                                          "y = relu b\nreturn y\n",
        2, "pad");
    ck_channels_last(IMAGE CONV("a", "x") "p = const i64[4] {1,2,0,1}\nk = const i64[2] {2,3}\n"
                                          "b = pad a p _ k\ny = relu b\nreturn y\n",
        2, "pad");
    /* Parts of Split without a reader. */
    ck_channels_last(IMAGE CONV("y", "x") "a, b = split y {num_outputs=2,axis=2}\nreturn y\n", 2,
        "");
}
END_TEST

START_TEST(resizes_go_along)
{
    static const char *const lines[] = {
        "s = const f32[4] {1,1,2,1.5}\ny = resize a _ s {mode=\"linear\"}\n",
        "s = const i64[4] {2,5,3,9}\ny = resize a _ _ s\n",
        "y = max_pool a {kernel_shape=[2,3],strides=[2,1],pads=[1,0,0,1]}\n",
        "y = average_pool a {kernel_shape=[2,3],count_include_pad=1,ceil_mode=1}\n",
        "y = global_average_pool a\n", "y = global_max_pool a\n",
        "k = const i64[2] {2,3}\ny = reduce_mean a k\n",
        "k = const i64[2] {-1,1}\ny = reduce_max a k\n",
        "k = const i64[1] {0}\ny = reduce_sum a k\n"
    };
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        char text[1500];
        (void)snprintf(text, sizeof(text), IMAGE CONV("a", "x") "%sz = relu y\nreturn z\n",
            lines[i]);
        prt_graph *g = graph_from_text(text);
        assert_pass_keeps_results(text, PASS, 1e-5);
        ck_assert(run_pass(g, PASS, NULL));
        /* The second Transpose is the last op, or moves no data and is a Reshape. */
        ck_assert_uint_le(count(graph_text(g), "= transpose"), 2);
        module_free(g);
    }
    ck_channels_last(IMAGE CONV("a", "x") "y, i = max_pool a {kernel_shape=[2,2]}\nreturn y, i\n",
        2, "max_pool !nhwc_max_pool");
    ck_channels_last("x = input f32[2,5,9]\nw = const f32[5,5,3] fill 0.5\na = conv x w\n"
                     "y = max_pool a {kernel_shape=[2]}\nreturn y\n",
        2, "!nhwc_max_pool");
}
END_TEST

/* The removed axes decide the order of the remaining ones. */
START_TEST(reductions_without_dims_go_along)
{
    static const char *const axes[] = { "[2] {2,3}", "[2] {0,2}", "[2] {0,3}", "[2] {1,2}",
        "[2] {0,1}", "[1] {1}", "[1] {0}", "[1] {3}", "[3] {0,2,3}", "[3] {1,2,3}", "[4] {0,1,2,3}",
        "[2] {-1,-2}" };
    static const char *const ops[] = { "reduce_mean", "reduce_sum", "reduce_max" };
    for (size_t i = 0; i < PRT_COUNT_OF(axes); i++) {
        char text[1500];
        (void)snprintf(text, sizeof(text),
            IMAGE CONV("a", "x") "k = const i64%s\n"
                                 "y = %s a k {keepdims=0}\nz = neg y\nreturn z\n",
            axes[i], ops[i % 3]);
        assert_pass_keeps_results(text, PASS, 1e-5);
    }
    static const char *const lines[] = { "[1] {2}", "[1] {0}", "[1] {1}", "[2] {0,2}" };
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        char text[600];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,5,9]\nw = const f32[5,5,3] fill 0.5\n"
            "a = conv x w\nk = const i64%s\ny = reduce_mean a k {keepdims=0}\nreturn y\n",
            lines[i]);
        assert_pass_keeps_results(text, PASS, 1e-5);
    }
    ck_channels_last(IMAGE CONV("a",
                         "x") "k = const i64[2] {2,3}\ny = reduce_mean a k {keepdims=0}\n"
                              "return y\n",
        1, "");
}
END_TEST

/* ---- reshaping */

#define SHUFFLE(n, c)                                                                              \
    "s5 = const i64[5] {" n ",2," c ",6,7}\nt = reshape a s5\n"                                    \
    "u = transpose t {perm=[0,2,1,3,4]}\ns4 = const i64[4] {" n ",4,6,7}\nb = reshape u s4\n"
#define FOUR "w = const f32[4,4,1,1] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"

START_TEST(channel_shuffles_go_along)
{
    ck_channels_last("x = input f32[2,4,6,7]\n" FOUR
                     "a = conv x w {strides=[1,1]}\n" SHUFFLE("2", "2") "y = conv b w\nreturn y\n",
        2, "perm=[0,1,2,4,3]");
    ck_channels_last("x = input f32[n,4,6,7]\n" FOUR
                     "a = conv x w\n" SHUFFLE("-1", "2") "y = conv b w\nreturn y\n",
        2, "perm=[0,1,2,4,3]");
    ck_channels_last(
        "x = input f32[2,4,6,7]\nz = input f32[2,4,6,7]\n" FOUR
        "p = conv x w\nq = conv z w\nj = concat p q {axis=1}\n"
        "s5 = const i64[5] {2,2,4,6,7}\nt = reshape j s5\n"
        "u = transpose t {perm=[0,2,1,3,4]}\ns4 = const i64[4] {2,8,6,7}\nb = reshape u s4\n"
        "y = relu b\nreturn y\n",
        1, "nhwc_shuffle !reshape");
    ck_channels_last(
        "x = input f32[2,4,6,7]\nz = input f32[2,4,6,7]\n" FOUR
        "p = conv x w\nq = conv z w\nj = concat p q {axis=1}\n"
        "s5 = const i64[5] {2,2,4,6,7}\nt = reshape j s5\n"
        "u = transpose t {perm=[0,2,1,3,4]}\ns4 = const i64[4] {2,8,6,7}\nb = reshape u s4\n"
        "l, h = split b {axis=1,num_outputs=2}\ny = conv l w\nv = conv h w\n"
        "return y, v\n",
        2, "halves=1 !split");
}
END_TEST

/* Groups of images, not of channels: dims of unknown size must not hide that. */
START_TEST(shuffles_of_images_are_left)
{
    ck_channels_last(
        "x = input f32[?,4,6,7]\n" FOUR "a = conv x w\n"
        "s5 = const i64[5] {-1,2,3,6,7}\nt = reshape a s5\n"
        "u = transpose t {perm=[0,2,1,3,4]}\ns4 = const i64[4] {-1,4,6,7}\nb = reshape u s4\n"
        "y = neg b\nreturn y\n",
        2, "perm=[0,2,1,3,4]");
    ck_channels_last(
        "x = input f32[2,4,6,7]\n" FOUR "a = conv x w\n"
        "s5 = const i64[5] {1,2,4,6,7}\nt = reshape a s5\n"
        "u = transpose t {perm=[0,2,1,3,4]}\ns4 = const i64[4] {2,4,6,7}\nb = reshape u s4\n"
        "y = conv b w\nreturn y\n",
        3, "perm=[0,2,1,3,4]");
}
END_TEST

START_TEST(images_become_rows_of_pixels)
{
    ck_channels_last(IMAGE CONV("a", "x") "s = const i64[3] {2,5,42}\nf = reshape a s\n"
                                          "y = transpose f {perm=[0,2,1]}\nreturn y\n",
        1, "reshape");
    ck_channels_last("x = input f32[n,5,6,7]\n" WEIGHTS CONV("a",
                         "x") "s = const i64[3] {0,5,-1}\n"
                              "f = reshape a s\ny = transpose f {perm=[0,2,1]}\nreturn y\n",
        1, "reshape");
    /* Two images in one row are not an image. */
    ck_channels_last("x = input f32[?,4,6,7]\n" FOUR "a = conv x w\n"
                     "s = const i64[3] {-1,4,126}\nf = reshape a s\n"
                     "y = transpose f {perm=[0,2,1]}\nreturn y\n",
        2, "");
    ck_channels_last(IMAGE CONV("a", "x") "g = global_average_pool a\ny = flatten g\nreturn y\n", 1,
        "");
}
END_TEST

/* Rows of pixels that become images. */
START_TEST(rows_of_pixels_become_images)
{
    ck_channels_last("x = input f32[2,42,5]\n" WEIGHTS "t = transpose x {perm=[0,2,1]}\n"
                     "s = const i64[4] {2,5,6,7}\nu = reshape t s\n" CONV("y", "u") "return y\n",
        1, "reshape");
    ck_channels_last("x = input f32[?,42,5]\n" WEIGHTS "t = transpose x {perm=[0,2,1]}\n"
                     "s = const i64[4] {-1,5,6,7}\nu = reshape t s\n" CONV("y", "u") "return y\n",
        1, "reshape");
    ck_channels_last("x = input f32[?,84,5]\n" WEIGHTS "t = transpose x {perm=[0,2,1]}\n"
                     "s = const i64[4] {-1,5,6,7}\nu = reshape t s\n" CONV("y", "u") "return y\n",
        3, "reshape");
}
END_TEST

/* ---- graphs around convolutions */

START_TEST(other_readers_get_their_order)
{
    ck_channels_last(IMAGE CONV("a", "x")
                         CONV("y", "a") "s = const i64[2] {2,-1}\nz = reshape a s\n"
                                        "return y, z\n",
        3, "");
    ck_channels_last(IMAGE CONV("a", "x") "b = relu a\n" CONV("y", "b") "return y, a\n", 3, "");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    ck_channels_last(
        "q = input bool[]\n" IMAGE CONV("a",
            "x") "r = if q {\n  then_branch { b = relu a; c = conv b w; return c }\n"
                 "  else_branch { d = conv a w {strides=[1,1]}; return d }\n}\nreturn r\n",
        3, "nhwc_conv !=conv");
    ck_channels_last(
        "q = input bool[]\nx = input f32[1,2,4]\nw = const f32[4,2,1] {1,2,3,4,5,6,7,8}\n"
        "r = if q {\n  then_branch { b = conv x w; return b }\n"
        "  else_branch { c = conv x w; d = neg c; return d }\n}\nreturn r\n",
        2, "images=1");
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        "x = input f32[1,5,4,4]\nw = input f32[5,5,1,1]\ny = conv x w\nreturn y\n",
        "x = input f64[1,5,4,4]\nw = const f64[5,5,1,1] fill 1\ny = conv x w\nreturn y\n",
        "x = input f32[1,6,4,4,4]\nw = const f32[6,2,1,1,1] fill 1\n"
        "y = conv x w {group=3}\nreturn y\n",
        "x = input f32[*]\nw = const f32[5,5,1,1] fill 1\ny = conv x w\nreturn y\n",
        "x = input f32[1,9,4,4]\nw = const f32[9,3,1,1] fill 1\ny = conv x w {group=3}\nreturn y\n",
        "x = input f32[1,5,4,4]\nw = const f32[0,5,1,1] zeros\ny = conv x w\nreturn y\n",
        "x = input f32[1,5,4,4]\nw = const f32[5,5,1,1] fill 1\nr = input f32[*]\n"
        "y = fused_conv x w _ r\nreturn y\n",
        "x = input f32[1,5,4,4]\ny = relu x\nz = max_pool y {kernel_shape=[2,2]}\nreturn z\n",
        "x = input f32[2,3,4]\ny = transpose x {perm=[2,1,0]}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        ck_left_alone(graphs[i]);
    /* Sizes that no memory has. */
    ck_channels_last("x = input f32[0,5,6,7]\n" WEIGHTS CONV("y", "x") "return y\n", 2, "");
    prt_graph *g = graph_from_text("x = input f32[1,40,4611686018427387,4611686018427387]\n"
                                   "w = const f32[33,40,3,3] fill 1\ny = conv x w\nreturn y\n");
    ck_assert(run_pass(g, PASS, NULL));
    module_free(g);
}
END_TEST

/* ---- bytes */

#define BYTES                                                                                      \
    "xs = const f32[] {0.01}\nxz = const u8[] {100}\nws = const f32[] {0.02}\n"                    \
    "wz = const i8[] {0}\nys = const f32[] {0.5}\nw = const i8[5,5,3,3] fill -7\n"                 \
    "v = const i8[5,1,2,3] {1,2,3,4,5,6,-9,8,7,6,5,4,3,2,1,0,0,0,0,1,0,-128,0,127,3,3,3,3,3,3}\n"  \
    "b = const i32[5] {10,-2000,300,4,0}\n"

START_TEST(quantised_convolutions_are_converted)
{
    static const char *const attrs[] = { "pads=[1,1,1,1]", "strides=[2,1],dilations=[1,2]",
        "auto_pad=\"SAME_LOWER\",strides=[2,2]" };
    char text[2048];
    for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input u8[2,5,7,8]\n" BYTES
            "y = qlinear_conv x xs xz w ws wz ys xz b {%s}\nreturn y\n",
            attrs[i]);
        ck_channels_last(text, 2, "nhwc_qconv !qlinear_conv");
    }
    ck_channels_last("x = input u8[2,5,7,8]\n" BYTES
                     "y = qlinear_conv x xs xz v ws wz ys xz {group=5}\n"
                     "return y\n",
        2, "form=taps");
    ck_channels_last(
        "x = input u8[1,5,7,8]\n" BYTES "a = qlinear_conv x xs xz w ws wz ys xz b\n"
        "c = qlinear_conv x xs xz w ws wz ys xz b\n"
        "d = quantized_add a ys xz c ys xz xs xz\ne = max_pool d {kernel_shape=[2,2]}\n"
        "f = dequantize_linear e xs xz\ng = relu f\nh = quantize_linear g ys xz\n"
        "y = qlinear_conv h ys xz v ws wz ys xz b {group=5}\nreturn y\n",
        3, "nhwc_max_pool");
    ck_channels_last("x = input u8[1,5,7,8]\n" BYTES "t = const u8[256] fill 3\n"
                     "a = qlinear_conv x xs xz w ws wz ys xz b\nb1 = byte_table a t\n"
                     "y = qlinear_conv b1 ys xz v ws wz ys xz b {group=5}\nreturn y\n",
        2, "byte_table");
    ck_channels_last("x = input u8[1,3,7,8]\n" BYTES "u = const i8[4,3,2,2] fill 9\n"
                     "y = qlinear_conv x xs xz u ws wz ys xz\nreturn y\n",
        1, "images=1");
    ck_channels_last("x = input i8[2,5,7]\n" BYTES
                     "u = const u8[9,5,2] fill 200\nuz = const u8[] {128}\n"
                     "iz = const i8[] {-5}\ny = qlinear_conv x xs iz u ws uz ys iz\nreturn y\n",
        2, "nhwc_qconv");
    /* weights that are not constant, or do not fit a byte without their zero point */
    ck_left_alone("x = input u8[2,5,7,8]\n" BYTES "u = input i8[5,5,3,3]\n"
                  "y = qlinear_conv x xs xz u ws wz ys xz\nreturn y\n");
    ck_left_alone("x = input u8[2,5,7]\n" BYTES "u = const u8[9,5,2] fill 200\n"
                  "uz = const u8[] {8}\ny = qlinear_conv x xs xz u ws uz ys xz\nreturn y\n");
    /* a scale for each channel stays with channels first */
    ck_channels_last("x = input u8[1,5,7,8]\n" BYTES "a = qlinear_conv x xs xz w ws wz ys xz\n"
                     "s = const f32[5] {1,2,3,4,5}\nz = const u8[5] {1,2,3,4,5}\n"
                     "y = dequantize_linear a s z\nreturn y\n",
        2, "dequantize_linear");
}
END_TEST

PRT_TEST_MAIN("pass/layout/channels_last", a_convolution_between_transposes,
    small_groups_are_convolved_by_taps, chains_have_transposes_at_their_ends,
    residuals_and_activations_become_epilogues, few_filters_use_blocks_of_pixels,
    dilations_choose_the_algorithm, padding_by_name_is_resolved, sizes_may_be_symbols,
    norms_of_channels_go_along, elementwise_operators_go_along,
    transposes_of_rank_three_do_not_chase_each_other, other_transposes_are_left,
    concat_and_split_go_along, resizes_go_along, reductions_without_dims_go_along,
    channel_shuffles_go_along, shuffles_of_images_are_left, images_become_rows_of_pixels,
    rows_of_pixels_become_images, other_readers_get_their_order, regions_are_rewritten,
    near_misses_are_left, quantised_convolutions_are_converted)
