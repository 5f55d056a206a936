/* SPDX-License-Identifier: MIT */
/*
 * model.h — a TFLite file as C structs: subgraphs of tensors and operators.
 *
 * Everything lives in the arena that is given to prt_tflite_parse; texts and data are views of the
 * file, which must outlive the model. Indices of tensors, buffers, operator codes and subgraphs are
 * checked, sizes of data fit the shapes, and subgraphs refer to each other without a cycle.
 */
#ifndef PRT_TFLITE_MODEL_H
#define PRT_TFLITE_MODEL_H

#include "base/blob.h"
#include "tensor/type.h"
#include "tflite/schema.h"

enum {
    PRT_TFLITE_NESTING = 64,             /* maximum nesting of subgraphs that call each other */
    PRT_TFLITE_LEVELS = 2 * PRT_MAX_RANK /* dimensions and block dimensions of a sparse tensor */
};

/* Bytes of the file. */
typedef struct prt_tflite_bytes {
    const unsigned char *data; /* NULL: absent */
    size_t size;
} prt_tflite_bytes;

typedef struct prt_tflite_ints {
    const int32_t *data;
    size_t count;
} prt_tflite_ints;

/* An element q stands for (q - zero point) * scale: one pair for the tensor, or one for each index
 * of an axis. */
typedef struct prt_tflite_quantization {
    uint32_t count, axis;
    const float *scales;
    const int64_t *zero_points;
} prt_tflite_quantization;

/* One level of a sparse tensor in traversal order. A dense level has `size` indices below each node
 * of the level above; a compressed one (CSR) has indices[segments[n]] up to, but not including,
 * indices[segments[n + 1]] below node n. */
typedef struct prt_tflite_level {
    uint32_t dim; /* a dimension of the tensor, or its rank plus a block dimension */
    bool compressed;
    int64_t size;
    prt_tflite_ints segments, indices;
} prt_tflite_level;

typedef struct prt_tflite_sparsity {
    uint32_t n_levels, n_blocks;
    prt_tflite_level levels[PRT_TFLITE_LEVELS];
    uint32_t block_map[PRT_MAX_RANK]; /* block dimension → dimension of the tensor */
} prt_tflite_sparsity;

typedef struct prt_tflite_tensor {
    prt_str name;
    int32_t dtype; /* undefined for resources and variants */
    uint32_t rank;
    const int64_t *dims; /* -1: free */
    bool has_rank;       /* the file states the rank; where it does not, rank 0 may be unknown */
    bool is_variable;
    bool other_quantization; /* of a kind that has no scales here: blockwise, custom */
    prt_tflite_bytes data;   /* of a constant: its elements, or the values of a sparse tensor */
    const prt_tflite_quantization *quantization; /* NULL: absent */
    const prt_tflite_sparsity *sparsity;         /* NULL: not sparse */
} prt_tflite_tensor;

typedef struct prt_tflite_operator {
    int32_t code;   /* PRT_TFLITE_OP_*, or a code that is not in operators.def */
    prt_str custom; /* name of a custom operator */
    int32_t version;
    prt_tflite_ints inputs, outputs; /* tensors; an absent input is -1 */
    prt_flat_table options;          /* the table of its row; absent: all defaults */
    prt_tflite_bytes custom_options;
} prt_tflite_operator;

typedef struct prt_tflite_subgraph {
    prt_str name;
    size_t n_tensors, n_operators;
    const prt_tflite_tensor *tensors;
    const prt_tflite_operator *operators;
    prt_tflite_ints inputs, outputs;
} prt_tflite_subgraph;

typedef struct prt_tflite_port {
    prt_str name;
    uint32_t tensor;
} prt_tflite_port;

typedef struct prt_tflite_signature {
    prt_str key;
    uint32_t subgraph;
    size_t n_inputs, n_outputs;
    const prt_tflite_port *inputs, *outputs;
} prt_tflite_signature;

typedef struct prt_tflite_model {
    prt_flat flat;
    prt_blob *file;
    size_t n_subgraphs, n_signatures; /* at least one subgraph */
    const prt_tflite_subgraph *subgraphs;
    const prt_tflite_signature *signatures;
} prt_tflite_model;

/* Returns whether the bytes begin as a TFLite file does. */
bool prt_tflite_is(const void *bytes, size_t size);

poprt_status prt_tflite_parse(prt_arena *arena, prt_blob *file, prt_tflite_model **out);

/* Returns the name of an operator for messages. */
prt_str prt_tflite_operator_name(const prt_tflite_operator *op);

/* tensor.c: the parts of a Tensor table. */
typedef struct prt_tflite_reader {
    prt_arena *arena;
    prt_tflite_model *model;
    size_t n_buffers;
    const prt_tflite_bytes *buffers;
    size_t n_codes;
    const prt_tflite_operator *codes; /* code, custom and version of each operator code */
} prt_tflite_reader;

poprt_status prt_tflite_read_tensor(const prt_tflite_reader *r, const prt_flat_table *t,
    prt_tflite_tensor *out);
/* Copies a vector of numbers. */
poprt_status prt_tflite_read_ints(const prt_tflite_reader *r, const prt_flat_vector *v,
    prt_tflite_ints *out);

#endif
