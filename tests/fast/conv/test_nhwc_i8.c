/* SPDX-License-Identifier: MIT */
/* test_nhwc_i8.c — fast operators on quantised images with channels last against the reference:
 * the same bits at every level. NhwcQuantizedConv gives floats and has a bound.
 * Covers: nhwc_i8_amx.c, nhwc_pool.c, nhwc_quantized.c, quantized_add.c, byte_table.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/compile.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/graph_text.h"
#include "support/nhwc_text.h"

static int random_below(uint32_t *state, uint32_t n)
{
    return (int)nhwc_random(state, n);
}

static void check(const nhwc_bytes_case *c, uint32_t seed)
{
    char *text = nhwc_bytes_text(c, seed, false);
    fast_check(text, -1, 1, 0);
    free(text);
}

/* Returns a scale that spreads the sums of the case's products over the range of a byte. */
static double output_scale(const nhwc_conv_case *c)
{
    const double depth = (double)c->channels * c->w.kernel[0] * c->w.kernel[1] * c->w.kernel[2];
    return 0.5 / (64.0 + depth * 128.0);
}

static nhwc_bytes_case random_case(uint32_t *state, uint32_t i)
{
    const int rank = random_below(state, 5) == 0 ? 3 : random_below(state, 5) == 0 ? 5 : 4;
    nhwc_bytes_case c = { .of = { .rank = rank,
                              .n = 1 + random_below(state, 3),
                              .form = "panels",
                              .group = 1,
                              .channels = 1,
                              .filters = 1,
                              .w = nhwc_random_window(state, rank,
                                  rank == 5        ? 6
                                      : i % 8 == 0 ? 30
                                                   : 12,
                                  i % 8 == 1 && rank != 5 ? 7 : 4) },
        .x_signed = random_below(state, 3) == 0,
        .y_signed = random_below(state, 2) != 0 };
    c.x_zero = random_below(state, 256) - (c.x_signed ? 128 : 0);
    c.y_zero = random_below(state, 256) - (c.y_signed ? 128 : 0);
    if (i % 3 == 0) {
        c.of.form = "taps";
        c.of.group = 1 + random_below(state, i % 2 != 0 ? 150 : 40);
    } else {
        c.of.group = random_below(state, 4) == 0 ? 1 + random_below(state, 4) : 1;
        c.of.channels = random_below(state, 2) != 0 ? 4 * (1 + random_below(state, 8))
                                                    : 1 + random_below(state, 30);
        c.of.filters = 1 + random_below(state, i % 6 == 1 ? 150 : 70);
        c.of.images = c.of.group == 1 && rank != 5 && random_below(state, 3) == 0;
        if (c.of.images)
            c.of.channels = 1 + random_below(state, 4);
    }
    c.scale = i % 7 == 3 ? 0.75 : output_scale(&c.of) * (1 + random_below(state, 3)) * 10;
    c.scale = c.of.form[0] == 't' && c.scale > 0.15 ? 0.15 : c.scale;
    return c;
}

START_TEST(quantized_convolutions_equal_the_reference)
{
    uint32_t state = 11;
    for (uint32_t i = 0; i < FAST_CASES(220); i++) {
        const nhwc_bytes_case c = random_case(&state, i);
        check(&c, i);
    }
}
END_TEST

