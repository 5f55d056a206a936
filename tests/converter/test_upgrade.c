/* SPDX-License-Identifier: MIT */
/*
 * test_upgrade.c — attributes of nodes, rows of older opsets, reports.
 * Covers: attr_names.c.
 */
#define _GNU_SOURCE
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include <string.h>

#include "converter/onnx_raw.h"
#include "converter/upgrade.h"

static prt_module *loaded(msg *const *nodes, int64_t opset)
{
    prt_module *m = NULL;
    const poprt_status status =
        onnx_load(onnx_model(onnx_xy(onnx_graph("g", nodes)), opset), NULL, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

START_TEST(unknown_attributes_are_kept)
{
    const int64_t zero = 0;
    msg *t = onnx_attr_text(onnx_node("Transpose", "x", "y"), "__hint", "fast");
    msg *nodes[] = { onnx_attr_ints(t, "perm", 1, &zero), NULL };
    prt_module *m = loaded(nodes, 21);
    const prt_op *op = m->main->first;
    const prt_transpose_attrs *a = op->attrs;
    ck_assert(prt_attr_given(a, 0));
    ck_assert_uint_eq(a->perm.count, 1);
    ck_assert_ptr_nonnull(op->extra);
    ck_assert_ptr_null(op->extra->next);
    ck_assert_ptr_nonnull(memmem(op->extra->bytes, op->extra->size, "fast", 4));
    prt_module_release(m);
}
END_TEST

/* In opset 1 every operator could list the inputs that it may overwrite. */
START_TEST(consumed_inputs_is_dropped)
{
    const int64_t one = 1;
    msg *nodes[] = { onnx_attr_ints(onnx_node("Neg", "x", "y"), "consumed_inputs", 1, &one), NULL };
    prt_module *m = loaded(nodes, 5);
    ck_assert_ptr_null(m->main->first->extra);
    ck_assert_ptr_null(m->main->first->source);
    prt_module_release(m);
}
END_TEST

START_TEST(rows_apply_to_their_versions)
{
    msg *nodes[] = { onnx_attr_f32(onnx_node("Clip", "x", "y"), "min", 1.5f), NULL };
    prt_module *m = loaded(nodes, 6);
    const prt_op *op = m->main->first;
    ck_assert_str_eq(op->name.data, "Clip");
    ck_assert_uint_ge(op->n_in, 2);
    ck_assert_ptr_nonnull(op->in[1].value->constant);
    ck_assert_ptr_null(op->source);
    ck_assert_int_eq(op->out[0].type->rank, 1);
    prt_module_release(m);
}
END_TEST

static void ck_refused(msg *node, int64_t opset, const char *want)
{
    msg *nodes[] = { msg_text(node, PRT_ONNX_Node_name, "n"), NULL };
    prt_module *m = NULL;
    ck_assert_int_eq(onnx_load(onnx_model(onnx_xy(onnx_graph("g", nodes)), opset), NULL, &m),
        POPRT_E_PARSE);
    ck_assert_str_eq(prt_error_last()->subject, "n");
    ck_assert_msg(strstr(last_error(), want) != NULL, "%s", last_error());
}

/* An attribute of another opset is undefined or has another meaning, so it is refused. */
START_TEST(attributes_of_other_opsets_are_refused)
{
    const int64_t axis = 0;
    ck_refused(onnx_attr_f32(onnx_node("Clip", "x", "y"), "min", 1.5f), 13,
        "Clip-13 has no attribute 'min': opsets 1 to 10 have it; accepted: none");
    ck_refused(onnx_attr_ints(onnx_node("ReduceMax", "x", "y"), "axes", 1, &axis), 18,
        "ReduceMax-18 has no attribute 'axes': opsets 1 to 17 have it; accepted: keepdims, "
        "noop_with_empty_axes");
    ck_refused(onnx_attr_int(onnx_node("Reshape", "x,x", "y"), "allowzero", 1), 13,
        "Reshape-13 has no attribute 'allowzero': opsets 14 to 28 have it; accepted: none");
    ck_refused(onnx_attr_int(onnx_node("Softmax", "x", "y"), "axes", 1), 13,
        "Softmax-13 has no attribute 'axes': no opset has it; accepted: axis");
    ck_refused(onnx_attr_int(onnx_node("Clip", "x", "y"), "max min", 1), 6,
        "Clip-6 has no attribute 'max min': no opset has it; accepted: max, min");
    ck_refused(onnx_attr_int(onnx_node("Neg", "x", "y"), "", 1), 13, "");
    ck_refused(onnx_attr_int(onnx_node("Upsample", "x,x", "y"), "scales", 1), 9,
        "Upsample-9 has no attribute 'scales': opsets 7 to 8 have it; accepted: mode");
}
END_TEST

/* The domains of ONNX whose operators may still change. */
START_TEST(attributes_of_preview_domains_are_refused)
{
#define PREVIEW "ai.onnx.preview"
#define TRAINING "ai.onnx.preview.training"
    static const struct {
        const char *domain, *name, *inputs, *want;
        int64_t version;
    } cases[] = {
        { TRAINING, "Adam", "x,x,x,x,x,x",
            "Adam-1 has no attribute 'hint': no opset has it; "
            "accepted: epsilon, norm_coefficient_post, norm_coefficient, beta, alpha",
            1 },
        { TRAINING, "Momentum", "x,x,x,x,x", "Momentum-1 has no attribute 'hint': ", 1 },
        { TRAINING, "Gradient", "x",
            "Gradient-1 has no attribute 'hint': no opset has it; "
            "accepted: xs, y, zs",
            1 },
        { PREVIEW, "FlexAttention", "x,x,x",
            "FlexAttention-1 has no attribute 'hint': no opset "
            "has it; accepted: score_mod, prob_mod, softmax_precision, scale",
            1 },
        { PREVIEW, "FlexAttention", "x,x,x", NULL, 2 },
        { PREVIEW, "Adam", "x,x,x,x,x,x", NULL, 1 }, /* of the other domain */
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        msg *node = onnx_attr_int(onnx_node(cases[i].name, cases[i].inputs, "y"), "hint", 1);
        if (strcmp(cases[i].name, "Gradient") == 0) {
            msg *xs = msg_text(msg_text(msg_new(), PRT_ONNX_Attribute_name, "xs"),
                PRT_ONNX_Attribute_strings, "x");
            (void)msg_msg(node, PRT_ONNX_Node_attribute,
                msg_int(xs, PRT_ONNX_Attribute_type, PRT_ONNX_STRINGS));
            (void)onnx_attr_text(node, "y", "x");
        }
        msg *nodes[] = { msg_text(node, PRT_ONNX_Node_domain, cases[i].domain), NULL };
        msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, cases[i].domain);
        (void)msg_int(import, PRT_ONNX_OperatorSetId_version, cases[i].version);
        msg *model = msg_msg(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21),
            PRT_ONNX_Model_opset_import, import);
        prt_module *m = NULL;
        const poprt_status status = onnx_load(model, NULL, &m);
        if (cases[i].want == NULL) { /* may fail for its inputs */
            ck_assert(status == POPRT_OK || strstr(last_error(), "no attribute") == NULL);
        } else {
            ck_assert_int_eq(status, POPRT_E_PARSE);
            ck_assert_msg(strstr(last_error(), cases[i].want) != NULL, "%s", last_error());
        }
        prt_module_release(m);
    }
#undef PREVIEW
#undef TRAINING
}
END_TEST

