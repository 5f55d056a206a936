/* SPDX-License-Identifier: MIT */
/* test_upgrade_ml.c — older LabelEncoders: classes by index, and duplicate keys of which the
 * first counts. */
#include "converter/upgrade.h"

#include <stdio.h>

#include "converter/onnx_raw.h"
#include "support/check_main.h"

static prt_module *module;

/* A LabelEncoder of input x ("i64[2]") without lists, as the reader builds it from an old node. */
static prt_op *encoder(const char *type)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "x = input %s\ny = identity x\nreturn y\n", type);
    ck_assert_int_eq(prt_module_create(NULL, 0, &module), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(module, prt_str_of(text)), POPRT_OK);
    const prt_value *y = prt_map_find(&module->names, PRT_STR("y"));
    prt_upgrade u = { .op = y->def };
    ck_assert_int_eq(prt_upgrade_become(&u, PRT_OP_ml_label_encoder), POPRT_OK);
    u.op->out[0].type = prt_type_unknown(module->types);
    return u.op;
}

static poprt_status upgrade(prt_op *op, int64_t version, uint32_t n, prt_node_attr *attrs)
{
    prt_upgrade u = { .op = op, .version = version, .attrs = attrs, .n_attrs = n };
    return prt_upgrade_op(&u);
}

static void ck_graph(const char *want)
{
    prt_str text;
    ck_assert_int_eq(prt_ir_infer(module->main), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(module), POPRT_OK);
    ck_assert_int_eq(prt_ir_print(module->main, module->arena, &text), POPRT_OK);
    ck_assert_str_eq(text.data, want);
    prt_module_release(module);
}

static const prt_str names[] = { PRT_STR_INIT("a"), PRT_STR_INIT("b") };
#define CLASSES                                                                                    \
    {                                                                                              \
        .name = PRT_STR_INIT("classes_strings"), .kind = PRT_ONNX_STRINGS, .strings = { names, 2 } \
    }

START_TEST(classes_are_values_of_integers)
{
    prt_node_attr attrs[] = { CLASSES };
    ck_assert_int_eq(upgrade(encoder("i64[2]"), 1, 1, attrs), POPRT_OK);
    ck_graph("x = input i64[2]\n"
             "y = ml_label_encoder x {keys_int64s=[0,1], values_strings=[a,b]}\nreturn y\n");
}
END_TEST

START_TEST(classes_are_keys_of_strings)
{
    prt_node_attr attrs[] = { CLASSES };
    ck_assert_int_eq(upgrade(encoder("string[2]"), 1, 1, attrs), POPRT_OK);
    ck_assert(attrs[0].taken);
    ck_graph("x = input string[2]\n"
             "y = ml_label_encoder x {keys_strings=[a,b], values_int64s=[0,1]}\nreturn y\n");
}
END_TEST

START_TEST(classes_need_a_direction)
{
    prt_node_attr attrs[] = { CLASSES };
    ck_assert_int_eq(upgrade(encoder("?"), 1, 1, attrs), POPRT_E_UNSUPPORTED);
    prt_module_release(module);
    prt_op *op = encoder("?");
    prt_ml_label_encoder_attrs *a = op->attrs;
    a->present |= (uint64_t)1 << prt_op_attr(op->def, PRT_STR("default_string"));
    ck_assert_int_eq(upgrade(op, 1, 1, attrs), POPRT_OK);
    ck_assert_uint_eq(a->values_strings.count, 2);
    prt_module_release(module);
    ck_assert_int_eq(upgrade(encoder("i64[2]"), 1, 0, NULL), POPRT_E_PARSE);
    prt_module_release(module);
}
END_TEST

START_TEST(the_first_of_equal_keys_wins)
{
    static const int64_t keys[] = { 1, 1, 2 };
    static const float values[] = { 5, 6, 7 };
    prt_op *op = encoder("i64[2]");
    prt_ml_label_encoder_attrs *a = op->attrs;
    a->keys_int64s = (prt_i64s){ keys, 3 };
    a->values_floats = (prt_f32s){ values, 3 };
    a->present |= (uint64_t)1 << prt_op_attr(op->def, PRT_STR("keys_int64s")) |
        (uint64_t)1 << prt_op_attr(op->def, PRT_STR("values_floats"));
    ck_assert_int_eq(upgrade(op, 3, 0, NULL), POPRT_OK);
    ck_graph("x = input i64[2]\n"
             "y = ml_label_encoder x {keys_int64s=[2,1,1], values_floats=[7,6,5]}\nreturn y\n");
}
END_TEST

START_TEST(the_newest_form_stays)
{
    static const int64_t keys[] = { 1, 2 };
    prt_op *op = encoder("i64[2]");
    prt_ml_label_encoder_attrs *a = op->attrs;
    a->keys_int64s = a->values_int64s = (prt_i64s){ keys, 2 };
    ck_assert_int_eq(upgrade(op, 4, 0, NULL), POPRT_OK);
    ck_assert_ptr_eq(a->keys_int64s.data, keys);
    prt_module_release(module);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_ml", classes_are_values_of_integers, classes_are_keys_of_strings,
    classes_need_a_direction, the_first_of_equal_keys_wins, the_newest_form_stays)
