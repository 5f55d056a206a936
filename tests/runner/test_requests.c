/* SPDX-License-Identifier: MIT */
/*
 * test_requests.c — requests of a runner: gathering, splitting, time limits, the queue, cancelling,
 * callbacks and the end of a runner.
 * Covers: batch.c, bind.c, call.c, create.c, fields.c, request.c, work.c.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner_test.h"

/* Submits a request that must be accepted. */
static poprt_request *submit(poprt_runner *runner, const digits_request *r)
{
    poprt_request *request = NULL;
    ck_assert_ok(poprt_runner_submit(runner, &r->call, POPRT_WAIT_FOREVER, &request));
    return request;
}

static void finish(poprt_request *request)
{
    ck_assert_int_eq(poprt_request_wait(request, 20ull * SECOND), 1);
    ck_assert_ok(poprt_request_result(request));
    poprt_request_release(request);
}

static void assert_scores(poprt_executable *exec, const digits_request *r, uint32_t seed,
    size_t rows, int64_t batch)
{
    float expected[MOST_ROWS * 10];
    expect_scores(exec, seed, rows, batch, expected);
    ck_assert_mem_eq(r->scores, expected, rows * 40);
}

START_TEST(a_call_gives_the_results_of_a_session)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "3");
    digits_request r;
    digits_init(&r, 1, 3);
    ck_assert_int_eq(poprt_runner_kind(runner), POPRT_RUNNER_MODEL);
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    assert_scores(exec, &r, 1, 3, 3);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(a_multiple_of_the_batch_is_several_batches)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "3", "runner_sessions", "2");
    digits_request r;
    digits_init(&r, 5, 12);
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    assert_scores(exec, &r, 5, 12, 3);
    ck_assert_uint_eq(stats_of(runner).batches, 4);
    digits_init(&r, 5, 4);
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "multiple of 768"));
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* 1 + 4 + 7 rows are three batches of 4, which requests share. */
START_TEST(rows_of_several_requests_fill_batches)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "0");
    static const size_t rows[] = { 1, 4, 7 };
    digits_request r[3];
    poprt_request *request[3];
    for (uint32_t i = 0; i < 3; i++) {
        digits_init(&r[i], 100 * i, rows[i]);
        request[i] = submit(runner, &r[i]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        finish(request[i]);
        assert_scores(exec, &r[i], 100 * i, rows[i], 4);
    }
    const poprt_runner_stats stats = stats_of(runner);
    ck_assert_uint_eq(stats.batches, 3);
    ck_assert_uint_eq(stats.rows, 12);
    ck_assert_uint_eq(stats.padding, 0);
    ck_assert_uint_eq(stats.requests, 3);
    ck_assert_uint_eq(stats.finished, 3);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* The time from submitting one row of a batch of 4 to its end. */
static uint64_t time_of_one_row(poprt_runner *runner)
{
    digits_request r;
    digits_init(&r, 9, 1);
    const uint64_t start = now_ns();
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    return now_ns() - start;
}

START_TEST(a_batch_that_is_not_full_runs_in_time)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "50000000");
    const uint64_t time = time_of_one_row(runner);
    ck_assert_msg(time >= 50 * MS && time < 2ull * SECOND, "%llu ns", (unsigned long long)time);
    ck_assert_uint_eq(stats_of(runner).padding, 3);
    poprt_runner_release(runner);
    /* The second limit applies only if it is enabled. */
    runner = OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "0",
        "batch_size_timeout_ns", "30000000", "is_batch_size_timeout_enabled", "true");
    ck_assert_uint_ge(time_of_one_row(runner), 30 * MS);
    poprt_runner_release(runner);
    runner = OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "60000000",
        "batch_size_timeout_ns", "1000000");
    ck_assert_uint_ge(time_of_one_row(runner), 60 * MS);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(a_batch_waits_for_waiters_if_asked_to)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns",
        "1000000", "flush_on_waiting_outputs", "true");
    digits_request r;
    digits_init(&r, 2, 1);
    poprt_request *request = submit(runner, &r);
    (void)usleep(50000);
    ck_assert_int_eq(poprt_request_wait(request, 0), 0);
    ck_assert_fails(poprt_request_result(request), POPRT_E_STATE);
    finish(request); /* this is a waiter */
    assert_scores(exec, &r, 2, 1, 4);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(times_of_a_request_are_in_order)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "20000000");
    poprt_request_times t = { .struct_size = sizeof(t) };
    digits_request r;
    digits_init(&r, 1, 1);
    const uint64_t start = now_ns();
    poprt_request *request = submit(runner, &r);
    ck_assert_ok(poprt_request_get_times(request, &t));
    ck_assert_uint_ge(t.queued, start);
    ck_assert_uint_eq(t.started, 0);
    ck_assert_uint_eq(t.finished, 0);
    ck_assert_int_eq(poprt_request_wait(request, 20ull * SECOND), 1);
    ck_assert_ok(poprt_request_get_times(request, &t));
    ck_assert_uint_ge(t.started, t.queued + 20 * MS); /* the batch was not full */
    ck_assert_uint_ge(t.finished, t.started);
    ck_assert_uint_le(t.finished, now_ns());
    finish(request);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(drain_runs_what_waits)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "0");
    digits_request r;
    digits_init(&r, 3, 6);
    poprt_request *request = submit(runner, &r);
    ck_assert_int_eq(poprt_request_wait(request, 20 * MS), 0);
    ck_assert_ok(poprt_runner_drain(runner));
    ck_assert_int_eq(poprt_request_wait(request, 0), 1);
    finish(request);
    assert_scores(exec, &r, 3, 6, 4);
    ck_assert_ok(poprt_runner_drain(runner));
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* ---- the queue and callbacks */

