/* SPDX-License-Identifier: MIT */
/*
 * points.h — sharding points: nodes that, in topological order, assign the nodes they depend on and
 * that no earlier point has assigned to their device and stage. The remaining nodes go to the next
 * device and stage.
 */
#ifndef PRT_PASS_SHARD_POINTS_H
#define PRT_PASS_SHARD_POINTS_H

#include "pass/engine/pass.h"
#include "pass/shard/net.h"

#define PRT_MARK_DEVICE "__ipu_number"
#define PRT_MARK_STAGE "__pipeline_stage"

/* -1: no device or no stage. */
typedef struct prt_shard_point {
    prt_op *op; /* NULL: not a point */
    int64_t device, stage;
} prt_shard_point;

typedef PRT_VEC(prt_shard_point) prt_shard_points;

/* Maps names to the nodes of a graph. */
poprt_status prt_shard_names(prt_arena *arena, const prt_graph *graph, prt_map *out);

/* Finds the node of a name. Fails with POPRT_E_NOT_FOUND if there is none, with POPRT_E_ARG if
 * there are two. */
poprt_status prt_shard_find(const prt_map *names, const char *name, prt_op **out);

/* Marks the nodes of a graph. `points` is indexed by op id. Fails with POPRT_E_ARG if there is no
 * point. */
poprt_status prt_shard_apply(prt_pass *p, prt_graph *graph, const prt_shard_point *points);

/*
 * Returns the points from which prt_shard_apply reproduces the place of every node; `places` is
 * indexed by node, with `op` set. Points are nodes that another place reads or that no node reads;
 * points of the last place are left out if it is the place of the remaining nodes. Fails with
 * POPRT_E_ARG for a point without a unique name.
 */
poprt_status prt_shard_points_of(prt_arena *arena, const prt_net *net,
    const prt_shard_point *places, prt_shard_points *out);

#endif
