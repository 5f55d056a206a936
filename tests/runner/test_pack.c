/* SPDX-License-Identifier: MIT */
/*
 * test_pack.c — packed samples have the results of each sample alone, for every algorithm.
 * Covers: pack.c.
 */
#include <math.h>
#include <pthread.h>

#include "poprt/builder_ops.h"
#include "runner_test.h"

enum { ROWS = 2, LENGTH = 32, SAMPLES = 12, NAMES = 4, OUTPUTS = 2 };

#define QA PRT_TEST_DATA "/qa/model.onnx"
#define END "runner_type", "pack", "timeout_microseconds", "1000000"
#define ROW END, "disable_data_across_rows", "true", "mask_name", "attention_mask"
#define PADDED                                                                                     \
    "enable_padding_remove", "true", "mask_name", "attention_mask", "dynamic_group",               \
        "token_type_ids,position_ids"

static const char *const names[NAMES] = { "input_ids", "attention_mask", "token_type_ids",
    "position_ids" };
static const char *const outputs[OUTPUTS] = { "start_logits", "end_logits" };

/* A sample of the model of tests/fixtures/qa, with as many tokens as it has, or padded. */
typedef struct sample {
    size_t tokens;
    int64_t data[NAMES][LENGTH];
    float found[OUTPUTS][LENGTH + 1], expected[OUTPUTS][LENGTH];
    poprt_named_tensor in[NAMES], out[OUTPUTS];
    poprt_runner_call call;
} sample;

static void sample_init(sample *s, size_t tokens, uint32_t seed)
{
    *s = (sample){ .tokens = tokens };
    for (size_t i = 0; i < tokens; i++) {
        seed = seed * 1664525u + 1013904223u;
        s->data[0][i] = (int64_t)(seed >> 24) % 40;
        s->data[1][i] = 1;
        s->data[2][i] = i >= tokens / 3;
        s->data[3][i] = (int64_t)i;
    }
    for (size_t i = 0; i < NAMES; i++)
        s->in[i] = (poprt_named_tensor){ names[i],
            { .data = s->data[i], .size = 8 * tokens, .dtype = POPRT_DTYPE_INT64 } };
    for (size_t i = 0; i < OUTPUTS; i++) {
        s->found[i][LENGTH] = 77;
        s->out[i] = (poprt_named_tensor){ outputs[i],
            { .data = s->found[i], .size = 4 * LENGTH, .dtype = POPRT_DTYPE_FLOAT32 } };
    }
    s->call = (poprt_runner_call){ .struct_size = sizeof(s->call),
        .inputs = s->in,
        .n_inputs = NAMES,
        .outputs = s->out,
        .n_outputs = OUTPUTS };
}

static void sample_pad(sample *s)
{
    for (size_t i = 0; i < NAMES; i++)
        s->in[i].tensor.size = 8 * LENGTH;
}

/* Loads the model, applies a pass and compiles it for ROWS rows. NULL: no pass, one row. */
static poprt_executable *compile_qa(const char *pass, const poprt_pass_arg *args, size_t n)
{
    const int64_t dims[] = { pass != NULL ? ROWS : 1, LENGTH };
    poprt_model *model = NULL;
    poprt_pass_manager *passes = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, QA, NULL, &model));
    for (size_t i = 0; i < NAMES; i++)
        ck_assert_ok(poprt_model_set_input_shape(model, names[i], dims, 2));
    if (pass != NULL) {
        ck_assert_ok(poprt_pass_manager_create(NULL, &passes));
        ck_assert_ok(poprt_pass_manager_add_args(passes, pass, args, n));
        ck_assert_ok(poprt_pass_manager_run(passes, model));
        poprt_pass_manager_release(passes);
    }
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    return exec;
}

static poprt_executable *compile_packed(void)
{
    static const poprt_pass_arg args[] = { { "max_valid_num", "8" }, { "segment_max_size", "32" } };
    return compile_qa("packed_transformer", args, 2);
}

static poprt_executable *compile_masked(void)
{
    return compile_qa("insert_attention_mask", NULL, 0);
}

