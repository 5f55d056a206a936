/* SPDX-License-Identifier: MIT */
/*
 * builder.h — a tree of builders, poprt/builder.h without the checks for NULL.
 *
 * The records of nodes and tensors are the model. Each node is also built in a module
 * (converter/onnx_append.h), which checks it and infers its types. An edit that may change types
 * makes that module again from the records. A model is made by encoding the records as ONNX,
 * without the weights, and reading the result.
 */
#ifndef PRT_BUILDER_BUILDER_H
#define PRT_BUILDER_BUILDER_H

#include "base/budget.h"
#include "converter/onnx_append.h"
#include "poprt/builder.h"

struct poprt_env;

typedef enum prt_built_kind {
    PRT_BUILT_INPUT,
    PRT_BUILT_WEIGHT,
    PRT_BUILT_CONSTANT,
    PRT_BUILT_RESULT
} prt_built_kind;

typedef struct prt_built_tensor {
    prt_str name;
    poprt_builder *owner; /* the main graph's builder owns weights and constants */
    prt_value *value;     /* in the tree's module */
    prt_built_kind kind;
    uint32_t node;           /* of a result: index in the tree's nodes */
    prt_onnx_given contents; /* of a weight or constant */
    prt_bytes info;          /* ValueInfoProto of an input; of a weight that the file lists as an
                              * input; empty for other tensors */
    bool is_output;
} prt_built_tensor;

/* An attribute as its AttributeProto. */
typedef struct prt_built_attr {
    prt_str name;
    prt_bytes bytes;
    const poprt_attr *decoded; /* made by the first question for its contents */
} prt_built_attr;

typedef PRT_VEC(prt_built_attr) prt_built_attrs;

typedef struct prt_built_node {
    poprt_builder *owner;
    prt_str domain, op_type, name;
    uint32_t n_in, n_out;
    const poprt_id *in, *out; /* 0: absent */
    prt_built_attrs attrs;
    prt_str doc;          /* doc string of a new node: its place */
    const prt_raw *extra; /* other fields of a NodeProto that was read */
    prt_bytes bytes;      /* the NodeProto */
} prt_built_node;

typedef PRT_VEC(poprt_id) prt_built_ids;

enum { PRT_BUILT_LISTS = POPRT_BUILDER_WEIGHTS + 1 };

/* An entry of the stack of scopes: a name if `attr.name` is empty. */
typedef struct prt_built_scope {
    prt_str name;
    prt_built_attr attr;
} prt_built_scope;

typedef struct prt_built_property {
    prt_str key, value;
} prt_built_property;

/* Shared by the builders of a tree. */
typedef struct prt_root {
    struct poprt_env *env; /* set by the creator */
    const prt_allocator *allocator;
    prt_budget *budget; /* NULL: no limit */
    size_t limit;
    prt_arena *arena;
    prt_arena *scratch; /* of one encoding */
    uint32_t builders;  /* not released yet */
    const prt_op_set *ops;
    poprt_status status; /* first failure */
    prt_error_copy error;
    size_t tensors_before, nodes_before; /* when the latest call began */
    prt_built_node *edited;              /* node that this call changed, or NULL */
    prt_built_node unedited;             /* what the node was */
    prt_onnx_append *module;
    PRT_VEC(prt_built_tensor) tensors; /* tensor i has the id i + 1 */
    PRT_VEC(prt_built_node) nodes;     /* of all builders, in order */
    PRT_VEC(poprt_builder *) all;      /* all builders; the first is that of the main graph */
    prt_map names;                     /* ids of tensors by name */
    prt_map suffixes;                  /* number of the next name made from a name */
    PRT_VEC(prt_built_property) properties;
    prt_str doc;        /* doc string of new nodes, see poprt_builder_set_location */
    char location[256]; /* the same place, for errors */
    prt_opset *opsets;
    bool newer_types;     /* see poprt_builder_accept_newer_types */
    int64_t ir_version;   /* of the model that was read; 0: chosen by the opset */
    const prt_raw *extra; /* other fields of the ModelProto that was read */
} prt_root;

struct poprt_builder {
    prt_root *root;
    poprt_builder *parent;
    prt_append_graph *graph; /* in the tree's module */
    prt_str name;
    prt_built_ids inputs;                 /* with weights that the file lists as inputs */
    prt_built_ids lists[PRT_BUILT_LISTS]; /* by POPRT_BUILDER_ list */
    PRT_VEC(uint32_t) nodes;              /* indices in the tree's nodes */
    PRT_VEC(prt_built_scope) scopes;
    const prt_raw *extra; /* other fields of the GraphProto that was read */
    bool released, used;  /* used: an attribute has a copy of the graph */
};

/* Returns the size of a text of the caller, at most `most` + 1, so that endless texts are found. */
static inline size_t prt_text_size(const char *text, size_t most)
{
    size_t size = 0;
    while (size <= most && text[size] != '\0')
        size++;
    return size;
}

/* ---- root.c: lifetime, failures, names */

poprt_status prt_builder_create(const prt_allocator *allocator, size_t limit, const prt_op_set *ops,
    poprt_builder **out);
