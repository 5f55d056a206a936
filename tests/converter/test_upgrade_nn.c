/* SPDX-License-Identifier: MIT */
/*
 * test_upgrade_nn.c — nodes of older opsets: softmax, normalisation, resampling.
 * Covers: upgrade_norm.c.
 */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include "ir/ir.h"

enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, F32 = 1 };

/* A model of one node; input k of the node's `names` has rank `ranks[k]` and dims of 4. */
static poprt_status load_node(msg *node, int64_t opset, uint32_t n_in, const char *const *names,
    const uint32_t *ranks, prt_module **out)
{
    static const int64_t dims[4] = { 4, 4, 4, 4 };
    msg *nodes[] = { node, NULL };
    msg *graph = onnx_graph("g", nodes);
    for (uint32_t i = 0; i < n_in; i++)
        graph = msg_msg(graph, GRAPH_INPUT, onnx_info(names[i], F32, ranks[i], dims));
    graph = msg_msg(graph, GRAPH_OUTPUT, onnx_info("y", F32, ranks[0], dims));
    return onnx_load(onnx_model(graph, opset), NULL, out);
}

static prt_module *loaded(msg *node, int64_t opset, uint32_t n_in, const char *const *names,
    const uint32_t *ranks)
{
    prt_module *m = NULL;
    const poprt_status status = load_node(node, opset, n_in, names, ranks, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

static const prt_op *maker(const prt_module *m)
{
    return m->main->ret->in[0].value->def;
}

static const char *const X[] = { "x" };
static const char *const BN[] = { "x", "s", "b", "m", "v" };
static const uint32_t FOUR[] = { 4 }, BN_RANKS[] = { 4, 1, 1, 1, 1 };

START_TEST(softmax_over_several_dims_is_flattened)
{
    prt_module *m = loaded(onnx_node("Softmax", "x", "y"), 9, 1, X, FOUR);
    ck_assert(prt_op_is(maker(m), PRT_OP_reshape));
    const prt_op *softmax = maker(m)->in[0].value->def;
    ck_assert(prt_op_is(softmax, PRT_OP_softmax));
    ck_assert(prt_op_is(softmax->in[0].value->def, PRT_OP_flatten));
    ck_assert_int_eq(softmax->out[0].type->rank, 2);
    prt_module_release(m);
    m = loaded(onnx_attr_int(onnx_node("Hardmax", "x", "y"), "axis", 3), 9, 1, X, FOUR);
    ck_assert(prt_op_is(maker(m), PRT_OP_hardmax));
    ck_assert(prt_op_is(m->main->first, PRT_OP_hardmax));
    prt_module_release(m);
    ck_assert_int_eq(load_node(onnx_attr_int(onnx_node("Softmax", "x", "y"), "axis", 9), 9, 1, X,
                         FOUR, &m),
        POPRT_E_SHAPE);
}
END_TEST

START_TEST(unread_statistics_mean_inference)
{
    /* Five named outputs without readers mean inference. */
    msg *node = onnx_node("BatchNormalization", "x,s,b,m,v", "y,p,q,r,t");
    prt_module *m = loaded(onnx_attr_int(node, "is_test", 0), 6, 5, BN, BN_RANKS);
    const prt_batch_normalization_attrs *a = maker(m)->attrs;
    ck_assert_uint_eq(maker(m)->n_out, 1);
    ck_assert_int_eq(a->training_mode, 0);
    ck_assert_ptr_null(maker(m)->extra);
    prt_module_release(m);
    const uint32_t each[] = { 4, 3, 3, 3, 3 };
    node = onnx_node("BatchNormalization", "x,s,b,m,v", "y");
    m = loaded(onnx_attr_int(node, "spatial", 0), 7, 5, BN, each);
    ck_assert(prt_op_is(maker(m), PRT_OP_reshape));
    ck_assert(prt_op_is(maker(m)->in[0].value->def, PRT_OP_batch_normalization));
    prt_module_release(m);
}
END_TEST

START_TEST(group_norm_factors_are_by_group)
{
    static const char *const names[] = { "x", "s", "b" };
    static const uint32_t ranks[] = { 4, 1, 1 };
    msg *node = onnx_attr_int(onnx_node("GroupNormalization", "x,s,b", "y"), "num_groups", 4);
    prt_module *m = loaded(node, 18, 3, names, ranks);
    ck_assert(prt_op_is(maker(m), PRT_OP_group_normalization));
    ck_assert(prt_op_is(maker(m)->in[1].value->def, PRT_OP_reshape));
    prt_module_release(m);
    node = onnx_attr_int(onnx_node("GroupNormalization", "x,s,b", "y"), "num_groups", 0);
    ck_assert_int_eq(load_node(node, 18, 3, names, ranks, &m), POPRT_E_ARG);
}
END_TEST

START_TEST(upsample_becomes_resize)
{
    msg *node = onnx_attr_f32(onnx_node("Upsample", "x", "y"), "height_scale", 2.0f);
    node = onnx_attr_text(onnx_attr_f32(node, "width_scale", 1.0f), "mode", "bilinear");
    prt_module *m = NULL;
    /* The declared output of 4 rows is wrong; the inferred type counts. */
    m = loaded(node, 6, 1, X, FOUR);
    const prt_resize_attrs *a = maker(m)->attrs;
    ck_assert(prt_op_is(maker(m), PRT_OP_resize));
    ck_assert(prt_str_is(a->mode, "linear"));
    ck_assert(prt_str_is(a->coordinate_transformation_mode, "asymmetric"));
    ck_assert_int_eq(maker(m)->out[0].type->dims[2], 8);
    prt_module_release(m);
    ck_assert_int_eq(load_node(onnx_node("Upsample", "x", "y"), 7, 1, X, FOUR, &m), POPRT_E_PARSE);
}
END_TEST

START_TEST(changed_attributes_are_converted)
{
    msg *node = onnx_attr_f32(onnx_node("GlobalLpPool", "x", "y"), "p", 3.0f);
    prt_module *m = loaded(node, 1, 1, X, FOUR);
    ck_assert_int_eq(((const prt_global_lp_pool_attrs *)maker(m)->attrs)->p, 3);
    prt_module_release(m);
    node = onnx_attr_f32(onnx_node("GlobalLpPool", "x", "y"), "p", -1.0f);
    ck_assert_int_eq(load_node(node, 1, 1, X, FOUR, &m), POPRT_E_ARG);
    static const char *const names[] = { "x", "g" };
    static const uint32_t ranks[] = { 4, 4 };
    node = onnx_attr_text(onnx_node("GridSample", "x,g", "y"), "mode", "bicubic");
    ck_assert_int_eq(load_node(node, 16, 2, names, ranks, &m), POPRT_E_SHAPE); /* 4 is not 2 */
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_nn", softmax_over_several_dims_is_flattened,
    unread_statistics_mean_inference, group_norm_factors_are_by_group, upsample_becomes_resize,
    changed_attributes_are_converted)
