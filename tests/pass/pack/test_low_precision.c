/* SPDX-License-Identifier: MIT */
/*
 * test_low_precision.c — narrow_weights: stored types, accuracy, and near misses.
 * Covers: low_precision_conv.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kern/gemm/low_precision.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const struct {
    const char *options;
    int32_t dtype;
    double error; /* of results, of the largest one */
} types[] = { { "weights=f16", PRT_DTYPE_f16, 1e-3 }, { "weights=bf16", PRT_DTYPE_bf16, 8e-3 },
    { "weights=f8e4m3", PRT_DTYPE_f8e4m3fnuz, 0.06 },
    { "weights=f8e5m2", PRT_DTYPE_f8e5m2fnuz, 0.12 }, { "weights=i8", PRT_DTYPE_i8, 0.01 },
    { "weights=i4", PRT_DTYPE_i4, 0.1 } };

/* x w + c with a packed constant w of k rows and n columns. */
static char *product(int k, int n, const char *line)
{
    const size_t width = (size_t)n / PRT_GEMM_PANEL * PRT_GEMM_PANEL +
        prt_gemm_width((size_t)n % PRT_GEMM_PANEL),
                 count = (size_t)k * width;
    const size_t size = count * 12 + 1024;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size,
        "x = input f32[3,%d]\nc = input f32[%d]\nw = const f32[%zu] {", k, n, count);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%.4f", i != 0 ? "," : "",
            (double)(i * 7 % 191) / 64.0 - 1.5);
    (void)snprintf(text + at, size - at, "}\n%s\nreturn y\n", line);
    return text;
}

START_TEST(panels_are_stored_in_fewer_bits)
{
    static const int sizes[][2] = { { 40, 26 }, { 33, 64 }, { 17, 130 } };
    for (size_t t = 0; t < PRT_COUNT_OF(types); t++)
        for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++) {
            char line[128];
            (void)snprintf(line, sizeof(line), "y = fused_linear x w c {columns=%d}", sizes[i][1]);
            char *text = product(sizes[i][0], sizes[i][1], line);
            prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
            ck_assert(run_pass(after, "narrow_weights", types[t].options));
            ck_assert_int_eq(prt_op_input(after->first, 1)->type->dtype, types[t].dtype);
            ck_assert(!run_pass(after, "narrow_weights", types[t].options));
            assert_same_results(before, after, types[t].error, 3);
            module_free(before);
            module_free(after);
            free(text);
        }
}
END_TEST

START_TEST(convolutions_of_one_by_one_become_products)
{
    char *text = product(24, 40,
        "i = input f32[2,5,3,24]\nr = input f32[2,5,3,40]\n"
        "y = nhwc_conv i w c r {channels=24,filters=40,kernel_shape=[1,1],activation=\"Relu\"}");
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    ck_assert(run_pass(after, "narrow_weights", "weights=f16"));
    ck_assert(prt_op_is(after->first, PRT_OP_fused_linear));
    assert_same_results(before, after, 1e-3, 3);
    module_free(before);
    module_free(after);
    free(text);
}
END_TEST

