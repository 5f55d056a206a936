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

/* A constant of the main graph whose bytes are not part of the model's file. */
typedef struct prt_onnx_given {
    prt_str name;
    int32_t dtype;
    uint32_t rank;
    const int64_t *dims;
    prt_blob *blob;
    prt_str location; /* data file that has the bytes already, see prt_stored; empty: no file */
    uint64_t offset;
    prt_initializer initializer; /* whether it is an initializer of the model */
} prt_onnx_given;

/* Like prt_onnx_read_bytes, for a model without its initializers, which `given` has. Retains their
 * blobs. */
poprt_status prt_onnx_read_given(const prt_allocator *allocator, prt_blob *bytes,
    const prt_onnx_limits *limits, const prt_onnx_given *given, size_t count, prt_module **out);

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

/* The constants of a main graph that prt_onnx_write_skeleton leaves out, with their names in the
 * file. */
typedef PRT_VEC(prt_onnx_given) prt_onnx_given_list;

/* Like prt_onnx_write, without the constants of the main graph, which it appends to `out`. The list
 * is allocated in `arena`; it borrows the blobs and types of the module. */
poprt_status prt_onnx_write_skeleton(const prt_module *module, prt_arena *arena,
    poprt_write_fn sink, void *user, prt_onnx_given_list *out);

/* Returns the IR version that ONNX pairs with an opset of ai.onnx: the one current when the opset
 * was released. */
int64_t prt_onnx_ir_of_opset(int64_t opset);

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
