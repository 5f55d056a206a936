/* SPDX-License-Identifier: MIT */
/* rows.h — rows_as_matrix in two steps: which operators, and the edit. */
#ifndef PRT_PASS_FUSE_ROWS_H
#define PRT_PASS_FUSE_ROWS_H

#include "pass/engine/match.h"

typedef struct prt_rows {
    prt_pass *p;
    prt_graph *graph;
    uint32_t n_ops;   /* ops of the graph before the edit; lists below are by op id */
    bool *member;     /* works on matrices from now on */
    prt_op **product; /* of an Add of a bias: the MatMul that becomes a Gemm with it */
} prt_rows;

/* Input `slot` of a member is read by rows: its leading dims are those of the result. */
bool prt_rows_reads(const prt_op *op, uint32_t slot);

/* Reshape, Flatten, Squeeze or Unsqueeze between shapes that are known. */
bool prt_rows_is_view(const prt_op *op);

/* Somebody reads the value as it is, who is no member and no view of it. */
bool prt_rows_is_bound(const prt_rows *r, const prt_value *v);

/* Finds the members; *found when there are any. */
poprt_status prt_rows_find(prt_rows *r, bool *found);

/* Puts operators on matrices in the members' places. */
poprt_status prt_rows_apply(prt_rows *r);

#endif
