/* SPDX-License-Identifier: MIT */
/* interface.h — inputs and outputs of a model that is being converted. */
#ifndef PRT_TENSORFLOW_INTERFACE_H
#define PRT_TENSORFLOW_INTERFACE_H

#include "tensorflow/convert.h"
#include "tensorflow/tensorflow.h"

/* An input: the tensor that it stands for, its name in the model, and its type. */
typedef struct prt_tf_input {
    prt_str name;
    prt_tf_edge edge;
    int32_t dtype, rank; /* undefined and unknown where the graph does not say */
    int64_t dims[PRT_MAX_RANK];
    bool nchw;
    prt_bytes default_value; /* TensorProto of an input that callers may omit; data may be NULL */
    uint32_t depth;          /* of the message */
} prt_tf_input;

typedef struct prt_tf_output {
    prt_str name;
    prt_tf_edge edge;
    bool nchw;
} prt_tf_output;

typedef struct prt_tf_interface {
    PRT_VEC(prt_tf_input) inputs;
    PRT_VEC(prt_tf_output) outputs;
} prt_tf_interface;

/* Returns the element type of an output, or PRT_DTYPE_undefined. */
int32_t prt_tf_output_type(prt_tf_converter *c, const prt_tf_node *node, uint32_t output);

/* Chooses inputs and outputs: those that the options name, else those of the signature of c->saved,
 * else all placeholders and all nodes that nothing reads. */
poprt_status prt_tf_choose_interface(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *out);

/* Sets the flags nchw from the options. Fails with a name that is not an input or output. */
poprt_status prt_tf_interface_layouts(prt_tf_converter *c, const prt_tf_options *options,
    prt_tf_interface *io);

/* Converts everything that the outputs need, in a scope of the main body. */
poprt_status prt_tf_convert(prt_tf_converter *c, prt_tf_scope *scope, const prt_tf_interface *io);

/* Converts the model in `file`, for prt_tf_read_with. */
typedef poprt_status (
    *prt_tf_read_fn)(prt_tf_converter *c, prt_blob *file, const prt_tf_options *options);

/* Makes a module and a converter, calls `read`, and cleans up the graph. For readers of other
 * formats; see prt_tf_read_bytes. */
poprt_status prt_tf_read_with(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_tf_read_fn read, prt_module **out);

#endif
