/* SPDX-License-Identifier: MIT */
/*
 * ir.h — the graph: SSA values with use lists, typed operators, nested graphs (regions).
 *
 * Everything lives in the module's arena and is freed with it; erased ops stay readable and are
 * marked dead. Ids are dense in each graph, so passes keep side tables as plain arrays. The list
 * order of a graph's ops is always a topological order.
 */
#ifndef PRT_IR_IR_H
#define PRT_IR_IR_H

#include "base/blob.h"
#include "base/map.h"
#include "base/vec.h"
#include "op/op.h"
#include "op/variable.h"
#include "op/weight_form.h"
#include "tensor/type.h"

typedef struct prt_module prt_module;
typedef struct prt_graph prt_graph;
typedef struct prt_op prt_op;
typedef struct prt_value prt_value;
typedef struct prt_use prt_use;
typedef struct prt_place prt_place;
typedef struct prt_ir_variable prt_ir_variable;

/* One use of a value: an input slot of an op. An absent optional input is a use whose value is
 * NULL. */
struct prt_use {
    prt_value *value;
    prt_op *user;
    prt_use *next, *prev; /* list of the uses of `value` */
};

/* Where a model lists a constant. */
typedef enum prt_initializer {
    PRT_INITIALIZER_none, /* nowhere: a Constant node, or made by a pass */
    PRT_INITIALIZER_only, /* among its initializers */
    PRT_INITIALIZER_input /* there, and among its inputs */
} prt_initializer;

/* A weight of the model that a constant holds in another form: an initializer that passes
 * rearranged. */
typedef struct prt_held {
    prt_weight_form form;
    const struct prt_held *next;
} prt_held;

/* A data file that holds the bytes of a constant already. The constant is written as a reference
 * to it as long as `blob` is its contents. */
typedef struct prt_stored {
    prt_str location; /* name of the file, relative to the model */
    uint64_t offset;
    const prt_blob *blob;
} prt_stored;

struct prt_value {
    uint32_t id;   /* dense within its graph */
    uint32_t slot; /* output index of `def`, or index among the graph's inputs */
    const prt_type *type;
    prt_op *def;      /* NULL for graph inputs, constants and variables */
    prt_graph *graph; /* the graph that owns the value */
    prt_use *uses;
    prt_str name;       /* unique within the module; interned */
    prt_blob *constant; /* bytes of a constant (elements in memory layout), else NULL */
    const prt_ir_variable *variable; /* the variable that the value is, else NULL */
    const prt_content *content;      /* integer contents that inference found, else NULL */
    uint8_t initializer;             /* of a constant: prt_initializer */
    prt_str doc;                     /* ONNX doc string of its ValueInfoProto, kept for writing */
    const prt_stored *stored;        /* of a constant; NULL: in no data file that is known */
    const prt_held *held;            /* of a constant that a pass made: the weights that it holds */
};

/* An attribute or field that the library does not interpret: its ONNX bytes, written back
 * unchanged. */
typedef struct prt_raw {
    uint32_t field; /* protobuf field number */
    const void *bytes;
    size_t size;
    struct prt_raw *next;
} prt_raw;

/* The ONNX node of an op that the reader converted to another operator. As long as the op is still
 * this operator with these attributes, it is written as that node; see converter/source_node.h. */
typedef struct prt_source_node {
    prt_str domain, name;
    int64_t version; /* opset version of `domain` that the model imports */
    uint64_t types;  /* element types the node's operands may have (PRT_T_*); 0: all */
    uint32_t n_in;
    bool rebuilt; /* the op's operands differ from the node's; see converter/write_back.h */
    const prt_op_def *def;
    const void *attrs;     /* copy of the op's attributes as the reader made them */
    const prt_raw *fields; /* ONNX bytes of the node's attributes from which `attrs` was made */
} prt_source_node;

