/* SPDX-License-Identifier: MIT */
/*
 * Operators of images and boxes of TensorFlow have its results (op_image.c, op_resize.c,
 * op_boxes.c). The numbers are those of TensorFlow 2.21.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

static void assert_converted(const char *text, const char *parts)
{
    prt_graph *g = graphdef_convert(text);
    assert_text_has(graph_text(g), parts);
    module_free(g);
}

START_TEST(resize_selects_the_cells_of_float32)
{
    assert_converted("x = Placeholder() dtype=float shape=[1,4,2,1]\n"
                     "s = Const() value=int32[2]{8, 4}\n"
                     "y = ResizeNearestNeighbor(x, s) half_pixel_centers=true T=float\n",
        "resize !gather half_pixel");
    /* 49 · (2/98) is 0.99999994 in float32: cell 49 is the first one still. */
    assert_graphdef_results("x = Const() value=float[1,1,2,1]{0,1}\n"
                            "s = Const() value=int32[2]{1, 98}\n"
                            "r = ResizeNearestNeighbor(x, s) T=float\n"
                            "b = Const() value=int32[4]{0, 0, 47, 0}\n"
                            "n = Const() value=int32[4]{1, 1, 4, 1}\n"
                            "y = Identity(r) T=float\n",
        "z = const f32[] {0}\n"
        "o = const f32[] {1}\n"
        "a = const i64[4] {1, 1, 49, 1}\n"
        "p = expand z a\n"
        "q = expand o a\n"
        "y = concat p q {axis=2}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(whole_factors_are_scales)
{
    static const char nodes[] = "x = Placeholder() dtype=float shape=[?,4,6,3]\n"
                                "s = Const() value=int32[2]{%d, %d}\n"
                                "y = ResizeBilinear(x, s) half_pixel_centers=true T=float\n";
    static const struct {
        int height, width;
        const char *parts;
    } cases[] = { { 8, 18, "{1, 2, 3, 1} resize !shape" }, { 1, 3, "{1, 0.25, 0.5, 1} !shape" },
        { 8, 2, "resize shape" }, { 5, 6, "resize shape" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[300];
        (void)snprintf(text, sizeof(text), nodes, cases[i].height, cases[i].width);
        assert_converted(text, cases[i].parts);
    }
}
END_TEST

START_TEST(cubic_weights_have_steps)
{
    static const char *const shapes[] = { "[1,1,4,1]", "[?,?,?,?]" };
    assert_graphdef_results("x = Const() value=float[1,1,4,1]{0,8,0,16}\n"
                            "s = Const() value=int32[2]{1, 2}\n"
                            "y = ResizeBicubic(x, s) half_pixel_centers=true T=float\n",
        "y = const f32[1,1,2,1] {4.235294, 8}\n"
        "return y\n",
        1e-6);
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        (void)snprintf(text, sizeof(text),
            "x = Placeholder() dtype=uint8 shape=%s\n"
            "s = Const() value=int32[2]{3, 2}\n"
            "y = ResizeBicubic(x, s) T=uint8\n",
            shapes[i]);
        assert_converted(text, "gather !resize");
    }
}
END_TEST

START_TEST(areas_are_means_of_parts_of_cells)
{
    assert_graphdef_results("x = Const() value=float[1,2,3,1]{0,1,2,3,4,5}\n"
                            "s = Const() value=int32[2]{1, 2}\n"
                            "y = ResizeArea(x, s) T=float\n",
        "y = const f32[1,1,2,1] {1.8333334, 3.1666667}\n"
        "return y\n",
        1e-6);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,?,3,1]\n"
                            "s = Const() value=int32[2]{1, 2}\n"
                            "y = ResizeArea(x, s) T=float\n",
        "ResizeArea must be known");
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,2,3,1]\n"
                            "s = Const() value=int32[2]{1, 2}\n"
                            "y = ResizeBilinear(x, s) align_corners=true half_pixel_centers=true "
                            "T=float\n",
        "align_corners half_pixel_centers");
}
END_TEST

