/* SPDX-License-Identifier: MIT */
/*
 * test_onnx_write_opsets.c — imported version of each domain, and nodes of other domains that
 * are written as they were read.
 * Covers: source_node.c.
 */
#define _GNU_SOURCE
#include <string.h>

#include "support/onnx_check.h"

#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/source_node.h"
#include "ir/build.h"

enum { F32 = 1, I64 = 7 };

static msg *in_domain(msg *node, const char *domain)
{
    return msg_text(node, PRT_ONNX_Node_domain, domain);
}

/* A model of opset 17 of ai.onnx and `version` of another domain. */
static msg *model_of(msg *const *nodes, const char *domain, int64_t version)
{
    msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, domain);
    (void)msg_int(import, PRT_ONNX_OperatorSetId_version, version);
    return msg_msg(onnx_model(onnx_xy(onnx_graph("g", nodes)), 17), PRT_ONNX_Model_opset_import,
        import);
}

/* Version of a domain that a file imports, by its bytes: the reader upgrades no imports. */
static int64_t version_in(const msg *file, const char *domain)
{
    prt_module *m = onnx_loaded(file);
    const int64_t version = prt_module_opset(m, prt_str_of(domain));
    prt_module_release(m);
    return version;
}

static bool holds(const msg *m, const char *text)
{
    return memmem(m->data, m->size, text, strlen(text)) != NULL;
}

/* Returns the file of a model at opset 11 of ai.onnx. */
static msg *at_11(const msg *model)
{
    prt_module *m = onnx_loaded(model), *copy = NULL;
    ck_assert_int_eq(prt_ir_clone(m, &copy), POPRT_OK);
    prt_module_release(m);
    const poprt_status status = prt_onnx_downgrade(copy, 11);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    msg *out = onnx_written(copy);
    prt_module_release(copy);
    return out;
}

/* ---- ai.onnx ---- */

/* The version of ai.onnx in the file of a graph whose model imports `imported`; the file is read
 * again, which checks its nodes' attributes. */
static int64_t version_of_text(const char *text, int64_t imported)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_msg(prt_ir_parse(m, prt_str_of(text)) == POPRT_OK, "%s", last_error());
    ck_assert_msg(prt_ir_infer(m->main) == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_module_set_opset(m, PRT_STR(""), imported), POPRT_OK);
    const int64_t version = version_in(onnx_written(m), "");
    ck_assert_int_eq(version, prt_onnx_written_opset(m));
    prt_module_release(m);
    return version;
}

/* An attribute that is given and has its default is left out where the schema does not have it. A
 * scale per axis needs the opset of the attribute, even if that has its default. */
