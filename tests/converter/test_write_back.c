/* SPDX-License-Identifier: MIT */
/*
 * test_write_back.c — nodes of com.microsoft that the reader replaced by several ops. Unchanged
 * ones are written as they were, at the model's opset; changed ones are written as ai.onnx.
 * Covers: write_back_microsoft.c.
 */
#define _GNU_SOURCE
#include <string.h>

#include "support/onnx_check.h"

#include "converter/onnx_raw.h"
#include "ir/build.h"

enum { F32 = 1, U8 = 2, I32 = 6, I64 = 7, BF16 = 16, OPSET = 9 };

typedef struct input {
    const char *name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[4];
} input;

static const int64_t two[] = { 2, 2 }, ones[] = { 1, 1, 1, 1 };

static msg *range_node(void)
{
    return onnx_node("Range", "a,b", "y");
}
static msg *step_node(void)
{
    return onnx_node("Range", "a,b,b", "y");
}
static msg *expand_node(void)
{
    return onnx_node("ExpandDims", "x,i", "y");
}
static msg *gather_node(void)
{
    return onnx_node("GatherND", "x,i", "y");
}
static msg *embedding_node(void)
{
    return onnx_node("TorchEmbedding", "x,i", "y");
}
static msg *pad_node(void)
{
    return onnx_attr_text(onnx_node("Pad", "x,p,v", "y"), "mode", "constant");
}
static msg *unique_node(void)
{
    return onnx_node("Unique", "x", "y,,c");
}
static msg *rfft_node(void)
{
    msg *node = onnx_attr_int(onnx_node("Rfft", "x", "y"), "onesided", 1);
    return onnx_attr_int(onnx_attr_int(node, "normalized", 0), "signal_ndim", 1);
}
static msg *conv_node(void)
{
    msg *node = onnx_attr_ints(onnx_node("NhwcConv", "x,w", "y"), "kernel_shape", 2, two);
    return onnx_attr_ints(node, "pads", 4, ones);
}
static msg *fused_conv_node(void)
{
    msg *node = onnx_attr_ints(onnx_node("NhwcFusedConv", "x,w,,z", "y"), "kernel_shape", 2, two);
    return onnx_attr_text(node, "activation", "Relu");
}
static msg *pool_node(void)
{
    return onnx_attr_ints(onnx_node("NhwcMaxPool", "x", "y"), "kernel_shape", 2, two);
}

static const struct {
    const char *name, *inputs; /* of the node in the file */
    msg *(*node)(void);
    input in[4];
    int64_t younger; /* opset that the operator of ai.onnx needs; 0: none above OPSET */
} cases[] = {
    { "Range", "a b", range_node, { { "a", F32, 1, { 1 } }, { "b", F32, 0, { 0 } } }, 15 },
    { "Range", "a b b", step_node, { { "a", I32, 1, { 1 } }, { "b", I32, 1, { 1 } } }, 11 },
    { "ExpandDims", "x i", expand_node, { { "x", F32, 2, { 2, 3 } }, { "i", I32, 0, { 0 } } }, 13 },
    { "GatherND", "x i", gather_node, { { "x", F32, 2, { 2, 3 } }, { "i", I32, 2, { 4, 2 } } },
        11 },
    { "TorchEmbedding", "x i", embedding_node,
        { { "x", BF16, 2, { 2, 3 } }, { "i", I64, 1, { 4 } } }, 13 },
    { "Pad", "x p v", pad_node,
        { { "x", F32, 2, { 2, 3 } }, { "p", I64, 2, { 1, 4 } }, { "v", F32, 1, { 1 } } }, 11 },
    { "Unique", "x", unique_node, { { "x", F32, 1, { 6 } } }, 11 },
    { "Rfft", "x", rfft_node, { { "x", F32, 2, { 3, 8 } } }, 20 },
    { "NhwcConv", "x w", conv_node,
        { { "x", F32, 4, { 1, 4, 4, 3 } }, { "w", F32, 4, { 2, 3, 2, 2 } } }, 0 },
    { "NhwcFusedConv", "x w - z", fused_conv_node,
        { { "x", F32, 4, { 1, 4, 4, 3 } }, { "w", F32, 4, { 2, 3, 2, 2 } },
            { "z", F32, 4, { 1, 3, 3, 2 } } },
        0 },
    { "NhwcMaxPool", "x", pool_node, { { "x", U8, 4, { 1, 4, 4, 3 } } }, 12 },
};

