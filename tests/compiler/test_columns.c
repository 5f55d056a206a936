/* SPDX-License-Identifier: MIT */
/* test_columns.c — values written as columns of a concatenation, or read as columns of a split. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "kern/kern.h"
#include "op/internal/nhwc.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/nhwc_text.h"
#include "support/program_text.h"

#define POOL " {kernel_shape=[3,3],pads=[1,1,1,1]}\n"

static uint32_t index_of(const prt_block *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (prt_str_is(b->buffers[i].name, name))
            return i;
    ck_abort_msg("no buffer %s", name);
    return 0;
}

static void ck_columns(const prt_program *p, const char *name, const char *in, size_t offset)
{
    const prt_block *block = &p->blocks[0];
    const prt_buffer *b = &block->buffers[index_of(block, name)];
    ck_assert_msg(b->space == PRT_SPACE_COLUMNS, "%s is in space %u", name, b->space);
    ck_assert_uint_eq(b->ref, index_of(block, in));
    ck_assert_uint_eq(b->offset, offset);
}

static void ck_unmerged(const prt_program *p, const char *name)
{
    const prt_block *block = &p->blocks[0];
    ck_assert_uint_ne(block->buffers[index_of(block, name)].space, PRT_SPACE_COLUMNS);
}

START_TEST(concat_inputs_are_written_as_columns)
{
    prt_program *p = program_from_text(
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x" POOL "b = nhwc_average_pool a" POOL
        "c = concat a b {axis=3}\nd = nhwc_max_pool c" POOL "e = concat c d {axis=-1}\n"
        "f = nhwc_max_pool e" POOL "return f\n");
    ck_columns(p, "a", "e", 0);
    ck_columns(p, "b", "e", 32);
    ck_columns(p, "c", "e", 0);
    ck_columns(p, "d", "e", 64);
    ck_assert_uint_eq(p->blocks[0].plan_size, 4 * 4 * 32 * 4);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
    p = program_from_text(/* in the caller's memory */
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x" POOL "y = concat x a {axis=3}\nreturn y\n");
    ck_columns(p, "a", "y", 32);
    prt_program_release(p);
}
END_TEST

START_TEST(split_outputs_stay_columns)
{
    prt_program *p = program_from_text(
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x" POOL "b, c = split a {axis=3}\n"
        "d = nhwc_max_pool c" POOL "e = concat b c d {axis=3}\nf = nhwc_max_pool e" POOL
        "return f\n");
    ck_columns(p, "a", "e", 0);
    ck_columns(p, "b", "e", 0);
    ck_columns(p, "c", "e", 16);
    ck_columns(p, "d", "e", 32);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
    p = program_from_text(/* not in that order */
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x" POOL "b, c = split a {axis=3}\n"
        "d = nhwc_max_pool c" POOL "e = concat c b d {axis=3}\nf = nhwc_max_pool e" POOL
        "return f\n");
    ck_unmerged(p, "a");
    prt_program_release(p);
}
END_TEST

START_TEST(empty_values_get_no_columns)
{
    prt_program *p = program_from_text(/* a is all of x and b is empty, as in RotaryEmbedding */
        "x = input f32[1,4,4,8]\nr = nhwc_max_pool x" POOL "n = const i64[2] {8,0}\n"
        "a, b = split r n {axis=3}\nc = nhwc_max_pool a" POOL "d = concat c b {axis=3}\n"
        "e = nhwc_max_pool d" POOL "return e, a\n");
    ck_unmerged(p, "b");
    ck_columns(p, "c", "d", 0);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
}
END_TEST

START_TEST(operators_without_strides_get_no_columns)
{
    prt_program *p = program_from_text(
        "x = input f32[1,4,4,8]\na = nhwc_max_pool x" POOL "s = softmax a\nb = nhwc_max_pool a" POOL
        "c = concat a b b s {axis=3}\nd = nhwc_max_pool c" POOL "return d, s\n");
    ck_unmerged(p, "a"); /* Softmax reads it */
    ck_unmerged(p, "s");
    ck_columns(p, "b", "c", 32); /* the first time; its second place gets a copy */
    prt_program_release(p);
    p = program_from_text(/* a body reads it, and it is an output */
        "x = input f32[1,4,4,8]\nt = input bool[]\na = nhwc_max_pool x" POOL
        "b = nhwc_max_pool a" POOL "c = concat a b {axis=3}\ny = if t {\n"
        "  then_branch {\n    u = neg a\n    return u\n  }\n"
        "  else_branch {\n    w = abs a\n    return w\n  }\n}\nz = nhwc_max_pool c" POOL
        "return y, z, b\n");
    ck_unmerged(p, "a");
    ck_unmerged(p, "b");
    prt_program_release(p);
}
END_TEST

