/* SPDX-License-Identifier: MIT */
/*
 * convert.h — the conversion of nodes to operators. A row of operators.def names the function that
 * converts an operator: it reads the inputs and attributes of a call through this header, builds
 * operators with call->b (ir/build.h, build.h) and sets the outputs. The engine (convert.c) starts
 * at the outputs of the model and converts each node that they need once, inputs first, and folds
 * constants and shapes after each node. So a function finds computed axes and shapes as constants
 * wherever they can be known.
 *
 * A function may be called more than once for a node: once for each scope, that is each call of a
 * TensorFlow function and each body of a loop or branch.
 */
#ifndef PRT_TENSORFLOW_CONVERT_H
#define PRT_TENSORFLOW_CONVERT_H

#include "ir/build.h"
#include "tensorflow/graph.h"
#include "tensorflow/table.h"

typedef enum prt_tf_kind {
    PRT_TF_none,     /* not computed */
    PRT_TF_tensor,   /* `value` */
    PRT_TF_complex,  /* `value` has real and imaginary parts as a last axis of 2 */
    PRT_TF_list,     /* a TensorList or TensorArray: `handle` */
    PRT_TF_variable, /* `handle` */
    PRT_TF_table,    /* a lookup table: `handle` */
    PRT_TF_resource, /* another resource: the node that made it is in `handle` */
    PRT_TF_failed    /* its node cannot be converted, which was reported */
} prt_tf_kind;

/* The result of a node. The owner of `handle` is the arena of the converter; its type depends on
 * the kind. */
typedef struct prt_tf_value {
    prt_tf_kind kind;
    prt_value *value;
    const void *handle;
} prt_tf_value;

/* Where nodes are converted: a body, the graph that gets its operators, and the results so far. */
typedef struct prt_tf_scope {
    struct prt_tf_scope *caller; /* NULL: the main graph of the model */
    const prt_tf_body *body;
    prt_graph *graph;
    prt_tf_value **done;      /* of each node: its results, or NULL */
    uint8_t *state;           /* of each node: private to convert.c */
    const prt_tf_attr *attrs; /* of the call, for attributes that are placeholders */
    uint32_t n_attrs;
    prt_str prefix; /* of the names of nodes: "" or "call/…/" */
    uint32_t depth;
    /* Of the region of a branch or loop of TensorFlow 1: a scope over the nodes of its caller,
     * which converts those that are not within `place` (frame.h). */
    bool within;
    const struct prt_tf_place *place;
    const uint8_t *wanted; /* of each output of each node: it is needed; NULL: all are */
    bool writes;           /* prt_tf_body_writes: control edges order reads and writes */
} prt_tf_scope;

typedef struct prt_tf_unsupported {
    prt_str op, node, reason;
    uint32_t count;
} prt_tf_unsupported;

typedef struct prt_tf_converter {
    prt_module *module;
    prt_arena *arena; /* for everything that ends with the conversion */
    prt_tf_graph *graph;
    PRT_VEC(prt_tf_unsupported) unsupported;
    PRT_VEC(prt_str) warnings;
    struct prt_tf_places *places; /* of the bodies with branches and loops of TensorFlow 1 */
    uint64_t nodes, node_limit;
    uint32_t walks; /* of convert.c that are in progress, each started by the one before */
    size_t owned, owned_limit;     /* bytes of constants that are not views of the file */
    uint64_t folded;               /* steps that fold.c has spent on evaluating operators */
    prt_blob *file;                /* that constants are views of; NULL: they are copied */
    struct prt_saved_model *saved; /* has the contents of variables and tables; may be NULL */
    bool verify;                   /* check the checksums of variables */
    prt_map resources;             /* names → prt_tf_resource (state.h) */
} prt_tf_converter;

/* One node that is being converted. */
typedef struct prt_tf_call {
    prt_tf_converter *c;
    prt_tf_scope *scope;
    const prt_tf_node *node;
    prt_build b; /* appends to the graph of the scope */
    uint32_t n_in, n_out;
    const prt_tf_value *in;
    prt_tf_value *out;
    const prt_str *names; /* of the results; NULL: those of the node with ":k" */
    poprt_status status;  /* the first failure of the functions of this header */
} prt_tf_call;

