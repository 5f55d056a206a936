/* SPDX-License-Identifier: MIT */
/* gather.c — Gather of 32-bit elements: checks the indices once, then copies blocks. */
#include "fast/parallel.h"
#include "op/share/elements.h"
#include "op/share/shape_values.h"

#include "fast/fast.h"

enum {
    LEAST = 1 << 14, /* elements of an item, at least */
    LINE = 16,       /* elements of a cache line */
    FETCHED = 8,     /* cache lines of a block to prefetch; the hardware prefetches the rest */
    AHEAD = 16,      /* blocks to prefetch ahead */
    READ = 64        /* indices converted at a time */
};

typedef struct gather_work {
    size_t outer, dim, n, inner, pieces; /* pieces of outer * n */
    const size_t *at;
    const uint32_t *x;
    uint32_t *y;
} gather_work;

/* Copies single elements. */
static void copy_elements(const gather_work *j, size_t from, size_t end)
{
    for (size_t k = from; k < end;) {
        const size_t row = k / j->n, first = k % j->n;
        const size_t left = j->n - first, some = end - k < left ? end - k : left;
        const uint32_t *x = j->x + row * j->dim;
        for (size_t i = 0; i < some; i++)
            j->y[k + i] = x[j->at[first + i]];
        k += some;
    }
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const gather_work *j = user;
    const size_t from = prt_parallel_piece_begin(j->outer * j->n, j->pieces, item);
    const size_t end = prt_parallel_piece_begin(j->outer * j->n, j->pieces, item + 1);
    (void)scratch;
    if (j->inner == 1) {
        copy_elements(j, from, end);
        return;
    }
    const uint32_t *x = j->x + from / j->n * j->dim * j->inner;
    for (size_t k = from, i = from % j->n; k < end; k++) {
        const uint32_t *ahead = x + j->at[prt_size_min(i + AHEAD, j->n - 1)] * j->inner;
        for (size_t e = 0; e < j->inner && e < FETCHED * LINE; e += LINE)
            __builtin_prefetch(ahead + e, 0, 3);
        memcpy(j->y + k * j->inner, x + j->at[i] * j->inner, j->inner * sizeof(uint32_t));
        if (++i == j->n) {
            i = 0;
            x += j->dim * j->inner;
        }
    }
}

poprt_status prt_fast_gather(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_gather_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    uint32_t axis;
    (void)k;
    if (prt_dtype_bits(x->dtype) != 32 || !prt_fast_has_output(c) ||
        prt_tensor_count(c->out[0]) == 0)
        return prt_fast_use_reference(done);
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    gather_work j = { .outer = prt_dims_product(x->dims, 0, axis),
        .dim = (size_t)x->dims[axis],
        .n = prt_tensor_count(index),
        .inner = prt_dims_product(x->dims, axis + 1, x->rank),
        .x = x->data,
        .y = c->out[0]->data };
    size_t *at = prt_eval_scratch(c, j.n, sizeof(size_t));
    if (at == NULL)
        return POPRT_E_NOMEM;
    int64_t given[READ], found;
    for (size_t i = 0; i < j.n; i++) {
        if (i % READ == 0)
            prt_read_i64(index->dtype, index->data, i, 1, prt_size_min(j.n - i, READ), given);
        PRT_TRY(prt_shape_index(c, given[i % READ], x->dims[axis], &found));
        at[i] = (size_t)found;
    }
    j.at = at;
    const size_t wanted = prt_parallel_balanced_pieces(c, j.outer * j.n * j.inner, LEAST);
    j.pieces = wanted < j.outer * j.n ? wanted : j.outer * j.n;
    return prt_parallel_for(c, j.pieces, 0, run_item, &j);
}
