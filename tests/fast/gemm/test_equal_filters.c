/* SPDX-License-Identifier: MIT */
/* test_equal_filters.c — weights whose columns or filters are all equal give outputs that are
 * equal to the bit, by every algorithm for products and convolutions, at every level of kernels
 * (docs/internals/numerics.md, rule 2). Zero columns give zero. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "cpu/cpu.h"
#include "kern/kern.h"
#include "pass/engine/manager.h"
#include "runtime/session.h"
#include "support/check_main.h"

/* Output shape: `channels` channels of `pixels` pixels each per image; products have their
 * channels last. */
typedef struct shape {
    size_t images, channels, pixels;
    bool last;
    bool zero; /* and every output is 0 */
} shape;

static prt_program *compile_model(const char *text)
{
    prt_module *m = NULL;
    prt_program *p = NULL;
    prt_pass_manager *pm = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    ck_assert_msg(prt_ir_parse(m, prt_str_of(text)) == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "inference", NULL), POPRT_OK);
    ck_assert_msg(prt_pass_manager_run(pm, m, NULL) == POPRT_OK, "%s", prt_error_last()->message);
    const prt_compile_options options = { .no_memory_sharing = false };
    ck_assert_msg(prt_compile(m, &options, &p) == POPRT_OK, "%s", prt_error_last()->message);
    prt_pass_manager_release(pm);
    prt_module_release(m);
    return p;
}

static void check_equal(const float *y, const shape *s, const char *level, const char *text)
{
    for (size_t n = 0; n < s->images; n++)
        for (size_t i = 0; i < s->pixels; i++)
            for (size_t c = 1; c < s->channels; c++) {
                const size_t image = n * s->channels * s->pixels;
                const size_t a = s->last ? image + i * s->channels : image + i;
                const size_t b = s->last ? a + c : a + c * s->pixels;
                ck_assert(!s->zero || memcmp(&y[b], &(float){ 0 }, sizeof(float)) == 0);
                if (memcmp(&y[a], &y[b], sizeof(float)) != 0)
                    ck_abort_msg("%s: channel %zu of element %zu is %.9g, channel 0 %.9g\n%s",
                        level, c, i, (double)y[b], (double)y[a], text);
            }
}

static void run_level(prt_program *p, const prt_kern *kern, const shape *s, const char *text)
{
    const prt_session_options options = { .kern = kern, .strassen = true, .bf16x3 = true };
    const prt_type *type = p->inputs[0].type;
    prt_session *session = NULL;
    prt_tensor in, out = { 0 };
    uint64_t count;
    uint32_t state = 7;
    ck_assert(prt_type_count(type, &count));
    float *data = malloc(count * sizeof(float));
    for (uint64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) / 16777216.0f - 0.4f;
    }
    ck_assert(prt_tensor_init(&in, type->dtype, (uint32_t)type->rank, type->dims, data));
    ck_assert_int_eq(prt_session_create(p, &options, &session), POPRT_OK);
    ck_assert_int_eq(prt_session_run(session, &in, &out), POPRT_OK);
    ck_assert_uint_eq(prt_tensor_count(&out), s->images * s->channels * s->pixels);
    check_equal(out.data, s, kern->level, text);
    prt_session_release(session);
    free(data);
}

static void run_levels(prt_program *p, const shape *s, const char *text)
{
    static const char *const levels[] = { "portable", "avx2", "avx512", "avx512_vnni",
        "avx512_bf16", "avx512_amx" };
    for (size_t i = 0; i < PRT_COUNT_OF(levels); i++) {
        const uint64_t level = prt_cpu_level(levels[i]);
        if ((level & prt_cpu_features()) == level)
            run_level(p, prt_kern_of(level), s, text);
    }
}

static void check_text(const char *text, shape s)
{
    prt_program *p = compile_model(text);
    run_levels(p, &s, text);
    prt_program_release(p);
}

