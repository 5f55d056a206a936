/* SPDX-License-Identifier: MIT */
/* test_upgrade_train.c — Gradient of ONNX: its attributes, and the operators that replace it. */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include <string.h>

#include "converter/onnx_raw.h"
#include "ir/ir.h"

#define TRAINING "ai.onnx.preview.training"

/* Reads a model in which s = x * x and y = Gradient(x), with the given text attributes; `zs` is a
 * text, and NULL leaves an attribute out. */
static poprt_status load(const char *xs, const char *y, const char *zs, prt_module **out)
{
    msg *node = onnx_node("Gradient", "x", "y");
    if (xs != NULL) {
        msg *list = msg_text(msg_text(msg_new(), PRT_ONNX_Attribute_name, "xs"),
            PRT_ONNX_Attribute_strings, xs);
        (void)msg_msg(node, PRT_ONNX_Node_attribute,
            msg_int(list, PRT_ONNX_Attribute_type, PRT_ONNX_STRINGS));
    }
    if (y != NULL)
        (void)onnx_attr_text(node, "y", y);
    if (zs != NULL)
        (void)onnx_attr_text(node, "zs", zs);
    msg *nodes[] = { onnx_node("Mul", "x,x", "s"), msg_text(node, PRT_ONNX_Node_domain, TRAINING),
        NULL };
    msg *import = msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, TRAINING);
    (void)msg_int(import, PRT_ONNX_OperatorSetId_version, 1);
    msg *model = msg_msg(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21),
        PRT_ONNX_Model_opset_import, import);
    return onnx_load(model, NULL, out);
}

START_TEST(gradient_becomes_the_operators_that_compute_it)
{
    prt_module *m = NULL;
    const poprt_status status = load("x", "s", NULL, &m);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    uint32_t count = 0;
    prt_for_each_op (op, m->main) {
        ck_assert_str_ne(op->name.data, "Gradient");
        count++;
    }
    ck_assert_uint_gt(count, 1);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    prt_module_release(m);
}
END_TEST

START_TEST(gradient_without_its_names_is_refused)
{
    static const char *const cases[][3] = { { NULL, "s", NULL }, { "x", NULL, NULL },
        { "x", "s", "x" }, { NULL, NULL, NULL } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        prt_module *m = NULL;
        ck_assert_int_eq(load(cases[i][0], cases[i][1], cases[i][2], &m), POPRT_E_PARSE);
        ck_assert_msg(strstr(last_error(),
                          "Gradient: needs xs, a list of names, and y, a name; zs is a list") !=
                NULL,
            "%s", last_error());
    }
}
END_TEST

START_TEST(gradient_of_an_unknown_value_is_refused)
{
    prt_module *m = NULL;
    ck_assert_int_ne(load("x", "nowhere", NULL, &m), POPRT_OK);
    ck_assert_msg(strstr(last_error(), "nowhere") != NULL, "%s", last_error());
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_train", gradient_becomes_the_operators_that_compute_it,
    gradient_without_its_names_is_refused, gradient_of_an_unknown_value_is_refused)
