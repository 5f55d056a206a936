/* SPDX-License-Identifier: MIT */
/*
 * argmax.c — ArgMax and ArgMin of float32. Along the last axis: the extreme of a row, then a search
 * for it. Along other axes: COLUMNS columns at a time, row by row.
 */
#include <math.h>

#include "fast/fast.h"
#include "fast/parallel.h"

enum {
    COLUMNS = 256 /* columns of an item */
};

typedef struct argmax_work {
    const prt_kern *kern;
    const float *x;
    int64_t *y;
    size_t rows, n, inner, pieces; /* pieces of the rows, or of `inner` */
    bool least, last;
} argmax_work;

/* Returns the first or last index of `r` in a row. If `r` is NaN, any NaN matches. */
static size_t find(const float *x, size_t n, float r, bool last)
{
    const bool nan = isnan(r);
    for (size_t i = 0; i < n; i++) {
        const size_t at = last ? n - 1 - i : i;
        if (nan ? isnan(x[at]) : x[at] == r)
            return at;
    }
    return 0;
}

static void run_rows(const void *user, size_t item, float *scratch)
{
    const argmax_work *p = user;
    const size_t end = prt_parallel_piece_begin(p->rows, p->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(p->rows, p->pieces, item); i < end; i++) {
        const float *x = p->x + i * p->n;
        const float r = p->kern->rows.extreme(p->least ? PRT_BINARY_min : PRT_BINARY_max, p->n, x);
        p->y[i] = (int64_t)find(x, p->n, r, p->last);
    }
}

/* Finds the extremes of the columns. Then overwrites the index of each column at every row that has
 * the extreme, in an order in which the wanted row comes last. */
static void run_columns(const void *user, size_t item, float *scratch)
{
    const argmax_work *p = user;
    const size_t outer = item / p->pieces, first = item % p->pieces * COLUMNS, inner = p->inner;
    const size_t m = inner - first < COLUMNS ? inner - first : COLUMNS;
    const float *x = p->x + outer * p->n * inner + first;
    const int kind = p->least ? PRT_BINARY_min : PRT_BINARY_max;
    float *best = scratch;
    int32_t *at = (int32_t *)(void *)(scratch + COLUMNS);
    uint8_t *same = (uint8_t *)(scratch + 2 * COLUMNS);
    memcpy(best, x, m * sizeof(float));
    for (size_t k = 1; k < p->n; k++)
        p->kern->rows.binary(kind, m, best, 1, x + k * inner, 1, best);
    memset(at, 0, m * sizeof(*at));
    for (size_t i = 0; i < p->n; i++) {
        const int32_t k = (int32_t)(p->last ? i : p->n - 1 - i);
        p->kern->integer_logic.compare(PRT_COMPARE_equal, PRT_KERN_TYPE_f32, m, best, 1,
            x + (size_t)k * inner, 1, same);
        p->kern->integer_logic.select(sizeof(k), m, same, 1, &k, 0, at, 1, at);
    }
    for (size_t i = 0; i < m; i++) /* NaN equals nothing */
        for (size_t k = 0; isnan(best[i]) && k < p->n; k++) {
            const size_t row = p->last ? k : p->n - 1 - k;
            if (isnan(x[row * inner + i]))
                at[i] = (int32_t)row;
        }
    p->kern->integer_logic.cast(PRT_KERN_TYPE_i32, PRT_KERN_TYPE_i64, m, at,
        p->y + outer * inner + first);
}

poprt_status prt_fast_argmax(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_argmax_attrs *a = c->attrs; /* ArgMin has the same attributes */
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c) || prt_tensor_count(x) == 0 || x->rank == 0)
        return prt_fast_use_reference(done);
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    argmax_work p = { .kern = k,
        .x = x->data,
        .y = c->out[0]->data,
        .rows = prt_dims_product(x->dims, 0, axis),
        .n = (size_t)x->dims[axis],
        .inner = prt_dims_product(x->dims, axis + 1, x->rank),
        .least = c->def->id == PRT_OP_argmin,
        .last = a->select_last_index != 0 };
    if (p.inner > 1 && p.n > INT32_MAX)
        return prt_fast_use_reference(done);
    if (p.inner > 1) {
        p.pieces = (p.inner + COLUMNS - 1) / COLUMNS;
        return prt_parallel_for(c, p.rows * p.pieces, 3 * COLUMNS, run_columns, &p);
    }
    const size_t most = prt_parallel_balanced_pieces(c, p.rows * p.n, 1 << 15);
    p.pieces = p.rows < most ? p.rows : most;
    return prt_parallel_for(c, p.pieces, 0, run_rows, &p);
}
