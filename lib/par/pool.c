/* SPDX-License-Identifier: MIT */
/*
 * pool.c — worker threads around two counters.
 *
 *   remaining  chunks of the current job that are not taken yet, as the first one and the end.
 *              The caller takes the first, workers take the last. So chunk 0 is always the
 *              caller's, and its data is often still in the caller's cache
 *   pending    chunks that are not finished; the thread that finishes a chunk decrements it
 *
 * The caller writes the job, then `pending`, then `remaining`, and takes chunks like a worker. When
 * `remaining` is empty it waits for `pending`, that is, only for chunks that are being run. A
 * worker reads the job only after it has taken a chunk of it; from then on the job cannot end
 * without that worker. So a worker that slept through a job, or is suspended anywhere in this code,
 * neither delays another thread nor sees a stale job.
 *
 * If another program keeps a worker off its processor in the middle of a chunk, the caller has to
 * wait for a time slice of the scheduler. After such a wait, many times as long as the caller's own
 * part, the pool runs jobs on the caller alone for a while, longer each time. A width that does not
 * help then costs little.
 *
 * The spinning time of workers adapts: it doubles after a job came in time and halves after a wait
 * without a job, between an eighth of `spin_ns` and `spin_ns`.
 *
 * Workers sleep on `epoch`, which counts jobs; the caller sleeps on `pending`. Either side
 * announces itself before its last check, and the other side changes the word before it looks for
 * sleepers (sequentially consistent on both sides), so no wake-up is lost.
 */
#define _GNU_SOURCE
#include "par/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cpu/cpu.h"
#include "par/affinity.h"
#include "par/range.h"

/* Operations of Linux's SYS_futex; musl is installed without the kernel's headers. */
enum { FUTEX_WAIT_OWN = 0 | 128, FUTEX_WAKE_OWN = 1 | 128 };

enum {
    MAX_WIDTH = 1024,      /* threads */
    CHUNKS_PER_THREAD = 8, /* maximum of chunks of a job, by thread */
    PAUSE_NS = 4000,       /* spin without yielding for this time; afterwards yield */
    PAUSES = 32,           /* pause instructions between two readings of the clock */
    LEAST_SPIN = 8,        /* 1/LEAST_SPIN of spin_ns is the minimum of spinning */
    /* A wait is bad if longer than this plus SLOW_WAIT_RATIO times the caller's own work. */
    SLOW_WAIT_NS = 100000,
    SLOW_WAIT_RATIO = 4,
    RECOVERY_NS = 8000000,   /* each such time without a bad wait halves the next penalty */
    ALONE_NS = 1000000,      /* first time without workers after a bad wait */
    MOST_ALONE_NS = 32000000 /* maximum; some time slices, of which the next bad wait takes one */
};

typedef struct worker {
    struct prt_pool *pool;
    uint32_t index;
    pthread_t thread;
} worker;

struct prt_pool {
    const prt_allocator *allocator;
    uint32_t width, spin_ns;
    uint32_t started;            /* running workers; guarded by `caller_lock` */
    bool start_tried;            /* starting threads was tried; guarded by `caller_lock` */
    _Atomic int64_t owner;       /* process that owns the workers; 0 while a forked child resets */
    pthread_mutex_t caller_lock; /* held by the caller of the current job */
    worker *workers;
    /* Guarded by `caller_lock`: the end and the length of the time without workers; the start of
     * the time without a bad wait. */
    uint64_t alone_until, alone_ns, recovery_from;

    /* the current job */
    prt_par_body body;
    void *arg;
    uint32_t n, chunk, chunks;

    _Alignas(64) prt_range remaining;
    _Alignas(64) _Atomic uint32_t pending;
    _Atomic uint32_t caller_sleeps;
    _Alignas(64) _Atomic uint32_t epoch;
    _Atomic uint32_t sleepers;
    _Atomic uint32_t spin_now; /* current spinning time of workers, in ns */
    _Atomic int32_t caller_cpu;
    _Atomic bool stop;
};

/* True while this thread runs chunks: a call from a body runs in place. */
static _Thread_local bool inside;

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_OWN, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_OWN, count, NULL, NULL, 0);
}

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins while *word is `value`, at most `most_ns`; returns true when it changed. */
static bool spin(const _Atomic uint32_t *word, uint32_t value, uint32_t most_ns)
{
    if (most_ns == 0)
        return atomic_load_explicit(word, memory_order_acquire) != value;
    const uint64_t start = prt_clock_ns();
    for (;;) {
        for (int i = 0; i < PAUSES; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != value)
                return true;
            pause_core();
        }
        const uint64_t spent = prt_clock_ns() - start;
        if (spent >= most_ns)
            return false;
        if (spent >= PAUSE_NS)
            (void)sched_yield();
    }
}

/* Takes chunks of the current job. If the job changes in the meantime, the chunks taken belong to
 * the new one. */
