/* SPDX-License-Identifier: MIT */
/*
 * integer.c — int8 GEMM with zero points (dot4_i8). An item is a block of rows of A times one panel
 * of B, which it packs into scratch; all rows of the block pass by it.
 */
#include "fast/gemm/integer.h"

#include <math.h>

#include "fast/parallel.h"
#include "op/share/quant.h"

enum {
    INTEGER_ROWS = 120,  /* rows of a block of A */
    LEFT_LEAST = 1 << 14 /* elements of A that an item converts, at least */
};

typedef struct integer_work {
    const prt_integer *p;
    size_t words, panels, blocks, pieces;
    bool in_place;     /* A's rows are words already */
    const uint32_t *a; /* rows of words, of all left sides */
    uint32_t *ones;    /* a row of ones, to sum columns */
    uint32_t *copy;
    int32_t *a_sum; /* sums of A's rows */
} integer_work;

static void run_left(const void *user, size_t item, float *scratch)
{
    const integer_work *j = user;
    const prt_integer *p = j->p;
    const size_t rows = p->lefts * p->m, end = prt_parallel_piece_begin(rows, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(rows, j->pieces, item); i < end; i++) {
        if (!j->in_place)
            p->kern->bytes.row(p->k, p->a + i * p->k, p->a_signed ? 0x80 : 0,
                (uint8_t *)(j->copy + i * j->words));
        j->a_sum[i] = (int32_t)p->kern->bytes.sum(p->k, (const uint8_t *)(j->a + i * j->words));
    }
}

static void pack_right(const integer_work *j, size_t batch, size_t first, size_t columns,
    uint32_t *to, uint8_t *scratch)
{
    static const uint8_t none[PRT_GEMM_PANEL];
    const prt_integer *p = j->p;
    const size_t width = prt_gemm_width(columns);
    const uint32_t all = p->b_signed ? 0 : 0x80808080u;
    for (size_t w = 0; w < j->words; w++, to += width) {
        const uint8_t *rows[PRT_DOT_FOUR];
        uint32_t flip = 0;
        for (size_t t = 0; t < PRT_DOT_FOUR; t++) {
            const size_t k = w * PRT_DOT_FOUR + t;
            rows[t] = none;
            if (k >= p->k)
                continue;
            rows[t] = p->right(p, batch, k, first, columns, scratch + t * PRT_GEMM_PANEL);
            flip |= all & 0xffu << 8 * t;
        }
        p->kern->bytes.pack4(columns, rows, flip, to);
    }
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const integer_work *j = user;
    const prt_integer *p = j->p;
    const size_t block = item % j->blocks, panel = item / j->blocks % j->panels;
    const size_t batch = item / j->blocks / j->panels, first = panel * PRT_GEMM_PANEL;
    const size_t left = batch % p->lefts * p->m;
    const size_t columns = prt_gemm_panel_columns(p->n, first);
    const size_t row = prt_parallel_piece_begin(p->m, j->blocks, block);
    const size_t rows = prt_parallel_piece_begin(p->m, j->blocks, block + 1) - row;
    uint32_t *b = (uint32_t *)(void *)scratch;
    int32_t *sums = (int32_t *)(b + j->words * PRT_GEMM_PANEL);
    int32_t *column_sums = sums + INTEGER_ROWS * PRT_GEMM_PANEL;
    int32_t zeros[PRT_GEMM_PANEL];
    pack_right(j, batch, first, columns, b, (uint8_t *)(column_sums + PRT_GEMM_PANEL));
    prt_dot_block g = { .rows = 1,
        .columns = columns,
        .words = j->words,
        .lda = j->words,
        .a = j->ones,
        .b = b,
        .c = column_sums,
        .ldc = PRT_GEMM_PANEL };
    p->kern->dot.i8(&g);
    g.rows = rows;
    g.a = j->a + (left + row) * j->words;
    g.c = sums;
    p->kern->dot.i8(&g);
    for (size_t i = 0; i < columns; i++)
        zeros[i] = p->b_zero[(first + i) * p->b_step] - (p->b_signed ? 0 : 128);
    for (size_t i = 0; i < rows; i++) {
        const size_t at = left + row + i;
        const int32_t zero = p->a_zero[at * p->a_step] + (p->a_signed ? 128 : 0);
        const uint32_t rest = (uint32_t)j->a_sum[at] - (uint32_t)p->k * (uint32_t)zero;
        p->kern->bytes.subtract_zeros(columns, sums + i * PRT_GEMM_PANEL, zero, (int32_t)rest,
            zeros, column_sums);
        p->store(p, batch, row + i, first, columns, sums + i * PRT_GEMM_PANEL);
    }
}

poprt_status prt_integer_run(prt_eval *c, const prt_integer *p)
{
    if (p->batches == 0 || p->m == 0 || p->n == 0)
        return POPRT_OK;
    const size_t most = prt_parallel_pieces(p->lefts * p->m * p->k, LEFT_LEAST);
    integer_work j = { .p = p,
        .words = (p->k + 3) / 4,
        .pieces = p->m < most ? p->m : most,
        .panels = (p->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .blocks = (p->m + INTEGER_ROWS - 1) / INTEGER_ROWS };
    size_t rows, packed;
    if (!prt_size_mul(p->lefts, p->m, &rows) || !prt_size_mul(j.words, PRT_GEMM_PANEL, &packed))
        return prt_fail_nomem(SIZE_MAX);
    j.in_place = p->k % 4 == 0 && !p->a_signed && (uintptr_t)p->a % sizeof(uint32_t) == 0;
    uint32_t *memory = (void *)prt_parallel_zeroed_floats(c, j.in_place ? 1 : rows + 1, j.words);
    j.a_sum = (int32_t *)(void *)prt_parallel_zeroed_floats(c, rows, 1);
    if (memory == NULL || j.a_sum == NULL)
        return POPRT_E_NOMEM;
    j.ones = memory;
    j.copy = memory + j.words;
    j.a = j.in_place ? (const void *)p->a : j.copy;
    memset(j.ones, 1, p->k); /* bytes; the rest of the row is zero */
    PRT_TRY(prt_parallel_for(c, j.pieces, 0, run_left, &j));
    return prt_parallel_for(c, p->batches * j.panels * j.blocks,
        packed + (INTEGER_ROWS + 2) * PRT_GEMM_PANEL, run_item, &j);
}

const int32_t *prt_integer_zeros(prt_eval *c, uint32_t i, size_t count, size_t *step)
{
    const prt_tensor *t = prt_eval_has(c, i) ? c->in[i] : NULL;
    const size_t n = t != NULL ? prt_tensor_count(t) : 1;
    if (n != 1 && (n != count || t->rank != 1))
        return NULL;
    int32_t *zeros = (int32_t *)(void *)prt_parallel_zeroed_floats(c, n, 1);
    if (zeros == NULL)
        return NULL;
    for (size_t k = 0; t != NULL && k < n; k++)
        zeros[k] = (int32_t)prt_load_i64(t->dtype, t->data, k);
    *step = n != 1;
    return zeros;
}

bool prt_integer_scale(const prt_kern *k, size_t n, const float *x, float *scale, uint8_t *zero)
{
    const float ends[2] = { k->rows.extreme(PRT_BINARY_min, n, x),
        k->rows.extreme(PRT_BINARY_max, n, x) };
    if (!isfinite(ends[0]) || !isfinite(ends[1]))
        return false;
    prt_quant_dynamic_run(2, ends, NULL, scale, zero); /* the two extremes determine the scale of
                                                        * all */
    return true;
}