START_TEST(given_defaults_do_not_break_older_files)
{
    static const struct {
        const char *text;
        int64_t imported, written;
    } cases[] = {
        { "x = input i8[2,4]\ns = const f32[] {2}\ny = dequantize_linear x s {axis=1}\nreturn y\n",
            10, 10 },
        { "x = input i8[2,4]\ns = input f32[4]\ny = dequantize_linear x s {axis=1}\nreturn y\n", 10,
            13 },
        { "x = input i8[2,4]\ns = input f32[4]\ny = dequantize_linear x s\nreturn y\n", 10, 13 },
        { "x = input f32[2,4]\ns = const f32[1] {2}\ny = quantize_linear x s {axis=1, "
          "saturate=1}\nreturn y\n",
            10, 10 },
        { "x = input f32[2,4]\ns = input f32[4]\ny = quantize_linear x s {axis=1}\nreturn y\n", 10,
            13 },
        { "x = input f32[2,4]\nn = const i64[1] {8}\ny = reshape x n {allowzero=0}\nreturn y\n", 6,
            6 },
        { "x = input f32[2,4]\nu = const f32[2,1] {1, 2}\n"
          "j = const i64[2,1] {0, 0}\ny = scatter_elements x j u {axis=1, reduction=\"none\"}\n"
          "return y\n",
            11, 11 },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        ck_assert_int_eq(version_of_text(cases[i].text, cases[i].imported), cases[i].written);
}
END_TEST

/* ---- ai.onnx.ml ---- */

/* One leaf of weight 1. */
static msg *tree(const char *in, const char *out)
{
    static const int64_t zero = 0;
    const float one = 1;
    msg *node = in_domain(onnx_node("TreeEnsembleRegressor", in, out), "ai.onnx.ml");
    static const char *const ints[] = { "nodes_treeids", "nodes_nodeids", "nodes_featureids",
        "nodes_truenodeids", "nodes_falsenodeids", "target_treeids", "target_nodeids",
        "target_ids" };
    for (size_t i = 0; i < PRT_COUNT_OF(ints); i++)
        (void)onnx_attr_ints(node, ints[i], 1, &zero);
    (void)onnx_attr_int(node, "n_targets", 1);
    for (int i = 0; i < 2; i++) {
        msg *attr = msg_text(msg_new(), PRT_ONNX_Attribute_name,
            i == 0 ? "nodes_values" : "target_weights");
        (void)msg_f32(attr, PRT_ONNX_Attribute_floats, one);
        (void)msg_int(attr, PRT_ONNX_Attribute_type, PRT_ONNX_FLOATS);
        (void)msg_msg(node, PRT_ONNX_Node_attribute, attr);
    }
    msg *modes = msg_text(msg_new(), PRT_ONNX_Attribute_name, "nodes_modes");
    (void)msg_text(modes, PRT_ONNX_Attribute_strings, "LEAF");
    (void)msg_int(modes, PRT_ONNX_Attribute_type, PRT_ONNX_STRINGS);
    return msg_msg(node, PRT_ONNX_Node_attribute, modes);
}

/* A model of one tree on x, as a matrix. */
static msg *forest(int64_t version)
{
    msg *nodes[] = { onnx_node("Unsqueeze", "x,axes", "row"), tree("row", "t"),
        onnx_node("Flatten", "t", "y"), NULL };
    msg *axes = onnx_tensor("axes", I64, 1, (const int64_t[]){ 1 });
    (void)msg_int(axes, PRT_ONNX_Tensor_int64_data, 0);
    msg *graph = onnx_graph("g", nodes);
    (void)msg_msg(graph, PRT_ONNX_Graph_initializer, axes);
    (void)msg_msg(graph, PRT_ONNX_Graph_input, onnx_info("x", F32, 1, (const int64_t[]){ 2 }));
    (void)msg_msg(graph, PRT_ONNX_Graph_output, onnx_info("y", F32, 2, (const int64_t[]){ 1, 1 }));
    msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "ai.onnx.ml");
    (void)msg_int(import, PRT_ONNX_OperatorSetId_version, version);
    return msg_msg(onnx_model(graph, 17), PRT_ONNX_Model_opset_import, import);
}

START_TEST(forests_keep_their_version)
{
    for (int64_t version = 1; version < 5; version++) {
        ck_assert_int_eq(version_in(at_11(forest(version)), "ai.onnx.ml"), version);
        prt_module *m = onnx_loaded(forest(version));
        prt_for_each_op (op, m->main)
            prt_op_touch(op);
        ck_assert_int_eq(version_in(onnx_written(m), "ai.onnx.ml"), version);
        prt_module_release(m);
    }
}
END_TEST

/* Version 5 deprecates the operator. Such a model is read, and written at a version that other
 * readers accept. */
START_TEST(deprecated_operators_are_written_as_older)
{
    ck_assert_int_eq(version_in(at_11(forest(5)), "ai.onnx.ml"), 4);
    ck_assert_int_eq(prt_history_version(PRT_STR("TreeEnsembleRegressor"), 2), 1);
    ck_assert_int_eq(prt_history_version(PRT_STR("TreeEnsembleRegressor"), 4), 3);
    ck_assert_int_eq(prt_history_version(PRT_STR("TreeEnsembleRegressor"), 5), 0);
    ck_assert_int_eq(prt_history_version(PRT_STR("TreeEnsemble"), 5), 5);
}
END_TEST

