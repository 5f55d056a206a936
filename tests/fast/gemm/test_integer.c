/* SPDX-License-Identifier: MIT */
/* test_integer.c — products and convolutions of 8-bit integers, to the last bit at every level;
 * and the conversions from float32 to bytes and back. Inputs are floats that are quantised
 * first, by fast operators that this file tests too.
 * Covers: integer_matmul.c, integer_conv.c, quantize.c, quantized_linear.c, matmul_quantized.c,
 * quant.c, quant_params.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "op/internal/nhwc.h"
#include "support/check_main.h"
#include "support/fast_check.h"

/* An input of floats in [-1, 1), quantised to bytes. */
#define QUANTISED(name, shape, type, zero)                                                         \
    name "f = input f32[" shape "]\n" name "s = const f32[] {0.0078125}\n" name "z = const " type  \
         "[] {" zero "}\n" name " = quantize_linear " name "f " name "s " name "z\n"

static const char *const types[][2] = { { "u8", "128" }, { "i8", "-3" } };

START_TEST(quantize_and_dequantize_equal_the_reference)
{
    static const char *const shapes[] = { "1", "63", "64", "3,65", "2,70001", "0" };
    char text[1024];
    for (size_t i = 0; i < PRT_COUNT_OF(shapes); i++)
        for (size_t t = 0; t < 2; t++) {
            (void)snprintf(text, sizeof(text),
                "x = input f32[%s]\ns = const f32[] {0.013}\nz = const %s[] {%s}\n"
                "q = quantize_linear x s z\ny = dequantize_linear q s z\nreturn y\n",
                shapes[i], types[t][0], types[t][1]);
            fast_check(text, -3, 3, 0);
        }
    fast_check(
        "x = input f32[2,3,5]\ns = const f32[3] {0.1,0.02,0.3}\nz = const i8[3] {1,0,-9}\n"
        "q = quantize_linear x s z {axis=1}\ny = dequantize_linear q s z {axis=-2}\nreturn y\n",
        -9, 9, 0);
    fast_check("x = input f32[70001]\ns = const f32[] {0.5}\nz = const i32[] {0}\n"
               "i = cast x {to=6}\ny = dequantize_linear i s z\nreturn y\n",
        -1e6, 1e6, 0);
    fast_check("x = input f32[7]\nn = log x\ns = const f32[] {0.01}\n"
               "q = quantize_linear n s\ny = cast q {to=1}\nreturn y\n",
        -1, 1, 0);
    for (size_t i = 0; i < PRT_COUNT_OF(shapes); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[%s]\n"
            "q, s, z = dynamic_quantize_linear x\ny = dequantize_linear q s z\nreturn y\n",
            shapes[i]);
        fast_check(text, -3, 5, 0);
        fast_check(text, 1, 2, 0);
    }
}
END_TEST

