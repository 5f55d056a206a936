/* SPDX-License-Identifier: MIT */
/*
 * test_load.c — many clients at a time: no request is lost, every result is right, and the end of a
 * runner under load finishes every request. With an argument, the number of seconds to run for:
 *
 *     build/release/tests/runner/test_runner_load 60
 */
#include <pthread.h>
#include <stdatomic.h>

#include "runner_test.h"

enum { CLIENTS = 16, BATCH = 8, IMAGES = 256, AT_A_TIME = 4 };

static unsigned seconds = 2;
static float expected[IMAGES + MOST_ROWS][10];

typedef struct client {
    poprt_runner *runner;
    pthread_t thread;
    uint32_t seed;
    uint64_t until;
    digits_request r[AT_A_TIME];
    poprt_request *request[AT_A_TIME];
    size_t first[AT_A_TIME], rows[AT_A_TIME];
    uint64_t sent, right, wrong, cancelled, called, lost;
    _Atomic uint64_t callbacks;
} client;

static uint32_t draw(client *c, uint32_t below)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (c->seed >> 8) % below;
}

static void count_callback(void *user, poprt_status status, const poprt_error *error)
{
    client *c = user;
    (void)status;
    (void)error;
    (void)atomic_fetch_add(&c->callbacks, 1);
}

/* Submits a request of random size; images are numbers in `expected`. */
static bool send(client *c, uint32_t k)
{
    c->rows[k] = 1 + draw(c, 3 * BATCH);
    c->first[k] = draw(c, IMAGES);
    digits_init(&c->r[k], (uint32_t)c->first[k], c->rows[k]);
    if (draw(c, 2) == 0) {
        c->r[k].call.done = count_callback;
        c->r[k].call.user = c;
    }
    c->request[k] = NULL;
    if (poprt_runner_submit(c->runner, &c->r[k].call, POPRT_WAIT_FOREVER, &c->request[k]) !=
        POPRT_OK)
        return false;
    c->called += c->r[k].call.done != NULL;
    c->sent++;
    if (draw(c, 20) == 0)
        poprt_request_cancel(c->request[k]);
    return true;
}

static void receive(client *c, uint32_t k)
{
    if (poprt_request_wait(c->request[k], 60ull * SECOND) == 0) {
        c->lost++;
        return; /* its memory stays in use */
    }
    const poprt_status status = poprt_request_result(c->request[k]);
    if (status == POPRT_E_CANCELLED)
        c->cancelled++;
    else if (status == POPRT_OK &&
        memcmp(c->r[k].scores, expected[c->first[k]], 40 * c->rows[k]) == 0)
        c->right++;
    else
        c->wrong++;
    poprt_request_release(c->request[k]);
}

static void *serve(void *user)
{
    client *c = user;
    bool open = true;
    while (open && now_ns() < c->until) {
        uint32_t n = 0;
        for (uint32_t most = 1 + draw(c, AT_A_TIME); n < most && open; n += open)
            open = send(c, n);
        for (uint32_t k = 0; k < n; k++)
            receive(c, k);
    }
    return NULL;
}

static client clients[CLIENTS];

static void start_clients(poprt_runner *runner, uint64_t time)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){ .runner = runner, .seed = 77 * i, .until = now_ns() + time };
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, serve, &clients[i]), 0);
    }
}

static client join_clients(void)
{
    client sum = { 0 };
    for (uint32_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        sum.sent += clients[i].sent;
        sum.right += clients[i].right;
        sum.wrong += clients[i].wrong;
        sum.cancelled += clients[i].cancelled;
        sum.called += clients[i].called;
        sum.callbacks += clients[i].callbacks;
        sum.lost += clients[i].lost;
    }
    ck_assert_uint_eq(sum.wrong, 0);
    ck_assert_uint_eq(sum.lost, 0);
    ck_assert_uint_eq(sum.sent, sum.right + sum.cancelled);
    return sum;
}

static poprt_executable *compile_expected(void)
{
    poprt_executable *exec = compile_digits(NULL);
    expect_scores(exec, 0, IMAGES + MOST_ROWS, BATCH, expected[0]);
    return exec;
}

static void run_clients(const char *sessions, const char *timeout)
{
    poprt_executable *exec = compile_expected();
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "8", "batching_dim", "0", "timeout_ns",
        timeout, "runner_sessions", sessions);
    start_clients(runner, (uint64_t)seconds * SECOND / 2);
    const client sum = join_clients();
    const poprt_runner_stats stats = stats_of(runner);
    ck_assert_uint_gt(sum.right, 0);
    ck_assert_uint_eq(sum.called, sum.callbacks);
    ck_assert_uint_eq(stats.requests, sum.sent);
    ck_assert_uint_eq(stats.finished, sum.sent);
    ck_assert_uint_eq(stats.failed, sum.cancelled);
    ck_assert_uint_eq(stats.queued, 0);
    printf("%llu requests, %llu cancelled, %llu batches, %llu rows, %llu of padding\n",
        (unsigned long long)sum.sent, (unsigned long long)sum.cancelled,
        (unsigned long long)stats.batches, (unsigned long long)stats.rows,
        (unsigned long long)stats.padding);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}

START_TEST(sixteen_clients_of_one_session)
{
    run_clients("1", "200000");
}
END_TEST

START_TEST(sixteen_clients_of_three_sessions)
{
    run_clients("3", "2000000");
}
END_TEST

/* A runner that stops under load finishes each request: with its result, or as cancelled. Clients
 * end when a request is refused. */
START_TEST(the_end_under_load_finishes_every_request)
{
    poprt_executable *exec = compile_expected();
    for (int round = 0; round < 10; round++) {
        poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "8", "batching_dim", "0",
            "timeout_ns", "100000", "runner_sessions", "2");
        start_clients(runner, 20ull * SECOND);
        const struct timespec time = { .tv_nsec = 5000000 + 3000000 * round };
        (void)nanosleep(&time, NULL);
        ck_assert_ok(poprt_runner_stop(runner));
        (void)join_clients();
        ck_assert_uint_eq(stats_of(runner).requests, stats_of(runner).finished);
        poprt_runner_release(runner);
    }
    poprt_executable_release(exec);
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = { sixteen_clients_of_one_session,
        sixteen_clients_of_three_sessions, the_end_under_load_finishes_every_request };
    if (argc > 1)
        seconds = (unsigned)atoi(argv[1]);
    return prt_check_main("runner/load", tests, sizeof(tests) / sizeof(tests[0]));
}
