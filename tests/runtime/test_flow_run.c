/* SPDX-License-Identifier: MIT */
/*
 * test_flow_run.c — runs with data flow and variables: every combination of batches, accumulation,
 * replicas, groups and return types against a loop over micro-batches; the order in which blocks
 * are asked for; what a failed run leaves. Covers: flow_sum.c, replicas.c, store.c, stream.h,
 * variable.h, weights.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "runtime/session.h"
#include "runtime/stream.h"
#include "support/check_main.h"
#include "support/program_text.h"

/* y = x * 2 + s, where s counts the micro-batches of a replica; the run stops where c is true. */
#define MODEL                                                                                      \
    "x = input f32[2]\nc = input bool[]\none = const f32[2] {1,1}\ntwo = const f32[2] {2,2}\n"     \
    "s = variable statistic f32[2] {10,20}\na = variable accumulator f32[2]\n"                     \
    "m = mul x two\ny = add m s\n= gc_abort c\nsum = add a x\nnext = add s one\n"                  \
    "a2 = gc_copy_var_update a sum\ns2 = gc_copy_var_update s next\nreturn y, a2\n"

static prt_program *program_with_flow(const char *text, const prt_compile_flow *flow)
{
    prt_module *m = NULL;
    prt_program *p = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(m, prt_str_of(text)), POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    const prt_compile_options options = { .allocator = &prt_mem_libc, .flow = flow };
    ck_assert_msg(prt_compile(m, &options, &p) == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_msg(prt_program_check(p) == POPRT_OK, "%s", prt_error_last()->message);
    prt_module_release(m);
    /* The PopEF file has the same variables and the same flow. */
    const test_bytes bytes = popef_of(p);
    prt_program *copy = NULL;
    ck_assert_msg(program_from_bytes(bytes.data, bytes.size, true, &copy) == POPRT_OK, "%s",
        prt_error_last()->message);
    free(bytes.data);
    prt_program_release(p);
    return copy;
}

enum { MOST = 512 };

/* A stream over arrays that records its calls. */
typedef struct source {
    const prt_flow *flow;
    float x[MOST][2], y[MOST][2], a[MOST][2];
    int64_t asked, completed, stop_at;
    bool no, yes;
    prt_anchor anchor;
    char calls[2048];
    bool slow; /* the second block is "not yet" at its first prefetch */
} source;

static void record(source *s, const char *what, const prt_stream_block *b)
{
    const size_t at = strlen(s->calls);
    if (b->index == 0 && at + 32 < sizeof(s->calls))
        (void)snprintf(s->calls + at, sizeof(s->calls) - at, "%s%lld.%u ", what, (long long)b->step,
            b->replica);
}

static poprt_status next_input(void *user, const prt_stream_block *b, bool prefetch,
    prt_tensor *out)
{
    source *s = user;
    const int64_t two = 2;
    if (b->index == 1) {
        const bool stops = b->step == s->stop_at;
        ck_assert(prt_tensor_init(out, PRT_DTYPE_bool, 0, NULL, stops ? &s->yes : &s->no));
        return POPRT_OK;
    }
    record(s, prefetch ? "i" : "I", b);
    if (prefetch && s->slow && b->step == 1) {
        s->slow = false;
        return POPRT_OK;
    }
    const int64_t k = prt_flow_block_in(s->flow, b->broadcast, b->step, b->replica);
    ck_assert_int_eq(k, s->asked++); /* in order, every block once */
    ck_assert(prt_tensor_init(out, PRT_DTYPE_f32, 1, &two, s->x[k]));
    return POPRT_OK;
}

static void input_done(void *user, const prt_stream_block *b)
{
    source *s = user;
    s->completed += b->index == 0;
    record(s, "c", b);
}

static poprt_status next_output(void *user, const prt_stream_block *b, prt_tensor *out)
{
    source *s = user;
    const int64_t two = 2;
    const prt_anchor last = { PRT_ANCHOR_final, 1 };
    const int64_t k =
        prt_flow_block_out(s->flow, b->index == 0 ? &s->anchor : &last, b->step, b->replica);
    ck_assert(prt_tensor_init(out, PRT_DTYPE_f32, 1, &two, b->index == 0 ? s->y[k] : s->a[k]));
    return POPRT_OK;
}

static poprt_status output_done(void *user, const prt_stream_block *b, const prt_tensor *value)
{
    (void)user;
    (void)b;
    ck_assert_uint_eq(value->size, 8);
    return POPRT_OK;
}

static prt_stream stream_of(source *s)
{
    return (prt_stream){ s, next_input, input_done, next_output, output_done };
}

enum { MAX_INPUTS = 4 };

static prt_session *session_of(prt_program *p, uint32_t depth)
{
    const uint32_t depths[MAX_INPUTS] = { depth, depth, depth, depth };
    const prt_session_options options = { .buffering_depths = depths };
    prt_session *s = NULL;
    ck_assert_uint_le(p->n_inputs, MAX_INPUTS);
    ck_assert_msg(prt_session_create(p, &options, &s) == POPRT_OK, "%s", prt_error_last()->message);
    return s;
}

/* What the run must return, by one loop over all micro-batches. */
static void compare(const source *s, bool broadcast)
{
    const prt_flow *f = s->flow;
    float sums[MOST][2] = { { 0 } }, acc[MOST][2] = { { 0 } };
    const int64_t n = f->batches * f->accumulation;
    int64_t next = 0;
    for (int64_t step = 0; step < n; step++) {
        if (step % f->accumulation == 0)
            memset(acc, 0, sizeof(acc));
        for (int64_t r = 0; r < f->replicas; r++) {
            const int64_t k = prt_flow_block_in(f, broadcast, step, r);
            const bool one = s->anchor.mode == PRT_ANCHOR_final || s->anchor.mode == PRT_ANCHOR_sum;
            const bool wanted =
                one ? step + 1 == n : (step / f->accumulation + 1) % s->anchor.period == 0;
            for (int i = 0; i < 2; i++) {
                const float y = s->x[k][i] * 2 + (float)(10 + 10 * i) + (float)step;
                sums[r][i] += y;
                acc[r][i] += s->x[k][i];
                if (wanted)
                    ck_f32(s->y[next][i], s->anchor.mode == PRT_ANCHOR_sum ? sums[r][i] : y);
                if (step + 1 == n)
                    ck_f32(s->a[r][i], acc[r][i]);
            }
            next += wanted;
        }
    }
    ck_assert_int_eq(next, prt_flow_blocks_out(f, &s->anchor));
}

static void run_one(const prt_flow *f, const prt_anchor *anchor, bool broadcast)
{
    const prt_str names[2] = { PRT_STR("y"), PRT_STR("a2") }, x = PRT_STR("x");
    const prt_anchor anchors[2] = { *anchor, { PRT_ANCHOR_final, 1 } };
    const prt_compile_flow flow = { .flow = *f,
        .n_broadcast = broadcast,
        .broadcast = &x,
        .n_anchors = 2,
        .anchor_names = names,
        .anchors = anchors,
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 } };
    prt_program *p = program_with_flow(MODEL, &flow);
    prt_session *s = session_of(p, (uint32_t)f->batches % 4 + 1);
    source *data = calloc(1, sizeof(*data));
    ck_assert_ptr_nonnull(data);
    for (int i = 0; i < 2 * MOST; i++)
        data->x[i / 2][i % 2] = (float)((i * 7) % 23);
    data->yes = true;
    data->flow = f;
    data->stop_at = -1;
    data->anchor = *anchor;
    const prt_stream io = stream_of(data);
    ck_assert_msg(prt_session_run_flow(s, &io) == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_int_eq(data->asked, prt_flow_blocks_in(f, broadcast));
    ck_assert_int_eq(data->completed, data->asked);
    compare(data, broadcast);
    prt_tensor w;
    ck_assert_int_eq(prt_session_weight(s, PRT_STR("s"), &w), POPRT_OK);
    ck_f32(((float *)w.data)[0], 10 + (float)(f->batches * f->accumulation));
    free(data);
    prt_session_release(s);
    prt_program_release(p);
}

START_TEST(every_combination_agrees_with_a_loop)
{
    for (int64_t b = 1; b <= 4; b++)
        for (int64_t a = 1; a <= 3; a++)
            for (int64_t r = 1; r <= 4; r++)
                for (uint32_t mode = 0; mode < PRT_ANCHOR_MODE_COUNT; mode++) {
                    const prt_anchor anchor = { mode,
                        mode == PRT_ANCHOR_everyn && b % 2 == 0 ? 2 : 1 };
                    const prt_flow f = { b, a, r, r % 2 == 0 ? 2 : 1, (uint32_t)(b % 2),
                        PRT_REDUCTION_sum };
                    run_one(&f, &anchor, (a + r + mode) % 3 == 0);
                }
}
END_TEST

START_TEST(blocks_are_asked_for_ahead)
{
    const prt_flow f = { 6, 1, 1, 1, 0, 0 };
    const prt_compile_flow flow = { .flow = f,
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 } };
    prt_program *p = program_with_flow(MODEL, &flow);
    static const char *const expected[] = {
        "I0.0 c0.0 I1.0 c1.0 I2.0 c2.0 I3.0 c3.0 I4.0 c4.0 I5.0 c5.0 ",
        "I0.0 i1.0 c0.0 i1.0 i2.0 c1.0 i3.0 c2.0 i4.0 c3.0 i5.0 c4.0 c5.0 ",
        "I0.0 i1.0 i2.0 c0.0 i3.0 c1.0 i4.0 c2.0 i5.0 c3.0 c4.0 c5.0 "
    };
    for (uint32_t depth = 1; depth <= 3; depth++) {
        source *data = calloc(1, sizeof(*data));
        prt_session *s = session_of(p, depth);
        ck_assert_ptr_nonnull(data);
        data->flow = &f;
        data->stop_at = -1;
        data->slow = depth == 2;
        data->anchor = (prt_anchor){ PRT_ANCHOR_all, 1 };
        const prt_stream io = stream_of(data);
        ck_assert_int_eq(prt_session_run_flow(s, &io), POPRT_OK);
        if (depth != 2)
            ck_assert_str_eq(data->calls, expected[depth - 1]);
        else /* the second block did not come when it was prefetched */
            ck_assert_str_eq(data->calls,
                "I0.0 i1.0 c0.0 I1.0 i2.0 c1.0 i3.0 c2.0 i4.0 c3.0 i5.0 c4.0 c5.0 ");
        prt_session_release(s);
        free(data);
    }
    prt_program_release(p);
}
END_TEST