START_TEST(integer_products_equal_the_reference)
{
    static const int sizes[][3] = { { 1, 1, 1 }, { 1, 100, 33 }, { 7, 65, 130 }, { 13, 16, 600 },
        { 250, 70, 40 }, { 6, 63, 1100 }, { 0, 5, 3 }, { 3, 0, 3 }, { 3, 5, 0 }, { 121, 64, 64 } };
    char text[2048];
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++)
        for (size_t t = 0; t < 4; t++) {
            const int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
            (void)snprintf(text, sizeof(text),
                "s = const f32[] {0.0078125}\nza = const %s[] {%s}\nzb = const %s[] {%s}\n"
                "af = input f32[%d,%d]\na = quantize_linear af s za\n"
                "bf = input f32[%d,%d]\nb = quantize_linear bf s zb\n"
                "i = matmul_integer a b za zb\ny = cast i {to=1}\nreturn y\n",
                types[t & 1][0], types[t & 1][1], types[t >> 1][0], types[t >> 1][1], m, k, k, n);
            fast_check(text, -1, 1, 0);
            (void)snprintf(text, sizeof(text),
                "s = const f32[] {0.0078125}\nza = const %s[] {%s}\nzb = const %s[] {%s}\n"
                "sy = const f32[] {0.05}\naf = input f32[%d,%d]\na = quantize_linear af s za\n"
                "bf = input f32[%d,%d]\nb = quantize_linear bf s zb\n"
                "i = qlinear_matmul a s za b s zb sy za\ny = cast i {to=1}\nreturn y\n",
                types[t & 1][0], types[t & 1][1], types[t >> 1][0], types[t >> 1][1], m, k, k, n);
            fast_check(text, -1, 1, 0);
        }
    /* no zero points; zero points and scales by column; batches */
    fast_check(QUANTISED("a", "5,3,17", "u8", "7") QUANTISED("b", "5,17,9", "i8",
                   "0") "i = matmul_integer a b\ny = cast i {to=1}\nreturn y\n",
        -1, 1, 0);
    fast_check(QUANTISED("a", "3,17", "u8", "7") QUANTISED("b", "5,17,9", "i8",
                   "0") "i = matmul_integer a b\ny = cast i {to=1}\nreturn y\n",
        -1, 1, 0);
    fast_check(
        QUANTISED("a", "2,3,17", "u8", "7") QUANTISED("b", "17,3", "i8",
            "0") "z = const i8[3] {1,-100,5}\ns = const f32[3] {0.1,0.2,0.3}\nyz = const i8[] {3}\n"
                 "i = qlinear_matmul a as az b s z bs yz\ny = cast i {to=1}\nreturn y\n",
        -1, 1, 0);
    fast_check(QUANTISED("a", "3,17", "u8", "7") QUANTISED("b", "17,9", "i8",
                   "0") "z = const u8[3] {1,100,5}\ni = matmul_integer a b z bz\ny = cast i "
                        "{to=1}\nreturn y\n",
        -1, 1, 0);
}
END_TEST

START_TEST(integer_convolutions_equal_the_reference)
{
    static const struct {
        const char *x, *w, *attrs;
        int filters;
    } cases[] = { { "1,3,17,19", "8,3,3,3", "pads=[1,1,1,1]", 8 }, { "2,5,9,11", "7,5,1,1", "", 7 },
        { "1,6,20,20", "8,3,3,2", "group=2,strides=[2,3],pads=[2,0,1,3],dilations=[2,1]", 8 },
        { "1,70,8,8", "65,70,3,3", "auto_pad=\"SAME_UPPER\"", 65 },
        { "1,8,30,31", "8,1,3,3", "group=8,pads=[1,1,1,1]", 8 },
        { "1,4,29,30", "130,4,7,7", "strides=[2,2],pads=[3,3,3,3]", 130 },
        { "1,3,50", "5,3,7", "strides=[2],pads=[3,3]", 5 },
        { "1,4,9,9", "4,4,3,3", "dilations=[2,3],strides=[2,2]", 4 },
        { "1,2,3,3", "2,2,3,3", "pads=[4,4,4,4]", 2 }, { "1,2,9,9", "2,2,1,1", "strides=[3,3]", 2 },
        { "0,3,7,7", "2,3,3,3", "", 2 }, { "1,2,5,6,7", "3,2,2,3,2", "", 3 } };
    char text[2048];
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        for (size_t t = 0; t < 4; t++) {
            (void)snprintf(text, sizeof(text),
                "s = const f32[] {0.0078125}\nzx = const %s[] {%s}\nzw = const %s[] {%s}\n"
                "xf = input f32[%s]\nx = quantize_linear xf s zx\n"
                "wf = input f32[%s]\nw = quantize_linear wf s zw\n"
                "i = conv_integer x w zx zw {%s}\ny = cast i {to=1}\nreturn y\n",
                types[t & 1][0], types[t & 1][1], types[t >> 1][0], types[t >> 1][1], cases[i].x,
                cases[i].w, cases[i].attrs);
            fast_check(text, -1, 1, 0);
            (void)snprintf(text, sizeof(text),
                "s = const f32[] {0.0078125}\nzx = const %s[] {%s}\nzw = const %s[] {%s}\n"
                "sy = const f32[] {0.03}\nbf = input f32[%d]\nh = const f32[] {500}\n"
                "bm = mul bf h\nb = cast bm {to=6}\n"
                "xf = input f32[%s]\nx = quantize_linear xf s zx\n"
                "wf = input f32[%s]\nw = quantize_linear wf s zw\n"
                "i = qlinear_conv x s zx w s zw sy zx b {%s}\ny = cast i {to=1}\nreturn y\n",
                types[t & 1][0], types[t & 1][1], types[t >> 1][0], types[t >> 1][1],
                cases[i].filters, cases[i].x, cases[i].w, cases[i].attrs);
            fast_check(text, -1, 1, 0);
        }
}
END_TEST

