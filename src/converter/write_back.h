/* SPDX-License-Identifier: MIT */
/*
 * write_back.h — nodes that the reader replaced by several ops, put back before a file is written:
 * com.microsoft.GatherND with int32 indices is computed as Cast and GatherND, and written as it
 * was. The rows BACK of upgrade.def list the operators.
 *
 * A hook looks at the op as it is now, not as the reader made it, and accepts all operands that
 * mean the same in the node: passes may have folded or merged the ops around it.
 */
#ifndef PRT_CONVERTER_WRITE_BACK_H
#define PRT_CONVERTER_WRITE_BACK_H

#include "converter/read_as.h"
#include "ir/build.h"

enum { PRT_WRITE_BACK_OUTPUTS = 3 };

/* What a hook fills in. */
typedef struct prt_write_back {
    prt_build b; /* puts ops before the op */
    uint32_t n_in, n_out;
    prt_value *in[PRT_READ_AS_INPUTS];
    prt_value *out[PRT_WRITE_BACK_OUTPUTS]; /* values that the node's outputs replace */
} prt_write_back;

/*
 * Replaces an op by the node it was read as, where a row BACK says how. For a Transpose behind such
 * an op, which its node comprises, that is the op before it. `*done` says whether a node was put
 * back; then the op is erased, and ops that only it read are left without readers.
 */
poprt_status prt_write_back_op(prt_op *op, bool *done);

/* The functions of the rows. */
#define FORM(domain, name, from, to, up, down)
#define UP(domain, name, from, to, up)
#define DOWN(domain, name, from, to, down)
#define MEANING(domain, name, since)
#define KEEP(domain, name, types)
#define BACK(domain, name, types, back) bool back(prt_write_back *w, prt_op *op);
#include "converter/upgrade.def"
#undef FORM
#undef UP
#undef DOWN
#undef MEANING
#undef KEEP
#undef BACK

#endif
