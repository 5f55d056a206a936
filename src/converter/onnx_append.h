/* SPDX-License-Identifier: MIT */
/*
 * onnx_append.h — reads a model piece by piece: the caller adds inputs, constants and nodes one at
 * a time. Each node is built, checked against the opset, upgraded and typed as the reader would do.
 * A builder of models uses it for the types of its tensors and for errors at the call that caused
 * them.
 */
#ifndef PRT_CONVERTER_ONNX_APPEND_H
#define PRT_CONVERTER_ONNX_APPEND_H

#include "converter/onnx.h"
#include "converter/onnx_build.h"

typedef struct prt_onnx_append prt_onnx_append;

/* A graph that is appended to, and the names that its nodes see. */
typedef struct prt_append_graph {
    prt_scope scope;
    prt_graph *graph;
} prt_append_graph;

/* Creates an empty module to append to. `limit` bounds the bytes of its structures (0: no limit).
 */
poprt_status prt_onnx_append_create(const prt_allocator *allocator, size_t limit,
    const prt_op_set *ops, prt_onnx_append **out);
void prt_onnx_append_release(prt_onnx_append *a);

/* Lets nodes have element types that only a newer version of their operator has. */
void prt_onnx_append_newer_types(prt_onnx_append *a, bool on);

/* Return the module and its main graph, which belong to `a`. */
prt_module *prt_onnx_append_module(prt_onnx_append *a);
prt_append_graph *prt_onnx_append_main(prt_onnx_append *a);

/* Adds a graph that no op holds. Its nodes see the values of `outer`. `*out` belongs to `a`. */
poprt_status prt_onnx_append_graph(prt_onnx_append *a, prt_append_graph *outer,
    prt_append_graph **out);

/* Adds an input. A type of NULL is unknown. Dims that are not known get a name in the main graph.
 */
poprt_status prt_onnx_append_input(prt_onnx_append *a, prt_append_graph *graph, prt_str name,
    const prt_type *type, prt_value **out);
/* Reads the type of an input from a ValueInfoProto. */
poprt_status prt_onnx_append_declared(prt_onnx_append *a, prt_append_graph *graph, prt_str name,
    prt_bytes info, prt_value **out);
/* Adds a constant of the main graph. Retains the blob. */
poprt_status prt_onnx_append_constant(prt_onnx_append *a, prt_str name, const prt_type *type,
    prt_blob *blob, prt_value **out);

/*
 * Appends the node of a NodeProto, whose bytes must live as long as `a`. `out` gets the value of
 * each of the `n_out` outputs of the node, NULL for one without a name. Fails if the operator does
 * not exist at the opset, or has no such inputs, outputs or attributes there. After a failure the
 * module must not be used any more.
 */
poprt_status prt_onnx_append_node(prt_onnx_append *a, prt_append_graph *graph, prt_bytes node,
    uint32_t n_out, prt_value **out);

/* Decodes an attribute of a NodeProto by its name. The result lives as long as `a`. `*found` tells
 * whether the node has it. */
poprt_status prt_onnx_append_attr(prt_onnx_append *a, prt_bytes node, prt_str name, bool *found,
    prt_node_attr *out);

#endif