/* Other domains, and unknown opsets, may have any attribute. */
START_TEST(unknown_schemas_allow_any_attribute)
{
    const int64_t one = 1;
    msg *gelu = onnx_attr_int(onnx_node("Gelu", "x", "a"), "hint", 1);
    msg *neg = onnx_attr_int(onnx_node("Odd", "a", "b"), "hint", 1);
    msg *scaler = onnx_attr_int(onnx_node("Scaler", "b", "c"), "hint", 1); /* not ai.onnx.ml's */
    msg *nodes[] = { msg_text(gelu, PRT_ONNX_Node_domain, "com.microsoft"), neg, scaler,
        onnx_attr_ints(onnx_node("Softmax", "c", "y"), "__axes", 1, &one), NULL };
    prt_module *m = loaded(nodes, 21);
    prt_for_each_op (op, m->main)
        ck_assert_ptr_nonnull(op->extra);
    prt_module_release(m);
    msg *newer[] = { onnx_attr_int(onnx_node("Neg", "x", "y"), "hint", 1), NULL };
    m = loaded(newer, 999);
    ck_assert_ptr_nonnull(m->main->first->extra);
    prt_module_release(m);
}
END_TEST

START_TEST(failures_are_collected)
{
    const int64_t two[2] = { 0, 1 };
    msg *a = msg_text(onnx_node("Transpose", "x", "a"), PRT_ONNX_Node_name, "first");
    msg *b = msg_text(onnx_node("Transpose", "a", "y"), PRT_ONNX_Node_name, "second");
    msg *nodes[] = { onnx_attr_ints(a, "perm", 2, two), onnx_attr_text(b, "perm", "x"), NULL };
    prt_module *m = NULL;
    ck_assert_int_ne(onnx_load(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21), NULL, &m),
        POPRT_OK);
    ck_assert_str_eq(prt_error_last()->subject, "first");
    ck_assert_ptr_nonnull(strstr(last_error(), "second: "));
}
END_TEST