static void run_chunks(prt_pool *pool, bool caller)
{
    inside = true;
    for (uint32_t chunk; prt_range_pop(&pool->remaining, caller, &chunk);) {
        const uint64_t first = (uint64_t)chunk * pool->chunk;
        const uint64_t end = first + pool->chunk < pool->n ? first + pool->chunk : pool->n;
        for (uint64_t i = first; i < end; i++)
            pool->body(pool->arg, (uint32_t)i);
        /* The job may end here: its fields must not be read below this line. */
        if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->caller_sleeps) != 0)
            futex_wake(&pool->pending, 1);
    }
    inside = false;
}

/* Spins for a job, and adapts the spinning time to whether one came. */
static bool spin_for_job(prt_pool *pool, uint32_t seen)
{
    const uint32_t least = pool->spin_ns / LEAST_SPIN;
    const uint32_t now = atomic_load_explicit(&pool->spin_now, memory_order_relaxed);
    const bool came = spin(&pool->epoch, seen, now);
    uint32_t next = came ? (now < pool->spin_ns / 2 ? now * 2 : pool->spin_ns) : now / 2;
    if (next < least)
        next = least;
    if (next != now)
        atomic_store_explicit(&pool->spin_now, next, memory_order_relaxed);
    return came;
}

/* Moves a worker off the caller's processor, where it would not help. */
static void move_off(prt_pool *pool, uint32_t index)
{
    const int32_t caller = atomic_load_explicit(&pool->caller_cpu, memory_order_relaxed);
    if (prt_affinity_cpu() == caller)
        prt_affinity_move_thread(index, caller);
}

/* Names the calling thread for debuggers and profilers. Linux keeps 15 bytes: from worker 100 on,
 * only the last two digits are shown. */
static void name_worker(uint32_t index)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "poprt-worker-%u", index % 100);
    (void)pthread_setname_np(pthread_self(), name);
}

static void *work(void *arg)
{
    const worker *self = arg;
    prt_pool *pool = self->pool;
    name_worker(self->index);
    prt_affinity_move_thread(self->index,
        atomic_load_explicit(&pool->caller_cpu, memory_order_relaxed));
    for (;;) {
        const uint32_t seen = atomic_load(&pool->epoch);
        if (atomic_load(&pool->stop))
            return NULL;
        run_chunks(pool, false);
        if (spin_for_job(pool, seen))
            continue;
        atomic_fetch_add(&pool->sleepers, 1);
        while (atomic_load(&pool->epoch) == seen)
            futex_wait(&pool->epoch, seen);
        atomic_fetch_sub(&pool->sleepers, 1);
        move_off(pool, self->index);
    }
}

/* Increments `epoch` and wakes sleeping workers. */
static void announce(prt_pool *pool, uint32_t wanted)
{
    atomic_fetch_add(&pool->epoch, 1);
    const uint32_t sleepers = atomic_load(&pool->sleepers);
    if (sleepers != 0)
        futex_wake(&pool->epoch, wanted < sleepers ? wanted : sleepers);
}

/* Extends or shortens the time without workers by the length of a wait. */
static void adapt_alone_time(prt_pool *pool, uint64_t own_ns, uint64_t begin)
{
    const uint64_t now = prt_clock_ns(), waited = now - begin;
    if (waited < SLOW_WAIT_NS + SLOW_WAIT_RATIO * own_ns) {
        for (; now >= pool->recovery_from + RECOVERY_NS && pool->alone_ns != 0;
             pool->recovery_from += RECOVERY_NS)
            pool->alone_ns /= 2;
        return;
    }
    pool->alone_ns = pool->alone_ns < ALONE_NS ? ALONE_NS : pool->alone_ns * 2;
    if (pool->alone_ns > MOST_ALONE_NS)
        pool->alone_ns = MOST_ALONE_NS;
    pool->recovery_from = pool->alone_until = now + pool->alone_ns;
}

/* `start`: the time at which the caller began its own part. */
static void wait_for_chunks(prt_pool *pool, uint64_t start)
{
    if (atomic_load(&pool->pending) == 0)
        return;
    const uint64_t begin = prt_clock_ns();
    for (;;) {
        const uint32_t left = atomic_load(&pool->pending);
        if (left == 0) {
            adapt_alone_time(pool, begin - start, begin);
            return;
        }
        if (spin(&pool->pending, left, pool->spin_ns))
            continue;
        atomic_store(&pool->caller_sleeps, 1);
        if (atomic_load(&pool->pending) == left)
            futex_wait(&pool->pending, left);
        atomic_store(&pool->caller_sleeps, 0);
    }
}

/* Starts the workers, with all signals blocked: handlers belong to the host's threads. If the
 * system refuses a thread, the pool runs with fewer. */
