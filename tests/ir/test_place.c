/* SPDX-License-Identifier: MIT */
/* test_place.c — places of ops and the marks that belong to them. */
#include <stdio.h>

#include "ir/build.h"
#include "ir/extra.h"
#include "ir/place.h"
#include "support/graph_text.h"
#include "support/onnx_check.h"

static const char two_ops[] = "x = input f32[2]\na = exp x\ny = neg a\nreturn y\n";

START_TEST(marks_set_the_place)
{
    prt_graph *g = graph_from_text(two_ops);
    prt_op *op = g->first;
    ck_assert_ptr_null(op->place);
    ck_assert_int_eq(prt_op_place(op)->device, -1);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", 3), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__pipeline_stage", 1), POPRT_OK);
    ck_assert_int_eq(prt_op_set_mark_f32(op, "__schedule_priority", -2), POPRT_OK);
    ck_assert_int_eq(prt_op_place(op)->device, 3);
    ck_assert_int_eq(prt_op_place(op)->stage, 1);
    ck_assert(prt_op_place(op)->priority == -2);
    ck_assert_int_eq(prt_op_copy_marks(g->last, op), POPRT_OK);
    ck_assert_ptr_eq(g->last->place, op->place); /* interned */
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", -1), POPRT_OK);
    ck_assert_int_eq(prt_op_place(op)->device, -1);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", INT64_MAX), POPRT_OK);
    ck_assert_int_eq(prt_op_place(op)->device, -1); /* out of range */
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    module_free(g);
}
END_TEST

START_TEST(the_place_sets_marks)
{
    prt_graph *g = graph_from_text(two_ops);
    prt_op *op = g->first;
    int64_t i;
    prt_place place = *prt_op_place(op);
    place.device = 2;
    place.phase = 0;
    place.direction = PRT_PLACE_BACKWARD;
    ck_assert_int_eq(prt_op_set_place(op, &place), POPRT_OK);
    ck_assert(prt_op_mark_i64(op, "__ipu_number", &i) && i == 2);
    ck_assert(prt_op_mark_i64(op, "__execution_phase", &i) && i == 0);
    place.device = -1;
    place.priority = 4;
    ck_assert_int_eq(prt_op_set_place(op, &place), POPRT_OK);
    ck_assert(!prt_op_mark_i64(op, "__ipu_number", &i));
    ck_assert_int_eq(prt_op_place(op)->direction, PRT_PLACE_BACKWARD);
    ck_assert_int_eq(prt_op_set_mark_i64(op, "__ipu_number", 1), POPRT_OK);
    ck_assert_int_eq(prt_op_place(op)->direction, PRT_PLACE_BACKWARD); /* stays */
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    op->place = NULL;
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_E_INTERNAL);
    module_free(g);
}
END_TEST

static const char placed[] = "x = input f32[2]\n"
                             "a = exp x @e !{device=1, stage=2, group=0, direction=1}\n"
                             "y = neg a !{phase=3, priority=0.5}\n"
                             "return y\n";

START_TEST(text_has_places)
{
    prt_graph *g = graph_from_text(placed);
    ck_assert_int_eq(prt_op_place(g->first)->stage, 2);
    ck_assert(prt_op_place(g->last)->priority == 0.5f);
    prt_str text;
    ck_assert_int_eq(prt_ir_print(g, g->module->arena, &text), POPRT_OK);
    ck_assert_str_eq(text.data, placed);
    module_free(g);
}
END_TEST

START_TEST(wrong_places_are_refused)
{
    static const char *const wrong[] = { "a = exp x !{where=1}", "a = exp x !{device=one}",
        "a = exp x !{device=1", "a = exp x !{device=99999999999}" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char text[128];
        prt_module *m = NULL;
        ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
        (void)snprintf(text, sizeof(text), "x = input f32[2]\n%s\nreturn a\n", wrong[i]);
        ck_assert_int_eq(prt_ir_parse(m, prt_str_of(text)), POPRT_E_PARSE);
        prt_module_release(m);
    }
}
END_TEST

START_TEST(copies_have_the_places)
{
    prt_graph *g = graph_from_text(placed);
    prt_module *copy = NULL;
    ck_assert_int_eq(prt_ir_clone(g->module, &copy), POPRT_OK);
    const prt_place *place = prt_op_place(copy->main->first);
    ck_assert_int_eq(place->device, 1);
    ck_assert_int_eq(place->direction, PRT_PLACE_BACKWARD);
    ck_assert_int_eq(place->group, 0);
    ck_assert_ptr_ne(place, prt_op_place(g->first)); /* of the copy's own arena */
    ck_assert_int_eq(prt_ir_verify(copy), POPRT_OK);
    prt_module_release(copy);
    prt_module *again = onnx_loaded(onnx_written(g->module)); /* a file has the marks */
    ck_assert_int_eq(prt_op_place(again->main->first)->stage, 2);
    ck_assert_int_eq(prt_op_place(again->main->first)->group, -1);
    ck_assert(prt_op_place(again->main->last)->priority == 0.5f);
    prt_module_release(again);
    module_free(g);
}
END_TEST

START_TEST(new_ops_inherit_the_place)
{
    prt_graph *g = graph_from_text(placed);
    prt_op *op = g->first;
    prt_build b = prt_build_before(op);
    prt_value *y = prt_build_unary(&b, PRT_OP_sqrt, op->in[0].value);
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    ck_assert_ptr_eq(y->def->place, op->place);
    module_free(g);
}
END_TEST

/* The op that replaces two others is as late as the later one. */
START_TEST(fused_ops_take_the_largest_stage)
{
    static const char *const stages[][2] = { { "!{device=1, stage=2}", "!{device=5, stage=7}" },
        { "!{device=1, stage=7}", "!{device=5, stage=2}" },
        { "!{device=1, stage=7, direction=1}", "!{device=5, stage=9}" }, { "!{stage=4}", "" } };
    static const int32_t expected[] = { 7, 7, 7, 4 };
    for (size_t i = 0; i < 4; i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2]\na = exp x %s\ny = neg a %s\nreturn y\n", stages[i][0], stages[i][1]);
        prt_graph *g = graph_from_text(text);
        prt_op *last = g->last;
        prt_build b = prt_build_before(last);
        prt_value *fused = prt_build_unary(&b, PRT_OP_sqrt, g->first->in[0].value);
        prt_build_replace(&b, &last->out[0], fused);
        ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
        ck_assert_ptr_eq(g->first, fused->def);
        ck_assert_int_eq(prt_op_place(fused->def)->stage, expected[i]);
        ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("ir/place", marks_set_the_place, the_place_sets_marks, text_has_places,
    wrong_places_are_refused, copies_have_the_places, new_ops_inherit_the_place,
    fused_ops_take_the_largest_stage)
