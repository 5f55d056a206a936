/* SPDX-License-Identifier: MIT */
/*
 * test_merge_if.c — merge_if_with_same_cond, merge_variant_if.
 * Covers: region.c.
 */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const merge = "merge_if_with_same_cond", *const variant = "merge_variant_if";

#define HEAD "x = input f32[2]\nc = input bool[]\nd = input bool[]\nk = const f32[2] {1,2}\n"
#define IF(out, cond, then, other)                                                                 \
    out " = if " cond " {\n  then_branch { " then " }\n  else_branch { " other " }\n}\n"
#define FIRST IF("a", "c", "t1 = add x k; return t1", "e1 = neg x; return e1")

START_TEST(ifs_become_one)
{
    static const char *const text = HEAD FIRST "y1 = exp a\n" IF("b", "c",
        "l = const f32[2] {3,4}; t2 = mul x l; return t2", "return x") "return y1, b\n";
    assert_pass_rewrites(merge, NULL, text,
        HEAD IF("a, b", "c", "l = const f32[2] {3,4}; t1 = add x k; t2 = mul x l; return t1, t2",
            "e1 = neg x; return e1, x") "y1 = exp a\nreturn y1, b\n");
    assert_pass_keeps_results(text, merge, 0);
}
END_TEST

START_TEST(later_ifs_read_the_branch_results)
{
    static const char *const text = HEAD FIRST IF("b", "c", "t2 = mul a k; return t2", "return a")
        IF("z", "c", "return b", "e3 = exp b; e4 = add e3 a; return e4") "return a, b, z\n";
    assert_pass_rewrites(merge, NULL, text,
        HEAD IF("a, b, z", "c", "t1 = add x k; t2 = mul t1 k; return t1, t2, t2",
            "e1 = neg x; e3 = exp e1; e4 = add e3 e1; return e1, e1, e4") "return a, b, z\n");
    assert_pass_keeps_results(text, merge, 0);
    /* from deeper regions as well */
    assert_pass_keeps_results(HEAD FIRST IF("b", "c",
                                  "i = if d {\n then_branch { u = mul a a; return u }\n"
                                  "else_branch { return a }\n}\nreturn i",
                                  "return x") "return a, b\n",
        merge, 0);
}
END_TEST

START_TEST(dependent_ifs_are_not_merged)
{
    /* y1 reads the first and the second reads y1 */
    static const char *const waits = HEAD FIRST
        "y1 = exp a\n" IF("b", "c", "t2 = mul y1 k; return t2", "return x") "return a, b\n";
    assert_pass_leaves(merge, NULL, waits);
    assert_pass_leaves(merge, NULL,
        HEAD FIRST IF("b", "d", "t2 = mul x k; return t2", "return x") "return a, b\n");
    assert_pass_leaves(merge, NULL,
        HEAD FIRST IF("b", "c", "t2 = random_normal_like x; return t2",
            "return x") "return a, b\n");
    /* the third is merged with the second */
    static const char *const three =
        HEAD FIRST "y1 = exp a\n" IF("b", "c", "t2 = mul y1 k; return t2", "return x")
            IF("z", "c", "return y1", "e3 = abs x; return e3") "return a, b, z\n";
    assert_pass_rewrites(merge, NULL, three,
        HEAD FIRST "y1 = exp a\n" IF("b, z", "c", "t2 = mul y1 k; return t2, y1",
            "e3 = abs x; return x, e3") "return a, b, z\n");
    assert_pass_keeps_results(three, merge, 0);
}
END_TEST

/* The condition is known from a shape, so inference sees the else branch only. The then branch
 * gives another type, which the reader of the result would reject. */