/* QuantizedLinear of m rows with panels of pseudo-random bytes. Type 2 has a scale per column;
 * type 3 has an A of floats. */
static void check_linear(int m, int n, int k, int type, const char *attrs)
{
    const prt_nhwc_weights layout = { .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = (size_t)k,
        .filters = (size_t)n,
        .taps = 1 };
    size_t count, at;
    ck_assert(prt_nhwc_qconv_size(&layout, &count));
    const size_t size = count * 5 + (size_t)n * 12 + 2048;
    char *text = malloc(size);
    int *w = calloc(count + (size_t)n, sizeof(int)), *sums = w + count;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < k; i++) {
            const int v = (int)(((unsigned)(j * k + i) * 2654435761u >> 9) % 256) - 128;
            w[prt_nhwc_qconv_at(&layout, 0, (size_t)j, (size_t)i, 0)] = v;
            sums[j] += v;
        }
    at = (size_t)snprintf(text, size, "w = const i8[%zu] {", count);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? "," : "", w[i]);
    at += (size_t)snprintf(text + at, size - at, "}\nt = const i32[%d] {", n);
    for (int j = 0; j < n; j++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", j != 0 ? "," : "", sums[j]);
    (void)snprintf(text + at, size - at,
        "}\nqs = const f32[] {0.0078125}\nz = const %s[] {%s}\nf = input f32[%d,%d]\n"
        "a = quantize_linear f qs z\ns = input f32[%d]\nc = input f32[%d]\nr = input f32[%d,%d]\n"
        "y = quantized_linear %s w t s %s {columns=%d%s}\nreturn y\n",
        types[type & 1][0], types[type & 1][1], m, k, type >= 2 ? n : 1, n, m, n,
        type == 3 ? "f _" : "a z", attrs[0] != 0 ? "c r" : "", n, attrs);
    fast_check(text, -1, 1, 1e-6);
    free(text);
    free(w);
}

START_TEST(quantized_linears_equal_the_reference)
{
    static const int sizes[][3] = { { 1, 1, 1 }, { 1, 130, 33 }, { 7, 65, 130 }, { 13, 16, 600 },
        { 250, 70, 40 }, { 6, 63, 1100 }, { 0, 5, 3 }, { 5, 64, 4 }, { 49, 200, 12 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++)
        for (int t = 0; t < 4; t++) {
            check_linear(sizes[i][0], sizes[i][1], sizes[i][2], t, "");
            check_linear(sizes[i][0], sizes[i][1], sizes[i][2], t, ",activation=\"Relu\"");
        }
    check_linear(50, 70, 100, 2, ",activation=\"Gelu\"");
    check_linear(50, 70, 102, 3, ",activation=\"Gelu\"");
}
END_TEST

PRT_TEST_MAIN("fast/integer", quantize_and_dequantize_equal_the_reference,
    integer_products_equal_the_reference, integer_convolutions_equal_the_reference,
    quantized_linears_equal_the_reference)