/* Only an attribute of version 3 needs version 3. */
START_TEST(a_newer_attribute_raises_the_version)
{
    prt_module *m = onnx_loaded(forest(1));
    prt_op *op = m->main->first->next;
    prt_tensor *base = prt_arena_copy(m->arena,
        &(prt_tensor){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_f64 }, sizeof(prt_tensor));
    base->data = PRT_NEW(m->arena, double);
    base->size = sizeof(double);
    ((prt_ml_tree_ensemble_regressor_attrs *)op->attrs)->base_values_as_tensor = base;
    prt_op_touch(op);
    ck_assert_int_eq(version_in(onnx_written(m), "ai.onnx.ml"), 3);
    prt_module_release(m);
}
END_TEST

static msg *encoder(const char *in, const char *out)
{
    const int64_t keys[] = { 1, 1 }, values[] = { 5, 6 };
    msg *node = in_domain(onnx_node("LabelEncoder", in, out), "ai.onnx.ml");
    return onnx_attr_ints(onnx_attr_ints(node, "keys_int64s", 2, keys), "values_int64s", 2, values);
}

/* An encoder of version 2, in which the first of equal keys counts, is read as one of version 4 and
 * written as it was. Where a pass changed it, version 4 is needed. */
START_TEST(encoders_are_written_as_they_were)
{
    msg *nodes[] = { onnx_attr_int(onnx_node("Cast", "x", "k"), "to", I64), encoder("k", "v"),
        onnx_attr_int(onnx_node("Cast", "v", "y"), "to", F32), NULL };
    msg *model = model_of(nodes, "ai.onnx.ml", 2);
    ck_assert_int_eq(version_in(at_11(model), "ai.onnx.ml"), 2);
    prt_module *m = onnx_loaded(model);
    prt_op *op = m->main->first->next;
    ck_assert_int_eq(((prt_ml_label_encoder_attrs *)op->attrs)->values_int64s.data[1], 5);
    prt_module *again = onnx_loaded(onnx_written(m));
    ck_assert(prt_source_node_is_current(again->main->first->next));
    ((prt_ml_label_encoder_attrs *)op->attrs)->default_int64 = 3;
    ck_assert(!prt_source_node_is_current(op));
    ck_assert_int_eq(version_in(onnx_written(m), "ai.onnx.ml"), 4);
    prt_module_release(again);
    prt_module_release(m);
}
END_TEST

/* ---- com.microsoft ---- */

/* y = node(a) with a = Abs(Identity(x)). */
static msg *model_with(msg *node)
{
    msg *nodes[] = { onnx_node("Identity", "x", "i"), onnx_node("Abs", "i", "a"),
        in_domain(node, "com.microsoft"), NULL };
    return model_of(nodes, "com.microsoft", 1);
}

static const struct {
    const char *name, *attr;
    int64_t younger; /* opset that the operator of ai.onnx needs */
} unary[] = { { "Gelu", NULL, 20 }, { "FastGelu", NULL, 20 }, { "QuickGelu", "alpha", 24 } };

static msg *unary_node(size_t i)
{
    msg *node = onnx_node(unary[i].name, "a", "y");
    return unary[i].attr != NULL ? onnx_attr_f32(node, unary[i].attr, 1.5F) : node;
}

