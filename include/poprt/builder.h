/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder.h — makes and edits models. poprt/builder_ops.h has a function for each operator.
 *
 *     poprt_builder_create -> poprt_builder_input, _weight -> poprt_op_conv ... (builder_ops.h)
 *         -> poprt_builder_output -> poprt_builder_finish -> poprt_model
 *
 * Tensors are numbers (poprt_id) of one tree of builders: a builder and the builders of its
 * subgraphs. Types are inferred by each call, so that an operator with wrong inputs fails at the
 * call that adds it.
 *
 * Errors
 *  - Calls are sticky. After the first failure of a tree, calls that change it do nothing and
 *    return 0 (a poprt_id) or the status of that failure. poprt_builder_finish returns it too, with
 *    its message: the node, the operator, the mistake and the accepted values. poprt_builder_undo
 *    ends this.
 *  - Functions that only ask (their builder is const) report their own errors.
 *
 * Names
 *  - An operator's output is named <scope1>/<scope2>/<name>:<index>. Scopes are those of
 *    poprt_builder_push_name. The name is the one given to the operator, else its type. Inputs,
 *    weights and constants have no index.
 *  - If another tensor of the tree has the name, /1, /2, ... is appended.
 *  - Prefixes that training uses for its own tensors, such as "Gradient___", are refused.
 *
 * Memory
 *  - Arguments are copied, unless POPRT_BUILDER_BORROW says otherwise. Texts and arrays that a
 *    function returns live until the last builder of the tree is released.
 *  - One thread at a time may use the builders of a tree.
 */
#ifndef POPRT_BUILDER_H
#define POPRT_BUILDER_H

#include "poprt/attr.h"
#include "poprt/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_builder poprt_builder;

/* A tensor of a tree of builders; 0: no tensor, or an absent input. */
typedef uint32_t poprt_id;

/* Creates a builder of a model for an opset of ai.onnx: 6 or newer. 0 stands for the newest one.
 * `env` may be NULL. */
POPRT_API poprt_status poprt_builder_create(poprt_env *env, int64_t opset, poprt_builder **out);

/*
 * Creates a builder that holds a copy of a model, to be changed and extended. Tensors are found by
 * their names (poprt_builder_find). Subgraphs of its nodes stay as they are. The model shares its
 * weights with the copy.
 */
POPRT_API poprt_status poprt_builder_create_from(const poprt_model *model, poprt_builder **out);

/*
 * Creates a builder of a subgraph, for an attribute of If, Loop, Scan, Call and the like. Its
 * operators may use the tensors of `parent` that exist when they are added. The attribute takes a
 * copy: the subgraph cannot be changed afterwards, but be used again. `name` is the name of the
 * graph; Call needs it.
 */
POPRT_API poprt_status poprt_builder_create_subgraph(poprt_builder *parent, const char *name,
    poprt_builder **out);

/* Releases a builder. The other builders of its tree may be used on. */
POPRT_API void poprt_builder_release(poprt_builder *builder);

/* Returns the status of the first failure of the tree, or POPRT_OK. */
POPRT_API poprt_status poprt_builder_status(const poprt_builder *builder);

/*
 * Forgets the first failure of the tree, so that its builders can be used on. What the failed call
 * added or changed is removed; a subgraph that was given to a failed operator stays closed. Does
 * nothing without a failure. If the call fails, with POPRT_E_NOMEM, the failure of the tree stays.
 */
POPRT_API poprt_status poprt_builder_undo(poprt_builder *builder);

/* Sets the opset of a domain, before its first operator; of ai.onnx, before the first operator of
 * all. Domains other than ai.onnx begin with the newest one that the library knows, and unknown
 * domains with 1. */
POPRT_API poprt_status poprt_builder_set_opset(poprt_builder *builder, const char *domain,
    int64_t version);