struct prt_op {
    uint32_t id; /* dense within its graph */
    uint32_t n_in, n_out, n_regions;
    const prt_op_def *def; /* NULL for operators that are not in the table */
    void *attrs;           /* prt_<id>_attrs */
    prt_use *in;           /* n_in uses */
    prt_value *out;        /* n_out values; an unnamed output has an empty name */
    prt_graph **regions;
    prt_graph *graph;
    prt_str origin;       /* node name in the model, for errors and for writing */
    prt_str merged;       /* names of nodes merged into this op, separated by '+'; for inspection */
    prt_str domain, name; /* ONNX domain and operator, also for ops not in the table */
    const prt_raw *extra; /* unknown attributes of a known op; all fields of an unknown op */
    const prt_place *place; /* where the op runs, see place.h; NULL: no field is set */
    const void *source;     /* NodeProto bytes the op was read from; NULL after any change */
    size_t source_size;
    uint32_t source_opset;
    /* NULL: the reader kept the operator, or a pass made the op */
    const prt_source_node *source_node;
    bool dead;
    prt_op *next, *prev;
};

struct prt_graph {
    prt_module *module;
    prt_op *owner; /* op that holds this region; NULL for the main graph */
    prt_str name, doc;
    prt_op *first, *last; /* list of ops, without `ret` */
    prt_op *ret;          /* pseudo-operator whose inputs are the graph's outputs */
    /* names of the graph's outputs; independent of the names of the values */
    prt_strs output_names;
    PRT_VEC(prt_value *) inputs;
    PRT_VEC(prt_value *) constants; /* initializers; unused ones may stay in the list */
    PRT_VEC(prt_value *) variables; /* a value for each variable that the graph uses */
    prt_map variable_values;        /* these values by the names of their variables */
    uint32_t n_values, n_ops;       /* next free ids */
    /* inference found contradictory shapes in this branch of an If: it fails when it is taken, and
     * passes do not change it */
    bool contradictory;
    const prt_raw *extra; /* fields that are not interpreted (quantization annotations, metadata) */
};

/* A variable of a module; see op/variable.h. Its contents are unknown to passes. */
struct prt_ir_variable {
    uint32_t index;       /* among the variables of the module */
    prt_str name;         /* unique among them; interned */
    const prt_type *type; /* a numeric tensor whose dims are numbers */
    uint32_t role;        /* prt_variable_role */
    prt_blob *init;       /* the first contents, one of the module's blobs; NULL: all `fill` */
    float fill;
    uint32_t of;        /* of a state or accumulator: its weight; else the own index */
    int32_t loss_scale; /* of a scalar: the power of the loss scale factor that it carries, 1, 0 or
                         * -1, for automatic loss scaling */
};

/* A graph that a program runs beside the main graph; it has no inputs and outputs. */
typedef struct prt_ir_entry {
    uint32_t kind; /* prt_entry_kind */
    prt_graph *graph;
} prt_ir_entry;

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
    PRT_VEC(prt_blob *) blobs; /* referenced until the module is released: files, constants */
    /* operators of plug-ins, NULL: the built-in table only; must outlive the module */
    const prt_op_set *ops;
    prt_map names;      /* every value name in use -> prt_value */
    prt_map places;     /* interned places of ops, by their bytes */
    uint32_t next_name; /* counter for generated names */
    int64_t ir_version;
    prt_opset *opsets; /* as the model imports them */
    /* file the module was read from, one of `blobs`; NULL: not read from a file */
    const prt_blob *source;
    prt_str file;         /* path of that file, for errors and external data */
    const prt_raw *extra; /* model-level fields: producer, metadata, doc string, functions ... */
    /* opset whose variants the ai.onnx ops are; 0: canonical. Unless it is 0, the module can only
     * be written. */
    int64_t downgraded_opset;
    bool keeps_unread; /* ops that nothing reads are written, as a builder has made them */
    /* counters: runs of each row of upgrade.def, up and down alternately; may be NULL; the caller
     * that set it owns it */
    uint32_t *conversion_counts;
    bool has_state; /* the module has an op that writes a weight */
    PRT_VEC(prt_ir_variable *) variables;
    prt_map variable_names;        /* the variables by name */
    PRT_VEC(prt_ir_entry) entries; /* at most one of each kind */
    const prt_map *locations;      /* label of a node → its place (location.h); NULL: not noted */
    bool describes_values;         /* written with the types of all values that nodes produce */
};

