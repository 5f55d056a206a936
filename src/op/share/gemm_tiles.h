/* SPDX-License-Identifier: MIT */
/*
 * gemm_tiles.h — distributes the column tiles of a matrix product over the threads of the host.
 * Each thread fetches one tile at a time and has a panel of its own. The result of a tile does not
 * depend on the thread, so results are bit-identical for any number of threads.
 */
#ifndef PRT_OP_SHARE_GEMM_TILES_H
#define PRT_OP_SHARE_GEMM_TILES_H

#include "op/share/reals.h"

typedef struct prt_gemm_tiles {
    size_t count; /* number of tiles of PRT_TILE_COLS columns */
    size_t depth;
    void (*run)(const void *user, size_t tile, double *panel);
    const void *user;
} prt_gemm_tiles;

/* Returns panels for all threads; one allocation serves many runs. Returns NULL and records the
 * error if memory is refused. */
double *prt_gemm_tiles_panels(prt_eval *c, size_t depth);

/* Runs every tile once. Fails with POPRT_E_CANCELLED if the host cancels. */
poprt_status prt_gemm_tiles_run(prt_eval *c, const prt_gemm_tiles *tiles, double *panels);

#endif