/*
 * Lets (`on` 1) operators that follow have element types that only newer versions of them have in
 * ONNX, such as Equal of opset 10 with float32. The results are those of the newer versions. The
 * model's file is for the first opset that has all its types. Off by default: such an operator is
 * refused.
 */
POPRT_API poprt_status poprt_builder_accept_newer_types(poprt_builder *builder, int32_t on);

/* Sets the name of the graph. */
POPRT_API poprt_status poprt_builder_set_graph_name(poprt_builder *builder, const char *name);

/* ---- inputs and weights */

/*
 * Adds an input. A NULL `name` stands for "input". In a subgraph `type` may be NULL: unknown. Dims
 * are numbers, or -1: open. `dim_names` may be NULL; else it has an entry for each dim, the name of
 * an open dim or NULL. Equal names stand for equal dims.
 */
POPRT_API poprt_id poprt_builder_input(poprt_builder *builder, const char *name,
    const poprt_type *type, const char *const *dim_names);

enum {
    /* The data of the tensor is used where it is. The caller must keep it unchanged until the
     * builders, and all models and executables made of them, are released. */
    POPRT_BUILDER_BORROW = 1
};

/*
 * Adds a weight: an input of the model with contents, which training changes. Weights of a
 * subgraph belong to the main graph. The file lists a weight as an input with an initializer. A
 * NULL `name` stands for "init_input". `flags` is 0 or POPRT_BUILDER_BORROW.
 */
POPRT_API poprt_id poprt_builder_weight(poprt_builder *builder, const char *name,
    const poprt_tensor *contents, int32_t flags);

/* Adds a constant, which training does not change. A NULL `name` stands for "Constant". */
POPRT_API poprt_id poprt_builder_constant(poprt_builder *builder, const char *name,
    const poprt_tensor *contents, int32_t flags);

/* Makes a tensor an output of the builder's graph. */
POPRT_API poprt_status poprt_builder_output(poprt_builder *builder, poprt_id tensor);

/* ---- operators */

/* An operator to be added. */
typedef struct poprt_builder_op_info {
    size_t struct_size; /* sizeof(poprt_builder_op_info) */
    const char *domain; /* NULL or "": ai.onnx */
    const char *op_type;
    const char *name;       /* NULL: the type */
    const poprt_id *inputs; /* 0: absent; absent inputs at the end are left out */
    const poprt_attr *attrs;
    const char *const *output_names; /* NULL, or a name for each output; no scope is added */
    uint32_t n_inputs, n_attrs, n_outputs;
    uint32_t n_more_inputs;      /* entries of more_inputs */
    const poprt_id *more_inputs; /* inputs that follow `inputs`; NULL: no more */
} poprt_builder_op_info;

/*
 * Adds an operator and returns its first output; 0 for an operator without outputs. `out` gets all
 * `n_outputs` outputs; it may be NULL. The operator is the newest version that is not above the
 * opset of its domain. An operator of a domain that the library does not know is kept for a
 * plug-in, and its outputs have no known types. The attributes that poprt_builder_push has set are
 * added, except for attributes that `op` has itself.
 */
POPRT_API poprt_id poprt_builder_op(poprt_builder *builder, const poprt_builder_op_info *op,
    poprt_id *out);

/* Adds an Identity for each tensor, whose result is kept for the backward pass, and writes the
 * results to `out`. */
POPRT_API poprt_status poprt_builder_checkpoint(poprt_builder *builder, uint32_t count,
    const poprt_id *tensors, poprt_id *out);

/* ---- scopes */

/* Adds `name` and a slash to the names of later operators, until poprt_builder_pop. */
POPRT_API poprt_status poprt_builder_push_name(poprt_builder *builder, const char *name);

/* Adds an attribute to later operators, until poprt_builder_pop: a reserved one (see below), or
 * one that begins with "__". An inner attribute hides an outer one of its name. */
POPRT_API poprt_status poprt_builder_push(poprt_builder *builder, const poprt_attr *attr);

