/* SPDX-License-Identifier: MIT */
/*
 * ir.h — the graph: SSA values with use lists, typed operators, nested graphs (regions).
 *
 * Everything lives in the module's arena and is freed with it; erased ops stay readable and are
 * marked dead. Ids are dense per graph, so passes keep side tables as plain arrays.
 * The list order of a graph's ops is always a topological order.
 */
#ifndef PRT_IR_IR_H
#define PRT_IR_IR_H

#include "base/blob.h"
#include "base/map.h"
#include "base/vec.h"
#include "op/op.h"
#include "tensor/type.h"

typedef struct prt_module prt_module;
typedef struct prt_graph prt_graph;
typedef struct prt_op prt_op;
typedef struct prt_value prt_value;
typedef struct prt_use prt_use;

/* One place where a value is read: input slot of an op. An absent optional input is a use whose
 * value is NULL. */
struct prt_use {
    prt_value *value;
    prt_op *user;
    prt_use *next, *prev; /* other uses of the value */
};

struct prt_value {
    uint32_t id;   /* dense within its graph */
    uint32_t slot; /* output index of `def`, or index among the graph's inputs */
    const prt_type *type;
    prt_op *def;      /* NULL for graph inputs and constants */
    prt_graph *graph; /* that owns it */
    prt_use *uses;
    prt_str name;               /* unique within the module; interned */
    prt_blob *constant;         /* bytes of a constant (elements in memory layout), else NULL */
    const prt_content *content; /* what inference knows of its integers, else NULL */
    prt_str doc;                /* ONNX doc string of its value_info, kept for writing */
};

/* An attribute or field that nothing here interprets: its ONNX bytes, written back as they came. */
typedef struct prt_raw {
    uint32_t field; /* protobuf field number */
    const void *bytes;
    size_t size;
    struct prt_raw *next;
} prt_raw;

/* The node an op was read from, where the reader made another operator of it. The op is written as
 * that node while it is still this operator with these attributes; see converter/read_as.h. */
typedef struct prt_read_as {
    prt_str domain, name;
    int64_t version; /* of the domain, as the model imports it */
    uint64_t types;  /* element types the node's operands may have (PRT_T_*); 0: all */
    uint32_t n_in;
    bool rebuilt; /* the op has other operands than the node; see converter/write_back.h */
    const prt_op_def *def;
    const void *attrs;     /* a copy of the op's attributes as they were made */
    const prt_raw *fields; /* the node's attributes they were made of, as ONNX bytes */
} prt_read_as;

struct prt_op {
    uint32_t id; /* dense within its graph */
    uint32_t n_in, n_out, n_regions;
    const prt_op_def *def; /* NULL for operators that are not in the table */
    void *attrs;           /* prt_<id>_attrs */
    prt_use *in;           /* n_in uses */
    prt_value *out;        /* n_out values; an output nobody named has an empty name */
    prt_graph **regions;
    prt_graph *graph;
    prt_str origin;       /* node name in the model, for errors and for writing */
    prt_str merged;       /* other nodes that became part of it, '+' between; for inspection */
    prt_str domain, name; /* ONNX domain and operator, also for ops not in the table */
    const prt_raw *extra; /* unknown attributes of a known op; all fields of an unknown one */
    const void *source;   /* the NodeProto bytes it was read from, NULL once changed */
    size_t source_size;
    uint32_t source_opset;
    const prt_read_as *read_as; /* NULL: the op was read as itself, or made by a pass */
    bool dead;
    prt_op *next, *prev;
};

struct prt_graph {
    prt_module *module;
    prt_op *owner; /* op that holds this region; NULL for the main graph */
    prt_str name, doc;
    prt_op *first, *last;  /* without `ret` */
    prt_op *ret;           /* pseudo-operator whose inputs are the graph's outputs */
    prt_strs output_names; /* the interface: stay even when the value behind one changes */
    PRT_VEC(prt_value *) inputs;
    PRT_VEC(prt_value *) constants; /* initializers; dead ones stay in the list with no uses */
    uint32_t n_values, n_ops;       /* next ids */
    bool broken; /* a branch of an If in which shapes contradict each other, as inference found: it
                  * fails when it is taken, and passes leave it alone */
    const prt_raw *extra; /* unread fields (quantization annotations, metadata) */
};