/* Many pixels and panels, and products exactly halfway between two integers. */
START_TEST(large_convolutions_equal_the_reference)
{
    nhwc_bytes_case c = { .of = { .rank = 4,
                              .n = 1,
                              .form = "panels",
                              .group = 1,
                              .channels = 8,
                              .filters = 200,
                              .w = { .in = { 40, 33 },
                                  .kernel = { 3, 3 },
                                  .stride = { 1, 1 },
                                  .dilation = { 1, 1 },
                                  .pads = { 1, 1, 1, 1 } } },
        .x_zero = 100,
        .scale = 0.5 };
    check(&c, 1);
    c.of.filters = 24;
    c.scale = 0.0001220703125;
    check(&c, 2);
    c.of.w.kernel[0] = c.of.w.kernel[1] = 1;
    memset(c.of.w.pads, 0, sizeof(c.of.w.pads));
    for (int filters = 16; filters <= 64; filters += 16) {
        c.of.filters = filters;
        check(&c, 3);
    }
    c.of = (nhwc_conv_case){ .rank = 4,
        .n = 2,
        .form = "taps",
        .group = 200,
        .channels = 1,
        .filters = 1,
        .w = { .in = { 21, 20 },
            .kernel = { 3, 3 },
            .stride = { 1, 2 },
            .dilation = { 1, 1 },
            .pads = { 1, 1, 1, 1 } } };
    c.scale = 0.015625;
    check(&c, 4);
    c.of.w.kernel[0] = 9;
    c.of.w.kernel[1] = 8; /* more taps than the kernel takes */
    check(&c, 5);
    c.of.w.kernel[0] = 8;
    check(&c, 6);
    c.of.group = 96;
    c.scale = 0.6;
    check(&c, 7);
}
END_TEST

/* Some levels compute on the image itself, 16 outputs at a time: full and partial tiles, few and
 * many channels, strides of one and more along each axis, and images of several blocks. */
START_TEST(tiles_on_the_image_equal_the_reference)
{
    static const struct {
        int in[2], kernel[2], stride[2], dilation, pad, channels, filters;
    } all[] = { { { 4, 4 }, { 1, 1 }, { 1, 1 }, 1, 0, 52, 20 },
        { { 7, 7 }, { 1, 1 }, { 1, 1 }, 1, 0, 100, 64 },
        { { 5, 9 }, { 1, 1 }, { 1, 1 }, 1, 0, 64, 80 },
        { { 9, 11 }, { 1, 1 }, { 2, 2 }, 1, 0, 64, 70 },
        { { 9, 9 }, { 1, 1 }, { 2, 3 }, 1, 0, 72, 33 },
        { { 13, 12 }, { 3, 3 }, { 2, 2 }, 1, 1, 32, 40 },
        { { 11, 10 }, { 5, 4 }, { 3, 2 }, 1, 2, 20, 64 },
        { { 15, 9 }, { 3, 3 }, { 1, 1 }, 2, 1, 64, 24 },
        { { 90, 91 }, { 1, 1 }, { 1, 1 }, 1, 0, 96, 30 },
        { { 40, 50 }, { 3, 3 }, { 1, 1 }, 1, 1, 320, 18 } };
    for (size_t i = 0; i < PRT_COUNT_OF(all); i++)
        for (int n = 1; n <= 2; n++) {
            const int pad = all[i].pad;
            nhwc_bytes_case c = { .of = { .rank = 4,
                                      .n = n,
                                      .form = "panels",
                                      .group = 1,
                                      .channels = all[i].channels,
                                      .filters = all[i].filters,
                                      .w = { .in = { all[i].in[0], all[i].in[1] },
                                          .kernel = { all[i].kernel[0], all[i].kernel[1] },
                                          .stride = { all[i].stride[0], all[i].stride[1] },
                                          .dilation = { all[i].dilation, 1 },
                                          .pads = { pad, pad, pad, pad } } },
                .x_signed = n == 2,
                .y_signed = i % 2 != 0,
                .x_zero = 90,
                .y_zero = 3 };
            c.scale = 10.0 * output_scale(&c.of);
            check(&c, (uint32_t)i);
        }
    nhwc_bytes_case c = { .of = { .rank = 4,
                              .n = 1,
                              .form = "panels",
                              .group = 1,
                              .channels = 3,
                              .filters = 64,
                              .images = true,
                              .w = { .in = { 31, 30 },
                                  .kernel = { 7, 7 },
                                  .stride = { 2, 2 },
                                  .dilation = { 1, 1 },
                                  .pads = { 3, 3, 3, 3 } } },
        .x_zero = 100,
        .scale = 0.001 };
    check(&c, 1);
    c.of.w.kernel[0] = c.of.w.kernel[1] = 5; /* three rows of the kernel at a time */
    c.of.n = 2;
    check(&c, 2);
    c.of.w.stride[0] = 3;
    c.of.w.stride[1] = 1;
    check(&c, 3);
}
END_TEST

