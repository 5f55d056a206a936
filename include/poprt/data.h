/* SPDX-License-Identifier: MIT */
/*
 * poprt/data.h — data flow: how many micro-batches one run processes, which tensors it returns, and
 * how the caller's buffers hold the data of all of them. The model describes one micro-batch.
 *
 *     for b in batches per step:
 *         for a in accumulation factor:           1, except in training
 *             for r in replication factor:
 *                 run the model with one micro-batch
 *         update the weights                      training only
 *
 * A buffer of an input holds a block for each micro-batch: [batches per step, accumulation factor,
 * replication factor, shape of the model's input]; dimensions of 1 may be left out. If the model's
 * shape is fixed, only the number of elements of a bound tensor counts. A buffer of an output holds
 * the blocks that its return type selects.
 *
 * Source of names and rules: DataFlow, AnchorReturnTypeId and ReplicatedStreamMode of PopART;
 * deviceIterations, gradientAccumulation, replicationFactor and OutputMode of PopTorch.
 */
#ifndef POPRT_DATA_H
#define POPRT_DATA_H

#include "poprt/executable.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_flow poprt_flow;

/*
 * Return types. The shape of an output is the part in brackets before the shape of a micro-batch;
 * dimensions of 1 are left out. B: batches per step, A: accumulation factor, R: replication factor.
 */
enum {
    POPRT_ANCHOR_FINAL = 0,   /* [R]: the last micro-batch of each replica */
    POPRT_ANCHOR_EVERY_N = 1, /* [B / N, A, R]: the batches N - 1, 2 N - 1, … */
    POPRT_ANCHOR_ALL = 2,     /* [B, A, R] */
    POPRT_ANCHOR_SUM = 3      /* [R]: the sum over b and a, in float32 for float16 and bfloat16 */
};

/* How replicas read an input. */
enum {
    POPRT_STREAM_BROADCAST = 0, /* all replicas read the same block: buffers have no dimension R */
    POPRT_STREAM_REPLICATE = 1
};

/* Creates the data flow of runs with `batches_per_step` batches, 1 or more. Fails with POPRT_E_ARG
 * for another number. */
POPRT_API poprt_status poprt_flow_create(poprt_env *env, int64_t batches_per_step,
    poprt_flow **out);

/*
 * Adds a tensor to return, with its return type (POPRT_ANCHOR_*). It may be any tensor of the main
 * graph: an output, a value in between, an input or a weight; in training also the gradient of one,
 * "Gradient___<name>", which inputs have too. `period` is N for POPRT_ANCHOR_EVERY_N, a divisor of
 * the batches per step; 1 or 0 for the other types. The name is copied. Fails with POPRT_E_ARG for
 * a type or period that is not accepted, and for a tensor that is listed already.
 *
 * Without anchors a run returns the outputs of the model: all micro-batches of inference, the last
 * ones of training.
 */
POPRT_API poprt_status poprt_flow_anchor(poprt_flow *flow, const char *tensor, int32_t type,
    int64_t period);

/* Sets how replicas read an input: POPRT_STREAM_*; POPRT_STREAM_REPLICATE is the default. The name
 * is copied. */
POPRT_API poprt_status poprt_flow_input(poprt_flow *flow, const char *input, int32_t mode);

POPRT_API void poprt_flow_release(poprt_flow *flow);

/*
 * Compiles a model for runs with data flow. Like poprt_compile, but a session of the executable
 * runs all micro-batches in one poprt_session_run, and returns the anchors. The options
 * `enable_replicated_graphs`, `replicated_graph_count`, `input_group_size` and `input_grouping` set
 * the replicas, which run one after another. The flow and the model are not kept. Fails with
 * POPRT_E_NOT_FOUND, with the nearest names, if an anchor or input does not exist.
 */
POPRT_API poprt_status poprt_compile_flow(const poprt_model *model, const poprt_flow *flow,
    const poprt_config *config, poprt_executable **out);

/* The arithmetic of a data flow. A member of 0 counts as 1; `period` and `type` matter for outputs
 * only. */
typedef struct poprt_batching {
    size_t struct_size; /* set by the caller */
    int64_t batches_per_step, accumulation_factor, replication_factor;
    int64_t input_group_size; /* replicas that read the same block of an input */
    int32_t type;             /* POPRT_ANCHOR_* */
    int32_t is_input;         /* 1: the shape is of an input; 0: of an output */
    int64_t period;
} poprt_batching;

/*
 * Computes the shape of the caller's buffer by PopTorch's rule, which multiplies the first
 * dimension of a micro-batch by the number of blocks (a scalar becomes [blocks], or stays a scalar
 * if there is one block), and the number of blocks. `out` has room for `rank` + 1 dimensions;
 * `dims` and `out` may be NULL if `rank` is 0 and only `blocks` is wanted. Any thread. Fails with
 * POPRT_E_ARG, and names the accepted values.
 */
POPRT_API poprt_status poprt_batching_shape(const poprt_batching *batching, uint32_t rank,
    const int64_t *dims, uint32_t *out_rank, int64_t *out, int64_t *blocks);

/* Fills `out` with the data flow of an input or output of an executable, from which
 * poprt_batching_shape computes its buffer. Without data flow all numbers are 1. Any thread. Fails
 * with POPRT_E_NOT_FOUND past the last input or output. */
POPRT_API poprt_status poprt_executable_get_batching(const poprt_executable *exec,
    int32_t direction, size_t index, poprt_batching *out);

#ifdef __cplusplus
}
#endif
#endif
