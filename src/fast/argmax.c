/* SPDX-License-Identifier: MIT */
/*
 * argmax.c — ArgMax and ArgMin of float32: the extreme of a row first, then where it is; along
 * other axes, columns side by side.
 */
#include <math.h>

#include "fast/fast.h"
#include "fast/share.h"

enum { COLUMNS = 256 };

typedef struct places {
    const prt_kern_rows *kern;
    const float *x;
    int64_t *y;
    size_t rows, n, inner, pieces; /* pieces: of the rows, or of `inner` */
    bool least, last;
} places;

/* The first place of `r` in a row, or the last; NaN is any NaN. */
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
    const places *p = user;
    const size_t end = prt_share_cut(p->rows, p->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_share_cut(p->rows, p->pieces, item); i < end; i++) {
        const float *x = p->x + i * p->n;
        const float r = p->kern->extreme(p->least ? PRT_TWO_min : PRT_TWO_max, p->n, x);
        p->y[i] = (int64_t)find(x, p->n, r, p->last);
    }
}

static void run_columns(const void *user, size_t item, float *scratch)
{
    const places *p = user;
    const size_t outer = item / p->pieces, first = item % p->pieces * COLUMNS, inner = p->inner;
    const size_t m = inner - first < COLUMNS ? inner - first : COLUMNS;
    const float *x = p->x + outer * p->n * inner + first;
    int64_t *y = p->y + outer * inner + first;
    memcpy(scratch, x, m * sizeof(float));
    memset(y, 0, m * sizeof(int64_t));
    for (size_t k = 1; k < p->n; k++)
        for (size_t i = 0; i < m; i++) {
            const float v = x[k * inner + i], r = scratch[i];
            const bool beyond = p->least ? v < r : v > r;
            const bool same = v == r || (isnan(v) && isnan(r));
            if (beyond || (isnan(v) && !isnan(r)) || (same && p->last)) {
                scratch[i] = v;
                y[i] = (int64_t)k;
            }
        }
}

poprt_status prt_fast_argmax(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_argmax(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_argmax_attrs *a = c->attrs; /* ArgMin's are the same */
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has(c, 0) || !prt_fast_wants(c) || prt_tensor_count(x) == 0 || x->rank == 0)
        return prt_fast_pass(done);
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    places p = { .kern = &k->rows, .x = x->data, .y = c->out[0]->data,
        .rows = prt_dims_product(x->dims, 0, axis), .n = (size_t)x->dims[axis],
        .inner = prt_dims_product(x->dims, axis + 1, x->rank),
        .least = c->def->id == PRT_OP_argmin, .last = a->select_last_index != 0 };
    if (p.inner > 1) {
        p.pieces = (p.inner + COLUMNS - 1) / COLUMNS;
        return prt_share_run(c, p.rows * p.pieces, COLUMNS, run_columns, &p);
    }
    const size_t most = prt_share_alike(c, p.rows * p.n, 1 << 15);
    p.pieces = p.rows < most ? p.rows : most;
    return prt_share_run(c, p.pieces, 0, run_rows, &p);
}