/* 3x3 kernels, which some levels compute by columns: rows in pairs or not, full and partial
 * blocks of channels, with and without padding, one row and many, and rows that are too long. */
START_TEST(kernels_of_3x3_equal_the_reference)
{
    static const int groups[] = { 1, 16, 31, 32, 33, 64, 65, 96, 144, 200 };
    uint32_t state = 17;
    for (uint32_t i = 0; i < FAST_CASES(60); i++) {
        nhwc_bytes_case c = {
            .of = { .rank = 4,
                .n = 1 + random_below(&state, 2),
                .form = "taps",
                .group = groups[i % 10],
                .channels = 1,
                .filters = 1,
                .w = { .in = { 3 + random_below(&state, 12), 3 + random_below(&state, 20) },
                    .kernel = { 3, 3 },
                    .stride = { 1 + random_below(&state, 3), 1 + (int)(i / 10 % 2) },
                    .dilation = { 1 + (int)(i % 7 == 0), 1 },
                    .pads = { random_below(&state, 3), random_below(&state, 4),
                        random_below(&state, 3), random_below(&state, 4) } } },
            .x_signed = i % 4 == 0,
            .y_signed = i % 3 == 0,
            .x_zero = random_below(&state, 128),
            .y_zero = random_below(&state, 128),
            .scale = i % 5 == 0 ? 0.0078125 : 0.003
        };
        c.of.w.in[0] += c.of.w.dilation[0] > 1 ? 2 : 0;
        check(&c, i);
    }
    nhwc_bytes_case c = { .of = { .rank = 4,
                              .n = 1,
                              .form = "taps",
                              .group = 3,
                              .channels = 1,
                              .filters = 1,
                              .w = { .in = { 2, 4100 },
                                  .kernel = { 3, 3 },
                                  .stride = { 1, 1 },
                                  .dilation = { 1, 1 },
                                  .pads = { 1, 1, 1, 1 } } },
        .x_zero = 7,
        .scale = 0.003 };
    check(&c, 1);
}
END_TEST

/* Padding much larger than the image is not copied. */
START_TEST(large_padding_is_not_copied)
{
    nhwc_bytes_case c = { .of = { .rank = 4,
                              .n = 1,
                              .form = "panels",
                              .group = 1,
                              .channels = 3,
                              .filters = 2,
                              .images = true,
                              .w = { .in = { 2, 3 },
                                  .kernel = { 2, 2 },
                                  .stride = { 500, 500 },
                                  .dilation = { 1, 1 },
                                  .pads = { 4000, 4001, 4002, 4003 } } },
        .x_zero = 9,
        .scale = 0.001 };
    check(&c, 1);
    c.x_signed = true;
    check(&c, 2);
    c.of.n = 0;
    check(&c, 3);
}
END_TEST

START_TEST(pools_of_bytes_equal_the_reference)
{
    uint32_t state = 5;
    for (uint32_t i = 0; i < FAST_CASES(60); i++) {
        const nhwc_window w = nhwc_random_window(&state, 4, 12, 4);
        char text[1024];
        (void)snprintf(text, sizeof(text),
            "f = input f32[%d,%d,%d,%d]\ns = const f32[] {0.0078125}\nz = const %s[] {%d}\n"
            "x = quantize_linear f s z\ny = nhwc_max_pool x {kernel_shape=[%d,%d],strides=[%d,%d],"
            "dilations=[%d,%d],pads=[%d,%d,%d,%d],ceil_mode=%d}\nr = cast y {to=1}\nreturn r\n",
            1 + random_below(&state, 2), w.in[0], w.in[1], 1 + random_below(&state, 70),
            i % 2 != 0 ? "i8" : "u8", i % 2 != 0 ? -3 : 120, w.kernel[0], w.kernel[1], w.stride[0],
            w.stride[1], w.dilation[0], w.dilation[1],
            w.pads[0] < w.kernel[0] ? w.pads[0] : w.kernel[0] - 1,
            w.pads[1] < w.kernel[1] ? w.pads[1] : w.kernel[1] - 1,
            w.pads[2] < w.kernel[0] ? w.pads[2] : w.kernel[0] - 1,
            w.pads[3] < w.kernel[1] ? w.pads[3] : w.kernel[1] - 1, (int)(i % 3 == 0));
        fast_check(text, -1, 1, 0);
    }
}
END_TEST