enum { PRT_TF_MAX_DEPTH = 64 }; /* nested calls, loops and branches */

/* ---- inputs */

/* Returns input i, which must be a tensor. Otherwise returns NULL and records the failure in
 * call->status, which prt_tf_end returns. */
prt_value *prt_tf_in(prt_tf_call *call, uint32_t i);

static inline bool prt_tf_has(const prt_tf_call *call, uint32_t i)
{
    return i < call->n_in && call->in[i].kind != PRT_TF_none;
}

/* Sets `out` to the contents of input i. Returns false if it is not a constant. */
bool prt_tf_constant(prt_tf_call *call, uint32_t i, prt_tensor *out);

/* Reads the integers of input i: of a constant, or of contents that follow from shapes, in which
 * an element may be an expression or unknown. Returns false if nothing is known or there are more
 * than `max` elements. */
bool prt_tf_ints(prt_tf_call *call, uint32_t i, uint32_t max, int64_t *to, uint32_t *count);
/* The same for a value. */
bool prt_tf_value_ints(prt_tf_call *call, const prt_value *v, uint32_t max, int64_t *to,
    uint32_t *count);

/* Reads integers that must be known numbers. Otherwise records that input i is computed, as `what`
 * calls it. Returns whether they are known. */
bool prt_tf_need_ints(prt_tf_call *call, uint32_t i, const char *what, uint32_t max, int64_t *to,
    uint32_t *count);
bool prt_tf_need_int(prt_tf_call *call, uint32_t i, const char *what, int64_t *to);

/* Returns input i as int64; with `vector`, reshaped to rank 1. */
prt_value *prt_tf_in_i64(prt_tf_call *call, uint32_t i, bool vector);

/* Returns the rank of a value, or PRT_RANK_UNKNOWN; the dim of an axis, or PRT_DIM_UNKNOWN; the
 * element type. They accept NULL. */
int32_t prt_tf_rank(const prt_value *v);
int64_t prt_tf_dim(const prt_value *v, uint32_t axis);
int32_t prt_tf_dtype(const prt_value *v);

/* Returns the rank of input i, which must be known: otherwise records the failure and returns
 * -1. */
int32_t prt_tf_need_rank(prt_tf_call *call, uint32_t i);

/* ---- attributes */

/* Reads an attribute; the value of a placeholder is the caller's. Returns false if the node lacks
 * it. */
bool prt_tf_attr_value_of(prt_tf_call *call, const char *name, prt_tf_attr_value *out,
    uint32_t *depth);
int64_t prt_tf_attr_i64(prt_tf_call *call, const char *name, int64_t absent);
float prt_tf_attr_f32(prt_tf_call *call, const char *name, float absent);
bool prt_tf_attr_bool(prt_tf_call *call, const char *name, bool absent);
/* Returns the text of an attribute; `absent` if the node lacks it. */
prt_str prt_tf_attr_str(prt_tf_call *call, const char *name, const char *absent);
/* Returns whether the text of an attribute is `word`. */
bool prt_tf_attr_is(prt_tf_call *call, const char *name, const char *absent, const char *word);
/* Returns the PRT_DTYPE of a type attribute; `absent` (a PRT_DTYPE) if the node lacks it. */
int32_t prt_tf_attr_dtype(prt_tf_call *call, const char *name, int32_t absent);
/* Return lists: empty if the node lacks them. */
prt_i64s prt_tf_attr_ints(prt_tf_call *call, const char *name);
prt_f32s prt_tf_attr_floats(prt_tf_call *call, const char *name);
prt_strs prt_tf_attr_texts(prt_tf_call *call, const char *name);
/* Reads a shape: returns false if the node lacks it. */
bool prt_tf_attr_shape(prt_tf_call *call, const char *name, int32_t *rank,
    int64_t dims[PRT_MAX_RANK]);

/* ---- results */

/* Sets output k to a tensor; a NULL value is ignored, since the builder has recorded the failure
 * then. */
