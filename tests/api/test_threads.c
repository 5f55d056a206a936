/* SPDX-License-Identifier: MIT */
/* test_threads.c — sessions on threads, queues, cancelling, fork, and the host's own executor. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api_test.h"
#include "models.h"

enum { THREADS = 4, ROUNDS = 50 };

typedef struct job {
    poprt_executable *exec;
    uint32_t seed;
    float expected[10];
    int wrong;
} job;

static void *run_session_job(void *arg)
{
    job *j = arg;
    poprt_session *session = NULL;
    digit d;
    digit_init(&d, j->seed);
    ck_assert_ok(poprt_session_create(j->exec, NULL, &session));
    poprt_stepio *io = digit_bind(&d, session);
    for (int i = 0; i < ROUNDS; i++) {
        memset(d.scores, 0, sizeof(d.scores));
        j->wrong += poprt_session_run(session, io) != POPRT_OK ||
            memcmp(d.scores, j->expected, sizeof(d.scores)) != 0;
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    return NULL;
}

START_TEST(sessions_share_an_executable)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    pthread_t threads[THREADS];
    job jobs[THREADS];
    options.threads = 2;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_uint_eq(poprt_env_width(env), 2);
    poprt_executable *exec = compile_digits(env);
    poprt_env_release(env);
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i] = (job){ .exec = exec, .seed = i };
        digit_expect(exec, i, jobs[i].expected);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_session_job, &jobs[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(jobs[i].wrong, 0);
    }
    poprt_executable_release(exec);
}
END_TEST

static void run_in_sequence(void *user, uint32_t n, poprt_parallel_body body, void *arg)
{
    ++*(size_t *)user;
    for (uint32_t i = n; i-- > 0;)
        body(arg, i);
}

START_TEST(results_do_not_depend_on_the_executor)
{
    size_t calls = 0;
    const poprt_parallel parallel = { .user = &calls, .run = run_in_sequence, .width = 7 };
    float expected[10], found[10];
    for (uint32_t width = 0; width <= 3; width++) {
        poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
        poprt_env *env = NULL;
        options.threads = width;
        options.parallel = width == 0 ? &parallel : NULL;
        ck_assert_ok(poprt_env_create(&options, &env));
        poprt_executable *exec = compile_digits(env);
        digit_expect(exec, 9, width == 0 ? expected : found);
        ck_assert(width == 0 || memcmp(expected, found, sizeof(found)) == 0);
        poprt_executable_release(exec);
        poprt_env_release(env);
    }
}
END_TEST

typedef struct answers {
    _Atomic int done;
    _Atomic bool all_submitted;
    int failed;
    poprt_session *session;
    poprt_stepio *io;
} answers;

static void count_done(void *user, poprt_status status, const poprt_error *error)
{
    answers *a = user;
    a->done++;
    if (status != POPRT_OK) {
        a->failed++;
        ck_assert_ptr_nonnull(error);
        ck_assert_int_eq(error->status, status);
    }
}

START_TEST(submitted_runs_finish_in_order)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_session *session = NULL;
    poprt_stepio *io[ROUNDS];
    digit d[ROUNDS];
    answers a = { 0 };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_drain(session));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        digit_init(&d[i], i);
        io[i] = digit_bind(&d[i], session);
        ck_assert_ok(poprt_session_submit(session, io[i], count_done, &a));
    }
    ck_assert_ok(poprt_session_drain(session));
    ck_assert_int_eq(a.done, ROUNDS);
    ck_assert_int_eq(a.failed, 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        float expected[10];
        digit_expect(exec, i, expected);
        ck_assert_mem_eq(expected, d[i].scores, sizeof(expected));
    }
    /* A failure is reported to the callback and not to the next call. */
    ck_assert_ok(poprt_stepio_bind(io[0], "image", NULL));
    ck_assert_ok(poprt_session_submit(session, io[0], count_done, &a));
    ck_assert_ok(poprt_session_drain(session));
    ck_assert_int_eq(a.failed, 1);
    for (uint32_t i = 0; i < ROUNDS; i++)
        poprt_stepio_release(io[i]);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

/* On the session's own thread a callback may submit runs but not wait for them. */
static void submit_again(void *user, poprt_status status, const poprt_error *error)
{
    answers *a = user;
    (void)error;
    ck_assert_int_eq(status, POPRT_OK);
    ck_assert_fails(poprt_session_drain(a->session), POPRT_E_STATE);
    if (++a->done < 3)
        ck_assert_ok(poprt_session_submit(a->session, a->io, submit_again, a));
}

START_TEST(callbacks_may_submit_runs)
{
    poprt_executable *exec = compile_digits(NULL);
    answers a = { 0 };
    digit d;
    digit_init(&d, 5);
    ck_assert_ok(poprt_session_create(exec, NULL, &a.session));
    a.io = digit_bind(&d, a.session);
    ck_assert_ok(poprt_session_submit(a.session, a.io, submit_again, &a));
    ck_assert_ok(poprt_session_drain(a.session));
    ck_assert_int_eq(a.done, 3);
    poprt_stepio_release(a.io);
    poprt_session_release(a.session);
    poprt_executable_release(exec);
}
END_TEST