/* Each run infers the shapes of a step with a replaced weight. */
START_TEST(columns_survive_replaced_weights)
{
    char text[4096];
    int at = snprintf(text, sizeof(text), "x = input f32[1,2,2,4]\nk = const f32[64] {0");
    for (int i = 1; i < 64; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, ",%d", i % 7 - 3);
    (void)snprintf(text + at, sizeof(text) - (size_t)at,
        "}\na = nhwc_conv x k {channels=4,filters=4,kernel_shape=[1,1]}\n"
        "b = nhwc_conv a k {channels=4,filters=4,kernel_shape=[1,1]}\n"
        "c = concat a b {axis=3}\nd = nhwc_max_pool c" POOL "return d\n");
    prt_program *programs[2] = { program_without_sharing(text), program_from_text(text) };
    ck_columns(programs[1], "a", "c", 0);
    float x[16], w[64], *results[2];
    for (int i = 0; i < 16; i++)
        x[i] = (float)(i * i % 11) - 5.0f;
    for (int i = 0; i < 64; i++)
        w[i] = (float)(i % 5) - 2.0f;
    for (int i = 0; i < 2; i++) {
        prt_session *s = NULL;
        prt_tensor in, weight, out = { 0 };
        ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 4, (const int64_t[]){ 1, 2, 2, 4 }, x));
        ck_assert(prt_tensor_init(&weight, PRT_DTYPE_f32, 1, (const int64_t[]){ 64 }, w));
        const prt_session_options options = { .kern = prt_kern_of(prt_cpu_features()) };
        ck_assert_int_eq(prt_session_create(programs[i], &options, &s), POPRT_OK);
        ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
        ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("k"), &weight), POPRT_OK);
        for (int k = 0; k < 2; k++) {
            out = (prt_tensor){ 0 };
            const poprt_status status = prt_session_run(s, &in, &out);
            ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
        }
        ck_assert_uint_eq(out.size, 128);
        results[i] = malloc(out.size);
        memcpy(results[i], out.data, out.size);
        prt_session_release(s);
        prt_program_release(programs[i]);
    }
    ck_assert_mem_eq(results[0], results[1], 128);
    free(results[0]);
    free(results[1]);
}
END_TEST

/* ---- the same values */

enum { SIDE = 6, CHANNELS = 16, WEIGHTS = 40000, MOST = 40, PIXELS = SIDE * SIDE };

static uint32_t state;

static uint32_t random_below(uint32_t n)
{
    return nhwc_random(&state, n);
}

/* Values are v0, v1 …: [1, side, side, channels]; v0 is the input or its quantised form. */
typedef struct graph {
    bool bytes;
    char text[32768];
    size_t size;
    uint32_t count, channels[MOST + 2], side[MOST + 2];
} graph;

PRT_PRINTF(2, 3) static void put(graph *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(g->text + g->size, sizeof(g->text) - g->size, format, args);
    va_end(args);
    ck_assert_int_gt(n, 0);
    g->size += (size_t)n;
    ck_assert_uint_lt(g->size, sizeof(g->text));
}

static void add_value(graph *g, uint32_t channels, uint32_t side)
{
    g->channels[g->count] = channels;
    g->side[g->count++] = side;
}

/* Writes the first `count` weights. */
static void put_weights(graph *g, char name, uint32_t count)
{
    ck_assert_uint_le(count, WEIGHTS);
    put(g, "e%c%u = const i64[1] {%u}\n%c%u = slice w z e%c%u\n", name, g->count, count, name,
        g->count, name, g->count);
}

static void put_conv(graph *g, uint32_t x)
{
    static const char *const forms[] = { "panels", "panels", "winograd", "winograd2" };
    static const uint32_t filters[] = { 4, 16, 20, 32 };
    const uint32_t c = g->channels[x], f = filters[random_below(4)], k = random_below(4);
    uint32_t r = random_below(g->count);
    put_weights(g, 'k', (uint32_t)nhwc_weights_count(forms[k], 1, (int)c, (int)f, k == 0 ? 1 : 9));
    put(g, "v%u = nhwc_conv v%u k%u", g->count, x, g->count);
    if (g->channels[r] == f && g->side[r] == g->side[x])
        put(g, " _ v%u", r);
    put(g, " {form=\"%s\",channels=%u,filters=%u,%s,activation=\"%s\"}\n", forms[k], c, f,
        k == 0 ? "kernel_shape=[1,1]" : "kernel_shape=[3,3],pads=[1,1,1,1]",
        random_below(2) == 0 ? "Relu" : "Sigmoid");
    add_value(g, f, g->side[x]);
}