typedef struct prt_opset {
    prt_str domain;
    int64_t version;
    struct prt_opset *next;
} prt_opset;

struct prt_module {
    const prt_allocator *allocator;
    prt_arena *arena;
    prt_strings *strings;
    prt_dims *dims;
    prt_types *types;
    prt_graph *main;
    PRT_VEC(prt_blob *) blobs; /* kept alive until release: files, converted constants */
    const prt_op_set *ops;     /* operators beside the table; NULL: none. It outlives the module */
    prt_map names;             /* every value name in use → prt_value */
    uint32_t next_name;        /* for generated names */
    int64_t ir_version;
    prt_opset *opsets;      /* as imported */
    const prt_blob *source; /* what it was read from, one of `blobs`; NULL: it was made here */
    prt_str file;           /* where it was read from, for errors and external data */
    const prt_raw *extra;   /* model-level fields: producer, metadata, doc string, functions … */
    int64_t form_opset;     /* opset whose forms the ops of ai.onnx have; 0: canonical. What is not
                             * canonical can only be written. */
    uint32_t *form_runs;    /* how often each row of upgrade.def ran, up and down by turns; may be
                             * NULL; belongs to whoever wants to know */
    bool has_state;         /* some op was made that writes a weight */
    bool describes_values;  /* to be written with the types of all values that nodes make */
};

/* ---- module.c: life and constants */
poprt_status prt_module_create(const prt_allocator *allocator, size_t limit, prt_module **out);
void prt_module_release(prt_module *module);
/* Takes over one reference. */
poprt_status prt_module_keep(prt_module *module, prt_blob *blob);
/* Interned copy of a string; data NULL on failure. */
prt_str prt_module_str(prt_module *module, prt_str text);
/* A name that no value has: `base` itself or `base` and a number. */
prt_str prt_module_fresh_name(prt_module *module, const char *base);
/* Opset imported for a domain; 0 when not imported. */
int64_t prt_module_opset(const prt_module *module, prt_str domain);
poprt_status prt_module_set_opset(prt_module *module, prt_str domain, int64_t version);

/* ---- graph.c: building and editing. NULL means failure (recorded). */
prt_graph *prt_graph_create(prt_module *module, prt_op *owner);
prt_value *prt_graph_add_input(prt_graph *graph, prt_str name, const prt_type *type);
/* A constant; the blob's reference goes to the module (released on failure too). */
prt_value *prt_graph_add_constant(prt_graph *graph, prt_str name, const prt_type *type,
    prt_blob *blob);
/* An op at the end of the graph, or before `before`. Attributes get the row's defaults; outputs
 * get no names and unknown types. `def` may be NULL for foreign ops. */
prt_op *prt_graph_add_op(prt_graph *graph, prt_op *before, const prt_op_def *def, uint32_t n_in,
    uint32_t n_out, uint32_t n_regions);
/* Names outputs of the graph, in order; sets `ret`. */
poprt_status prt_graph_set_outputs(prt_graph *graph, uint32_t count, prt_value *const *values,
    const prt_str *names);
/* Registers a name for a value; fails with POPRT_E_PARSE when another value has it. */
poprt_status prt_value_set_name(prt_value *value, prt_str name);

void prt_op_set_input(prt_op *op, uint32_t slot, prt_value *value); /* value may be NULL */
poprt_status prt_op_add_input(prt_op *op, prt_value *value);
/* Takes constants that nobody reads out of the graph (of its regions too): their names become free
 * and the module's references to their bytes are dropped. Returns how many went. With
 * `unnamed_only`, those that have a name stay: what a model brings is not a pass's to drop. */
size_t prt_graph_drop_constants(prt_graph *graph, bool unnamed_only);
/* Every use of `from` becomes a use of `to`. */
void prt_value_replace(prt_value *from, prt_value *to);
/* Unlinks an op whose outputs have no uses. Its inputs are released, regions too. */
void prt_op_erase(prt_op *op);
void prt_op_move_before(prt_op *op, prt_op *before);
/* Moves the ops and constants of a region to `to`, in front of `before` (NULL: to the end). The
 * region is left with its outputs, which are values of `to` now; regions with inputs cannot go. */