/* ---- module.c: lifetime and constants */
poprt_status prt_module_create(const prt_allocator *allocator, size_t limit, prt_module **out);
void prt_module_release(prt_module *module);
/* Takes ownership of one reference of the blob. */
poprt_status prt_module_keep(prt_module *module, prt_blob *blob);
/* Returns an interned copy of a string; data is NULL on failure. */
prt_str prt_module_str(prt_module *module, prt_str text);
/* Returns a name that no value has: `base`, or `base` followed by a number. */
prt_str prt_module_fresh_name(prt_module *module, const char *base);
/* Returns the opset imported for a domain; 0 when it is not imported. */
int64_t prt_module_opset(const prt_module *module, prt_str domain);
poprt_status prt_module_set_opset(prt_module *module, prt_str domain, int64_t version);

/* ---- graph.c: building and editing. Functions that return a pointer return NULL on failure, and
 * the failure is recorded. */
prt_graph *prt_graph_create(prt_module *module, prt_op *owner);
prt_value *prt_graph_add_input(prt_graph *graph, prt_str name, const prt_type *type);
/* Adds a constant. The module takes over the blob's reference, and releases it on failure too. */
prt_value *prt_graph_add_constant(prt_graph *graph, prt_str name, const prt_type *type,
    prt_blob *blob);
/* Adds an op before `before`, or at the end of the graph if that is NULL. Attributes get the
 * defaults of the operator's row; outputs have no names and unknown types. `def` is NULL for
 * operators that are not in the table. */
prt_op *prt_graph_add_op(prt_graph *graph, prt_op *before, const prt_op_def *def, uint32_t n_in,
    uint32_t n_out, uint32_t n_regions);
/* Sets `ret` and the names of the graph's outputs, in order. */
poprt_status prt_graph_set_outputs(prt_graph *graph, uint32_t count, prt_value *const *values,
    const prt_str *names);
/* Records in `names` that a name of the interface belongs to `value`. Sets `*clash` if it belongs
 * to another value. Empty names and absent values are not recorded. Fails without memory. */
poprt_status prt_graph_claim_name(prt_map *names, prt_str name, const prt_value *value,
    bool *clash);
/* Registers a name for a value. Fails with POPRT_E_PARSE when another value has that name. */
poprt_status prt_value_set_name(prt_value *value, prt_str name);

void prt_op_set_input(prt_op *op, uint32_t slot, prt_value *value); /* value may be NULL */
poprt_status prt_op_add_input(prt_op *op, prt_value *value);
/* Removes unused constants from the graph and its regions: frees their names and releases the
 * module's references to their bytes. Returns the number of constants removed. With `unnamed_only`,
 * named constants stay, since they come from the model. */
size_t prt_graph_drop_constants(prt_graph *graph, bool unnamed_only);
/* Makes every use of `from` a use of `to`. */
void prt_value_replace(prt_value *from, prt_value *to);
/* Unlinks an op whose outputs have no uses, and releases the uses of its inputs and of its
 * regions. */
void prt_op_erase(prt_op *op);
void prt_op_move_before(prt_op *op, prt_op *before);
/* Moves the ops and constants of a region to `to`, before `before` (NULL: to the end). The region
 * keeps only its outputs, which are values of `to` afterwards. The region must have no inputs. */
poprt_status prt_graph_inline(prt_graph *region, prt_graph *to, prt_op *before);
/* Drops the bytes the op was read from. Callers that edit attributes must call it. */
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
/* Returns whether `op` is the only reader of the value; the graph's return counts as a reader. */
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
/* Sets `out` to the contents of a constant. Returns false when the value is not a constant of
 * static type. The data pointer may be unaligned, since the bytes may be part of a file. The
 * default of an input counts as a constant. */
bool prt_value_tensor(const prt_value *value, prt_tensor *out);
/* Like prt_value_tensor, with aligned data: copies it to `arena` if the address is not a multiple
 * of the element size. If the allocation fails, returns false and records the failure. */
bool prt_value_aligned(const prt_value *value, prt_arena *arena, prt_tensor *out);
/* Returns whether the value is an input of its graph (which may have a default in `constant`). */
static inline bool prt_value_is_input(const prt_value *value)
{
    return value->def == NULL && value->slot < value->graph->inputs.count &&
        value->graph->inputs.data[value->slot] == value;
}
/* Returns whether the value is a constant that no caller can override. */
static inline bool prt_value_is_constant(const prt_value *value)
{
    return value->constant != NULL && !prt_value_is_input(value);
}
/* Returns whether the op of a use writes the weight that it reads there. */
bool prt_use_writes(const prt_use *use);
/* Returns whether the value is a constant and no operator writes it, so that it can be used before
 * a run. */
