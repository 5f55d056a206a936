/* SPDX-License-Identifier: MIT */
/* optimizer_graph.h — adds updates and clipping to a graph, for the plans of optimizer.h. */
#ifndef PRT_TRAIN_OPTIMIZER_GRAPH_H
#define PRT_TRAIN_OPTIMIZER_GRAPH_H

#include "ir/build.h"
#include "train/optimizer.h"

/* The values of a weight's update, in the order of its plan. */
typedef struct prt_optimizer_weight {
    const prt_optimizer_plan *plan;
    prt_value *weight;
    prt_value *gradient; /* or its accumulator, summed over replicas */
    prt_value *scalars[PRT_OPTIMIZER_MAX_SCALARS];
    prt_value *states[PRT_OPTIMIZER_MAX_STATES];
} prt_optimizer_weight;

/* The values that an update makes. */
typedef struct prt_optimizer_result {
    prt_value *weight;
    prt_value *states[PRT_OPTIMIZER_MAX_STATES];
} prt_optimizer_result;

/* Returns the norm by which a weight is clipped, before the update. The builder records a
 * failure. */
prt_value *prt_optimizer_add_norm(prt_build *b, const prt_optimizer_weight *w);

/* Returns the factor of a clipping group from the norms of all its weights, in the order of the
 * weights. Sets `norm`, which may be NULL, to the global norm, GlobalNorm___<group>. */
prt_value *prt_optimizer_add_clip(prt_build *b, const prt_optimizer *o, uint32_t group,
    int32_t scalar_type, uint32_t count, prt_value *const *norms, prt_value **norm);

/* Adds the update of a weight; `clip` is the factor of its group, or NULL. Every value that the
 * update reads is read before one is written. */
void prt_optimizer_add(prt_build *b, const prt_optimizer_weight *w, prt_value *clip,
    prt_optimizer_result *out);

#endif
