/* SPDX-License-Identifier: MIT */
/*
 * reduce.c — ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceL2, ReduceSumSquare and
 * GlobalAveragePool of float32.
 *
 * Adjacent axes that are all kept, or all reduced, are merged. If the last axis is reduced, an
 * element of the output is the reduction of rows. If it is kept, rows of the output are accumulated
 * in chunks of CHUNK columns; many rows that make few outputs become partial sums.
 */
#include "op/share/reduce.h"

#include <math.h>

#include "fast/elementwise/rows.h"
#include "fast/parallel.h"

enum {
    CHUNK = 512, /* columns that are accumulated together */
    SHORT = 8,   /* elements of a row, at most, for which a plain loop is faster than a kernel */
    /* Elements of a partial sum, at least; number of partial sums, at most. */
    PART = 1 << 16,
    PARTS = 16
};

typedef enum kind { SUM, MEAN, MAX, MIN, L2, SUM_SQUARE } kind;

/* Kept or reduced axes, the last one first, with their strides in the input. */
typedef struct axes {
    uint32_t rank;
    size_t count; /* product of dims */
    size_t dims[PRT_MAX_RANK], stride[PRT_MAX_RANK];
} axes;

typedef struct reduce_work {
    const prt_kern_rows *kern;
    kind kind;
    axes kept, reduced; /* without the last axis */
    size_t n;           /* size of the last axis */
    size_t pieces;      /* of the outputs, or of one row of them */
    size_t parts;       /* partial sums of a row of the output */
    double *sums;       /* [part][n] if the output is one row in one piece; NULL: no partial sums */
    double total;       /* elements that make one element of the output */
    const float *x;
    float *y;
} reduce_work;

static size_t offset_of(const axes *a, size_t index)
{
    size_t offset = 0;
    if (a->rank == 1)
        return index * a->stride[0];
    for (uint32_t i = 0; i < a->rank; index /= a->dims[i++])
        offset += index % a->dims[i] * a->stride[i];
    return offset;
}

static float finish(const reduce_work *j, double sum)
{
    return (float)(j->kind == MEAN ? sum / j->total : j->kind == L2 ? sqrt(sum) : sum);
}

static bool is_square(const reduce_work *j)
{
    return j->kind == L2 || j->kind == SUM_SQUARE;
}

/* Returns one element of the output, the reduction of rows. */
static float element(const reduce_work *j, const float *x)
{
    const prt_kern_rows *k = j->kern;
    if (j->kind == MAX || j->kind == MIN) {
        const int two = j->kind == MAX ? PRT_BINARY_max : PRT_BINARY_min;
        float most = k->extreme(two, j->n, x);
        for (size_t i = 1; i < j->reduced.count; i++) {
            const float more = k->extreme(two, j->n, x + offset_of(&j->reduced, i));
            k->binary(two, 1, &most, 1, &more, 1, &most);
        }
        return most;
    }
    double sum = 0.0;
    for (size_t i = 0; i < j->reduced.count; i++) {
        const float *row = x + offset_of(&j->reduced, i);
        sum += is_square(j) ? k->squares(j->n, row) : k->sum(j->n, row);
    }
    return finish(j, sum);
}

/* Returns the sum of a short row, or of its squares. */
static double short_sum(const reduce_work *j, const float *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < j->n; i++)
        sum += is_square(j) ? (double)x[i] * (double)x[i] : (double)x[i];
    return sum;
}

static void run_rows(const void *user, size_t item, float *scratch)
{
    const reduce_work *j = user;
    const size_t end = prt_parallel_piece_begin(j->kept.count, j->pieces, item + 1);
    const bool fits = j->n <= SHORT && j->reduced.count == 1 && j->kind != MAX && j->kind != MIN;
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(j->kept.count, j->pieces, item); i < end; i++) {
        const float *x = j->x + offset_of(&j->kept, i);
        j->y[i] = fits ? finish(j, short_sum(j, x)) : element(j, x);
    }
}

