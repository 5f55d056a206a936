/* SPDX-License-Identifier: MIT */
/* gemm_tiles.c — distribution of tiles to threads by an atomic counter. */
#include "op/share/gemm_tiles.h"

#include <stdatomic.h>

typedef struct tile_work {
    prt_eval *c;
    const prt_gemm_tiles *tiles;
    double *panels;
    _Atomic size_t next;
    _Atomic bool stop;
} tile_work;

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

static void run_tiles(void *arg, uint32_t index)
{
    tile_work *work = arg;
    double *panel = work->panels + index * panel_size(work->tiles->depth);
    for (;;) {
        const size_t tile = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (tile >= work->tiles->count || atomic_load_explicit(&work->stop, memory_order_relaxed))
            return;
        if (work->c->host->check(work->c) != POPRT_OK)
            atomic_store_explicit(&work->stop, true, memory_order_relaxed);
        else
            work->tiles->run(work->tiles->user, tile, panel);
    }
}

poprt_status prt_gemm_tiles_run(prt_eval *c, const prt_gemm_tiles *tiles, double *panels)
{
    if (c->is_measuring)
        return POPRT_OK;
    tile_work work = { .c = c, .tiles = tiles, .panels = panels };
    const uint32_t n = participants(c);
    prt_par_for(c->par, tiles->count < n ? (uint32_t)tiles->count : n, run_tiles, &work);
    /* The error record is thread-local, so the calling thread repeats the check. */
    return atomic_load(&work.stop) ? c->host->check(c) : POPRT_OK;
}
