/* SPDX-License-Identifier: MIT */
/* describe.h — descriptions of models, executables and operators as text, JSON and Graphviz. */
#ifndef PRT_DESCRIBE_DESCRIBE_H
#define PRT_DESCRIBE_DESCRIBE_H

#include "describe/io_table.h"
#include "describe/sink.h"
#include "poprt/executable.h"
#include "base/json.h"
#include "base/map.h"

/* Number of operators of one type. */
typedef struct prt_op_count {
    prt_str name; /* name, or "domain.Name" outside ONNX's own domain, such as "Conv" */
    uint64_t count;
    uint64_t flops; /* sum of their FLOPs; always 0 for executables */
} prt_op_count;

/* A line "key  value" that exists only for models or only for executables. `number` is the value if
 * `text` is absent. */
typedef struct prt_fact {
    const char *label; /* label in the summary; NULL: not in the summary */
    const char *key;   /* key in JSON; NULL: not in JSON */
    prt_str text;
    uint64_t number;
} prt_fact;

typedef struct prt_description {
    prt_arena *arena;
    const char *kind; /* "onnx" or "popef" */
    const char *file;
    const prt_io_table *io;
    prt_map ops; /* name → prt_op_count */
    PRT_VEC(prt_op_count *) op_list;
    PRT_VEC(prt_fact) facts;
    uint64_t n_ops, n_weights, weight_bytes, flops;
} prt_description;

/* Numbers of known, symbolic and unknown dims of operator outputs, and the first operators whose
 * outputs have unknown dims although their inputs have none. */
typedef struct prt_dim_counts {
    uint64_t known, symbolic, unknown, origins;
    size_t size;
    char from[PRT_SINK_LINE - 64]; /* names of these operators */
} prt_dim_counts;

struct prt_graph;
void prt_describe_count_dims(const struct prt_graph *graph, prt_dim_counts *to);
void prt_describe_print_dims(const prt_dim_counts *counts, char *to, size_t size);
poprt_status prt_describe_add_dims(prt_description *d, const prt_dim_counts *counts);

poprt_status prt_describe_add_op(prt_description *d, prt_str domain, prt_str name, uint64_t flops);
poprt_status prt_describe_add_fact(prt_description *d, const char *label, const char *key,
    prt_str text, uint64_t number);

/* Adds the list of the `n_graphs` fused graphs. `names` has the names of all graphs or blocks. */
poprt_status prt_describe_add_graphs(prt_description *d, uint32_t n_graphs, const prt_str *names,
    size_t count);

/* Write a summary: for people, or as one JSON object. */
poprt_status prt_describe_summary(prt_description *d, prt_sink *sink);
poprt_status prt_describe_json(prt_description *d, prt_sink *sink);

/* Writes the devices and sharding points of a graph. Every node must have a device. */
poprt_status prt_describe_sharding(const struct prt_graph *graph, prt_arena *arena, prt_sink *sink);

/* Writes text inside a Graphviz string: escapes quotes, backslashes and control characters. */
void prt_sink_dot(prt_sink *sink, prt_str text);

/* Write the steps and the eliminated nodes, as lines or as one JSON object. */
poprt_status prt_describe_steps(const prt_program *p, prt_sink *sink);
poprt_status prt_describe_steps_json(const prt_program *p, prt_arena *arena, prt_sink *sink);

/* Writes the attributes that are given, as members; subgraphs and the contents of tensors are left
 * out. */
void prt_describe_attrs(prt_json_out *out, const prt_dims *dims, const struct prt_op_def *def,
    const void *attrs);

/* Writes blocks and their steps as one JSON object, in the form of prt_describe_graphs. */
poprt_status prt_describe_blocks(const prt_program *p, prt_arena *arena, prt_sink *sink);

/* Writes the node of a step, and the nodes merged into it, as a member "nodes". */
void prt_describe_nodes(prt_json_out *json, const prt_eval_params *params);

/* Writes graphs (the main graph first) and their operators as one JSON object. */
struct prt_module;
poprt_status prt_describe_graphs(const struct prt_module *module, prt_arena *arena, size_t count,
    const struct prt_graph *const *graphs, prt_sink *sink);

/* ---- one function for each kind of object; `format` must be a POPRT_FORMAT_* value for this
 * kind */
poprt_status prt_describe_model(const struct prt_module *module, const prt_io_table *io,
    int32_t format, prt_arena *arena, prt_sink *sink);

/* A drawing of a module: the nodes [first, end) of each graph in the graph's order, with or without
 * their names; of one graph, 0 being the main graph, or of all. */
enum { PRT_DOT_ALL = -1 };
typedef struct prt_dot {
    uint64_t first, end;
    bool names;
    int64_t graph; /* PRT_DOT_ALL: all */
} prt_dot;

/* Writes a Graphviz graph, and sets `n_graphs` to the number of graphs of the module. */
poprt_status prt_describe_dot(const struct prt_module *module, const prt_dot *dot, prt_arena *arena,
    size_t *n_graphs, prt_sink *sink);

/* `memory`: bytes of a session; not in the summary if `is_planned` is 0. `file`: path of the file
 * that the executable was read from, or "". */
poprt_status prt_describe_executable(const prt_program *program, const prt_io_table *io,
    const char *file, const poprt_memory_info *memory, int32_t format, prt_arena *arena,
    prt_sink *sink);

struct prt_op_set;
poprt_status prt_describe_operators(const struct prt_op_set *ops, int32_t format, prt_arena *arena,
    prt_sink *sink);

#endif
