/* SPDX-License-Identifier: MIT */
/*
 * op_diagonal.c — diagonals and bands of matrices, by arithmetic on indices. Diagonal d of a matrix
 * holds the elements with column - row = d. Several diagonals, from `high` down to `low`, are the
 * rows of a matrix as wide as the longest of them; shorter ones lie left or right.
 */
#include "tensorflow/formulas.h"

/* The diagonals of a matrix, whose sizes are numbers or are computed: int64 of rank 0. */
typedef struct band {
    int64_t low, high;
    bool super_left, sub_left; /* how diagonals above and below the main one lie */
    prt_value *rows, *columns, *longest;
} band;

/* Reads k, which is one number or two, from input i; 0 if the node has no such input. */
static bool read_band(prt_tf_call *n, uint32_t i, bool has_k, band *out)
{
    int64_t k[2] = { 0, 0 };
    uint32_t count = 1;
    const prt_str align = prt_tf_attr_str(n, "align", "LEFT_LEFT");
    if (has_k && !prt_tf_need_ints(n, i, "k", 2, k, &count))
        return false;
    if (count == 1)
        k[1] = k[0];
    if (count == 0 || k[0] > k[1] || k[0] < -INT32_MAX || k[1] > INT32_MAX) {
        (void)prt_tf_refuse(n, "k is not one number, or two in order");
        return false;
    }
    *out = (band){ .low = k[0],
        .high = k[1],
        .super_left = prt_str_is(align, "LEFT_RIGHT") || prt_str_is(align, "LEFT_LEFT"),
        .sub_left = prt_str_is(align, "RIGHT_LEFT") || prt_str_is(align, "LEFT_LEFT") };
    return true;
}

/* Returns the size of axis `axis`, from the end, as a number of rank 0. */
static prt_value *size_at(prt_tf_call *n, prt_value *x, int64_t axis)
{
    return prt_build_gather(&n->b, prt_build_shape(&n->b, x), I64(axis), 0);
}

/* Returns the length of the longest diagonal. */
static prt_value *longest_of(prt_tf_call *n, const band *d)
{
    prt_value *by_rows = BINARY(add, d->rows, I64(d->high < 0 ? d->high : 0));
    prt_value *by_columns = BINARY(sub, d->columns, I64(d->low > 0 ? d->low : 0));
    return BINARY(min, by_rows, by_columns);
}

/* Returns the cells before the elements of each diagonal, `at` being their numbers d. */
static prt_value *offset_of(prt_tf_call *n, const band *d, prt_value *at)
{
    prt_value *zero = I64(0);
    if ((d->super_left && d->sub_left) || d->low == d->high)
        return zero;
    prt_value *by_rows = BINARY(add, d->rows, BINARY(min, at, zero));
    prt_value *by_columns = BINARY(sub, d->columns, BINARY(max, at, zero));
    prt_value *offset = BINARY(sub, d->longest, BINARY(min, by_rows, by_columns));
    if (d->super_left)
        offset = WHERE(BINARY(less, at, zero), offset, zero);
    if (d->sub_left)
        offset = WHERE(BINARY(greater, at, zero), offset, zero);
    return offset;
}

static prt_value *count_to(prt_tf_call *n, prt_value *limit)
{
    return prt_build_range(&n->b, I64(0), limit, I64(1));
}

/* Joins the last `count` axes into one. */
static prt_value *flatten_last(prt_tf_call *n, prt_value *x, int64_t count)
{
    static const int64_t flat = -1;
    if (count == 1)
        return x;
    if (prt_tf_rank(x) == 2)
        return prt_build_reshape(&n->b, x, 1, &flat);
    prt_value *parts[] = { prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, 0, -count, 1),
        prt_build_reduce(&n->b, PRT_OP_reduce_prod,
            prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, -count, INT64_MAX, 1), NULL,
            true) };
    return prt_build_reshape_to(&n->b, x, prt_build_concat(&n->b, 0, 2, parts));
}

/* Returns a matrix with the diagonals; its other elements are `rest`, which broadcasts. */
static prt_value *put_diagonals(prt_tf_call *n, const band *d, prt_value *diagonals,
    prt_value *rest)
{
    static const int64_t one = 1;
    prt_value *zero = I64(0);
    prt_value *column = count_to(n, d->columns);
    prt_value *row = prt_build_unsqueeze(&n->b, count_to(n, d->rows), 1, &one);
    prt_value *at = BINARY(sub, column, row);
    prt_value *out = BINARY(or, BINARY(less, at, I64(d->low)), BINARY(greater, at, I64(d->high)));
    prt_value *place = BINARY(sub, column, BINARY(max, at, zero));
    place = BINARY(add, place, offset_of(n, d, at));
    place = BINARY(add, place, BINARY(mul, BINARY(sub, I64(d->high), at), d->longest));
    diagonals = flatten_last(n, diagonals, d->low == d->high ? 1 : 2);
    prt_value *y = prt_build_gather(&n->b, diagonals, WHERE(out, zero, place), -1);
    return WHERE(out, rest, y);
}

