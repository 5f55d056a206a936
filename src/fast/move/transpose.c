/* SPDX-License-Identifier: MIT */
/*
 * transpose.c — Transpose of 32-bit elements: adjacent axes that stay together are merged. The last
 * axes of input and output then span matrices that are transposed; if they are the same axis, rows
 * are copied.
 */
#include "fast/parallel.h"

#include "fast/fast.h"

enum {
    LEAST = 1 << 14, /* elements of an item, at least */
    BAND = 64        /* rows of a matrix in an item, at least */
};

typedef struct transpose_work {
    const prt_kern *kern;
    uint32_t rank; /* number of outer axes, in the order of the output */
    size_t dims[PRT_MAX_RANK], from[PRT_MAX_RANK], to[PRT_MAX_RANK];
    size_t rows, row_from, row_to; /* of a matrix; its rows run along the last axis of the output */
    size_t columns, column_to;
    bool transposes;
    size_t bands;
    const float *x;
    float *y;
} transpose_work;

static void run_item(const void *user, size_t item, float *scratch)
{
    const transpose_work *j = user;
    size_t from = 0, to = 0, rest = item / j->bands;
    const size_t band = item % j->bands, row = prt_parallel_piece_begin(j->rows, j->bands, band);
    const size_t rows = prt_parallel_piece_begin(j->rows, j->bands, band + 1) - row;
    (void)scratch;
    for (uint32_t i = j->rank; i-- > 0; rest /= j->dims[i]) {
        from += rest % j->dims[i] * j->from[i];
        to += rest % j->dims[i] * j->to[i];
    }
    const float *x = j->x + from + row * j->row_from;
    float *y = j->y + to + row * j->row_to;
    if (j->transposes)
        j->kern->moves.transpose(rows, j->columns, x, j->row_from, y, j->column_to);
    else
        j->kern->moves.copy(rows, j->columns, x, j->row_from, y, j->row_to);
}

/* Finds the axes of the output, without axes of size 1, and merges adjacent ones. */
static uint32_t find_axes(const prt_tensor *x, const prt_i64s *perm, size_t *dims, size_t *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        const uint32_t axis = perm->count == 0
            ? x->rank - 1 - i
            : (uint32_t)(perm->data[i] < 0 ? perm->data[i] + x->rank : perm->data[i]);
        const size_t dim = (size_t)x->dims[axis];
        const size_t stride = prt_dims_product(x->dims, axis + 1, x->rank);
        if (dim == 1)
            continue;
        if (n > 0 && from[n - 1] == stride * dim) {
            dims[n - 1] *= dim;
            from[n - 1] = stride;
            continue;
        }
        dims[n] = dim;
        from[n++] = stride;
    }
    return n;
}

poprt_status prt_fast_transpose(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_transpose_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    size_t dims[PRT_MAX_RANK], from[PRT_MAX_RANK], to[PRT_MAX_RANK];
    if (prt_dtype_bits(x->dtype) != 32 || !prt_fast_has_output(c) || prt_tensor_count(x) == 0)
        return prt_fast_use_reference(done);
    const uint32_t n = find_axes(x, &a->perm, dims, from);
    if (n < 2)
        return prt_fast_use_reference(done); /* the reference copies */
    to[n - 1] = 1;
    for (uint32_t i = n - 1; i-- > 0;)
        to[i] = to[i + 1] * dims[i + 1];
    uint32_t dense = 0; /* the last axis of the input */
    while (from[dense] != 1)
        dense++;
    transpose_work j = { .kern = k,
        .transposes = dense != n - 1,
        .x = x->data,
        .y = c->out[0]->data };
    const uint32_t row = j.transposes ? n - 1 : n - 2;
    j.rows = dims[row];
    j.row_from = from[row];
    j.row_to = to[row];
    j.columns = dims[dense];
    j.column_to = to[dense];
    size_t outer = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (i == row || i == dense)
            continue;
        j.dims[j.rank] = dims[i];
        j.from[j.rank] = from[i];
        j.to[j.rank++] = to[i];
        outer *= dims[i];
    }
    const size_t pieces = prt_parallel_pieces(j.rows * j.columns, LEAST);
    const size_t most = (j.rows + BAND - 1) / BAND;
    j.bands = pieces < most ? pieces : most;
    while (!prt_parallel_is_balanced(c, outer * j.bands) && j.bands < most)
        j.bands++;
    return prt_parallel_for(c, outer * j.bands, 0, run_item, &j);
}
