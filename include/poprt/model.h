/* SPDX-License-Identifier: MIT */
/*
 * poprt/model.h — a model: read from ONNX, changed by passes, then saved as ONNX or compiled. One
 * thread at a time may use a model.
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

/* Kind of an input or output. */
enum {
    POPRT_VALUE_TENSOR = 1,
    POPRT_VALUE_SEQUENCE = 2,
    POPRT_VALUE_OPTIONAL = 3,
    POPRT_VALUE_MAP = 4
};

/*
 * An input or output of a model, executable or session. The strings and arrays belong to the object
 * that was asked, and stay valid until it is changed or released.
 */
typedef struct poprt_io_info {
    size_t struct_size; /* set by the caller */
    const char *name;
    int32_t direction;  /* POPRT_INPUT or POPRT_OUTPUT */
    int32_t value_kind; /* POPRT_VALUE_* */
    /* POPRT_DTYPE_* of the tensor, of the tensors of a sequence, or of the values of a map. */
    int32_t dtype;
    /* -1: unknown; else the number of entries of the two arrays. */
    int32_t rank;
    const int64_t *dims; /* -1: symbolic or unknown */
    /* One text for each dimension: "" for a number, "?" for an unknown one, else the name or
     * expression of a symbolic one. */
    const char *const *dim_names;
    /* Of sequences and optionals: POPRT_VALUE_* of their elements; else 0. */
    int32_t item_kind;
    /* Of maps and sequences of maps: POPRT_DTYPE_* of the keys; else 0. */
    int32_t key_dtype;
    /* Of fused models: index of the graph that it belongs to, from 0; else -1. */
    int32_t graph;
} poprt_io_info;

/*
 * Reads an ONNX file, updates its operators to their newest versions and infers types. The file is
 * mapped: weights are read when they are used, and the file must not be truncated while the model
 * lives. External data is read only from below the folder of the file.
 *
 * A model of TensorFlow or TFLite is converted to operators of ONNX. `path` is then the folder of a
 * SavedModel or its saved_model.pb, a GraphDef in binary form, the folder, prefix or .meta file of
 * a checkpoint with its graph, or a TFLite file. The contents tell the format, unless the option
 * model_format requires one. The options graph_inputs, graph_outputs, signature_def and tag choose
 * a part of the model, inputs_as_nchw and outputs_as_nchw the layout of images, graph_opset the
 * opset of the model when it is saved. Fails with POPRT_E_UNSUPPORTED if nodes cannot be converted:
 * one error names all of their operators. A library that was built without these readers fails
 * with POPRT_E_PARSE or POPRT_E_IO, as for other files that are not ONNX.
 *
 * Errors name the node. One error lists all nodes with wrong types. Fails with POPRT_E_PARSE if an
 * operator of ai.onnx or ai.onnx.ml has an attribute that the model's opset does not define, unless
 * the name of the attribute begins with two underscores. A model whose opset is newer than the
 * newest known one is accepted with a warning in the log.
 */
POPRT_API poprt_status poprt_model_load_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_model **out);

/* Reads an ONNX model, a GraphDef of TensorFlow or a TFLite model from memory, which is copied,
 * with the options of poprt_model_load_file. External data is refused, because there is no folder.
 */
POPRT_API poprt_status poprt_model_load_bytes(poprt_env *env, const void *bytes, size_t size,
    const poprt_config *config, poprt_model **out);

/* Creates an independent copy. The two models share their weights. */
POPRT_API poprt_status poprt_model_clone(const poprt_model *model, poprt_model **out);

/*
 * Makes one model of 2 to 64 models. Model i of the list becomes graph i, and each run of the
 * executable runs one graph.
 *
 * Inputs and outputs of graph i are called "graph<i>/<name>". The first input of the new model is
 * `index`, uint32 of shape [1]: the graph to run (see poprt/stepio.h). Every input must be a tensor
 * whose dimensions are numbers (poprt_model_set_input_shape), a sequence or an optional. Every
 * output must be a tensor or a sequence of tensors. The models may have different precisions and
 * opsets, but must belong to one environment.
 *
 * The models stay unchanged and belong to the caller; the new model shares their weights. No thread
 * may change one of them during the call. The new model is valid ONNX: it has an If for each graph,
 * which returns zeros when another graph is selected. Its metadata has the key "model_fusion".
 *
 * Fails with POPRT_E_ARG if the number of models is out of range or the environments differ.
 * POPRT_E_SHAPE and POPRT_E_UNSUPPORTED name an input or output that is not allowed.
 */
POPRT_API poprt_status poprt_model_fuse(const poprt_model *const *models, size_t count,
    poprt_model **out);

/*
 * Fixes the shape of an input and infers the types of all values again. Only dimensions that are
 * not numbers yet can be set; -1 leaves a dimension open.
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
 * Metadata of a model's file. A text that the file does not have is "", a number 0. The strings and
 * arrays belong to the object that was asked, and stay valid until it is changed or released.
 */
typedef struct poprt_model_info {
    size_t struct_size;                           /* set by the caller */
    const char *producer_name, *producer_version; /* program that wrote the file */
    const char *domain;                           /* domain of the model, such as "com.example" */
    const char *doc_string, *graph_name, *graph_doc_string;
    int64_t model_version;
    int64_t ir_version; /* version of the ONNX format */
    int64_t opset;      /* opset of ai.onnx */
    size_t property_count;
    const poprt_property *properties; /* in the order of the file */
} poprt_model_info;

