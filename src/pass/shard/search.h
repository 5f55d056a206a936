/* SPDX-License-Identifier: MIT */
/*
 * search.h — steps 3 to 5 of auto-sharding: assignment of subgraphs to devices.
 */
#ifndef PRT_PASS_SHARD_SEARCH_H
#define PRT_PASS_SHARD_SEARCH_H

#include "pass/shard/parts.h"

enum { PRT_SHARD_MAX_DEVICES = 1024 };

typedef struct prt_shard_task {
    const prt_pass *p;
    const prt_net *net;
    const prt_parts *parts; /* at least as many as devices */
    uint32_t n_devices;
    uint64_t memory; /* bytes of a device */
    bool balance;    /* minimise the FLOPs of the slowest device */
} prt_shard_task;

typedef struct prt_shard_cut {
    bool fits;
    uint32_t *device_of;   /* by node index */
    prt_shard_need *needs; /* by device */
    uint32_t worst;        /* device that needs the most memory */
    uint32_t tried;        /* number of measured cuts */
} prt_shard_cut;

/* Searches a cut. If no cut fits, returns the one whose worst device needs the least. Every device
 * has a subgraph, and no device depends on a later one. */
poprt_status prt_shard_search(const prt_shard_task *task, prt_shard_cut *out);

#endif