poprt_status prt_graph_inline(prt_graph *region, prt_graph *to, prt_op *before);
/* To be called by whoever edits attributes: forgets the bytes the op was read from. */
static inline void prt_op_touch(prt_op *op)
{
    op->source = NULL;
}

static inline bool prt_value_used(const prt_value *value)
{
    return value->uses != NULL;
}
static inline bool prt_value_used_once(const prt_value *value)
{
    return value->uses != NULL && value->uses->next == NULL;
}
static inline bool prt_value_is_output(const prt_value *value)
{
    for (const prt_use *u = value->uses; u != NULL; u = u->next)
        if (u->user == u->user->graph->ret)
            return true;
    return false;
}
/* Does no other op than this one read the value, nor the graph's return? */
static inline bool prt_value_is_read_by(const prt_value *value, const prt_op *op)
{
    for (const prt_use *u = value->uses; u != NULL; u = u->next)
        if (u->user != op)
            return false;
    return true;
}
static inline prt_value *prt_op_input(const prt_op *op, uint32_t slot)
{
    return slot < op->n_in ? op->in[slot].value : NULL;
}
static inline bool prt_op_is(const prt_op *op, uint32_t id)
{
    return op != NULL && op->def != NULL && op->def->id == id;
}
/* Contents of a constant as a tensor; false when the value is no constant of static type. The
 * bytes may lie anywhere in a file, so at any address. An input's default counts as well. */
bool prt_value_tensor(const prt_value *value, prt_tensor *out);
/* The same for hooks that dereference element pointers: copied into `arena` where the address is
 * not a multiple of the element's size. A refusal of memory is false too, and recorded. */
bool prt_value_aligned(const prt_value *value, prt_arena *arena, prt_tensor *out);
/* One of its graph's inputs (which may have a default in `constant`). */
static inline bool prt_value_is_input(const prt_value *value)
{
    return value->def == NULL && value->slot < value->graph->inputs.count &&
        value->graph->inputs.data[value->slot] == value;
}
/* A constant that no caller can override. */
static inline bool prt_value_is_constant(const prt_value *value)
{
    return value->constant != NULL && !prt_value_is_input(value);
}
/* The same, and no operator writes it either: what may be computed with before a run. */
bool prt_value_is_fixed(const prt_value *value);
/* Name of the node for errors: its own, else its first output's. */
const char *prt_op_label(const prt_op *op);

#define prt_for_each_op(op, graph) for (prt_op *op = (graph)->first; op != NULL; op = op->next)
#define prt_for_each_use(use, value)                                                               \
    for (prt_use *use = (value)->uses; use != NULL; use = use->next)

/* ---- infer.c: types of one op's outputs from its inputs, through op/infer.h */
poprt_status prt_ir_infer_op(prt_op *op);
/* The same for an op that was just made: outputs that nobody reads yet get types too. */
poprt_status prt_ir_infer_new_op(prt_op *op);
/* Adds to a value's type what another type of the same value knows better. */
poprt_status prt_value_refine_type(prt_value *value, const prt_type *type);
/* All ops of a graph and its regions in order. All failures are collected into one report. */
poprt_status prt_ir_infer(prt_graph *graph);

/* ---- verify.c: every invariant of this header; names the node. */
poprt_status prt_ir_verify(const prt_module *module);

/* ---- clone.c: a deep copy that shares constant bytes. */
poprt_status prt_ir_clone(const prt_module *module, prt_module **out);
/* The same from another allocator; the arena's limit is `limit`, 0 for none. */
poprt_status prt_ir_clone_into(const prt_module *module, const prt_allocator *allocator,
    size_t limit, prt_module **out);
/* Copies the main graph of another module into an empty region. What are inputs there become inputs
 * of the region's main graph; names of values, nodes and symbols get the prefix. */
poprt_status prt_ir_graft(const prt_module *from, prt_str prefix, prt_graph *to);

/* ---- print.c, parse.c: the text form, described in print.c. */
poprt_status prt_ir_print(const prt_graph *graph, prt_arena *arena, prt_str *out);
poprt_status prt_ir_parse(prt_module *module, prt_str text);

#endif