START_TEST(a_full_queue_refuses_or_waits)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "1", "ring_buffer_size_multiplier", "3");
    digits_request r[6];
    poprt_request *request[6] = { NULL };
    gate g = { .calls = 0 };
    (void)sem_init(&g.inside, 0, 0);
    (void)sem_init(&g.open, 0, 0);
    ck_assert_uint_eq(stats_of(runner).capacity, 3);
    for (uint32_t i = 0; i < 6; i++)
        digits_init(&r[i], i, 1);
    for (uint32_t i = 0; i < 2; i++) { /* both threads of the runner wait in a callback */
        r[i].call.done = wait_at_gate;
        r[i].call.user = &g;
        request[i] = submit(runner, &r[i]);
        (void)sem_wait(&g.inside);
    }
    for (uint32_t i = 2; i < 5; i++)
        request[i] = submit(runner, &r[i]);
    ck_assert_uint_eq(stats_of(runner).queued, 3);
    ck_assert_fails(poprt_runner_submit(runner, &r[5].call, 0, &request[5]), POPRT_E_LIMIT);
    const uint64_t start = now_ns();
    ck_assert_fails(poprt_runner_submit(runner, &r[5].call, 30 * MS, &request[5]), POPRT_E_LIMIT);
    ck_assert_uint_ge(now_ns() - start, 30 * MS);
    ck_assert_ptr_null(request[5]);
    (void)sem_post(&g.open);
    ck_assert_ok(poprt_runner_submit(runner, &r[5].call, 20ull * SECOND, &request[5]));
    (void)sem_post(&g.open);
    for (uint32_t i = 0; i < 6; i++) {
        finish(request[i]);
        assert_scores(exec, &r[i], i, 1, 1);
    }
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(cancelled_requests_end)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "0");
    digits_request r[3];
    poprt_request *request[3];
    for (uint32_t i = 0; i < 3; i++) {
        digits_init(&r[i], 10 * i, 1);
        request[i] = submit(runner, &r[i]);
    }
    poprt_request_cancel(request[1]);
    ck_assert_ok(poprt_runner_drain(runner));
    finish(request[0]);
    finish(request[2]);
    ck_assert_int_eq(poprt_request_wait(request[1], 20ull * SECOND), 1);
    ck_assert_fails(poprt_request_result(request[1]), POPRT_E_CANCELLED);
    poprt_request_release(request[1]);
    /* A batch without other requests is dropped at once. */
    request[0] = submit(runner, &r[0]);
    request[1] = submit(runner, &r[1]);
    poprt_runner_cancel(runner);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_int_eq(poprt_request_wait(request[i], 20ull * SECOND), 1);
        ck_assert_fails(poprt_request_result(request[i]), POPRT_E_CANCELLED);
        poprt_request_release(request[i]);
    }
    ck_assert_uint_eq(stats_of(runner).failed, 3);
    ck_assert_uint_eq(stats_of(runner).finished, 5);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* While a batch runs, the next one is taken from the queue and copied. */