START_TEST(quantized_sums_equal_the_reference)
{
    static const char *const shapes[][2] = { { "1", "1" }, { "63", "63" }, { "3,70", "3,70" },
        { "70001", "70001" }, { "2,5", "5" }, { "0", "0" } };
    static const char *const types[3] = { "u8", "i8", "u8" };
    static const char *const scales[] = { "0.0078125", "0.013", "1e-9", "1e9", "nan" };
    char text[1024];
    for (size_t i = 0; i < PRT_COUNT_OF(shapes); i++)
        for (size_t t = 0; t < 2; t++)
            for (size_t k = 0; k < PRT_COUNT_OF(scales); k++) {
                (void)snprintf(text, sizeof(text),
                    "s = const f32[] {0.0078125}\nza = const %s[] {%d}\nzb = const %s[] {%d}\n"
                    "af = input f32[%s]\na = quantize_linear af s za\nbf = input f32[%s]\n"
                    "b = quantize_linear bf s zb\nsb = const f32[] {0.011}\nsy = const f32[] {%s}\n"
                    "y = quantized_add a s za b sb zb sy za\nr = cast y {to=1}\nreturn r\n",
                    types[t], t != 0 ? -3 : 128, types[t + 1], t != 0 ? 128 : -3, shapes[i][0],
                    shapes[i][1], scales[k]);
                fast_check(text, -1, 1, 0);
            }
}
END_TEST

/* Sums and products of an image and a row of channels per image. */
START_TEST(quantized_gates_equal_the_reference)
{
    static const char *const shapes[][2] = { { "1,3,5,7", "1,1,1,7" }, { "2,1,1,70", "2,9,4,70" },
        { "3,40,40,24", "3,1,1,24" }, { "1,1,1300", "1,6,1300" }, { "2,3,4,5", "1,1,1,5" },
        { "2,3,4,5", "2,3,1,5" }, { "1,3", "4,3" } };
    char text[1024];
    for (size_t i = 0; i < PRT_COUNT_OF(shapes); i++)
        for (int k = 0; k < 4; k++) {
            const char *type = k % 2 != 0 ? "i8" : "u8";
            (void)snprintf(text, sizeof(text),
                "s = const f32[] {0.0078125}\nz = const %s[] {%d}\nza = const u8[] {100}\n"
                "af = input f32[%s]\na = quantize_linear af s z\nbf = input f32[%s]\n"
                "b = quantize_linear bf s za\nsy = const f32[] {0.006}\n"
                "y = quantized_%s a s z b s za sy z\nr = cast y {to=1}\nreturn r\n",
                type, k % 2 != 0 ? -3 : 128, shapes[i][0], shapes[i][1], k < 2 ? "mul" : "add");
            fast_check(text, -1, 1, 0);
        }
}
END_TEST

