/* SPDX-License-Identifier: MIT */
/*
 * occupancy.h — the bytes that are taken at each step: an interval tree over the steps. A query
 * reads runs, in which buffers that touch are one: where thousands of buffers are alive together,
 * they are a few runs.
 */
#ifndef PRT_PLAN_OCCUPANCY_H
#define PRT_PLAN_OCCUPANCY_H

#include "base/arena.h"

typedef struct prt_run {
    size_t start, end;
} prt_run;

/* Runs in rising order that neither overlap nor touch. */
typedef struct prt_runs {
    prt_run *data;
    uint32_t count, capacity;
} prt_runs;

struct prt_occupancy_node;

typedef struct prt_occupancy {
    prt_arena *arena;
    struct prt_occupancy_node *nodes; /* by their middle step */
    uint32_t n_steps;
    prt_runs found;    /* the result of a query */
    prt_runs scratch;  /* the other half of a merge */
    uint32_t *starts;  /* of each sorted list in `found` */
    uint32_t n_starts; /* number of these lists */
} prt_occupancy;

/* Creates an empty occupancy of steps 0 to n_steps - 1. Memory comes from `arena`. */
poprt_status prt_occupancy_init(prt_occupancy *o, prt_arena *arena, uint32_t n_steps);
void prt_occupancy_clear(prt_occupancy *o);

/* Takes bytes during steps first to last; nothing else may take them during one of these steps.
 * Fails without memory. */
poprt_status prt_occupancy_add(prt_occupancy *o, uint32_t first, uint32_t last, prt_run bytes);

/* Sets `found` to the bytes that are taken during some step of first to last. */
poprt_status prt_occupancy_find(prt_occupancy *o, uint32_t first, uint32_t last);

#endif
