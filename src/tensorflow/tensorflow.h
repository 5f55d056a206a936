/* SPDX-License-Identifier: MIT */
/* tensorflow.h — reads TensorFlow models: GraphDef, SavedModel, checkpoints. */
#ifndef PRT_TENSORFLOW_TENSORFLOW_H
#define PRT_TENSORFLOW_TENSORFLOW_H

#include "ir/ir.h"

typedef struct prt_tf_options {
    /* Names of tensors, separated by commas; NULL or "": those of the signature or graph. A name of
     * `inputs` may carry a shape, "x:0[1,28,28,3]", in which -1 and ? are free dimensions. */
    const char *inputs, *outputs;
    const char *signature; /* of a SavedModel; NULL or "": serving_default, or the only one */
    /* Of a meta graph, separated by commas; NULL: serve, or the only one; "": the empty set. */
    const char *tags;
    const char *inputs_as_nchw;  /* inputs that are taken as NCHW; NULL or "": none */
    const char *outputs_as_nchw; /* outputs that are given as NCHW */
    bool verify;                 /* check the checksums of the variables in a checkpoint */
    bool saved_model;            /* the path must be a SavedModel */
    int64_t opset;               /* of ai.onnx, which the module imports; 0: 18 */
    size_t arena;                /* bound on the bytes of graph structures; 0: 1 GiB */
    const prt_op_set *ops;       /* see prt_module */
    /* Gets each warning; may be NULL. */
    void (*warn)(void *user, const char *text);
    void *user;
} prt_tf_options;

/* Return whether bytes, or a file or folder, are a model of TensorFlow, by their contents. `file`
 * is the mapped file; NULL for a folder or the prefix of a checkpoint. */
bool prt_tf_recognises(const prt_blob *bytes);
bool prt_tf_recognises_file(const char *path, const prt_blob *file);

/* Reads a GraphDef from memory, and retains `bytes`. `name` is the name that errors give the
 * model. */
poprt_status prt_tf_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_module **out);

/* Reads a model: a folder with a SavedModel, a checkpoint with a meta graph, or a GraphDef. All
 * nodes that cannot be converted are named in one error. */
poprt_status prt_tf_read_file(const prt_allocator *allocator, const char *path,
    const prt_tf_options *options, prt_module **out);

#endif