START_TEST(a_failed_run_leaves_the_last_update)
{
    const prt_flow f = { 4, 2, 2, 1, 0, 0 };
    const prt_compile_flow flow = { .flow = f,
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 } };
    prt_program *p = program_with_flow(MODEL, &flow);
    for (int64_t stop = 0; stop < 8; stop++) {
        prt_session *s = session_of(p, 1);
        source *data = calloc(1, sizeof(*data));
        prt_tensor w;
        ck_assert_ptr_nonnull(data);
        data->flow = &f;
        data->stop_at = stop;
        data->yes = true;
        data->anchor = (prt_anchor){ PRT_ANCHOR_all, 1 };
        const prt_stream io = stream_of(data);
        ck_assert_int_eq(prt_session_run_flow(s, &io), POPRT_E_STATE);
        ck_assert_int_eq(prt_session_weight(s, PRT_STR("s"), &w), POPRT_OK);
        ck_f32(((float *)w.data)[1], 20 + (float)(stop / 2 * 2));
        data->stop_at = -1;
        data->asked = 0;
        ck_assert_int_eq(prt_session_run_flow(s, &io), POPRT_OK);
        ck_assert_int_eq(prt_session_weight(s, PRT_STR("s"), &w), POPRT_OK);
        ck_f32(((float *)w.data)[1], 28 + (float)(stop / 2 * 2));
        prt_session_release(s);
        free(data);
    }
    prt_program_release(p);
}
END_TEST

