/* SPDX-License-Identifier: MIT */
/* test_duplicate_initializer.c — eliminate_duplicate_initializer, remove_duplicated_initializer. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define IF(then, other)                                                                            \
    "r = if q {\n  then_branch { " then " return t }\n  else_branch { " other " return e }\n}\n"

START_TEST(the_first_one_stays)
{
    assert_pass_rewrites("eliminate_duplicate_initializer", NULL,
        "x = input f32[2]\na = const f32[2] {1,2}\nb = const f32[2] {1,2}\nc = const f32[2] {1,3}\n"
        "s = add x a\nt = add s b\ny = add t c\nreturn y\n",
        "x = input f32[2]\na = const f32[2] {1,2}\nc = const f32[2] {1,3}\n"
        "s = add x a\nt = add s a\ny = add t c\nreturn y\n");
    assert_pass_keeps_results("x = input f32[2]\na = const f32[2] {1,2}\nb = const f32[2] {1,2}\n"
                              "s = mul x a\ny = add s b\nreturn y\n",
        "eliminate_duplicate_initializer", 0);
}
END_TEST

START_TEST(different_constants_are_left)
{
    static const char *const texts[] = {
        "x = input f32[2]\na = const f32[2] {1,2}\nb = const f32[1,2] {1,2}\ns = add x a\n"
        "y = add s b\nreturn y\n",
        "x = input f32[2]\na = const f32[2] {0,0}\nb = const i32[2] {0,0}\nc = cast b {to=1}\n"
        "s = add x a\ny = add s c\nreturn y\n",
        "x = input f32[2]\na = const f32[2] {1,2}\nb = const f32[2] {1,2}\ny = add x a\n"
        "return y, b\n",
        "x = input f32[2]\na = const f32[2] {1,2}\nb = input f32[2] {1,2}\ns = add x a\n"
        "y = add s b\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++) {
        assert_pass_leaves("eliminate_duplicate_initializer", NULL, texts[i]);
        assert_pass_leaves("remove_duplicated_initializer", NULL, texts[i]);
    }
}
END_TEST

START_TEST(regions_are_rewritten)
{
    static const char *const text =
        "x = input f32[2]\nq = input bool[]\na = const f32[2] {1,2}\ns = add x a\n" IF(
            "b = const f32[2] {1,2}; c = const f32[2] {1,2}; u = mul s b; t = add u c;",
            "d = const f32[2] {1,2}; e = mul s d;") "return r\n";
    static const char *const inside =
        "x = input f32[2]\nq = input bool[]\na = const f32[2] {1,2}\ns = add x a\n" IF(
            "b = const f32[2] {1,2}; u = mul s b; t = add u b;",
            "d = const f32[2] {1,2}; e = mul s d;") "return r\n";
    assert_pass_rewrites("eliminate_duplicate_initializer", NULL, text, inside);
    assert_pass_rewrites("remove_duplicated_initializer", NULL, text,
        "x = input f32[2]\nq = input bool[]\na = const f32[2] {1,2}\ns = add x a\n" IF(
            "u = mul s a; t = add u a;", "e = mul s a;") "return r\n");
    assert_pass_keeps_results(text, "remove_duplicated_initializer", 0);
    assert_pass_keeps_results(text, "eliminate_duplicate_initializer", 0);
    /* one branch does not see the other's */
    assert_pass_leaves("remove_duplicated_initializer", NULL,
        "x = input f32[2]\nq = input bool[]\n" IF("b = const f32[2] {1,2}; t = mul x b;",
            "d = const f32[2] {1,2}; e = add x d;") "return r\n");
}
END_TEST

PRT_TEST_MAIN("pass/clean/duplicate_initializer", the_first_one_stays, different_constants_are_left,
    regions_are_rewritten)
