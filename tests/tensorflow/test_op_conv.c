/* SPDX-License-Identifier: MIT */
/*
 * Convolutions, pools and batch normalisation of TensorFlow have its results, and their padding is
 * explicit where sizes allow it (op_conv.c, op_pool.c, conv.c). The numbers are those of
 * TensorFlow 2.21.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

#define SAME_2 " strides=(1, 2, 2, 1) padding=\"SAME\" T=float\n"

static void assert_converted(const char *text, const char *parts)
{
    prt_graph *g = graphdef_convert(text);
    assert_text_has(graph_text(g), parts);
    module_free(g);
}

START_TEST(same_padding_is_explicit_where_sizes_allow_it)
{
    assert_converted("x = Placeholder() dtype=float shape=[?,9,8,3]\n"
                     "w = Const() value=float[3,3,3,4]{1}\n"
                     "y = Conv2D(x, w)" SAME_2,
        "pads=[1,0,1,1] !auto_pad");
    assert_converted("x = Placeholder() dtype=float shape=[?,?,?,3]\n"
                     "w = Const() value=float[3,3,3,4]{1}\n"
                     "y = Conv2D(x, w)" SAME_2,
        "auto_pad=SAME_UPPER !pads");
    assert_converted("x = Placeholder() dtype=float shape=[?,?,?,3]\n"
                     "w = Const() value=float[1,1,3,4]{1}\n"
                     "y = Conv2D(x, w)" SAME_2,
        "pads=[0,0,0,0] !auto_pad");
}
END_TEST

START_TEST(padding_is_that_of_tensorflow)
{
    assert_graphdef_results(
        "x = Const() value=float[1,4,4,1]{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}\n"
        "v = Const() value=float[3,3,1,1]{1}\n"
        "w = Const() value=float[2,2,1,1]{1,2,3,4}\n"
        "y = Conv2D(x, v)" SAME_2 "z = Conv2D(x, w) strides=(1, 3, 3, 1) padding=\"EXPLICIT\" "
        "explicit_paddings=(0, 0, 1, 0, 0, 2, 0, 0) T=float\n",
        "y = const f32[1,2,2,1] {45, 39, 66, 50}\n"
        "z = const f32[1,2,2,1] {4, 9, 114, 56}\n"
        "return y, z\n",
        0);
}
END_TEST

START_TEST(groups_follow_from_the_channels)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[2,3,3,4]\n"
                            "w = Const() value=float[1,1,2,2]{1,2,3,4}\n"
                            "y = Conv2D(x, w) strides=(1, 1, 1, 1) padding=\"VALID\" T=float\n",
        "x = input f32[2,3,3,4]\n"
        "w = const f32[2,2,1,1] {1, 3, 2, 4}\n"
        "a = transpose x {perm=[0,3,1,2]}\n"
        "b = conv a w {group=2}\n"
        "y = transpose b {perm=[0,2,3,1]}\n"
        "return y\n",
        1e-6);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2,3,3,4]\n"
                            "w = Const() value=float[1,1,3,2]{1}\n"
                            "y = Conv2D(x, w) strides=(1, 1, 1, 1) padding=\"VALID\" T=float\n",
        "Conv2D read 3 channels image has 4");
}
END_TEST

START_TEST(filters_of_a_depthwise_convolution_follow_their_channel)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[1,1,2,2]\n"
                            "w = Const() value=float[1,1,2,2]{1,2,3,4}\n"
                            "y = DepthwiseConv2dNative(x, w) strides=(1, 1, 1, 1) "
                            "padding=\"VALID\" T=float\n",
        "x = input f32[1,1,2,2]\n"
        "w = const f32[4] {1, 2, 3, 4}\n"
        "r = const i64[1] {4}\n"
        "i = const i64[4] {0, 0, 1, 1}\n"
        "a = gather x i {axis=3}\n"
        "y = mul a w\n"
        "return y\n",
        1e-6);
}
END_TEST

START_TEST(channels_that_are_first_stay_there)
{
    assert_converted("x = Placeholder() dtype=float shape=[?,3,9,8]\n"
                     "w = Placeholder() dtype=float shape=[2,3,3,4]\n"
                     "b = Placeholder() dtype=float shape=[4]\n"
                     "c = Conv2D(x, w) strides=(1, 1, 2, 3) padding=\"EXPLICIT\" "
                     "explicit_paddings=(0, 0, 0, 0, 1, 2, 3, 4) data_format=\"NCHW\" T=float\n"
                     "a = BiasAdd(c, b) data_format=\"NCHW\" T=float\n"
                     "y = MaxPool(a) ksize=(1, 1, 2, 2) strides=(1, 1, 2, 2) padding=\"VALID\" "
                     "data_format=\"NCHW\" T=float\n",
        "pads=[1,3,2,4] strides=[2,3] perm=[3,2,0,1] unsqueeze !perm=[0,3,1,2] !perm=[0,2,3,1]");
}
END_TEST

START_TEST(strides_over_images_are_refused)
{
    static const char nodes[] = "x = Placeholder() dtype=float shape=[2,3,3,4]\n"
                                "w = Const() value=float[1,1,4,2]{1}\n"
                                "y = Conv2D(x, w) padding=\"VALID\" T=float ";
    static const char *const ends[][2] = { { "strides=(2, 1, 1, 1)\n", "strides 2 axis" },
        { "strides=(1, 0, 1, 1)\n", "strides 0 axis" }, { "strides=(1, 1, 1)\n", "3 numbers" },
        { "strides=(1, 1, 1, 1) data_format=\"NCHW_VECT_C\"\n", "NCHW_VECT_C NHWC" },
        { "strides=(1, 1, 1, 1) dilations=(1, 1, 1, 2)\n", "dilations" } };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char text[400];
        (void)snprintf(text, sizeof(text), "%s%s", nodes, ends[i][0]);
        assert_graphdef_refused(text, ends[i][1]);
    }
}
END_TEST

START_TEST(transposed_convolutions_have_the_size_that_is_given)
{
    static const char weights[] = "w = Const() value=float[3,3,1,1]{1,2,3,4,5,6,7,8,9}\n"
                                  "x = Const() value=float[1,2,2,1]{1,2,3,4}\n";
    static const char *const sizes[] = { "s = Const() value=int32[4]{1, 4, 3, 1}\n",
        "s = Const() value=int32[2]{4, 3}\n" };
    for (size_t i = 0; i < 2; i++) {
        char text[600];
        (void)snprintf(text, sizeof(text), "%s%sy = Conv2DBackpropInput(s, w, x)" SAME_2, weights,
            sizes[i]);
        assert_graphdef_results(text,
            "y = const f32[1,4,3,1] {2, 5, 4, 5, 14, 10, 14, 36, 24, 15, 34, 20}\n"
            "return y\n",
            0);
    }
    assert_graphdef_refused("w = Const() value=float[3,3,1,1]{1}\n"
                            "x = Const() value=float[1,2,2,1]{1,2,3,4}\n"
                            "s = Const() value=int32[2]{6, 3}\n"
                            "y = Conv2DBackpropInput(s, w, x)" SAME_2,
        "size result does not fit axis 0");
}
END_TEST

START_TEST(the_size_of_a_transposed_convolution_may_be_an_input)
{
    assert_converted("x = Placeholder() dtype=float shape=[?,?,?,3]\n"
                     "s = Placeholder() dtype=int32 shape=[4]\n"
                     "w = Const() value=float[1,3,5,3]{1}\n"
                     "y = Conv2DBackpropInput(s, w, x)" SAME_2,
        "output_padding=[1,0] slice");
}
END_TEST

#define BLOCKS                                                                                     \
    "x = Placeholder() dtype=float shape=[?,?,?,2]\n"                                              \
    "w = Const() value=float[2,2,2,1]{1,2,3,4,5,6,7,8}\n"                                          \
    "b = Const() value=int32[2]{2, 3}\n"                                                           \
    "p = Const() value=int32[2,2]{1, 2, 0, 3}\n"                                                   \
    "s = SpaceToBatchND(x, b, p) T=float\n"

START_TEST(a_convolution_of_blocks_is_a_dilated_one)
{
    assert_converted(BLOCKS "c = Conv2D(s, w) strides=(1, 1, 1, 1) padding=\"VALID\" T=float\n"
                            "k = Const() value=int32[2,2]{0, 1, 0, 2}\n"
                            "y = BatchToSpaceND(c, b, k) T=float\n",
        "dilations=[2,3] pads=[1,0,1,1] !reshape");
    assert_converted(BLOCKS "c = Conv2D(s, w) strides=(1, 1, 1, 1) padding=\"VALID\" T=float\n"
                            "k = Const() value=int32[2,2]{0, 1, 1, 0}\n"
                            "y = BatchToSpaceND(c, b, k) T=float\n",
        "reshape !dilations");
    assert_converted(BLOCKS "c = Conv2D(s, w) strides=(1, 2, 1, 1) padding=\"VALID\" T=float\n"
                            "k = Const() value=int32[2,2]{0, 1, 0, 0}\n"
                            "y = BatchToSpaceND(c, b, k) T=float\n",
        "reshape !dilations");
}
END_TEST

START_TEST(fused_operators_are_taken_apart)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[1,3,3,1]\n"
                            "w = Const() value=float[1,1,1,2]{2,3}\n"
                            "b = Const() value=float[2]{-1,1}\n"
                            "y = _FusedConv2D(x, w, b) num_args=1 strides=(1, 1, 1, 1) "
                            "padding=\"SAME\" fused_ops=(\"BiasAdd\", \"LeakyRelu\") T=float\n",
        "x = input f32[1,3,3,1]\n"
        "w = const f32[2] {2, 3}\n"
        "b = const f32[2] {-1, 1}\n"
        "p = mul x w\n"
        "s = add p b\n"
        "y = leaky_relu s {alpha=0.2}\n"
        "return y\n",
        1e-6);
    assert_graphdef_results("x = Placeholder() dtype=float shape=[2,3]\n"
                            "w = Placeholder() dtype=float shape=[4,3]\n"
                            "b = Placeholder() dtype=float shape=[4]\n"
                            "y = _FusedMatMul(x, w, b) num_args=1 transpose_b=true "
                            "fused_ops=(\"BiasAdd\", \"Relu6\") T=float\n",
        "x = input f32[2,3]\n"
        "w = input f32[4,3]\n"
        "b = input f32[4]\n"
        "p = gemm x w b {transB=1}\n"
        "n = const f32[] {0}\n"
        "m = const f32[] {6}\n"
        "y = clip p n m\n"
        "return y\n",
        1e-5);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2,3]\n"
                            "w = Placeholder() dtype=float shape=[3,4]\n"
                            "y = _FusedMatMul(x, w) fused_ops=(\"Unknown\") T=float\n",
        "_FusedMatMul Unknown fused_ops");
}
END_TEST

START_TEST(statistics_of_a_batch_are_returned)
{
    assert_graphdef_results("x = Const() value=float[1,3,1,2]{1,2,3,5,5,11}\n"
                            "s = Const() value=float[2]{1,2}\n"
                            "o = Const() value=float[2]{0,1}\n"
                            "m = Const() value=float[2]{1,1}\n"
                            "v = Const() value=float[2]{4,4}\n"
                            "n = FusedBatchNormV3(x, s, o, m, v) epsilon=1.0 "
                            "exponential_avg_factor=0.25 T=float U=float\n"
                            "y = Identity(n) T=float\n"
                            "p = Identity(n:1) T=float\n"
                            "q = Identity(n:2) T=float\n",
        "y = const f32[1,3,1,2] {-1.0444659, -1.0655911, 0, 0.48360223, 1.0444659, 3.5819888}\n"
        "p = const f32[2] {1.5, 2.25}\n"
        "q = const f32[2] {4, 8.25}\n"
        "return y, p, q\n",
        1e-6);
}
END_TEST

START_TEST(half_precision_is_normalised_in_float32)
{
    assert_converted("x = Placeholder() dtype=half shape=[?,3,1,2]\n"
                     "s = Const() value=float[2]{1,2}\n"
                     "n = FusedBatchNormV3(x, s, s, s, s) is_training=false T=half U=float\n"
                     "y = Identity(n) T=half\n",
        "batch_normalization {epsilon=0.0001} to=1} to=10}");
}
END_TEST

START_TEST(positions_of_maxima_count_channels_last)
{
    assert_graphdef_results("x = Const() value=float[2,2,3,2]{3,1,4,1,5,9,2,6,5,3,5,8,"
                            "8,5,3,5,6,2,9,5,1,4,1,3}\n"
                            "m = MaxPoolWithArgmax(x) ksize=(1, 2, 2, 1) strides=(1, 2, 2, 1) "
                            "padding=\"VALID\" include_batch_in_index=true Targmax=int32 T=float\n"
                            "y = Identity(m) T=float\n"
                            "i = Identity(m:1) T=int32\n",
        "y = const f32[2,1,1,2] {5, 6, 9, 5}\n"
        "i = const i32[2,1,1,2] {8, 7, 18, 13}\n"
        "return y, i\n",
        0);
}
END_TEST

START_TEST(pools_take_integers_and_channels)
{
    assert_graphdef_results(
        "x = Const() value=int32[1,2,3,2]{-3,-1,-4,-1,-5,-9,-2,-6,-5,-3,-5,-8}\n"
        "z = Const() value=float[1,2,1,6]{3,1,4,1,5,9,2,6,5,3,5,8}\n"
        "y = MaxPool(x) ksize=(1, 2, 2, 1) strides=(1, 2, 2, 1) "
        "padding=\"SAME\" T=int32\n"
        "c = MaxPool(z) ksize=(1, 1, 1, 3) strides=(1, 1, 1, 3) "
        "padding=\"VALID\" T=float\n",
        "y = const i32[1,1,2,2] {-2, -1, -5, -8}\n"
        "c = const f32[1,2,1,2] {4, 9, 6, 8}\n"
        "return y, c\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,4,4,4]\n"
                            "y = AvgPool(x) ksize=(1, 1, 1, 2) strides=(1, 1, 1, 2) "
                            "padding=\"VALID\" T=float\n",
        "AvgPool strides 2 axis 3");
}
END_TEST

START_TEST(dilation_skips_cells_outside)
{
    assert_graphdef_results("x = Const() value=float[1,3,4,1]{3,1,4,1,5,9,2,6,5,3,5,8}\n"
                            "w = Const() value=float[2,2,1]{0,10,20,5}\n"
                            "y = Dilation2D(x, w) strides=(1, 2, 1, 1) rates=(1, 1, 2, 1) "
                            "padding=\"SAME\" T=float\n",
        "y = const f32[1,2,4,1] {14, 25, 29, 22, 13, 15, 18, 5}\n"
        "return y\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,30,30,1]\n"
                            "w = Placeholder() dtype=float shape=[17,17,1]\n"
                            "y = Dilation2D(x, w) strides=(1, 1, 1, 1) rates=(1, 1, 1, 1) "
                            "padding=\"VALID\" T=float\n",
        "Dilation2D more than 256 taps");
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_conv", same_padding_is_explicit_where_sizes_allow_it,
    padding_is_that_of_tensorflow, groups_follow_from_the_channels,
    filters_of_a_depthwise_convolution_follow_their_channel, channels_that_are_first_stay_there,
    strides_over_images_are_refused, transposed_convolutions_have_the_size_that_is_given,
    the_size_of_a_transposed_convolution_may_be_an_input, a_convolution_of_blocks_is_a_dilated_one,
    fused_operators_are_taken_apart, statistics_of_a_batch_are_returned,
    half_precision_is_normalised_in_float32, positions_of_maxima_count_channels_last,
    pools_take_integers_and_channels, dilation_skips_cells_outside)
