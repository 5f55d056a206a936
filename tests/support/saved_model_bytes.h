/* SPDX-License-Identifier: MIT */
/*
 * saved_model_bytes.h — writes SavedModels and checkpoints into temporary folders for tests. Graphs
 * are text, see graphdef_text.h.
 */
#ifndef PRT_TESTS_SUPPORT_SAVED_MODEL_BYTES_H
#define PRT_TESTS_SUPPORT_SAVED_MODEL_BYTES_H

#include "support/bundle_bytes.h"
#include "support/graphdef_text.h"

/* Makes a folder for the files of a test; saved_remove removes it and everything in it. */
const char *saved_folder(void);
void saved_remove(const char *folder);

/* Writes a file below the folder, and the folders in between. */
void saved_write(const char *folder, const char *name, const void *data, size_t size);

/* A MetaGraphDef with a graph and tags, which are separated by commas. The functions below add to
 * it. */
msg *saved_meta(const char *graph, const char *tags);
/* A signature: "key=node:0, key=node:1" for its inputs and outputs. */
void saved_signature(msg *meta, const char *name, const char *inputs, const char *outputs);
/* The node that restores the variables. */
void saved_restore(msg *meta, const char *node);
/* The node that initialises tables, in a collection of this name. */
void saved_initialiser(msg *meta, const char *collection, const char *node);
/* A file of assets/, whose name the tensor holds. */
void saved_asset(msg *meta, const char *tensor, const char *file);

/* Writes saved_model.pb with one or two meta graphs; the second may be NULL. */
void saved_model(const char *folder, const msg *meta, const msg *second);

/* A tensor of a checkpoint: one of the lists; of rank 1, or 2 with columns, or 0 if scalar. */
typedef struct saved_tensor {
    const char *key;
    size_t count;
    const float *floats;
    const char *const *texts;
    const int64_t *ints;
    int64_t columns;
    bool scalar;
} saved_tensor;

/* Writes PREFIX.index and PREFIX.data-00000-of-00001. The keys ascend. */
void saved_checkpoint(const char *folder, const char *prefix, const saved_tensor *tensors,
    size_t count);

/* The file, the subject and the message of the last error. */
const char *full_error(void);

#endif
