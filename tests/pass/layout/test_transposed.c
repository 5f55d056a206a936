/* SPDX-License-Identifier: MIT */
/*
 * test_transposed.c — channels_last: ConvTranspose as convolutions, and blocks of pixels.
 * Covers: depth_to_space_conv.c, pixel_blocking.c.
 */
#include "pass/layout/channels_last.h"

START_TEST(transposed_convolutions_are_converted)
{
    ck_channels_last(
        "x = input f32[2,5,6,7]\nw = const f32[5,1,1,1] {1,2,3,4,5}\n"
        "a = conv x w {group=5}\nk = const f32[5,2,2,3] fill 0.5\nb = const f32[2] {1,-1}\n"
        "y = conv_transpose a k b {strides=[2,3]}\nreturn y\n",
        2, "nhwc_spread filters=2 kernel_shape=[2,3]");
    ck_channels_last("x = input f32[n,2,h,4]\nk = const f32[2,1,1,2] {1,2,3,4}\n"
                     "y = conv_transpose x k {strides=[1,2]}\nreturn y\n",
        2, "nhwc_spread");
    ck_channels_last("x = input f32[2,5,1,1]\nk = const f32[5,2,2,3] fill 0.5\n"
                     "y = conv_transpose x k\nreturn y\n",
        1, "nhwc_spread filters=2");
    static const char *const attrs[] = { "strides=[2,3],dilations=[2,1]", "strides=[2,3],group=5",
        "strides=[3,3]", "strides=[2,3],output_shape=[12,21]",
        "strides=[2,3],auto_pad=\"SAME_UPPER\"", "strides=[2,3],output_padding=[0,1]" };
    for (size_t i = 0; i < PRT_COUNT_OF(attrs); i++) {
        char text[300];
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,5,6,7]\nk = const f32[5,2,2,3] fill 1\n"
            "y = conv_transpose x k {%s}\nreturn y\n",
            attrs[i]);
        ck_left_alone(text);
    }
    ck_left_alone("x = input f32[1,5,h,w]\nk = const f32[5,16,4,4] fill 1\n"
                  "y = conv_transpose x k {strides=[2,2],pads=[1,1,1,1]}\nreturn y\n");
}
END_TEST

/* ConvTranspose with weights that are all different; `x` has five channels, `k` is the shape of
 * a filter. */
static void ck_transposed(const char *x, int64_t filters, const char *k, size_t taps,
    const char *attrs, const char *then, size_t transposes, const char *parts)
{
    const size_t count = 5 * (size_t)filters * taps;
    char *text = malloc(count * 8 + 1000);
    ck_assert(text != NULL);
    size_t n = (size_t)sprintf(text,
        "x = input f32[%s]\nb = const f32[%lld] fill 0.5\n"
        "k = const f32[5,%lld,%s] {",
        x, (long long)filters, (long long)filters, k);
    n += put_numbers(text + n, count);
    (void)sprintf(text + n, "}\nt = conv_transpose x k b {%s}\ny = %s\nreturn y\n", attrs, then);
    ck_channels_last(text, transposes, parts);
    free(text);
}

START_TEST(transposed_become_convolutions)
{
    /* one for each pixel of a step, joined */
    ck_transposed("2,5,6,7", 16, "3,3", 9, "strides=[2,2],pads=[1,1,1,1],output_padding=[1,1]",
        "relu t", 6,
        "nhwc_conv concat axis=3 kernel_shape=[2,2] kernel_shape=[1,1] "
        "activation=Relu");
    /* all filters in one convolution, and the surplus is cut */
    ck_transposed("2,5,40,30", 16, "4,4", 16, "strides=[2,2],pads=[1,1,1,1]", "sigmoid t", 3,
        "filters=64 kernel_shape=[2,2] pads=[1,1,1,1] activation=Sigmoid slice");
    ck_transposed("n,5,9,8", 16, "6,4", 24, "strides=[3,2],pads=[2,0,0,1]", "add t t", 3,
        "filters=96 kernel_shape=[2,2] slice");
    /* whose steps are one */
    ck_transposed("2,5,6,7", 16, "3,2", 6, "pads=[1,0,1,1]", "relu t", 2,
        "filters=16 kernel_shape=[3,2]");
    ck_transposed("2,5,6,7", 16, "3,2", 6, "strides=[1,2],pads=[1,0,1,0]", "neg t", 2,
        "filters=32 kernel_shape=[3,1]");
    /* of three dims */
    ck_transposed("2,5,3,4,5", 16, "2,2,2", 8, "strides=[2,2,2]", "relu t", 3,
        "filters=128 kernel_shape=[1,1,1] perm=[0,1,4,2,5,3,6] activation=Relu");
    ck_transposed("2,5,3,4,5", 16, "1,3,3", 9,
        "strides=[1,2,2],pads=[0,1,1,0,1,1],"
        "output_padding=[0,1,1]",
        "relu t", 6, "concat axis=4 kernel_shape=[2,2] kernel_shape=[1,1,1]");
    /* rows: no pixel moves */
    ck_transposed("2,5,50", 16, "4", 4, "strides=[2],pads=[1,1]", "tanh t", 2,
        "filters=32 kernel_shape=[2] activation=Tanh slice");
    ck_transposed("2,5,l", 16, "2", 2, "strides=[2]", "tanh t", 2, "filters=32 kernel_shape=[1]");
}
END_TEST

START_TEST(transposed_use_large_tiles)
{
    const char *attrs = "x = input f32[1,16,20,21]\nk = const f32[16,16,4,4] fill 0.5\n"
                        "y = conv_transpose x k {strides=[2,2],pads=[1,1,1,1]}\nreturn y\n";
    ck_channels_last(attrs, 3, "form=winograd filters=64 kernel_shape=[3,3] pads=[1,1,1,1]");
}
END_TEST

START_TEST(pixels_are_computed_in_blocks)
{
    ck_channels_last(
        "x = input f32[n,5,6,7]\nv = const f32[5,1,3,3] fill 1\n"
        "k = const f32[8,5,1,1] {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
        "24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40}\na = conv x k\n"
        "y = depth_to_space a {blocksize=2}\nz = depth_to_space a {blocksize=2,mode=\"CRD\"}\n"
        "return y, z\n",
        5, "nhwc_conv perm=[0,1,3,2,4] perm=[0,1,4,2,5,3]");
    ck_channels_last("x = input f32[n,5,6,4]\nw = const f32[5,1,1,1] {1,2,3,4,5}\n"
                     "a = conv x w {group=5}\ny = space_to_depth a {blocksize=2}\n"
                     "z = space_to_depth a {blocksize=2,mode=\"CRD\"}\nreturn y, z\n",
        5, "nhwc_conv perm=[0,1,3,2,4,5] perm=[0,1,3,5,2,4]");
}
END_TEST

PRT_TEST_MAIN("pass/layout/transposed", transposed_convolutions_are_converted,
    transposed_become_convolutions, transposed_use_large_tiles, pixels_are_computed_in_blocks)
