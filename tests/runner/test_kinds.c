/* SPDX-License-Identifier: MIT */
/*
 * test_kinds.c — light runners, fused models, merged inputs, failures of runs, batches per step.
 * Covers: host_concat.c, light.c.
 */
#include <pthread.h>

#include "api/models.h"
#include "poprt/builder_ops.h"
#include "runner_test.h"

/* ---- light runners */

START_TEST(a_light_runner_maps_replicas_to_sessions)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "2", "runner_type", "light",
        "replica_to_device", "{\"0\": 0, \"1\": 1, \"2\": 0}");
    digits_request r;
    float expected[60];
    poprt_request *request = NULL;
    expect_scores(exec, 7, 6, 2, expected);
    for (uint32_t replica = 0; replica < 3; replica++) {
        digits_init(&r, 7, 6);
        r.call.replica = replica;
        ck_assert_ok(poprt_runner_execute(runner, &r.call));
        ck_assert_mem_eq(r.scores, expected, sizeof(expected));
    }
    r.call.replica = 3;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_ARG);
    digits_init(&r, 7, 6);
    ck_assert_ok(poprt_runner_submit(runner, &r.call, 0, &request));
    ck_assert_int_eq(poprt_request_wait(request, 0), 1);
    ck_assert_ok(poprt_request_result(request));
    ck_assert_mem_eq(r.scores, expected, sizeof(expected));
    poprt_request_release(request);
    ck_assert_uint_eq(stats_of(runner).finished, 4);
    ck_assert_uint_eq(stats_of(runner).capacity, 0);
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_ARG, "replica 1", "dim.batch", "2", "runner_type", "light",
        "replica_to_device", "{\"0\": 0, \"2\": 1}");
    REFUSE_RUNNER(exec, POPRT_E_PARSE, "", "dim.batch", "2", "runner_type", "light",
        "replica_to_device", "{\"0\": ");
    poprt_executable_release(exec);
}
END_TEST

typedef struct caller {
    poprt_runner *runner;
    pthread_t thread;
    digits_request r;
    float expected[40];
    uint32_t wrong, refused;
} caller;

static void *call_often(void *user)
{
    caller *c = user;
    for (int i = 0; i < 300; i++) {
        memset(c->r.scores, 0, sizeof(c->r.scores));
        const poprt_status status = poprt_runner_execute(c->runner, &c->r.call);
        c->refused += status == POPRT_E_STATE;
        c->wrong += status != POPRT_E_STATE &&
            (status != POPRT_OK || memcmp(c->r.scores, c->expected, sizeof(c->expected)) != 0);
    }
    return NULL;
}

/* Runs 8 threads; returns the number of refused calls. */
static uint32_t call_from_threads(poprt_executable *exec, const char *safe)
{
    static caller callers[8];
    uint32_t refused = 0;
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "2", "runner_type", "light", "thread_safe", safe);
    for (uint32_t i = 0; i < 8; i++) {
        callers[i].runner = runner;
        callers[i].wrong = callers[i].refused = 0;
        digits_init(&callers[i].r, 50 * i, 4);
        expect_scores(exec, 50 * i, 4, 2, callers[i].expected);
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        (void)pthread_join(callers[i].thread, NULL);
        ck_assert_uint_eq(callers[i].wrong, 0);
        refused += callers[i].refused;
    }
    poprt_runner_release(runner);
    return refused;
}

START_TEST(calls_of_a_light_runner_take_turns)
{
    poprt_executable *exec = compile_digits(NULL);
    ck_assert_uint_eq(call_from_threads(exec, "true"), 0);
    ck_assert_uint_gt(call_from_threads(exec, "false"), 0);
    poprt_executable_release(exec);
}
END_TEST

static void *cancel_runs(void *user)
{
    poprt_runner *runner = ((void **)user)[0];
    gate *g = ((void **)user)[1];
    (void)sem_wait(&g->inside);
    poprt_runner_cancel(runner);
    (void)sem_post(&g->open);
    return NULL;
}