static void put_qconv(graph *g, uint32_t x)
{
    static const uint32_t filters[] = { 4, 7, 20, 33 };
    const uint32_t c = g->channels[x], n = g->count, f = filters[random_below(4)];
    const bool taps = random_below(3) == 0, wide = taps || random_below(2) == 0;
    const prt_nhwc_weights layout = { .algorithm = taps ? PRT_NHWC_taps : PRT_NHWC_panels,
        .group = taps ? c : 1,
        .channels = taps ? 1 : c,
        .filters = taps ? 1 : f,
        .taps = wide ? 9 : 1 };
    size_t count;
    ck_assert(prt_nhwc_qconv_size(&layout, &count));
    put_weights(g, 'k', (uint32_t)count);
    put(g,
        "q%u = quantize_linear k%u ws wz\nb%u = const i32[%u] fill %d\n"
        "s%u = const f64[%u] fill 0.002\nv%u = nhwc_qconv v%u q%u b%u s%u xz xz "
        "{form=\"%s\",group=%zu,channels=%zu,filters=%zu,%s}\n",
        n, n, n, taps ? c : f, (int)random_below(900), n, taps ? c : f, n, x, n, n, n,
        taps ? "taps" : "panels", layout.group, layout.channels, layout.filters,
        wide ? "kernel_shape=[3,3],pads=[1,1,1,1]" : "kernel_shape=[1,1]");
    add_value(g, taps ? c : f, g->side[x]);
}

static void put_join(graph *g, uint32_t x, uint32_t n)
{
    uint32_t in[4] = { x }, sum = g->channels[x];
    for (uint32_t i = 1; i < n; i++) {
        in[i] = random_below(g->count);
        sum += g->channels[in[i]];
        if (g->side[in[i]] != g->side[x])
            return;
    }
    if (sum > 96)
        return;
    put(g, "v%u = concat", g->count);
    for (uint32_t i = 0; i < n; i++)
        put(g, " v%u", in[i]);
    put(g, " {axis=3}\n");
    add_value(g, sum, g->side[x]);
}

static void put_split(graph *g, uint32_t x)
{
    if (g->channels[x] % 2 != 0)
        return;
    put(g, "v%u, v%u = split v%u {axis=3}\n", g->count, g->count + 1, x);
    for (int i = 0; i < 2; i++)
        add_value(g, g->channels[x] / 2, g->side[x]);
}

/* Like add_operator, for bytes. */
static void add_byte_operator(graph *g)
{
    const uint32_t x = random_below(g->count), n = g->count;
    switch (random_below(10)) {
    case 0:
    case 1:
    case 2:
        put_qconv(g, x);
        break;
    case 3:
        put(g, "v%u = byte_table v%u table\n", n, x);
        add_value(g, g->channels[x], g->side[x]);
        break;
    case 4:
        put(g, "v%u = nhwc_max_pool v%u" POOL, n, x);
        add_value(g, g->channels[x], g->side[x]);
        break;
    case 5: /* does not support strides */
        put(g, "v%u = quantized_add v%u one xz v%u one xz one xz\n", n, x, x);
        add_value(g, g->channels[x], g->side[x]);
        break;
    case 6:
        put_split(g, x);
        break;
    default:
        put_join(g, x, 2 + random_below(3));
        break;
    }
}

/* Adds one operator on existing values; some choices add nothing. */
static void add_operator(graph *g)
{
    const uint32_t x = random_below(g->count), c = g->channels[x], side = g->side[x], n = g->count;
    switch (random_below(14)) {
    case 0:
    case 1:
    case 2:
        put_conv(g, x);
        break;
    case 3:
        put_weights(g, 'k', c);
        put(g, "v%u = nhwc_conv v%u k%u {form=\"taps\",group=%u,kernel_shape=[1,1]}\n", n, x, n, c);
        add_value(g, c, side);
        break;
    case 4:
        put_weights(g, 'k', c);
        put_weights(g, 'l', 32 * c);
        put(g,
            "v%u = nhwc_separable v%u k%u _ _ _ l%u {hidden=%u,filters=24,"
            "kernel_shape=[1,1],activation1=\"Relu\"}\n",
            n, x, n, n, c);
        add_value(g, 24, side);
        break;
    case 5:
        put(g, "v%u = nhwc_%s_pool v%u" POOL, n, random_below(2) == 0 ? "max" : "average", x);
        add_value(g, c, side);
        break;
    case 6:
        if (side == SIDE)
            put(g, "v%u = nhwc_max_pool v%u {kernel_shape=[2,2],strides=[2,2]}\n", n, x);
        else {
            const uint32_t f = random_below(2) == 0 ? 16 : 12;
            put_weights(g, 'k', 2 * (uint32_t)prt_nhwc_panels_width(2 * f) * c);
            put(g, "v%u = nhwc_spread v%u k%u {filters=%u,kernel_shape=[2,2]}\n", n, x, n, f);
            add_value(g, f, SIDE);
            return;
        }
        add_value(g, c, SIDE / 2);
        break;
    case 7:
        put(g, "v%u = neg v%u\n", n, x);
        add_value(g, c, side);
        break;
    case 8:
    case 9:
        put_split(g, x);
        break;
    default:
        put_join(g, x, 2 + random_below(3));
        break;
    }
}