static void run_columns(const void *user, size_t item, float *scratch)
{
    const reduce_work *j = user;
    const size_t part = item % j->parts, piece = item / j->parts % j->pieces;
    const size_t outer = item / j->parts / j->pieces, first = piece * CHUNK;
    const size_t m = j->n - first < CHUNK ? j->n - first : CHUNK;
    const float *x = j->x + offset_of(&j->kept, outer) + first;
    float *y = j->y + outer * j->n + first;
    double own[CHUNK] = { 0 };
    double *sums = j->sums != NULL ? j->sums + part * j->n : own;
    (void)scratch;
    if (j->kind == MAX || j->kind == MIN) {
        memcpy(y, x, m * sizeof(float));
        for (size_t i = 1; i < j->reduced.count; i++)
            j->kern->binary(j->kind == MAX ? PRT_BINARY_max : PRT_BINARY_min, m, y, 1,
                x + offset_of(&j->reduced, i), 1, y);
        return;
    }
    const size_t end = prt_parallel_piece_begin(j->reduced.count, j->parts, part + 1);
    for (size_t i = prt_parallel_piece_begin(j->reduced.count, j->parts, part); i < end; i++)
        j->kern->add_to(m, x + offset_of(&j->reduced, i), is_square(j), sums);
    for (size_t i = 0; i < m && j->parts == 1; i++)
        y[i] = finish(j, sums[i]);
}

/* Reduces a tensor whose last axis is kept. */
static poprt_status reduce_columns(prt_eval *c, reduce_work *j)
{
    const size_t n = j->n, parts = j->reduced.count * n / PART;
    j->pieces = (n + CHUNK - 1) / CHUNK;
    j->parts = 1;
    if (j->kept.count == 1 && j->pieces == 1 && parts > 1 && j->kind != MAX && j->kind != MIN) {
        j->parts = parts < PARTS ? parts : PARTS;
        j->sums = prt_eval_scratch(c, j->parts * n, sizeof(double));
        if (j->sums == NULL)
            return POPRT_E_NOMEM;
    }
    PRT_TRY(prt_parallel_for(c, j->kept.count * j->pieces * j->parts, 0, run_columns, j));
    for (size_t i = 0; i < n && j->sums != NULL; i++) {
        for (size_t part = 1; part < j->parts; part++)
            j->sums[i] += j->sums[part * n + i];
        j->y[i] = finish(j, j->sums[i]);
    }
    return POPRT_OK;
}

/* Sorts and merges the axes of x. Returns whether the last one is reduced. */
static bool sort_axes(reduce_work *j, const prt_tensor *x, uint32_t set)
{
    bool last = false, before = false;
    j->kept.count = j->reduced.count = j->n = 1;
    for (uint32_t i = x->rank; i-- > 0;) {
        const bool reduced = (set >> i & 1) != 0;
        const size_t dim = (size_t)x->dims[i];
        axes *a = reduced ? &j->reduced : &j->kept;
        if (dim == 1)
            continue;
        if (j->n == 1)
            last = reduced;
        if (reduced == last && j->kept.rank + j->reduced.rank == 0) {
            j->n *= dim;
        } else if (a->rank > 0 && reduced == before) {
            a->dims[a->rank - 1] *= dim;
            a->count *= dim;
        } else {
            a->dims[a->rank] = dim;
            a->stride[a->rank++] = prt_dims_product(x->dims, i + 1, x->rank);
            a->count *= dim;
        }
        before = reduced;
    }
    return last;
}

static poprt_status run_axes(prt_eval *c, const prt_kern *k, kind what, uint32_t set, bool *done)
{
    const prt_tensor *x = c->in[0];
    reduce_work j = { .kern = &k->rows, .kind = what, .x = x->data, .y = c->out[0]->data };
    if (set == 0 || prt_tensor_count(x) == 0)
        return prt_fast_use_reference(done);
    const bool last = sort_axes(&j, x, set);
    j.total = (double)(last ? j.n : 1) * (double)j.reduced.count;
    if (!last)
        return reduce_columns(c, &j);
    const size_t most = prt_parallel_balanced_pieces(c, prt_tensor_count(x), 1 << 15);
    j.pieces = j.kept.count < most ? j.kept.count : most;
    return prt_parallel_for(c, j.pieces, 0, run_rows, &j);
}

poprt_status prt_fast_reduce(prt_eval *c, const prt_kern *k, bool *done)
{
    static const kind kinds[PRT_OP_COUNT] = { [PRT_OP_reduce_sum] = SUM,
        [PRT_OP_reduce_mean] = MEAN,
        [PRT_OP_reduce_max] = MAX,
        [PRT_OP_reduce_min] = MIN,
        [PRT_OP_reduce_l2] = L2,
        [PRT_OP_reduce_sum_square] = SUM_SQUARE };
    uint32_t set;
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    PRT_TRY(prt_reduce_axes(c, &set));
    return run_axes(c, k, kinds[c->def->id], set, done);
}

/* Averages over all axes after the channels. */
poprt_status prt_fast_global_average_pool(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c) || c->in[0]->rank < 3)
        return prt_fast_use_reference(done);
    return run_axes(c, k, MEAN, ((1u << c->in[0]->rank) - 1) & ~3u, done);
}