START_TEST(a_run_of_a_light_runner_is_cancelled)
{
    gate g;
    pthread_t thread;
    poprt_executable *exec = compile_at_gate(&g);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "64", "runner_type", "light");
    void *user[] = { runner, &g };
    static digits_request r;
    digits_init(&r, 1, 64);
    g.calls = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_runs, user), 0);
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_CANCELLED);
    (void)pthread_join(thread, NULL);
    ck_assert_ok(poprt_runner_execute(runner, &r.call)); /* later runs are not affected */
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* ---- fused models */

static poprt_executable *compile_fused(void)
{
    static const int64_t image[4] = { 2, 1, 8, 8 }, x[2] = { 2, 2 };
    poprt_model *models[2] = { NULL }, *fused = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &models[0]));
    /* Models that are fused belong to one environment; NULL makes one for each. */
    poprt_env *env = NULL;
    poprt_model_release(models[0]);
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &models[0]));
    ck_assert_ok(poprt_model_load_bytes(env, dense_model, sizeof(dense_model), NULL, &models[1]));
    ck_assert_ok(poprt_model_set_input_shape(models[0], "image", image, 4));
    ck_assert_ok(poprt_model_set_input_shape(models[1], "x", x, 2));
    ck_assert_ok(poprt_model_fuse((const poprt_model *const *)models, 2, &fused));
    poprt_model_release(models[0]);
    poprt_model_release(models[1]);
    poprt_executable *exec = COMPILE_WITH(fused, "seed", "0");
    poprt_env_release(env);
    return exec;
}

static void check_fused(poprt_executable *exec, poprt_runner *runner, size_t rows)
{
    float x[2 * MOST_ROWS], y[3 * MOST_ROWS], expected[10 * MOST_ROWS];
    poprt_executable *digits = compile_digits(NULL);
    digits_request r;
    float_request dense;
    uint32_t index = 0;
    digits_init(&r, 3, rows);
    r.in.name = "graph0/image";
    r.out.name = "graph0/logits";
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    expect_scores(digits, 3, rows, 2, expected);
    ck_assert_mem_eq(r.scores, expected, 40 * rows);
    for (size_t i = 0; i < 2 * rows; i++)
        x[i] = (float)i;
    begin(&dense);
    add_in(&dense, "graph1/x", x, 2 * rows);
    add_out(&dense, "graph1/y", y, 3 * rows);
    ck_assert_ok(poprt_runner_execute(runner, &dense.call));
    for (size_t i = 0; i < rows; i++) {
        ck_assert_float_eq(y[3 * i], x[2 * i] + 4 * x[2 * i + 1] + 0.5f);
        ck_assert_float_eq(y[3 * i + 2], 3 * x[2 * i] + 6 * x[2 * i + 1]);
    }
    dense.in[dense.call.n_inputs++] =
        (poprt_named_tensor){ "index", { .data = &index, .size = 4, .dtype = POPRT_DTYPE_UINT32 } };
    ck_assert_fails(poprt_runner_execute(runner, &dense.call), POPRT_E_ARG);
    index = 1;
    ck_assert_ok(poprt_runner_execute(runner, &dense.call));
    index = 2;
    ck_assert_fails(poprt_runner_execute(runner, &dense.call), POPRT_E_ARG);
    dense.in[1] = r.in; /* of two graphs */
    ck_assert_fails(poprt_runner_execute(runner, &dense.call), POPRT_E_ARG);
    dense.call.n_inputs = 0;
    dense.call.n_outputs = 0;
    ck_assert_fails(poprt_runner_execute(runner, &dense.call), POPRT_E_ARG);
    poprt_executable_release(digits);
    (void)exec;
}

START_TEST(each_model_of_a_fused_one_is_addressed_alone)
{
    poprt_executable *exec = compile_fused();
    poprt_runner *runner = OPEN_RUNNER(exec, "runner_sessions", "2");
    ck_assert_int_eq(poprt_runner_kind(runner), POPRT_RUNNER_FUSION);
    check_fused(exec, runner, 6);
    poprt_runner_release(runner);
    runner = OPEN_RUNNER(exec, "batching_dim", "0", "timeout_ns", "100000");
    check_fused(exec, runner, 7);
    poprt_runner_release(runner);
    runner = OPEN_RUNNER(exec, "runner_type", "light");
    check_fused(exec, runner, 4);
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_ARG, "fused", "runner_type", "model");
    poprt_executable_release(exec);
}
END_TEST