/* Makes samples of 1 to 32 tokens with the results of the original model. */
static sample *make_samples(void)
{
    static const size_t tokens[SAMPLES] = { 20, 20, 12, 12, 32, 1, 7, 31, 5, 16, 16, 3 };
    static sample samples[SAMPLES];
    poprt_executable *plain = compile_qa(NULL, NULL, 0);
    poprt_runner *runner = OPEN_RUNNER(plain, "runner_type", "light");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        sample_init(&samples[i], tokens[i], 1000 + i);
        sample_pad(&samples[i]);
        ck_assert_ok(poprt_runner_execute(runner, &samples[i].call));
        memcpy(samples[i].expected[0], samples[i].found[0], sizeof(samples[i].expected[0]));
        memcpy(samples[i].expected[1], samples[i].found[1], sizeof(samples[i].expected[1]));
        const size_t n = samples[i].tokens;
        for (size_t k = 0; k < NAMES; k++)
            samples[i].in[k].tensor.size = 8 * n;
        memset(samples[i].found, 0, sizeof(samples[i].found));
        samples[i].found[0][LENGTH] = samples[i].found[1][LENGTH] = 77;
    }
    poprt_runner_release(runner);
    poprt_executable_release(plain);
    return samples;
}

static void check_sample(const sample *s, size_t index)
{
    for (size_t k = 0; k < OUTPUTS; k++) {
        float largest = 0;
        for (size_t i = 0; i < s->tokens; i++)
            largest = fmaxf(largest, fabsf(s->expected[k][i]));
        for (size_t i = 0; i < s->tokens; i++)
            ck_assert_msg(fabsf(s->found[k][i] - s->expected[k][i]) <= 1e-5f * largest,
                "sample %zu, output %zu, token %zu: %g, expected %g", index, k, i,
                (double)s->found[k][i], (double)s->expected[k][i]);
        ck_assert_float_eq(s->found[k][LENGTH], 77);
    }
}

/* Runs all samples through a runner; returns the number of packs. */
static uint64_t run_samples(poprt_executable *exec, const char *const *pairs, bool padded)
{
    sample *samples = make_samples();
    poprt_request *request[SAMPLES];
    poprt_runner *runner = open_runner(exec, pairs);
    ck_assert_int_eq(poprt_runner_kind(runner), POPRT_RUNNER_PACK);
    for (size_t i = 0; i < SAMPLES; i++) {
        if (padded)
            sample_pad(&samples[i]);
        ck_assert_ok(
            poprt_runner_submit(runner, &samples[i].call, POPRT_WAIT_FOREVER, &request[i]));
    }
    ck_assert_ok(poprt_runner_drain(runner));
    for (size_t i = 0; i < SAMPLES; i++) {
        ck_assert_int_eq(poprt_request_wait(request[i], 0), 1);
        ck_assert_ok(poprt_request_result(request[i]));
        poprt_request_release(request[i]);
        check_sample(&samples[i], i);
    }
    const poprt_runner_stats stats = stats_of(runner);
    ck_assert_uint_eq(stats.rows, SAMPLES);
    poprt_runner_release(runner);
    return stats.batches;
}
#define RUN_SAMPLES(exec, padded, ...)                                                             \
    run_samples(exec, (const char *const[]){ __VA_ARGS__, NULL }, padded)

/* 175 tokens in packs of 64: 20 20 12 12 | 32 1 7 | 31 5 16 | 16 3, as a sample never waits for a
 * smaller one behind it. */
START_TEST(samples_follow_each_other_across_rows)
{
    poprt_executable *exec = compile_packed();
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, END), 4);
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, END, "dynamic_input_name", "position_ids",
                          "unpack_info_input_name", "unpack_info", "max_valid_num", "8",
                          "runner_sessions", "2"),
        4);
    /* Packs of at most two samples. */
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, END, "max_valid_num", "2"), 6);
    poprt_executable_release(exec);
}
END_TEST

/* With one sample a row, the gap behind each takes an entry of unpack_info. */
START_TEST(gaps_between_samples_have_lengths)
{
    poprt_executable *exec = compile_packed();
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "delimiter_num", "32"), SAMPLES / ROWS);
    poprt_executable_release(exec);
}
END_TEST

