/* SPDX-License-Identifier: MIT */
/* rows.h — rows_as_matrix in two steps: choosing the operators, and the edit. */
#ifndef PRT_PASS_FUSE_ROWS_H
#define PRT_PASS_FUSE_ROWS_H

#include "pass/engine/match.h"

typedef struct prt_rows {
    prt_pass *p;
    prt_graph *graph;
    uint32_t n_ops;   /* number of ops before the edit; the arrays below are indexed by op id */
    bool *member;     /* the op will work on matrices */
    prt_op **product; /* for an Add of a bias: the MatMul that is merged with it into a Gemm */
} prt_rows;

/* Returns whether a member reads input `slot` by rows: its leading dims are those of the result. */
bool prt_rows_reads(const prt_op *op, uint32_t slot);

/* Returns whether the op is a Reshape, Flatten, Squeeze or Unsqueeze between known shapes. */
bool prt_rows_is_view(const prt_op *op);

/* Returns whether a reader that is neither a member nor a view of the value reads it. */
bool prt_rows_is_bound(const prt_rows *r, const prt_value *v);

/* Finds the members; *found tells whether there are any. */
poprt_status prt_rows_find(prt_rows *r, bool *found);

/* Replaces the members by operators on matrices. */
poprt_status prt_rows_apply(prt_rows *r);

#endif
