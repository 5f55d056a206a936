/* SPDX-License-Identifier: MIT */
/* test_upgrade_math.c — attributes of older element-wise operators. */
#include "converter/upgrade.h"

#include "converter/onnx_raw.h"
#include "support/check_main.h"

static prt_module *module;

/* Returns the op with output "y". An op with invalid types is written as a SequenceConstruct,
 * which accepts any types, and is then replaced by the op of the model. */
static prt_op *op_in(const char *text)
{
    ck_assert_int_eq(prt_module_create(NULL, 0, &module), POPRT_OK);
    const poprt_status status = prt_ir_parse(module, prt_str_of(text));
    ck_assert_msg(status == POPRT_OK, "%s: %s", text, prt_error_last()->message);
    const prt_value *y = prt_map_find(&module->names, PRT_STR("y"));
    ck_assert_ptr_nonnull(y);
    return y->def;
}

static poprt_status upgrade(prt_op *op, int64_t version, uint32_t n, prt_node_attr *attrs)
{
    prt_upgrade u = { .op = op, .version = version, .attrs = attrs, .n_attrs = n };
    return prt_upgrade_op(&u);
}

static prt_op *becomes(prt_op *op, uint32_t id)
{
    prt_upgrade u = { .op = op };
    ck_assert_int_eq(prt_upgrade_become(&u, id), POPRT_OK);
    op->out[0].type = prt_type_unknown(op->graph->module->types);
    return op;
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

START_TEST(broadcasting_at_an_axis_becomes_unsqueeze)
{
    prt_op *op = becomes(op_in("a = input f32[2,3,4,5]\nb = input f32[3,4]\n"
                               "y = sequence_construct a b\nreturn y\n"),
        PRT_OP_add);
    prt_node_attr attrs[] = { { .name = PRT_STR_INIT("broadcast"), .kind = PRT_ONNX_INT, .i = 1 },
        { .name = PRT_STR_INIT("axis"), .kind = PRT_ONNX_INT, .i = 1 } };
    ck_assert_int_eq(upgrade(op, 6, 2, attrs), POPRT_OK);
    ck_graph("a = input f32[2,3,4,5]\nb = input f32[3,4]\n%0 = const i64[1] {2}\n"
             "%1 = unsqueeze b %0\ny = add a %1\nreturn y\n");
}
END_TEST

START_TEST(axes_are_checked)
{
    static const int64_t wrong[] = { 3, 5, -9, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        prt_op *op = becomes(op_in("a = input f32[2,3,4]\nb = input f32[3]\n"
                                   "y = sequence_construct a b\nreturn y\n"),
            PRT_OP_mul);
        prt_node_attr attrs[] = {
            { .name = PRT_STR_INIT("broadcast"), .kind = PRT_ONNX_INT, .i = 1 },
            { .name = PRT_STR_INIT("axis"), .kind = PRT_ONNX_INT, .i = wrong[i] }
        };
        ck_assert_int_eq(upgrade(op, 1, 2, attrs), POPRT_E_SHAPE);
        prt_module_release(module);
    }
}
END_TEST

START_TEST(slopes_are_aligned_to_channels)
{
    prt_op *op = becomes(op_in("x = input f32[1,3,4,4]\ns = input f32[3]\n"
                               "y = sequence_construct x s\nreturn y\n"),
        PRT_OP_prelu);
    ck_assert_int_eq(upgrade(op, 6, 0, NULL), POPRT_OK);
    ck_graph("x = input f32[1,3,4,4]\ns = input f32[3]\n%0 = const i64[2] {1, 2}\n"
             "%1 = unsqueeze s %0\ny = prelu x %1\nreturn y\n");
}
END_TEST

START_TEST(bounds_become_inputs)
{
    prt_op *op = op_in("x = input f16[2]\ny = clip x\nreturn y\n");
    prt_node_attr attr = { .name = PRT_STR_INIT("max"), .kind = PRT_ONNX_FLOAT, .f = 6.0f };
    ck_assert_int_eq(upgrade(op, 6, 1, &attr), POPRT_OK);
    ck_assert(attr.taken);
    ck_graph("x = input f16[2]\n%0 = const f16[] {6}\ny = clip x _ %0\nreturn y\n");
    op = op_in("x = input f16[2]\ny = clip x\nreturn y\n");
    attr.kind = PRT_ONNX_INT;
    ck_assert_int_eq(upgrade(op, 6, 1, &attr), POPRT_E_PARSE);
    prt_module_release(module);
}
END_TEST

START_TEST(the_mode_of_dropout_becomes_an_input)
{
    prt_node_attr attr = { .name = PRT_STR_INIT("is_test"), .kind = PRT_ONNX_INT, .i = 0 };
    prt_op *op = op_in("x = input f32[2]\ny = dropout x\nreturn y\n");
    ck_assert_int_eq(upgrade(op, 6, 1, &attr), POPRT_OK);
    ck_graph("x = input f32[2]\n%0 = const bool[] {true}\n%1 = const f32[] {0.5}\n"
             "y = dropout x %1 %0\nreturn y\n");
    attr.i = 1;
    op = op_in("x = input f32[2]\ny = dropout x\nreturn y\n");
    ck_assert_int_eq(upgrade(op, 1, 1, &attr), POPRT_OK);
    ck_graph("x = input f32[2]\n%0 = const f32[] {0.5}\ny = dropout x %0\nreturn y\n");
}
END_TEST

START_TEST(masks_keep_the_type_of_the_data)
{
    prt_op *op = op_in("x = input f32[2]\ny,m = dropout x\nz = identity m\nreturn m, z\n");
    ck_assert_int_eq(upgrade(op, 9, 0, NULL), POPRT_OK);
    ck_graph("x = input f32[2]\n%0 = const f32[] {0.5}\ny, %1 = dropout x %0\n"
             "m = cast_like %1 x\nz = identity m\nreturn m, z\n");
    op = op_in("x = input f32[2]\ny,m = dropout x\nreturn m\n");
    ck_assert_int_eq(upgrade(op, 10, 0, NULL), POPRT_OK);
    ck_graph("x = input f32[2]\n%0 = const f32[] {0.5}\ny, m = dropout x %0\nreturn m\n");
}
END_TEST

START_TEST(types_as_text_are_read)
{
    prt_node_attr attr = { .name = PRT_STR_INIT("to"),
        .kind = PRT_ONNX_STRING,
        .s = PRT_STR_INIT("INT32") };
    prt_op *op = op_in("x = input f32[2]\ny = cast x {to=1}\nreturn y\n");
    ck_assert_int_eq(upgrade(op, 1, 1, &attr), POPRT_OK);
    ck_graph("x = input f32[2]\ny = cast x {to=6}\nreturn y\n");
    attr.s = PRT_STR("float");
    op = op_in("x = input f32[2]\ny = cast x {to=1}\nreturn y\n");
    ck_assert_int_eq(upgrade(op, 1, 1, &attr), POPRT_E_TYPE);
    prt_module_release(module);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_math", broadcasting_at_an_axis_becomes_unsqueeze, axes_are_checked,
    slopes_are_aligned_to_channels, bounds_become_inputs, the_mode_of_dropout_becomes_an_input,
    masks_keep_the_type_of_the_data, types_as_text_are_read)
