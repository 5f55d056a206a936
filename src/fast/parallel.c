/* SPDX-License-Identifier: MIT */
/*
 * parallel.c — distribution of work items. Each thread owns a range of the items and takes from its
 * front. When its range is empty, it takes from the ends of the other ranges. So a thread mostly
 * works on data that the step before has left in its own caches.
 */
#include "fast/parallel.h"

#include <stdatomic.h>

#include "par/range.h"

enum { RANGES = 32 }; /* with more threads, some share a range */

typedef struct range {
    _Alignas(64) prt_range items;
} range;

typedef struct parallel_run {
    prt_eval *c;
    prt_parallel_body body;
    const void *user;
    size_t floats;
    float *scratch;
    uint32_t n_ranges;
    range *ranges;
    _Atomic bool stop;
} parallel_run;

static bool next_item(const parallel_run *j, uint32_t own, uint32_t *item)
{
    bool some = prt_range_pop(&j->ranges[own].items, true, item);
    for (uint32_t k = 1; !some && k < j->n_ranges; k++)
        some = prt_range_pop(&j->ranges[(own + k) % j->n_ranges].items, false, item);
    return some;
}

static void run_items(void *arg, uint32_t index)
{
    parallel_run *j = arg;
    float *scratch = j->floats != 0 ? j->scratch + index * j->floats : NULL;
    for (uint32_t item; next_item(j, index % j->n_ranges, &item);) {
        if (atomic_load_explicit(&j->stop, memory_order_relaxed))
            return;
        if (j->c->host->check(j->c) != POPRT_OK)
            atomic_store_explicit(&j->stop, true, memory_order_relaxed);
        else
            j->body(j->user, item, scratch);
    }
}

static float *floats_of(prt_eval *c, size_t rows, size_t columns,
    void *(*scratch)(prt_eval *c, size_t count, size_t size))
{
    size_t bytes;
    if (!prt_size_mul(rows, columns, &bytes) || !prt_size_mul(bytes, sizeof(float), &bytes) ||
        !prt_size_add(bytes, 64, &bytes)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    char *memory = scratch(c, 1, bytes);
    if (memory == NULL)
        return NULL;
    return (float *)(void *)(memory + (64 - (uintptr_t)memory % 64) % 64);
}

float *prt_parallel_zeroed_floats(prt_eval *c, size_t rows, size_t columns)
{
    return floats_of(c, rows, columns, prt_eval_scratch);
}

float *prt_parallel_uninitialized_floats(prt_eval *c, size_t rows, size_t columns)
{
    return floats_of(c, rows, columns, prt_eval_scratch_raw);
}

/* Bytes that a step reads and writes, below which a second thread costs more than it saves. */
enum { TINY = 1 << 13 /* bytes */ };

static bool is_tiny(const prt_eval *c)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->n_in && bytes < TINY; i++)
        bytes += c->in[i] != NULL ? c->in[i]->size : 0;
    for (uint32_t i = 0; i < c->n_out && bytes < TINY; i++)
        bytes += c->out[i] != NULL ? c->out[i]->size : 0;
    return bytes < TINY;
}

/* Runs all items on this thread. */
static poprt_status run_here(prt_eval *c, size_t count, prt_parallel_body body, const void *user,
    float *scratch)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            PRT_TRY(c->host->check(c));
        body(user, i, scratch);
    }
    return POPRT_OK;
}

static size_t floats_each(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* Returns the number of threads for `count` items. */
static size_t threads_of(const prt_eval *c, size_t count)
{
    const size_t width = prt_parallel_threads(c);
    const bool alone = count < 2 || count > UINT32_MAX || is_tiny(c);
    return alone ? 1 : count < width ? count : width;
}

float *prt_parallel_scratch(prt_eval *c, size_t count, size_t floats)
{
    return floats_of(c, threads_of(c, count), floats_each(floats), prt_eval_scratch_raw);
}

/* Returns idle memory of the session, `*each` floats for each thread, at least `floats`; NULL if
 * there is none. */
static float *idle_memory(prt_eval *c, size_t threads, size_t floats, size_t *each)
{
    size_t bytes = 0;
    float *idle = c->host->idle_scratch != NULL
        ? c->host->idle_scratch(c, threads, floats * sizeof(float), &bytes)
        : NULL;
    *each = bytes / sizeof(float);
    return idle;
}

size_t prt_parallel_idle_scratch(prt_eval *c, size_t count)
{
    size_t each;
    (void)idle_memory(c, threads_of(c, count), 0, &each);
    return each;
}

/* Returns the scratch of a run: idle memory if it suffices, else allocated. Sets the floats of a
 * thread. */
static float *find_scratch(prt_eval *c, size_t threads, size_t *floats)
{
    size_t each;
    *floats = floats_each(*floats);
    float *idle = idle_memory(c, threads, *floats, &each);
    if (idle == NULL)
        return floats_of(c, threads, *floats, prt_eval_scratch_raw);
    *floats = each;
    return idle;
}

poprt_status prt_parallel_for(prt_eval *c, size_t count, size_t floats, prt_parallel_body body,
    const void *user)
{
    float *scratch = NULL;
    if (count == 0)
        return POPRT_OK;
    if (floats != 0 && (scratch = find_scratch(c, threads_of(c, count), &floats)) == NULL)
        return POPRT_E_NOMEM;
    return prt_parallel_for_in(c, count, floats, scratch, body, user);
}

poprt_status prt_parallel_for_in(prt_eval *c, size_t count, size_t floats, float *scratch,
    prt_parallel_body body, const void *user)
{
    if (c->is_measuring)
        return POPRT_OK;
    const size_t threads = threads_of(c, count);
    if (threads == 1)
        return run_here(c, count, body, user, scratch);
    parallel_run j = { .c = c,
        .body = body,
        .user = user,
        .floats = floats_each(floats),
        .scratch = scratch };
    range ranges[RANGES];
    j.ranges = ranges;
    j.n_ranges = threads < RANGES ? (uint32_t)threads : RANGES;
    for (uint32_t i = 0; i < j.n_ranges; i++)
        atomic_init(&ranges[i].items,
            prt_range_of((uint32_t)prt_parallel_piece_begin(count, j.n_ranges, i),
                (uint32_t)prt_parallel_piece_begin(count, j.n_ranges, i + 1)));
    prt_par_for(c->par, (uint32_t)threads, run_items, &j);
    /* A failure is recorded for the thread that saw it: ask again on this one. */
    return atomic_load(&j.stop) ? c->host->check(c) : POPRT_OK;
}
