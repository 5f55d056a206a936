/* SPDX-License-Identifier: MIT */
/* test_history.c — schemas by opset, and comparison of ops with them. */
#include "converter/history.h"

#include "converter/upgrade.h"
#include "support/check_main.h"

static prt_module *module;

/* Returns the op with output "y". */
static prt_op *op_in(const char *text)
{
    ck_assert_int_eq(prt_module_create(NULL, 0, &module), POPRT_OK);
    ck_assert_msg(prt_ir_parse(module, prt_str_of(text)) == POPRT_OK, "%s",
        prt_error_last()->message);
    ck_assert_int_eq(prt_ir_infer(module->main), POPRT_OK);
    return ((prt_value *)prt_map_find(&module->names, PRT_STR("y")))->def;
}

/* Asserts that the op fits opset `yes` but not `no`, with `part` in the reason. */
static void ck_fits(const char *text, int64_t yes, int64_t no, const char *part)
{
    char why[256] = "";
    const prt_op *op = op_in(text);
    ck_assert_msg(prt_history_fits(op, yes, why, sizeof(why)), "%s: %s", text, why);
    ck_assert(!prt_history_fits(op, no, why, sizeof(why)));
    ck_assert_msg(strstr(why, part) != NULL, "%s", why);
    prt_module_release(module);
}

static void ck_least(const char *text, int64_t want)
{
    const prt_op *op = op_in(text);
    ck_assert_int_eq(prt_history_lowest_opset(op, prt_opset_variant_meaning(op->name)), want);
    prt_module_release(module);
}

START_TEST(versions_hold_until_the_next)
{
    const prt_str clip = PRT_STR("Clip");
    ck_assert_int_eq(prt_history_version(clip, 1), 1);
    ck_assert_int_eq(prt_history_version(clip, 5), 1);
    ck_assert_int_eq(prt_history_version(clip, 10), 6);
    ck_assert_int_eq(prt_history_version(clip, 12), 12);
    ck_assert_int_eq(prt_history_version(clip, 99), 13);
    ck_assert_int_eq(prt_history_version(PRT_STR("Gelu"), 19), 0);
    ck_assert_int_eq(prt_history_version(PRT_STR("Gelu"), 20), 20);
    ck_assert_int_eq(prt_history_version(PRT_STR("Upsample"), 9), 9);
    ck_assert_int_eq(prt_history_version(PRT_STR("Upsample"), 10), 0); /* it was removed */
    ck_assert_int_eq(prt_history_version(PRT_STR("NoSuch"), 20), 0);
    ck_assert_int_eq(prt_history_first(PRT_STR("Where")), 9);
    ck_assert_int_eq(prt_history_first(PRT_STR("NoSuch")), 0);
    ck_assert_int_ge(prt_history_newest(), 28);
}
END_TEST

START_TEST(signatures_and_attributes_are_checked)
{
    ck_fits("x = input f32[2]\na = input f32[]\ny = clip x a\nreturn y\n", 11, 10,
        "it has 2 inputs, but takes at most 1 at that opset");
    ck_fits("x = input i64[2]\ny = clip x\nreturn y\n", 12, 11,
        "input 0 cannot be i64 at that opset");
    ck_fits("x = input f32[2]\ny = shape x {start=1}\nreturn y\n", 15, 14,
        "attribute 'start' does not exist at that opset");
    ck_fits("x = input f32[2]\ny = celu x\nreturn y\n", 12, 11,
        "it does not exist before opset 12");
    ck_fits("x = input f32[1,2,3,3]\ny, i = max_pool x {kernel_shape=[2,2]}\nreturn y, i\n", 8, 7,
        "it has 2 outputs, but at most 1 at that opset");
    ck_fits("x = input f32[2]\ny = cast x {to=16}\nreturn y\n", 13, 12,
        "output 0 cannot be bf16 at that opset");
    ck_fits("x = input f32[2]\ny = identity x\nreturn y\n", 1, 0, "before opset 1");
    ck_fits("x = input f32[2]\ns = sequence_construct x\ny = identity s\nreturn y\n", 14, 13,
        "input 0 cannot be a sequence at that opset");
}
END_TEST

/* An attribute with its default value is allowed; a variadic slot stands for all its inputs. */
START_TEST(defaults_and_variadic_inputs_are_allowed)
{
    ck_fits("x = input f32[2]\ny = shape x {start=0}\nreturn y\n", 1, 0, "opset 1");
    ck_fits("a = input f32[2]\nb = input f32[2]\nc = input f32[2]\ny = max a b c\nreturn y\n", 1, 0,
        "opset 1");
    ck_fits("a = input f32[2]\nb = input f32[2]\nc = input i32[2]\nk = cast a {to=6}\n"
            "y = max k c\nreturn y\n",
        12, 11, "input 0 cannot be i32 at that opset");
    const prt_type *type = op_in("x = input i8[2]\ny = identity x\nreturn y\n")->out[0].type;
    ck_assert(!prt_history_supports(PRT_STR("Add"), 13, 0, type));
    ck_assert(prt_history_supports(PRT_STR("Add"), 14, 1, type));
    ck_assert(prt_history_has_attr(PRT_STR("Clip"), 6, "min"));
    ck_assert(!prt_history_has_attr(PRT_STR("Clip"), 11, "min"));
    ck_assert(!prt_history_has_attr(PRT_STR("GRU"), 14, "output_sequence"));
    ck_assert(prt_history_has_attr(PRT_STR("GRU"), 1, "output_sequence"));
    prt_module_release(module);
}
END_TEST

/* The result is the first schema that has everything the op uses, with the same meaning. */
START_TEST(the_oldest_equivalent_opset_is_found)
{
    ck_least("x = input f32[2]\ny = cast x {to=10}\nreturn y\n", 6);
    ck_least("x = input f32[2]\ny = cast x {to=17,round_mode=nearest}\nreturn y\n", 24);
    ck_least("x = input f32[2]\ny = cast x {to=17}\nreturn y\n", 19);
    ck_least("x = input f32[2]\ny = softmax x\nreturn y\n", 13);
    ck_least("x = input f32[2]\nz = input f32[2]\ny = add x z\nreturn y\n", 7);
    ck_least("x = input f32[2,2]\ny = reduce_mean x\nreturn y\n", 1);
    ck_least("x = input f32[2,2]\na = const i64[1] {0}\ny = reduce_mean x a\nreturn y\n", 18);
    ck_least("x = input bf16[2]\ny = relu x\nreturn y\n", 13);
    ck_least("x = input f32[2]\ny = gelu x\nreturn y\n", 20);
}
END_TEST

PRT_TEST_MAIN("converter/history", versions_hold_until_the_next,
    signatures_and_attributes_are_checked, defaults_and_variadic_inputs_are_allowed,
    the_oldest_equivalent_opset_is_found)
