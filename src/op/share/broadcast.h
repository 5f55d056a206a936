/* SPDX-License-Identifier: MIT */
/*
 * broadcast.h — element-wise kernels over broadcast inputs: an iterator that hands out runs, and
 * whole kernels for operators that are one function of one or two elements.
 *
 * Axes that all inputs walk alike are merged first, so tensors of the same shape are one row. In a
 * run every input is either dense (step 1) or one repeated element (step 0).
 *
 *     prt_rows r;
 *     prt_rows_init(&r, out, 2, c->in);
 *     while (prt_rows_next(&r))
 *         … r.count elements: output from r.to on, input k from r.from[k] on with r.step[k] …
 */
#ifndef PRT_OP_SHARE_BROADCAST_H
#define PRT_OP_SHARE_BROADCAST_H

#include "op/share/elements.h"

enum {
    PRT_ROWS_MAX = 6, /* inputs */
    PRT_RUN = 256     /* elements in a run at most, unless `most` is set */
};

typedef struct prt_rows {
    uint32_t n_in;
    size_t count, to;
    size_t from[PRT_ROWS_MAX], step[PRT_ROWS_MAX];
    size_t most;  /* may be changed after prt_rows_init */
    size_t total; /* elements of the output */
    /* private */
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK], at[PRT_MAX_RANK];
    size_t stride[PRT_ROWS_MAX][PRT_MAX_RANK]; /* in elements, 0 on broadcast axes */
    size_t next;
} prt_rows;

/* Elements of a run, were there no bound. */
static inline size_t prt_rows_longest(const prt_rows *r)
{
    return (size_t)r->dims[r->rank - 1];
}

/* Inputs must broadcast to `out`, as infer has checked; a NULL input counts as a scalar. */
void prt_rows_init(prt_rows *r, const prt_tensor *out, uint32_t n_in, const prt_tensor *const *in);
bool prt_rows_next(prt_rows *r);
/* Only output elements [first, end), both within `total`: for a part of the work. */
void prt_rows_part(prt_rows *r, size_t first, size_t end);

/* Scalar functions, run by run. Integer ones return false for a division by zero. A function that
 * is NULL stands for a type the operator's row does not allow. */
typedef struct prt_binary_fns {
    void (*f64)(size_t n, const double *a, const double *b, double *y);
    bool (*i64)(size_t n, const int64_t *a, const int64_t *b, int64_t *y);
    bool (*u64)(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y);
} prt_binary_fns;

/* Output 0 = f(input 0, input 1), both of one type; the output may be of another (bool). */
poprt_status prt_eval_binary(prt_eval *c, const prt_binary_fns *f);

/* Output 0 = f(input 0) element by element, in double; `p` are the parameters of f. */
poprt_status prt_eval_map(prt_eval *c, double (*f)(double x, const double *p), const double *p);

/* Output 0 has input 0's shape and the element type preset by the row. No contents. */
poprt_status prt_infer_unary(prt_infer *c);
/* Output 0 has the shape all inputs broadcast to and the preset element type. No contents. */
poprt_status prt_infer_nary(prt_infer *c);

#endif
