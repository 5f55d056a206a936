/* SPDX-License-Identifier: MIT */
/* test_strassen.c — products by Strassen's algorithm against the reference: odd numbers of rows
 * and columns, K in parts, and every epilogue. Each case must be computed that way, which shows
 * in its bits. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/nhwc_text.h"

static const double BOUND = 1e-5; /* of the largest element, as for products summed in order */

static size_t packed_size(int n, int k)
{
    return nhwc_weights_count("panels", 1, k, n, 1);
}

START_TEST(products_are_within_the_bound)
{
    static const struct {
        int m, n, k;
        bool bias, residual;
        const char *act;
    } cases[] = {
        { 72, 640, 770, false, false, "" },
        { 128, 256, 520, true, false, "Relu" },
        { 131, 300, 500, true, true, "Gelu" },
        { 241, 384, 480, false, true, "Clip" },
        { 131, 128, 1702, true, true, "Tanh" },
        { 133, 191, 1540, true, false, "Silu" },
        { 740, 144, 816, false, true, "" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        const int m = cases[i].m, n = cases[i].n, k = cases[i].k;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nw = input f32[%zu]\nc = input f32[%d]\nr = input f32[%d,%d]\n"
            "y = fused_linear a w %s %s {columns=%d,activation=\"%s\",alpha=-0.25,beta=0.5}\n"
            "return y\n",
            m, k, packed_size(n, k), n, m, n, cases[i].bias ? "c" : "_",
            cases[i].residual ? "r" : "_", n, cases[i].act);
        ck_assert_msg(fast_check(text, -0.25, 0.25, BOUND), "%s", text);
    }
}
END_TEST

/* The result is written over the residual. */
START_TEST(in_place_residuals_are_within_the_bound)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
        "a = input f32[99,1600]\nw = input f32[%zu]\nr = input f32[99,256]\nt = relu r\n"
        "y = fused_linear a w _ t {columns=256}\nz = neg y\nreturn z\n",
        packed_size(256, 1600));
    ck_assert(fast_check(text, -1, 1, BOUND));
}
END_TEST

START_TEST(small_products_are_summed_in_order)
{
    static const int sizes[][3] = { { 23, 1024, 1024 }, { 128, 127, 1024 }, { 128, 256, 257 },
        { 49, 512, 512 }, { 128, 256, 64 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++) {
        const int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%d,%d]\nw = input f32[%zu]\ny = fused_linear a w {columns=%d}\n"
            "return y\n",
            m, k, packed_size(n, k), n);
        ck_assert_msg(!fast_check(text, -1, 1, BOUND), "%s", text);
    }
}
END_TEST

/* Rows that are not finite do not change other rows. */
START_TEST(special_values_stay_in_their_rows)
{
    enum { M = 130, N = 256, K = 1600 };
    for (int row = 0; row < M; row += 43) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        (void)fprintf(f, "a = input f32[%d,%d]\nw = input f32[%zu]\ns = const f32[%d,1] {", M, K,
            packed_size(N, K), M);
        for (int i = 0; i < M; i++)
            (void)fprintf(f, "%s%s", i != 0 ? ", " : "", i == row ? "0" : "1");
        (void)fprintf(f, "}\nb = div a s\ny = fused_linear b w {columns=%d}\nreturn y\n", N);
        (void)fclose(f);
        (void)fast_check(text, 0.5, 1, BOUND);
        free(text);
    }
}
END_TEST

START_TEST(convolutions_are_within_the_bound)
{
    static const char *const acts[] = { "", "Relu", "HardSwish" };
    for (int i = 0; i < 6; i++) {
        const int n = 1 + i % 2, high = 14 + i, channels = i < 3 ? 720 : 650;
        const int filters = i < 3 ? 128 : 335;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[%d,%d,15,%d]\nw = input f32[%zu]\nb = input f32[%d]\n"
            "r = input f32[%d,%d,15,%d]\ny = nhwc_conv x w %s %s {form=\"panels\",channels=%d,"
            "filters=%d,kernel_shape=[1,1],activation=\"%s\"}\nreturn y\n",
            n, high, channels, packed_size(filters, channels), filters, n, high, filters,
            i % 3 != 0 ? "b" : "_", i % 2 != 0 ? "r" : "_", channels, filters, acts[i % 3]);
        ck_assert_msg(fast_check(text, -0.25, 0.25, BOUND), "%s", text);
    }
}
END_TEST

PRT_TEST_MAIN("fast/strassen", products_are_within_the_bound,
    in_place_residuals_are_within_the_bound, small_products_are_summed_in_order,
    special_values_stay_in_their_rows, convolutions_are_within_the_bound)
