/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c — any refused allocation of a runner is an error, nothing leaks, and a runner that
 * serves requests does not grow.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "runner_test.h"

/* An allocator that counts, and refuses one call or all from one on. Any thread. */
typedef struct counter {
    _Atomic size_t calls, live, refuse_at;
    bool refuse_after;
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    const size_t call = atomic_fetch_add(&c->calls, 1) + 1, at = atomic_load(&c->refuse_at);
    if (at != 0 && (call == at || (c->refuse_after && call > at)))
        return NULL;
    void *p = aligned_alloc(align < 64 ? 64 : align, (size + 64) / 64 * 64);
    if (p != NULL)
        (void)atomic_fetch_add(&c->live, 1);
    return p;
}

static void count_release(void *user, void *p)
{
    counter *c = user;
    (void)atomic_fetch_sub(&c->live, 1);
    free(p);
}

static poprt_env *open_env(counter *c)
{
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    const poprt_env_options options = { .struct_size = sizeof(options), .allocator = &allocator };
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

/* Creates a runner, runs 3 and 5 rows, and stops and reloads it. Returns the first failure. */
static poprt_status live(poprt_executable *exec, const poprt_config *config)
{
    poprt_runner *runner = NULL;
    static digits_request r;
    poprt_status status = poprt_runner_create(exec, config, &runner);
    for (uint32_t i = 0; i < 2 && status == POPRT_OK; i++) {
        digits_init(&r, i, 2 + 2 * i);
        status = poprt_runner_execute(runner, &r.call);
    }
    if (status == POPRT_OK)
        status = poprt_runner_stop(runner);
    if (status == POPRT_OK)
        status = poprt_runner_reload(runner);
    if (status == POPRT_OK)
        status = poprt_runner_execute(runner, &r.call);
    poprt_runner_release(runner);
    return status;
}

static void sweep(const char *const *pairs, bool refuse_after)
{
    counter c = { .refuse_after = refuse_after };
    poprt_env *env = open_env(&c);
    poprt_executable *exec = compile_digits(env);
    poprt_config *config = config_of(pairs);
    ck_assert_ok(live(exec, config)); /* the executable allocates some memory once */
    const size_t held = atomic_load(&c.live);
    size_t failures = 0, k = 1;
    for (;; k++) {
        atomic_store(&c.calls, 0);
        atomic_store(&c.refuse_at, k);
        const poprt_status status = live(exec, config);
        const size_t calls = atomic_load(&c.calls);
        ck_assert_msg(status == POPRT_OK || status == POPRT_E_NOMEM, "refusing %zu: %s: %s", k,
            poprt_status_name(status), poprt_last_error()->message);
        ck_assert_msg(atomic_load(&c.live) == held, "refusing %zu: %zu pieces leak", k,
            atomic_load(&c.live) - held);
        failures += status != POPRT_OK;
        if (calls < k)
            break;
    }
    ck_assert_uint_gt(failures, 10);
    atomic_store(&c.refuse_at, 0);
    poprt_executable_release(exec);
    poprt_config_release(config);
    poprt_env_release(env);
    ck_assert_uint_eq(atomic_load(&c.live), 0);
}

START_TEST(a_refused_allocation_is_an_error)
{
    static const char *const batches[] = { "dim.batch", "4", "batching_dim", "0", "timeout_ns",
        "100000", "runner_sessions", "2", NULL };
    static const char *const light[] = { "dim.batch", "2", "runner_type", "light",
        "validate_io_params", "false", NULL };
    for (int after = 0; after < 2; after++) {
        sweep(batches, after != 0);
        sweep(light, after != 0);
    }
}
END_TEST

START_TEST(serving_does_not_grow)
{
    counter c = { .refuse_at = 0 };
    poprt_env *env = open_env(&c);
    poprt_executable *exec = compile_digits(env);
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "4", "batching_dim", "0", "timeout_ns",
        "10000", "runner_sessions", "2");
    static digits_request r;
    size_t held = 0;
    for (uint32_t i = 0; i < 400; i++) {
        digits_init(&r, i, 1 + i % 9);
        ck_assert_ok(poprt_runner_execute(runner, &r.call));
        if (i == 100)
            held = atomic_load(&c.live);
    }
    ck_assert_ok(poprt_runner_drain(runner));
    ck_assert_uint_le(atomic_load(&c.live), held + 1); /* a request may not be freed yet */
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    poprt_env_release(env);
    ck_assert_uint_eq(atomic_load(&c.live), 0);
}
END_TEST

PRT_TEST_MAIN("runner/memory", a_refused_allocation_is_an_error, serving_does_not_grow)