/* Returns the diagonals of a matrix, with `rest` in the cells that they do not fill. */
static prt_value *take_diagonals(prt_tf_call *n, const band *d, prt_value *x, prt_value *rest)
{
    static const int64_t one = 1, first = 0;
    prt_value *zero = I64(0);
    prt_value *at = prt_build_range(&n->b, I64(d->high), I64(d->low - 1), I64(-1));
    at = prt_build_unsqueeze(&n->b, at, 1, &one);
    prt_value *index = BINARY(sub, count_to(n, d->longest), offset_of(n, d, at));
    prt_value *row = BINARY(sub, index, BINARY(min, at, zero));
    prt_value *column = BINARY(add, index, BINARY(max, at, zero));
    prt_value *out = BINARY(less, index, zero);
    out = BINARY(or, out, UNARY(not, BINARY(less, row, d->rows)));
    out = BINARY(or, out, UNARY(not, BINARY(less, column, d->columns)));
    prt_value *place = WHERE(out, zero, BINARY(add, BINARY(mul, row, d->columns), column));
    if (d->low == d->high) {
        out = prt_build_squeeze(&n->b, out, 1, &first);
        place = prt_build_squeeze(&n->b, place, 1, &first);
    }
    return WHERE(out, rest, prt_build_gather(&n->b, flatten_last(n, x, 2), place, -1));
}

/* ---- rows */

/* Returns a number that input i holds, or `absent`. */
static bool optional_int(prt_tf_call *n, uint32_t i, const char *what, int64_t *to)
{
    *to = -1;
    return i >= n->n_in || prt_tf_need_int(n, i, what, to);
}

poprt_status prt_tf_row_matrix_diag(prt_tf_call *n)
{
    band d;
    int64_t rows, columns;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || !read_band(n, 1, n->n_in > 1, &d) || !optional_int(n, 2, "num_rows", &rows) ||
        !optional_int(n, 3, "num_cols", &columns))
        return prt_tf_end(n);
    d.longest = size_at(n, x, -1);
    prt_value *least_rows = BINARY(sub, d.longest, I64(d.high < 0 ? d.high : 0));
    prt_value *least_columns = BINARY(add, d.longest, I64(d.low > 0 ? d.low : 0));
    if (rows < 0 && columns < 0)
        least_rows = least_columns = BINARY(max, least_rows, least_columns);
    d.rows = rows >= 0 ? I64(rows) : least_rows;
    d.columns = columns >= 0 ? I64(columns) : least_columns;
    prt_value *rest = n->n_in > 4 ? prt_tf_in(n, 4) : prt_build_number(&n->b, x, 0);
    prt_tf_set(n, 0, put_diagonals(n, &d, x, rest));
    return prt_tf_end(n);
}

static bool read_matrix(prt_tf_call *n, prt_value *x, band *d)
{
    d->rows = size_at(n, x, -2);
    d->columns = size_at(n, x, -1);
    d->longest = longest_of(n, d);
    return d->longest != NULL;
}

poprt_status prt_tf_row_matrix_diag_part(prt_tf_call *n)
{
    band d;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || !read_band(n, 1, n->n_in > 1, &d) || !read_matrix(n, x, &d))
        return prt_tf_end(n);
    prt_value *rest = n->n_in > 2 ? prt_tf_in(n, 2) : prt_build_number(&n->b, x, 0);
    prt_tf_set(n, 0, take_diagonals(n, &d, x, rest));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_matrix_set_diag(prt_tf_call *n)
{
    band d;
    prt_value *x = prt_tf_in(n, 0), *diagonals = prt_tf_in(n, 1);
    if (x == NULL || diagonals == NULL || !read_band(n, 2, n->n_in > 2, &d) ||
        !read_matrix(n, x, &d))
        return prt_tf_end(n);
    prt_tf_set(n, 0, put_diagonals(n, &d, diagonals, x));
    return prt_tf_end(n);
}

/* Elements more than num_lower below or num_upper above the main diagonal become 0; a negative
 * number keeps all. */
poprt_status prt_tf_row_matrix_band_part(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    for (uint32_t i = 1; i < 3 && x != NULL; i++) {
        int64_t k = 0;
        prt_trilu_attrs attrs = PRT_ATTRS_OF(trilu);
        if (!prt_tf_need_int(n, i, i == 1 ? "num_lower" : "num_upper", &k))
            return prt_tf_end(n);
        if (k < 0)
            continue;
        PRT_ATTR_SET(attrs, trilu, upper, i == 1);
        x = prt_build_op(&n->b, PRT_OP_trilu, &attrs, 2,
            (prt_value *[]){ x, I64(i == 1 ? -k : k) });
    }
    prt_tf_set(n, 0, x);
    return prt_tf_end(n);
}

/* A tensor with the shape of the input twice, and the input where both indices are equal. */
poprt_status prt_tf_row_diag(prt_tf_call *n)
{
    static const int64_t flat = -1;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL)
        return prt_tf_end(n);
    prt_value *size = UNARY(size, x), *shape = prt_build_shape(&n->b, x);
    const band d = { .rows = size, .columns = size, .longest = size };
    prt_value *y =
        put_diagonals(n, &d, prt_build_reshape(&n->b, x, 1, &flat), prt_build_number(&n->b, x, 0));
    prt_tf_set(n, 0,
        prt_build_reshape_to(&n->b, y,
            prt_build_concat(&n->b, 0, 2, (prt_value *[]){ shape, shape })));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_diag_part(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t rank = prt_tf_need_rank(n, 0);
    if (rank < 2 || rank % 2 != 0)
        return rank < 0 ? prt_tf_end(n) : prt_tf_refuse(n, "the rank of input 0 is not even");
    prt_value *half = prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, 0, rank / 2, 1);
    prt_value *size = prt_build_reduce(&n->b, PRT_OP_reduce_prod, half, NULL, true);
    x = prt_build_reshape_to(&n->b, x,
        prt_build_concat(&n->b, 0, 2, (prt_value *[]){ size, size }));
    band d = { 0 };
    if (read_matrix(n, x, &d))
        prt_tf_set(n, 0,
            prt_build_reshape_to(&n->b, take_diagonals(n, &d, x, prt_build_number(&n->b, x, 0)),
                half));
    return prt_tf_end(n);
}
