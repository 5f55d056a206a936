/* SPDX-License-Identifier: MIT */
/* test_fast.c — fast operators against the reference kernels: sizes around every tile, at every
 * level, and the same bits for one thread and for three. Bounds are in units of the largest
 * element.
 * Covers: parallel.c, product.c, unary_binary.c, pool.c, conv.c, depthwise.c, planes.c, matmul.c,
 * rows.c, fused_linear.c, fused.c. */
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/nhwc_text.h"

START_TEST(products_equal_the_reference)
{
    static const int sizes[][3] = { { 1, 1, 1 }, { 1, 100, 33 }, { 7, 65, 130 }, { 13, 16, 600 },
        { 250, 70, 40 }, { 6, 63, 1100 }, { 0, 5, 3 }, { 3, 0, 3 }, { 3, 5, 0 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++) {
        const int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nb = input f32[%d,%d]\ny = matmul a b\nreturn y\n", m, k, k, n);
        fast_check(text, -1, 1, 1e-5);
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nb = input f32[%d,%d]\nc = input f32[%d]\n"
            "y = gemm a b c {transB=1}\nreturn y\n",
            m, k, n, k, n);
        fast_check(text, -1, 1, 1e-5);
    }
    fast_check("a = input f32[2,3,20,9]\nb = input f32[3,9,17]\ny = matmul a b\nreturn y\n", -1, 1,
        1e-5);
    fast_check("a = input f32[9]\nb = input f32[4,9,17]\ny = matmul a b\nreturn y\n", -1, 1, 1e-5);
    /* Other matrices of the batch, and a batch whose last matrix, hold values that are not
     * finite. */
    fast_check("a = input f32[7,2]\nx = const f32[8,1,1] {0,1,0,0,1,0,0,1}\n"
               "b0 = input f32[8,2,75]\nb = div b0 x\ny = matmul a b\nreturn y\n",
        -1, 1, 1e-5);
    fast_check("a = input f32[5,3,9]\nb = input f32[9]\ny = matmul a b\nreturn y\n", -1, 1, 1e-5);
    fast_check("a = input f32[8,9]\nb = input f32[8,5]\ny = gemm a b {transA=1,alpha=2}\n"
               "return y\n",
        -1, 1, 1e-5);
}
END_TEST

START_TEST(convolutions_equal_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[1,3,17,19]\nw = input f32[8,3,3,3]\nb = input f32[8]\n"
        "y = conv x w b {pads=[1,1,1,1]}\n",
        "x = input f32[2,5,9,11]\nw = input f32[7,5,1,1]\ny = conv x w\n",
        "x = input f32[1,6,20,20]\nw = input f32[8,3,3,2]\nb = input f32[8]\n"
        "y = conv x w b {group=2,strides=[2,3],pads=[2,0,1,3],dilations=[2,1]}\n",
        "x = input f32[1,70,8,8]\nw = input f32[65,70,3,3]\n"
        "y = conv x w {auto_pad=\"SAME_UPPER\"}\n",
        "x = input f32[1,8,30,31]\nw = input f32[8,1,3,3]\nb = input f32[8]\n"
        "y = conv x w b {group=8,pads=[1,1,1,1]}\n",
        "x = input f32[2,4,15,70]\nw = input f32[8,1,5,5]\n"
        "y = conv x w {group=4,strides=[2,2],pads=[2,2,2,2]}\n",
        "x = input f32[1,4,9,9]\nw = input f32[4,1,3,3]\ny = conv x w {group=4,dilations=[2,3]}\n",
        "x = input f32[1,3,50]\nw = input f32[5,3,7]\ny = conv x w {strides=[2],pads=[3,3]}\n",
        "x = input f32[1,3,40]\nw = input f32[3,1,4]\ny = conv x w {group=3,pads=[0,5]}\n",
        "x = input f32[1,2,5,6,7]\nw = input f32[3,2,2,3,2]\ny = conv x w\n",
        "x = input f32[0,3,7,7]\nw = input f32[2,3,3,3]\ny = conv x w\n",
        "x = input f32[1,2,3,3]\nw = input f32[2,2,3,3]\ny = conv x w {pads=[4,4,4,4]}\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -1, 1, 1e-5);
    }
}
END_TEST

