/* SPDX-License-Identifier: MIT */
/* test_quantized.c — patterns of quantised models, and near misses. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define SCALES                                                                                     \
    "xs = const f32[] {0.01}\nxz = const u8[] {128}\nws = const f32[] {0.02}\n"                    \
    "wz = const i8[] {0}\nys = const f32[] {0.5}\nyz = const u8[] {3}\n"

/* The graph becomes one operator, and its results stay within `unit` of the largest. */
static void assert_becomes(const char *before, uint32_t op, double unit)
{
    prt_graph *a = graph_from_text(before), *g = graph_from_text(before);
    ck_assert(run_pass(g, "fuse_quantized", NULL));
    ck_assert(prt_op_is(g->first, op));
    ck_assert_ptr_eq(g->first, g->last);
    ck_assert(!run_pass(g, "fuse_quantized", NULL));
    assert_same_results(a, g, unit, 5);
    module_free(a);
    module_free(g);
}

START_TEST(products_become_qlinear_matmul)
{
    assert_becomes("x = input u8[2,8]\nw = input i8[8,3]\n" SCALES
                   "a = dequantize_linear x xs xz\nb = dequantize_linear w ws wz\nc = matmul a b\n"
                   "y = quantize_linear c ys yz\nreturn y\n",
        PRT_OP_qlinear_matmul, 0.01);
    assert_becomes(
        "x = input u8[2,2,8]\nw = input i8[8,2]\n" SCALES
        "s = const f32[2] {0.1,0.2}\nz = const i8[2] {0,0}\n"
        "a = dequantize_linear x xs xz\nb = dequantize_linear w s z {axis=-1}\nc = matmul a b\n"
        "y = quantize_linear c ys yz\nreturn y\n",
        PRT_OP_qlinear_matmul, 0.01);
}
END_TEST

START_TEST(convolutions_become_qlinear_conv)
{
    assert_becomes(
        "x = input u8[1,2,6,6]\nw = input i8[3,2,3,3]\n" SCALES
        "bs = const f32[] {0.0002}\nbz = const i32[] {0}\nbq = const i32[3] {-700,0,50000}\n"
        "a = dequantize_linear x xs xz\nb = dequantize_linear w ws wz\n"
        "d = dequantize_linear bq bs bz\nc = conv a b d {pads=[1,1,1,1],strides=[2,1]}\n"
        "y = quantize_linear c ys yz\nreturn y\n",
        PRT_OP_qlinear_conv, 0.01);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        /* another unit of the bias */
        "x = input u8[1,2,6,6]\nw = input i8[3,2,3,3]\n" SCALES
        "bs = const f32[] {0.1}\nbz = const i32[] {0}\nbq = const i32[3] {-7,0,500}\n"
        "a = dequantize_linear x xs xz\nb = dequantize_linear w ws wz\n"
        "d = dequantize_linear bq bs bz\nc = conv a b d\ny = quantize_linear c ys yz\nreturn y\n",
        /* the floats have another reader */
        "x = input u8[2,8]\nw = input i8[8,3]\n" SCALES
        "a = dequantize_linear x xs xz\nb = dequantize_linear w ws wz\nc = matmul a b\n"
        "y = quantize_linear c ys yz\nreturn y, c\n",
        /* data with a scale by row */
        "x = input u8[2,8]\nw = input i8[8,3]\n" SCALES
        "s = const f32[2] {0.1,0.2}\nz = const u8[2] {0,0}\n"
        "a = dequantize_linear x s z {axis=0}\nb = dequantize_linear w ws wz\nc = matmul a b\n"
        "y = quantize_linear c ys yz\nreturn y\n",
        /* weights with a scale by row */
        "x = input u8[2,2]\nw = input i8[2,3]\n" SCALES
        "s = const f32[2] {0.1,0.2}\nz = const i8[2] {0,0}\n"
        "a = dequantize_linear x xs xz\nb = dequantize_linear w s z {axis=0}\nc = matmul a b\n"
        "y = quantize_linear c ys yz\nreturn y\n",
        /* more than 8 bits */
        "x = input u16[2,8]\nw = input i8[8,3]\n" SCALES "z = const u16[] {5}\n"
        "a = dequantize_linear x xs z\nb = dequantize_linear w ws wz\nc = matmul a b\n"
        "y = quantize_linear c ys yz\nreturn y\n",
    };
    for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "fuse_quantized", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/fuse/quantized", products_become_qlinear_matmul,
    convolutions_become_qlinear_conv, near_misses_are_left)