/*
 * States the place in the caller's program of the operators that follow: a file, a line (0:
 * unknown) and a function (NULL: unknown). Errors that name such an operator, traces and reports
 * name the place, and files of the model keep it as the doc string of the node, in the form of
 * PyTorch: "model.c(12): forward". `file` NULL: later operators have no place. The place holds for
 * all builders of the tree. Texts are cut at 127 bytes.
 */
POPRT_API poprt_status poprt_builder_set_location(poprt_builder *builder, const char *file,
    uint32_t line, const char *function);

/* Ends the latest poprt_builder_push or poprt_builder_push_name of this builder. */
POPRT_API poprt_status poprt_builder_pop(poprt_builder *builder);

/* ---- attributes of nodes, which are found by any of their outputs */

/*
 * Names of reserved attributes. All operators may have them, and their kinds and values are
 * checked. Placement is a request: a CPU computes the same results with any value.
 */
#define POPRT_MARK_IPU_NUMBER "__ipu_number"               /* INT, device, from 0 */
#define POPRT_MARK_PIPELINE_STAGE "__pipeline_stage"       /* INT, from 0 */
#define POPRT_MARK_EXECUTION_PHASE "__execution_phase"     /* INT, from 0 */
#define POPRT_MARK_EXECUTION_CONTEXT "__execution_context" /* INT, 0 to 5 */
/* INT: 0 undefined, 1 checkpoint, 2 recompute, 3 recomputed */
#define POPRT_MARK_RECOMPUTE "__recompute_output_in_backward_pass"
#define POPRT_MARK_SCHEDULE_PRIORITY "__schedule_priority"  /* FLOAT */
#define POPRT_MARK_EXCLUDE_PATTERNS "__exclude_patterns"    /* STRINGS, names of patterns */
#define POPRT_MARK_PARTIALS_TYPE "__partials_type"          /* STRING, FLOAT or HALF */
#define POPRT_MARK_AVAILABLE_MEMORY "__available_memory"    /* FLOAT in [0, 1) */
#define POPRT_MARK_CONV_DITHERING "__enable_conv_dithering" /* INT, 0 or 1 */
/* STRING: input_channels, reducing_dim, output_channels or none */
#define POPRT_MARK_SERIALIZE_MODE "__serialize_matmul_mode"
#define POPRT_MARK_SERIALIZE_FACTOR "__serialize_matmul_factor"       /* INT, from 1 */
#define POPRT_MARK_SERIALIZE_PRECISION "__serialize_matmul_precision" /* INT, 0 or 1 */
#define POPRT_MARK_INPLACE_NAMES "__inplace_op_names"                 /* STRINGS */
#define POPRT_MARK_INPLACE_PRIORITIES "__inplace_op_priorities"       /* FLOATS */
#define POPRT_MARK_TENSOR_LOCATION "__output_tensor_location"         /* INTS */
#define POPRT_MARK_OUTPUT_TYPE "__output_type"                        /* STRING */
#define POPRT_MARK_TILE_SET "__tile_set"                              /* INT, 0 or 1 */
#define POPRT_MARK_OUTLINE "__outline"                                /* STRINGS */
#define POPRT_MARK_DEBUG_INFO "__debug_info_id"                       /* INT */

/* Sets an attribute of the node of a tensor, or replaces it. Types are inferred again unless the
 * name begins with "__". */
POPRT_API poprt_status poprt_builder_set(poprt_builder *builder, poprt_id tensor,
    const poprt_attr *attr);

/* Sets the three attributes of a product that is computed in parts. */
POPRT_API poprt_status poprt_builder_serialize_matmul(poprt_builder *builder, poprt_id tensor,
    const char *mode, int64_t factor, int32_t keep_precision);

/* Removes an attribute. Fails with POPRT_E_NOT_FOUND if the node does not have it. */
POPRT_API poprt_status poprt_builder_remove(poprt_builder *builder, poprt_id tensor,
    const char *name);

