/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c — every index runs once, for any width, from any thread, also nested and after fork.
 * Covers: affinity.c.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "par/pool.h"
#include "support/check_main.h"
#include "support/thread_names.h"

enum { LARGEST = 5000, SPIN_NS = 20000 };

static _Atomic uint32_t seen[LARGEST];

static void count_visit(void *arg, uint32_t index)
{
    (void)arg;
    atomic_fetch_add(&seen[index], 1);
}

static void check_visits(const prt_par *par, uint32_t n)
{
    memset((void *)seen, 0, sizeof(seen));
    prt_par_for(par, n, count_visit, NULL);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < LARGEST; i++)
        wrong += seen[i] != (i < n ? 1 : 0);
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(every_index_is_visited_once)
{
    static const uint32_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1000, 4999, 5000 };
    for (uint32_t width = 1; width <= 8; width++) {
        prt_pool *pool = NULL;
        ck_assert_int_eq(prt_pool_create(NULL, width, width % 2 * SPIN_NS, &pool), POPRT_OK);
        const prt_par par = prt_pool_par(pool);
        ck_assert_uint_eq(par.width, width);
        for (int round = 0; round < 20; round++)
            for (size_t k = 0; k < PRT_COUNT_OF(counts); k++)
                check_visits(&par, counts[k]);
        prt_pool_release(pool);
    }
}
END_TEST

START_TEST(no_pool_runs_in_place)
{
    const prt_par none = { .run = NULL, .width = 4 };
    check_visits(NULL, 100);
    check_visits(&none, 100);
    prt_pool_release(NULL);
}
END_TEST

typedef struct sums {
    const float *values;
    double partial[64];
} sums;

static void sum_block(void *arg, uint32_t index)
{
    sums *s = arg;
    double sum = 0;
    for (uint32_t i = 0; i < 500; i++)
        sum += (double)s->values[index * 500 + i] * 1.000001;
    s->partial[index] = sum;
}

START_TEST(sums_are_the_same_bits_for_every_width)
{
    static float values[64 * 500];
    for (size_t i = 0; i < PRT_COUNT_OF(values); i++)
        values[i] = (float)(i % 977) * 0.37f - 100.0f;
    static sums one, many;
    one.values = many.values = values;
    prt_par_for(NULL, 64, sum_block, &one);
    for (uint32_t width = 1; width <= 8; width++) {
        prt_pool *pool = NULL;
        ck_assert_int_eq(prt_pool_create(NULL, width, SPIN_NS, &pool), POPRT_OK);
        const prt_par par = prt_pool_par(pool);
        for (int round = 0; round < 50; round++) {
            memset(many.partial, 0, sizeof(many.partial));
            prt_par_for(&par, 64, sum_block, &many);
            ck_assert_int_eq(memcmp(one.partial, many.partial, sizeof(one.partial)), 0);
        }
        prt_pool_release(pool);
    }
}
END_TEST

START_TEST(many_small_jobs_run_completely)
{
    static const uint32_t spins[] = { 0, 1000, 50000 };
    for (size_t k = 0; k < PRT_COUNT_OF(spins); k++) {
        prt_pool *pool = NULL;
        ck_assert_int_eq(prt_pool_create(NULL, 4, spins[k], &pool), POPRT_OK);
        const prt_par par = prt_pool_par(pool);
        memset((void *)seen, 0, sizeof(seen));
        for (uint32_t round = 1; round <= 20000; round++) {
            prt_par_for(&par, 3, count_visit, NULL);
            for (uint32_t i = 0; i < 3; i++)
                if (seen[i] != round)
                    ck_abort_msg("index %u ran %u times, not %u", i, seen[i], round);
            if (round % 4000 == 0)
                (void)usleep(2000); /* lets the workers fall asleep */
        }
        prt_pool_release(pool);
    }
}
END_TEST

static void run_nested(void *arg, uint32_t index)
{
    (void)index;
    prt_par_for(arg, 50, count_visit, NULL);
}

START_TEST(nested_calls_run_in_place)
{
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 4, SPIN_NS, &pool), POPRT_OK);
    prt_par par = prt_pool_par(pool);
    for (int round = 0; round < 100; round++) {
        memset((void *)seen, 0, sizeof(seen));
        prt_par_for(&par, 40, run_nested, &par);
        for (uint32_t i = 0; i < 50; i++)
            ck_assert_uint_eq(seen[i], 40);
    }
    prt_pool_release(pool);
}
END_TEST

typedef struct job {
    const prt_par *par;
    uint32_t done[200];
} job;

static void count_up(void *arg, uint32_t index)
{
    ((job *)arg)->done[index]++;
}

static void *call_often(void *arg)
{
    job *j = arg;
    for (int round = 0; round < 2000; round++)
        prt_par_for(j->par, 200, count_up, j);
    return NULL;
}

static pthread_t asker;
static _Atomic bool taken;

/* The caller finishes as soon as a worker has begun, and the worker runs for a long time. */
static void delay_worker(void *arg, uint32_t index)
{
    (void)arg;
    (void)index;
    if (pthread_equal(pthread_self(), asker) == 0) {
        atomic_store(&taken, true);
        (void)usleep(20000);
        return;
    }
    for (int i = 0; i < 5000 && !atomic_load(&taken); i++)
        (void)usleep(1);
}