START_TEST(the_next_batch_is_gathered_during_a_run)
{
    gate g;
    poprt_executable *exec = compile_at_gate(&g);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "64", "batching_dim", "0", "timeout_ns", "0");
    static digits_request r[3];
    poprt_request *request[3];
    for (uint32_t i = 0; i < 3; i++)
        digits_init(&r[i], 100 * i, i == 0 ? 64 : 32);
    g.calls = 0;
    request[0] = submit(runner, &r[0]);
    (void)sem_wait(&g.inside); /* the first batch runs, and waits */
    request[1] = submit(runner, &r[1]);
    request[2] = submit(runner, &r[2]);
    const uint64_t end = now_ns() + 20ull * SECOND;
    while (stats_of(runner).queued != 0 && now_ns() < end)
        (void)usleep(1000);
    ck_assert_uint_eq(stats_of(runner).queued, 0);
    ck_assert_uint_eq(stats_of(runner).finished, 0);
    (void)sem_post(&g.open);
    for (uint32_t i = 0; i < 3; i++) {
        finish(request[i]);
        assert_scores(exec, &r[i], 100 * i, i == 0 ? 64 : 32, 64);
    }
    ck_assert_uint_eq(stats_of(runner).batches, 2);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

/* A run is stopped if all of its requests are cancelled, and not otherwise. */
START_TEST(a_run_of_cancelled_requests_stops)
{
    gate g;
    poprt_executable *exec = compile_at_gate(&g);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "64", "batching_dim", "0", "timeout_ns", "0");
    static digits_request r[2];
    poprt_request *request[2];
    for (uint32_t one = 0; one < 2; one++) {
        for (uint32_t i = 0; i < 2; i++)
            digits_init(&r[i], 100 * i, 32);
        g.calls = 0;
        for (uint32_t i = 0; i < 2; i++)
            request[i] = submit(runner, &r[i]);
        (void)sem_wait(&g.inside);
        poprt_request_cancel(request[0]);
        if (one == 0)
            poprt_request_cancel(request[1]);
        (void)sem_post(&g.open);
        for (uint32_t i = 0; i < 2; i++)
            ck_assert_int_eq(poprt_request_wait(request[i], 20ull * SECOND), 1);
        ck_assert_fails(poprt_request_result(request[0]), POPRT_E_CANCELLED);
        if (one == 0)
            ck_assert_fails(poprt_request_result(request[1]), POPRT_E_CANCELLED);
        else
            ck_assert_ok(poprt_request_result(request[1]));
        ck_assert_uint_eq(stats_of(runner).batches, one);
        poprt_request_release(request[0]);
        poprt_request_release(request[1]);
    }
    assert_scores(exec, &r[1], 100, 32, 64);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(requests_outlive_their_runner)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns", "0");
    digits_request r[2];
    poprt_request *request[2];
    for (uint32_t i = 0; i < 2; i++) {
        digits_init(&r[i], i, 1);
        request[i] = submit(runner, &r[i]);
    }
    poprt_request_release(request[1]); /* goes on alone */
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    ck_assert_int_eq(poprt_request_wait(request[0], 0), 1);
    ck_assert_fails(poprt_request_result(request[0]), POPRT_E_CANCELLED);
    poprt_request_cancel(request[0]);
    poprt_request_release(request[0]);
    poprt_request_release(NULL);
    poprt_runner_release(NULL);
}
END_TEST