/* y = -x with x [16]: two rows of 8 tokens in one dimension. */
START_TEST(rows_and_tokens_may_be_one_dimension)
{
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 1, { 16 } };
    static const size_t tokens[] = { 5, 8, 3, 1 };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[4][8] = { { 0 } };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    ck_assert_ok(
        poprt_builder_output(b, poprt_op_neg(b, poprt_builder_input(b, "x", &type, NULL), NULL)));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_runner *runner = OPEN_RUNNER(exec, END, "compile_batch_size", "2");
    poprt_runner_io out = { .struct_size = sizeof(out) };
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_OUTPUT, 0, &out));
    ck_assert_int_eq(out.dims[0], 8);
    for (size_t i = 0; i < 4; i++) {
        const poprt_named_tensor in = { "x", { x, 4 * tokens[i], NULL, 0, POPRT_DTYPE_FLOAT32 } };
        const poprt_named_tensor to = { out.name, { y[i], 32, NULL, 0, POPRT_DTYPE_FLOAT32 } };
        const poprt_runner_call call = { sizeof(call), &in, 1, &to, 1, NULL, NULL, 0, 0 };
        ck_assert_ok(poprt_runner_submit(runner, &call, POPRT_WAIT_FOREVER, NULL));
    }
    ck_assert_ok(poprt_runner_drain(runner));
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 8; k++)
            ck_assert_float_eq(y[i][k], k < tokens[i] ? -x[k] : 0);
    ck_assert_uint_eq(stats_of(runner).batches, 2); /* 5 8 3, 1 */
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_SHAPE, "compile_batch_size", END);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(b);
}
END_TEST

START_TEST(padding_is_removed)
{
    poprt_executable *exec = compile_packed();
    ck_assert_uint_eq(RUN_SAMPLES(exec, true, END, PADDED), 4);
    poprt_executable_release(exec);
}
END_TEST

/* Next fit: 20 | 20 12, then 12 | 32, then 1 7 | 31, then 5 16 | 16 3. First fit: 20 12 | 20 12,
 * then 32 | 1 7, then 31 | 5 16, then 16 3. */
START_TEST(samples_stay_in_one_row)
{
    poprt_executable *exec = compile_masked();
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW), 4);
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "pack_algorithm", "first_fit"), 4);
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "delimiter_num", "1"), 4);
    /* 20 | 20, 12 | 12, 32 | 1 7, 31 | 5, 16 | 16, 3 */
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "delimiter_num", "20"), 6);
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "delimiter_num", "20", "pack_algorithm",
                          "first_fit"),
        6);
    ck_assert_uint_eq(RUN_SAMPLES(exec, true, ROW, PADDED), 4);
    ck_assert_uint_eq(RUN_SAMPLES(exec, false, ROW, "max_valid_num", "1"), SAMPLES);
    poprt_executable_release(exec);
}
END_TEST

/* Nothing else ends the pack: the time limit is a day. */
START_TEST(a_pack_of_the_most_samples_runs_at_once)
{
    poprt_executable *exec = compile_masked();
    sample *samples = make_samples();
    poprt_request *request[2];
    poprt_runner *runner = OPEN_RUNNER(exec, "runner_type", "pack", "timeout_microseconds",
        "86400000000", "max_valid_num", "2");
    for (size_t i = 0; i < 2; i++)
        ck_assert_ok(
            poprt_runner_submit(runner, &samples[i].call, POPRT_WAIT_FOREVER, &request[i]));
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(poprt_request_wait(request[i], POPRT_WAIT_FOREVER), 1);
        poprt_request_release(request[i]);
    }
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* Four samples: next fit does not go back to row 0. */
START_TEST(first_fit_goes_back_to_earlier_rows)
{
    poprt_executable *exec = compile_masked();
    for (int first = 0; first < 2; first++) {
        sample *samples = make_samples();
        poprt_runner *runner =
            OPEN_RUNNER(exec, ROW, "pack_algorithm", first ? "first_fit" : "next_fit");
        for (size_t i = 0; i < 4; i++)
            ck_assert_ok(poprt_runner_submit(runner, &samples[i].call, POPRT_WAIT_FOREVER, NULL));
        ck_assert_ok(poprt_runner_drain(runner));
        for (size_t i = 0; i < 4; i++)
            check_sample(&samples[i], i);
        ck_assert_uint_eq(stats_of(runner).batches, first ? 1 : 2);
        poprt_runner_release(runner);
    }
    poprt_executable_release(exec);
}
END_TEST

/* The transformer of tests/fixtures/encoder: float32 tokens [rows, 16, 8], ten scores a sample. */
static poprt_executable *compile_encoder(bool packed)
{
    static const poprt_pass_arg args[] = { { "max_valid_num", "6" }, { "segment_max_size", "16" },
        { "dynamic_groups", "tokens,mask" } };
    const int64_t tokens[] = { packed ? ROWS : 1, 16, 8 };
    poprt_model *model = NULL;
    poprt_pass_manager *passes = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, PRT_TEST_DATA "/encoder/model.onnx", NULL, &model));
    ck_assert_ok(poprt_model_set_input_shape(model, "tokens", tokens, 3));
    ck_assert_ok(poprt_model_set_input_shape(model, "mask", tokens, 2));
    ck_assert_ok(poprt_pass_manager_create(NULL, &passes));
    ck_assert_ok(poprt_pass_manager_add(passes, "constant_folding", NULL));
    if (packed)
        ck_assert_ok(poprt_pass_manager_add_args(passes, "packed_transformer", args, 3));
    ck_assert_ok(poprt_pass_manager_run(passes, model));
    poprt_pass_manager_release(passes);
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    return exec;
}