/* A model of nodes of com.microsoft; output y has no shape. */
static msg *model_of(msg *const *nodes, const input *in, uint32_t n)
{
    msg *graph = onnx_graph("g", nodes);
    for (uint32_t i = 0; i < n && in[i].name != NULL; i++)
        (void)msg_msg(graph, PRT_ONNX_Graph_input,
            onnx_info(in[i].name, in[i].dtype, in[i].rank, in[i].dims));
    (void)msg_msg(graph, PRT_ONNX_Graph_output, msg_text(msg_new(), PRT_ONNX_ValueInfo_name, "y"));
    msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "com.microsoft");
    (void)msg_int(import, PRT_ONNX_OperatorSetId_version, 1);
    return msg_msg(onnx_model(graph, OPSET), PRT_ONNX_Model_opset_import, import);
}

static msg *ours(msg *node)
{
    return msg_text(node, PRT_ONNX_Node_domain, "com.microsoft");
}

static msg *case_model(size_t k)
{
    msg *nodes[] = { ours(onnx_attr_int(cases[k].node(), "__ipu_number", 3)), NULL };
    return model_of(nodes, cases[k].in, PRT_COUNT_OF(cases[k].in));
}

/* Returns a clone, converted as for writing at an opset. */
static prt_module *brought_to(const prt_module *m, int64_t opset)
{
    prt_module *copy = NULL;
    ck_assert_int_eq(prt_ir_clone(m, &copy), POPRT_OK);
    const poprt_status status = prt_onnx_downgrade(copy, opset);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    return copy;
}

/* Names of an op's inputs with blanks between. */
static const char *inputs_of(const prt_op *op)
{
    static char text[64];
    text[0] = '\0';
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        (void)strcat(strcat(text, i == 0 ? "" : " "), v == NULL ? "-" : v->name.data);
    }
    return text;
}

/* The one op of a graph. */
static const prt_op *only(const prt_module *m)
{
    ck_assert_ptr_nonnull(m->main->first);
    ck_assert_ptr_eq(m->main->first, m->main->last);
    return m->main->first;
}

static bool same_ops(const prt_module *a, const prt_module *b)
{
    const prt_op *x = a->main->first, *y = b->main->first;
    for (; x != NULL && y != NULL && x->def == y->def; x = x->next, y = y->next)
        if (x->def != NULL && !prt_attrs_equal(x->def, x->attrs, y->attrs))
            return false;
    return x == y;
}

START_TEST(replaced_nodes_are_written_back)
{
    static const int64_t targets[] = { OPSET, 11, 28 };
    for (size_t k = 0; k < PRT_COUNT_OF(cases); k++) {
        prt_module *m = onnx_loaded(case_model(k));
        ck_assert(prt_onnx_has_replaced(m->main));
        ck_assert_int_eq(prt_onnx_written_opset(m),
            cases[k].younger != 0 ? cases[k].younger : OPSET);
        for (size_t i = 0; i < PRT_COUNT_OF(targets); i++) {
            prt_module *copy = brought_to(m, targets[i]);
            ck_assert_str_eq(only(copy)->name.data, cases[k].name);
            ck_assert_str_eq(only(copy)->domain.data, "com.microsoft");
            ck_assert_str_eq(inputs_of(only(copy)), cases[k].inputs);
            const msg *file = onnx_written(copy);
            ck_assert_ptr_nonnull(memmem(file->data, file->size, "__ipu_number", 12));
            prt_module *again = onnx_loaded(file);
            ck_assert_int_eq(prt_module_opset(again, PRT_STR("")), targets[i]);
            ck_assert_int_eq(prt_module_opset(again, PRT_STR("com.microsoft")), 1);
            ck_assert_msg(same_ops(m, again), "%s", cases[k].name);
            prt_module_release(again);
            prt_module_release(copy);
        }
        prt_module_release(m);
    }
}
END_TEST

/* Returns the central op of the ops that replace a node. */
static prt_op *replaced(const prt_module *m)
{
    prt_for_each_op (op, m->main)
        if (op->source_node != NULL)
            return op;
    return NULL;
}

/* An element type that the node cannot have, or another attribute. */
START_TEST(changed_nodes_are_not_written_back)
{
    for (size_t k = 0; k < PRT_COUNT_OF(cases); k++) {
        prt_module *m = onnx_loaded(case_model(k));
        prt_op *op = replaced(m);
        const prt_type *type = op->out[0].type;
        op->out[0].type = prt_type_tensor(m->types, PRT_DTYPE_u2, 0, NULL);
        ck_assert(!prt_onnx_has_replaced(m->main));
        op->out[0].type = type;
        ck_assert(prt_onnx_has_replaced(m->main));
        if (op->def->n_attrs != 0) {
            *(uint64_t *)op->attrs ^= 1;
            ck_assert(!prt_onnx_has_replaced(m->main));
        }
        prt_module_release(m);
    }
}
END_TEST

