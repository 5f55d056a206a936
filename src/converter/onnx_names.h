/* SPDX-License-Identifier: MIT */
/*
 * onnx_names.h — what values are called in a file. ONNX knows values by name only: each needs one,
 * no two may share one, and a graph's output is called what the interface says.
 */
#ifndef PRT_CONVERTER_ONNX_NAMES_H
#define PRT_CONVERTER_ONNX_NAMES_H

#include "ir/ir.h"

typedef struct prt_graph_names {
    const prt_graph *graph;
    prt_str *values;  /* by value id; empty: not to be written */
    prt_str *outputs; /* by output; one that is not its value's name is written as an Identity */
} prt_graph_names;

typedef struct prt_names {
    const prt_module *module;
    prt_arena *scratch;
    prt_map taken;
    prt_map graphs; /* prt_graph_names by the bytes of the graph's address */
    uint32_t counter;
} prt_names;

/* Names everything in the module's main graph and its regions. */
poprt_status prt_names_create(const prt_module *module, prt_arena *scratch, prt_names **out);

const prt_graph_names *prt_names_graph(const prt_names *names, const prt_graph *graph);
prt_str prt_names_value(const prt_names *names, const prt_value *value);

#endif
