/* SPDX-License-Identifier: MIT */
/*
 * test_grad_kernel.c — gradients that are computed by operators of their own, and those of
 * convolutions and pools, against differences.
 * Covers: grad_kernel.c, grad_pool.c, grad_conv.c, gradient.c, rnn_grad.c, resize.c,
 * grid_sample.c, roi.c, deform_conv.c, det.c, cum_prod.c, pool.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"

/* Each row is a graph without the statement that returns y. */
static void check_rows(size_t n, const char *const *rows, double low, double high)
{
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", rows[i]);
        check_gradients(text, low, high);
    }
}

#define CHECK_ROWS(rows, low, high) check_rows(PRT_COUNT_OF(rows), rows, low, high)

START_TEST(transposed_convolutions)
{
    static const char *const rows[] = {
        "x = input f64[2,3,4,3]\nw = input f64[3,2,3,2]\nb = input f64[2]\n"
        "y = conv_transpose x w b {strides=[2,1],pads=[1,0,0,1]}\n",
        "x = input f64[1,4,3,3]\nw = input f64[4,2,2,2]\n"
        "y = conv_transpose x w {group=2,dilations=[2,1],strides=[1,2],output_padding=[0,1]}\n",
        "x = input f64[1,2,4]\nw = input f64[2,2,3]\n"
        "y = conv_transpose x w {strides=[3],auto_pad=\"SAME_UPPER\"}\n",
        "x = input f64[1,2,4]\nw = input f64[2,2,3]\n"
        "y = conv_transpose x w {strides=[2],auto_pad=\"SAME_LOWER\"}\n",
        "x = input f64[1,2,4]\nw = input f64[2,1,2]\n"
        "y = conv_transpose x w {strides=[2],output_shape=[6]}\n",
        "x = input f64[1,2,4]\nw = input f64[2,1,2]\n"
        "y = conv_transpose x w {strides=[2],output_shape=[11]}\n",
        "x = input f64[1,1,2,2,2]\nw = input f64[1,1,2,2,2]\ny = conv_transpose x w\n",
    };
    CHECK_ROWS(rows, -1, 1);
}
END_TEST

START_TEST(grouped_and_depthwise_convolutions)
{
    static const char *const rows[] = {
        "x = input f64[2,4,4,3]\nw = input f64[6,2,2,2]\nb = input f64[6]\n"
        "y = conv x w b {group=2,pads=[1,1,0,0],strides=[1,2]}\n",
        "x = input f64[2,3,5]\nw = input f64[3,1,3]\ny = conv x w {group=3,pads=[1,1]}\n",
        "x = input f64[1,3,5]\nw = input f64[6,1,2]\n"
        "y = conv x w {group=3,dilations=[2],auto_pad=\"SAME_UPPER\"}\n",
        "x = input f64[1,1,3,3,2]\nw = input f64[2,1,2,2,1]\ny = conv x w {strides=[2,1,1]}\n",
    };
    CHECK_ROWS(rows, -1, 1);
}
END_TEST

