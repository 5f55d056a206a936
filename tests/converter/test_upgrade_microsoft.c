/* SPDX-License-Identifier: MIT */
/* test_upgrade_microsoft.c — operators of com.microsoft with another name in ai.onnx. */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include "converter/onnx_raw.h"
#include "ir/ir.h"

enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, F32 = 1, I32 = 6, I64 = 7 };

typedef struct input {
    const char *name;
    int32_t dtype;
    uint32_t rank;
} input;

static const int64_t dims[5] = { 4, 4, 4, 4, 4 };

/* A model of one node of `domain`; every dim of its inputs is 4. */
static poprt_status load_node(msg *node, const char *domain, uint32_t n, const input *in,
    prt_module **out)
{
    msg *nodes[] = { msg_text(node, PRT_ONNX_Node_domain, domain), NULL };
    msg *graph = onnx_graph("g", nodes);
    for (uint32_t i = 0; i < n; i++)
        graph = msg_msg(graph, GRAPH_INPUT, onnx_info(in[i].name, in[i].dtype, in[i].rank, dims));
    graph = msg_msg(graph, GRAPH_OUTPUT, onnx_info("y", in[0].dtype, in[0].rank, dims));
    msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "com.microsoft");
    import = msg_int(import, PRT_ONNX_OperatorSetId_version, 1);
    return onnx_load(msg_msg(onnx_model(graph, 21), PRT_ONNX_Model_opset_import, import), NULL,
        out);
}

/* The module of the last result of `made`. */
static prt_module *held;

static void let_go(void)
{
    prt_module_release(held);
    held = NULL;
}

/* Returns the op with output "y" of a valid module, which lives until the next call. */
static const prt_op *made(msg *node, const char *domain, uint32_t n, const input *in)
{
    let_go();
    const poprt_status status = load_node(node, domain, n, in, &held);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(held), POPRT_OK);
    return held->main->ret->in[0].value->def;
}

#define MADE(node, n, in) made(node, "com.microsoft", n, in)

static const input X3[] = { { "x", F32, 3 }, { "g", F32, 1 } };

START_TEST(normalisations_become_standard)
{
    msg *node =
        onnx_attr_f32(onnx_node("SimplifiedLayerNormalization", "x,g", "y,s"), "epsilon", 0.5f);
    const prt_op *op = made(node, "", 2, X3);
    ck_assert(prt_op_is(op, PRT_OP_rms_normalization));
    ck_assert_uint_eq(op->n_out, 1);
    ck_assert(((const prt_rms_normalization_attrs *)op->attrs)->epsilon == 0.5f);
    op = MADE(onnx_node("SimplifiedLayerNormalization", "x,g", "y"), 2, X3);
    ck_assert(prt_op_is(op, PRT_OP_rms_normalization));
    op = MADE(onnx_node("LayerNormalization", "x,g", "y"), 2, X3);
    ck_assert(prt_op_is(op, PRT_OP_layer_normalization));
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(onnx_node("SimplifiedLayerNormalization", "x,g", "z,y"), "", 2, X3,
                         &m),
        POPRT_E_UNSUPPORTED);
    let_go();
}
END_TEST

START_TEST(functions_become_standard)
{
    ck_assert(prt_op_is(MADE(onnx_node("Gelu", "x", "y"), 1, X3), PRT_OP_gelu));
    const prt_op *op = MADE(onnx_node("FastGelu", "x", "y"), 1, X3);
    ck_assert(prt_op_is(op, PRT_OP_gelu));
    ck_assert(prt_str_is(((const prt_gelu_attrs *)op->attrs)->approximate, "tanh"));
    ck_assert(prt_op_is(MADE(onnx_node("FastGelu", "x,g", "y"), 2, X3), PRT_OP_ms_fast_gelu));
    op = MADE(onnx_node("QuickGelu", "x", "y"), 1, X3);
    ck_assert(prt_op_is(op, PRT_OP_swish));
    ck_assert(((const prt_swish_attrs *)op->attrs)->alpha == 1.702f);
    op = MADE(onnx_attr_f32(onnx_node("QuickGelu", "x", "y"), "alpha", 1.0f), 1, X3);
    ck_assert(((const prt_swish_attrs *)op->attrs)->alpha == 1.0f);
    ck_assert(prt_op_is(MADE(onnx_node("SampleOp", "x", "y"), 1, X3), PRT_OP_identity));
    let_go();
}
END_TEST

