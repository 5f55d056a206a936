/* SPDX-License-Identifier: MIT */
/* test_extra.c — marks of nodes and metadata of models, set, read, copied and written. */
#include "ir/build.h"
#include "ir/extra.h"
#include "support/graph_text.h"
#include "support/onnx_check.h"

static prt_module *read_again(const prt_module *m)
{
    return onnx_loaded(onnx_written(m));
}

static prt_graph *small(void)
{
    return graph_from_text("x = input f32[2]\na = exp x\ny = neg a\nreturn y\n");
}

START_TEST(marks_are_set_and_replaced)
{
    prt_graph *g = small();
    prt_op *op = g->first;
    int64_t i = 7;
    float f = 0;
    prt_str s;
    ck_assert(!prt_op_mark_i64(op, "__ipu_number", &i));
    ck_assert_int_eq(i, 7);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", 3), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__pipeline_stage", -1), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_f32(op, "__available_memory", 0.25f), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_text(op, "__partials_type", "half"), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", 300), POPRT_OK);
    ck_assert(prt_op_mark_i64(op, "__ipu_number", &i) && i == 300);
    ck_assert(prt_op_mark_i64(op, "__pipeline_stage", &i) && i == -1);
    ck_assert(prt_op_mark_f32(op, "__available_memory", &f) && f == 0.25f);
    ck_assert(prt_op_mark_text(op, "__partials_type", &s) && prt_str_is(s, "half"));
    ck_assert(!prt_op_mark_f32(op, "__ipu_number", &f));
    module_free(g);
}
END_TEST

START_TEST(missing_marks_are_copied)
{
    prt_graph *g = small();
    int64_t i = 0;
    ck_assert_int_eq(prt_op_set_mark_i64(g->first, "__ipu_number", 3), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(g->first, "__outline", 1), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(g->first, "other", 1), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(g->last, "__ipu_number", 4), POPRT_OK);
    ck_assert_int_eq(prt_op_copy_marks(g->last, g->first), POPRT_OK);
    ck_assert(prt_op_mark_i64(g->last, "__ipu_number", &i) && i == 4);
    ck_assert(prt_op_mark_i64(g->last, "__outline", &i) && i == 1);
    ck_assert(!prt_op_mark_i64(g->last, "other", &i));
    module_free(g);
}
END_TEST

/* New nodes take over the marks of the node that they are built for, and the one that replaces it
 * its doc string; fields: NodeProto.doc_string is 6. */
START_TEST(new_nodes_take_over_marks_and_notes)
{
    static const char doc[] = "\x32\x04seen";
    prt_graph *g = small();
    prt_op *op = g->last;
    const prt_raw note = { .field = 6, .bytes = doc, .size = sizeof(doc) - 1 };
    int64_t i = 0;
    op->extra = &note;
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__pipeline_stage", 2), POPRT_OK);
    prt_build b = prt_build_before(op);
    prt_value *half = prt_build_unary(&b, PRT_OP_abs, op->in[0].value);
    prt_value *whole = prt_build_unary(&b, PRT_OP_neg, half);
    prt_build_replace(&b, &op->out[0], whole);
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    ck_assert(prt_op_mark_i64(half->def, "__pipeline_stage", &i) && i == 2);
    ck_assert(prt_op_mark_i64(whole->def, "__pipeline_stage", &i) && i == 2);
    ck_assert_ptr_null(half->def->extra->next);
    ck_assert_ptr_eq(whole->def->extra->bytes, doc);
    module_free(g);
}
END_TEST

START_TEST(marks_and_metadata_are_written_and_read)
{
    prt_graph *g = small();
    int64_t i = 0;
    prt_str s;
    ck_assert_int_eq(prt_op_set_mark_i64(g->first, "__ipu_number", 1), POPRT_OK);
    ck_assert_int_eq(prt_module_set_metadata(g->module, "key", PRT_STR("old")), POPRT_OK);
    ck_assert_int_eq(prt_module_set_metadata(g->module, "other", PRT_STR("")), POPRT_OK);
    ck_assert_int_eq(prt_module_set_metadata(g->module, "key", PRT_STR("a = b")), POPRT_OK);
    prt_module *again = read_again(g->module);
    ck_assert(prt_op_mark_i64(again->main->first, "__ipu_number", &i) && i == 1);
    ck_assert(prt_module_metadata(again, "key", &s) && prt_str_is(s, "a = b"));
    ck_assert(prt_module_metadata(again, "other", &s) && s.size == 0);
    ck_assert(!prt_module_metadata(again, "none", &s));
    prt_module_release(again);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("ir/extra", marks_are_set_and_replaced, missing_marks_are_copied,
    new_nodes_take_over_marks_and_notes, marks_and_metadata_are_written_and_read)
