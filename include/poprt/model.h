/* SPDX-License-Identifier: MIT */
/*
 * poprt/model.h — a model: read from ONNX, changed by passes, saved as ONNX or compiled.
 * One thread at a time may use a model.
 */
#ifndef POPRT_MODEL_H
#define POPRT_MODEL_H

#include "poprt/config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_model poprt_model;

/* Direction of a tensor. */
enum { POPRT_INPUT = 0, POPRT_OUTPUT = 1 };

/* What an input or output is. */
enum {
    POPRT_VALUE_TENSOR = 1,
    POPRT_VALUE_SEQUENCE = 2,
    POPRT_VALUE_OPTIONAL = 3,
    POPRT_VALUE_MAP = 4
};

/*
 * An input or output of a model, executable or session. Strings and arrays belong to the object
 * asked and stay valid until it is changed or released.
 */
typedef struct poprt_io_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    int32_t direction;   /* POPRT_INPUT or POPRT_OUTPUT */
    int32_t value_kind;  /* POPRT_VALUE_* */
    int32_t dtype;       /* POPRT_DTYPE_* of the tensor, a sequence's tensors, a map's values */
    int32_t rank;        /* -1 when unknown; the two arrays have `rank` entries */
    const int64_t *dims; /* -1 where a dimension is symbolic or unknown */
    const char *const *dim_names; /* "" for a number; a name or expression; "?" when unknown */
    int32_t item_kind; /* of sequences and optionals: POPRT_VALUE_* of what they hold; else 0 */
    int32_t key_dtype; /* of maps and sequences of maps: POPRT_DTYPE_* of the keys; else 0 */
    int32_t graph;     /* of fused models: which of them it belongs to, from 0; else -1 */
} poprt_io_info;

/*
 * Reads an ONNX file, brings its operators to their current form and infers types. The file is
 * mapped: weights stay in it until they are used, and it must not be truncated while the model
 * lives. External data is read from below the file's folder only.
 * Errors name the node, and list all ill-typed nodes at once. An attribute that an operator of
 * ai.onnx or ai.onnx.ml does not have at the model's opset is POPRT_E_PARSE, unless its name begins
 * with two underscores. An opset newer than the newest known is said in the log, as a warning.
 */
POPRT_API poprt_status poprt_model_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_model **out);

/* The same from memory, which is copied. External data is refused: there is no folder. */
POPRT_API poprt_status poprt_model_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_model **out);

/* An independent copy; weights are shared between the two. */
POPRT_API poprt_status poprt_model_clone(const poprt_model *model, poprt_model **out);

/*
 * Makes one model of 2 to 64 others, of which each run of its executable runs one: model i of the
 * list becomes graph i. Inputs and outputs of graph i are called "graph<i>/<name>", and before all
 * of them stands one more input, `index`, uint32 of shape [1]: the graph to run; see
 * poprt/stepio.h for how inputs are given. The models may differ in everything, precision and
 * opsets too, but have to be of one environment. Every input is a tensor whose dimensions are
 * numbers (poprt_model_set_input_shape), a sequence or an optional; outputs are tensors or
 * sequences of tensors.
 * The models stay as they are and the caller's; weights are shared with the new one. It is ONNX: an
 * If for each graph, which gives zeros where another graph is selected; its metadata has the key
 * "model_fusion". Nobody may change one of the models meanwhile.
 * POPRT_E_ARG: too few or too many models, or other environments; POPRT_E_SHAPE and
 * POPRT_E_UNSUPPORTED name an input or output that does not fit.
 */
POPRT_API poprt_status poprt_model_fuse(const poprt_model *const *models, size_t count,
    poprt_model **out);

/*
 * Fixes the shape of an input. Only dimensions that are not numbers yet can be set; -1 leaves one
 * open. Types of all values are inferred anew.
 */
POPRT_API poprt_status poprt_model_set_input_shape(poprt_model *model, const char *input,
    const int64_t *dims, uint32_t rank);

POPRT_API size_t poprt_model_io_count(const poprt_model *model, int32_t direction);
POPRT_API poprt_status poprt_model_io_at(const poprt_model *model, int32_t direction, size_t index,
    poprt_io_info *out);

/* One entry of ONNX's metadata_props. */
typedef struct poprt_property {
    const char *key, *value;
} poprt_property;

/*
 * What a model's file says of itself. Texts that it does not have are "", numbers 0. Everything
 * belongs to the object asked and stays valid until that is changed or released.
 */
