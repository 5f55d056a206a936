/* SPDX-License-Identifier: MIT */
/*
 * stream.h — a run of a program with data flow, and where its data comes from and goes to: the four
 * calls of PopART's StepIO. All calls come from the thread of the run.
 */
#ifndef PRT_RUNTIME_STREAM_H
#define PRT_RUNTIME_STREAM_H

#include "runtime/session.h"

/* A block of an input or output: that of a micro-batch `step` (batch * accumulation + a) of a
 * replica. Replicas that share a block of an input ask once, as the first of them. */
typedef struct prt_stream_block {
    uint32_t index; /* of the input or output */
    uint32_t replica;
    int64_t step;
    bool broadcast; /* of an input: all replicas read the block */
} prt_stream_block;

typedef struct prt_stream {
    void *user;
    /* Returns the tensor of a block. With `prefetch` it may be absent: "not yet"; the block is
     * asked for again. Blocks of an input are asked for in order, replicas before steps. */
    poprt_status (*in)(void *user, const prt_stream_block *block, bool prefetch, prt_tensor *out);
    /* The oldest block of this input that was returned is no longer read. */
    void (*in_complete)(void *user, const prt_stream_block *block);
    /* Returns the destination of a block, or leaves it absent: then the session has the memory, and
     * the block is passed to out_complete. */
    poprt_status (*out)(void *user, const prt_stream_block *block, prt_tensor *out);
    /* The block has its value, `value`. */
    poprt_status (
        *out_complete)(void *user, const prt_stream_block *block, const prt_tensor *value);
} prt_stream;

/*
 * Runs all micro-batches of the program's flow and, if it trains, updates after each batch. A
 * failure or cancellation leaves weights, states and statistics as after the last whole update.
 */
poprt_status prt_session_run_flow(prt_session *session, const prt_stream *stream);

#endif