static void run_encoder(poprt_runner *runner, float *tokens, int64_t *mask, size_t n, float *scores)
{
    const poprt_named_tensor in[] = { { "tokens",
                                          { tokens, 32 * n, NULL, 0, POPRT_DTYPE_FLOAT32 } },
        { "mask", { mask, 8 * n, NULL, 0, POPRT_DTYPE_INT64 } } };
    const poprt_named_tensor out = { "logits", { scores, 40, NULL, 0, POPRT_DTYPE_FLOAT32 } };
    const poprt_runner_call call = { sizeof(call), in, 2, &out, 1, NULL, NULL, 0, 0 };
    ck_assert_ok(poprt_runner_submit(runner, &call, POPRT_WAIT_FOREVER, NULL));
}

START_TEST(tokens_may_be_vectors)
{
    enum { COUNT = 7 };
    static const size_t n[COUNT] = { 16, 3, 9, 4, 11, 6, 1 };
    static float tokens[COUNT][128], scores[COUNT][10], expected[COUNT][10];
    static int64_t mask[COUNT][16];
    poprt_executable *plain = compile_encoder(false), *packed = compile_encoder(true);
    poprt_runner *light = OPEN_RUNNER(plain, "runner_type", "light");
    poprt_runner *runner = OPEN_RUNNER(packed, END);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < 8 * n[i]; k++)
            tokens[i][k] = (float)((k * 7 + i * 3) % 17) / 16.0f;
        for (size_t k = 0; k < n[i]; k++)
            mask[i][k] = 1;
        run_encoder(light, tokens[i], mask[i], 16, expected[i]);
        run_encoder(runner, tokens[i], mask[i], n[i], scores[i]);
    }
    ck_assert_ok(poprt_runner_drain(runner));
    for (size_t i = 0; i < COUNT; i++) {
        float largest = 0;
        for (size_t k = 0; k < 10; k++)
            largest = fmaxf(largest, fabsf(expected[i][k]));
        for (size_t k = 0; k < 10; k++)
            ck_assert_msg(fabsf(scores[i][k] - expected[i][k]) <= 1e-5f * largest,
                "sample %zu, score %zu: %g, expected %g", i, k, (double)scores[i][k],
                (double)expected[i][k]);
    }
    ck_assert_uint_eq(stats_of(runner).batches, 2); /* 16 3 9 4, 11 6 1 */
    poprt_runner_release(runner);
    poprt_runner_release(light);
    poprt_executable_release(packed);
    poprt_executable_release(plain);
}
END_TEST

typedef struct client {
    poprt_runner *runner;
    const sample *samples;
    uint32_t seed;
    pthread_t thread;
    size_t wrong, right, cancelled;
} client;

/* Sends samples one at a time, of which it cancels some. */
static void *send_samples(void *user)
{
    client *c = user;
    for (int i = 0; i < 60; i++) {
        c->seed = c->seed * 1664525u + 1013904223u;
        const sample *from = &c->samples[(c->seed >> 8) % SAMPLES];
        sample s;
        poprt_request *request = NULL;
        sample_init(&s, from->tokens, 1000 + (uint32_t)(from - c->samples));
        if (poprt_runner_submit(c->runner, &s.call, POPRT_WAIT_FOREVER, &request) != POPRT_OK) {
            c->wrong++;
            continue;
        }
        if ((c->seed >> 20) % 8 == 0)
            poprt_request_cancel(request);
        (void)poprt_request_wait(request, POPRT_WAIT_FOREVER);
        const poprt_status status = poprt_request_result(request);
        poprt_request_release(request);
        bool same = status == POPRT_OK;
        for (size_t k = 0; k < OUTPUTS; k++)
            for (size_t t = 0; t < s.tokens; t++)
                same = same && fabsf(s.found[k][t] - from->expected[k][t]) <= 1e-4f;
        c->right += same;
        c->cancelled += status == POPRT_E_CANCELLED;
        c->wrong += !same && status != POPRT_E_CANCELLED;
    }
    return NULL;
}