/*
 * Returns an attribute. Fails with POPRT_E_NOT_FOUND if the node does not have it, and with
 * POPRT_E_TYPE if it is of another kind than `kind`; a `kind` of 0 accepts all. Attributes that
 * hold graphs, and other kinds without a POPRT_ATTR_ value, have no contents here.
 */
POPRT_API poprt_status poprt_builder_get(const poprt_builder *builder, poprt_id tensor,
    const char *name, int32_t kind, poprt_attr *out);

/* Returns 1 if the node of a tensor has the attribute, else 0. */
POPRT_API int32_t poprt_builder_has(const poprt_builder *builder, poprt_id tensor,
    const char *name);

/* Return the number of attributes of the node of a tensor, and their names; NULL past the end. */
POPRT_API size_t poprt_builder_attr_count(const poprt_builder *builder, poprt_id tensor);
POPRT_API const char *poprt_builder_attr_name(const poprt_builder *builder, poprt_id tensor,
    size_t index);

/* ---- settings that the model's file keeps as metadata, under PopART's keys */

/* Sets or replaces an entry of metadata_props. If `value` is NULL, removes it. */
POPRT_API poprt_status poprt_builder_property(poprt_builder *builder, const char *key,
    const char *value);

/* The replicas that share one value of a weight, and the way to read it back. The layout is
 * frozen. */
typedef struct poprt_variable_settings {
    int32_t group;     /* 0 all, 1 consecutive, 2 orthogonal, 3 none */
    int32_t size;      /* replicas in a group, for consecutive and orthogonal ones: from 1 */
    int32_t retrieval; /* 0 one value of each group, 1 the sum of all replicas, 2 all replicas */
} poprt_variable_settings;

POPRT_API poprt_status poprt_builder_variable_settings(poprt_builder *builder, poprt_id weight,
    const poprt_variable_settings *settings);

/*
 * Groups of replicas: those of a group share one value of a weight. The replicas of a group are
 * `stride` apart; stride * size divides the number of replicas. The layout is frozen. The functions
 * compute, keep nothing, and fail with POPRT_E_ARG for impossible numbers.
 */
typedef struct poprt_replica_grouping {
    int64_t replicas, stride, size; /* from 1; size: replicas in a group, 1 with a stride of 1 */
} poprt_replica_grouping;

/* Returns the grouping of a weight's settings: all replicas, `size` consecutive ones, `size` that
 * are replicas / size apart, or each by itself. */
POPRT_API poprt_status poprt_replica_grouping_of(int64_t replicas,
    const poprt_variable_settings *settings, poprt_replica_grouping *out);

/* Returns the settings of a grouping: `group` and `size`; `retrieval` is 0. Fails with
 * POPRT_E_UNSUPPORTED for a grouping that no settings describe. */
POPRT_API poprt_status poprt_replica_grouping_settings(const poprt_replica_grouping *grouping,
    poprt_variable_settings *out);

/* Returns the group of a replica, and its index in the group. Groups are numbered by their first
 * replicas. */
POPRT_API poprt_status poprt_replica_grouping_find(const poprt_replica_grouping *grouping,
    int64_t replica, int64_t *group, int64_t *index);

/* Returns replica `index` of a group; index 0 represents the group. */
POPRT_API poprt_status poprt_replica_grouping_at(const poprt_replica_grouping *grouping,
    int64_t group, int64_t index, int64_t *replica);

/* Returns the grouping that has a replica of each group in every group. Fails with
 * POPRT_E_UNSUPPORTED if no grouping does. */
POPRT_API poprt_status poprt_replica_grouping_transpose(const poprt_replica_grouping *grouping,
    poprt_replica_grouping *out);

/*
 * Returns the shape of a weight in the memory of the host, from its shape on a replica: the number
 * of values comes first if it is not 1. A write transfers a value for each group. A read transfers
 * as many values as `settings` retrieve (`reads` 1): one of each group, or one of each replica. The
 * sum of all replicas is POPRT_E_UNSUPPORTED, as in PopART. `out` has room for rank + 1 dimensions.
 */
