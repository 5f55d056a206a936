/* SPDX-License-Identifier: MIT */
/* test_bf16x3.c — bf16x3 products and convolutions against the reference: odd sizes, blocks of
 * rows, K in parts, and every epilogue. If the processor has AMX, each case must be computed
 * that way, which shows in its bits.
 * Covers: bf16x3_small_m.c, bf16x3_conv.c, nhwc_separable.c. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "cpu/cpu.h"
#include "kern/kern.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/nhwc_text.h"

static const double BOUND = 1e-5;

START_TEST(products_are_within_the_bound)
{
    static const struct {
        int m, n, k;
        bool bias, residual;
        const char *act;
    } cases[] = {
        { 12, 300, 300, true, false, "" },
        { 33, 129, 257, true, true, "Gelu" },
        { 128, 768, 768, false, false, "" },
        { 197, 70, 100, true, false, "Relu" },
        { 1300, 50, 24, true, true, "Silu" },
        { 2100, 25, 33, false, true, "Clip" },
        { 300, 65, 1100, true, true, "Relu" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        const int m = cases[i].m, n = cases[i].n, k = cases[i].k;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nw = input f32[%zu]\nb = input f32[%d]\nr = input f32[%d,%d]\n"
            "y = fused_linear a w %s %s {columns=%d, activation=\"%s\", alpha=-4, beta=4}\n"
            "return y\n",
            m, k, nhwc_weights_count("panels", 1, k, n, 1), n, m, n, cases[i].bias ? "b" : "_",
            cases[i].residual ? "r" : "_", n, cases[i].act);
        (void)fast_check(text, -1, 1, BOUND);
        ck_assert_msg(fast_check_bf16x3(), "%s", text);
    }
}
END_TEST

/* B row-major or transposed: it is packed during the product. */
START_TEST(unpacked_operands_are_within_the_bound)
{
    (void)fast_check("a = input f32[2,40,300]\nb = input f32[300,90]\ny = matmul a b\nreturn y\n",
        -1, 1, BOUND);
    ck_assert(fast_check_bf16x3());
    (void)fast_check("a = input f32[70,150]\nb = input f32[130,150]\nc = input f32[130]\n"
                     "y = gemm a b c {transB=1}\nreturn y\n",
        -1, 1, BOUND);
    ck_assert(fast_check_bf16x3());
    (void)fast_check("x = input f32[1,60,20,21]\nw = input f32[45,60,3,3]\nb = input f32[45]\n"
                     "y = conv x w b {pads=[1,1,1,1]}\nreturn y\n",
        -1, 1, BOUND);
}
END_TEST

typedef struct conv {
    int batch, high, wide, channels, filters, kernel[2], stride[2], dilation[2], pads[4];
    const char *act;
    bool bias, residual;
} conv;

static void check_conv(const conv *v, bool gate)
{
    int out[2];
    char text[1000];
    for (int i = 0; i < 2; i++) {
        const int in = i == 0 ? v->high : v->wide, span = (v->kernel[i] - 1) * v->dilation[i] + 1;
        out[i] = (in + v->pads[i] + v->pads[i + 2] - span) / v->stride[i] + 1;
    }
    (void)snprintf(text, sizeof(text),
        "x = input f32[%d,%d,%d,%d]\nw = input f32[%zu]\nb = input f32[%d]\n"
        "r = input f32[%d,%d,%d,%d]\ng = input f32[%d,1,1,%d]\n"
        "y = nhwc_conv x w %s %s %s {form=\"panels\",channels=%d,filters=%d,kernel_shape=[%d,%d],"
        "strides=[%d,%d],dilations=[%d,%d],pads=[%d,%d,%d,%d],"
        "activation=\"%s\"}\nreturn y\n",
        v->batch, v->high, v->wide, v->channels,
        nhwc_weights_count("panels", 1, v->channels, v->filters, v->kernel[0] * v->kernel[1]),
        v->filters, v->batch, out[0], out[1], v->filters, v->batch, v->channels,
        v->bias ? "b" : "_", v->residual ? "r" : "_", gate ? "g" : "_", v->channels, v->filters,
        v->kernel[0], v->kernel[1], v->stride[0], v->stride[1], v->dilation[0], v->dilation[1],
        v->pads[0], v->pads[1], v->pads[2], v->pads[3], v->act);
    (void)fast_check(text, -1, 1, BOUND);
    ck_assert_msg(fast_check_bf16x3(), "%s", text);
}

