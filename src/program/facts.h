/* SPDX-License-Identifier: MIT */
/* facts.h — what a model's file says of itself. It goes along from ONNX into programs. */
#ifndef PRT_PROGRAM_FACTS_H
#define PRT_PROGRAM_FACTS_H

#include "base/str.h"

typedef struct prt_property {
    prt_str key, value;
} prt_property;

/* Texts that a file does not have are empty, numbers 0. */
typedef struct prt_facts {
    prt_str producer_name, producer_version, domain, doc, graph_name, graph_doc;
    int64_t model_version, ir_version;
    int64_t opset; /* of ai.onnx */
    uint32_t n_properties;
    const prt_property *properties; /* ONNX's metadata_props, in the file's order */
} prt_facts;

#endif