START_TEST(nodes_of_other_domains_are_written_as_they_were)
{
    for (size_t i = 0; i < PRT_COUNT_OF(unary); i++) {
        msg *model = model_with(unary_node(i));
        ck_assert_int_eq(version_in(at_11(model), ""), 11);
        ck_assert(holds(at_11(model), unary[i].name));
        ck_assert(holds(at_11(model), "com.microsoft"));
        prt_module *m = onnx_loaded(model);
        prt_op *op = m->main->last;
        ck_assert_str_eq(op->def->domain, ""); /* computed as the operator of ai.onnx */
        prt_value_replace(op->in[0].value, m->main->inputs.data[0]);
        const msg *out = onnx_written(m);
        ck_assert_int_eq(version_in(out, ""), 17);
        ck_assert_int_eq(version_in(out, "com.microsoft"), 1);
        ck_assert(holds(out, unary[i].name));
        prt_module *again = onnx_loaded(out);
        ck_assert(again->main->last->def == op->def);
        ck_assert(prt_attrs_equal(op->def, again->main->last->attrs, op->attrs));
        prt_module_release(again);
        prt_module_release(m);
    }
}
END_TEST

/* An attribute that a pass changed, or an element type that the other domain's operator does not
 * have, asks for the operator of ai.onnx. */
START_TEST(changed_nodes_are_of_ai_onnx)
{
    for (size_t i = 0; i < PRT_COUNT_OF(unary); i++) {
        prt_module *m = onnx_loaded(model_with(unary_node(i)));
        prt_op *op = m->main->last;
        ck_assert(prt_source_node_is_current(op));
        op->out[0].type = prt_type_tensor(m->types, PRT_DTYPE_i64, 0, NULL);
        ck_assert(!prt_source_node_is_current(op));
        op->out[0].type = op->in[0].value->type;
        *(uint64_t *)op->attrs ^= 1;
        ck_assert_int_eq(version_in(onnx_written(m), ""), unary[i].younger);
        prt_module_release(m);
    }
}
END_TEST

/* Marks that a pass gives a node are written with it. */
START_TEST(extra_attributes_are_kept)
{
    prt_module *m = onnx_loaded(model_with(onnx_attr_int(unary_node(2), "__ipu_number", 3)));
    const msg *out = onnx_written(m);
    ck_assert(holds(out, "__ipu_number") && holds(out, "QuickGelu"));
    prt_op_touch(m->main->last);
    out = onnx_written(m);
    ck_assert(holds(out, "__ipu_number") && holds(out, "QuickGelu"));
    prt_module_release(m);
}
END_TEST

static poprt_status read_copy_write(const prt_allocator *allocator, const msg *model)
{
    prt_blob *blob = NULL;
    prt_module *m = NULL, *copy = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, model->data, model->size, NULL, NULL, &blob),
        0);
    poprt_status status = prt_onnx_read_bytes(allocator, blob, "test", NULL, NULL, &m);
    if (status == POPRT_OK)
        status = prt_ir_clone(m, &copy);
    prt_module_release(m);
    if (status == POPRT_OK)
        status = prt_onnx_write(copy, onnx_append, msg_new());
    prt_module_release(copy);
    prt_blob_release(blob);
    return status;
}

START_TEST(every_failed_allocation_is_survived)
{
    failing f = { SIZE_MAX, 0 };
    const prt_allocator allocator = failing_allocator(&f);
    msg *nodes[] = { onnx_attr_int(onnx_node("Cast", "x", "k"), "to", I64), encoder("k", "v"),
        onnx_attr_int(onnx_node("Cast", "v", "a"), "to", F32),
        in_domain(unary_node(2), "com.microsoft"), NULL };
    const msg *model = model_of(nodes, "ai.onnx.ml", 2);
    poprt_status status = POPRT_E_NOMEM;
    for (size_t n = 0; status != POPRT_OK; n++) {
        ck_assert_uint_lt(n, 1000);
        f.left = n;
        status = read_copy_write(&allocator, model);
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
        ck_assert_uint_eq(f.live, 0);
    }
}
END_TEST

PRT_TEST_MAIN("converter/onnx_write_opsets", given_defaults_do_not_break_older_files,
    forests_keep_their_version, deprecated_operators_are_written_as_older,
    a_newer_attribute_raises_the_version, encoders_are_written_as_they_were,
    nodes_of_other_domains_are_written_as_they_were, changed_nodes_are_of_ai_onnx,
    extra_attributes_are_kept, every_failed_allocation_is_survived)
