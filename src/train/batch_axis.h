/* SPDX-License-Identifier: MIT */
/*
 * batch_axis.h — finds where the samples of a batch are in each value of a graph, and which nodes
 * mix samples, so that a batch can be computed in pieces.
 */
#ifndef PRT_TRAIN_BATCH_AXIS_H
#define PRT_TRAIN_BATCH_AXIS_H

#include "ir/ir.h"

/* How a value depends on the samples of the batch. */
typedef enum prt_batch_kind {
    PRT_BATCH_none,    /* not at all */
    PRT_BATCH_samples, /* part i along an axis depends on sample i alone */
    PRT_BATCH_size,    /* on their number, as the results of Shape do */
    PRT_BATCH_mean,    /* it is a mean over samples, each of which counts the same */
    PRT_BATCH_sum      /* it is a sum over samples */
} prt_batch_kind;

typedef struct prt_batch_state {
    prt_batch_kind kind;
    int32_t axis; /* of kind samples; the dim is a multiple of the number of samples */
} prt_batch_state;

/* Sets `out` to the states of all values of the graph, by id, in `arena`. Inputs whose first dim is
 * `samples` have samples along axis 0. If a node then mixes samples, vectors count too that have
 * several elements for each sample, such as the labels of its tokens. Fails with
 * POPRT_E_UNSUPPORTED, naming the first node that mixes samples or whose operator has no rule. */
poprt_status prt_batch_find(const prt_graph *graph, int64_t samples, prt_arena *arena,
    prt_batch_state **out);

/* Reads the integers of an input that are known. Returns false if they are not, or are more than
 * `max`. */
bool prt_batch_ints(const prt_op *op, uint32_t slot, int64_t *to, uint32_t max, uint32_t *count);

#endif
