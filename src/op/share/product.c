/* SPDX-License-Identifier: MIT */
/* product.c — tiled matrix products, and the shapes and batches of MatMul. */
#include "op/share/product.h"

#include "op/share/gemm_tiles.h"

poprt_status prt_product_init(prt_eval *c, prt_product *p)
{
    p->rows = prt_eval_scratch(c, p->m, p->k * sizeof(double));
    p->panel = prt_gemm_tiles_panels(c, p->k);
    return p->rows != NULL && p->panel != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void load_rows(const prt_product *p)
{
    const prt_operand *a = &p->a;
    for (size_t i = 0; i < p->m; i++) {
        double *to = p->rows + i * p->k;
        prt_reals_load(a->dtype, a->data, a->first + i * a->row, a->col, p->k, to);
        for (size_t k = 0; a->zeros != NULL && k < p->k; k++)
            to[k] -= a->zeros[i];
    }
}

static void load_panel(const prt_product *p, size_t first, size_t count, double *panel)
{
    const prt_operand *b = &p->b;
    double row[PRT_TILE_COLS];
    for (size_t j = 0; b->column != NULL && j < count; j++)
        b->column(b->user, first + j, panel + prt_tile_at(p->k, 0, j), PRT_TILE_LANES);
    for (size_t k = 0; b->column == NULL && k < p->k; k++) {
        prt_reals_load(b->dtype, b->data, b->first + k * b->row + first * b->col, b->col, count,
            row);
        for (size_t j = 0; b->zeros != NULL && j < count; j++)
            row[j] -= b->zeros[first + j];
        for (size_t j = 0; j < count; j++)
            panel[prt_tile_at(p->k, k, j)] = row[j];
    }
}

/* Computes a tile of columns for all rows. */
static void run_tile(const void *user, size_t tile, double *panel)
{
    const prt_product *p = user;
    double sums[PRT_TILE_ROWS][PRT_TILE_COLS];
    const size_t j = tile * PRT_TILE_COLS;
    const size_t cols = p->n - j < PRT_TILE_COLS ? p->n - j : PRT_TILE_COLS;
    load_panel(p, j, cols, panel);
    for (size_t i = 0; i < p->m; i += PRT_TILE_ROWS) {
        const size_t rows = p->m - i < PRT_TILE_ROWS ? p->m - i : PRT_TILE_ROWS;
        prt_tile_product(rows, cols, p->k, p->rows + i * p->k, panel, sums);
        for (size_t r = 0; r < rows; r++)
            p->store(p, i + r, j, cols, sums[r]);
    }
}

poprt_status prt_product_run(prt_eval *c, prt_product *p)
{
    if (p->m == 0 || p->n == 0)
        return POPRT_OK;
    load_rows(p);
    const prt_gemm_tiles tiles = { .count = (p->n + PRT_TILE_COLS - 1) / PRT_TILE_COLS,
        .depth = p->k,
        .run = run_tile,
        .user = p };
    return prt_gemm_tiles_run(c, &tiles, p->panel);
}

static uint64_t *load_words(prt_eval *c, const prt_operand *o, size_t rows, size_t cols)
{
    uint64_t *to = prt_eval_scratch(c, rows, cols * sizeof(uint64_t));
    for (size_t i = 0; to != NULL && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[i * cols + j] =
                (uint64_t)prt_load_i64(o->dtype, o->data, o->first + i * o->row + j * o->col);
    return to;
}

poprt_status prt_product_words(prt_eval *c, const prt_product *p, uint64_t *out)
{
    if (p->m == 0 || p->n == 0)
        return POPRT_OK;
    const uint64_t *a = load_words(c, &p->a, p->m, p->k);
    const uint64_t *b = load_words(c, &p->b, p->k, p->n);
    if (a == NULL || b == NULL)
        return POPRT_E_NOMEM;
    memset(out, 0, p->m * p->n * sizeof(uint64_t));
    for (size_t i = 0; i < p->m; i++) {
        PRT_TRY(c->host->check(c));
        for (size_t k = 0; k < p->k; k++)
            for (size_t j = 0; j < p->n; j++)
                out[i * p->n + j] += a[i * p->k + k] * b[k * p->n + j];
    }
    return POPRT_OK;
}

bool prt_product_is_wide(int32_t dtype)
{
    return prt_dtype_is_integer(dtype) && prt_dtype_bits(dtype) >= 32;
}

poprt_status prt_matmul_infer(prt_infer *c, uint32_t a, uint32_t b, prt_shape *out)
{
    *out = (prt_shape){ .kind = PRT_VALUE_TENSOR, .rank = PRT_RANK_UNKNOWN };
    for (uint32_t i = a;; i = b) {
        if (prt_infer_ranked(c, i) && c->in[i].rank == 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "input %u is a scalar; a rank of at least 1 is required", i);
        if (i == b)
            break;
    }
    if (!prt_infer_ranked(c, a) || !prt_infer_ranked(c, b))
        return POPRT_OK;
    const prt_shape *x = &c->in[a], *y = &c->in[b];
    const int32_t nx = x->rank, ny = y->rank;
    int64_t inner;
    PRT_TRY(prt_infer_merge(c, x->dims[nx - 1], y->dims[ny > 1 ? ny - 2 : 0], "inner dim", &inner));
    prt_shape batch[2] = { *x, *y };
    batch[0].rank = nx > 2 ? nx - 2 : 0;
    batch[1].rank = ny > 2 ? ny - 2 : 0;
    prt_infer sub = *c;
    sub.in = batch;
    sub.n_in = 2;
    PRT_TRY(prt_infer_broadcast(&sub, 0, 2, out));
    if (out->rank + (nx > 1) + (ny > 1) > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "the result has more than %d dims", PRT_MAX_RANK);
    if (nx > 1)
        out->dims[out->rank++] = x->dims[nx - 2];
    if (ny > 1)
        out->dims[out->rank++] = y->dims[ny - 1];
    return POPRT_OK;
}

/* Writes the element stride of each of the `rank` batch dims of an operand; 0 where it
 * broadcasts. */
static void batch_steps(const prt_tensor *t, uint32_t rank, size_t *step)
{
    const uint32_t own = t->rank > 2 ? t->rank - 2 : 0;
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t missing = rank - own;
        step[i] = i < missing || t->dims[i - missing] == 1
            ? 0
            : prt_dims_product(t->dims, i - missing + 1, t->rank);
    }
}

void prt_matmul_init(prt_matmul *mm, const prt_tensor *a, const prt_tensor *b)
{
    const uint32_t na = a->rank > 2 ? a->rank - 2 : 0, nb = b->rank > 2 ? b->rank - 2 : 0;
    *mm = (prt_matmul){ .m = a->rank > 1 ? (size_t)a->dims[a->rank - 2] : 1,
        .n = b->rank > 1 ? (size_t)b->dims[b->rank - 1] : 1,
        .k = (size_t)a->dims[a->rank - 1],
        .rank = na > nb ? na : nb };
    for (uint32_t i = 0; i < mm->rank; i++) {
        const int64_t x = i < mm->rank - na ? 1 : a->dims[i - (mm->rank - na)];
        const int64_t y = i < mm->rank - nb ? 1 : b->dims[i - (mm->rank - nb)];
        mm->dims[i] = x == 1 ? y : x;
    }
    mm->batches = prt_dims_product(mm->dims, 0, mm->rank);
    batch_steps(a, mm->rank, mm->a_step);
    batch_steps(b, mm->rank, mm->b_step);
}

void prt_matmul_at(const prt_matmul *mm, size_t index, size_t *a, size_t *b)
{
    int64_t at[PRT_MAX_RANK] = { 0 };
    *a = *b = 0;
    prt_unravel(index, mm->rank, mm->dims, at);
    for (uint32_t i = 0; i < mm->rank; i++) {
        *a += (size_t)at[i] * mm->a_step[i];
        *b += (size_t)at[i] * mm->b_step[i];
    }
}