/* After a long wait the caller works alone for some time, and nested calls still run in place. */
START_TEST(late_workers_do_not_disturb_later_calls)
{
    prt_pool *pool = NULL;
    asker = pthread_self();
    ck_assert_int_eq(prt_pool_create(NULL, 2, SPIN_NS, &pool), POPRT_OK);
    prt_par par = prt_pool_par(pool);
    for (int round = 0; round < 5; round++) {
        atomic_store(&taken, false);
        prt_par_for(&par, 2, delay_worker, NULL);
        for (int k = 0; k < 10; k++) {
            memset((void *)seen, 0, sizeof(seen));
            prt_par_for(&par, 40, run_nested, &par);
            for (uint32_t i = 0; i < 50; i++)
                ck_assert_uint_eq(seen[i], 40);
        }
    }
    prt_pool_release(pool);
}
END_TEST

START_TEST(several_callers_share_a_pool)
{
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 3, SPIN_NS, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    static job jobs[6];
    pthread_t callers[6];
    for (int i = 0; i < 6; i++) {
        jobs[i].par = &par;
        ck_assert_int_eq(pthread_create(&callers[i], NULL, call_often, &jobs[i]), 0);
    }
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(pthread_join(callers[i], NULL), 0);
    for (int i = 0; i < 6; i++)
        for (uint32_t k = 0; k < 200; k++)
            ck_assert_uint_eq(jobs[i].done[k], 2000);
    prt_pool_release(pool);
}
END_TEST

/* Sanitizers cannot fork while a thread starts, because their allocator's locks stay held. The
 * thread sanitizer cannot start threads in the child. */
static void let_workers_start(void)
{
    (void)usleep(100000);
}

static bool can_fork(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return false; /* as in tests/api/test_threads.c */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    return true;
}

START_TEST(child_after_fork_has_its_own_workers)
{
    if (!can_fork())
        return;
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 4, SPIN_NS, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    check_visits(&par, 1000);
    let_workers_start();
    for (int round = 0; round < 10; round++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            uint32_t wrong = 0;
            memset((void *)seen, 0, sizeof(seen));
            for (uint32_t k = 0; k < 50; k++)
                prt_par_for(&par, 1000, count_visit, NULL);
            for (uint32_t i = 0; i < 1000; i++)
                wrong += seen[i] != 50;
            if (round % 2 == 0)
                prt_pool_release(pool);
            _exit(wrong == 0 ? 0 : 1);
        }
        check_visits(&par, 1000);
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    prt_pool_release(pool);
}
END_TEST

/* Forks while another thread runs a job, so the child's copy of the pool is in the middle of the
 * job. */
START_TEST(fork_during_a_job_leaves_a_usable_pool)
{
    if (!can_fork())
        return;
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 3, SPIN_NS, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    static job mine = { 0 };
    mine.par = &par;
    pthread_t caller;
    check_visits(&par, 1000);
    let_workers_start();
    ck_assert_int_eq(pthread_create(&caller, NULL, call_often, &mine), 0);
    for (int round = 0; round < 20; round++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            memset((void *)seen, 0, sizeof(seen));
            prt_par_for(&par, 100, count_visit, NULL);
            uint32_t wrong = 0;
            for (uint32_t i = 0; i < 100; i++)
                wrong += seen[i] != 1;
            _exit(wrong == 0 ? 0 : 1);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(pthread_join(caller, NULL), 0);
    for (uint32_t k = 0; k < 200; k++)
        ck_assert_uint_eq(mine.done[k], 2000);
    prt_pool_release(pool);
}
END_TEST

START_TEST(pools_are_created_and_released_repeatedly)
{
    for (int round = 0; round < 300; round++) {
        prt_pool *pool = NULL;
        ck_assert_int_eq(prt_pool_create(NULL, 4, (uint32_t)(round % 3) * 1000, &pool), POPRT_OK);
        const prt_par par = prt_pool_par(pool);
        if (round % 5 != 0)
            check_visits(&par, (uint32_t)round);
        prt_pool_release(pool);
    }
}
END_TEST

/* If no thread can be created, the caller runs all items. */
START_TEST(without_threads_the_caller_runs_all)
{
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 4, SPIN_NS, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    const struct rlimit none = { 0, 0 };
    ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
    check_visits(&par, 1000);
    check_visits(&par, 1000);
    prt_pool_release(pool);
}
END_TEST

START_TEST(width_has_a_default_and_a_bound)
{
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 0, 0, &pool), POPRT_OK);
    ck_assert_uint_ge(prt_pool_par(pool).width, 1);
    prt_pool_release(pool);
    ck_assert_int_eq(prt_pool_create(NULL, UINT32_MAX, 0, &pool), POPRT_OK);
    ck_assert_uint_le(prt_pool_par(pool).width, 1024);
    prt_pool_release(pool);
}
END_TEST

START_TEST(workers_have_names)
{
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 3, SPIN_NS, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    check_visits(&par, 1000);
    ck_assert(thread_exists("poprt-worker-0"));
    ck_assert(thread_exists("poprt-worker-1"));
    prt_pool_release(pool);
}
END_TEST

PRT_TEST_MAIN("par/pool", every_index_is_visited_once, no_pool_runs_in_place,
    sums_are_the_same_bits_for_every_width, many_small_jobs_run_completely,
    nested_calls_run_in_place, late_workers_do_not_disturb_later_calls,
    several_callers_share_a_pool, child_after_fork_has_its_own_workers,
    fork_during_a_job_leaves_a_usable_pool, pools_are_created_and_released_repeatedly,
    without_threads_the_caller_runs_all, workers_have_names, width_has_a_default_and_a_bound)