START_TEST(convolutions_are_within_the_bound)
{
    static const conv cases[] = {
        { 1, 14, 14, 64, 70, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 }, "", true, false },
        { 2, 7, 7, 300, 64, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 }, "Relu", true, true },
        { 1, 60, 61, 16, 24, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 }, "Gelu", false, true },
        { 1, 41, 39, 48, 33, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1, 1, 1 }, "", false, true },
        { 1, 17, 17, 40, 130, { 1, 7 }, { 1, 1 }, { 1, 1 }, { 0, 3, 0, 3 }, "Relu", true, false },
        { 1, 33, 30, 32, 64, { 3, 3 }, { 1, 1 }, { 6, 6 }, { 6, 6, 6, 6 }, "", true, false },
        { 1, 90, 70, 33, 40, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2, 2, 2 }, "Silu", true, false },
        { 3, 28, 28, 64, 96, { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0, 0, 0 }, "", true, false },
        { 2, 30, 28, 48, 96, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 }, "Relu", true, true },
        { 1, 9, 200, 24, 64, { 2, 3 }, { 2, 3 }, { 1, 2 }, { 0, 4, 1, 2 }, "", true, false },
        { 1, 1, 700, 80, 64, { 1, 3 }, { 1, 1 }, { 1, 1 }, { 0, 1, 0, 1 }, "", true, false },
        { 1, 20, 20, 64, 64, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 5, 0, 0, 7 }, "", true, false },
        { 2, 1, 5001, 32, 33, { 1, 7 }, { 1, 1 }, { 1, 3 }, { 0, 9, 0, 9 }, "Relu", true, true },
        { 1, 1, 3100, 40, 24, { 1, 4 }, { 1, 3 }, { 1, 1 }, { 0, 1, 0, 5 }, "", true, false },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        check_conv(&cases[i], false);
}
END_TEST

/* The gate scales the inputs or, if there are many pixels, the weights. */
START_TEST(gated_convolutions_are_within_the_bound)
{
    static const conv cases[] = {
        { 1, 7, 7, 300, 96, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 }, "", true, false },
        { 1, 14, 14, 200, 80, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 }, "", true, true },
        { 1, 14, 14, 64, 70, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 }, "Relu", true, false },
        { 1, 60, 61, 40, 24, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 }, "", true, false },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        check_conv(&cases[i], true);
}
END_TEST

/* Channels first: kernel, stride, padding, filters. */
START_TEST(first_layers_are_within_the_bound)
{
    static const int cases[][6] = { { 1, 64, 3, 7, 2, 3 }, { 2, 41, 3, 6, 2, 1 },
        { 1, 70, 4, 11, 4, 2 }, { 1, 50, 4, 5, 1, 0 }, { 1, 100, 3, 16, 16, 0 } };
    static const int filters[] = { 64, 32, 96, 40, 768 };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        const int *v = cases[i];
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,%d,%d,%d]\nw = input f32[%zu]\nb = input f32[%d]\n"
            "y = nhwc_conv x w b {form=\"panels\",images=1,channels=%d,filters=%d,"
            "kernel_shape=[%d,%d],strides=[%d,%d],pads=[%d,%d,%d,%d],activation=\"Relu\"}\n"
            "return y\n",
            v[0], v[2], v[1], v[1] + 3,
            nhwc_weights_count("panels", 1, v[2], filters[i], v[3] * v[3]), filters[i], v[2],
            filters[i], v[3], v[3], v[4], v[4], v[5], v[5], v[5], v[5]);
        (void)fast_check(text, -1, 1, BOUND);
        ck_assert_msg(fast_check_bf16x3(), "%s", text);
    }
}
END_TEST

typedef struct separable {
    int batch, high, wide, channels, hidden, filters, kernel, stride;
    const char *act;
    bool residual, mean;
} separable;

/* `x` is computed from input `a`. Without channels the first part is absent, without filters the
 * last one. */