START_TEST(fused_products_equal_the_reference)
{
    static const char *const acts[] = { "", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "Silu",
        "HardSigmoid", "HardSwish", "Gelu", "GeluTanh" };
    for (size_t i = 0; i < PRT_COUNT_OF(acts); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,5,9,11]\nw = input f32[7,5,3,3]\nb = input f32[7]\n"
            "r = input f32[2,7,7,9]\ny = fused_conv x w b r {activation=\"%s\",alpha=0.25,beta=0.5}"
            "\nreturn y\n",
            acts[i]);
        fast_check(text, -1, 1, 1e-5);
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,5,9,11]\nw = input f32[5,1,3,3]\nr = input f32[1,5,7,9]\n"
            "y = fused_conv x w _ r {group=5,activation=\"%s\",alpha=0.25,beta=0.5}\nreturn y\n",
            acts[i]);
        fast_check(text, -1, 1, 1e-5);
        (void)snprintf(text, sizeof(text),
            "a = input f32[3,5,19]\nb = input f32[70,19]\nc = input f32[70]\n"
            "r = input f32[3,5,70]\ny = fused_linear a b c r {transB=1,activation=\"%s\","
            "alpha=0.25,beta=0.5}\nreturn y\n",
            acts[i]);
        fast_check(text, -1, 1, 1e-5);
    }
    fast_check("a = input f32[9,19]\nb = input f32[19,33]\ny = fused_linear a b\nreturn y\n", -1, 1,
        1e-5);
}
END_TEST

/* One row times weights that exceed every cache (the constant makes them large), with a residual
 * that is consumed and one that is used again, and the convolution of one pixel. */
START_TEST(one_row_by_uncached_weights_equals_the_reference)
{
    static const char *const acts[] = { "", "Relu", "Gelu" };
    static const int columns[] = { 40, 128, 200, 450, 900 };
    for (size_t i = 0; i < 3 * PRT_COUNT_OF(columns); i++) {
        const int n = columns[i / 3], form = (int)i % 3;
        const size_t size = nhwc_weights_count("panels", 1, 77, n, 1);
        char text[1024], *to = text;
        to += snprintf(text, sizeof(text),
            "l = const f32[2200000] fill 0.5\nk = const i64[1] {0}\n"
            "s = reduce_mean l k {keepdims=1}\nw = input f32[%zu]\nb = input f32[%d]\n",
            size, n);
        if (form == 2)
            (void)snprintf(to, 400,
                "x = input f32[1,1,1,77]\nr = input f32[1,1,1,%d]\n"
                "y = nhwc_conv x w b r {form=\"panels\",channels=77,filters=%d,"
                "kernel_shape=[1,1],activation=\"Silu\"}\nz = mul y s\nreturn z\n",
                n, n);
        else
            (void)snprintf(to, 400,
                "x = input f32[1,77]\nr = input f32[1,%d]\nt = %s r\n"
                "y = fused_linear x w b t {columns=%d,activation=\"%s\"}\nz = mul y s\n%s"
                "return %s\n",
                n, form == 0 ? "relu" : "neg", n, acts[i / 3 % 3], form == 0 ? "" : "u = add z t\n",
                form == 0 ? "z" : "u");
        fast_check(text, -1, 1, 1e-5);
    }
}
END_TEST

START_TEST(pools_equal_the_reference)
{
    static const char *const graphs[] = {
        "x = input f32[2,3,17,19]\ny = max_pool x {kernel_shape=[3,3],strides=[2,2],"
        "pads=[1,1,1,1]}\n",
        "x = input f32[1,3,14,15]\ny = max_pool x {kernel_shape=[2,2],strides=[2,2],ceil_mode=1}\n",
        "x = input f32[1,3,20,90]\ny = max_pool x {kernel_shape=[3,2],dilations=[2,3]}\n",
        "x = input f32[1,3,17,19]\ny = average_pool x {kernel_shape=[3,3],pads=[1,1,1,1]}\n",
        "x = input f32[1,3,17,19]\ny = average_pool x {kernel_shape=[3,3],strides=[2,2],"
        "pads=[1,1,1,1],count_include_pad=1}\n",
        "x = input f32[1,3,7,7]\ny = average_pool x {kernel_shape=[3,2],strides=[2,2],"
        "ceil_mode=1}\n",
        "x = input f32[1,3,30]\ny = average_pool x {kernel_shape=[4],strides=[3]}\n",
        "x = input f32[2,3,7,9]\ny = global_average_pool x\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "%sreturn y\n", graphs[i]);
        fast_check(text, -1, 1, 1e-6);
    }
}
END_TEST

