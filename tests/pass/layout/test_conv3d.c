/* SPDX-License-Identifier: MIT */
/* test_conv3d.c — channels_last: convolutions and pools of volumes. */
#include "pass/layout/channels_last.h"

START_TEST(volumes_are_converted)
{
    assert_pass_keeps_results(
        "x = input f32[2,3,5,6,7]\nw = const f32[4,3,2,3,3] fill 0.125\n"
        "v = const f32[4,4,1,1,1] {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, 0.5, 0.25, 2, 1}\n"
        "b = const f32[4] {1, -2, 3, -4}\n"
        "a = conv x w b {pads=[1,1,1,0,1,1], strides=[2,1,2]}\nr = relu a\n"
        "c = conv r v\ns = add c r\ng = global_average_pool s\nreturn s, g\n",
        PASS, 1e-5);
}
END_TEST

/* Uses weights that are all different; `w` is their shape. */
static void ck_conv3d(const char *x, const char *w, size_t count, const char *attrs,
    const char *then, size_t transposes, const char *parts)
{
    char *text = malloc(count * 8 + 1000);
    ck_assert_ptr_nonnull(text);
    size_t n = (size_t)sprintf(text, "x = input f32[%s]\nw = const f32[%s] {", x, w);
    n += put_numbers(text + n, count);
    (void)sprintf(text + n, "}\nc = conv x w {%s}\ny = %s\nreturn y\n", attrs, then);
    ck_channels_last(text, transposes, parts);
    free(text);
}

START_TEST(volumes_become_images)
{
    /* adjacent planes, of one channel and of a few channels */
    ck_conv3d("2,1,5,6,7", "4,1,3,3,2", 72, "pads=[1,1,0,1,1,1]", "relu c", 1,
        "pad concat axis=1 images=1 channels=3 kernel_shape=[3,2]");
    ck_conv3d("n,5,5,6,7", "9,5,2,3,3", 810, "strides=[2,1,2],dilations=[2,1,1]", "relu c", 2,
        "slice concat axis=4 channels=10 kernel_shape=[3,3]");
    /* a kernel of one plane, and a kernel that suits Winograd */
    ck_conv3d("2,16,3,10,11", "16,16,1,3,3", 2304, "pads=[0,1,1,0,1,1]", "add c x", 3,
        "form=winograd channels=16");
    ck_conv3d("1,16,3,10,11", "16,16,3,3,3", 6912, "pads=[1,1,1,1,1,1]", "neg c", 2,
        "concat form=winograd channels=48");
    /* depthwise: become images only if the kernel has one plane */
    ck_conv3d("2,5,6,6,7", "5,1,1,3,2", 30, "group=5,pads=[1,1,0,1,1,1],strides=[2,1,2]", "relu c",
        2, "pad form=taps kernel_shape=[3,2]");
    ck_conv3d("2,5,6,6,7", "5,1,3,3,2", 90, "group=5,pads=[1,1,0,1,1,1],strides=[2,1,2]", "relu c",
        2, "form=taps kernel_shape=[3,3,2]");
    /* nothing of it pays */
    ck_conv3d("2,9,5,6,7", "9,9,2,3,3", 1458, "strides=[1,1,1]", "relu c", 2,
        "kernel_shape=[2,3,3]");
}
END_TEST

START_TEST(volumes_apply_their_epilogue_once)
{
    assert_pass_keeps_results(
        "x = input f32[2,5,6,6,7]\nr = input f32[2,5,6,6,7]\n"
        "b = const f32[5] {1,-2,3,-4,5}\n"
        "w = const f32[5,1,3,1,1] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}\n"
        "y = fused_conv x w b r {group=5,pads=[1,0,0,1,0,0],activation=\"Relu\"}\nreturn y\n",
        PASS, 1e-5);
    assert_pass_keeps_results(
        "x = input f32[2,2,6,6,7]\nr = input f32[2,2,6,5,6]\n"
        "b = const f32[2] {1,-2}\nw = const f32[2,2,1,2,2] {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}\n"
        "y = fused_conv x w b r {activation=\"Sigmoid\"}\nreturn y\n",
        PASS, 1e-5);
}
END_TEST

START_TEST(pools_of_volumes_are_converted)
{
    static const char *const pools[] = {
        "max_pool c {kernel_shape=[2,3,2],strides=[2,1,3],pads=[1,1,0,0,1,1]}",
        "max_pool c {kernel_shape=[2,2,2],strides=[2,2,2],ceil_mode=1}",
        "max_pool c {kernel_shape=[2,2,2],dilations=[2,1,2]}",
        "average_pool c {kernel_shape=[2,3,2],strides=[2,1,2]}",
        "average_pool c {kernel_shape=[2,3,2],pads=[1,1,0,0,1,1],count_include_pad=1}",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(pools); i++)
        ck_conv3d("2,2,6,6,7", "3,2,1,1,1", 6, "", pools[i], 2,
            i < 3 ? "nhwc_max_pool" : "nhwc_average_pool");
    ck_conv3d("2,2,6,6,7", "3,2,1,1,1", 6, "",
        "average_pool c {kernel_shape=[2,3,2],pads=[1,1,0,0,1,1]}", 2, "= average_pool");
}
END_TEST

PRT_TEST_MAIN("pass/layout/conv3d", volumes_are_converted, volumes_become_images,
    volumes_apply_their_epilogue_once, pools_of_volumes_are_converted)
