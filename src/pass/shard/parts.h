/* SPDX-License-Identifier: MIT */
/*
 * parts.h — steps 1 and 2 of auto-sharding: the subgraphs (parts) that are moved between devices,
 * in topological order.
 */
#ifndef PRT_PASS_SHARD_PARTS_H
#define PRT_PASS_SHARD_PARTS_H

#include "pass/engine/pass.h"
#include "pass/shard/net.h"

/* Selects the candidates: nodes at which a subgraph may end. */
typedef enum prt_parts_by {
    /* nodes with several inputs that are not weights; if there are none, all nodes */
    PRT_PARTS_JOINS,
    PRT_PARTS_NODES, /* all nodes */
    PRT_PARTS_SINGLE /* all nodes, each a subgraph of its own */
} prt_parts_by;

typedef struct prt_part {
    uint64_t bytes, flops;
    uint32_t first_node, n_nodes; /* in parts->node */
    uint32_t first_from, n_from;  /* in parts->from: the parts that it reads */
    uint32_t first_to, n_to;      /* in parts->to: the parts that read it */
} prt_part;

typedef struct prt_parts {
    uint32_t count;
    prt_part *part;
    uint32_t *of_node; /* by node index */
    uint32_t *node, *from, *to;
    uint64_t bytes; /* of all parts */
} prt_parts;

/*
 * Each candidate, in list order, walks towards the inputs over nodes that no earlier one has taken.
 * If the subgraph is below the average of all candidates in bytes or FLOPs, its nodes are left to
 * later candidates. The remaining nodes form the last subgraph.
 */
poprt_status prt_parts_find(const prt_pass *p, const prt_net *net, prt_parts_by by, prt_parts *out);

#endif
