/* SPDX-License-Identifier: MIT */
/*
 * parts.h — steps 1 and 2 of auto-sharding: the sub-graphs that are moved between devices, in an
 * order in which none depends on a later one.
 */
#ifndef PRT_PASS_SHARD_PARTS_H
#define PRT_PASS_SHARD_PARTS_H

#include "pass/engine/pass.h"
#include "pass/shard/net.h"

/* Which nodes are candidates to end a sub-graph. */
typedef enum prt_parts_by {
    PRT_PARTS_JOINS, /* those with more than one input that is no weight; if none, all */
    PRT_PARTS_NODES, /* all */
    PRT_PARTS_SINGLE /* all, and each is a sub-graph, however small */
} prt_parts_by;

typedef struct prt_part {
    uint64_t bytes, flops;
    uint32_t first_node, n_nodes; /* in parts->node */
    uint32_t first_from, n_from;  /* in parts->from: the parts it reads */
    uint32_t first_to, n_to;      /* in parts->to: the parts that read it */
} prt_part;

typedef struct prt_parts {
    uint32_t count;
    prt_part *part;
    uint32_t *of_node; /* by node index */
    uint32_t *node, *from, *to;
    uint64_t bytes; /* of all */
} prt_parts;

/*
 * Candidates in list order walk towards the inputs over what nobody took; what weighs less than the
 * average of all candidates in bytes or in FLOPs is left to later ones. What is left at the end is
 * the last sub-graph.
 */
poprt_status prt_parts_find(const prt_pass *p, const prt_net *net, prt_parts_by by, prt_parts *out);

#endif