static void pack_for_clients(poprt_executable *exec, const char *const *pairs)
{
    enum { CLIENTS = 8 };
    client clients[CLIENTS];
    sample *samples = make_samples();
    poprt_runner *runner = open_runner(exec, pairs);
    size_t right = 0, cancelled = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){ .runner = runner, .samples = samples, .seed = 7 * i };
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, send_samples, &clients[i]), 0);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        ck_assert_uint_eq(clients[i].wrong, 0);
        right += clients[i].right;
        cancelled += clients[i].cancelled;
    }
    ck_assert_uint_eq(right + cancelled, CLIENTS * 60);
    ck_assert_uint_gt(right, 0);
    ck_assert_uint_eq(stats_of(runner).finished, CLIENTS * 60);
    poprt_runner_release(runner);
}

START_TEST(many_clients_are_packed)
{
    static const char *const end[] = { "runner_type", "pack", "timeout_microseconds", "300",
        "runner_sessions", "2", NULL };
    static const char *const row[] = { "runner_type", "pack", "timeout_microseconds", "300",
        "disable_data_across_rows", "true", "mask_name", "attention_mask", "pack_algorithm",
        "first_fit", "delimiter_num", "1", NULL };
    poprt_executable *packed = compile_packed(), *masked = compile_masked();
    pack_for_clients(packed, end);
    pack_for_clients(masked, row);
    poprt_executable_release(masked);
    poprt_executable_release(packed);
}
END_TEST

START_TEST(a_pack_runs_in_time)
{
    poprt_executable *exec = compile_packed();
    sample *samples = make_samples();
    poprt_runner *runner =
        OPEN_RUNNER(exec, "runner_type", "pack", "timeout_microseconds", "40000");
    const uint64_t start = now_ns();
    ck_assert_ok(poprt_runner_execute(runner, &samples[3].call));
    const uint64_t time = now_ns() - start;
    ck_assert_msg(time >= 40 * MS && time < 2ull * SECOND, "%llu ns", (unsigned long long)time);
    check_sample(&samples[3], 3);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(samples_are_described_and_checked)
{
    poprt_executable *exec = compile_packed();
    poprt_runner *runner = OPEN_RUNNER(exec, END);
    poprt_runner_io io = { .struct_size = sizeof(io) };
    sample s;
    ck_assert_uint_eq(poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT), 5);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT, 0, &io));
    ck_assert_int_eq(io.rank, 1);
    ck_assert_int_eq(io.dims[0], LENGTH);
    ck_assert_uint_eq(io.size, 8 * LENGTH);
    ck_assert_int_eq(io.open_dim, 0);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTABLE, POPRT_INPUT, 0, &io));
    ck_assert_int_eq(io.rank, 2);
    ck_assert_int_eq(io.dims[0], ROWS);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_OUTPUT, 0, &io));
    ck_assert_uint_eq(io.size, 4 * LENGTH);
    ck_assert_int_eq(io.open_dim, -1);
    sample_init(&s, 5, 1);
    s.in[2].tensor.size = 48;
    ck_assert_fails(poprt_runner_execute(runner, &s.call), POPRT_E_SHAPE);
    sample_init(&s, 5, 1);
    s.out[1].tensor.size = 20;
    ck_assert_fails(poprt_runner_execute(runner, &s.call), POPRT_E_SHAPE);
    sample_init(&s, 5, 1);
    s.in[0].tensor.size = 0;
    ck_assert_fails(poprt_runner_execute(runner, &s.call), POPRT_E_SHAPE);
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_NOT_FOUND, "input_ids", END, "dynamic_input_name", "input_id");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "mask_name", END, "enable_padding_remove", "true");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "entries for 8", END, "max_valid_num", "9");
    REFUSE_RUNNER(exec, POPRT_E_SHAPE, "whole rows", END, "compile_batch_size", "3");
    runner = OPEN_RUNNER(exec, END, PADDED);
    sample_init(&s, 5, 1);
    sample_pad(&s);
    memset(s.data[1], 0, sizeof(s.data[1]));
    ck_assert_fails(poprt_runner_execute(runner, &s.call), POPRT_E_SHAPE);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("runner/pack", samples_follow_each_other_across_rows,
    gaps_between_samples_have_lengths, rows_and_tokens_may_be_one_dimension, padding_is_removed,
    samples_stay_in_one_row, a_pack_of_the_most_samples_runs_at_once,
    first_fit_goes_back_to_earlier_rows, tokens_may_be_vectors, many_clients_are_packed,
    a_pack_runs_in_time, samples_are_described_and_checked)