START_TEST(pools)
{
    static const char *const rows[] = {
        "x = input f64[1,2,7]\ny = average_pool x {kernel_shape=[3],strides=[2],ceil_mode=1,"
        "count_include_pad=1,pads=[1,1]}\n",
        "x = input f64[1,2,6]\ny = average_pool x {kernel_shape=[3],strides=[2],ceil_mode=1,"
        "dilations=[2],pads=[1,0]}\n",
        "x = input f64[1,2,6]\ny = average_pool x {kernel_shape=[3],strides=[2],"
        "auto_pad=\"SAME_LOWER\",count_include_pad=1}\n",
        "x = input f64[1,2,5,4]\ny = lp_pool x {kernel_shape=[2,2],strides=[2,1],pads=[0,1,1,0]}\n",
        "x = input f64[1,2,5]\ny = lp_pool x {kernel_shape=[2],p=1}\n",
        "x = input f64[1,2,5]\ny = lp_pool x {kernel_shape=[2],p=3}\n",
        "x = input f64[2,2,3,2]\ny = global_lp_pool x {p=3}\n",
        "x = input f64[2,2,3,2]\ny = global_lp_pool x\n",
        "x = input f64[2,2,3,2]\ny = global_max_pool x\n",
        "x = input f64[2,2,7]\ny = max_pool x {kernel_shape=[3],strides=[2],ceil_mode=1,"
        "dilations=[2]}\n",
        "x = input f64[2,2,7]\ny = max_pool x {kernel_shape=[3],auto_pad=\"SAME_UPPER\"}\n",
        "x = input f64[1,1,4,4]\np, i = max_pool x {kernel_shape=[2,2],strides=[2,2]}\n"
        "z = input f64[1,1,2,2]\ny = max_unpool z i {kernel_shape=[2,2],strides=[2,2]}\n",
        "x = input f64[1,1,2,2]\ni = const i64[1,1,2,2] {5,7,13,15}\n"
        "s = const i64[4] {1,1,5,5}\n"
        "y = max_unpool x i s {kernel_shape=[2,2],strides=[2,2]}\n",
    };
    CHECK_ROWS(rows, -2, 2);
}
END_TEST

START_TEST(the_first_of_equal_maxima_gets_the_gradient)
{
    prt_graph *g = graph_from_text("x = const f32[1,1,4] {2,2,1,2}\nd = const f32[1,1,3] {1,2,4}\n"
                                   "y = max_pool_grad x d {kernel_shape=[2]}\nreturn y\n");
    prt_graph *want = graph_from_text("y = const f32[1,1,4] {1,2,0,4}\nreturn y\n");
    assert_same_results(g, want, 0.0, 1);
    module_free(g);
    module_free(want);
}
END_TEST

#define SEQUENCE "x = input f64[4,2,3]\n"