static float x_data[PIXELS * CHANNELS], w_data[WEIGHTS];

static prt_session *run(prt_program *p, const prt_kern *kern, prt_tensor *out)
{
    const prt_session_options options = { .kern = kern };
    prt_tensor in[2];
    prt_session *s = NULL;
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 4,
        (const int64_t[]){ 1, SIDE, SIDE, CHANNELS }, x_data));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 1, (const int64_t[]){ WEIGHTS }, w_data));
    poprt_status status = prt_session_create(p, &options, &s);
    for (int k = 0; status == POPRT_OK && k < 2; k++) {
        memset(out, 0, p->n_outputs * sizeof(*out));
        status = prt_session_run(s, in, out);
    }
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    return s;
}

static void ck_same(const char *text)
{
    prt_program *unshared = program_without_sharing(text), *shared = program_from_text(text),
                *read = NULL;
    if (prt_program_check(shared) != POPRT_OK)
        ck_abort_msg("%s\n%s", prt_error_last()->message, text);
    const test_bytes file = popef_of(shared);
    ck_assert_int_eq(program_from_bytes(file.data, file.size, true, &read), POPRT_OK);
    const prt_kern *const levels[] = { NULL, prt_kern_of(0), prt_kern_of(prt_cpu_features()) };
    for (size_t k = 0; k < PRT_COUNT_OF(levels); k++) {
        prt_tensor want[4], got[4];
        prt_session *s = run(unshared, levels[k], want);
        prt_session *t = run(k == 0 ? read : shared, levels[k], got);
        for (uint32_t i = 0; i < unshared->n_outputs; i++)
            if (want[i].size != got[i].size || memcmp(want[i].data, got[i].data, want[i].size) != 0)
                ck_abort_msg("level %zu, output %u of\n%s", k, i, text);
        prt_session_release(s);
        prt_session_release(t);
    }
    prt_program_release(unshared);
    prt_program_release(shared);
    prt_program_release(read);
    free(file.data);
}

static size_t count_columns(const char *text)
{
    prt_program *p = program_from_text(text);
    size_t n = 0;
    for (uint32_t i = 0; i < p->blocks[0].n_buffers; i++)
        n += p->blocks[0].buffers[i].space == PRT_SPACE_COLUMNS;
    prt_program_release(p);
    return n;
}

START_TEST(values_do_not_depend_on_columns)
{
    size_t columns[2] = { 0, 0 };
    for (size_t i = 0; i < PRT_COUNT_OF(x_data); i++)
        x_data[i] = (float)(i * i % 31) / 16.0f - 1.0f;
    for (size_t i = 0; i < WEIGHTS; i++)
        w_data[i] = (float)(i * 7 % 23) / 64.0f - 0.17f;
    for (uint32_t seed = 0; seed < 400; seed++) {
        graph g = { .bytes = seed % 4 == 3 };
        state = seed;
        put(&g, "%s = input f32[1,6,6,16]\nw = input f32[40000]\nz = const i64[1] {0}\n",
            g.bytes ? "x" : "v0");
        if (g.bytes)
            put(&g,
                "one = const f32[] {1}\nxz = const u8[] {9}\nxs = const f32[] {0.01}\n"
                "v0 = quantize_linear x xs xz\nws = const f32[] {0.002}\n"
                "wz = const i8[] {0}\nt0 = const u8[256] fill 7\nt1 = const i64[4] {0,9,30,8}\n"
                "t2 = const u8[4] {200,20,30,40}\ntable = scatter_elements t0 t1 t2\n");
        add_value(&g, CHANNELS, SIDE);
        for (uint32_t tries = 6 + random_below(30); tries > 0 && g.count < MOST; tries--)
            g.bytes ? add_byte_operator(&g) : add_operator(&g);
        put(&g, "return v%u", g.count - 1);
        for (uint32_t i = g.count > 2 ? random_below(3) : 0; i > 0; i--)
            put(&g, ", v%u", 1 + random_below(g.count - 2));
        put(&g, "\n");
        if (g.count < 3)
            continue;
        columns[g.bytes] += count_columns(g.text);
        ck_same(g.text);
    }
    ck_assert_uint_gt(columns[0], 300);
    ck_assert_uint_gt(columns[1], 100);
}
END_TEST

PRT_TEST_MAIN("compiler/columns", concat_inputs_are_written_as_columns, split_outputs_stay_columns,
    empty_values_get_no_columns, operators_without_strides_get_no_columns,
    columns_survive_replaced_weights, values_do_not_depend_on_columns)