typedef struct chain {
    poprt_runner *runner;
    digits_request *next;
    sem_t done;
    bool releases;
} chain;

/* A callback that uses the runner: calls that would wait fail, others work. */
static void use_runner(void *user, poprt_status status, const poprt_error *error)
{
    chain *c = user;
    ck_assert_int_eq(status, POPRT_OK);
    ck_assert_ptr_null(error);
    ck_assert_fails(poprt_runner_execute(c->runner, &c->next->call), POPRT_E_STATE);
    ck_assert_fails(poprt_runner_drain(c->runner), POPRT_E_STATE);
    ck_assert_fails(poprt_runner_stop(c->runner), POPRT_E_STATE);
    ck_assert_fails(poprt_runner_update_weights(c->runner), POPRT_E_STATE);
    if (c->releases)
        poprt_runner_release(c->runner);
    else
        ck_assert_ok(poprt_runner_submit(c->runner, &c->next->call, 0, NULL));
    (void)sem_post(&c->done);
}

START_TEST(a_callback_may_submit_and_release)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "1");
    digits_request first, second;
    chain c = { .runner = runner, .next = &second };
    (void)sem_init(&c.done, 0, 0);
    digits_init(&first, 1, 1);
    digits_init(&second, 2, 1);
    first.call.done = use_runner;
    first.call.user = &c;
    ck_assert_ok(poprt_runner_submit(runner, &first.call, 0, NULL));
    (void)sem_wait(&c.done);
    ck_assert_ok(poprt_runner_drain(runner));
    assert_scores(exec, &first, 1, 1, 1);
    assert_scores(exec, &second, 2, 1, 1);
    c.releases = true;
    ck_assert_ok(poprt_runner_submit(runner, &first.call, 0, NULL));
    (void)sem_wait(&c.done);
    poprt_executable_release(exec);
    (void)usleep(20000); /* the threads of the runner free it */
}
END_TEST

