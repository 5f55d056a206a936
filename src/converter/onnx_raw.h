/* SPDX-License-Identifier: MIT */
/*
 * onnx_raw.h — a model that is parsed but not built: names and views into the file, in a scratch
 * arena that is released when reading ends. Nodes of each graph are in topological order.
 */
#ifndef PRT_CONVERTER_ONNX_RAW_H
#define PRT_CONVERTER_ONNX_RAW_H

#include "base/map.h"
#include "base/vec.h"
#include "converter/onnx_wire.h"
#include "ir/ir.h"

/* AttributeProto.AttributeType */
enum {
    PRT_ONNX_FLOAT = 1,
    PRT_ONNX_INT = 2,
    PRT_ONNX_STRING = 3,
    PRT_ONNX_TENSOR = 4,
    PRT_ONNX_GRAPH = 5,
    PRT_ONNX_FLOATS = 6,
    PRT_ONNX_INTS = 7,
    PRT_ONNX_STRINGS = 8,
    PRT_ONNX_TENSORS = 9,
    PRT_ONNX_GRAPHS = 10,
    PRT_ONNX_SPARSE_TENSOR = 11,
    PRT_ONNX_SPARSE_TENSORS = 12,
    PRT_ONNX_TYPE_PROTO = 13,
    PRT_ONNX_TYPE_PROTOS = 14
};

typedef struct prt_raw_graph prt_raw_graph;

/* Fields kept as raw bytes, in order, with their tags. */
typedef struct prt_raw_list {
    prt_raw *first, *last;
} prt_raw_list;

typedef struct prt_raw_attr {
    prt_str name, ref; /* ref: the function's attribute that it refers to */
    int32_t kind;      /* AttributeType; derived from the fields if an old file omits it */
    prt_bytes bytes;   /* AttributeProto */
    prt_bytes whole;   /* the AttributeProto with the tag of its field */
    prt_bytes payload; /* of TENSOR, SPARSE_TENSOR, TYPE_PROTO */
    PRT_VEC(prt_raw_graph *) graphs; /* of GRAPH and GRAPHS */
} prt_raw_attr;

typedef struct prt_raw_node {
    prt_str name, op_type, domain, overload;
    PRT_VEC(prt_str) inputs;
    PRT_VEC(prt_str) outputs;
    PRT_VEC(prt_raw_attr) attrs;
    PRT_VEC(prt_str) captures; /* names from outside that its graphs read */
    prt_raw_list extra;        /* fields that have no member here */
    prt_bytes bytes;           /* NodeProto */
    uint32_t depth;            /* nesting depth of the NodeProto */
    uint32_t mark;             /* state of the topological sort */
} prt_raw_node;

/* A tensor or ValueInfoProto with its name. */
typedef struct prt_raw_named {
    prt_str name;
    prt_bytes bytes;
} prt_raw_named;

struct prt_raw_graph {
    prt_str name, doc;
    PRT_VEC(prt_raw_node *) nodes;
    PRT_VEC(prt_raw_named) constants; /* initializers */
    PRT_VEC(prt_raw_named) sparse;
    PRT_VEC(prt_raw_named) inputs;
    PRT_VEC(prt_raw_named) outputs;
    PRT_VEC(prt_raw_named) infos;
    prt_raw_list extra; /* includes inputs, outputs and value_info, for writing */
    uint32_t depth;     /* nesting depth of the GraphProto */
};

typedef struct prt_raw_function {
    prt_str domain, name, overload;
    PRT_VEC(prt_str) attributes; /* names of attributes without a default */
    PRT_VEC(prt_raw_attr) defaults;
    PRT_VEC(prt_raw_named) opsets; /* OperatorSetIdProto */
    prt_raw_graph body;            /* its inputs and outputs have only names */
    struct prt_raw_function *same; /* next function of this name */
    bool active;                   /* being inlined: a second call is a recursion */
    prt_bytes whole;               /* the field of the model, with its tag */
} prt_raw_function;

typedef struct prt_raw_model {
    int64_t ir_version;
    PRT_VEC(prt_bytes) opsets;
    PRT_VEC(prt_raw_function *) functions;
    prt_raw_graph *graph;
    prt_raw_list extra;
} prt_raw_model;

/* Context of the parser. */
typedef struct prt_raw_reader {
    prt_arena *arena;
    uint32_t subgraphs; /* limit of the nesting depth */
} prt_raw_reader;

poprt_status prt_raw_read_model(const prt_raw_reader *r, prt_bytes bytes, prt_raw_model *out);
/* Parses a NodeProto. */
poprt_status prt_raw_read_node(const prt_raw_reader *r, prt_bytes bytes, prt_raw_node *out);
/* onnx_order.c: collects the outside names that nested graphs read, then sorts nodes topologically
 * and keeps the file's order if that is valid. Fails on a cycle and on a value that is written
 * twice. */
poprt_status prt_raw_captures(const prt_raw_reader *r, prt_raw_node *node);
poprt_status prt_raw_order(const prt_raw_reader *r, prt_raw_graph *graph);

/* Fails with an error about a named item of the file; the name need not be null-terminated. */
poprt_status prt_onnx_fail(poprt_status status, prt_str subject, const char *fmt, ...)
    PRT_PRINTF(3, 4);
/* Arguments for "%.*s": a name, truncated to fit into a message. */
#define PRT_SHOW(s) (int)((s).size < 200 ? (s).size : 200), (s).data != NULL ? (s).data : ""

/* Returns the name of a node for errors: its name, else its first output, else its operator. */
prt_str prt_raw_label(const prt_raw_node *node);

/* Appends a field as raw bytes. */
poprt_status prt_raw_keep(prt_arena *arena, prt_raw_list *list, uint32_t field, prt_bytes whole);

#endif
