/* SPDX-License-Identifier: MIT */
/*
 * onnx_names.h — what values and nodes are called in a file. ONNX knows values by name only: each
 * needs one, no two may share one, and a graph's output is called what the interface says. Nodes
 * may go without a name, but some readers refuse two of one.
 */
#ifndef PRT_CONVERTER_ONNX_NAMES_H
#define PRT_CONVERTER_ONNX_NAMES_H

#include "ir/ir.h"

typedef struct prt_graph_names {
    const prt_graph *graph;
    prt_str *values;  /* by value id; empty: not to be written */
    prt_str *nodes;   /* by op id; empty: without a name */
    prt_str *outputs; /* by output; one that is not its value's name is written as an Identity */
} prt_graph_names;

typedef struct prt_names {
    const prt_module *module;
    prt_arena *scratch;
    prt_map taken, nodes;
    prt_map graphs; /* prt_graph_names by the bytes of the graph's address */
    uint32_t counter, node_counter;
} prt_names;

/* Names everything in the module's main graph and its regions. */
poprt_status prt_names_create(const prt_module *module, prt_arena *scratch, prt_names **out);

const prt_graph_names *prt_names_graph(const prt_names *names, const prt_graph *graph);
prt_str prt_names_value(const prt_names *names, const prt_value *value);
prt_str prt_names_node(const prt_names *names, const prt_op *op);

#endif
