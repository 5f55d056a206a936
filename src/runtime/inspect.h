/* SPDX-License-Identifier: MIT */
/* inspect.h — the tensors and the memory of a session, for reports. */
#ifndef PRT_RUNTIME_INSPECT_H
#define PRT_RUNTIME_INSPECT_H

#include "runtime/session.h"

typedef enum prt_tensor_kind {
    PRT_TENSOR_INPUT,
    PRT_TENSOR_OUTPUT,
    PRT_TENSOR_CONSTANT,
    PRT_TENSOR_VARIABLE,
    PRT_TENSOR_VALUE
} prt_tensor_kind;

typedef struct prt_session_tensor {
    prt_str name;
    prt_tensor_kind kind;
    const prt_type *type;
    uint32_t block;
    int64_t dims[PRT_MAX_RANK]; /* of a tensor with a rank: numbers or PRT_DIM_UNKNOWN */
    size_t size;                /* bytes; 0: unknown */
} prt_session_tensor;

/* Returns the number of tensors: constants, variables, then the buffers of each block that are not
 * in another block or list. */
size_t prt_session_tensor_count(const prt_session *session);
/* Returns the tensor at a place of the list, all zero for the first one, and moves the place
 * behind it. Returns false past the end. */
typedef struct prt_tensor_place {
    uint32_t constant, variable, block, buffer;
} prt_tensor_place;
bool prt_session_next_tensor(const prt_session *session, prt_tensor_place *at,
    prt_session_tensor *out);

/* Fills `out` with an input or output of the main block. Open dims are PRT_DIM_UNKNOWN. */
void prt_session_io(const prt_session *session, bool is_input, uint32_t index,
    prt_session_tensor *out);

/* Inserts a tensor that has bytes into a list of the largest ones, at most `most`, in falling
 * order.
 */
void prt_session_tensor_insert(prt_session_tensor *list, uint32_t most, uint32_t *count,
    const prt_session_tensor *t);

/* Bytes that a session holds, by kind; their sum is prt_session_memory. */
typedef enum prt_memory_kind {
    PRT_MEMORY_planned,   /* values between steps, at planned addresses */
    PRT_MEMORY_dynamic,   /* values whose size only a run knows */
    PRT_MEMORY_scratch,   /* scratch of kernels and of shape inference */
    PRT_MEMORY_inputs,    /* copies of inputs that were not aligned */
    PRT_MEMORY_outputs,   /* outputs that the caller has not bound */
    PRT_MEMORY_variables, /* weights in training, states, statistics */
    PRT_MEMORY_weights,   /* aligned copies of weights, and weights that were written */
    PRT_MEMORY_tables,    /* headers of tensors, steps, and everything else */
    PRT_MEMORY_KINDS
} prt_memory_kind;

void prt_session_memory_by_kind(const prt_session *session, size_t bytes[PRT_MEMORY_KINDS]);

/* Fills `bytes` with the bytes of values that are alive at each step of the main block; sizes that
 * are not known count as 0. */
void prt_session_live_bytes(const prt_session *session, uint64_t *bytes);

#endif