/* Releases the session, the executable and the environment while runs are queued. */
static void release_all(void *user, poprt_status status, const poprt_error *error)
{
    answers *a = user;
    const struct timespec wait = { .tv_nsec = 100000 };
    (void)error;
    ck_assert_int_eq(status, POPRT_OK);
    while (!a->all_submitted) /* a released handle is invalid on all threads */
        (void)nanosleep(&wait, NULL);
    if (++a->done != 2)
        return;
    poprt_tensor t = { 0 };
    ck_assert_fails(poprt_session_run(a->session, a->io), POPRT_E_STATE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "callback of a submitted run"));
    ck_assert_fails(poprt_session_drain(a->session), POPRT_E_STATE);
    ck_assert_fails(poprt_session_watch(a->session, NULL, NULL), POPRT_E_STATE);
    ck_assert_fails(poprt_session_read_weight(a->session, "x", &t), POPRT_E_STATE);
    ck_assert_fails(poprt_session_write_weight(a->session, "x", &t), POPRT_E_STATE);
    poprt_session_cancel(a->session);
    ck_assert_uint_gt(poprt_session_memory(a->session), 0);
    poprt_session_release(a->session);
    ck_assert_uint_gt(poprt_session_memory(a->session), 0); /* until the callback returns */
}

typedef struct counter {
    _Atomic size_t blocks;
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    void *p = aligned_alloc(align, (size + align - 1) / align * align);
    if (p != NULL)
        atomic_fetch_add(&((counter *)user)->blocks, 1);
    return p;
}

static void count_release(void *user, void *p)
{
    atomic_fetch_sub(&((counter *)user)->blocks, 1);
    free(p);
}

START_TEST(callbacks_may_release_handles)
{
    counter c = { 0 };
    const poprt_allocator allocator = { .user = &c,
        .alloc = count_alloc,
        .release = count_release };
    const poprt_env_options options = { .struct_size = sizeof(options), .allocator = &allocator };
    const struct timespec wait = { .tv_nsec = 1000000 };
    for (int round = 0; round < 20; round++) {
        poprt_env *env = NULL;
        answers a = { 0 };
        digit d;
        digit_init(&d, 5);
        ck_assert_ok(poprt_env_create(&options, &env));
        poprt_executable *exec = compile_digits(env);
        ck_assert_ok(poprt_session_create(exec, NULL, &a.session));
        a.io = digit_bind(&d, a.session);
        poprt_executable_release(exec);
        poprt_env_release(env);
        for (int i = 0; i < 4; i++)
            ck_assert_ok(poprt_session_submit(a.session, a.io, release_all, &a));
        a.all_submitted = true;
        while (a.done < 4)
            (void)nanosleep(&wait, NULL);
        poprt_stepio_release(a.io);
        for (int i = 0; i < 5000 && c.blocks != 0; i++)
            (void)nanosleep(&wait, NULL);
        ck_assert_uint_eq(c.blocks, 0);
    }
}
END_TEST

static void *cancel_soon(void *arg)
{
    const struct timespec wait = { .tv_nsec = 20000000 };
    for (int i = 0; i < 50; i++) {
        (void)nanosleep(&wait, NULL);
        poprt_session_cancel(arg);
    }
    return NULL;
}

START_TEST(endless_runs_can_be_cancelled)
{
    poprt_executable *exec = compile_bytes(NULL, loop_model, sizeof(loop_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    int64_t trips = INT64_MAX;
    float start = 0;
    const int64_t one = 1;
    const poprt_tensor n = { .data = &trips, .size = 8, .dtype = POPRT_DTYPE_INT64 };
    const poprt_tensor s = { .data = &start,
        .size = 4,
        .dims = &one,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    pthread_t thread;
    poprt_tensor end;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_session_cancel(session);
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "trips", &n));
    ck_assert_ok(poprt_stepio_bind(io, "start", &s));
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, session), 0);
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_CANCELLED);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    trips = 3;
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 2, &end));
    ck_assert_float_eq(*(float *)end.data, 3);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(parent_and_child_run_after_a_fork)
{
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    /* The thread sanitizer does not support threads that start after fork; the allocator of the
     * address sanitizer stays locked in the child if a thread of the parent is using it. */
    return;
#endif
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    poprt_session *session = NULL;
    answers a = { 0 };
    digit d;
    float expected[10];
    int how = 0;
    options.threads = 2;
    ck_assert_ok(poprt_env_create(&options, &env));
    poprt_executable *exec = compile_digits(env);
    digit_init(&d, 6);
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_submit(session, io, count_done, &a));
    ck_assert_ok(poprt_session_drain(session));
    memcpy(expected, d.scores, sizeof(expected));
    const pid_t pid = fork();
    memset(d.scores, 0, sizeof(d.scores));
    poprt_status s = poprt_session_run(session, io);
    if (s == POPRT_OK)
        s = poprt_session_submit(session, io, count_done, &a);
    if (s == POPRT_OK)
        s = poprt_session_drain(session);
    const bool good = s == POPRT_OK && a.done == 2 && a.failed == 0 &&
        memcmp(d.scores, expected, sizeof(expected)) == 0;
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
    if (pid == 0)
        _exit(good ? 0 : 1);
    ck_assert(good);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}
END_TEST

PRT_TEST_MAIN("api/threads", sessions_share_an_executable, results_do_not_depend_on_the_executor,
    submitted_runs_finish_in_order, callbacks_may_submit_runs, callbacks_may_release_handles,
    endless_runs_can_be_cancelled, parent_and_child_run_after_a_fork)