POPRT_API poprt_status poprt_variable_shape_on_host(int64_t replicas,
    const poprt_variable_settings *settings, int32_t reads, uint32_t rank, const int64_t *dims,
    uint32_t *out_rank, int64_t *out);

/* Returns the shape on a replica from the shape of a write. Fails with POPRT_E_SHAPE if the first
 * dimension is not the number of groups. `out` has room for rank dimensions. */
POPRT_API poprt_status poprt_variable_shape_on_replica(int64_t replicas,
    const poprt_variable_settings *settings, uint32_t rank, const int64_t *dims, uint32_t *out_rank,
    int64_t *out);

/* The way of the data of an input to the device. The layout is frozen. */
typedef struct poprt_input_settings {
    int32_t tile_set;    /* 0 compute, 1 IO */
    int32_t exchange;    /* 0 just in time; overlapped: 1 inner loop, 2 loops, 3 step */
    int32_t stream_mode; /* 0 broadcast to the replicas, 1 a part for each */
} poprt_input_settings;

POPRT_API poprt_status poprt_builder_input_settings(poprt_builder *builder, poprt_id input,
    const poprt_input_settings *settings);

/* States the number of replicas that the model is made for: from 1. */
POPRT_API poprt_status poprt_builder_replication_factor(poprt_builder *builder, int64_t factor);

/* ---- questions */

/* Returns the name of a tensor; NULL for a wrong id. */
POPRT_API const char *poprt_builder_name(const poprt_builder *builder, poprt_id tensor);

/* Returns the tensor of a name that the builder's graph sees; 0 for an unknown name. */
POPRT_API poprt_id poprt_builder_find(const poprt_builder *builder, const char *name);

/* Returns the type of a tensor, as far as it is known. Values that are not tensors have no dtype
 * and no rank. */
POPRT_API poprt_status poprt_builder_type(const poprt_builder *builder, poprt_id tensor,
    poprt_type *out);

/* Returns 1 for weights and constants, else 0. */
POPRT_API int32_t poprt_builder_is_initializer(const poprt_builder *builder, poprt_id tensor);

/* Lists of a builder's tensors, in the order in which they were made. */
enum {
    POPRT_BUILDER_INPUTS = 0,    /* inputs without contents */
    POPRT_BUILDER_OUTPUTS = 1,   /* in the order of poprt_builder_output */
    POPRT_BUILDER_VALUES = 2,    /* outputs of operators */
    POPRT_BUILDER_TRAINABLE = 3, /* weights with floating-point elements */
    POPRT_BUILDER_WEIGHTS = 4    /* all weights */
};

POPRT_API size_t poprt_builder_count(const poprt_builder *builder, int32_t list);
/* Returns tensor `index` of a list; 0 past the end. */
POPRT_API poprt_id poprt_builder_at(const poprt_builder *builder, int32_t list, size_t index);

/* ---- results */

/*
 * Writes the contents of weights and constants to a file now. Models of this builder are written
 * with references to it, so that it must lie in the folder of the model's file. Contents that a
 * pass changes are written with the model. poprt_model_save_file does the same for a model of more
 * than 2 GiB, without this call.
 */
POPRT_API poprt_status poprt_builder_save_externally(poprt_builder *builder, uint32_t count,
    const poprt_id *tensors, const char *path);

/*
 * Makes a model of the main graph. A model without outputs is for data flow with anchors
 * (poprt/data.h). The builder may be used on, and make further models. poprt_model_save and
 * poprt_model_save_file write it as ONNX, with the nodes, names and attributes of the builder.
 */
POPRT_API poprt_status poprt_builder_finish(poprt_builder *builder, poprt_model **out);

#ifdef __cplusplus
}
#endif
#endif
