/* SPDX-License-Identifier: MIT */
/*
 * read_as.h — nodes that the reader turned into other operators in place, and that are written as
 * they were: com.microsoft.CausalConvWithState is computed as the operator of ai.onnx, which needs
 * opset 27, but the model has no need of that opset. The rows KEEP of upgrade.def list them. The
 * rows BACK list nodes that became several ops: write_back.h.
 */
#ifndef PRT_CONVERTER_READ_AS_H
#define PRT_CONVERTER_READ_AS_H

#include "converter/upgrade.h"

enum { PRT_READ_AS_INPUTS = 16 };

struct prt_write_back;

/* A node before it is upgraded. */
typedef struct prt_read_before {
    const struct prt_kept *row; /* NULL: the node is not kept */
    const prt_op *op;
    prt_str domain, name;
    uint32_t n_in;
    const prt_value *in[PRT_READ_AS_INPUTS];
} prt_read_before;

/* Finds the operands of the node that an op was read as; false where the op has none such now. */
typedef bool (*prt_back_fn)(struct prt_write_back *w, prt_op *op);

/* A row KEEP or BACK of upgrade.def. */
typedef struct prt_kept {
    const char *domain, *name;
    uint64_t types;
    prt_back_fn back; /* NULL for KEEP */
} prt_kept;

/* Notes the operator and the inputs of a node. */
prt_read_before prt_read_as_before(const prt_upgrade *u);

/* To be called when the node's attributes were taken: notes in the op the node it was read as,
 * where the upgrade changed neither its inputs nor how many outputs it has, or where the row is a
 * BACK. */
poprt_status prt_read_as_note(prt_upgrade *u, const prt_read_before *before);

/* May the op be written as the node it was read as? Where the domain has a history of schemas, that
 * also depends on the version that the file imports: see prt_read_as_at. */
bool prt_read_as_holds(const prt_op *op);

/* The same in a file that imports `version` of the node's domain. */
bool prt_read_as_at(const prt_op *op, int64_t version);

/* The hook of the row BACK by which the op may be written as its node; NULL for other ops, and for
 * one whose attributes or types a pass changed. */
prt_back_fn prt_read_as_back(const prt_op *op);

#endif
