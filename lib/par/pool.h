/* SPDX-License-Identifier: MIT */
/*
 * pool.h — a thread pool that runs one job at a time: a loop over independent indices.
 *
 * A worker waits by spinning for a bounded time, then on a futex. The caller takes part. Indices
 * are handed out in small chunks that any participant may take, so a worker that is kept off its
 * core costs only its share of the help. The result of an index does not depend on the thread that
 * runs it, so results do not depend on the width. Calls from several threads are served in turn. A
 * call from inside a body runs its indices in place. After fork the child has no workers and starts
 * its own when needed.
 */
#ifndef PRT_PAR_POOL_H
#define PRT_PAR_POOL_H

#include "base/mem.h"

typedef void (*prt_par_body)(void *arg, uint32_t index);

/* The way parallel work is run: by this pool, by the host's, or in place (run NULL). */
typedef struct prt_par {
    void *user;
    void (*run)(void *user, uint32_t n, prt_par_body body, void *arg);
    uint32_t width; /* maximum of participating threads, the caller included; at least 1 */
} prt_par;

typedef struct prt_pool prt_pool;

/* Creates a pool of `width` threads, the caller included; 0 means prt_cpu_count(). `spin_ns` bounds
 * the spinning before a worker sleeps. The threads start at the first job. */
poprt_status prt_pool_create(const prt_allocator *allocator, uint32_t width, uint32_t spin_ns,
    prt_pool **out);
void prt_pool_release(prt_pool *pool);
prt_par prt_pool_par(prt_pool *pool);

/* Calls body(arg, i) once for each i below n, and returns when all calls have returned. */
static inline void prt_par_for(const prt_par *par, uint32_t n, prt_par_body body, void *arg)
{
    if (par != NULL && par->run != NULL && par->width > 1 && n > 1) {
        par->run(par->user, n, body, arg);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        body(arg, i);
}

#endif
