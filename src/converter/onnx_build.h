/* SPDX-License-Identifier: MIT */
/*
 * onnx_build.h — builds a module from a parsed model: names become values, nodes become ops, and
 * functions are inlined. Shared by the files that do this.
 */
#ifndef PRT_CONVERTER_ONNX_BUILD_H
#define PRT_CONVERTER_ONNX_BUILD_H

#include "converter/onnx.h"
#include "converter/onnx_raw.h"
#include "converter/onnx_tensor.h"
#include "converter/upgrade.h"

enum { PRT_ONNX_NESTING = 128 }; /* maximum nesting of graphs and inlined functions */

typedef struct prt_scope prt_scope;

/* An attribute of a node, with a reference to a function's attribute resolved. */
typedef struct prt_resolved_attr {
    prt_str name;
    const prt_raw_attr *raw;
    prt_scope *scope; /* scope for the names in its graphs */
} prt_resolved_attr;

typedef PRT_VEC(prt_resolved_attr) prt_resolved_attrs;

/* A function that is being inlined. */
typedef struct prt_function_call {
    const prt_raw_function *fn;
    prt_resolved_attrs given;
    prt_str prefix; /* prefix of the names of its values and nodes */
} prt_function_call;

/* The names that are visible in one graph or in one call of a function. */
struct prt_scope {
    prt_map values;
    prt_scope *outer;               /* NULL: main graph or function body */
    const prt_function_call *frame; /* NULL outside of functions */
};

typedef struct prt_onnx_reader {
    prt_module *m;
    prt_arena *scratch;
    prt_onnx_source source;
    prt_map functions;           /* by name */
    const prt_onnx_given *given; /* constants of the main graph besides its initializers */
    size_t n_given;
    uint64_t nodes, node_limit;
    uint32_t level;
    bool inlined;               /* at least one call was inlined */
    prt_value absent;           /* stands for an input that a call omits */
    PRT_VEC(prt_upgrade) built; /* in order; the ops of a region precede its owner */
} prt_onnx_reader;

/* onnx_graph.c */
poprt_status prt_onnx_build_graph(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    prt_scope *outer, const prt_function_call *frame);
/* Binds `name` to a value in this scope, and gives the value a unique name in the module. */
poprt_status prt_onnx_define(prt_onnx_reader *r, prt_scope *scope, prt_str name, prt_value *value);
/* Returns the visible value of this name, or NULL. */
prt_value *prt_onnx_look_up(const prt_scope *scope, prt_str name);
poprt_status prt_onnx_add_constant(prt_onnx_reader *r, prt_graph *g, prt_scope *scope, prt_str name,
    const prt_raw_tensor *t, prt_blob *blob);
/* Copies a list to the module's arena. */
poprt_status prt_onnx_keep_list(prt_onnx_reader *r, const prt_raw_list *list, const prt_raw **out);

/* onnx_node.c */
poprt_status prt_onnx_build_node(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node);
poprt_status prt_onnx_resolve_attrs(prt_onnx_reader *r, prt_scope *scope, const prt_raw_node *node,
    prt_resolved_attrs *out);

/* onnx_function.c */
prt_raw_function *prt_onnx_function(const prt_onnx_reader *r, const prt_raw_node *node);
poprt_status prt_onnx_inline(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, prt_raw_function *fn);
int64_t prt_onnx_opset(const prt_onnx_reader *r, const prt_scope *scope, prt_str domain);
poprt_status prt_onnx_read_opset(prt_bytes bytes, uint32_t depth, prt_str *domain,
    int64_t *version);

/* onnx_constant.c: turns a Constant node into a constant of the graph. */
poprt_status prt_onnx_build_constant(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, const prt_resolved_attrs *given);

/* onnx_attr.c: decodes the value of an attribute into the module's arena. `region` is the index of
 * its first graph. */
poprt_status prt_onnx_attr(prt_onnx_reader *r, const prt_resolved_attr *given, uint32_t depth,
    uint32_t region, prt_node_attr *out);

#endif
