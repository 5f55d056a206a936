/* SPDX-License-Identifier: MIT */
/*
 * build.h — the sticky builder. Calls that edit the graph chain without checks: after the first
 * failure every call does nothing and returns NULL, and prt_build_status reports that failure once.
 */
#ifndef PRT_IR_BUILD_H
#define PRT_IR_BUILD_H

#include "ir/ir.h"

typedef struct prt_build {
    prt_graph *graph;
    prt_op *before;     /* new ops are inserted before this op; NULL: at the end */
    prt_str origin;     /* node name that errors about new ops report */
    const prt_op *like; /* new ops get the marks of this op (extra.h); NULL: no marks */
    uint32_t first;     /* lowest op id of the graph that counts as new */
    poprt_status status;
} prt_build;

prt_build prt_build_before(prt_op *op);
prt_build prt_build_at_end(prt_graph *graph);

/* Adds an op with one output, infers its type and returns output 0; returns NULL on failure.
 * `attrs` is a prt_<id>_attrs, which is copied, or NULL for the defaults. An absent input is
 * NULL. */
prt_value *prt_build_op(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in);
/* Like prt_build_op, for an op with several outputs. Returns the op. */
prt_op *prt_build_op_n(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in, uint32_t n_out);

prt_value *prt_build_unary(prt_build *b, uint32_t id, prt_value *x);
prt_value *prt_build_binary(prt_build *b, uint32_t id, prt_value *x, prt_value *y);

/* Constants: each call copies its data and returns a new unnamed constant, NULL on failure. */
prt_value *prt_build_tensor(prt_build *b, int32_t dtype, uint32_t rank, const int64_t *dims,
    const void *data);
prt_value *prt_build_i64s(prt_build *b, uint32_t count, const int64_t *values); /* rank 1 */
prt_value *prt_build_i64(prt_build *b, int64_t value);                          /* rank 0 */
/* rank 0, of any numeric type */
prt_value *prt_build_scalar(prt_build *b, int32_t dtype, double value);

/* Makes every use of `from` a use of `to`. If `to` has no name and `from` has one, the name moves
 * to `to`. */
void prt_build_replace_uses(prt_build *b, prt_value *from, prt_value *to);
/* Like prt_build_replace_uses; also erases ops left without users. If a new op defines `to`, it
 * gets the notes of the op of `from` and records the names of the erased nodes. */
void prt_build_replace(prt_build *b, prt_value *from, prt_value *to);

poprt_status prt_build_status(const prt_build *b);

#endif
