/* SPDX-License-Identifier: MIT */
/*
 * convert.h — the conversion of TFLite models.
 *
 * A subgraph becomes a body of the engine in tensorflow/convert.h: its inputs, its operators and
 * its other tensors are nodes, and other subgraphs are functions. rows.def says how an operator is
 * converted: by the row of a TensorFlow operator, which gets the options as attributes, or by a
 * function of the files op_*.c.
 *
 * Results of nodes have the element types of the file. A tensor of integers with scales stands for
 * real numbers. Operators that compute read DequantizeLinear of it and write QuantizeLinear of
 * their result; the passes turn such groups into integer operators. Operators that move elements
 * read and write the integers if all tensors have the same scale.
 */
#ifndef PRT_TFLITE_CONVERT_H
#define PRT_TFLITE_CONVERT_H

#include "ir/build_ops.h"
#include "tensorflow/convert.h"
#include "tflite/model.h"

typedef struct prt_tflite_body {
    prt_tf_body body; /* the first member: rows find the rest by it */
    const prt_tflite_model *model;
    const prt_tflite_subgraph *graph;
    const prt_tf_edge *from; /* of each tensor: the node and output that make it */
} prt_tflite_body;

/* An operator that is being converted. */
typedef struct prt_tflite_call {
    prt_tf_call tf; /* with the inputs in the form that the row asks for */
    const prt_tflite_operator *op;
    const prt_tflite_subgraph *graph;
    const prt_tf_value *stored; /* the inputs as integers */
    bool moves;                 /* inputs and outputs are the integers */
} prt_tflite_call;

typedef poprt_status (*prt_tflite_row_fn)(prt_tflite_call *n);

/* Makes a body for each subgraph, and adds the subgraphs to the functions of the converter's
 * graph. */
poprt_status prt_tflite_bodies(prt_tf_converter *c, const prt_tflite_model *model,
    const prt_tflite_body **out);
/* Returns the name of the function that a subgraph is; data is NULL without memory. */
prt_str prt_tflite_function_name(prt_arena *arena, uint32_t subgraph);

/* op_state.c: converts the subgraphs that CALL_ONCE operators of the main subgraph run, which set
 * the first contents of variables and tables. */
poprt_status prt_tflite_initialise(prt_tf_converter *c, const prt_tflite_body *bodies,
    const prt_tflite_body *main);

/* Converts a node of an operator. */
poprt_status prt_tflite_convert_operator(prt_tf_call *call);
/* Converts a node of a tensor that is not computed. */
poprt_status prt_tflite_convert_constant(prt_tf_call *call);
/* Converts the node of a condition. */
poprt_status prt_tflite_convert_condition(prt_tf_call *call);

/* Return the tensor of an input or output; NULL if it is absent. */
const prt_tflite_tensor *prt_tflite_input(const prt_tflite_call *n, uint32_t i);
const prt_tflite_tensor *prt_tflite_output(const prt_tflite_call *n, uint32_t k);

/* Converts the operator by the row of a TensorFlow operator; `attrs` are added to those that the
 * options make. */
poprt_status prt_tflite_as(prt_tflite_call *n, const char *name, uint32_t n_in,
    const prt_tf_value *in, uint32_t n_attrs, const prt_tf_attr *attrs);

/* Applies the activation in an option, except where the scale of the output implies it. */
prt_value *prt_tflite_activate(prt_tflite_call *n, prt_value *x, int64_t activation);

/* Returns an option of the operator by its name; `absent` where its table lacks the field. */
int64_t prt_tflite_option(const prt_tflite_call *n, const char *name, int64_t absent);

/* ---- quantise.c */
/* Returns whether a tensor is stored as integers that stand for real numbers. */
bool prt_tflite_is_quantised(const prt_tflite_tensor *t);
/* Returns whether an operator that moves elements can move the stored ones: all quantised tensors
 * have one scale and zero point, the same, and if there are some, no output has real numbers. */
bool prt_tflite_same_scale(const prt_tflite_call *n);
/* Returns the real numbers of a stored value. Axis `perm[i]` of the tensor is axis i of the value;
 * NULL: the axes are the same. */
prt_value *prt_tflite_dequantise(prt_build *b, const prt_tflite_tensor *t, prt_value *stored,
    const int64_t *perm);
prt_value *prt_tflite_quantise(prt_build *b, const prt_tflite_tensor *t, prt_value *real);
/* Returns the integer that the tensor stores for a real number: rounded, within its type. */
double prt_tflite_stored_number(const prt_tflite_tensor *t, double real);

#endif