START_TEST(crops_outside_have_the_extrapolated_value)
{
    assert_graphdef_results("x = Const() value=float[1,2,3,1]{0,1,2,3,4,5}\n"
                            "b = Const() value=float[2,4]{0,0,1,0.5,0.5,0.5,2,0.5}\n"
                            "i = Const() value=int32[2]{0, 0}\n"
                            "s = Const() value=int32[2]{2, 2}\n"
                            "y = CropAndResize(x, b, i, s) extrapolation_value=-1.0 T=float\n",
        "y = const f32[2,2,2,1] {0, 1, 3, 4, 2.5, 2.5, -1, -1}\n"
        "return y\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,2,3,1]\n"
                            "b = Placeholder() dtype=float shape=[2,4]\n"
                            "i = Const() value=int32[2]{0, 0}\n"
                            "s = Const() value=int32[2]{0, 2}\n"
                            "y = CropAndResize(x, b, i, s) T=float\n",
        "crop_size positive");
}
END_TEST

START_TEST(transforms_read_cells_outside_by_their_mode)
{
    static const struct {
        const char *mode, *interpolation, *values;
    } cases[] = {
        { "CONSTANT", "BILINEAR", "{5, 2, 9, 9}" },
        { "CONSTANT", "NEAREST", "{9, 2, 9, 9}" },
        { "REFLECT", "BILINEAR", "{1, 2, 9, 2}" },
        { "REFLECT", "NEAREST", "{1, 2, 9, 2}" },
        { "WRAP", "BILINEAR", "{4, 2, 9, 4}" },
        { "WRAP", "NEAREST", "{4, 2, 9, 4}" },
        { "NEAREST", "BILINEAR", "{1, 2, 9, 1}" },
        { "NEAREST", "NEAREST", "{1, 2, 9, 1}" },
    };
    static const char nodes[] = "x = Const() value=float[1,1,3,1]{1,2,4}\n"
                                "t = Const() value=float[1,8]{1,0,-0.5,0,1,0,-0.5,0}\n"
                                "s = Const() value=int32[2]{1, 4}\n"
                                "f = Const() value=float[]{9}\n"
                                "y = ImageProjectiveTransformV3(x, t, s, f) fill_mode=\"%s\" "
                                "interpolation=\"%s\" dtype=float\n";
    char text[500], graph[200];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(text, sizeof(text), nodes, cases[i].mode, cases[i].interpolation);
        (void)snprintf(graph, sizeof(graph), "y = const f32[1,1,4,1] %s\nreturn y\n",
            cases[i].values);
        assert_graphdef_results(text, graph, 1e-6);
    }
    (void)snprintf(text, sizeof(text), nodes, "ELSE", "NEAREST");
    assert_graphdef_refused(text, "fill_mode ELSE");
}
END_TEST

START_TEST(patches_are_rows_of_cells)
{
    assert_graphdef_results("x = Const() value=int32[1,3,3,1]{0,1,2,3,4,5,6,7,8}\n"
                            "y = ExtractImagePatches(x) ksizes=(1, 2, 2, 1) strides=(1, 2, 2, 1) "
                            "rates=(1, 1, 1, 1) padding=\"SAME\" T=int32\n",
        "y = const i32[1,2,2,4] {0, 1, 3, 4, 2, 0, 5, 0, 6, 7, 0, 0, 8, 0, 0, 0}\n"
        "return y\n",
        0);
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[1,?,3,1]\n"
                            "y = ExtractImagePatches(x) ksizes=(1, 2, 2, 1) strides=(1, 2, 2, 1) "
                            "rates=(1, 1, 1, 1) padding=\"SAME\" T=float\n",
        "ExtractImagePatches SAME");
}
END_TEST

START_TEST(hue_saturation_and_value_of_grey_and_black_are_defined)
{
    assert_graphdef_results(
        "x = Const() value=float[4,3]{0.5,0.25,0.75,0.2,0.2,0.2,0,0,0,1,0.5,0}\n"
        "y = RGBToHSV(x) T=float\n"
        "z = HSVToRGB(y) T=float\n"
        "v = Identity(y) T=float\n",
        "v = const f32[4,3] {0.75, 0.6666667, 0.75, 0, 0, 0.2, 0, 0, 0, 0.083333336, 1, 1}\n"
        "z = const f32[4,3] {0.5, 0.25, 0.75, 0.2, 0.2, 0.2, 0, 0, 0, 1, 0.5, 0}\n"
        "return z, v\n",
        1e-6);
}
END_TEST

#define BOXES                                                                                      \
    "b = Const() value=float[4,4]{0,0,1,1,0,0,1,0.9,0,0,1,0.6,0,0.5,1,1.5}\n"                      \
    "s = Const() value=float[4]{0.9,0.8,0.7,0.6}\n"                                                \
    "m = Const() value=int32[]{5}\n"