/* The helpers of the upgrade hooks, on a hand-written op. */
START_TEST(helpers_read_and_move_attributes)
{
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
    prt_module *m = loaded(nodes, 21);
    const int64_t axes[2] = { 3, 4 };
    prt_node_attr attrs[] = {
        { .name = PRT_STR("i"), .kind = PRT_ONNX_INT, .i = 7 },
        { .name = PRT_STR("f"), .kind = PRT_ONNX_FLOAT, .f = 2.5f },
        { .name = PRT_STR("axes"), .kind = PRT_ONNX_INTS, .ints = { axes, 2 } },
        { .name = PRT_STR("perm"), .kind = PRT_ONNX_INTS, .ints = { axes, 1 } },
    };
    prt_upgrade u = { .op = m->main->first, .version = 1, .attrs = attrs, .n_attrs = 4 };
    ck_assert_int_eq(prt_upgrade_i64(&u, "i", 1), 7);
    ck_assert_int_eq(prt_upgrade_i64(&u, "absent", 1), 1);
    ck_assert_int_eq(prt_upgrade_i64(&u, "f", 1), 1); /* of another type */
    ck_assert(prt_upgrade_f32(&u, "f", 0) == 2.5f);
    ck_assert_ptr_null(prt_upgrade_attr(&u, "absent"));
    ck_assert(attrs[0].taken && attrs[1].taken && !attrs[2].taken);
    ck_assert_int_eq(prt_upgrade_ints_to_input(&u, "axes", 2), POPRT_OK);
    ck_assert_uint_eq(u.op->n_in, 3);
    ck_assert_ptr_null(u.op->in[1].value);
    prt_tensor t;
    ck_assert(prt_value_tensor(u.op->in[2].value, &t));
    ck_assert_mem_eq(t.data, axes, sizeof(axes));
    ck_assert_int_eq(prt_upgrade_ints_to_input(&u, "i", 1), POPRT_E_PARSE);
    ck_assert_int_eq(prt_upgrade_become(&u, PRT_OP_transpose), POPRT_OK);
    ck_assert_str_eq(u.op->name.data, "Transpose");
    ck_assert_uint_eq(((const prt_transpose_attrs *)u.op->attrs)->perm.count, 1);
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade", unknown_attributes_are_kept, consumed_inputs_is_dropped,
    rows_apply_to_their_versions, attributes_of_other_opsets_are_refused,
    attributes_of_preview_domains_are_refused, unknown_schemas_allow_any_attribute,
    failures_are_collected, helpers_read_and_move_attributes)