START_TEST(byte_tables_equal_the_reference)
{
    static const char *const shapes[] = { "1", "63", "64", "3,70", "70001", "0" };
    char text[4096];
    for (size_t i = 0; i < PRT_COUNT_OF(shapes); i++)
        for (int sign = 0; sign < 2; sign++) {
            const char *type = sign != 0 ? "i8" : "u8", *other = i % 2 != 0 ? "i8" : "u8";
            size_t at = (size_t)snprintf(text, sizeof(text), "t = const %s[256] {", other);
            for (int k = 0; k < 256; k++) /* all bytes, permuted */
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", k != 0 ? "," : "",
                    (k * 77 + 5) % 256 - (i % 2 != 0 ? 128 : 0));
            (void)snprintf(text + at, sizeof(text) - at,
                "}\nf = input f32[%s]\n"
                "s = const f32[] {0.0078125}\nz = const %s[] {%d}\nx = quantize_linear f s z\n"
                "y = byte_table x t\nr = cast y {to=1}\nreturn r\n",
                shapes[i], type, sign != 0 ? 0 : 128);
            fast_check(text, -1, 1, 0);
        }
}
END_TEST

/* NhwcQuantizedConv as the pass narrow_weights makes it from NhwcConv. */
static void check_floats(const nhwc_conv_case *c, uint32_t seed)
{
    char *text = nhwc_conv_text(c, seed, false);
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, "narrow_weights", "compute=i8"), "%s", text);
    bool found = false;
    prt_for_each_op (op, g)
        found = found || prt_op_is(op, PRT_OP_nhwc_quantized_conv);
    ck_assert(found);
    prt_program *program = NULL;
    const prt_compile_options options = { .no_memory_sharing = false };
    ck_assert_int_eq(prt_compile(g->module, &options, &program), POPRT_OK);
    fast_check_program(program, text, -1, 1, 1e-6);
    module_free(g);
    free(text);
}

START_TEST(quantized_conv_of_floats_is_within_its_bound)
{
    static const char *const activations[] = { "", "Relu\"", "Silu\"", "Clip\",alpha=-0.5,beta=6" };
    uint32_t state = 5;
    for (uint32_t i = 0; i < FAST_CASES(90); i++) {
        const int rank = i % 7 == 3 ? 3 : i % 7 == 5 ? 5 : 4;
        nhwc_conv_case c = { .rank = rank,
            .n = 1 + random_below(&state, 3),
            .form = "panels",
            .group = 1,
            .activation = activations[i % 4],
            .bias = i % 3 != 0,
            .residual = i % 5 == 0,
            .w = nhwc_random_window(&state, rank,
                rank == 5        ? 6
                    : i % 8 == 0 ? 30
                                 : 12,
                4) };
        int taps = 1;
        for (int k = 0; k < rank - 2; k++)
            taps *= c.w.kernel[k];
        c.group = i % 6 == 1 ? 1 + random_below(&state, 3) : 1;
        c.channels = 32 / taps + 1 + random_below(&state, 24);
        c.filters = 8 + random_below(&state, i % 9 == 1 ? 150 : 60);
        c.w.stride[0] = taps == 1 ? 2 : c.w.stride[0]; /* else it becomes a product */
        check_floats(&c, i);
    }
    nhwc_conv_case c = { .rank = 4,
        .n = 1,
        .form = "winograd",
        .group = 1,
        .channels = 20,
        .filters = 70,
        .activation = "",
        .residual = true,
        .transformed = true,
        .w = { .in = { 40, 33 },
            .kernel = { 3, 3 },
            .stride = { 1, 1 },
            .dilation = { 1, 1 },
            .pads = { 1, 1, 1, 1 } } };
    check_floats(&c, 1);
    c.special = "nan";
    c.n = 2;
    check_floats(&c, 2);
    c.special = "inf";
    c.residual = false;
    check_floats(&c, 3);
}
END_TEST

PRT_TEST_MAIN("fast/nhwc_i8", quantized_convolutions_equal_the_reference,
    large_convolutions_equal_the_reference, tiles_on_the_image_equal_the_reference,
    kernels_of_3x3_equal_the_reference, large_padding_is_not_copied,
    pools_of_bytes_equal_the_reference, quantized_sums_equal_the_reference,
    quantized_gates_equal_the_reference, byte_tables_equal_the_reference,
    quantized_conv_of_floats_is_within_its_bound)
