/* SPDX-License-Identifier: MIT */
/* test_words.c — attributes whose values are words of a fixed list: text, numbers, equality, text
 * IR. */
#include "op/words.h"

#include "support/check_main.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const uint32_t kinds[] = { PRT_ATTR_act, PRT_ATTR_form, PRT_ATTR_products };

START_TEST(every_word_has_a_number_and_back)
{
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++) {
        uint32_t count;
        const prt_str *words = prt_attr_words(kinds[i], &count);
        ck_assert_ptr_nonnull(words);
        for (uint32_t k = 0; k < count; k++) {
            int32_t number = -1;
            ck_assert(prt_attr_set_word(kinds[i], words[k], &number));
            ck_assert_int_eq(number, (int32_t)k);
            ck_assert(prt_str_equal(prt_attr_text(kinds[i], &number), words[k]));
        }
    }
}
END_TEST

START_TEST(an_unknown_word_is_refused_and_changes_nothing)
{
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++) {
        int32_t number = 7;
        ck_assert(!prt_attr_set_word(kinds[i], PRT_STR("relu"), &number));
        ck_assert(!prt_attr_set_word(kinds[i], PRT_STR("Relu\n"), &number));
        ck_assert_int_eq(number, 7);
    }
}
END_TEST

START_TEST(other_kinds_have_no_words)
{
    const prt_str text = PRT_STR("any");
    uint32_t count = 1;
    ck_assert_ptr_null(prt_attr_words(PRT_ATTR_str, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert(prt_str_equal(prt_attr_text(PRT_ATTR_str, &text), text));
}
END_TEST

START_TEST(attributes_that_differ_by_a_word_are_not_equal)
{
    const prt_op_def *def = prt_op_of(PRT_OP_nhwc_conv);
    prt_nhwc_conv_attrs a = PRT_ATTRS_OF(nhwc_conv), b = a;
    ck_assert(prt_attrs_equal(def, &a, &b));
    b.form = PRT_NHWC_taps;
    ck_assert(!prt_attrs_equal(def, &a, &b));
}
END_TEST

START_TEST(text_ir_keeps_words)
{
    prt_graph *g = graph_from_text("x = input f32[2,2]\nw = input f32[2,2]\n"
                                   "y = fused_linear x w {activation=\"Silu\"}\nreturn y\n");
    const prt_op *op = g->first;
    ck_assert_int_eq(((const prt_fused_linear_attrs *)op->attrs)->activation, PRT_ACT_silu);
    assert_text_has(graph_text(g), "{activation=Silu}");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("op/words", every_word_has_a_number_and_back,
    an_unknown_word_is_refused_and_changes_nothing, other_kinds_have_no_words,
    attributes_that_differ_by_a_word_are_not_equal, text_ir_keeps_words)
