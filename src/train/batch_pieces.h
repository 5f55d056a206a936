/* SPDX-License-Identifier: MIT */
/*
 * batch_pieces.h — computes a micro-batch in pieces, one after another, so that the activations of
 * one piece only are alive.
 *
 * prt_batch_split gives the main graph the inputs of one piece. The caller then builds gradients
 * in it. prt_batch_join makes this graph the body of a Loop over the pieces, in a new main graph
 * with the inputs of the whole micro-batch: the Loop carries the sums of gradients and collects the
 * tensors that the step returns.
 */
#ifndef PRT_TRAIN_BATCH_PIECES_H
#define PRT_TRAIN_BATCH_PIECES_H

#include "train/batch_axis.h"

typedef struct prt_batch_pieces {
    int64_t factor;  /* number of pieces */
    int64_t samples; /* of a micro-batch */
    prt_batch_state loss;
    uint32_t n_anchors;
    const prt_str *anchors;    /* tensors that the step returns */
    prt_batch_state *returned; /* by anchor */
    const prt_type **types;    /* of whole anchors; NULL: a variable or a constant */
    bool *divided;             /* by input of the main graph: it has samples */
} prt_batch_pieces;

/* Divides the batch of the main graph, the first dim of its first input that has dims, by `factor`.
 * `loss` is a value of the graph. `pieces` has `factor` and the anchors set, and gets the rest, in
 * `arena`. Fails with POPRT_E_SHAPE if the batch is not a number or no multiple of the factor, and
 * with POPRT_E_UNSUPPORTED if a node mixes samples or an anchor has no samples; then the graph has
 * to be dropped. */
poprt_status prt_batch_split(prt_module *module, const prt_value *loss, prt_batch_pieces *pieces,
    prt_arena *arena);

/* Makes the main graph the body of a Loop. `counts` is the variable of automatic loss scaling, or
 * UINT32_MAX. The outputs of the new main graph are the anchors that the graph computes. */
poprt_status prt_batch_join(prt_module *module, const prt_batch_pieces *pieces, uint32_t counts,
    prt_arena *arena);

#endif
