/* SPDX-License-Identifier: MIT */
/*
 * onnx_names.h — the names of values and nodes in a written file. ONNX refers to values by name
 * only: each value needs a unique name, and graph outputs have the names of the interface. Nodes
 * may be unnamed, but some readers refuse two nodes of the same name.
 */
#ifndef PRT_CONVERTER_ONNX_NAMES_H
#define PRT_CONVERTER_ONNX_NAMES_H

#include "ir/ir.h"

typedef struct prt_graph_names {
    const prt_graph *graph;
    prt_str *values;  /* by value id; empty: not written */
    prt_str *nodes;   /* by op id; empty: unnamed */
    prt_str *outputs; /* by output */
    bool *copies;     /* by output: an Identity copies the value to the output's name */
} prt_graph_names;

typedef struct prt_names {
    const prt_module *module;
    prt_arena *scratch;
    prt_map taken; /* by name in the file: the value that has it or is copied to make it */
    prt_map nodes;
    prt_map graphs; /* prt_graph_names by the bytes of the graph's address */
    uint32_t counter, node_counter;
} prt_names;

/* Names all values and nodes of the module's main graph and its regions. */
poprt_status prt_names_create(const prt_module *module, prt_arena *scratch, prt_names **out);

const prt_graph_names *prt_names_graph(const prt_names *names, const prt_graph *graph);
prt_str prt_names_value(const prt_names *names, const prt_value *value);
prt_str prt_names_node(const prt_names *names, const prt_op *op);

#endif