/* compute=i8: bytes by column, and the rows of the other side as they come. */
START_TEST(products_of_bytes_are_packed)
{
    static const int sizes[][2] = { { 40, 26 }, { 33, 64 }, { 18, 130 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++)
        for (int with = 0; with < 2; with++) {
            const int k = sizes[i][0], n = sizes[i][1];
            char line[160];
            (void)snprintf(line, sizeof(line),
                "r = input f32[3,%d]\n"
                "y = fused_linear x w c %s {columns=%d%s}",
                n, with != 0 ? "r" : "", n,
                with != 0 ? ",activation=\"LeakyRelu\",alpha=0.25" : "");
            char *text = product(k, n, line);
            prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
            ck_assert(run_pass(after, "narrow_weights", "compute=i8"));
            ck_assert(prt_op_is(after->first, PRT_OP_quantized_linear));
            ck_assert(prt_op_is(before->first, PRT_OP_fused_linear));
            assert_same_results(before, after, 0.02, 3);
            module_free(before);
            module_free(after);
            free(text);
        }
    char *text = product(24, 40,
        "i = input f32[2,5,3,24]\nr = input f32[2,5,3,40]\n"
        "y = nhwc_conv i w c r {channels=24,filters=40,kernel_shape=[1,1],activation=\"Relu\"}");
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    ck_assert(run_pass(after, "narrow_weights", "compute=i8"));
    ck_assert(prt_op_is(after->first, PRT_OP_quantized_linear));
    assert_same_results(before, after, 0.02, 3);
    module_free(before);
    module_free(after);
    free(text);
    /* 4 bits stay 4 bits, by blocks. */
    text = product(77, 40, "y = fused_linear x w c {columns=40}");
    before = graph_from_text(text);
    after = graph_from_text(text);
    ck_assert(run_pass(after, "narrow_weights", "weights=i4, compute=i8"));
    ck_assert(prt_op_is(after->first, PRT_OP_fused_linear));
    ck_assert_int_eq(prt_op_input(after->first, 1)->type->dtype, PRT_DTYPE_i4);
    ck_assert(!run_pass(after, "narrow_weights", "weights=i4, compute=i8"));
    assert_same_results(before, after, 0.1, 3);
    module_free(before);
    module_free(after);
    free(text);
    /* Other convolutions: large ones are packed; depthwise ones, ones of few taps or filters,
     * and ones of images are left. */
    static const struct {
        const char *text;
        bool done;
    } convs[] = {
        { "w = const f32[2304] fill 0.25\ny = nhwc_conv i w {channels=8,filters=20,"
          "kernel_shape=[3,3],pads=[1,1,1,1],activation=\"Relu\"}",
            true },
        { "w = const f32[256] fill 0.25\ny = nhwc_conv i w {channels=8,filters=20,"
          "kernel_shape=[1,1],strides=[2,1]}",
            false },
        { "w = const f32[1152] fill 0.25\ny = nhwc_conv i w {channels=8,filters=4,"
          "kernel_shape=[3,3]}",
            false },
        { "w = const f32[72] fill 0.25\ny = nhwc_conv i w {channels=1,filters=1,group=8,"
          "form=\"taps\",kernel_shape=[3,3]}",
            false },
        { "w = const f32[1152] fill inf\ny = nhwc_conv i w {channels=8,filters=16,"
          "kernel_shape=[3,3]}",
            false },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(convs); i++) {
        char whole[512];
        (void)snprintf(whole, sizeof(whole), "i = input f32[2,5,3,8]\n%s\nreturn y\n",
            convs[i].text);
        if (!convs[i].done) {
            assert_pass_leaves("narrow_weights", "compute=i8", whole);
            continue;
        }
        before = graph_from_text(whole);
        after = graph_from_text(whole);
        ck_assert(run_pass(after, "narrow_weights", "compute=i8"));
        ck_assert(prt_op_is(after->first, PRT_OP_nhwc_quantized_conv));
        assert_same_results(before, after, 0.02, 3);
        module_free(before);
        module_free(after);
    }
    const char *infinite = "x = input f32[1,1]\n"
                           "w = const f32[16] {inf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}\n"
                           "y = fused_linear x w {columns=1}\nreturn y\n";
    assert_pass_leaves("narrow_weights", "compute=i8", infinite);
}
END_TEST

START_TEST(near_misses_are_left)
{
    char *text = product(40, 26, "y = fused_linear x w c {columns=26}");
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "narrow_weights", NULL));
    ck_assert(!run_pass(g, "narrow_weights", "weights=f32"));
    module_free(g);
    free(text);
    static const char *const graphs[] = {
        /* beyond the largest float16 */
        "x = input f32[1,1]\nw = const f32[16] {70000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}\n"
        "y = fused_linear x w {columns=1}\nreturn y\n",
        "x = input f32[1,1]\nw = const f32[16] {inf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}\n"
        "y = fused_linear x w {columns=1}\nreturn y\n",
        "x = input f32[1,1]\nw = input f32[16]\ny = fused_linear x w {columns=1}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        g = graph_from_text(graphs[i]);
        ck_assert(!run_pass(g, "narrow_weights", "weights=f16"));
        module_free(g);
    }
    text = product(24, 40,
        "i = input f32[2,5,3,24]\n"
        "y = nhwc_conv i w c {channels=24,filters=40,kernel_shape=[1,1],strides=[2,2]}");
    g = graph_from_text(text);
    ck_assert(!run_pass(g, "narrow_weights", "weights=f16"));
    module_free(g);
    free(text);
}
END_TEST

