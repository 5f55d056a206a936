/* SPDX-License-Identifier: MIT */
/*
 * matmul_i4_blocks.c — products of int8 by int4 weights with scales by block of K (dot_i4): rows of
 * A are quantised to bytes first. Then an item is one panel of B times a block of rows.
 */
#include "fast/gemm/matmul.h"
#include "fast/parallel.h"

enum {
    ROWS = 240,           /* rows of an item */
    ROUND_LEAST = 1 << 13 /* elements of A that an item quantises, at least */
};

typedef struct i4_work {
    const prt_linear *f;
    size_t pieces, words, parts, panels, blocks; /* of a row; of rows */
    uint32_t *a;
    prt_dot_part *by;
} i4_work;

static void run_rounding(const void *user, size_t item, float *scratch)
{
    const i4_work *j = user;
    const prt_linear *f = j->f;
    const size_t end = prt_parallel_piece_begin(f->m, j->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(f->m, j->pieces, item); i < end; i++)
        f->kern->bytes.blocks(f->k, f->by.block, f->a + i * f->k, j->a + i * j->words,
            j->by + i * j->parts);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const i4_work *j = user;
    const prt_linear *f = j->f;
    const prt_kern_rows *r = &f->kern->rows;
    const size_t first = item % j->panels * PRT_GEMM_PANEL, block = item / j->panels;
    const size_t n = prt_gemm_panel_columns(f->n, first);
    const size_t row = prt_parallel_piece_begin(f->m, j->blocks, block);
    const size_t end = prt_parallel_piece_begin(f->m, j->blocks, block + 1);
    prt_dot_i4 g = { .rows = end - row,
        .columns = n,
        .k = f->k,
        .a = j->a + row * j->words,
        .lda = j->words,
        .parts = j->by + row * j->parts,
        .by = f->by,
        .c = f->y + row * f->n + first,
        .ldc = f->n };
    (void)scratch;
    g.b = (const uint32_t *)f->panels +
        first * prt_low_precision_rows(PRT_LOW_PRECISION_i4, f->k) / PRT_LOW_PRECISION_I4_ROWS;
    g.by.scale += first * j->parts;
    g.by.offset += g.by.offset != NULL ? first * j->parts : 0;
    f->kern->dot.i4(&g);
    for (size_t i = row; i < end; i++) {
        float *y = f->y + i * f->n + first;
        if (f->bias != NULL)
            r->binary(PRT_BINARY_add, n, y, 1, f->bias + first, 1, y);
        if (f->residual != NULL)
            r->binary(PRT_BINARY_add, n, y, 1, f->residual + i * f->n + first, 1, y);
        if (f->act.kind != PRT_ACT_none)
            r->act(&f->act, n, y, y);
    }
}

poprt_status prt_linear_i4_blocks(prt_eval *c, const prt_linear *f)
{
    i4_work j = { .f = f,
        .words = prt_low_precision_rows(PRT_LOW_PRECISION_i4, f->k) / PRT_DOT_FOUR,
        .parts = prt_low_precision_blocks(f->by.block, f->k),
        .panels = (f->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .blocks = (f->m + ROWS - 1) / ROWS };
    if (f->m == 0 || f->n == 0)
        return POPRT_OK;
    const size_t most = prt_parallel_pieces(f->m * f->k, ROUND_LEAST);
    j.pieces = f->m < most ? f->m : most;
    j.a = (uint32_t *)(void *)prt_parallel_uninitialized_floats(c, f->m, j.words);
    j.by = (prt_dot_part *)(void *)prt_parallel_uninitialized_floats(c, f->m,
        j.parts * (sizeof(prt_dot_part) / sizeof(float)));
    if (j.a == NULL || j.by == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_parallel_for(c, j.pieces, 0, run_rounding, &j));
    return prt_parallel_for(c, j.panels * j.blocks, 0, run_item, &j);
}
