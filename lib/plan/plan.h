/* SPDX-License-Identifier: MIT */
/*
 * plan.h — interval packing: assigns every buffer {size, first, last} an offset, so that buffers
 * with overlapping lifetimes do not overlap in memory and the total is small. Pure and
 * deterministic.
 */
#ifndef PRT_PLAN_PLAN_H
#define PRT_PLAN_PLAN_H

#include "base/arena.h"

typedef struct prt_plan_item {
    size_t size;          /* bytes; an item of 0 takes no memory */
    uint32_t first, last; /* lifetime: steps, both included; first <= last */
    uint32_t space;       /* memory space; spaces are packed independently */
    size_t offset;        /* result: a multiple of the alignment */
} prt_plan_item;

/*
 * Fills the offsets. `totals[s]` becomes the size of space s of `n_spaces`, and `peaks[s]` (may be
 * NULL) the largest sum of sizes alive at once, a lower bound of any plan. The plan is the best of
 * several greedy ones, found in bounded time. Scratch comes from `arena`.
 */
poprt_status prt_plan_pack(prt_arena *arena, prt_plan_item *items, size_t count, size_t align,
    uint32_t n_spaces, size_t *totals, size_t *peaks);

#endif