/* `filters` equal filters of `height` x `width` on an image of `size` x `size`. */
static void check_conv(int channels, int size, int filters, int height, int width, int stride)
{
    char text[600];
    const int out_h = (size - 1) / stride + 1;
    (void)snprintf(text, sizeof(text),
        "x = input f32[1,%d,%d,%d]\nw = const f32[%d,%d,%d,%d] fill 0.0213\n"
        "y = conv x w {kernel_shape=[%d,%d],pads=[%d,%d,%d,%d],strides=[%d,%d]}\nreturn y\n",
        channels, size, size, filters, channels, height, width, height, width, height / 2,
        width / 2, height / 2, width / 2, stride, stride);
    check_text(text,
        (shape){ .images = 1,
            .channels = (size_t)filters,
            .pixels = (size_t)out_h * (size_t)out_h });
}

START_TEST(equal_filters_give_equal_channels)
{
    check_conv(64, 14, 128, 3, 3, 1); /* Winograd F(4x4, 3x3) */
    check_conv(128, 7, 128, 3, 3, 1); /* F(2x2, 3x3) */
    check_conv(32, 96, 64, 3, 3, 1);  /* F(6x6, 3x3) where a level has it */
    check_conv(64, 14, 128, 3, 3, 2);
    check_conv(48, 14, 64, 5, 5, 1);
    check_conv(64, 17, 96, 1, 7, 1);
    check_conv(64, 17, 96, 7, 1, 1);
    check_conv(3, 64, 32, 7, 7, 2);     /* a first layer */
    check_conv(64, 20, 6, 3, 3, 1);     /* few filters */
    check_conv(512, 13, 1000, 1, 1, 1); /* where Strassen's algorithm would pay */
    check_conv(768, 14, 256, 1, 1, 1);
}
END_TEST

static void check_matmul(int m, int k, int n, bool transposed, const char *value)
{
    char text[400];
    (void)snprintf(text, sizeof(text),
        "x = input f32[%d,%d]\nw = const f32[%d,%d] fill %s\n"
        "y = gemm x w {transB=%d}\nreturn y\n",
        m, k, transposed ? n : k, transposed ? k : n, value, transposed);
    check_text(text,
        (shape){ .images = 1, .channels = (size_t)n, .pixels = (size_t)m, .last = true });
}

START_TEST(equal_columns_give_equal_columns)
{
    check_matmul(128, 768, 768, false, "0.0213");
    check_matmul(128, 768, 768, true, "0.0213");
    check_matmul(197, 1024, 640, false, "-0.37");
    check_matmul(1, 1024, 640, false, "0.11");
    check_matmul(40, 512, 100, true, "0.11");
}
END_TEST

/* Pruned columns stay zero: -0.0 is a zero too. */
START_TEST(zero_columns_give_zero)
{
    enum { M = 128, K = 768, N = 256, PRUNED = 200 };
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)fprintf(f, "x = input f32[%d,%d]\nw = const f32[%d,%d] {", M, K, K, N);
    for (int k = 0; k < K; k++)
        for (int n = 0; n < N; n++)
            (void)fprintf(f, "%s%s%d.%03d", k + n != 0 ? "," : "", (k * 7 + n * 13) % 3 ? "" : "-",
                n == PRUNED ? 0 : (k + n) % 5, n == PRUNED ? 0 : (k * 31 + n * 17) % 1000);
    (void)fprintf(f,
        "}\nt = matmul x w\ns = const i64[1] {%d}\ne = const i64[1] {%d}\n"
        "a = const i64[1] {1}\ny = slice t s e a\nreturn y\n",
        PRUNED, PRUNED + 1);
    (void)fclose(f);
    prt_program *p = compile_model(text);
    const shape s = { .images = 1, .channels = M, .pixels = 1, .zero = true };
    run_levels(p, &s, "zero column");
    prt_program_release(p);
    free(text);
}
END_TEST

PRT_TEST_MAIN("fast/equal_filters", equal_filters_give_equal_channels,
    equal_columns_give_equal_columns, zero_columns_give_zero)
