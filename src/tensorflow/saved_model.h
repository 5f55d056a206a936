/* SPDX-License-Identifier: MIT */
/*
 * saved_model.h — describes a SavedModel, or a checkpoint with its graph (.meta), for the
 * conversion: the graph, the inputs and outputs of a signature, and where the contents of variables
 * and lookup tables are. Nothing of a weight is read before prt_saved_variable_read.
 */
#ifndef PRT_TENSORFLOW_SAVED_MODEL_H
#define PRT_TENSORFLOW_SAVED_MODEL_H

#include "base/vec.h"
#include "tensor/tensor.h"
#include "tensorflow/bundle.h"
#include "tensorflow/graph.h"

/* An input or output of a signature. A sparse tensor is three of them. */
typedef struct prt_saved_port {
    prt_str name;            /* KEY of the signature, or KEY/values, KEY/indices, KEY/shape; the
                              * components of another composite tensor are KEY/0, KEY/1, … */
    prt_str tensor;          /* "node:k" of the graph */
    prt_bytes shape;         /* TensorShapeProto; data is NULL where the file has none */
    prt_bytes default_value; /* TensorProto of an optional input; data is NULL elsewhere */
    uint32_t depth;          /* of these messages */
    uint32_t order;          /* place among the arguments or results of the signature's call */
} prt_saved_port;

typedef PRT_VEC(prt_saved_port) prt_saved_ports;

/* Where the contents of a lookup table come from: constants of the graph, tensors of the
 * checkpoint, or a text file. */
typedef struct prt_saved_table {
    prt_bytes keys, values;          /* TensorProto; data is NULL where there is another source */
    uint32_t key_depth, value_depth; /* of these messages */
    prt_str key_entry, value_entry;  /* keys of the checkpoint; data is NULL elsewhere */
    const char *file; /* path below the folder of the model; NULL where there is another source */
    /* Columns of the file: -2: the whole line, -1: the number of the line. */
    int64_t key_index, value_index;
    int64_t vocab_size; /* number of lines; -1: all */
    int64_t offset;     /* added to numbers of lines */
    char delimiter;     /* of columns */
} prt_saved_table;

/* What the handle of a variable or lookup table stands for. */
typedef struct prt_saved_resource {
    prt_str key; /* of a variable: its key in the checkpoint; of a table: "" */
    /* The part of the stored tensor that the variable holds; NULL: all. */
    const prt_bundle_part *part;
    const prt_saved_table *table; /* NULL: a variable */
} prt_saved_resource;

typedef struct prt_saved_model {
    prt_blob *file;       /* that the messages are views of */
    prt_bytes graph_def;  /* GraphDef */
    uint32_t graph_depth; /* of graph_def, for prt_tf_graph_read */
    prt_str signature;    /* "" for a checkpoint */
    /* Both are empty for a checkpoint, whose inputs and outputs the caller names. */
    prt_saved_ports inputs, outputs;
    /* private to saved_*.c */
    prt_arena *arena;
    const char *folder, *path;
    prt_bytes meta_graph;
    uint32_t depth;     /* of meta_graph */
    prt_bundle *bundle; /* NULL: the model has no checkpoint */
    prt_tf_graph *graph;
    bool followed;   /* by_name is set */
    prt_map by_node; /* names of nodes of the main graph → prt_saved_resource */
    prt_map by_name; /* shared names → prt_saved_resource */
} prt_saved_model;

/* What to choose in a SavedModel. NULL means the default: the tag "serve", else the only meta
 * graph; the signature "serving_default", else the only one that does not begin with "__". */
typedef struct prt_saved_choice {
    const char *tags; /* separated by commas; "": the empty set */
    const char *signature;
} prt_saved_choice;

/*
 * Opens a SavedModel: a folder with saved_model.pb, or that file, beside which variables/ and
 * assets/ lie. Memory comes from the arena; prt_saved_model_close releases the files. Fails with
 * POPRT_E_NOT_FOUND, and a list of what there is, for a choice that the file does not have.
 */
poprt_status prt_saved_model_open(prt_arena *arena, const char *path,
    const prt_saved_choice *choice, prt_saved_model **out);

/* Opens a checkpoint of TensorFlow 1 with its graph. `path` is PREFIX, PREFIX.meta, PREFIX.index,
 * or a folder with one PREFIX.meta. */
poprt_status prt_saved_checkpoint_open(prt_arena *arena, const char *path, prt_saved_model **out);

/* Returns whether a folder has a meta graph and no other model: a folder of a checkpoint. */
bool prt_saved_is_checkpoint_folder(const char *path);

void prt_saved_model_close(prt_saved_model *model); /* NULL is allowed */

/*
 * Finds the captures of the model's functions, and orders the inputs and outputs of the signature
 * as its call does, else by name. `graph` is the model's GraphDef, and lives as long as the model.
 * A variable without contents is not an error here.
 */
poprt_status prt_saved_model_resolve(prt_saved_model *model, prt_tf_graph *graph);

/*
 * Finds the input or output (`ports`) of the signature that a caller names: by its key or the
 * tensor that it is, with or without ":0"; an input also by the name of the function's argument; an
 * output also as Identity, Identity_1 and so on, in the order of the call. NULL if there is none.
 * Fails with POPRT_E_ARG if the name has two meanings.
 */
poprt_status prt_saved_port_find(const prt_saved_model *model, prt_tf_graph *graph,
    const prt_saved_ports *ports, prt_str name, const prt_saved_port **out);

/* Returns the name that identifies a variable or table: container and shared name, or the name of
 * the node that makes its handle. `data` is NULL (failure recorded) without memory. */
prt_str prt_saved_resource_name(prt_arena *arena, const prt_tf_node *node);

/* Returns what a handle stands for; `node` makes the handle. Nodes that no function captures are
 * found by what the model does when it is restored and initialised, which is followed once. Fails
 * with POPRT_E_NOT_FOUND where the model has no contents for it. */
poprt_status prt_saved_resource_find(prt_saved_model *model, const prt_tf_node *node,
    const prt_saved_resource **out);

/* Reads the contents of a variable. `out` gets type and dims, and points to the elements, which
 * `blob` holds; the caller releases the blob. With `check`, the checksum is checked. */
poprt_status prt_saved_variable_read(prt_saved_model *model, const prt_saved_resource *variable,
    bool check, prt_tensor *out, prt_blob **blob);

/* Reads the keys and values of a table from the checkpoint or a text file (not from constants of
 * the graph) into the arena: two tensors of rank 1 and equal length. `key_type` and `value_type`
 * are the element types that the handle declares, for text files: string or int64. */
poprt_status prt_saved_table_read(prt_saved_model *model, const prt_saved_table *table,
    int32_t key_type, int32_t value_type, prt_tensor *keys, prt_tensor *values);

#endif
