/* SPDX-License-Identifier: MIT */
/*
 * broadcast.h — element-wise kernels over broadcast inputs: an iterator over runs, and complete
 * kernels for operators that apply one function to one or two elements.
 *
 * Adjacent axes that all inputs walk alike are merged first, so tensors of the same shape form one
 * row. In a run every input is either dense (step 1) or one repeated element (step 0).
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
    PRT_ROWS_MAX = 6, /* maximum number of inputs */
    PRT_RUN = 256     /* maximum number of elements in a run, unless `most` is changed */
};

typedef struct prt_rows {
    uint32_t n_in;
    size_t count, to;
    size_t from[PRT_ROWS_MAX], step[PRT_ROWS_MAX];
    size_t most;  /* maximum length of a run; may be changed after prt_rows_init */
    size_t total; /* number of output elements */
    /* private */
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK], at[PRT_MAX_RANK];
    size_t stride[PRT_ROWS_MAX][PRT_MAX_RANK]; /* in elements, 0 on broadcast axes */
    size_t next;
} prt_rows;

/* Returns the length of a run without the limit `most`. */
static inline size_t prt_rows_longest(const prt_rows *r)
{
    return (size_t)r->dims[r->rank - 1];
}

/* Starts an iteration over `out`. Infer has checked that the inputs broadcast to it; a NULL
 * input counts as a scalar. */
void prt_rows_init(prt_rows *r, const prt_tensor *out, uint32_t n_in, const prt_tensor *const *in);
bool prt_rows_next(prt_rows *r);
/* Restricts the iteration to output elements [first, end), both within `total`, for one work
 * item. */
void prt_rows_part(prt_rows *r, size_t first, size_t end);

/* Element functions, applied to whole runs. The integer functions return false for a division by
 * zero. NULL stands for a type that the operator's row does not allow. */
typedef struct prt_binary_fns {
    void (*f64)(size_t n, const double *a, const double *b, double *y);
    bool (*i64)(size_t n, const int64_t *a, const int64_t *b, int64_t *y);
    bool (*u64)(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y);
} prt_binary_fns;

/* Output 0 = f(input 0, input 1), inputs of one type; the output type may differ (bool). */
poprt_status prt_eval_binary(prt_eval *c, const prt_binary_fns *f);

/* Output 0 = f(input 0) per element, in double; `p` are the parameters of f. */
poprt_status prt_eval_map(prt_eval *c, double (*f)(double x, const double *p), const double *p);

/* Gives output 0 the shape of input 0 and the element type preset by the row; no contents. */
poprt_status prt_infer_unary(prt_infer *c);
/* Gives output 0 the broadcast shape of all inputs and the preset element type; no contents. */
poprt_status prt_infer_nary(prt_infer *c);

#endif