/* Requests of two graphs in turn: a batch has rows of one graph. */
START_TEST(a_batch_has_requests_of_one_graph)
{
    poprt_executable *exec = compile_fused();
    poprt_runner *runner = OPEN_RUNNER(exec, "batching_dim", "0", "timeout_ns", "0");
    digits_request r[2];
    float_request dense;
    float x[2] = { 1, 2 }, y[3];
    poprt_request *request[3];
    for (uint32_t i = 0; i < 2; i++) {
        digits_init(&r[i], i, 1);
        r[i].in.name = "graph0/image";
        r[i].out.name = "graph0/logits";
    }
    begin(&dense);
    add_in(&dense, "graph1/x", x, 2);
    add_out(&dense, "graph1/y", y, 3);
    ck_assert_ok(poprt_runner_submit(runner, &r[0].call, 0, &request[0]));
    ck_assert_ok(poprt_runner_submit(runner, &dense.call, 0, &request[1]));
    ck_assert_ok(poprt_runner_submit(runner, &r[1].call, 0, &request[2]));
    ck_assert_ok(poprt_runner_drain(runner));
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(poprt_request_wait(request[i], 0), 1);
        ck_assert_ok(poprt_request_result(request[i]));
        poprt_request_release(request[i]);
    }
    ck_assert_float_eq(y[0], 9.5f);
    ck_assert_uint_eq(stats_of(runner).batches, 3);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* ---- merged inputs */

/* y = a + 2 b + 4 c, of float32 [2,2] each, with c of another shape [1,2]. */
static poprt_model *build_sum(void)
{
    static const int64_t one = 1;
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    float two = 2, four = 4;
    const poprt_tensor factor[] = { { &two, 4, &one, 1, POPRT_DTYPE_FLOAT32 },
        { &four, 4, &one, 1, POPRT_DTYPE_FLOAT32 } };
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 2, { 2, 2 } };
    const poprt_type other = { POPRT_DTYPE_FLOAT32, 2, { 1, 2 } };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id a = poprt_builder_input(b, "a", &type, NULL);
    const poprt_id x = poprt_builder_input(b, "b", &type, NULL);
    const poprt_id c = poprt_builder_input(b, "c", &other, NULL);
    const poprt_id twice =
        poprt_op_mul(b, x, poprt_builder_constant(b, "two", &factor[0], 0), NULL);
    const poprt_id rest =
        poprt_op_mul(b, c, poprt_builder_constant(b, "four", &factor[1], 0), NULL);
    const poprt_id y = poprt_op_add(b, poprt_op_add(b, a, twice, NULL), rest, NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    return model;
}

