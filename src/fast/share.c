/* SPDX-License-Identifier: MIT */
/* share.c — items handed out by a counter. */
#include "fast/share.h"

#include <stdatomic.h>

typedef struct job {
    prt_eval *c;
    prt_share_body body;
    const void *user;
    size_t count, floats;
    float *scratch;
    _Atomic size_t next;
    _Atomic bool stop;
} job;

static void take(void *arg, uint32_t index)
{
    job *j = arg;
    float *scratch = j->floats != 0 ? j->scratch + index * j->floats : NULL;
    for (;;) {
        const size_t item = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (item >= j->count || atomic_load_explicit(&j->stop, memory_order_relaxed))
            return;
        if (j->c->host->check(j->c) != POPRT_OK)
            atomic_store_explicit(&j->stop, true, memory_order_relaxed);
        else
            j->body(j->user, item, scratch);
    }
}

float *prt_share_floats(prt_eval *c, size_t rows, size_t columns)
{
    size_t bytes;
    if (!prt_size_mul(rows, columns, &bytes) || !prt_size_mul(bytes, sizeof(float), &bytes) ||
        !prt_size_add(bytes, 64, &bytes)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    char *memory = prt_eval_scratch(c, 1, bytes);
    if (memory == NULL)
        return NULL;
    return (float *)(void *)(memory + (64 - (uintptr_t)memory % 64) % 64);
}

poprt_status prt_share_run(prt_eval *c, size_t count, size_t floats, prt_share_body body,
    const void *user)
{
    const size_t width = c->par != NULL && c->par->width > 1 ? c->par->width : 1;
    const size_t threads = count < width ? count : width;
    job j = { .c = c, .body = body, .user = user, .count = count,
        .floats = (floats + 15) / 16 * 16 };
    if (count == 0)
        return POPRT_OK;
    if (floats != 0) {
        j.scratch = prt_share_floats(c, threads, j.floats);
        if (j.scratch == NULL)
            return POPRT_E_NOMEM;
    }
    prt_par_for(c->par, (uint32_t)threads, take, &j);
    /* The record of a refusal is the thread's that saw it: ask again on this one. */
    return atomic_load(&j.stop) ? c->host->check(c) : POPRT_OK;
}
