/* SPDX-License-Identifier: MIT */
/*
 * onnx.h — reads and writes ONNX models.
 *
 * Weights of a model that was read are views into its file or its external data, which the module
 * keeps mapped. A view may be misaligned for its element type, so code that computes with a
 * constant copies it to aligned memory first. The reader itself copies small misaligned constants.
 */
#ifndef PRT_CONVERTER_ONNX_H
#define PRT_CONVERTER_ONNX_H

#include "ir/ir.h"

/* Bounds on the cost of reading a file. Zero stands for the default. */
typedef struct prt_onnx_limits {
    size_t arena;       /* bytes of graph structures; default 1 GiB */
    size_t owned;       /* bytes of constants that cannot be views; default 64 MiB + 16 times the
                         * file */
    size_t dense;       /* bytes of sparse tensors after they are made dense; default 256 MiB */
    size_t copy_below;  /* misaligned raw data up to this size is copied; default 16 KiB */
    uint64_t nodes;     /* number of nodes after functions are inlined; default 1,000,000 */
    uint32_t subgraphs; /* nesting depth of subgraphs; default 64 */
    uint32_t *conversion_counts; /* see prt_module */
    const prt_op_set *ops;       /* see prt_module */
} prt_onnx_limits;

/* Reads, upgrades and types a model. Operators that are not in the table are kept (def NULL). */
poprt_status prt_onnx_read_file(const prt_allocator *allocator, const char *path,
    const prt_onnx_limits *limits, prt_module **out);

/* Like prt_onnx_read_file, but reads from memory and retains `bytes`. `name` is the file's path, or
 * the name that errors give the model. External data is looked for in `folder`; NULL refuses it. */
poprt_status prt_onnx_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const char *folder, const prt_onnx_limits *limits, prt_module **out);

/*
 * Reads a file that holds one value: a TensorProto, SequenceProto or OptionalProto, as `kind`
 * (prt_value_kind) says. Aligned tensors are views into `bytes`; the others are copied to `arena`.
 */
poprt_status prt_onnx_read_value(prt_arena *arena, prt_blob *bytes, int32_t kind, prt_tensor *out);

/*
 * Rewrites the operators of ai.onnx to their variants at opset `target`, which the module then
 * imports, by running the rows of upgrade.def in reverse. All operators that cannot be rewritten
 * are named in one report; after such a failure the module is unusable. After success it can only
 * be written, so call this on a clone.
 */
poprt_status prt_onnx_downgrade(prt_module *module, int64_t target);

/*
 * Returns the opset of ai.onnx that prt_onnx_write gives a module: the one it imports, or a later
 * one if an operator made by a pass or by the reader needs it.
 */
int64_t prt_onnx_written_opset(const prt_module *module);

/* Returns whether the shapes in some branch contradict each other. Such a module is written through
 * prt_onnx_downgrade, even for its own opset, which hides the shapes from other readers. */
bool prt_onnx_has_contradiction(const prt_graph *graph);

/* Returns whether the reader replaced some node by several ops that prt_onnx_downgrade turns back
 * into the node. Such a module is written through prt_onnx_downgrade, even for its own opset, so
 * that the node keeps its domain. */
bool prt_onnx_has_replaced(const prt_graph *graph);

/*
 * Writes a module. Nodes that neither an upgrade nor a pass changed are written as the bytes they
 * were read from. The opset is raised to the one that the variants of the other nodes need. Fields
 * that the reader kept without understanding them are written too. A model of more than 2 GiB fails
 * with POPRT_E_LIMIT.
 */
poprt_status prt_onnx_write(const prt_module *module, poprt_write_fn sink, void *user);

/* Writes a module to a file, completely or not at all. If the model has more than `most` bytes (0:
 * 2 GiB), its constants of 1 KiB and more go to "<path>.data". */
poprt_status prt_onnx_write_file(const prt_module *module, const char *path, size_t most);

/*
 * Writes the file that a module was read from, byte by byte, except for node attributes whose names
 * begin with "__": these are written with the values that the module's nodes have now. Fails with
 * POPRT_E_UNSUPPORTED if the module was not read from a file, or has weights in other files.
 */
poprt_status prt_onnx_write_marks(const prt_module *module, const char *path);

#endif