START_TEST(variables_are_read_and_written_by_name)
{
    prt_program *p = program_from_text(MODEL);
    prt_session *s = session_of(p, 1);
    prt_tensor in[2], out[2] = { { 0 }, { 0 } }, w;
    float x[2] = { 1, 2 }, fresh[2] = { 100, 200 };
    bool stop = false;
    const int64_t two = 2;
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 1, &two, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_bool, 0, NULL, &stop));
    ck_assert_int_eq(prt_session_run(s, in, out), POPRT_OK);
    ck_f32(((float *)out[0].data)[1], 24);
    ck_assert(prt_tensor_init(&w, PRT_DTYPE_f32, 1, &two, fresh));
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("s"), &w), POPRT_OK);
    out[0] = out[1] = (prt_tensor){ 0 };
    ck_assert_int_eq(prt_session_run(s, in, out), POPRT_OK);
    ck_f32(((float *)out[0].data)[1], 204);
    ck_assert_int_eq(prt_session_weight(s, PRT_STR("s"), &w), POPRT_OK);
    ck_f32(((float *)w.data)[1], 201);
    const int64_t three = 3;
    ck_assert(prt_tensor_init(&w, PRT_DTYPE_f32, 1, &three, fresh));
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("s"), &w), POPRT_E_SHAPE);
    ck_assert_int_eq(prt_session_weight(s, PRT_STR("nothing"), &w), POPRT_E_NOT_FOUND);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

PRT_TEST_MAIN("runtime/flow_run", every_combination_agrees_with_a_loop, blocks_are_asked_for_ahead,
    a_failed_run_leaves_the_last_update, variables_are_read_and_written_by_name)
