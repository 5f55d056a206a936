/* SPDX-License-Identifier: MIT */
/*
 * net.h — the main graph as numbers, for cutting it into shards: nodes in list order with their
 * reads, sizes of values, and the memory that the nodes of one device need.
 *
 * Outer values read in a node's regions count as read by the node; constants and values inside the
 * regions belong to it.
 */
#ifndef PRT_PASS_SHARD_NET_H
#define PRT_PASS_SHARD_NET_H

#include "ir/ir.h"

#define PRT_NET_NONE UINT32_MAX

typedef struct prt_net_node {
    prt_op *op;
    uint32_t first, count; /* its reads: net->reads[first ... first + count), values by id */
    /* bytes of the weights it reads; 0 for Reshape, Slice, Tile and Expand */
    uint64_t bytes;
    uint64_t own;    /* bytes of the constants in its regions */
    uint64_t inside; /* bytes of all values in its regions together */
    uint64_t flops;
    bool joins; /* it has several inputs that are not weights */
} prt_net_node;

typedef struct prt_net_value {
    uint64_t size;  /* in bytes; 0 if it is unknown */
    uint32_t maker; /* index of the node that makes it; PRT_NET_NONE: an input or a weight */
    bool weight, output;
} prt_net_value;

typedef struct prt_net {
    uint32_t n_nodes, n_values;
    prt_net_node *nodes;
    prt_net_value *values; /* by id */
    PRT_VEC(uint32_t) reads;
    /* number of nodes with unknown memory or FLOPs, which are underestimated */
    uint64_t unknown;
    const prt_op *unknown_from; /* the first of them */
} prt_net;

poprt_status prt_net_build(prt_arena *arena, const prt_graph *graph, prt_net *out);

/*
 * The needs of a device. A weight read by several of its nodes counts once. Nodes run in list
 * order; a value is live from the node that makes it to its last reader on the device, an output of
 * the model to the end. A view shares the memory of its operand. Values received from other devices
 * and from the host are live all the time.
 */
typedef struct prt_shard_need {
    uint32_t nodes;
    uint64_t weights, activations, received;
    uint64_t bytes; /* sum of weights, activations and received */
    uint64_t flops;
} prt_shard_need;

/* Scratch for measurements, one at a time. */
typedef struct prt_meter {
    const prt_net *net;
    uint32_t *seen, *root, *last; /* by value id */
    uint32_t round;
} prt_meter;

poprt_status prt_meter_init(prt_arena *arena, const prt_net *net, prt_meter *out);

/* Computes the needs of the nodes whose entry in `device_of` is `device`. */
void prt_meter_read(prt_meter *m, const uint32_t *device_of, uint32_t device, prt_shard_need *out);

#endif