bool prt_value_is_fixed(const prt_value *value);
/* Returns the name of the node for errors: its own, else the name of its first named output, else
 * the operator's. */
const char *prt_op_label(const prt_op *op);

#define prt_for_each_op(op, graph) for (prt_op *op = (graph)->first; op != NULL; op = op->next)
#define prt_for_each_use(use, value)                                                               \
    for (prt_use *use = (value)->uses; use != NULL; use = use->next)

/* ---- variable.c */
/* Adds a variable filled with zeros. Its name must not be that of another variable. */
prt_ir_variable *prt_module_add_variable(prt_module *module, prt_str name, const prt_type *type,
    uint32_t role);
/* Returns the variable of a name, or NULL. */
prt_ir_variable *prt_module_variable(const prt_module *module, prt_str name);
/* Returns the value that is the variable in this graph, made on first use. In the main graph it has
 * the variable's name, unless another value has that name. */
prt_value *prt_graph_variable(prt_graph *graph, const prt_ir_variable *variable);
/* Makes constants of the main graph variables, which begin with their contents. */
poprt_status prt_graph_make_variables(prt_graph *graph, size_t count, prt_value *const *constants,
    uint32_t role);
/* The same for one constant; NULL without memory. */
prt_ir_variable *prt_value_make_variable(prt_value *constant, uint32_t role);
/* Makes the initializers of the main graph variables of role weight: those of floating-point types
 * and of integers of 8 bits, except where an operator computes shapes from them, and the int32
 * biases of quantised convolutions and products. */
poprt_status prt_module_free_weights(prt_module *module);
/* Returns whether prt_module_free_weights would make the value a variable. */
bool prt_value_may_be_free(const prt_value *value);
/* Returns the graph of an entry, made on first use. */
prt_graph *prt_module_entry(prt_module *module, uint32_t kind);

/* ---- held.c: the weights of the model that a constant holds. Constants that copies of a module
 * have from passes are weights themselves, so that clones forget what they hold. */
/* Records that `to` was made from the constant `from` by `count` steps of weight_form.h, and
 * therefore holds the weights that `from` is or holds. Constants of nodes are no weights. Weights
 * that need more than PRT_WEIGHT_STEPS steps are left out. */
poprt_status prt_value_hold(prt_value *to, const prt_value *from, uint32_t count,
    const prt_weight_step *steps);
/* The same for the output of an operator that only moves or widens its constant inputs; for others
 * nothing is recorded. */
poprt_status prt_value_hold_moved(prt_value *to, uint32_t op, const void *attrs, uint32_t n_in,
    prt_value *const *in);

/* ---- infer.c: infers the types of one op's outputs from its inputs, through op/infer.h */
poprt_status prt_ir_infer_op(prt_op *op);
/* Like prt_ir_infer_op for a new op: unused outputs get types too. */
poprt_status prt_ir_infer_new_op(prt_op *op);
/* Refines a value's type by the dimensions and element type that another type of the value
 * knows. */
poprt_status prt_value_refine_type(prt_value *value, const prt_type *type);
/* Infers all ops of a graph and its regions in order. Collects all failures in one report. */
poprt_status prt_ir_infer(prt_graph *graph);

/* ---- verify.c: checks every invariant of this header. An error names the node. */
poprt_status prt_ir_verify(const prt_module *module);

/* ---- clone.c: returns a deep copy that shares the bytes of constants. */
poprt_status prt_ir_clone(const prt_module *module, prt_module **out);
/* Like prt_ir_clone, from another allocator, with arena limit `limit` (0: no limit). */
poprt_status prt_ir_clone_into(const prt_module *module, const prt_allocator *allocator,
    size_t limit, prt_module **out);
/* Copies the main graph of another module into an empty region. Its inputs become inputs of the
 * region's main graph. Names of values, nodes and symbols get the prefix. */
poprt_status prt_ir_graft(const prt_module *from, prt_str prefix, prt_graph *to);

/* ---- print.c, parse.c: the text form, described in print.c. */
poprt_status prt_ir_print(const prt_graph *graph, prt_arena *arena, prt_str *out);
poprt_status prt_ir_parse(prt_module *module, prt_str text);

#endif