START_TEST(products_become_standard)
{
    static const input in[] = { { "x", F32, 2 }, { "w", F32, 2 } };
    msg *node = onnx_attr_int(onnx_node("TransposeMatMul", "x,w", "y"), "transA", 1);
    const prt_op *op = MADE(node, 2, in);
    ck_assert(prt_op_is(op, PRT_OP_ms_fused_matmul));
    ck_assert_int_eq(((const prt_ms_fused_matmul_attrs *)op->attrs)->transA, 1);
    op = MADE(onnx_node("SparseToDenseMatMul", "x,w", "y"), 2, in);
    ck_assert(prt_op_is(op, PRT_OP_ms_fused_matmul));
    let_go();
}
END_TEST

START_TEST(moves_become_standard)
{
    static const input in[] = { { "x", F32, 3 }, { "i", I32, 0 }, { "p", I64, 1 } };
    static const input deep[] = { { "v", F32, 5 }, { "j", I32, 2 } };
    ck_assert(prt_op_is(MADE(onnx_node("Trilu", "x", "y"), 1, in), PRT_OP_trilu));
    ck_assert(prt_op_is(MADE(onnx_node("ExpandDims", "x,i", "y"), 2, in), PRT_OP_unsqueeze));
    ck_assert(prt_op_is(MADE(onnx_node("GatherND", "v,j", "y"), 2, deep), PRT_OP_gather_nd));
    ck_assert(prt_op_is(MADE(onnx_node("Unique", "g", "y,i,c"), 1, &X3[1]), PRT_OP_unique));
    const prt_op *op = MADE(onnx_node("TorchEmbedding", "x,p,,", "y"), 3, in);
    ck_assert(prt_op_is(op, PRT_OP_gather));
    ck_assert_uint_eq(op->n_in, 2);
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(onnx_node("Range", "x", "y"), "com.microsoft", 1, in, &m),
        POPRT_E_PARSE);
    let_go();
}
END_TEST

START_TEST(grids_and_spectra_become_standard)
{
    const prt_op *op = MADE(onnx_attr_int(onnx_node("Rfft", "x", "y"), "signal_ndim", 1), 1, X3);
    ck_assert(prt_op_is(op, PRT_OP_dft));
    ck_assert_int_eq(((const prt_dft_attrs *)op->attrs)->onesided, 1);
    ck_assert_int_eq(op->out[0].type->dims[2], 3);
    ck_assert_int_eq(op->out[0].type->dims[3], 2);
    prt_module *m = NULL;
    msg *node = onnx_attr_int(onnx_node("Rfft", "x", "y"), "signal_ndim", 2);
    ck_assert_int_eq(load_node(node, "com.microsoft", 1, X3, &m), POPRT_E_UNSUPPORTED);
    let_go();
}
END_TEST

START_TEST(unsupported_decoders_are_refused)
{
    static const input in[] = { { "x", F32, 3 }, { "w", F32, 2 }, { "n", I32, 1 } };
    msg *node =
        onnx_attr_int(onnx_node("DecoderMaskedSelfAttention", "x,w,,,,,n", "y,p"), "num_heads", 1);
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(node, "com.microsoft", 3, in, &m), POPRT_E_SHAPE); /* 4 for 3 */
    ck_assert_msg(strstr(last_error(), "a multiple of 3 is needed") != NULL, "%s", last_error());
    node = onnx_attr_int(onnx_node("DecoderMaskedSelfAttention", "x,w,,,,,n", "y,p"),
        "past_present_share_buffer", 1);
    ck_assert_int_eq(load_node(node, "com.microsoft", 3, in, &m), POPRT_E_UNSUPPORTED);
    node = onnx_node("DecoderMaskedSelfAttention", "x,w,,,,,n,n,n", "y,p");
    ck_assert_int_eq(load_node(node, "com.microsoft", 3, in, &m), POPRT_E_UNSUPPORTED);
    let_go();
}
END_TEST