START_TEST(results_that_only_one_branch_gives_are_not_read_within)
{
#define KNOWN                                                                                      \
    "x = input f32[5]\nfour = const i64[] {4}\nn = size x\nc = equal n four\n"                     \
    "u = const i64[2] {1,2}\nv = const i64[1] {1}\nw = const i64[2] {7,8}\n" IF("a", "c",          \
        "t1 = identity u; return t1", "e1 = identity v; return e1")
    assert_pass_leaves(merge, NULL,
        KNOWN IF("b", "c", "t2 = concat a w; return t2", "return w") "return a, b\n");
    assert_pass_leaves(variant, NULL,
        KNOWN
        "y1 = neg a\n" IF("b", "c", "t2 = concat y1 w; return t2", "return w") "return a, b\n");
    /* not known, both branches' shapes may be read */
    assert_pass_keeps_results("x = input f32[5]\nc = input bool[]\nu = const f32[2] {1,2}\n" IF("a",
                                  "c", "t1 = concat x u; return t1", "return x") IF("b", "c",
                                  "t2 = exp a; return t2", "e2 = neg a; return e2") "return b\n",
        merge, 0);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    static const char *const text = HEAD "o = if d {\n  then_branch {\n" FIRST IF("b", "c",
        "t2 = mul x k; return t2", "return x") "s = sub a b\nreturn s\n  }\n"
                                               "  else_branch { return x }\n}\nreturn o\n";
    assert_pass_keeps_results(text, merge, 0);
    static const char *const waits =
        HEAD "o = if d {\n  then_branch {\n" FIRST
             "y1 = exp a\n" IF("b", "c", "t2 = mul y1 k; return t2",
                 "return x") "return b\n  }\n  else_branch { return x }\n}\nreturn o\n";
    assert_pass_keeps_results(waits, variant, 0);
}
END_TEST

START_TEST(operators_move_into_the_first_if)
{
    static const char *const text = HEAD FIRST "y1 = exp a\ny2 = mul y1 k @m\nn = neg a\n" IF("b",
        "c", "t2 = mul y2 k; return t2", "return x") "return n, b\n";
    assert_pass_rewrites(variant, NULL, text,
        HEAD IF("a, y1, y2", "c", "t1 = add x k; %0 = exp t1; %1 = mul %0 k @m; return t1, %0, %1",
            "e1 = neg x; %2 = exp e1; %3 = mul %2 k @m; return e1, %2, %3") "n = neg a\n" IF("b",
            "c", "t2 = mul y2 k; return t2", "return x") "return n, b\n");
    assert_pass_keeps_results(text, variant, 0);
    /* then they can be merged */
    prt_graph *g = graph_from_text(text), *before = graph_from_text(text);
    ck_assert(run_pass(g, variant, NULL));
    ck_assert(run_pass(g, merge, NULL));
    ck_assert(prt_op_is(g->first, PRT_OP_if));
    ck_assert(!prt_op_is(g->last, PRT_OP_if));
    assert_same_results(before, g, 0, 5);
    module_free(g);
    module_free(before);
    /* a result that only moved ops read is removed; outputs of the graph stay */
    assert_pass_rewrites(variant, NULL,
        HEAD FIRST
        "y1 = exp a\n" IF("b", "c", "t2 = mul y1 k; return t2", "return x") "return y1, b\n",
        HEAD IF("y1", "c", "t1 = add x k; %0 = exp t1; return %0",
            "e1 = neg x; %1 = exp e1; return %1")
            IF("b", "c", "t2 = mul y1 k; return t2", "return x") "return y1, b\n");
}
END_TEST

START_TEST(immovable_operators_stay)
{
    static const char *const texts[] = {
        HEAD FIRST IF("b", "c", "t2 = mul a k; return t2", "return x") "return b\n",
        HEAD FIRST "w = exp x\ny1 = mul a w\n" IF("b", "c", "return y1", "return x") "return b\n",
        HEAD FIRST "r = random_normal_like a\n" IF("b", "c", "return r", "return x") "return b\n",
        HEAD FIRST "y1 = exp a\n" IF("b", "d", "return y1", "return x") "return b\n",
        HEAD FIRST IF("i", "d", "return a", "return x")
            IF("b", "c", "return i", "return x") "return b\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(variant, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/structure/merge_if", ifs_become_one, later_ifs_read_the_branch_results,
    dependent_ifs_are_not_merged, results_that_only_one_branch_gives_are_not_read_within,
    regions_are_rewritten, operators_move_into_the_first_if, immovable_operators_stay)
