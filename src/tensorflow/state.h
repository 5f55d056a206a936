/* SPDX-License-Identifier: MIT */
/*
 * state.h — variables and lookup tables while a model is converted. Their contents come from the
 * checkpoint or file beside the model (saved_model.h), when an operator reads them first. An
 * operator that writes a variable replaces its contents for the operators that run later.
 */
#ifndef PRT_TENSORFLOW_STATE_H
#define PRT_TENSORFLOW_STATE_H

#include "tensor/tensor.h"
#include "tensorflow/convert.h"

/* The handle of a value of kind PRT_TF_variable or PRT_TF_table. Handles with one name are one
 * resource. */
typedef struct prt_tf_resource {
    const prt_tf_node *node; /* the first node that makes the handle */
    const char *name;        /* for messages */
    const prt_tf_value *now; /* of a variable: its contents; NULL: not read yet */
    bool written;
    bool read; /* of a table: keys and values are set, both of rank 1 or more */
    prt_tensor keys, values;
} prt_tf_resource;

/* Returns the resource of input 0; NULL (failure recorded in the call) if it is another kind. */
prt_tf_resource *prt_tf_variable(prt_tf_call *call);

/* Returns the contents of a variable: a constant, or the tensor that was written last. NULL on
 * failure, which is recorded in the call. */
prt_value *prt_tf_variable_read(prt_tf_call *call, prt_tf_resource *variable);

/* Makes `value` the contents of a variable, and output 0 of the call. Only operators of the main
 * graph can write: those in bodies of loops and branches are refused. */
poprt_status prt_tf_variable_write(prt_tf_call *call, prt_tf_resource *variable, prt_value *value);

/* Returns the table of input 0 with its contents; NULL (failure recorded in the call) without. */
prt_tf_resource *prt_tf_table(prt_tf_call *call);

/* Sets output 0 to the handle of a resource that the node makes. */
poprt_status prt_tf_make_resource(prt_tf_call *call, prt_tf_kind kind);

#endif
