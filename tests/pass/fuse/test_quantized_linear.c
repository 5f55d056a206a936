/* SPDX-License-Identifier: MIT */
/* test_quantized_linear.c — products of int8 values and constant int8 weights with float
 * results. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_quantized_linear"
#define W "w = const i8[3,2] {-128,127,5,-6,0,99}\n"
#define DYNAMIC "x = input f32[2,4,3]\nq, s, z = dynamic_quantize_linear x\n"

static void assert_becomes_ops(const char *text, size_t ops)
{
    prt_graph *g = graph_from_text(text);
    size_t found = 0, others = 0;
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    ck_assert(!run_pass(g, PASS, NULL));
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        if (prt_op_is(op, PRT_OP_quantized_linear))
            found++;
        else
            others++;
    ck_assert_uint_eq(found, 1);
    ck_assert_uint_eq(others, ops);
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-6);
}

START_TEST(dynamic_quantisation_is_fused)
{
    assert_becomes_ops(DYNAMIC W "v = const f32[] {0.02}\nf = mul s v\ni = matmul_integer q w z\n"
                                 "c = cast i {to=1}\ny = mul c f\nreturn y\n",
        2);
    assert_becomes_ops(DYNAMIC W
        "v = const f32[2] {0.02,3}\nf = mul s v\nn = const i8[2] {0,0}\n"
        "i = matmul_integer q w z n\nc = cast i {to=1}\ny = mul f c\nreturn y\n",
        2);
    assert_becomes_ops(DYNAMIC
        "w = const u8[3,2] {1,255,100,128,128,3}\nn = const u8[] {128}\n"
        "i = matmul_integer q w z n\nc = cast i {to=1}\ny = mul c s\nreturn y\n",
        1);
    assert_becomes_ops("q = input i8[5,3]\nf = input f32[1]\n" W
                       "i = matmul_integer q w\nc = cast i {to=1}\ny = mul c f\nreturn y\n",
        0);
}
END_TEST

START_TEST(operators_of_onnx_runtime_are_fused)
{
    assert_becomes_ops("x = input f32[2,4,3]\n" W
                       "v = const f32[2] {0.02,3}\nb = const f32[2] {1,-1}\n"
                       "y = ms_dynamic_quantize_matmul x w v _ b\nreturn y\n",
        2);
    assert_becomes_ops("x = input f32[2,4,3]\n" W "v = const f32[] {0.02}\n"
                       "y = ms_dynamic_quantize_matmul x w v\nreturn y\n",
        2);
    assert_becomes_ops(
        "q = input u8[4,3]\nz = input u8[]\ns = input f32[]\n" W "v = const f32[2] {0.02,3}\n"
        "n = const i8[2] {0,-5}\nm = const i8[3,2] {1,2,3,4,5,6}\nb = const f32[2] {1,-1}\n"
        "y = ms_matmul_integer_to_float q m s v z n b\nreturn y\n",
        1);
}
END_TEST

/* Weights that exceed int8 after subtraction of their zero point: its part is subtracted after
 * the product. */
START_TEST(weights_with_large_zero_points_are_fused)
{
#define UNEVEN DYNAMIC "w = const u8[3,2] {1,255,100,128,128,3}\n"
    assert_becomes_ops(UNEVEN
        "n = const u8[] {5}\n"
        "i = matmul_integer q w z n\nc = cast i {to=1}\ny = mul c s\nreturn y\n",
        9);
    assert_becomes_ops(UNEVEN
        "n = const u8[2] {5,250}\nv = const f32[2] {0.02,3}\nf = mul s v\n"
        "i = matmul_integer q w z n\nc = cast i {to=1}\ny = mul c f\nreturn y\n",
        10);
    assert_becomes_ops("q = input i8[5,3]\nf = input f32[1]\nn = const i8[2] {100,-90}\n" W
                       "i = matmul_integer q w _ n\nc = cast i {to=1}\ny = mul c f\nreturn y\n",
        8);
    assert_becomes_ops("q = input u8[4,3]\nz = input u8[1]\ns = input f32[]\n" W
                       "v = const f32[2] {0.02,3}\n"
                       "n = const i8[2] {0,-128}\nb = const f32[2] {1,-1}\n"
                       "y = ms_matmul_integer_to_float q w s v z n b\nreturn y\n",
        9);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        /* weights that are not constant; weights of a batch */
        DYNAMIC "w = input i8[3,2]\ni = matmul_integer q w z\nc = cast i {to=1}\ny = mul c s\n"
                "return y\n",
        DYNAMIC "w = const i8[1,3,2] {1,2,3,4,5,6}\n"
                "i = matmul_integer q w z\nc = cast i {to=1}\ny = mul c s\nreturn y\n",
        /* integers with another reader; other floats */
        DYNAMIC W "i = matmul_integer q w z\nc = cast i {to=1}\ny = mul c s\nreturn y, i\n",
        DYNAMIC W "i = matmul_integer q w z\nc = cast i {to=11}\nd = cast s {to=11}\n"
                  "y = mul c d\nreturn y\n",
        /* a scale by row; zero points by row */
        DYNAMIC W "f = const f32[4,1] {1,2,3,4}\ni = matmul_integer q w z\nc = cast i {to=1}\n"
                  "y = mul c f\nreturn y\n",
        "q = input u8[2,3]\nz = input u8[2]\ns = input f32[]\n" W
        "i = matmul_integer q w z\nc = cast i {to=1}\ny = mul c s\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, PASS, NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

START_TEST(epilogues_are_fused)
{
    const char *text = DYNAMIC W
        "b = const f32[2] {1,2}\nr = input f32[2,4,2]\n"
        "i = matmul_integer q w z\nc = cast i {to=1}\nm = mul c s\na = add b m\nd = add a r\n"
        "y = gelu d\nreturn y\n";
    prt_graph *g = graph_from_text(text), *before = graph_from_text(text);
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert(run_pass(g, "fuse_epilogue", NULL));
    ck_assert(prt_op_is(g->last, PRT_OP_quantized_linear));
    ck_assert_uint_eq(g->last->n_in, 7);
    ck_assert_ptr_eq(g->first->next, g->last);
    assert_same_results(before, g, 1e-6, 5);
    module_free(before);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/quantized_linear", dynamic_quantisation_is_fused,
    operators_of_onnx_runtime_are_fused, weights_with_large_zero_points_are_fused,
    near_misses_are_left, epilogues_are_fused)