START_TEST(merged_inputs_keep_their_names)
{
    static const poprt_pass_arg arg = { "merged_inputs", "[[\"fp32\", [2, 2]]]" };
    poprt_pass_manager *passes = NULL;
    poprt_model *model = build_sum();
    float a[8], b[8], c[4], y[8];
    poprt_io_info out = { .struct_size = sizeof(out) };
    ck_assert_ok(poprt_pass_manager_create(NULL, &passes));
    ck_assert_ok(poprt_pass_manager_add_args(passes, "apply_host_concat_split", &arg, 1));
    ck_assert_ok(poprt_pass_manager_run(passes, model));
    poprt_pass_manager_release(passes);
    poprt_executable *exec = COMPILE_WITH(model, "seed", "0");
    ck_assert_uint_eq(poprt_executable_io_count(exec, POPRT_INPUT), 2);
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_OUTPUT, 0, &out));
    poprt_runner *runner = OPEN_RUNNER(exec, "runner_type", "host_concat");
    ck_assert_uint_eq(poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT), 3);
    ck_assert_uint_ge(poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTABLE, POPRT_INPUT), 2);
    for (int i = 0; i < 8; i++) {
        a[i] = (float)i;
        b[i] = (float)(10 * i);
        c[i / 2] = (float)(100 * (i / 2));
    }
    for (size_t batches = 1; batches <= 2; batches++) {
        float_request r;
        begin(&r);
        add_in(&r, "a", a, 4 * batches);
        add_in(&r, "b", b, 4 * batches);
        add_in(&r, "c", c, 2 * batches);
        add_out(&r, out.name, y, 4 * batches);
        memset(y, 0, sizeof(y));
        ck_assert_ok(poprt_runner_execute(runner, &r.call));
        for (size_t i = 0; i < 4 * batches; i++)
            ck_assert_float_eq(y[i], a[i] + 2 * b[i] + 4 * c[i / 4 * 2 + i % 2]);
    }
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_ARG, "each of the 2 rows", "runner_type", "host_concat",
        "host_concat_config", "{\"host_concat_0\": {\"input_tensor_names\": [\"a\"]}}");
    REFUSE_RUNNER(exec, POPRT_E_NOT_FOUND, "0 of the 1", "runner_type", "host_concat",
        "host_concat_config", "{\"none\": {\"input_tensor_names\": [\"a\", \"b\"]}}");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "two inputs", "runner_type", "host_concat",
        "host_concat_config", "{\"host_concat_0\": {\"input_tensor_names\": [\"a\", \"a\"]}}");
    poprt_executable_release(exec);
    exec = COMPILE_WITH(build_sum(), "seed", "0");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "no metadata", "runner_type", "host_concat");
    poprt_executable_release(exec);
}
END_TEST

/* ---- failures of runs */

/* y = table[index], of int64 index [1]; the table has 4 numbers. */
static poprt_executable *compile_lookup(void)
{
    static const int64_t four = 4;
    float numbers[] = { 10, 11, 12, 13 };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    const poprt_tensor table = { numbers, sizeof(numbers), &four, 1, POPRT_DTYPE_FLOAT32 };
    const poprt_type type = { POPRT_DTYPE_INT64, 1, { 1 } };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id index = poprt_builder_input(b, "index", &type, NULL);
    const poprt_id y =
        poprt_op_gather(b, poprt_builder_constant(b, "table", &table, 0), index, NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    return COMPILE_WITH(model, "seed", "0");
}

typedef struct lookup {
    int64_t index;
    float y;
    poprt_named_tensor in, out;
    poprt_runner_call call;
    sem_t *inside, *open;
} lookup;

static void hold_thread(void *user, poprt_status status, const poprt_error *error)
{
    lookup *l = user;
    (void)status;
    (void)error;
    (void)sem_post(l->inside);
    (void)sem_wait(l->open);
}

static void lookup_init(lookup *l, const char *output, int64_t index)
{
    *l = (lookup){ .index = index };
    l->in = (poprt_named_tensor){ "index",
        { .data = &l->index, .size = 8, .dtype = POPRT_DTYPE_INT64 } };
    l->out =
        (poprt_named_tensor){ output, { .data = &l->y, .size = 4, .dtype = POPRT_DTYPE_FLOAT32 } };
    l->call = (poprt_runner_call){ .struct_size = sizeof(l->call),
        .inputs = &l->in,
        .n_inputs = 1,
        .outputs = &l->out,
        .n_outputs = 1 };
}

/* Queues a failing request and a good one behind it, and returns the status of the second. */
static poprt_status fail_before_another(poprt_executable *exec, const char *auto_reset)
{
    poprt_runner *runner =
        OPEN_RUNNER(exec, "auto_reset", auto_reset, "ring_buffer_size_multiplier", "8");
    poprt_io_info info = { .struct_size = sizeof(info) };
    lookup l[5];
    poprt_request *request[2];
    sem_t inside, open;
    (void)sem_init(&inside, 0, 0);
    (void)sem_init(&open, 0, 0);
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_OUTPUT, 0, &info));
    for (int i = 0; i < 2; i++) { /* both threads wait in callbacks */
        lookup_init(&l[i], info.name, i);
        l[i].inside = &inside;
        l[i].open = &open;
        l[i].call.done = hold_thread;
        l[i].call.user = &l[i];
        ck_assert_ok(poprt_runner_submit(runner, &l[i].call, 0, NULL));
        (void)sem_wait(&inside);
    }
    lookup_init(&l[2], info.name, 9);
    lookup_init(&l[3], info.name, 3);
    for (int i = 0; i < 2; i++)
        ck_assert_ok(poprt_runner_submit(runner, &l[2 + i].call, 0, &request[i]));
    (void)sem_post(&open); /* one thread runs both, one after the other */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(poprt_request_wait(request[i], 20ull * SECOND), 1);
    ck_assert_int_ne(poprt_request_result(request[0]), POPRT_OK);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "9"));
    const poprt_status status = poprt_request_result(request[1]);
    (void)sem_post(&open);
    ck_assert_ok(poprt_runner_drain(runner));
    lookup_init(&l[4], info.name, 2); /* later requests run in any case */
    ck_assert_ok(poprt_runner_execute(runner, &l[4].call));
    ck_assert_float_eq(l[4].y, 12);
    poprt_request_release(request[0]);
    poprt_request_release(request[1]);
    poprt_runner_release(runner);
    return status;
}

