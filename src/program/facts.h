/* SPDX-License-Identifier: MIT */
/* facts.h — the metadata of a model's file, copied from ONNX into programs. */
#ifndef PRT_PROGRAM_FACTS_H
#define PRT_PROGRAM_FACTS_H

#include "base/str.h"

typedef struct prt_property {
    prt_str key, value;
} prt_property;

/* Absent texts are empty, absent numbers are 0. */
typedef struct prt_facts {
    prt_str producer_name, producer_version, domain, doc, graph_name, graph_doc;
    int64_t model_version, ir_version;
    int64_t opset; /* version of the ai.onnx domain */
    uint32_t n_properties;
    const prt_property *properties; /* ONNX's metadata_props, in the order of the file */
} prt_facts;

#endif
