/* SPDX-License-Identifier: MIT */
/*
 * onnx.h — ONNX in and out.
 *
 * Weights of a model that is read are views into its file (or its external data), which the module
 * keeps mapped. Such a view may be misaligned for its element type: whoever computes with a
 * constant copies it to aligned memory first. Small ones are copied here already.
 */
#ifndef PRT_CONVERTER_ONNX_H
#define PRT_CONVERTER_ONNX_H

#include "ir/ir.h"

/* Bounds on what a file may cost. Zero stands for the default. */
typedef struct prt_onnx_limits {
    size_t arena;          /* bytes of graph structures: 1 GiB */
    size_t owned;          /* bytes of constants that cannot be views: 64 MiB + 16 times the file */
    size_t dense;          /* bytes that sparse tensors may become: 256 MiB */
    size_t copy_below;     /* misaligned raw data up to this size is copied: 16 KiB */
    uint64_t nodes;        /* after functions are inlined: 1,000,000 */
    uint32_t subgraphs;    /* nesting: 64 */
    uint32_t *form_runs;   /* see prt_module */
    const prt_op_set *ops; /* likewise */
} prt_onnx_limits;

/* Reads, upgrades and types a model. Operators that are not in the table are kept (def NULL). */
poprt_status prt_onnx_read_file(const prt_allocator *allocator, const char *path,
    const prt_onnx_limits *limits, prt_module **out);

/* The same from memory; retains `bytes`. `name` is the file's path, or what errors call it.
 * `folder` is where external data is looked for; NULL refuses it. */
poprt_status prt_onnx_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const char *folder, const prt_onnx_limits *limits, prt_module **out);

/*
 * A file holding one value: a TensorProto, SequenceProto or OptionalProto by `kind`
 * (prt_value_kind). Tensors are views into `bytes` where they are aligned, else copies in `arena`.
 */
poprt_status prt_onnx_read_value(prt_arena *arena, prt_blob *bytes, int32_t kind, prt_tensor *out);

/*
 * Brings the ops of ai.onnx to the forms of opset `target`, which the module then imports: the rows
 * of upgrade.def in reverse. All that has no way there is named in one report, and then the module
 * is of no use any more. Afterwards it can be written and nothing else: work on a clone.
 */
poprt_status prt_onnx_downgrade(prt_module *module, int64_t target);

/*
 * The opset of ai.onnx that prt_onnx_write gives a module: the one it imports, or a later one where
 * an operator that a pass or the reader made asks for it.
 */
int64_t prt_onnx_written_opset(const prt_module *module);

/* Is there a branch in which shapes contradict each other? Such a module is written by way of
 * prt_onnx_downgrade, also for its own opset, which hides its shapes from other readers. */
bool prt_onnx_has_broken(const prt_graph *graph);

/* Is there a node that the reader replaced by several ops, and that prt_onnx_downgrade puts back?
 * Such a module is written by way of it for the same reason: the node keeps its domain. */
bool prt_onnx_has_replaced(const prt_graph *graph);

/*
 * Writes a module. Nodes that neither an upgrade nor a pass changed are written as the bytes they
 * were read from; the opset grows to what the forms of the others ask for.
 * What reading kept and did not understand comes back. More than 2 GiB is an error.
 */
poprt_status prt_onnx_write(const prt_module *module, poprt_write_fn sink, void *user);

/* The same to a file, complete or not at all. A model of more than `most` bytes (0: 2 GiB) has its
 * constants from 1 KiB on in "<path>.data". */
poprt_status prt_onnx_write_file(const prt_module *module, const char *path, size_t most);

/*
 * Writes the file that a module was read from, byte by byte, but for attributes of its nodes whose
 * names begin with "__": these are as the module's nodes have them now. POPRT_E_UNSUPPORTED where
 * the module was not read, or has weights in other files.
 */
poprt_status prt_onnx_write_marks(const prt_module *module, const char *path);

#endif
