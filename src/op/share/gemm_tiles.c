/* SPDX-License-Identifier: MIT */
/* gemm_tiles.c — tiles handed out by a counter. */
#include "op/share/gemm_tiles.h"

#include <stdatomic.h>

typedef struct job {
    prt_eval *c;
    const prt_gemm_tiles *tiles;
    double *panels;
    _Atomic size_t next;
    _Atomic bool stop;
} job;

static uint32_t participants(const prt_eval *c)
{
    return c->par != NULL && c->par->width > 1 ? c->par->width : 1;
}

static size_t panel_size(size_t depth)
{
    return depth * PRT_TILE_COLS;
}

double *prt_gemm_tiles_panels(prt_eval *c, size_t depth)
{
    size_t elements;
    if (!prt_size_mul(depth, PRT_TILE_COLS * sizeof(double), &elements)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    return prt_eval_scratch(c, participants(c), elements);
}

static void take_tiles(void *arg, uint32_t index)
{
    job *j = arg;
    double *panel = j->panels + index * panel_size(j->tiles->depth);
    for (;;) {
        const size_t tile = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (tile >= j->tiles->count || atomic_load_explicit(&j->stop, memory_order_relaxed))
            return;
        if (j->c->host->check(j->c) != POPRT_OK)
            atomic_store_explicit(&j->stop, true, memory_order_relaxed);
        else
            j->tiles->run(j->tiles->user, tile, panel);
    }
}

poprt_status prt_gemm_tiles_run(prt_eval *c, const prt_gemm_tiles *tiles, double *panels)
{
    if (c->rehearses)
        return POPRT_OK;
    job j = { .c = c, .tiles = tiles, .panels = panels };
    const uint32_t n = participants(c);
    prt_par_for(c->par, tiles->count < n ? (uint32_t)tiles->count : n, take_tiles, &j);
    /* The record of a refusal is the thread's that saw it: ask again on this one. */
    return atomic_load(&j.stop) ? c->host->check(c) : POPRT_OK;
}