typedef struct poprt_model_info {
    size_t struct_size;                           /* set by the caller */
    const char *producer_name, *producer_version; /* what wrote the file */
    const char *domain;                           /* of the model, such as "com.example" */
    const char *doc_string, *graph_name, *graph_doc_string;
    int64_t model_version;
    int64_t ir_version; /* of the ONNX format */
    int64_t opset;      /* of ai.onnx */
    size_t property_count;
    const poprt_property *properties; /* in the order of the file */
} poprt_model_info;

/* Metadata of a model. An executable made from it keeps it, in PopEF too: see
 * poprt_executable_get_info. */
POPRT_API poprt_status poprt_model_get_info(const poprt_model *model, poprt_model_info *out);

/* Sets or replaces one property; NULL as `value` removes it. Both texts are copied. */
POPRT_API poprt_status poprt_model_set_property(poprt_model *model, const char *key,
    const char *value);

/*
 * Writes ONNX, complete or not at all, for the opset of ai.onnx that the model was read with. What
 * nothing here understands is written as it was read. Operators that passes made are written by
 * those that the opset has; where that cannot be done, the file is for the next opset that has them
 * all, and a warning in the environment's log names the operators.
 *
 * A model of more than 2 GiB, the most that one ONNX file can hold, is written as two: its tensors
 * of 1 KiB and more go to `path` with ".data" appended, as ONNX's external data, and `path` names
 * that file. Both have to be moved together.
 */
POPRT_API poprt_status poprt_model_save_file(const poprt_model *model, const char *path);

/*
 * The same as the options say (see config.h): `convert_version` writes the model for an opset of
 * ai.onnx, whatever it was read from. Operators that came later are written by older ones. Where
 * that cannot be done the file is not written, and POPRT_E_UNSUPPORTED names each operator, its
 * node, the versions and the reason. `only_marks` writes the file that the model was read from with
 * the attributes "__..." that its nodes have now, and no other byte changed; POPRT_E_UNSUPPORTED
 * where the model was not read from one file. The model stays as it is. `config` may be NULL.
 */
POPRT_API poprt_status poprt_model_save_file_as(const poprt_model *model, const char *path,
    const poprt_config *config);

/* Forms of a description. */
enum {
    POPRT_FORMAT_SUMMARY = 0, /* for people: inputs, outputs, operators by type, weights, FLOPs */
    POPRT_FORMAT_TEXT = 1,    /* the whole graph, or program, as text */
    POPRT_FORMAT_JSON = 2,    /* the summary as one JSON object */
    POPRT_FORMAT_DOT = 3,     /* a Graphviz graph */
    /* Of executables only: every step with the nodes it stands for, its kernel, and where its
     * results lie; then the nodes that are gone, with the pass that took them out. */
    POPRT_FORMAT_STEPS = 4,
    POPRT_FORMAT_STEPS_JSON = 5,
    /* Of models only: {"main": [{"type": "Conv", "domain": "ai.onnx", "version": 22, "name": ...,
     * "inputs": [{"name": ..., "type": ...}], "outputs": [...], "attributes": {...},
     * "graphs": ["graph1"]}, ...], "graph1": [...]}: every operator of every graph, in order, in
     * the form of its version. */
    POPRT_FORMAT_GRAPHS_JSON = 6,
    /* Of models only whose nodes all have a device (attribute __ipu_number), as the passes
     * auto_sharding and manual_sharding give them, else POPRT_E_STATE: a comment on each device
     * (nodes, bytes, FLOPs), then the sharding points in the YAML of --manual_sharding_config.
     * POPRT_E_ARG for a point whose node has no name of its own. */
    POPRT_FORMAT_SHARDING = 7
};

/* Describes the model; reads no weights. */
POPRT_API poprt_status poprt_model_describe(const poprt_model *model, int32_t format,
    poprt_write_fn write, void *user);

POPRT_API void poprt_model_release(poprt_model *model);

/*
 * Lists every operator there is, those of the environment's plug-ins too: domain, name, versions,
 * inputs, outputs, element types and attributes. POPRT_FORMAT_SUMMARY is a line each,
 * POPRT_FORMAT_TEXT a page in Markdown, POPRT_FORMAT_JSON an array. `env` may be NULL; any thread.
 */
POPRT_API poprt_status poprt_operators_describe(poprt_env *env, int32_t format,
    poprt_write_fn write, void *user);

#ifdef __cplusplus
}
#endif
#endif
