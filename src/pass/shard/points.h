/* SPDX-License-Identifier: MIT */
/*
 * points.h — sharding points: nodes that, in topological order, take what they depend on and no
 * earlier one took to their device and stage. What is left goes to the next device and stage.
 */
#ifndef PRT_PASS_SHARD_POINTS_H
#define PRT_PASS_SHARD_POINTS_H

#include "pass/engine/pass.h"
#include "pass/shard/net.h"

#define PRT_MARK_DEVICE "__ipu_number"
#define PRT_MARK_STAGE "__pipeline_stage"

/* -1: no number of that kind. */
typedef struct prt_shard_point {
    prt_op *op; /* NULL: no point */
    int64_t device, stage;
} prt_shard_point;

typedef PRT_VEC(prt_shard_point) prt_shard_points;

/* Nodes of a graph by name. */
poprt_status prt_shard_names(prt_arena *arena, const prt_graph *graph, prt_map *out);

/* The node of a name: POPRT_E_NOT_FOUND when there is none, POPRT_E_ARG when there are two. */
poprt_status prt_shard_find(const prt_map *names, const char *name, prt_op **out);

/* Marks the nodes of a graph. `points` by op id; POPRT_E_ARG when none is one. */
poprt_status prt_shard_apply(prt_pass *p, prt_graph *graph, const prt_shard_point *points);

/*
 * The points from which prt_shard_apply gives every node its place: `places` by node index, `op`
 * set. A point is a node that a node of another place reads, or none; those of the last place are
 * left out where it is what is left. Needs nodes with names: POPRT_E_ARG for a point without one,
 * or with one that another node has.
 */
poprt_status prt_shard_points_of(prt_arena *arena, const prt_net *net,
    const prt_shard_point *places, prt_shard_points *out);

#endif
