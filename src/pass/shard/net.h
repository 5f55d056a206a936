/* SPDX-License-Identifier: MIT */
/*
 * net.h — the main graph as numbers, for cutting it into shards: nodes in list order, what each
 * reads, sizes of values; and what the nodes of one device need of its memory.
 *
 * What a node's regions read from outside counts as read by the node; what they hold and make
 * belongs to it.
 */
#ifndef PRT_PASS_SHARD_NET_H
#define PRT_PASS_SHARD_NET_H

#include "ir/ir.h"

#define PRT_NET_NONE UINT32_MAX

typedef struct prt_net_node {
    prt_op *op;
    uint32_t first, count; /* its reads: net->reads[first] and so on, values by id */
    uint64_t bytes;        /* of the weights it reads; 0 for Reshape, Slice, Tile and Expand */
    uint64_t own;          /* bytes of the constants in its regions */
    uint64_t inside;       /* bytes that its regions make, all at once */
    uint64_t flops;
    bool joins; /* more than one input that is no weight */
} prt_net_node;

typedef struct prt_net_value {
    uint64_t size;  /* bytes; 0 where nothing is known */
    uint32_t maker; /* index of a node; PRT_NET_NONE: an input or a weight */
    bool weight, output;
} prt_net_value;

typedef struct prt_net {
    uint32_t n_nodes, n_values;
    prt_net_node *nodes;
    prt_net_value *values; /* by id */
    PRT_VEC(uint32_t) reads;
    uint64_t unknown;           /* nodes that are counted with less than they need or do */
    const prt_op *unknown_from; /* the first of them */
} prt_net;

poprt_status prt_net_build(prt_arena *arena, const prt_graph *graph, prt_net *out);

/*
 * What a device needs. Weights that several of its nodes read are there once. Its nodes run in list
 * order; a value is there from the node that makes it to the last one of the device that reads it,
 * outputs of the model to the end; a view shares the memory of what it views. What it gets from
 * other devices and from the host is there all the time.
 */
typedef struct prt_shard_need {
    uint32_t nodes;
    uint64_t weights, activations, received;
    uint64_t bytes; /* the sum of these three */
    uint64_t flops;
} prt_shard_need;

/* Room for measuring; one measuring at a time. */
typedef struct prt_meter {
    const prt_net *net;
    uint32_t *seen, *root, *last; /* by value */
    uint32_t round;
} prt_meter;

poprt_status prt_meter_init(prt_arena *arena, const prt_net *net, prt_meter *out);

/* Needs of the nodes whose entry in `device_of` is `device`. */
void prt_meter_read(prt_meter *m, const uint32_t *device_of, uint32_t device, prt_shard_need *out);

#endif
