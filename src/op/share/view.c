/* SPDX-License-Identifier: MIT */
/*
 * view.c — copies of strided views of tensors, for any element type.
 *
 * Contiguous dims are merged first, so that contiguous elements are copied together. The innermost
 * loop copies runs if the last dim is dense, tiles if another dim is dense (a transposed matrix),
 * and single elements otherwise. Several threads may write neighbouring elements, except for
 * sub-byte types.
 */
#include "op/share/shape_values.h"

enum {
    TILE = 8,              /* side of a square tile, in elements */
    PIECE_BYTES = 1 << 17, /* minimum number of bytes for each thread */
    MOST_PIECES = 64
};

/* A view and its destination: dims, and the strides of both sides in elements. */
typedef struct walk {
    uint32_t rank; /* at least 1 */
    int64_t dims[PRT_VIEW_RANK];
    int64_t from[PRT_VIEW_RANK], to[PRT_VIEW_RANK];
    int64_t first_from, first_to;
} walk;

/* Drops dims of 1 and merges contiguous dims; at least one dim remains. */
static walk simplify(const prt_view *view)
{
    walk w = { .first_from = view->first };
    int64_t to = 1;
    for (uint32_t i = 0; i < view->rank; i++) {
        const int64_t dim = view->dims[i], stride = view->stride[i];
        if (dim == 1)
            continue;
        if (w.rank > 0 && w.from[w.rank - 1] == stride * dim) {
            w.dims[w.rank - 1] *= dim;
            w.from[w.rank - 1] = stride;
            continue;
        }
        w.dims[w.rank] = dim;
        w.from[w.rank++] = stride;
    }
    if (w.rank == 0) {
        w.dims[0] = 1;
        w.from[w.rank++] = 1;
    }
    for (uint32_t i = w.rank; i-- > 0; to *= w.dims[i])
        w.to[i] = to;
    return w;
}

/* The element size is known at compile time: a move instead of a call. */
#define GATHER(size)                                                                               \
    for (int64_t i = 0; i < count; i++)                                                            \
    memcpy(d + i * (size), s + i * stride * (size), size)

/* Copies `count` elements, `stride` apart, to contiguous elements. */
static void copy_run(int32_t dtype, void *to, int64_t at, const void *from, int64_t index,
    int64_t stride, int64_t count)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    if (stride == 1) {
        prt_element_copy(dtype, to, (size_t)at, from, (size_t)index, (size_t)count);
        return;
    }
    if (stride == 0) {
        prt_fill_elements(dtype, to, (size_t)at, from, (size_t)index, (size_t)count);
        return;
    }
    char *d = (char *)to + at * (bits / 8);
    const char *s = (const char *)from + index * (bits / 8);
    switch (bits) {
    case 8:
        GATHER(1);
        break;
    case 16:
        GATHER(2);
        break;
    case 32:
        GATHER(4);
        break;
    case 64:
        GATHER(8);
        break;
    case 128:
        GATHER(16);
        break;
    default:
        for (int64_t i = 0; i < count; i++)
            prt_element_copy(dtype, to, (size_t)(at + i), from, (size_t)(index + i * stride), 1);
        break;
    }
}

/* Transposes a matrix: element (i, j) goes from s + i + j * from_step to d + i * to_step + j.
 * Whole tiles have loops of constant trip count, tiles at the edges do not. */
#define TRANSPOSE(name, size)                                                                      \
    static void name(char *d, int64_t to_step, const char *s, int64_t from_step, int64_t rows,     \
        int64_t columns)                                                                           \
    {                                                                                              \
        for (int64_t j = 0; j < columns; j += TILE)                                                \
            for (int64_t i = 0; i < rows; i += TILE) {                                             \
                char *to = d + (i * to_step + j) * (size);                                         \
                const char *from = s + (i + j * from_step) * (size);                               \
                const bool whole = i + TILE <= rows && j + TILE <= columns;                        \
                const int64_t m = whole || rows - i > TILE ? TILE : rows - i;                      \
                const int64_t n = whole || columns - j > TILE ? TILE : columns - j;                \
                if (whole)                                                                         \
                    for (int64_t p = 0; p < TILE; p++)                                             \
                        for (int64_t q = 0; q < TILE; q++)                                         \
                            memcpy(to + (p * to_step + q) * (size),                                \
                                from + (p + q * from_step) * (size), size);                        \
                else                                                                               \
                    for (int64_t p = 0; p < m; p++)                                                \
                        for (int64_t q = 0; q < n; q++)                                            \
                            memcpy(to + (p * to_step + q) * (size),                                \
                                from + (p + q * from_step) * (size), size);                        \
            }                                                                                      \
    }