/* Operands changed by passes: folded constants, merged dims. */
START_TEST(changed_operands_are_found)
{
    const int64_t zero = 0;
    prt_module *m = onnx_loaded(case_model(2)), *copy;
    prt_build b = prt_build_before(replaced(m));
    prt_op_set_input(replaced(m), 1, prt_build_i64s(&b, 1, &zero));
    copy = brought_to(m, OPSET);
    const prt_op *op = only(copy);
    ck_assert_str_eq(op->name.data, "ExpandDims");
    ck_assert_int_eq(op->in[1].value->type->dtype, PRT_DTYPE_i32);
    ck_assert_int_eq(op->in[1].value->type->rank, 0);
    prt_module_release(copy);
    prt_module_release(m);

    const int64_t dims[] = { 3, 8, 1 };
    m = onnx_loaded(case_model(7)); /* the Unsqueeze of Rfft is another Reshape */
    b = prt_build_before(replaced(m));
    prt_op_set_input(replaced(m), 0,
        prt_build_binary(&b, PRT_OP_reshape, m->main->inputs.data[0], prt_build_i64s(&b, 3, dims)));
    copy = brought_to(m, OPSET);
    ck_assert_str_eq(copy->main->last->name.data, "Rfft");
    ck_assert_int_eq(copy->main->last->in[0].value->type->rank, 2);
    prt_module_release(onnx_loaded(onnx_written(copy)));
    prt_module_release(copy);
    prt_module_release(m);
}
END_TEST

/* Three nodes; passes cancelled the Transposes between them. */
START_TEST(chains_are_written_back)
{
    msg *nodes[4] = { NULL };
    static const char *const names[] = { "x", "a", "b", "y" };
    for (int i = 0; i < 3; i++)
        nodes[i] = ours(onnx_attr_ints(onnx_node("NhwcMaxPool", names[i], names[i + 1]),
            "kernel_shape", 2, two));
    prt_module *m = onnx_loaded(model_of(nodes, cases[10].in, 1));
    prt_op *last = NULL;
    prt_for_each_op (op, m->main) {
        if (!prt_op_is(op, PRT_OP_max_pool))
            continue;
        if (last != NULL)
            prt_op_set_input(op, 0, &last->out[0]);
        last = op;
    }
    prt_module *copy = brought_to(m, OPSET);
    uint32_t count = 0;
    prt_for_each_op (op, copy->main) {
        ck_assert_str_eq(op->name.data, "NhwcMaxPool");
        count++;
    }
    ck_assert_uint_eq(count, 3);
    prt_module_release(copy);
    prt_module_release(m);
}
END_TEST

/* A Transpose after another node is not part of that node. */
START_TEST(a_foreign_transpose_stays)
{
    msg *nodes[] = { ours(onnx_node("GatherND", "x,i", "g")), onnx_node("Transpose", "g", "y"),
        NULL };
    prt_module *m = onnx_loaded(model_of(nodes, cases[3].in, 2));
    prt_op_touch(m->main->last);
    prt_module *copy = brought_to(m, OPSET);
    ck_assert_str_eq(copy->main->first->name.data, "GatherND");
    ck_assert_str_eq(copy->main->first->domain.data, "com.microsoft");
    ck_assert_str_eq(copy->main->last->name.data, "Transpose");
    ck_assert_ptr_eq(copy->main->first->next, copy->main->last);
    prt_module_release(copy);
    prt_module_release(m);
}
END_TEST

static poprt_status read_and_bring(const prt_allocator *allocator, const msg *model)
{
    prt_blob *blob = NULL;
    prt_module *m = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, model->data, model->size, NULL, NULL, &blob),
        0);
    poprt_status status = prt_onnx_read_bytes(allocator, blob, "test", NULL, NULL, &m);
    if (status == POPRT_OK)
        status = prt_onnx_downgrade(m, OPSET);
    if (status == POPRT_OK)
        status = prt_onnx_write(m, onnx_append, msg_new());
    prt_module_release(m);
    prt_blob_release(blob);
    return status;
}

START_TEST(every_failed_allocation_is_survived)
{
    failing f = { SIZE_MAX, 0 };
    const prt_allocator allocator = failing_allocator(&f);
    for (size_t k = 0; k < PRT_COUNT_OF(cases); k++) {
        const msg *model = case_model(k);
        poprt_status status = POPRT_E_NOMEM;
        for (size_t n = 0; status != POPRT_OK; n++) {
            ck_assert_uint_lt(n, 1000);
            f.left = n;
            status = read_and_bring(&allocator, model);
            ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
            ck_assert_uint_eq(f.live, 0);
        }
    }
}
END_TEST

PRT_TEST_MAIN("converter/write_back", replaced_nodes_are_written_back,
    changed_nodes_are_not_written_back, changed_operands_are_found, chains_are_written_back,
    a_foreign_transpose_stays, every_failed_allocation_is_survived)
