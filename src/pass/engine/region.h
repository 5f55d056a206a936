/* SPDX-License-Identifier: MIT */
/* region.h — queries about If and its branches, and moving ops in and out of them. */
#ifndef PRT_PASS_ENGINE_REGION_H
#define PRT_PASS_ENGINE_REGION_H

#include "pass/engine/match.h"

/* Returns the two branches of an If. False unless it has both, each without inputs and with as many
 * outputs as the If. */
bool prt_region_branches(const prt_op *op, prt_graph **then_branch, prt_graph **else_branch);

/* Returns whether an op, with the ops in its regions, has no side effects and is deterministic. */
bool prt_region_is_pure(const prt_op *op);

/* Calls `visit` for every value that an op reads: its inputs, and all values that ops in its
 * regions read, whether from outside or inside the region. Stops and returns true when `visit`
 * returns true. */
bool prt_region_reads(const prt_op *op, bool (*visit)(void *user, const prt_value *v), void *user);

/* Returns, by op id, which ops of the list from `first` up to `last` (not included) read a result
 * of `first`, directly or indirectly. `first` itself is marked. NULL: no memory. */
bool *prt_region_dependents(prt_arena *arena, const prt_op *first, const prt_op *last);

/* Returns whether `op` reads a result of an op marked in `marks`. */
bool prt_region_depends(const prt_op *op, const bool *marks);

/* Moves the marked ops among those from `first` up to `last` behind `last`, in order. */
void prt_region_sink(prt_op *first, prt_op *last, const bool *marks);

/* Moves the ops of a region without inputs to `to`, in front of `before` (NULL: to the end).
 * `results` gets the values the region returned; the region is empty afterwards. */
poprt_status prt_region_inline(prt_graph *region, prt_graph *to, prt_op *before,
    prt_value **results);

/* Adds an If before `before` whose branches are empty and have no outputs yet. NULL: no memory. */
prt_op *prt_region_new_if(prt_op *before, prt_value *condition, uint32_t n_out);

/* Sets the outputs of a branch. */
poprt_status prt_region_set_outputs(prt_graph *region, uint32_t count, prt_value *const *values);

/* Returns the branch of `op` that contains the op `in`, at any depth; NULL if no branch does. */
prt_graph *prt_region_containing(const prt_op *in, const prt_op *op);

/* Copies an op without regions to `graph`, before `before`; the copy reads the same values. NULL:
 * no memory. */
prt_op *prt_region_copy_op(const prt_op *op, prt_graph *graph, prt_op *before);

#endif
