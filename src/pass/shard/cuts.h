/* SPDX-License-Identifier: MIT */
/*
 * cuts.h — the cuts found by a search. Each is stored as the move that made it from another cut.
 * The current cut has its parts placed on devices and its devices measured.
 */
#ifndef PRT_PASS_SHARD_CUTS_H
#define PRT_PASS_SHARD_CUTS_H

#include "pass/shard/search.h"

enum { PRT_MAX_CUTS = 20000 };

typedef struct prt_cut {
    /* index of another cut; PRT_NET_NONE: an initial cut, by FLOPs if `to` is not 0 */
    uint32_t from;
    uint32_t part, to; /* the move */
    uint64_t worst, slowest;
    double deviation; /* sum of squared differences of FLOPs from their mean */
    bool fits, done;
} prt_cut;

typedef struct prt_cuts {
    const prt_shard_task *task;
    prt_meter meter;
    uint32_t *device;    /* of each part, in the current cut */
    uint32_t *device_of; /* of each node */
    uint32_t *n_parts;   /* of each device */
    uint64_t *flops;     /* of each device */
    prt_shard_need *needs;
    uint64_t *seen;             /* hashes of stored cuts; 0: free slot */
    uint64_t hash;              /* of the current cut */
    double mean;                /* mean FLOPs of a device */
    uint64_t steps;             /* number of nodes visited by measurements */
    uint32_t max_cuts, fitting; /* limit of stored cuts; number of cuts that fit */
    PRT_VEC(prt_cut) cuts;
    uint32_t *trail; /* scratch for prt_cuts_go_to */
} prt_cuts;

/* Initialises the search; no part is placed yet. */
poprt_status prt_cuts_init(const prt_shard_task *task, prt_cuts *s);

/* Step 3, the initial cut: fills devices in order up to their share of bytes. Difference from the
 * reference: with `by_flops`, up to their share of FLOPs. Measures and stores the cut. */
poprt_status prt_cuts_start(prt_cuts *s, bool by_flops);

/* Moves a part in the current cut; measures one of its devices. */
void prt_cuts_place(prt_cuts *s, uint32_t part, uint32_t to);
poprt_status prt_cuts_measure(prt_cuts *s, uint32_t device);
/* Returns the device that needs the most memory. */
uint32_t prt_cuts_worst(const prt_cuts *s);

/* prt_cuts_contains returns whether the current cut is stored; prt_cuts_add stores it, as made from
 * cut `from` by a move. */
bool prt_cuts_contains(const prt_cuts *s);
poprt_status prt_cuts_add(prt_cuts *s, uint32_t from, uint32_t part, uint32_t to);

/* Makes a stored cut the current one and measures it. */
poprt_status prt_cuts_go_to(prt_cuts *s, uint32_t index);

#endif