/* Returns the metadata of a model. An executable compiled from the model keeps it, also in PopEF
 * files: see poprt_executable_get_info. */
POPRT_API poprt_status poprt_model_get_info(const poprt_model *model, poprt_model_info *out);

/* Sets or replaces a property. If `value` is NULL, removes it. Both texts are copied. */
POPRT_API poprt_status poprt_model_set_property(poprt_model *model, const char *key,
    const char *value);

/*
 * Writes ONNX; the file is complete or absent. The file is for the opset of ai.onnx that the model
 * was read with. Nodes that the library does not know are written as they were read. Operators that
 * passes created are written as operators of that opset. If this is impossible, the file is for the
 * next opset that has all of them, and a warning in the log of the environment names the operators.
 *
 * An ONNX file holds at most 2 GiB. A larger model is written as two files: tensors of 1 KiB and
 * more go to `path` with ".data" appended, as ONNX's external data. `path` names that file, so both
 * must be moved together.
 */
POPRT_API poprt_status poprt_model_save_file(const poprt_model *model, const char *path);

/* Writes the bytes that poprt_model_save_file would write to a file. Fails with POPRT_E_LIMIT if
 * they are more than 2 GiB. */
POPRT_API poprt_status poprt_model_save(const poprt_model *model, poprt_write_fn write, void *user);

/*
 * Writes ONNX according to options (see config.h); `config` may be NULL. The model does not change.
 *
 *  - `convert_version` writes the model for this opset of ai.onnx. Newer operators are written as
 *    older ones. If this is impossible, the call writes no file and fails with POPRT_E_UNSUPPORTED.
 *    The error names each operator, its node, the versions and the reason.
 *  - `only_marks` writes the bytes of the file that the model was read from, with the present
 *    attributes "__..." of its nodes as the only change. Fails with POPRT_E_UNSUPPORTED if the
 *    model was not read from one file.
 */
POPRT_API poprt_status poprt_model_save_file_as(const poprt_model *model, const char *path,
    const poprt_config *config);

/* Formats of a description. */
enum {
    POPRT_FORMAT_SUMMARY = 0, /* for people: inputs, outputs, operators by type, weights, FLOPs */
    POPRT_FORMAT_TEXT = 1,    /* the whole graph or program as text */
    POPRT_FORMAT_JSON = 2,    /* the summary as one JSON object */
    POPRT_FORMAT_DOT = 3,     /* a Graphviz graph */
    /* Executables only: every step with its nodes, its kernel and the place of its results; then
     * the eliminated nodes, each with the pass that removed it. */
    POPRT_FORMAT_STEPS = 4,
    POPRT_FORMAT_STEPS_JSON = 5,
    /* The form of PopART's serialised IR: every operator of every graph, in order, with the
     * attributes of its version: {"main": [{"type": "Conv", "domain": "ai.onnx", "version": 22,
     * "name": ..., "inputs": [{"name": ..., "type": ...}], "outputs": [...], "attributes": {...},
     * "graphs": ["graph1"]}, ...], "graph1": [...]}. An operator of an executable is one of its
     * steps. It also has "nodes", all nodes of the model that became the step, and "location", the
     * place of the node in the program that made the model, if it is known. */
    POPRT_FORMAT_GRAPHS_JSON = 6,
    /* Models only: a comment on each device (nodes, bytes, FLOPs), then the sharding points in the
     * YAML of --manual_sharding_config. Every node needs a device (attribute __ipu_number), as the
     * passes auto_sharding and manual_sharding set it; else the call fails with POPRT_E_STATE.
     * Fails with POPRT_E_ARG if the node of a sharding point has no unique name. */
    POPRT_FORMAT_SHARDING = 7
};

/* Describes the model. Weights are not read. */
POPRT_API poprt_status poprt_model_describe(const poprt_model *model, int32_t format,
    poprt_write_fn write, void *user);

/*
 * Changes the name of a data file: initializers that the model refers to in `from`
 * (poprt_builder_save_externally) are written with references to `to`, at the same offsets. Both
 * are paths relative to the folder of the model's file. The caller moves the file. Fails with
 * POPRT_E_NOT_FOUND if no initializer is in `from`, and with POPRT_E_ARG if initializers are in
 * `to` already, or `to` is not below the folder.
 */
POPRT_API poprt_status poprt_model_relocate_external(poprt_model *model, const char *from,
    const char *to);

POPRT_API void poprt_model_release(poprt_model *model);

/*
 * Lists every operator, including operators of the environment's plug-ins: domain, name, versions,
 * inputs, outputs, element types and attributes. POPRT_FORMAT_SUMMARY gives one line for each
 * operator, POPRT_FORMAT_TEXT a page in Markdown, POPRT_FORMAT_JSON an array. `env` may be NULL.
 * Any thread.
 */
POPRT_API poprt_status poprt_operators_describe(poprt_env *env, int32_t format,
    poprt_write_fn write, void *user);

#ifdef __cplusplus
}
#endif
#endif