START_TEST(unary_and_binary_equal_the_reference)
{
    static const char *const ones[] = { "abs", "neg", "exp", "erf", "relu", "sigmoid", "tanh",
        "gelu", "hard_swish", "leaky_relu", "hard_sigmoid", "swish" };
    static const char *const twos[] = { "add", "sub", "mul", "div", "max", "min" };
    static const char *const shapes[][2] = { { "3,4,50", "3,4,50" }, { "3,4,50", "" }, { "", "7" },
        { "2,5,1,1", "2,5,7,7" }, { "4,1", "1,33" }, { "70000", "70000" }, { "3,40000", "40000" },
        { "0,4", "4" } };
    char text[256];
    for (size_t i = 0; i < PRT_COUNT_OF(ones); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[3,70001]\ny = %s x\nreturn y\n", ones[i]);
        fast_check(text, -6, 6, 1e-6);
        (void)snprintf(text, sizeof(text), "x = input f32[19]\ny = %s x\nreturn y\n", ones[i]);
        fast_check(text, -6, 6, 1e-6);
    }
    fast_check("x = input f32[3,7]\ny = sqrt x\nreturn y\n", 0, 9, 1e-6);
    fast_check("x = input f32[3,7]\ny = reciprocal x\nreturn y\n", 0.1, 9, 1e-6);
    fast_check("x = input f32[77]\nlo = const f32[] {-1}\nhi = const f32[] {2}\ny = clip x lo hi\n"
               "return y\n",
        -6, 6, 0);
    for (size_t i = 0; i < PRT_COUNT_OF(twos); i++)
        for (size_t k = 0; k < PRT_COUNT_OF(shapes); k++) {
            (void)snprintf(text, sizeof(text),
                "a = input f32[%s]\nb = input f32[%s]\ny = %s a b\nreturn y\n", shapes[k][0],
                shapes[k][1], twos[i]);
            fast_check(text, 0.5, 2, 1e-6);
        }
}
END_TEST

START_TEST(row_operators_equal_the_reference)
{
    fast_check("x = input f32[5,7,33]\ny = softmax x\nreturn y\n", -5, 5, 1e-6);
    fast_check("x = input f32[5,1]\ny = softmax x\nreturn y\n", -5, 5, 1e-6);
    fast_check("x = input f32[5,7,33]\ny = softmax x {axis=1}\nreturn y\n", -5, 5, 1e-6);
    fast_check("x = input f32[3,5,67]\ns = input f32[67]\nb = input f32[67]\n"
               "y = layer_normalization x s b\nreturn y\n",
        -5, 5, 1e-5);
    fast_check("x = input f32[3,5,67]\ns = input f32[5,67]\ny = layer_normalization x s {axis=1}\n"
               "return y\n",
        -5, 5, 1e-5);
    fast_check("x = input f32[2,5,6,7]\ns = input f32[5]\nb = input f32[5]\nm = input f32[5]\n"
               "v = input f32[5]\ny = batch_normalization x s b m v\nreturn y\n",
        0.5, 2, 1e-5);
    fast_check("x = input f32[2,5,1500]\na = const i64[1] {-1}\ny = reduce_mean x a\n"
               "return y\n",
        -1, 2, 1e-6);
    fast_check("x = input f32[1,97,91,24]\na = const i64[2] {1,2}\ny = reduce_mean x a\n"
               "z = reduce_l2 x a\nw = add y z\nreturn w\n",
        -3, 3, 1e-5);
    fast_check("x = input f32[2,5,15]\na = const i64[1] {1}\ny = reduce_mean x a\n"
               "return y\n",
        -1, 2, 1e-6);
}
END_TEST

START_TEST(special_values_equal_the_reference)
{
    const char *const specials = "x = const f32[5] {nan,inf,-inf,-0,1}\n";
    static const char *const ops[] = { "relu x", "sigmoid x", "tanh x", "exp x", "abs x", "max x z",
        "min z x", "add x z", "clip x z" };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%sz = input f32[]\ny = %s\nreturn y\n", specials,
            ops[i]);
        fast_check(text, 0.25, 0.5, 1e-6);
    }
}
END_TEST

PRT_TEST_MAIN("fast/fast", products_equal_the_reference, convolutions_equal_the_reference,
    fused_products_equal_the_reference, one_row_by_uncached_weights_equals_the_reference,
    pools_equal_the_reference, unary_and_binary_equal_the_reference,
    row_operators_equal_the_reference, special_values_equal_the_reference)
