/* SPDX-License-Identifier: MIT */
/* softmax.c — Softmax and LogSoftmax of float32: over rows, or over columns, COLUMNS at a time. */
#include <math.h>

#include "fast/elementwise/rows.h"
#include "fast/parallel.h"

static void softmax_row(const prt_fast_rows *r, size_t i)
{
    r->kern->rows.softmax(r->n, r->x + i * r->n, r->y + i * r->n);
}

static void log_softmax_row(const prt_fast_rows *r, size_t i)
{
    r->kern->rows.log_softmax(r->n, r->x + i * r->n, r->y + i * r->n);
}

/* ---- an axis that is not the last: `n` elements, `inner` apart, form a column ---- */

enum { COLUMNS = 256 }; /* columns of an item */

typedef struct columns {
    const prt_kern_rows *kern;
    size_t n, inner, chunks; /* parts of `inner` */
    const float *x;
    float *y;
    bool logarithm;
} columns;

static void run_columns(const void *user, size_t item, float *scratch)
{
    const columns *s = user;
    const size_t first = item % s->chunks * COLUMNS, inner = s->inner;
    const size_t m = inner - first < COLUMNS ? inner - first : COLUMNS;
    const float *x = s->x + item / s->chunks * s->n * inner + first;
    float *y = s->y + item / s->chunks * s->n * inner + first;
    float *most = scratch, *factors = scratch + COLUMNS;
    double sums[COLUMNS] = { 0 };
    memcpy(most, x, m * sizeof(float));
    for (size_t i = 1; i < s->n; i++)
        s->kern->binary(PRT_BINARY_max, m, most, 1, x + i * inner, 1, most);
    for (size_t i = 0; i < s->n; i++) {
        float *row = y + i * inner, *e = s->logarithm ? factors : row;
        s->kern->binary(PRT_BINARY_sub, m, x + i * inner, 1, most, 1, row);
        s->kern->unary(PRT_UNARY_exp, m, row, e);
        s->kern->add_to(m, e, false, sums);
    }
    for (size_t j = 0; j < m; j++)
        factors[j] = (float)(s->logarithm ? log(sums[j]) : 1.0 / sums[j]);
    for (size_t i = 0; i < s->n; i++)
        s->kern->binary(s->logarithm ? PRT_BINARY_sub : PRT_BINARY_mul, m, y + i * inner, 1,
            factors, 1, y + i * inner);
}

static poprt_status run(prt_eval *c, const prt_kern *k, int64_t axis, bool logarithm, bool *done)
{
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has(c, 0) || !prt_fast_has_only_output(c) || x->rank == 0)
        return prt_fast_use_reference(done);
    const uint32_t at = (uint32_t)(axis < 0 ? axis + x->rank : axis);
    const size_t n = (size_t)x->dims[at], inner = prt_dims_product(x->dims, at + 1, x->rank);
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    if (inner == 1) {
        prt_fast_rows r = prt_fast_rows_of(c, k, at);
        r.run = logarithm ? log_softmax_row : softmax_row;
        return prt_fast_rows_run(c, &r);
    }
    const columns s = { .kern = &k->rows,
        .n = n,
        .inner = inner,
        .chunks = (inner + COLUMNS - 1) / COLUMNS,
        .x = x->data,
        .y = c->out[0]->data,
        .logarithm = logarithm };
    const size_t items = prt_dims_product(x->dims, 0, at) * s.chunks;
    return prt_parallel_for(c, items, 2 * COLUMNS, run_columns, &s);
}

poprt_status prt_fast_softmax(prt_eval *c, const prt_kern *k, bool *done)
{
    return run(c, k, ((const prt_softmax_attrs *)c->attrs)->axis, false, done);
}

poprt_status prt_fast_log_softmax(prt_eval *c, const prt_kern *k, bool *done)
{
    return run(c, k, ((const prt_log_softmax_attrs *)c->attrs)->axis, true, done);
}
