/* SPDX-License-Identifier: MIT */
/* test_elementwise.c — fuse_elementwise: fused operators, near misses, equal results. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define X                                                                                          \
    "x = input f32[2,3,8]\nz = input f32[2,3,8]\nrow = input f32[8]\n"                             \
    "two = const f32[] {2}\nsix = const f32[1] {6}\nzero = const f32[] {0}\n"
#define PASS "fuse_elementwise"

/* Asserts that the graph becomes `count` ops, one of which is `part`. Sums of three operands are
 * then rounded twice. */
static void assert_becomes(const char *text, uint32_t count, const char *part)
{
    prt_graph *g = graph_from_text(text);
    uint32_t n = 0;
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    prt_for_each_op (op, g)
        n++;
    ck_assert_msg(n == count && strstr(graph_text(g), part) != NULL, "%s", graph_text(g));
    module_free(g);
    assert_pass_keeps_results(text, PASS, strstr(text, "sum ") != NULL ? 1e-6 : 0);
}

START_TEST(chains_become_one)
{
    assert_becomes(X "a = mul x two\nb = add a row\nc = div b six\ny = tanh c\nreturn y\n", 1,
        "elementwise x row {program=[2,0,2,0,0,5,1,0,3,6,3,0,28,7,4,4]");
    assert_becomes(X "a = add x six\nb = clip a zero six\nc = mul x b\ny = div c six\nreturn y\n",
        1, "elementwise x ");
    /* branches that meet */
    assert_becomes(X
        "a = add x row\nb = exp a\nc = neg a\nd = max b c z\ny = sum d x row a\nreturn y\n",
        1, "elementwise x row z ");
    assert_becomes(X "p = greater x z\nq = less_or_equal x row\nr = xor p q\na = where r x two\n"
                     "b = cast r {to=1}\ny = mul a b\nreturn y\n",
        1, "elementwise x row z ");
}
END_TEST

START_TEST(every_operator_is_fused)
{
    static const char *const ops[] = { "add x z", "sub x row", "mul two x", "div x z", "max x z",
        "min x z row", "sum z x row", "prelu x row", "abs x", "neg x", "sqrt x", "reciprocal x",
        "exp x", "erf x", "log x", "sin x", "cos x", "atan x", "tan x", "floor x", "ceil x",
        "round x", "sign x", "pow x two", "pow x three", "pow x half", "pow x less_half",
        "pow x minus", "relu x", "clip x minus two", "clip x two minus", "clip x zero",
        "clip x _ half", "leaky_relu x {alpha=0.3}", "sigmoid x", "tanh x", "swish x",
        "hard_sigmoid x {alpha=0.3}", "hard_swish x", "gelu x", "gelu x {approximate=tanh}" };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            X "half = const f32[] {0.5}\nminus = const f32[] {-1}\n"
              "less_half = const f32[] {-0.5}\nthree = const f32[] {3}\nb = %s\ny = neg b\n"
              "return y\n",
            ops[i]);
        assert_becomes(text, 1, "elementwise ");
    }
    static const char *const truths[] = { "equal x row", "less x z", "less_or_equal x z",
        "greater x two", "greater_or_equal z x", "and p q", "or p q", "xor q p" };
    for (size_t i = 0; i < PRT_COUNT_OF(truths); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text),
            X "p = input bool[2,3,8]\nq = input bool[2,3,8]\nb = %s\ny = where b x row\nreturn y\n",
            truths[i]);
        assert_becomes(text, 1, "elementwise ");
    }
}
END_TEST

START_TEST(other_operators_are_left)
{
    static const char *const graphs[] = {
        X "y = mul x two\nreturn y\n",                                /* alone */
        X "a = mul x two\ny = add a z\nreturn y, a\n",                /* an output */
        X "a = mul x two\ny = add a z\nw = softmax a\nreturn y, w\n", /* read elsewhere */
        X "a = exp row\ny = add a x\nreturn y\n",                     /* smaller */
        X "h = input f32[n,2]\na = exp row\nb = softmax a\ny = neg b\nreturn y, h\n",
        X "i = input i64[4]\na = add i i\ny = mul a i\nreturn y\n", /* integers */
        X "p = input f32[]\na = pow x p\ny = pow a p\nreturn y\n",
        X "p = less x z\nq = equal x row\ny = and p q\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves(PASS, NULL, graphs[i]);
}
END_TEST

/* A program has room for 32 instructions and 6 inputs: longer chains become several. */
START_TEST(long_chains_become_several_programs)
{
    char text[4096] = X "v0 = add x row\n";
    for (int i = 0; i < 70; i++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "v%d = %s v%d\n", i + 1,
            i % 2 != 0 ? "neg" : "sin", i);
    }
    (void)strcat(text, "return v70\n");
    assert_becomes(text, 3, "elementwise ");
    assert_becomes("a = input f32[4]\nb = input f32[4]\nc = input f32[4]\nd = input f32[4]\n"
                   "e = input f32[4]\nf = input f32[4]\ng = input f32[4]\nh = input f32[4]\n"
                   "p = add a b\nq = add p c\nr = add q d\ns = add r e\nt = add s f\nu = add t g\n"
                   "y = add u h\nreturn y\n",
        2, "elementwise a b c d e f ");
}
END_TEST

/* A constant of one element becomes a number of the program, unless no other operand has as many
 * dims. */
START_TEST(scalars_become_numbers_of_the_program)
{
    assert_becomes("x = input f32[]\nk = const f32[1] {2}\na = add x k\ny = neg a\nreturn y\n", 1,
        "elementwise x k {program=[0,0,1,0,8,2,0,0]}");
    assert_becomes("x = input f32[3]\nk = const f32[1] {2}\na = add x k\nb = mul a k\ny = neg b\n"
                   "return y\n",
        1, "numbers=[2]}");
}
END_TEST

START_TEST(unknown_sizes_are_fused_if_equal)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[n,m]\nz = input f32[n,m]\na = mul x z\ny = relu a\nreturn y\n",
        "x = input f32[n,m]\nz = input f32[n,m]\n"
        "y = elementwise x z {program=[2,0,1,0,24,3,2,2],numbers=[0]}\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n,m]\nz = input f32[k,m]\na = relu x\ny = mul a z\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/elementwise", chains_become_one, every_operator_is_fused,
    other_operators_are_left, long_chains_become_several_programs,
    scalars_become_numbers_of_the_program, unknown_sizes_are_fused_if_equal)
