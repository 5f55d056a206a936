/* SPDX-License-Identifier: MIT */
/*
 * extra.h — attributes that the operator's row does not name (marks such as __ipu_number), the
 * model's metadata, and its list of inputs. All are kept as ONNX bytes, so every pass preserves
 * them and they are written unchanged.
 */
#ifndef PRT_IR_EXTRA_H
#define PRT_IR_EXTRA_H

#include "ir/ir.h"
#include "program/facts.h"

/* Sets a mark of a node; replaces a mark of the same name. */
poprt_status prt_op_set_mark_i64(prt_op *op, const char *name, int64_t value);
poprt_status prt_op_set_mark_f32(prt_op *op, const char *name, float value);
poprt_status prt_op_set_mark_text(prt_op *op, const char *name, const char *value);
poprt_status prt_op_set_mark_i64s(prt_op *op, const char *name, prt_i64s values);
poprt_status prt_op_set_mark_f32s(prt_op *op, const char *name, prt_f32s values);
poprt_status prt_op_set_mark_texts(prt_op *op, const char *name, prt_strs values);
/* Removes a mark if the node has it. */
poprt_status prt_op_remove_mark(prt_op *op, const char *name);

/* Reads a mark. Returns false when it is absent or of another kind; `out` is then unchanged. */
bool prt_op_mark_i64(const prt_op *op, const char *name, int64_t *out);
bool prt_op_mark_f32(const prt_op *op, const char *name, float *out);
bool prt_op_mark_text(const prt_op *op, const char *name, prt_str *out);

/* Read a mark that is a list. The list is allocated in `arena`; its texts are those of the node.
 * Return false when the mark is absent or of another kind, or without memory. */
bool prt_op_mark_i64s(const prt_op *op, const char *name, prt_arena *arena, prt_i64s *out);
bool prt_op_mark_f32s(const prt_op *op, const char *name, prt_arena *arena, prt_f32s *out);
bool prt_op_mark_texts(const prt_op *op, const char *name, prt_arena *arena, prt_strs *out);

/* Iterates over the names of the attributes kept as bytes. *at is NULL at first; returns false
 * after the last. */
bool prt_op_next_extra(const prt_op *op, const prt_raw **at, prt_str *name);

/* Copies the marks of a node to a node that replaces it or is part of its replacement. Marks that
 * `to` already has stay. */
poprt_status prt_op_copy_marks(prt_op *to, const prt_op *from);
/* Copies the other ONNX fields of a node (doc string, metadata_props) to the node that replaces it.
 * If `to` has any such field, it keeps its own. */
poprt_status prt_op_copy_notes(prt_op *to, const prt_op *from);

/* Returns the notes that tell where a node comes from (location.h): the entries of metadata_props
 * "pkg.torch.onnx.stack_trace" and "namespace", and the doc string. Absent ones are "". */
void prt_op_notes(const prt_op *op, prt_str *stack, prt_str *doc, prt_str *scope);

/* Removes the constants of the main graph from the model's list of inputs. Returns whether the list
 * contained any. */
bool prt_graph_unlist_constants(prt_graph *graph);

/* metadata_props of the model. The getter returns false when the key is absent. */
poprt_status prt_module_set_metadata(prt_module *module, const char *key, prt_str value);
bool prt_module_metadata(const prt_module *module, const char *key, prt_str *out);
void prt_module_remove_metadata(prt_module *module, const char *key);
/* States the program that makes a new model: fields of ModelProto. */
poprt_status prt_module_set_producer(prt_module *module, const char *name, const char *version);
/* Facts that the model's file states: producer, version, domain, opset, metadata. The module owns
 * the strings; the list is allocated in `arena`. */
poprt_status prt_module_facts(const prt_module *module, prt_arena *arena, prt_facts *out);
/* Iterates over the entries. *at is NULL at first; returns false after the last. */
bool prt_module_next_metadata(const prt_module *module, const prt_raw **at, prt_str *key,
    prt_str *value);

#endif
