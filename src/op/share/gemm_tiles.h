/* SPDX-License-Identifier: MIT */
/*
 * gemm_tiles.h — the column tiles of a matrix product over the threads that the host lends. Tiles
 * are taken one by one by whoever is free, each participant with a panel of its own; what a tile
 * computes does not depend on who takes it, so results are the same bits for any width.
 */
#ifndef PRT_OP_SHARE_GEMM_TILES_H
#define PRT_OP_SHARE_GEMM_TILES_H

#include "op/share/reals.h"

typedef struct prt_gemm_tiles {
    size_t count; /* tiles of PRT_TILE_COLS columns */
    size_t depth;
    void (*run)(const void *user, size_t tile, double *panel);
    const void *user;
} prt_gemm_tiles;

/* Panels for all participants; one allocation serves many runs. NULL (recorded) when refused. */
double *prt_gemm_tiles_panels(prt_eval *c, size_t depth);

/* Runs every tile once; fails when the host cancels. */
poprt_status prt_gemm_tiles_run(prt_eval *c, const prt_gemm_tiles *tiles, double *panels);

#endif