START_TEST(a_failure_reaches_queued_requests_without_auto_reset)
{
    poprt_executable *exec = compile_lookup();
    ck_assert_int_ne(fail_before_another(exec, "false"), POPRT_OK);
    ck_assert_int_eq(fail_before_another(exec, "true"), POPRT_OK);
    poprt_executable_release(exec);
}
END_TEST

/* ---- batches per step */

/* Runs requests of 1, 2 and 5 batches of 2 images through an executable of 4 batches per step. */
static void check_steps(const char *const *pairs, size_t unit)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    poprt_executable *exec = COMPILE_WITH(model, "batches_per_step", "4");
    poprt_executable *plain = compile_digits(NULL);
    poprt_runner *runner = open_runner(exec, pairs);
    static digits_request r[3];
    float scores[10 * MOST_ROWS];
    poprt_request *request[3];
    static const size_t n[] = { 1, 2, 5 };
    for (uint32_t i = 0; i < 3; i++) {
        digits_init(&r[i], 100 * i, n[i] * unit);
        ck_assert_ok(poprt_runner_submit(runner, &r[i].call, 0, &request[i]));
    }
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(poprt_request_wait(request[i], 20ull * SECOND), 1);
        ck_assert_ok(poprt_request_result(request[i]));
        poprt_request_release(request[i]);
        expect_scores(plain, 100 * i, n[i] * unit, 2, scores);
        ck_assert_mem_eq(r[i].scores, scores, 40 * n[i] * unit);
    }
    ck_assert_uint_eq(stats_of(runner).rows, 8);
    ck_assert_uint_eq(stats_of(runner).batches, unit == 2 ? 2 : 1);
    poprt_runner_release(runner);
    REFUSE_RUNNER(exec, POPRT_E_UNSUPPORTED, "data flow", "dim.batch", "2", "runner_type", "light");
    poprt_executable_release(plain);
    poprt_executable_release(exec);
}

START_TEST(a_step_has_batches_of_several_requests)
{
    static const char *const batches[] = { "dim.batch", "2", "timeout_ns", "0", NULL };
    static const char *const rows[] = { "dim.batch", "2", "timeout_ns", "0", "batching_dim", "0",
        NULL };
    check_steps(batches, 2);
    check_steps(rows, 1);
}
END_TEST

PRT_TEST_MAIN("runner/kinds", a_light_runner_maps_replicas_to_sessions,
    calls_of_a_light_runner_take_turns, a_run_of_a_light_runner_is_cancelled,
    each_model_of_a_fused_one_is_addressed_alone, a_batch_has_requests_of_one_graph,
    merged_inputs_keep_their_names, a_failure_reaches_queued_requests_without_auto_reset,
    a_step_has_batches_of_several_requests)
