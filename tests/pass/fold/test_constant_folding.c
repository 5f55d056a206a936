/* SPDX-License-Identifier: MIT */
/*
 * test_constant_folding.c — constant_folding: folded operators, operators that are left, limits
 * of size and work.
 * Covers: work.c.
 */
#include <stdio.h>

#include "pass/engine/manager.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static void assert_folds(const char *before, const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert(run_pass(g, "constant_folding", NULL));
    ck_assert_graph(g, after);
    ck_assert(!run_pass(g, "constant_folding", NULL));
    module_free(g);
}

static void assert_left_alone(const char *text, const char *options)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "constant_folding", options));
    ck_assert_graph(g, text);
    module_free(g);
}

START_TEST(chains_of_constants_become_one)
{
    assert_folds("x = input f32[2]\n"
                 "%0 = const f32[2] {1, 2}\n"
                 "%1 = const f32[] {3}\n"
                 "a = mul %0 %1\nb = neg a\ny = add x b\nreturn y\n",
        "x = input f32[2]\nb = const f32[2] {-3, -6}\ny = add x b\nreturn y\n");
}
END_TEST

START_TEST(constants_of_the_model_stay)
{
    assert_folds("x = input f32[2]\nw = const f32[2] {1, 2}\na = neg w\ny = add x a\nreturn y\n",
        "x = input f32[2]\nw = const f32[2] {1, 2}\na = const f32[2] {-1, -2}\ny = add x a\nreturn "
        "y\n");
}
END_TEST

START_TEST(shapes_of_static_inputs_are_known)
{
    assert_folds("x = input f32[n,3,4]\n"
                 "s = shape x {start=1}\ny = reshape x s\nreturn y\n",
        "x = input f32[n,3,4]\ns = const i64[2] {3, 4}\ny = reshape x s\nreturn y\n");
}
END_TEST

START_TEST(shapes_of_symbols_are_left)
{
    assert_left_alone("x = input f32[n,3]\ns = shape x\ny = reshape x s\nreturn y\n", NULL);
}
END_TEST

START_TEST(new_constants_make_types_known)
{
    prt_graph *g = graph_from_text("x = input f32[6]\n"
                                   "%0 = const i64[2] {1, 2}\n%1 = const i64[2] {1, 1}\n"
                                   "a = add %0 %1\ny = reshape x a : f32[?,?]\nz = exp y : ?\n"
                                   "return z\n");
    ck_assert(run_pass(g, "constant_folding", NULL));
    ck_assert_graph(g,
        "x = input f32[6]\na = const i64[2] {2, 3}\ny = reshape x a\nz = exp y\nreturn z\n");
    ck_assert(prt_type_is_static(g->ret->in[0].value->type));
    module_free(g);
}
END_TEST

START_TEST(outputs_of_the_graph_keep_their_producer)
{
    assert_left_alone("w = const f32[2] {1, 2}\na = neg w\nreturn a\n", NULL);
    assert_folds("%0 = const f32[2] {1, 2}\na = neg %0\nb = exp a\nreturn b\n",
        "a = const f32[2] {-1, -2}\nb = exp a\nreturn b\n");
}
END_TEST

START_TEST(inputs_with_defaults_are_no_constants)
{
    assert_left_alone(
        "w = input f32[2] {1, 2}\nx = input f32[2]\na = neg w\ny = add x a\nreturn y\n", NULL);
}
END_TEST

START_TEST(random_and_unread_ops_are_left)
{
    assert_left_alone("x = input f32[2]\n"
                      "r = random_normal {shape=[2]}\nw = const f32[2] {1, 2}\n"
                      "%0 = random_normal_like w\n"
                      "y = add x r\nz = add y %0\n_ = neg w\nreturn z\n",
        NULL);
}
END_TEST

START_TEST(ops_that_fail_are_left)
{
    assert_left_alone("x = input f32[1]\n"
                      "w = const f32[2] {1, 2}\ni = const i64[1] {7}\n"
                      "a = gather w i\ny = add x a\nreturn y\n",
        NULL);
}
END_TEST