START_TEST(unsupported_state_options_are_refused)
{
    static const input in[] = { { "x", F32, 3 }, { "w", F32, 3 } };
    msg *node = onnx_attr_int(onnx_node("LinearAttention", "x,x,x", "y,s"), "q_num_heads", 2);
    node = onnx_attr_text(onnx_attr_int(node, "kv_num_heads", 2), "update_rule", "linear");
    ck_assert(prt_op_is(MADE(node, 1, in), PRT_OP_linear_attention));
    prt_module *m = NULL;
    node = onnx_attr_int(onnx_node("LinearAttention", "x,x,x", "y,s"), "state_window", 2);
    ck_assert_int_eq(load_node(node, "com.microsoft", 1, in, &m), POPRT_E_UNSUPPORTED);
    node = onnx_attr_int(onnx_node("CausalConvWithState", "x,w", "y,s"), "dilation", 2);
    ck_assert_int_eq(load_node(node, "com.microsoft", 2, in, &m), POPRT_E_UNSUPPORTED);
    let_go();
}
END_TEST

START_TEST(channels_last_gets_transposes)
{
    static const input in[] = { { "x", F32, 4 }, { "w", F32, 4 }, { "b", F32, 1 },
        { "z", F32, 4 } };
    const prt_op *op = MADE(onnx_node("NhwcConv", "x,w", "y"), 2, in);
    ck_assert(prt_op_is(op, PRT_OP_transpose));
    ck_assert(prt_op_is(op->in[0].value->def, PRT_OP_conv));
    static const int64_t whole[4] = { 4, 1, 1, 4 };
    ck_assert_mem_eq(op->out[0].type->dims, whole, sizeof(whole));
    static const int64_t pads[4] = { 1, 2, 2, 1 };
    msg *node = onnx_attr_ints(onnx_node("NhwcFusedConv", "x,w,b,z", "y"), "pads", 4, pads);
    op = MADE(onnx_attr_text(node, "activation", "Relu"), 4, in);
    ck_assert(prt_op_is(op->in[0].value->def, PRT_OP_ms_fused_conv));
    ck_assert_int_eq(op->out[0].type->dims[1], 4);
    prt_module *m = NULL;
    ck_assert_int_eq(load_node(onnx_node("NhwcConv", "x", "y"), "com.microsoft", 1, in, &m),
        POPRT_E_PARSE);
    let_go();
}
END_TEST

START_TEST(grid_sample_gets_the_names_of_its_modes)
{
    static const char *const modes[][2] = { { "bilinear", "linear" }, { "bicubic", "cubic" },
        { "nearest", "nearest" } };
    static const int64_t grid[4] = { 4, 4, 4, 2 };
    for (size_t i = 0; i < PRT_COUNT_OF(modes); i++) {
        prt_module *m = NULL;
        msg *node = onnx_attr_text(onnx_node("GridSample", "x,g", "y"), "mode", modes[i][0]);
        msg *nodes[] = { msg_text(node, PRT_ONNX_Node_domain, "com.microsoft"), NULL };
        msg *graph = msg_msg(onnx_graph("g", nodes), GRAPH_INPUT, onnx_info("x", F32, 4, dims));
        graph = msg_msg(graph, GRAPH_INPUT, onnx_info("g", F32, 4, grid));
        graph = msg_msg(graph, GRAPH_OUTPUT, onnx_info("y", F32, 4, dims));
        msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "com.microsoft");
        import = msg_int(import, PRT_ONNX_OperatorSetId_version, 1);
        const poprt_status status =
            onnx_load(msg_msg(onnx_model(graph, 21), PRT_ONNX_Model_opset_import, import), NULL,
                &m);
        ck_assert_msg(status == POPRT_OK, "%s", last_error());
        ck_assert(prt_op_is(m->main->first, PRT_OP_grid_sample));
        ck_assert(
            prt_str_is(((const prt_grid_sample_attrs *)m->main->first->attrs)->mode, modes[i][1]));
        prt_module_release(m);
    }
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_microsoft", normalisations_become_standard,
    functions_become_standard, products_become_standard, moves_become_standard,
    grids_and_spectra_become_standard, unsupported_decoders_are_refused,
    unsupported_state_options_are_refused, channels_last_gets_transposes,
    grid_sample_gets_the_names_of_its_modes)