START_TEST(parent_and_child_go_on_after_fork)
{
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    puts("no threads after fork under this sanitizer");
#else
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "2", "batching_dim", "0", "timeout_ns", "1000000");
    digits_request r;
    digits_init(&r, 4, 3);
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    const pid_t child = fork();
    if (child == 0) {
        memset(r.scores, 0, sizeof(r.scores));
        const bool ran = poprt_runner_execute(runner, &r.call) == POPRT_OK && r.scores[0] != 0;
        poprt_runner_release(runner);
        _exit(ran ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    assert_scores(exec, &r, 4, 3, 2);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
#endif
}
END_TEST

/* ---- refused calls */

START_TEST(names_and_data_are_checked)
{
    static const int64_t bad_dims[] = { 2, 8, 1, 8 }, bad_rank[] = { 2, 64 };
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "2");
    digits_request r;
    digits_init(&r, 1, 2);
    r.in.name = "imag";
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "image"));
    digits_init(&r, 1, 2);
    r.call.n_outputs = 0;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(poprt_last_error()->subject, "logits");
    digits_init(&r, 1, 2);
    r.in.tensor.dtype = POPRT_DTYPE_INT32;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_TYPE);
    digits_init(&r, 1, 2);
    r.in.tensor.dims = bad_dims;
    r.in.tensor.rank = 4;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    r.in.tensor.dims = bad_rank;
    r.in.tensor.rank = 2;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    digits_init(&r, 1, 2);
    r.out.tensor.size = 160;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    r.out.tensor.size = 79;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    digits_init(&r, 1, 2);
    r.call.replica = 1;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_ARG);
    digits_init(&r, 1, 2);
    poprt_named_tensor twice[] = { r.in, r.in };
    r.call.inputs = twice;
    r.call.n_inputs = 2;
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_ARG);
    ck_assert_fails(poprt_runner_execute(runner, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_runner_execute(NULL, &r.call), POPRT_E_ARG);
    ck_assert_uint_eq(stats_of(runner).requests, 0);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(without_validation_the_known_tensors_count)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "2", "validate_io_params", "false",
        "batching_dim", "0", "timeout_ns", "100000");
    digits_request r;
    float zeros[20], expected[20] = { 0 };
    digits_init(&r, 1, 2);
    memset(r.images, 0, sizeof(r.images));
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    memcpy(zeros, r.scores, sizeof(zeros));
    r.in.name = "other"; /* unknown: skipped; `image` is missing: zeros */
    memset(r.scores, 0, sizeof(r.scores));
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    ck_assert_mem_eq(r.scores, zeros, sizeof(zeros));
    digits_init(&r, 1, 2);
    r.call.n_outputs = 0;
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    ck_assert_mem_eq(r.scores, expected, sizeof(expected));
    r.in.tensor.size = 100; /* sizes are checked all the same */
    ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_SHAPE);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(options_are_checked)
{
    poprt_executable *exec = compile_digits(NULL);
    REFUSE_RUNNER(exec, POPRT_E_SHAPE, "batch", "seed", "1");
    REFUSE_RUNNER(exec, POPRT_E_SHAPE, "batching_dim", "dim.batch", "2", "batching_dim", "1");
    REFUSE_RUNNER(exec, POPRT_E_SHAPE, "no dimension 7", "dim.batch", "2", "batching_dim", "7");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "not fused", "dim.batch", "2", "runner_type", "fusion");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "batching_dim", "dim.batch", "2", "runner_type", "light",
        "batching_dim", "0");
    REFUSE_RUNNER(exec, POPRT_E_ARG, "timeout_microseconds", "dim.batch", "2", "runner_type",
        "pack");
    poprt_executable_release(exec);
}
END_TEST

START_TEST(tensors_are_described)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0");
    poprt_runner_io io = { .struct_size = sizeof(io) };
    ck_assert_uint_eq(poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT), 1);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT, 0, &io));
    ck_assert_str_eq(io.name, "image");
    ck_assert_int_eq(io.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(io.rank, 4);
    ck_assert_int_eq(io.dims[0], 4);
    ck_assert_int_eq(io.dims[3], 8);
    ck_assert_uint_eq(io.size, 1024);
    ck_assert_int_eq(io.open_dim, 0);
    ck_assert_int_eq(io.graph, -1);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTABLE, POPRT_OUTPUT, 0, &io));
    ck_assert_str_eq(io.name, "logits");
    ck_assert_uint_eq(io.size, 160);
    ck_assert_fails(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_OUTPUT, 1, &io),
        POPRT_E_NOT_FOUND);
    ck_assert_uint_eq(poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, 2), 0);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("runner/requests", a_call_gives_the_results_of_a_session,
    a_multiple_of_the_batch_is_several_batches, rows_of_several_requests_fill_batches,
    a_batch_that_is_not_full_runs_in_time, a_batch_waits_for_waiters_if_asked_to,
    times_of_a_request_are_in_order, drain_runs_what_waits, a_full_queue_refuses_or_waits,
    cancelled_requests_end, the_next_batch_is_gathered_during_a_run,
    a_run_of_cancelled_requests_stops, requests_outlive_their_runner,
    a_callback_may_submit_and_release, parent_and_child_go_on_after_fork,
    names_and_data_are_checked, without_validation_the_known_tensors_count, options_are_checked,
    tensors_are_described)