START_TEST(lstm)
{
    static const char *const rows[] = {
        SEQUENCE "w = input f64[1,8,3]\nr = input f64[1,8,2]\nb = input f64[1,16]\n"
                 "h = input f64[1,2,2]\nc = input f64[1,2,2]\np = input f64[1,6]\n"
                 "y, k, m = lstm x w r b _ h c p {hidden_size=2}\nreturn y, k, m\n",
        SEQUENCE "w = input f64[2,8,3]\nr = input f64[2,8,2]\nl = const i32[2] {3,4}\n"
                 "y, k = lstm x w r _ l {hidden_size=2,direction=\"bidirectional\","
                 "activations=[\"Softsign\",\"Elu\",\"Softplus\",\"HardSigmoid\",\"ScaledTanh\","
                 "\"Affine\"],activation_alpha=[0.5,0.3,0.7,0.9],activation_beta=[0.5,1.1,0.2]}\n"
                 "return y, k\n",
        "x = input f64[2,4,3]\nw = input f64[1,8,3]\nr = input f64[1,8,2]\nl = const i32[2] {0,3}\n"
        "h = input f64[2,1,2]\nc = input f64[2,1,2]\np = input f64[1,6]\n"
        "y, k, m = lstm x w r _ l h c p {hidden_size=2,layout=1,direction=\"reverse\","
        "input_forget=1,clip=0.8}\nreturn y, k, m\n",
        SEQUENCE "w = input f64[1,8,3]\nr = input f64[1,8,2]\n_, k = lstm x w r\nreturn k\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        check_gradients(rows[i], -1, 1);
}
END_TEST

START_TEST(gru)
{
    static const char *const rows[] = {
        SEQUENCE "w = input f64[1,6,3]\nr = input f64[1,6,2]\nb = input f64[1,12]\n"
                 "h = input f64[1,2,2]\ny, k = gru x w r b _ h\nreturn y, k\n",
        SEQUENCE "w = input f64[2,6,3]\nr = input f64[2,6,2]\nb = input f64[2,12]\n"
                 "l = const i32[2] {3,1}\nh = input f64[2,2,2]\n"
                 "y, k = gru x w r b l h {direction=\"bidirectional\",linear_before_reset=1,"
                 "clip=0.7}\nreturn y, k\n",
        "x = input f64[2,4,3]\nw = input f64[1,6,3]\nr = input f64[1,6,2]\n"
        "y = gru x w r {layout=1,direction=\"reverse\",activations=[\"HardSigmoid\","
        "\"LeakyRelu\"]}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        check_gradients(rows[i], -1, 1);
}
END_TEST

START_TEST(rnn)
{
    static const char *const functions[] = { "Tanh", "Relu", "Sigmoid", "Affine", "LeakyRelu",
        "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus" };
    for (size_t i = 0; i < PRT_COUNT_OF(functions); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f64[3,2,2]\nw = input f64[1,2,2]\nr = input f64[1,2,2]\n"
            "b = input f64[1,4]\nh = input f64[1,2,2]\n"
            "y, k = rnn x w r b _ h {activations=[\"%s\"]}\nreturn y, k\n",
            functions[i]);
        check_gradients(text, -0.6, 0.9);
    }
    check_gradients(SEQUENCE "w = input f64[2,2,3]\nr = input f64[2,2,2]\nl = const i32[2] {2,4}\n"
                             "y, k = rnn x w r _ l {direction=\"bidirectional\",clip=0.9}\n"
                             "return y, k\n",
        -1, 1);
}
END_TEST

START_TEST(resize_in_all_modes)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" };
    static const char *const coords[] = { "half_pixel", "half_pixel_symmetric",
        "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize" };
    static const char *const sizes[] = { "s = const i64[4] {1,2,6,2}\n",
        "s = const i64[4] {1,2,3,7}\n" };
    for (size_t m = 0; m < 3; m++)
        for (size_t k = 0; k < PRT_COUNT_OF(coords); k++)
            for (size_t i = 0; i < 2; i++) {
                char text[512];
                (void)snprintf(text, sizeof(text),
                    "x = input f64[1,2,4,3]\nr = const f32[8] {0,0,0.1,-0.2,1,1,0.9,1.1}\n%s"
                    "y = resize x r _ s {mode=\"%s\",coordinate_transformation_mode=\"%s\","
                    "extrapolation_value=2%s}\nreturn y\n",
                    sizes[i], modes[m], coords[k],
                    m == 0       ? ""
                        : i == 0 ? ",antialias=1"
                                 : ",exclude_outside=1");
                check_gradients(text, -2, 2);
            }
    check_gradients("x = input f64[2,3,4]\nf = const f32[2] {1.5,0.6}\n"
                    "y = resize x _ f {mode=\"linear\",axes=[2,1]}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[1,1,4]\nf = const i64[1] {7}\n"
                    "y = resize x _ _ f {mode=\"nearest\",axes=[2],nearest_mode=\"ceil\","
                    "keep_aspect_ratio_policy=\"not_larger\"}\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(grid_sample_in_all_modes)
{
    static const char *const modes[] = { "nearest", "linear", "cubic" };
    static const char *const pads[] = { "zeros", "border", "reflection" };
    for (size_t m = 0; m < 3; m++)
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < 2; i++) {
                char text[512];
                (void)snprintf(text, sizeof(text),
                    "x = input f64[2,2,3,4]\ng = input f64[2,2,3,2]\n"
                    "y = grid_sample x g {mode=\"%s\",padding_mode=\"%s\",align_corners=%zu}\n"
                    "return y\n",
                    modes[m], pads[k], i);
                check_gradients(text, -1.3, 1.3);
            }
    check_gradients("x = input f64[1,1,2,3,2]\ng = input f64[1,2,1,2,3]\n"
                    "y = grid_sample x g\nreturn y\n",
        -1, 1);
}
END_TEST

START_TEST(regions)
{
    static const char *const modes[] = { "avg", "max" };
    for (size_t m = 0; m < 2; m++)
        for (size_t k = 0; k < 2; k++) {
            char text[512];
            (void)snprintf(text, sizeof(text),
                "x = input f64[2,2,5,5]\nr = const f64[2,4] {0.3,0.6,3.4,4.1,-1.2,1.3,2.6,6.7}\n"
                "i = const i64[2] {1,0}\n"
                "y = roi_align x r i {output_height=2,output_width=2,mode=\"%s\",%s}\nreturn y\n",
                modes[m],
                k == 0 ? "sampling_ratio=2"
                       : "coordinate_transformation_mode=\"output_half_pixel\"");
            check_gradients(text, -2, 2);
        }
    check_gradients("x = input f64[2,2,5,5]\nr = const f64[2,5] {1,0,0,3,4,0,1,2,2,6}\n"
                    "y = max_roi_pool x r {pooled_shape=[2,2]}\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(deformable_convolutions)
{
    static const char *const rows[] = {
        "x = input f64[1,2,4,4]\nw = input f64[2,2,2,2]\no = input f64[1,8,3,3]\n"
        "b = input f64[2]\nm = input f64[1,4,3,3]\ny = deform_conv x w o b m\n",
        "x = input f64[1,4,4,4]\nw = input f64[2,2,2,2]\no = input f64[1,16,2,3]\n"
        "y = deform_conv x w o {group=2,offset_group=2,strides=[2,1],pads=[0,0,1,0]}\n",
        "x = input f64[1,2,6]\nw = input f64[1,2,2]\no = input f64[1,2,4]\n"
        "y = deform_conv x w o {dilations=[2]}\n",
    };
    CHECK_ROWS(rows, -0.9, 0.9);
}
END_TEST

START_TEST(products_and_determinants)
{
    static const char *const rows[] = {
        "x = input f64[2,3,3]\ny = det x\n",
        "x = input f64[1,1]\ny = det x\n",
        "x = input f64[2,3]\nk = const f64[3] {1,0,1}\nz = mul x k\na = const i64[] {1}\n"
        "y = cum_prod z a\n",
        "x = input f64[3,2]\na = const i64[] {0}\ny = cum_prod x a {exclusive=1}\n",
        "x = input f64[3,2]\na = const i64[] {-2}\ny = cum_prod x a {exclusive=1,reverse=1}\n",
        "x = input f64[2,3,2]\na = const i64[] {1}\ny = cum_prod x a {reverse=1}\n",
    };
    CHECK_ROWS(rows, -2, 2);
    check_gradients("x = input f64[1,3]\no = const f64[3,1] {1,2,3}\nm = mul x o\ny = det m\n"
                    "return y\n",
        -2, 2);
}
END_TEST

START_TEST(gradients_of_other_shapes_are_refused)
{
    static const char *const rows[] = {
        "x = input f32[1,1,4]\nd = input f32[1,1,4]\ny = max_pool_grad x d {kernel_shape=[2]}\n",
        "x = input f32[2,2]\nd = input f32[1]\ny = det_grad x d\n",
        "x = input f32[4,2,3]\nw = input f32[1,2,3]\nr = input f32[1,2,2]\nd = input f32[4,1,1,2]\n"
        "y = rnn_grad x w r _ _ _ d\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
        (void)graph_error(rows[i]);
}
END_TEST

PRT_TEST_MAIN("train/grad_kernel", transposed_convolutions, grouped_and_depthwise_convolutions,
    pools, the_first_of_equal_maxima_gets_the_gradient, lstm, gru, rnn, resize_in_all_modes,
    grid_sample_in_all_modes, regions, deformable_convolutions, products_and_determinants,
    gradients_of_other_shapes_are_refused)
