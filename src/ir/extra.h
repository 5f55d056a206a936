/* SPDX-License-Identifier: MIT */
/*
 * extra.h — attributes that no operator's row names (marks for scheduling such as __ipu_number),
 * the model's metadata, and what it says of its inputs. All are kept as their ONNX bytes, so they
 * survive every pass and are written as they are.
 */
#ifndef PRT_IR_EXTRA_H
#define PRT_IR_EXTRA_H

#include "ir/ir.h"
#include "program/facts.h"

/* Sets a mark of a node, in place of one of the same name. */
poprt_status prt_op_set_mark_i64(prt_op *op, const char *name, int64_t value);
poprt_status prt_op_set_mark_f32(prt_op *op, const char *name, float value);
poprt_status prt_op_set_mark_text(prt_op *op, const char *name, const char *value);

/* Reads one; false when it is absent or of another kind (`out` untouched). */
bool prt_op_mark_i64(const prt_op *op, const char *name, int64_t *out);
bool prt_op_mark_f32(const prt_op *op, const char *name, float *out);
bool prt_op_mark_text(const prt_op *op, const char *name, prt_str *out);

/* Names of the attributes that are kept as bytes: *at is NULL at first; false after the last. */
bool prt_op_next_extra(const prt_op *op, const prt_raw **at, prt_str *name);

/* Copies the marks of a node to one that takes its place or helps to; marks that are there stay. */
poprt_status prt_op_copy_marks(prt_op *to, const prt_op *from);
/* Copies what else a node says of itself, its doc string and metadata_props, to the node that
 * takes its place. A node that has any such field keeps its own. */
poprt_status prt_op_copy_notes(prt_op *to, const prt_op *from);

/* The constants of the main graph that the model lists among its inputs too are listed no longer.
 * Tells whether there were any. */
bool prt_graph_unlist_constants(prt_graph *graph);

/* metadata_props of the model; `*out` has no data when there is no such key. */
poprt_status prt_module_set_metadata(prt_module *module, const char *key, prt_str value);
bool prt_module_metadata(const prt_module *module, const char *key, prt_str *out);
void prt_module_remove_metadata(prt_module *module, const char *key);
/* What the model's file says of itself. Texts are the module's, the list is in `arena`. */
poprt_status prt_module_facts(const prt_module *module, prt_arena *arena, prt_facts *out);
/* Entry by entry: *at is NULL at first; false after the last. */
bool prt_module_next_metadata(const prt_module *module, const prt_raw **at, prt_str *key,
    prt_str *value);

#endif
