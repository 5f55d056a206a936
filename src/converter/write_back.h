/* SPDX-License-Identifier: MIT */
/*
 * write_back.h — restores nodes that the reader replaced by several ops, before a file is written.
 * For example com.microsoft.GatherND with int32 indices is computed as Cast and GatherND, and
 * written as the original node. The rows REASSEMBLE of upgrade.def list the operators.
 *
 * A hook examines the op in its present state, not as the reader made it. It accepts all operands
 * with the same meaning for the node, because passes may have folded or merged the ops around it.
 */
#ifndef PRT_CONVERTER_WRITE_BACK_H
#define PRT_CONVERTER_WRITE_BACK_H

#include "converter/source_node.h"
#include "ir/build.h"

enum { PRT_WRITE_BACK_OUTPUTS = 3 };

/* The result of a hook. */
typedef struct prt_write_back {
    prt_build b; /* inserts ops before the op */
    uint32_t n_in, n_out;
    prt_value *in[PRT_SOURCE_NODE_INPUTS];
    prt_value *out[PRT_WRITE_BACK_OUTPUTS]; /* values that the node's outputs replace */
} prt_write_back;

/*
 * Replaces an op by the node it was read from, if a row REASSEMBLE applies. If the node includes a
 * Transpose after its op, `op` is that Transpose and the op before it is replaced too. Sets `*done`
 * if a node was restored; then the op is erased, and ops that only it read are left without
 * readers.
 */
poprt_status prt_write_back_op(prt_op *op, bool *done);

/* Declares the functions of the rows. */
#define REASSEMBLE(domain, name, types, back) bool back(prt_write_back *w, prt_op *op);
#include "converter/upgrade.def"

#endif
