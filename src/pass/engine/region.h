/* SPDX-License-Identifier: MIT */
/* region.h — looking at If and its branches, and moving ops in and out of them. */
#ifndef PRT_PASS_ENGINE_REGION_H
#define PRT_PASS_ENGINE_REGION_H

#include "pass/engine/match.h"

/* The two branches of an If; false when it has not both, with as many outputs as the If. */
bool prt_region_branches(const prt_op *op, prt_graph **then_branch, prt_graph **else_branch);

/* Nothing but values comes of an op and of what its regions hold, the same ones every time. */
bool prt_region_is_pure(const prt_op *op);

/* Calls `see` for all that an op reads: its inputs, and what its regions read from outside of them
 * (and what they read within). Stops and returns true where `see` does. */
bool prt_region_reads(const prt_op *op, bool (*see)(void *user, const prt_value *v), void *user);

/* Ops of the list from `first` up to `last` (not included) that read, directly or not, what `first`
 * makes; by op id. NULL: no memory. */
bool *prt_region_dependents(prt_arena *arena, const prt_op *first, const prt_op *last);

/* Does `op` read what an op marked in `marks` makes? */
bool prt_region_depends(const prt_op *op, const bool *marks);

/* Puts the ops marked in `marks`, of those from `first` up to `last`, behind `last`, in order. */
void prt_region_sink(prt_op *first, prt_op *last, const bool *marks);

/* Moves what a region without inputs holds to `to`, in front of `before` (NULL: to the end).
 * `results` gets what it gives; the region is empty afterwards. */
poprt_status prt_region_inline(prt_graph *region, prt_graph *to, prt_op *before,
    prt_value **results);

/* An If before `before` whose branches are empty and give nothing yet. NULL: no memory. */
prt_op *prt_region_new_if(prt_op *before, prt_value *condition, uint32_t n_out);

/* What a branch gives. */
poprt_status prt_region_give(prt_graph *region, uint32_t count, prt_value *const *values);

/* The branch of `op` that an op is in, at any depth; NULL: in none. */
prt_graph *prt_region_around(const prt_op *in, const prt_op *op);

/* A copy of an op without regions before `before`; its inputs are the same values. NULL: no
 * memory. */
prt_op *prt_region_copy_op(const prt_op *op, prt_graph *graph, prt_op *before);

#endif
