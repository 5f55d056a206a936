/* SPDX-License-Identifier: MIT */
/*
 * graph.h — a GraphDef as nodes with resolved edges. Names, attributes and tensors are views of the
 * file. A body is the list of nodes of the graph itself or of a function; bodies of functions are
 * parsed when they are called, so that functions that nothing calls cost nothing.
 */
#ifndef PRT_TENSORFLOW_GRAPH_H
#define PRT_TENSORFLOW_GRAPH_H

#include "base/map.h"
#include "op/op.h"
#include "tensorflow/attr.h"
#include "tensorflow/wire.h"

struct prt_tf_row;

/* Output `output` of node `node` of a body. The outputs of lists count one by one. */
typedef struct prt_tf_edge {
    uint32_t node, output;
} prt_tf_edge;

typedef struct prt_tf_node {
    prt_str name, op;
    const struct prt_tf_row *row; /* NULL: unknown operator, or a call of a function */
    const prt_tf_attr *attrs;
    uint32_t n_attrs, n_in, n_control, n_out;
    const prt_tf_edge *in;   /* data inputs */
    const uint32_t *control; /* nodes that run before, by control edges */
} prt_tf_node;

typedef struct prt_tf_body {
    const prt_tf_node *nodes;
    uint32_t n_nodes;
    uint32_t n_args; /* the first nodes are the arguments of the function (operator "_Arg") */
    prt_map names;   /* node names → nodes */
    const prt_tf_edge *ret; /* outputs of the function */
    uint32_t n_ret;
    prt_strs arg_names, ret_names;
    prt_map ret_index; /* names of the function's outputs → entries of `ret`, as index + 1 */
    const uint32_t *effects; /* nodes that run whenever the function does: its control outputs */
    uint32_t n_effects;
    uint32_t *first_out; /* of each node: the outputs of the nodes before it; NULL: not counted */
    int8_t writes;       /* see prt_tf_body_writes; -1: not known yet */
} prt_tf_body;

typedef struct prt_tf_function {
    prt_str name;
    prt_bytes bytes; /* FunctionDef */
    uint32_t depth;
    const prt_tf_attr *attrs; /* of the function itself, such as api_implements */
    uint32_t n_attrs;
    prt_tf_body *body; /* NULL: not parsed yet */
} prt_tf_function;

typedef struct prt_tf_graph {
    prt_arena *arena;
    prt_map rows;      /* operators by name */
    prt_map functions; /* by name → prt_tf_function */
    prt_tf_body main;
    int64_t producer; /* version of the program that wrote the graph; 0: unknown */
    uint32_t parsing; /* functions that are being parsed: each needs the next */
} prt_tf_graph;

/* Parses a GraphDef. `bytes` must outlive `out`, whose memory comes from `arena`. Fails where two
 * nodes have one name, and where an edge names a node that does not exist. */
poprt_status prt_tf_graph_read(prt_arena *arena, prt_bytes bytes, uint32_t depth,
    prt_tf_graph *out);

/* Returns a function, whose body is parsed on the first call; NULL (failure recorded) if the
 * library has no function of this name, or if its body is malformed. */
const prt_tf_function *prt_tf_function_find(prt_tf_graph *graph, prt_str name);

/* Return whether a node, or some node of a body, writes a resource, itself or in a function that it
 * calls. The main graph's calls are not looked into, because most of them are not converted. */
bool prt_tf_node_writes(prt_tf_graph *graph, const prt_tf_node *node);
bool prt_tf_body_writes(prt_tf_graph *graph, prt_tf_body *body);

/* Finds the tensor `text`: "node", "node:2" or, with operators of several outputs,
 * "node:output:2". Returns false if there is no such node or output. */
bool prt_tf_find_tensor(prt_tf_graph *graph, const prt_tf_body *body, prt_str text,
    prt_tf_edge *out);

#endif
