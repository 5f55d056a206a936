/* SPDX-License-Identifier: MIT */
/*
 * source_node.h — nodes that the reader turned into another operator in place and that are written
 * in their original form. For example com.microsoft.CausalConvWithState is computed as the operator
 * of ai.onnx, which needs opset 27, but the written model does not need that opset. The rows
 * WRITE_AS_READ of upgrade.def list them. The rows REASSEMBLE list nodes that became several ops:
 * write_back.h.
 */
#ifndef PRT_CONVERTER_SOURCE_NODE_H
#define PRT_CONVERTER_SOURCE_NODE_H

#include "converter/upgrade.h"

enum { PRT_SOURCE_NODE_INPUTS = 16 };

struct prt_write_back;

/* The state of a node before it is upgraded. */
typedef struct prt_saved_node {
    const struct prt_source_node_row *row; /* NULL: the node is not kept */
    const prt_op *op;
    prt_str domain, name;
    uint32_t n_in;
    const prt_value *in[PRT_SOURCE_NODE_INPUTS];
} prt_saved_node;

/* Finds the operands of the node that an op was read from; false if the op no longer has such
 * operands. */
typedef bool (*prt_reassemble_fn)(struct prt_write_back *w, prt_op *op);

/* A row WRITE_AS_READ or REASSEMBLE of upgrade.def. */
typedef struct prt_source_node_row {
    const char *domain, *name;
    uint64_t types;
    prt_reassemble_fn back; /* NULL for WRITE_AS_READ */
} prt_source_node_row;

/* Records the operator and the inputs of a node. */
prt_saved_node prt_source_node_save(const prt_upgrade *u);

/* Records in the op the node it was read from, if the upgrade changed neither the node's inputs
 * nor its number of outputs, or if the row is a REASSEMBLE. Call it after the node's attributes
 * were taken. */
poprt_status prt_source_node_record(prt_upgrade *u, const prt_saved_node *before);

/* Returns whether the op may be written as the node it was read from. If the domain has a history
 * of schemas, that also depends on the version that the file imports: see
 * prt_source_node_is_current_at. */
bool prt_source_node_is_current(const prt_op *op);

/* Like prt_source_node_is_current, for a file that imports `version` of the node's domain. */
bool prt_source_node_is_current_at(const prt_op *op, int64_t version);

/* Returns the hook of the row REASSEMBLE that applies to the op; NULL for other ops, and for an op
 * whose attributes or types a pass changed. */
prt_reassemble_fn prt_source_node_reassemble(const prt_op *op);

#endif