poprt_status prt_builder_add_child(poprt_builder *parent, prt_str name, poprt_builder **out);
/* Returns the environment of the tree if the last builder was released, else NULL. */
struct poprt_env *prt_builder_release(poprt_builder *b);
/* Returns the tree's first failure and its message again, or POPRT_OK. */
poprt_status prt_builder_enter(const poprt_builder *b);
/* Records a failure in the tree, if it is the first. Returns `status`. */
poprt_status prt_builder_leave(poprt_builder *b, poprt_status status);
/* Forgets the tree's failure, and removes what the failed call added or changed. */
poprt_status prt_builder_undo(poprt_builder *b);
/* Fails unless the builder's graph may still change. */
poprt_status prt_builder_check_open(const poprt_builder *b);
/* Finds a tensor that the graph of the builder sees. `parameter` is its name in an error. */
poprt_status prt_builder_tensor(const poprt_builder *b, poprt_id id, const char *parameter,
    prt_built_tensor **out);
/* Finds the node that computes a tensor of the builder's graph. */
poprt_status prt_builder_node(const poprt_builder *b, poprt_id id, prt_built_node **out);
/* Makes a unique name from `wanted`, with the scopes of the builder in front if `scoped`, and with
 * ":index" behind it unless `index` is PRT_NO_INDEX. */
enum { PRT_NO_INDEX = -1 };
poprt_status prt_builder_make_name(poprt_builder *b, const char *wanted, bool scoped, int32_t index,
    prt_str *out);
/* Copies a name of the caller; fails if it is empty, too long, reserved or taken. */
poprt_status prt_builder_take_name(poprt_builder *b, const char *name, prt_str *out);
/* Returns a copy of a text in the tree's arena; data is NULL without memory. */
prt_str prt_root_text(prt_root *root, prt_str text);
poprt_status prt_root_add_tensor(prt_root *root, const prt_built_tensor *tensor, poprt_id *out);
/* Returns the version that the model imports; imports the newest one of a domain that is not
 * imported yet. */
poprt_status prt_root_import(prt_root *root, prt_str domain);
poprt_status prt_root_set_opset(prt_root *root, prt_str domain, int64_t version);

/* ---- tensors.c: inputs, weights, constants, outputs */

poprt_status prt_builder_input(poprt_builder *b, const char *name, const poprt_type *type,
    const char *const *dim_names, poprt_id *out);
poprt_status prt_builder_contents(poprt_builder *b, prt_built_kind kind, prt_str name,
    const poprt_tensor *t, int32_t flags, poprt_id *out);
poprt_status prt_builder_output(poprt_builder *b, poprt_id id);
/* Converts a tensor of the caller; fails if its dtype, dims or size are wrong. */
poprt_status prt_builder_import_tensor(const char *name, const poprt_tensor *t, prt_tensor *out);

/* ---- external.c */

/* Writes weights and constants to a data file, which the model then refers to. */
poprt_status prt_builder_save_externally(poprt_builder *b, uint32_t count, const poprt_id *ids,
    const char *path);

/* ---- encode.c: records as ONNX messages, in the tree's arena */

poprt_status prt_encode_attr(prt_root *root, const poprt_attr *attr, prt_built_attr *out);
poprt_status prt_encode_node(prt_root *root, prt_built_node *node);
poprt_status prt_encode_input(prt_root *root, prt_str name, const poprt_type *type,
    const char *const *dim_names, prt_bytes *out);
/* Encodes the model without its weights and constants into a new blob. */
poprt_status prt_encode_model(prt_root *root, prt_blob **out);

/* ---- marks.c */

/* Checks the kind and the value of an attribute, if its name is reserved. */
poprt_status prt_builder_check_mark(const poprt_attr *attr);
bool prt_builder_is_mark(prt_str name);

/* ---- nodes.c: adding operators; the stack of scopes */

poprt_status prt_builder_op(poprt_builder *b, const poprt_builder_op_info *op, poprt_id *out);
poprt_status prt_builder_push(poprt_builder *b, const poprt_attr *attr);
poprt_status prt_builder_push_name(poprt_builder *b, const char *name);
poprt_status prt_builder_pop(poprt_builder *b);
poprt_status prt_builder_set_location(poprt_builder *b, const char *file, uint32_t line,
    const char *function);
poprt_status prt_builder_checkpoint(poprt_builder *b, uint32_t count, const poprt_id *ids,
    poprt_id *out);
/* Checks the name, kind and contents of an attribute of the caller. */
poprt_status prt_builder_check_attr(const poprt_builder *b, const poprt_attr *attr);
/* Builds a node in the tree's module and records the values of its outputs. */
poprt_status prt_root_append(prt_root *root, const prt_built_node *node);
prt_built_attr *prt_built_find(const prt_built_attrs *attrs, prt_str name);

/* ---- constant.c: the operator Constant becomes a constant */

poprt_status prt_builder_constant_op(poprt_builder *b, const poprt_builder_op_info *op,
    poprt_id *out);

/* ---- edit.c: attributes of nodes */

poprt_status prt_builder_set(poprt_builder *b, poprt_id id, const poprt_attr *attr);
poprt_status prt_builder_remove(poprt_builder *b, poprt_id id, const char *name);
poprt_status prt_builder_get(const poprt_builder *b, poprt_id id, const char *name, int32_t kind,
    poprt_attr *out);
poprt_status prt_builder_property(poprt_builder *b, prt_str key, const char *value);

/* ---- model.c: models from and to records */

poprt_status prt_builder_load(poprt_builder *b, const prt_module *module);
poprt_status prt_builder_finish(const poprt_builder *b, const prt_allocator *allocator,
    prt_module **out);

#endif
