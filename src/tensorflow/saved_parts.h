/* SPDX-License-Identifier: MIT */
/* saved_parts.h — shared by the files of the SavedModel reader: saved_*.c. */
#ifndef PRT_TENSORFLOW_SAVED_PARTS_H
#define PRT_TENSORFLOW_SAVED_PARTS_H

#include "tensorflow/saved_model.h"

/* ---- saved_model.c */

/* Returns an empty model; NULL (failure recorded) without memory. */
prt_saved_model *prt_saved_model_new(prt_arena *arena);

/* Returns the folder of a file; NULL (failure recorded) without memory. */
const char *prt_saved_folder_of(prt_arena *arena, const char *path);

/* Sets graph_def from the meta graph. */
poprt_status prt_saved_find_graph(prt_saved_model *model);

/* ---- saved_objects.c: the object graph of TensorFlow 2 */

/* Finds the captures of the functions that nodes of the main graph call, and sets `by_node` for
 * those that are variables or tables with contents in the checkpoint. */
poprt_status prt_saved_objects_resolve(prt_saved_model *model, prt_tf_graph *graph);

/* ---- saved_effects.c: nodes that restore variables and initialise tables */

/* Follows the nodes that restore the variables of a model and those that initialise it, and sets
 * `by_name`. */
poprt_status prt_saved_effects_resolve(prt_saved_model *model, prt_tf_graph *graph);

#endif
