/* SPDX-License-Identifier: MIT */
/*
 * build.h — the sticky builder: graph edits chain without checks; the first failure turns later
 * calls into no-ops (they return NULL) and is reported once by prt_build_status.
 */
#ifndef PRT_IR_BUILD_H
#define PRT_IR_BUILD_H

#include "ir/ir.h"

typedef struct prt_build {
    prt_graph *graph;
    prt_op *before;     /* new ops go before this one; NULL: at the end */
    prt_str origin;     /* node name that new ops report in errors */
    const prt_op *like; /* new ops get its marks (extra.h); NULL: none */
    uint32_t first;     /* ops of the graph with this id or a higher one are new */
    poprt_status status;
} prt_build;

prt_build prt_build_before(prt_op *op);
prt_build prt_build_at_end(prt_graph *graph);

/* Adds an op with one output and infers its type; returns output 0. `attrs` (may be NULL) is a
 * prt_<id>_attrs that is copied. Absent inputs are NULL values. */
prt_value *prt_build_op(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in);
/* The same for several outputs; returns the op. */
prt_op *prt_build_op_n(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in, uint32_t n_out);

prt_value *prt_build_unary(prt_build *b, uint32_t id, prt_value *x);
prt_value *prt_build_binary(prt_build *b, uint32_t id, prt_value *x, prt_value *y);

/* Constants. */
prt_value *prt_build_tensor(prt_build *b, int32_t dtype, uint32_t rank, const int64_t *dims,
    const void *data);
prt_value *prt_build_i64s(prt_build *b, uint32_t count, const int64_t *values); /* rank 1 */
prt_value *prt_build_i64(prt_build *b, int64_t value);                          /* scalar */
prt_value *prt_build_scalar(prt_build *b, int32_t dtype, double value); /* of any numeric type */

/* Every use of `from` becomes a use of `to`; `to` takes over the name where `from` had one that
 * an unnamed `to` can carry. */
void prt_build_hand_over(prt_build *b, prt_value *from, prt_value *to);
/* The same, and ops left without users are erased. When `to` is made by a new op, that one
 * remembers whom it stands for. */
void prt_build_replace(prt_build *b, prt_value *from, prt_value *to);

poprt_status prt_build_status(const prt_build *b);

#endif