/* Stored values at the limits of each type. */
START_TEST(elements_are_rounded_to_nearest)
{
    float panel[16] = { 1.0f, -1.0f, 0.5f, 1e9f, -1e9f, 0.0f, 0.3f };
    uint16_t words[32];
    uint8_t bytes[64];
    const prt_low_precision_scales none = { .scale = NULL };
    prt_low_precision_pack(PRT_LOW_PRECISION_f16, 1, 7, panel, &none, words);
    ck_assert_uint_eq(words[0], 0x3c00);
    ck_assert_uint_eq(words[3], 0x7bff);
    ck_assert_uint_eq(words[4], 0xfbff);
    ck_assert_uint_eq(words[6], 0x34cd);
    prt_low_precision_pack(PRT_LOW_PRECISION_bf16, 1, 7, panel, &none, words);
    ck_assert_uint_eq(words[0], 0x3f80);
    ck_assert_uint_eq(words[1], 0); /* the row before the last */
    ck_assert_uint_eq(words[2], 0xbf80);
    prt_low_precision_pack(PRT_LOW_PRECISION_e4m3, 1, 7, panel, &none, bytes);
    ck_assert_uint_eq(bytes[0], 0x40);
    ck_assert_uint_eq(bytes[3], 0x7f);
    ck_assert_uint_eq(bytes[4], 0xff);
    prt_low_precision_pack(PRT_LOW_PRECISION_e5m2, 1, 7, panel, &none, bytes);
    ck_assert_uint_eq(bytes[0], 0x40);
    ck_assert_uint_eq(bytes[3], 0x7f);
    const float scale[7] = { 0.5f, 0.5f, 0.5f, 1e8f, 1e8f, 1.0f, 0.1f };
    const prt_low_precision_scales by = { .scale = scale };
    prt_low_precision_pack(PRT_LOW_PRECISION_i8, 1, 7, panel, &by, bytes);
    const int8_t want[7] = { 2, -2, 1, 10, -10, 0, 3 };
    ck_assert_mem_eq(bytes, want, 7);
    prt_low_precision_pack(PRT_LOW_PRECISION_i4, 1, 7, panel, &by, bytes);
    const uint8_t eights[7] = { 2, 14, 1, 7, 9, 0, 3 };
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_eq(bytes[4 * i], eights[i]);
}
END_TEST

/* A file may say anything of its weights. */
START_TEST(sizes_that_do_not_fit_are_refused)
{
    static const struct {
        const char *graph, *part;
    } cases[] = {
        { "w = input bf16[48]\ny = fused_linear x w {columns=16}", "not panels of 16" },
        { "w = input bf16[96]\ny = fused_linear x w {columns=16}", "inner dim" },
        { "w = input i8[40]\ny = fused_linear x w {columns=16}", "not panels of 16" },
        { "w = input i8[64]\ny = fused_linear x w {columns=16}", "inner dim" },
        { "w = input i8[3,16]\ny = fused_linear x w", "not packed" },
        { "w = input i8[48]\ny = fused_linear x w {columns=-1}", "columns is -1" },
        { "w = input i4[40]\ny = fused_linear x w {columns=16}", "not panels of 16" },
        { "w = input i4[256]\ny = fused_linear x w {columns=16}", "inner dim" },
        { "w = input i8[48]\ny = fused_linear x w {columns=16,block=8}", "blocks need a scale" },
        { "w = input i8[48]\no = input f32[16]\ny = fused_linear x w _ _ _ o {columns=16}",
            "offset needs blocks" },
        { "w = input i8[48]\ns = input f32[16]\ny = fused_linear x w _ _ s {columns=16,block=12}",
            "multiple of 8" },
        { "w = input i8[48]\ns = input f32[32]\ny = fused_linear x w _ _ s {columns=16,block=8}",
            "input 4 has 32" },
        { "w = input i8[48]\ns = input f32[16]\no = input f32[8]\n"
          "y = fused_linear x w _ _ s o {columns=16,block=8}",
            "input 5 has 8" },
        { "w = input f16[48]\ns = input f32[16]\ny = fused_linear x w _ _ s {columns=16,block=8}",
            "block is for a B of i4 or i8" },
        { "w = input i8[48]\ns = input f32[4]\ny = fused_linear x w _ _ s {columns=16}", "" },
        { "w = input i8[48]\ny = fused_linear x w {columns=16,compute=\"f64\"}",
            "compute is 'f64'" },
        { "w = input i4[128]\ny = fused_linear x w {columns=16,compute=\"i8\"}", "compute 'i8'" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "x = input f32[1,3]\n%s\nreturn y\n", cases[i].graph);
        const char *message = graph_error(text);
        ck_assert_msg(strstr(message, cases[i].part) != NULL, "%s: %s", text, message);
    }
    prt_graph *g = graph_from_text("x = input f32[1,3]\nw = input bf16[64]\n"
                                   "y = fused_linear x w {columns=16}\nreturn y\n");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/pack/low_precision", panels_are_stored_in_fewer_bits,
    convolutions_of_one_by_one_become_products, products_of_bytes_are_packed, near_misses_are_left,
    elements_are_rounded_to_nearest, sizes_that_do_not_fit_are_refused)