static void check_separable(const separable *v, const char *x, double low)
{
    char text[1200];
    const int high = (v->high - 1) / v->stride + 1, wide = (v->wide - 1) / v->stride + 1;
    const int channels = v->channels != 0 ? v->channels : v->hidden;
    (void)snprintf(text, sizeof(text),
        "a = input f32[%d,%d,%d,%d]\nz = const f32[1] {0}\nx = %s\nu = input f32[%zu]\n"
        "w = input f32[%zu]\nv = input f32[%zu]\nb = input f32[%d]\nc = input f32[%d]\n"
        "r = input f32[%d,%d,%d,%d]\ny%s = nhwc_separable x w _ %s %s %s %s {hidden=%d,"
        "filters=%d,kernel_shape=[%d,%d],strides=[%d,%d],pads=[%d,%d,%d,%d],activation0=\"%s\","
        "activation1=\"%s\",activation2=\"%s\"}\n%s",
        v->batch, v->high, v->wide, channels, x,
        nhwc_weights_count("panels", 1, channels, v->hidden, 1),
        nhwc_weights_count("taps", v->hidden, 1, 1, v->kernel * v->kernel),
        nhwc_weights_count("panels", 1, v->hidden, v->filters + 1, 1), v->hidden, v->filters + 1,
        v->batch, high, wide, v->filters + 1, v->mean ? ", m" : "",
        v->channels != 0 ? "u b" : "_ _", v->filters != 0 ? "v" : "_", v->filters != 0 ? "c" : "_",
        v->residual ? "r" : "_", v->hidden, v->filters != 0 ? v->filters + 1 : 0, v->kernel,
        v->kernel, v->stride, v->stride, v->kernel / 2, v->kernel / 2, v->kernel / 2, v->kernel / 2,
        v->act, v->act, v->act, v->mean ? "s = add y m\nreturn s\n" : "return y\n");
    (void)fast_check(text, low, 1, BOUND);
    ck_assert_msg(low > 0 || fast_check_bf16x3(), "%s", text);
}

/* Strip by strip, with and without each part. */
START_TEST(separable_blocks_are_within_the_bound)
{
    static const separable cases[] = {
        { 1, 14, 14, 64, 130, 63, 3, 1, "Relu", true, false },
        { 2, 15, 13, 40, 150, 47, 5, 1, "HardSwish", false, false },
        { 1, 60, 61, 24, 100, 29, 3, 2, "", false, false },
        { 1, 28, 29, 32, 300, 0, 3, 2, "Silu", false, true },
        { 1, 9, 90, 0, 80, 31, 3, 1, "Relu", true, false },
        { 3, 7, 7, 160, 256, 0, 3, 1, "Relu", false, true },
        { 1, 120, 100, 24, 96, 30, 1, 2, "Relu", false, false },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        check_separable(&cases[i], "add a z", -1);
    check_separable(&cases[0], "div a z", 0.5);
    check_separable(&cases[5], "div a z", 0.5);
}
END_TEST

/* Values that are not finite, in A or B, give the result of float32; products with a small K
 * stay in float32. */
START_TEST(special_values_and_small_k_stay_in_float32)
{
    enum { M = 64, N = 128, K = 300 };
    for (int of_w = 0; of_w < 2; of_w++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nw = input f32[%zu]\nz = const f32[1] {0}\n"
            "b = %s\nc = %s\ny = fused_linear b c {columns=%d}\nreturn y\n",
            M, K, nhwc_weights_count("panels", 1, K, N, 1), of_w ? "add a z" : "div a z",
            of_w ? "div w z" : "add w z", N);
        (void)fast_check(text, 0.5, 1, BOUND);
    }
    (void)fast_check("x = input f32[1,30,30,48]\nw = input f32[20736]\nz = const f32[1] {0}\n"
                     "v = div x z\ny = nhwc_conv v w _ _ {form=\"panels\",channels=48,filters=48,"
                     "kernel_shape=[3,3],pads=[1,1,1,1]}\nreturn y\n",
        0.5, 1, BOUND);
    (void)fast_check("a = input f32[30,96]\nw = input f32[3072]\n"
                     "y = fused_linear a w {columns=32}\nreturn y\n",
        -1, 1, BOUND);
    const prt_kern *kern = prt_kern_of(prt_cpu_level("avx512_amx") & prt_cpu_features());
    if (kern != NULL && kern->bf16x3.multiply != NULL)
        ck_assert(!fast_check_bf16x3());
}
END_TEST

PRT_TEST_MAIN("fast/bf16x3", products_are_within_the_bound, unpacked_operands_are_within_the_bound,
    convolutions_are_within_the_bound, gated_convolutions_are_within_the_bound,
    first_layers_are_within_the_bound, separable_blocks_are_within_the_bound,
    special_values_and_small_k_stay_in_float32)