START_TEST(large_tensors_are_left)
{
    const char *text = "x = input f32[8,8]\n"
                       "%0 = const f32[] {2}\n%1 = const i64[2] {8, 8}\n"
                       "a = expand %0 %1\ny = add x a\nreturn y\n";
    assert_left_alone(text, "max_tensor_size=255");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, "constant_folding", "max_tensor_size=256"));
    module_free(g);
}
END_TEST

/* Below the bound, any table is folded; above it, only a table that replaces constants of its
 * size. */
START_TEST(files_grow_by_a_bound)
{
    const char *unpacked = "x = input f32[2,200]\nw = const u8[200,100] fill 1\n"
                           "s = const f32[] {2}\na = dequantize_linear w s\n"
                           "y = matmul x a\nreturn y\n";
    const char *shared = "x = input f32[2,100]\nw = const f32[100,100] fill 1\n"
                         "a = transpose w {perm=[1,0]}\ny = matmul x a\nz = matmul x w\n"
                         "return y, z\n";
    const char *alone = "x = input f32[2,100]\nw = const f32[100,100] fill 1\n"
                        "a = transpose w {perm=[1,0]}\ny = matmul x a\nreturn y\n";
    assert_left_alone(unpacked, "max_tensor_size=1048576");
    assert_left_alone(shared, "max_tensor_size=1048576");
    prt_graph *g = graph_from_text(shared);
    ck_assert(run_pass(g, "constant_folding", "max_tensor_size=-1"));
    module_free(g);
    g = graph_from_text(alone);
    ck_assert(run_pass(g, "constant_folding", "max_tensor_size=100"));
    module_free(g);
}
END_TEST

