/* SPDX-License-Identifier: MIT */
/* test_upgrade_microsoft_quant.c — quantised operators of com.microsoft that become standard
 * ones. */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include "ir/ir.h"

enum { F32 = 1, U8 = 2, I8 = 3, I16 = 5 };

/* A model of one node of com.microsoft with inputs "a", "b", … of these types and ranks, dims of
 * 2; `type` is that of its output "y". */
static prt_module *loaded(msg *node, uint32_t n_in, const int32_t *types, const uint32_t *ranks,
    int32_t type)
{
    static const int64_t dims[4] = { 2, 2, 2, 2 };
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    msg *nodes[] = { msg_text(node, PRT_ONNX_Node_domain, "com.microsoft"), NULL };
    msg *graph = onnx_graph("g", nodes);
    for (uint32_t i = 0; i < n_in; i++)
        graph = msg_msg(graph, PRT_ONNX_Graph_input, onnx_info(names[i], types[i], ranks[i], dims));
    graph = msg_msg(graph, PRT_ONNX_Graph_output, onnx_info("y", type, ranks[0], dims));
    const msg *import = msg_int(msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "com.microsoft"),
        PRT_ONNX_OperatorSetId_version, 1);
    msg *model = msg_msg(onnx_model(graph, 13), PRT_ONNX_Model_opset_import, import);
    prt_module *m = NULL;
    const poprt_status status = onnx_load(model, NULL, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

static const prt_op *maker(const prt_module *m)
{
    return m->main->ret->in[0].value->def;
}

START_TEST(linear_quantisation_becomes_standard)
{
    static const int32_t to[] = { F32, F32, I16 }, from[] = { I16, F32, I16 };
    static const uint32_t whole[] = { 2, 0, 0 }, by_axis[] = { 2, 1, 1 };
    prt_module *m = loaded(onnx_node("QuantizeLinear", "a,b,c", "y"), 3, to, whole, I16);
    ck_assert(prt_op_is(maker(m), PRT_OP_quantize_linear));
    ck_assert_int_eq(maker(m)->out[0].type->dtype, PRT_DTYPE_i16);
    prt_module_release(m);
    m = loaded(onnx_attr_int(onnx_node("DequantizeLinear", "a,b,c", "y"), "axis", 0), 3, from,
        by_axis, F32);
    ck_assert(prt_op_is(maker(m), PRT_OP_dequantize_linear));
    const prt_dequantize_linear_attrs *a = maker(m)->attrs;
    ck_assert_int_eq(a->axis, 0);
    prt_module_release(m);
}
END_TEST

START_TEST(quantised_convolution_becomes_standard)
{
    static const int32_t types[] = { U8, F32, U8, I8, F32, I8, F32, U8 };
    static const uint32_t ranks[] = { 4, 0, 0, 4, 0, 0, 0, 0 };
    static const int64_t strides[] = { 2, 1 };
    const char *const inputs = "a,b,c,d,e,f,g,h";
    msg *node = onnx_attr_ints(onnx_node("QLinearConv", inputs, "y"), "strides", 2, strides);
    prt_module *m = loaded(onnx_attr_int(node, "channels_last", 0), 8, types, ranks, U8);
    ck_assert(prt_op_is(maker(m), PRT_OP_qlinear_conv));
    const prt_qlinear_conv_attrs *a = maker(m)->attrs;
    ck_assert_uint_eq(a->strides.count, 2);
    ck_assert_int_eq(a->strides.data[0], 2);
    prt_module_release(m);
    m = loaded(onnx_attr_int(onnx_node("QLinearConv", inputs, "y"), "channels_last", 1), 8, types,
        ranks, U8);
    ck_assert(prt_op_is(maker(m), PRT_OP_ms_qlinear_conv));
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_microsoft_quant", linear_quantisation_becomes_standard,
    quantised_convolution_becomes_standard)