void prt_tf_set(prt_tf_call *call, uint32_t k, prt_value *value);
void prt_tf_set_value(prt_tf_call *call, uint32_t k, prt_tf_value value);
/* Ends a function: returns the first failure of the call or its builder. */
poprt_status prt_tf_end(prt_tf_call *call);
/* Ends a function with one output. */
poprt_status prt_tf_end_with(prt_tf_call *call, prt_value *value);

/* Records that the node cannot be converted, and why. `what` completes "node 'x' (Op): …". Returns
 * POPRT_E_UNSUPPORTED. */
poprt_status prt_tf_refuse(prt_tf_call *call, const char *fmt, ...) PRT_PRINTF(2, 3);
/* Warns the user; the text is about the node. */
void prt_tf_warn(prt_tf_call *call, const char *fmt, ...) PRT_PRINTF(2, 3);

/* ---- the engine, for rows of functions, loops and branches */

/* Makes a scope for a body, whose operators go to `graph`. `args` are the values of its arguments.
 * Fails where calls are nested too deeply. */
poprt_status prt_tf_scope_create(prt_tf_converter *c, prt_tf_scope *caller, const prt_tf_body *body,
    prt_graph *graph, prt_str prefix, uint32_t n_args, const prt_tf_value *args,
    prt_tf_scope **out);

/* Marks a node as converted: its entry of `done` is set. */
void prt_tf_mark_done(prt_tf_scope *scope, uint32_t node);

/* Converts the node of an edge, and everything that it needs, and sets `out` to the result. */
poprt_status prt_tf_demand(prt_tf_converter *c, prt_tf_scope *scope, prt_tf_edge edge,
    prt_tf_value *out);

/* Converts a function that a node calls, in the graph of the call: `out` receives its results. */
poprt_status prt_tf_inline(prt_tf_call *call, const prt_tf_function *fn, const prt_tf_attr *attrs,
    uint32_t n_attrs, uint32_t n_in, const prt_tf_value *in, uint32_t n_out, prt_tf_value *out);

/* Converts a function of which a node is a call, and sets the outputs of the node that are
 * wanted. */
poprt_status prt_tf_inline_call(prt_tf_call *call, const prt_tf_function *fn,
    const prt_tf_attr *attrs, uint32_t n_attrs);

/* wanted.c: marks the outputs of nodes that the roots need; nodes that are converted already, such
 * as inputs, need nothing. */
poprt_status prt_tf_mark_wanted(prt_tf_converter *c, prt_tf_scope *scope, uint32_t n,
    const prt_tf_edge *roots);
/* Returns whether output k of a call is needed. */
bool prt_tf_is_wanted(const prt_tf_call *call, uint32_t k);

/* Reads the function of an attribute. Fails if the node lacks it. */
poprt_status prt_tf_call_function(prt_tf_call *call, const char *attr, prt_tf_func *func,
    const prt_tf_function **out);

/* Converts one node whose inputs are known: for readers of other formats. */
poprt_status prt_tf_convert_call(prt_tf_call *call);
/* Calls the function of the node's row, or the one for complex tensors. */
poprt_status prt_tf_convert_by_row(prt_tf_call *call);

/* Reports all nodes that could not be converted, in one error; POPRT_OK if there are none. */
poprt_status prt_tf_report(const prt_tf_converter *c);

/* Steps that a conversion spends on evaluating operators, and each pass behind it; a step takes
 * about 1 ns. */
enum { PRT_TF_FOLD_STEPS = 1 << 28 };

/* fold.c: replaces the operators of a graph after `last` (NULL: all) by constants where their
 * inputs are small constants or their values follow from shapes, and changes `values` with
 * them. */
poprt_status prt_tf_fold(prt_tf_converter *c, prt_graph *graph, const prt_op *last, uint32_t count,
    prt_tf_value *values);

/* tensor.c: makes a constant from a TensorProto. `name` is the node, for errors. */
poprt_status prt_tf_tensor_constant(prt_tf_converter *c, prt_graph *graph, prt_bytes bytes,
    uint32_t depth, prt_str name, prt_value **out);

#endif