START_TEST(all_that_is_made_is_bounded)
{
    prt_graph *g = graph_from_text("x = input f32[8]\n"
                                   "w = const f32[8] fill 2\n"
                                   "a = neg w\nb = exp w\nc = abs w\n"
                                   "y = max x a b c\nreturn y\n");
    prt_pass_manager *pm = NULL;
    const prt_pass_limits limits = { .fold_bytes = 64 };
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    prt_pass_manager_set_limits(pm, &limits);
    ck_assert_int_eq(prt_pass_manager_add(pm, "constant_folding", 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    ck_assert_ptr_nonnull(strstr(graph_text(g), "c = abs w"));
    ck_assert_ptr_null(strstr(graph_text(g), "b = exp"));
    prt_pass_manager_release(pm);
    module_free(g);
}
END_TEST

START_TEST(a_tiny_graph_cannot_ask_for_all_memory)
{
    assert_left_alone("x = input f32[1]\n"
                      "n = const i64[1] {4611686018427387904}\nm = const i64[1] {100000000000}\n"
                      "a = constant_of_shape n\nb = constant_of_shape m\n"
                      "y = add x a\nz = add x b\nreturn y, z\n",
        NULL);
}
END_TEST

/* Few bytes, but 3e10 products and more. */
START_TEST(a_tiny_graph_cannot_ask_for_all_time)
{
    static const char *const slow[] = { "matmul a a", "einsum a a {equation=\"ij,jk->ik\"}",
        "det a", "lrn b {size=9}", "average_pool b {kernel_shape=[1600, 1600]}",
        "resize b _ k {antialias=1, mode=linear}" };
    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
        char text[600];
        (void)snprintf(text, sizeof(text),
            "x = input f32[]\n%%0 = const i64[2] {3200, 3200}\na = constant_of_shape %%0\n"
            "%%1 = const i64[4] {1, 1, 3200, 3200}\nb = constant_of_shape %%1\n"
            "k = const f32[4] {1, 1, 0.5, 0.5}\n"
            "c = %s\nd = reduce_sum c {keepdims=0}\ny = add d x\nreturn y\n",
            slow[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, "constant_folding", NULL));
        ck_assert_msg(strstr(graph_text(g), "reduce_sum") != NULL, "folded: %s", slow[i]);
        module_free(g);
    }
    assert_folds("x = input f32[]\n%0 = const f32[1, 2] {1, 2}\n%1 = const f32[2, 1] {3, 4}\n"
                 "a = matmul %0 %1\nb = reduce_sum a {keepdims=0}\ny = add b x\nreturn y\n",
        "x = input f32[]\nb = const f32[] {11}\ny = add b x\nreturn y\n");
}
END_TEST

START_TEST(regions_are_folded_too)
{
    assert_folds("c = input bool[]\nx = input f32[2]\n"
                 "w = const f32[2] {1, 2}\n"
                 "r = if c {\n"
                 "  then_branch { %5 = const f32[] {3}; a = mul w %5; t = add x a; return t }\n"
                 "  else_branch { b = neg w; return b }\n"
                 "}\nreturn r\n",
        "c = input bool[]\nx = input f32[2]\n"
        "w = const f32[2] {1, 2}\n"
        "r = if c {\n"
        "  then_branch { a = const f32[2] {3, 6}; t = add x a; return t }\n"
        "  else_branch { b = neg w; return b }\n"
        "}\nreturn r\n");
}
END_TEST

START_TEST(strings_and_several_outputs_are_folded)
{
    assert_folds("x = input f32[2]\n"
                 "%0 = const string[2,2] {\"a\", \"bc\", \"\", \"d\"}\n"
                 "%1 = const f32[4] {1, 2, 3, 4}\n"
                 "s = transpose %0\n"
                 "a, b = split %1 {num_outputs=2}\n"
                 "y = max x a b\nt = identity s\nreturn y, t\n",
        "x = input f32[2]\n"
        "s = const string[2,2] {\"a\", \"\", \"bc\", \"d\"}\n"
        "a = const f32[2] {1, 2}\nb = const f32[2] {3, 4}\n"
        "y = max x a b\nt = identity s\nreturn y, t\n");
}
END_TEST

START_TEST(results_are_the_same)
{
    assert_pass_keeps_results("x = input f32[2,6]\n"
                              "%0 = const f32[3] {1, 2, 3}\n%1 = const f32[] {0.5}\n"
                              "w = add %0 %1\n"
                              "s = shape x\n%2 = const i64[] {1}\nn = gather s %2\n"
                              "%3 = const i64[1] {0}\nm = unsqueeze n %3\n"
                              "%4 = const i64[1] {2}\nq = div m %4\n"
                              "%5 = const i64[1] {-1}\nt = concat %5 q {axis=0}\n"
                              "y = reshape x t\nz = mul y w\nreturn z\n",
        "constant_folding", 0);
}
END_TEST

/* A weight that the model writes has another value in every run. */
START_TEST(written_weights_are_left)
{
    assert_left_alone("x = input f32[2]\nw = const f32[2] {1, 2}\na = neg w\n"
                      "b = gc_copy_var_update w x\ny = add b a\nreturn y\n",
        NULL);
}
END_TEST

START_TEST(quantised_constants_may_be_kept)
{
    static const char text[] = "x = input f32[2]\n"
                               "%0 = const i8[2] {3, -4}\n%1 = const f32[] {0.5}\n"
                               "%2 = const i8[] {1}\n"
                               "w = dequantize_linear %0 %1 %2\ny = add x w\nreturn y\n";
    assert_left_alone(text, "fold_quantized=false");
    assert_pass_rewrites("constant_folding", NULL, text,
        "x = input f32[2]\nw = const f32[2] {1, -2.5}\ny = add x w\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fold/constant_folding", chains_of_constants_become_one,
    constants_of_the_model_stay, shapes_of_static_inputs_are_known, shapes_of_symbols_are_left,
    new_constants_make_types_known, outputs_of_the_graph_keep_their_producer,
    inputs_with_defaults_are_no_constants, random_and_unread_ops_are_left, ops_that_fail_are_left,
    large_tensors_are_left, files_grow_by_a_bound, all_that_is_made_is_bounded,
    a_tiny_graph_cannot_ask_for_all_memory, a_tiny_graph_cannot_ask_for_all_time,
    regions_are_folded_too, strings_and_several_outputs_are_folded, written_weights_are_left,
    results_are_the_same, quantised_constants_may_be_kept)
