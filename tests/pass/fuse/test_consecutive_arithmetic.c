/* SPDX-License-Identifier: MIT */
/* test_consecutive_arithmetic.c — fuse_consecutive_arithmetic. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_consecutive_arithmetic";

static const char *text_of(const char *type, const char *first, const char *second)
{
    static char text[512];
    (void)snprintf(text, sizeof(text),
        "x = input %s[2,3]\na = const %s[] {3}\nb = const %s[3] {2,-4,5}\nf = %s\ny = %s\nreturn "
        "y\n",
        type, type, type, first, second);
    return text;
}

START_TEST(all_forms_are_joined)
{
    static const char *const firsts[] = { "add x a", "add a x", "sub x a", "sub a x", "mul x a",
        "mul a x", "div x a", "div a x" };
    static const char *const seconds[] = { "add f b", "add b f", "sub f b", "sub b f", "mul f b",
        "mul b f", "div f b", "div b f" };
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 4; k++) {
            const char *text = text_of("f32", firsts[i], seconds[k + (i >= 4 ? 4 : 0)]);
            prt_graph *g = graph_from_text(text);
            ck_assert(run_pass(g, pass, NULL));
            ck_assert_ptr_eq(g->first, g->last);
            module_free(g);
            assert_pass_keeps_results(text, pass, 1e-6);
            assert_pass_leaves(pass, NULL,
                text_of("f32", firsts[i], seconds[k + (i >= 4 ? 0 : 4)]));
        }
}
END_TEST

START_TEST(integers_stay_exact)
{
    assert_pass_rewrites(pass, NULL, text_of("i32", "sub x a", "sub f b"),
        "x = input i32[2,3]\na = const i32[] {3}\nb = const i32[3] {2,-4,5}\n"
        "b_0 = const i32[3] {5,-1,8}\ny = sub x b_0\nreturn y\n");
    assert_pass_keeps_results(text_of("i8", "add x a", "sub b f"), pass, 0);
    assert_pass_keeps_results(text_of("i64", "mul x a", "mul f b"), pass, 0);
    assert_pass_leaves(pass, NULL, text_of("i32", "div x a", "div f b"));
    assert_pass_leaves(pass, NULL, text_of("i32", "mul x a", "div f b"));
    assert_pass_leaves(pass, NULL,
        "x = input i8[2]\na = const i8[] {100}\nb = const i8[] {100}\nf = add x a\ny = add f b\n"
        "return y\n");
    assert_pass_leaves(pass, NULL,
        "x = input u8[2]\na = const u8[] {1}\nb = const u8[] {2}\nf = sub x a\ny = sub b f\n"
        "return y\n");
}
END_TEST

START_TEST(chains_become_one)
{
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\na = const f32[] {1}\nb = const f32[] {2}\nc = const f32[] {4}\n"
        "f = add x a\ng = add f b\ny = sub g c\nreturn y\n",
        "x = input f32[n]\na = const f32[] {1}\nb = const f32[] {2}\nc = const f32[] {4}\n"
        "b_0 = const f32[] {3}\nc_1 = const f32[] {-1}\ny = add x c_1\nreturn y\n");
}
END_TEST

START_TEST(near_misses_are_left)
{
    /* both are read; the constants together are larger; no constant; infinite; vanishing */
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\na = const f32[] {1}\nf = add x a\ny = add f a\nreturn y, f\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[64,64]\na = const f32[64,1] fill 1\nb = const f32[1,64] fill 2\nf = add x "
        "a\n"
        "y = add f b\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\na = input f32[] {1}\nb = const f32[] {1}\nf = add x a\ny = add f b\n"
        "return y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[n]\na = const f16[] {60000}\nf = mul x a\ny = mul f a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\na = const f32[] {1e-30}\nf = mul x a\ny = mul f a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\na = const f32[] {0}\nb = const f32[] {2}\nf = mul x a\ny = div b f\n"
        "return y\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results(
        "x = input f32[3]\nq = input bool[]\na = const f32[] {2}\nr = if q {\n"
        "  then_branch { b = const f32[] {3}; f = mul x a; t = div f b; return t }\n"
        "  else_branch { e = neg x; return e }\n}\nreturn r\n",
        pass, 1e-6);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/consecutive_arithmetic", all_forms_are_joined, integers_stay_exact,
    chains_become_one, near_misses_are_left, regions_are_rewritten)
