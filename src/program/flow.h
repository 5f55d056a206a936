/* SPDX-License-Identifier: MIT */
/*
 * flow.h — data flow: how many micro-batches a run processes, and which blocks of the caller's
 * buffers they read and write. A block is the data of one micro-batch. Pure arithmetic.
 *
 *     for b in batches, a in accumulation, r in replicas: one micro-batch
 *
 * Training updates the weights after each batch b. Names: PopART's DataFlow and
 * AnchorReturnTypeId; batches are PopTorch's device iterations.
 */
#ifndef PRT_PROGRAM_FLOW_H
#define PRT_PROGRAM_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Which values of an output a run returns. */
typedef enum prt_anchor_mode {
    PRT_ANCHOR_final,  /* of the last micro-batch of each replica */
    PRT_ANCHOR_everyn, /* of the batches period - 1, 2 * period - 1, … */
    PRT_ANCHOR_all,
    PRT_ANCHOR_sum, /* the sum over all micro-batches of each replica */
    PRT_ANCHOR_MODE_COUNT
} prt_anchor_mode;

typedef struct prt_anchor {
    uint32_t mode;  /* prt_anchor_mode */
    int64_t period; /* of everyn; else 1 */
} prt_anchor;

/* How replicas share the blocks of an input. */
typedef enum prt_grouping {
    PRT_GROUPING_consecutive, /* replica r reads the block of group r / size */
    PRT_GROUPING_orthogonal,  /* of group r % (replicas / size) */
    PRT_GROUPING_COUNT
} prt_grouping;

/* How the gradients of micro-batches and replicas become one. */
typedef enum prt_reduction {
    PRT_REDUCTION_sum,
    PRT_REDUCTION_mean_post,    /* a sum, divided by the update's scalars */
    PRT_REDUCTION_mean_running, /* a mean after every micro-batch, and a mean over replicas */
    PRT_REDUCTION_COUNT
} prt_reduction;

typedef struct prt_flow {
    int64_t batches, accumulation, replicas;
    int64_t input_group;     /* replicas that read the same block; divides `replicas` */
    uint32_t input_grouping; /* prt_grouping */
    uint32_t reduction;      /* prt_reduction */
} prt_flow;

enum { PRT_FLOW_REPLICAS_MAX = 1024 };

/* A flow of one micro-batch. */
#define PRT_FLOW_ONE                                                                               \
    {                                                                                              \
        1, 1, 1, 1, 0, 0                                                                           \
    }

/* Checks ranges, divisors and the absence of overflow; the error says what would be accepted. */
poprt_status prt_flow_check(const prt_flow *flow);
/* Checks the mode and period of an anchor named `name`. */
poprt_status prt_anchor_check(const prt_flow *flow, const prt_anchor *anchor, const char *name);

/* Returns the number of micro-batches of a replica, and of all replicas. */
int64_t prt_flow_steps(const prt_flow *flow);
int64_t prt_flow_blocks(const prt_flow *flow);

/* Returns the number of blocks of an input, and the block that replica r reads in step
 * `b * accumulation + a`. With `broadcast` all replicas read the same block. */
int64_t prt_flow_blocks_in(const prt_flow *flow, bool broadcast);
int64_t prt_flow_block_in(const prt_flow *flow, bool broadcast, int64_t step, int64_t replica);
/* Returns the replica that reads a block first. */
int64_t prt_flow_first_reader(const prt_flow *flow, bool broadcast, int64_t replica);

/* Returns the number of blocks of an output, whether a step returns one for each replica (of sum:
 * the last step), and the block of replica r in that step. */
int64_t prt_flow_blocks_out(const prt_flow *flow, const prt_anchor *anchor);
bool prt_flow_returns(const prt_flow *flow, const prt_anchor *anchor, int64_t step);
int64_t prt_flow_block_out(const prt_flow *flow, const prt_anchor *anchor, int64_t step,
    int64_t replica);

/* Sets the leading dims that the buffer of an output has before the shape of a micro-batch: batches
 * (or batches / period), accumulation, replicas; dims of 1 are left out. Returns their number, at
 * most 3. */
uint32_t prt_flow_prefix_out(const prt_flow *flow, const prt_anchor *anchor, int64_t dims[3]);
uint32_t prt_flow_prefix_in(const prt_flow *flow, bool broadcast, int64_t dims[3]);

#endif