TRANSPOSE(transpose_1, 1)
TRANSPOSE(transpose_2, 2)
TRANSPOSE(transpose_4, 4)
TRANSPOSE(transpose_8, 8)
TRANSPOSE(transpose_16, 16)

typedef void (*transpose_fn)(char *d, int64_t to_step, const char *s, int64_t from_step,
    int64_t rows, int64_t columns);

static transpose_fn transpose_of(uint32_t bits)
{
    switch (bits) {
    case 8:
        return transpose_1;
    case 16:
        return transpose_2;
    case 32:
        return transpose_4;
    case 64:
        return transpose_8;
    default:
        return bits == 128 ? transpose_16 : NULL;
    }
}

/* If the last dim is not dense in the source but another dim is, moves that dim to the last but
 * one position. Returns true if it did. */
static bool move_dense_dim(walk *w)
{
    const uint32_t last = w->rank - 1;
    if (w->from[last] == 1 || w->from[last] == 0)
        return false;
    for (uint32_t i = 0; i < last; i++)
        if (w->from[i] == 1) {
            const int64_t dim = w->dims[i], to = w->to[i];
            for (uint32_t k = i; k + 1 < last; k++) {
                w->dims[k] = w->dims[k + 1];
                w->from[k] = w->from[k + 1];
                w->to[k] = w->to[k + 1];
            }
            w->dims[last - 1] = dim;
            w->from[last - 1] = 1;
            w->to[last - 1] = to;
            return true;
        }
    return false;
}

/* Copies a view whose dims are all above 0. */
static void copy_walk(walk w, int32_t dtype, void *to, const void *from)
{
    const transpose_fn transpose = transpose_of(prt_dtype_bits(dtype));
    const bool transposes = transpose != NULL && move_dense_dim(&w);
    const uint32_t last = w.rank - 1, outer = transposes ? last - 1 : last;
    const int64_t size = prt_dtype_bits(dtype) / 8;
    int64_t at[PRT_VIEW_RANK] = { 0 };
    int64_t source = w.first_from, target = w.first_to;
    for (uint32_t i = 0; i != UINT32_MAX;) {
        if (transposes)
            transpose((char *)to + target * size, w.to[outer], (const char *)from + source * size,
                w.from[last], w.dims[outer], w.dims[last]);
        else
            copy_run(dtype, to, target, from, source, w.from[last], w.dims[last]);
        for (i = outer; i-- > 0;) {
            source += w.from[i];
            target += w.to[i];
            if (++at[i] < w.dims[i])
                break;
            source -= w.from[i] * w.dims[i];
            target -= w.to[i] * w.dims[i];
            at[i] = 0;
        }
    }
}

static bool is_empty(const prt_view *view)
{
    for (uint32_t i = 0; i < view->rank; i++)
        if (view->dims[i] == 0)
            return true;
    return false;
}

void prt_view_copy(const prt_view *view, int32_t dtype, void *to, const void *from)
{
    if (!is_empty(view))
        copy_walk(simplify(view), dtype, to, from);
}

/* The longest dim is split into `pieces` work items. */
typedef struct copy_work {
    walk w;
    uint32_t axis, pieces;
    int32_t dtype;
    void *to;
    const void *from;
} copy_work;

static void copy_piece(void *arg, uint32_t index)
{
    const copy_work *j = arg;
    const int64_t dim = j->w.dims[j->axis], n = (int64_t)j->pieces, i = (int64_t)index;
    const int64_t first = dim / n * i + (dim % n < i ? dim % n : i);
    walk w = j->w;
    w.dims[j->axis] = dim / n + (i < dim % n);
    w.first_from += first * w.from[j->axis];
    w.first_to += first * w.to[j->axis];
    copy_walk(w, j->dtype, j->to, j->from);
}

void prt_view_eval(prt_eval *c, const prt_view *view)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    if (is_empty(view) || c->is_measuring)
        return;
    copy_work j = { .w = simplify(view), .dtype = x->dtype, .to = y->data, .from = x->data };
    for (uint32_t i = 1; i < j.w.rank; i++)
        if (j.w.dims[i] > j.w.dims[j.axis])
            j.axis = i;
    const size_t bytes = y->size, most = (size_t)j.w.dims[j.axis];
    const bool whole = prt_dtype_bits(x->dtype) >= 8;
    size_t pieces = whole ? bytes / PIECE_BYTES : 1;
    pieces = pieces > MOST_PIECES ? MOST_PIECES : pieces;
    pieces = pieces > most ? most : pieces;
    j.pieces = pieces > 1 ? (uint32_t)pieces : 1;
    prt_par_for(c->par, j.pieces, copy_piece, &j);
}
