/* SPDX-License-Identifier: MIT */
/*
 * search.h — steps 3 to 5 of auto-sharding: which device each sub-graph goes to.
 */
#ifndef PRT_PASS_SHARD_SEARCH_H
#define PRT_PASS_SHARD_SEARCH_H

#include "pass/shard/parts.h"

enum { PRT_SHARD_MAX_DEVICES = 1024 };

typedef struct prt_shard_task {
    const prt_pass *p;
    const prt_net *net;
    const prt_parts *parts; /* as many as devices at least */
    uint32_t n_devices;
    uint64_t memory; /* bytes of a device */
    bool balance;    /* look for the cut whose slowest device has the least FLOPs */
} prt_shard_task;

typedef struct prt_shard_cut {
    bool fits;
    uint32_t *device_of;   /* by node index */
    prt_shard_need *needs; /* by device */
    uint32_t worst;        /* the device that needs most */
    uint32_t tried;        /* cuts that were measured */
} prt_shard_cut;

/* The cut that was found; where none fits, the one whose worst device needs least. Every device has
 * a sub-graph, and none depends on a later one. */
poprt_status prt_shard_search(const prt_shard_task *task, prt_shard_cut *out);

#endif
