/* SPDX-License-Identifier: MIT */
/* test_upgrade_experimental.c — operators of ai.onnx that were experimental. Their values are
 * tested with the model tests/fixtures/experimental. */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include "ir/ir.h"

enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, F16 = 10, F32 = 1 };

/* A model of one node on x, [2, 3, 6, 5] or the first `rank` of these dims. */
static poprt_status load_node(msg *node, int64_t opset, int32_t dtype, uint32_t rank,
    prt_module **out)
{
    static const int64_t dims[4] = { 2, 3, 6, 5 };
    msg *nodes[] = { node, NULL };
    msg *graph = msg_msg(onnx_graph("g", nodes), GRAPH_INPUT, onnx_info("x", dtype, rank, dims));
    graph = msg_msg(graph, GRAPH_OUTPUT, onnx_info("y", dtype, 0, dims));
    return onnx_load(onnx_model(graph, opset), NULL, out);
}

static void ck_graph(msg *node, int32_t dtype, const char *want)
{
    prt_module *m = NULL;
    prt_str text;
    const poprt_status status = load_node(node, 8, dtype, 4, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    ck_assert_int_eq(prt_ir_print(m->main, m->arena, &text), POPRT_OK);
    ck_assert_str_eq(text.data, want);
    prt_module_release(m);
}

static void ck_refused(msg *node, uint32_t rank, poprt_status want, const char *why)
{
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(node, 8, F32, rank, &m), want);
    ck_assert_msg(strstr(last_error(), why) != NULL, "%s", last_error());
}

static msg *node_of(const char *op)
{
    return onnx_node(op, "x", "y");
}

START_TEST(factors_have_the_type_of_the_data)
{
    ck_graph(onnx_attr_f32(onnx_attr_f32(node_of("Affine"), "alpha", 2.0f), "beta", 3.0f), F32,
        "x = input f32[2,3,6,5]\n%0 = const f32[] {3}\n%1 = const f32[] {2}\n"
        "%2 = mul x %1\ny = add %2 %0\nreturn y\n");
    ck_graph(onnx_attr_f32(node_of("Scale"), "scale", 2.0f), F16,
        "x = input f16[2,3,6,5]\n%0 = const f32[] {2}\n%1 = cast_like %0 x\n"
        "y = mul x %1\nreturn y\n");
}
END_TEST

START_TEST(image_scaler_adds_a_bias_by_channel)
{
    static const float bias[3] = { 1, 2, 3 };
    msg *node = onnx_attr_f32s(node_of("ImageScaler"), "bias", 3, bias);
    ck_graph(onnx_attr_f32(node, "scale", 0.5f), F32,
        "x = input f32[2,3,6,5]\n%0 = const f32[3,1,1] {1, 2, 3}\n"
        "%1 = const f32[] {0.5}\n%2 = mul x %1\ny = add %2 %0\nreturn y\n");
}
END_TEST

START_TEST(crop_becomes_slice)
{
    static const int64_t border[4] = { 1, 2, 0, 1 }, size[2] = { 3, 2 };
    ck_graph(onnx_attr_ints(node_of("Crop"), "border", 4, border), F32,
        "x = input f32[2,3,6,5]\n%0 = const i64[2] {2, 1}\n"
        "%1 = const i64[2] {-1, 2147483647}\n%2 = const i64[2] {2, 3}\n"
        "y = slice x %0 %1 %2\nreturn y\n");
    ck_graph(onnx_attr_ints(node_of("Crop"), "scale", 2, size), F32,
        "x = input f32[2,3,6,5]\n%0 = const i64[2] {0, 0}\n"
        "%1 = const i64[2] {3, 2}\n%2 = const i64[2] {2, 3}\n"
        "y = slice x %0 %1 %2\nreturn y\n");
}
END_TEST

START_TEST(statistics_have_the_axes_of_the_attributes)
{
    ck_graph(onnx_attr_int(node_of("MeanVarianceNormalization"), "across_channels", 1), F32,
        "x = input f32[2,3,6,5]\n"
        "y = mean_variance_normalization x {axes=[0,2,3,1]}\nreturn y\n");
    ck_graph(onnx_attr_int(node_of("MeanVarianceNormalization"), "normalize_variance", 0), F32,
        "x = input f32[2,3,6,5]\n%0 = const i64[3] {0, 2, 3}\n"
        "%1 = reduce_mean x %0\ny = sub x %1\nreturn y\n");
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    static const float bias[2] = { 1, 2 };
    static const int64_t border[4] = { 0, 4, 0, 3 }, negative[4] = { -1, 0, 0, 0 },
                         size[2] = { 7, 1 };
    ck_refused(onnx_attr_f32(node_of("Affine"), "gamma", 1.0f), 4, POPRT_E_PARSE,
        "Affine-8 has no attribute 'gamma'");
    ck_refused(onnx_attr_f32(node_of("ScaledTanh"), "alpha", 1.0f), 4, POPRT_E_PARSE,
        "needs the attributes alpha and beta");
    ck_refused(onnx_attr_f32s(node_of("ImageScaler"), "bias", 2, bias), 4, POPRT_E_SHAPE,
        "one number for each channel");
    ck_refused(node_of("ImageScaler"), 3, POPRT_E_SHAPE, "[N, C, H, W]");
    ck_refused(node_of("Crop"), 4, POPRT_E_PARSE, "needs the attribute border or scale");
    ck_refused(onnx_attr_ints(node_of("Crop"), "border", 3, border), 4, POPRT_E_PARSE,
        "border must be four sizes");
    ck_refused(onnx_attr_ints(node_of("Crop"), "border", 4, negative), 4, POPRT_E_PARSE,
        "border must be four sizes");
    ck_refused(onnx_attr_ints(node_of("Crop"), "border", 4, border), 4, POPRT_E_SHAPE,
        "exceed the image");
    ck_refused(onnx_attr_ints(node_of("Crop"), "scale", 2, size), 4, POPRT_E_SHAPE,
        "exceed the image");
    ck_refused(onnx_node("Scale", "", "y"), 4, POPRT_E_PARSE, "input 0 is missing");
}
END_TEST

START_TEST(opset_10_has_none_of_them)
{
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(node_of("ImageScaler"), 10, F32, 4, &m), POPRT_OK);
    ck_assert_ptr_null(m->main->first->def); /* an operator that the library does not know */
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_experimental", factors_have_the_type_of_the_data,
    image_scaler_adds_a_bias_by_channel, crop_becomes_slice,
    statistics_have_the_axes_of_the_attributes, wrong_attributes_are_refused,
    opset_10_has_none_of_them)