static void start_threads(prt_pool *pool)
{
    pool->start_tried = true;
    sigset_t all, before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    atomic_store_explicit(&pool->caller_cpu, prt_affinity_cpu(), memory_order_relaxed);
    while (pool->started + 1 < pool->width) {
        worker *w = &pool->workers[pool->started];
        *w = (worker){ .pool = pool, .index = pool->started };
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        pool->started++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void reset(prt_pool *pool)
{
    pool->started = 0;
    pool->start_tried = false;
    atomic_store(&pool->remaining, 0);
    atomic_store(&pool->pending, 0);
    atomic_store(&pool->caller_sleeps, 0);
    atomic_store(&pool->sleepers, 0);
    pool->alone_until = pool->alone_ns = 0;
}

/*
 * After fork the child has this memory but no threads, and a mutex in an unknown state. The first
 * caller in the child resets the pool; other threads of the child wait for it. Returns false when
 * the mutex cannot be initialised.
 */
static bool take_ownership(prt_pool *pool)
{
    const int64_t pid = getpid();
    int64_t owner = atomic_load(&pool->owner);
    while (owner != pid) {
        if (owner != 0 && atomic_compare_exchange_strong(&pool->owner, &owner, 0)) {
            const bool made = pthread_mutex_init(&pool->caller_lock, NULL) == 0;
            reset(pool);
            atomic_store(&pool->owner, made ? pid : owner);
            return made;
        }
        (void)sched_yield();
        owner = atomic_load(&pool->owner);
    }
    return true;
}

static void run_in_place(uint32_t n, prt_par_body body, void *arg)
{
    for (uint32_t i = 0; i < n; i++)
        body(arg, i);
}

/* Runs while `caller_lock` is held: calls from the bodies must not lock it again. */
static void run_alone(uint32_t n, prt_par_body body, void *arg)
{
    inside = true;
    run_in_place(n, body, arg);
    inside = false;
}

static void run_job(prt_pool *pool, uint32_t n, prt_par_body body, void *arg)
{
    const uint64_t start = prt_clock_ns();
    if (start < pool->alone_until) {
        run_alone(n, body, arg);
        return;
    }
    const uint32_t threads = pool->started + 1;
    const uint32_t most = threads * CHUNKS_PER_THREAD;
    pool->body = body;
    pool->arg = arg;
    pool->n = n;
    pool->chunk = n / most + (n % most != 0);
    pool->chunks = n / pool->chunk + (n % pool->chunk != 0);
    atomic_store_explicit(&pool->pending, pool->chunks, memory_order_relaxed);
    atomic_store_explicit(&pool->remaining, prt_range_of(0, pool->chunks), memory_order_release);
    atomic_store_explicit(&pool->caller_cpu, prt_affinity_cpu(), memory_order_relaxed);
    announce(pool, pool->chunks - 1);
    run_chunks(pool, true);
    wait_for_chunks(pool, start);
}

static void pool_run(void *user, uint32_t n, prt_par_body body, void *arg)
{
    prt_pool *pool = user;
    if (inside || n < 2 || pool->width < 2 || !take_ownership(pool) ||
        pthread_mutex_lock(&pool->caller_lock) != 0) {
        run_in_place(n, body, arg);
        return;
    }
    if (!pool->start_tried)
        start_threads(pool);
    if (pool->started != 0)
        run_job(pool, n, body, arg);
    else
        run_alone(n, body, arg);
    (void)pthread_mutex_unlock(&pool->caller_lock);
}

poprt_status prt_pool_create(const prt_allocator *allocator, uint32_t width, uint32_t spin_ns,
    prt_pool **out)
{
    if (width == 0)
        width = prt_cpu_count();
    if (width > MAX_WIDTH)
        width = MAX_WIDTH;
    prt_pool *pool = prt_mem_alloc(allocator, sizeof(*pool));
    if (pool == NULL)
        return POPRT_E_NOMEM;
    pool->allocator = allocator;
    pool->width = width;
    pool->spin_ns = spin_ns;
    atomic_init(&pool->owner, (int64_t)getpid());
    atomic_init(&pool->spin_now, spin_ns);
    atomic_init(&pool->caller_cpu, -1);
    pool->workers = prt_mem_alloc(allocator, width * sizeof(*pool->workers));
    if (pool->workers == NULL || pthread_mutex_init(&pool->caller_lock, NULL) != 0) {
        prt_mem_free(allocator, pool->workers);
        prt_mem_free(allocator, pool);
        return prt_fail_nomem(sizeof(*pool));
    }
    *out = pool;
    return POPRT_OK;
}

void prt_pool_release(prt_pool *pool)
{
    if (pool == NULL)
        return;
    /* A forked child has no threads to join, and must not destroy its copy of the mutex. */
    if (atomic_load(&pool->owner) == getpid()) {
        atomic_store(&pool->stop, true);
        announce(pool, UINT32_MAX);
        for (uint32_t i = 0; i < pool->started; i++)
            (void)pthread_join(pool->workers[i].thread, NULL);
        (void)pthread_mutex_destroy(&pool->caller_lock);
    }
    prt_mem_free(pool->allocator, pool->workers);
    prt_mem_free(pool->allocator, pool);
}

prt_par prt_pool_par(prt_pool *pool)
{
    return (prt_par){ .user = pool, .run = pool_run, .width = pool->width };
}
