/* SPDX-License-Identifier: MIT */
/*
 * plan.h — interval packing: gives every buffer {size, first, last} an offset, so that buffers
 * alive at the same time do not overlap and the whole is small. Pure and deterministic.
 */
#ifndef PRT_PLAN_PLAN_H
#define PRT_PLAN_PLAN_H

#include "base/arena.h"

typedef struct prt_plan_item {
    size_t size;          /* bytes; 0 takes no room */
    uint32_t first, last; /* steps, both included; first <= last */
    uint32_t space;       /* memory space; spaces are packed independently */
    size_t offset;        /* result: a multiple of the alignment */
} prt_plan_item;

/*
 * Fills the offsets; `totals[s]` is the size of space s (`n_spaces` of them) and `peaks[s]` (may be
 * NULL) the largest sum of sizes alive at once, which no plan can beat. The best of
 * several greedy plans, in bounded time. Scratch comes from `arena`.
 */
poprt_status prt_plan_pack(prt_arena *arena, prt_plan_item *items, size_t count, size_t align,
    uint32_t n_spaces, size_t *totals, size_t *peaks);

#endif
