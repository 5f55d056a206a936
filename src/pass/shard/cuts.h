/* SPDX-License-Identifier: MIT */
/*
 * cuts.h — the cuts that a search knows, each kept as the move that made it from another one; and
 * the one at hand, whose parts are on devices and whose devices are measured.
 */
#ifndef PRT_PASS_SHARD_CUTS_H
#define PRT_PASS_SHARD_CUTS_H

#include "pass/shard/search.h"

enum { PRT_MAX_CUTS = 20000 };

typedef struct prt_cut {
    uint32_t from;     /* another cut; PRT_NET_NONE: a first one, by FLOPs where `to` is not 0 */
    uint32_t part, to; /* the move */
    uint64_t worst, slowest;
    double deviation; /* sum of squares of FLOPs less their mean */
    bool fits, done;
} prt_cut;

typedef struct prt_cuts {
    const prt_shard_task *task;
    prt_meter meter;
    uint32_t *device;    /* of each part, in the cut at hand */
    uint32_t *device_of; /* of each node */
    uint32_t *n_parts;   /* of each device */
    uint64_t *flops;     /* of each device */
    prt_shard_need *needs;
    uint64_t *seen;             /* hashes; 0: free */
    uint64_t hash;              /* of the cut at hand */
    double mean;                /* FLOPs of a device */
    uint64_t steps;             /* nodes that measuring looked at */
    uint32_t max_cuts, fitting; /* how many there may be; how many fit */
    PRT_VEC(prt_cut) cuts;
    uint32_t *trail; /* for replaying */
} prt_cuts;

/* No part is anywhere yet. */
poprt_status prt_cuts_init(const prt_shard_task *task, prt_cuts *s);

/* Step 3, the first cut: devices are filled in order up to their share of bytes. Ours: another one,
 * by FLOPs. It is measured and kept. */
poprt_status prt_cuts_start(prt_cuts *s, bool by_flops);

/* Moves a part of the cut at hand; measures a device of it. */
void prt_cuts_place(prt_cuts *s, uint32_t part, uint32_t to);
poprt_status prt_cuts_measure(prt_cuts *s, uint32_t device);
/* The device that needs most. */
uint32_t prt_cuts_worst(const prt_cuts *s);

/* Whether the cut at hand was kept; keeps it, as made from cut `from` by a move. */
bool prt_cuts_knows(const prt_cuts *s);
poprt_status prt_cuts_keep(prt_cuts *s, uint32_t from, uint32_t part, uint32_t to);

/* Makes a cut the one at hand and measures it. */
poprt_status prt_cuts_go_to(prt_cuts *s, uint32_t index);

#endif