START_TEST(selected_boxes_are_padded_with_zero)
{
    assert_graphdef_results(BOXES "t = Const() value=float[]{0.5}\n"
                                  "l = Const() value=float[]{0.65}\n"
                                  "n = NonMaxSuppressionV4(b, s, m, t, l) T=float "
                                  "T_threshold=float pad_to_max_output_size=true\n"
                                  "y = Identity(n) T=int32\n"
                                  "c = Identity(n:1) T=int32\n",
        "y = const i32[5] {0, 0, 0, 0, 0}\n"
        "c = const i32[] {1}\n"
        "return y, c\n",
        0);
}
END_TEST

START_TEST(soft_suppression_lowers_scores)
{
    assert_graphdef_results(BOXES "t = Const() value=float[]{0.1}\n"
                                  "l = Const() value=float[]{0.3}\n"
                                  "g = Const() value=float[]{0.5}\n"
                                  "n = NonMaxSuppressionV5(b, s, m, t, l, g) T=float "
                                  "pad_to_max_output_size=true\n"
                                  "y = Identity(n) T=int32\n"
                                  "v = Identity(n:1) T=float\n"
                                  "c = Identity(n:2) T=int32\n",
        "y = const i32[5] {0, 3, 2, 0, 0}\n"
        "v = const f32[5] {0.9, 0.5369036, 0.48620766, 0, 0}\n"
        "c = const i32[] {3}\n"
        "return y, v, c\n",
        1e-6);
    assert_graphdef_refused(BOXES "t = Const() value=float[]{0.1}\n"
                                  "g = Placeholder() dtype=float shape=[]\n"
                                  "y = NonMaxSuppressionV5(b, s, m, t, t, g) T=float\n",
        "soft_nms_sigma constant");
}
END_TEST

START_TEST(overlaps_may_be_given)
{
    assert_graphdef_results("o = Const() value=float[3,3]{1,0.6,0.1,0.6,1,0.2,0.1,0.2,1}\n"
                            "s = Const() value=float[3]{0.5,0.9,0.4}\n"
                            "m = Const() value=int32[]{3}\n"
                            "t = Const() value=float[]{0.5}\n"
                            "l = Const() value=float[]{0.1}\n"
                            "y = NonMaxSuppressionWithOverlaps(o, s, m, t, l)\n",
        "y = const i32[2] {1, 2}\n"
        "return y\n",
        0);
}
END_TEST

START_TEST(classes_are_merged_by_score)
{
    assert_graphdef_results("b = Const() value=float[1,3,1,4]{0,0,1,1,0,0,1,0.9,0,0.5,1,1.5}\n"
                            "s = Const() value=float[1,3,2]{0.9,0.2,0.8,0.7,0.3,0.6}\n"
                            "m = Const() value=int32[]{2}\n"
                            "k = Const() value=int32[]{5}\n"
                            "t = Const() value=float[]{0.5}\n"
                            "l = Const() value=float[]{0.25}\n"
                            "n = CombinedNonMaxSuppression(b, s, m, k, t, l)\n"
                            "y = Identity(n) T=float\n"
                            "v = Identity(n:1) T=float\n"
                            "c = Identity(n:2) T=float\n"
                            "d = Identity(n:3) T=int32\n",
        "y = const f32[1,5,4] {0,0,1,1,0,0,1,0.9,0,0.5,1,1,0,0.5,1,1,0,0,0,0}\n"
        "v = const f32[1,5] {0.9, 0.7, 0.6, 0.3, 0}\n"
        "c = const f32[1,5] {0, 1, 1, 0, 0}\n"
        "d = const i32[1] {4}\n"
        "return y, v, c, d\n",
        0);
}
END_TEST

PRT_TEST_MAIN("tensorflow/op_image", resize_selects_the_cells_of_float32, whole_factors_are_scales,
    cubic_weights_have_steps, areas_are_means_of_parts_of_cells,
    crops_outside_have_the_extrapolated_value, transforms_read_cells_outside_by_their_mode,
    patches_are_rows_of_cells, hue_saturation_and_value_of_grey_and_black_are_defined,
    selected_boxes_are_padded_with_zero, soft_suppression_lowers_scores, overlaps_may_be_given,
    classes_are_merged_by_score)
