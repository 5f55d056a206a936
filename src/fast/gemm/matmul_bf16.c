/* SPDX-License-Identifier: MIT */
/*
 * matmul_bf16.c — products of bfloat16 with float32 sums. If the processor has dot2_bf16 and there
 * are enough rows to be limited by arithmetic, A is converted to pairs of bfloat16 first. Otherwise
 * A is rounded but stays float32, and runs like other products with low-precision weights.
 */
#include "fast/gemm/matmul.h"
#include "fast/parallel.h"

enum {
    ROW_BLOCK = 240,       /* rows of an item */
    ROUND_LEAST = 1 << 14, /* elements of A that an item rounds, at least */
    MEMORY_BOUND_ROWS = 8  /* rows, up to which the product is limited by memory */
};

typedef struct rounding {
    const prt_linear *f;
    size_t pieces, step; /* 32-bit elements of a row of `rounded` or `pairs` */
    float *rounded;      /* either this, or `pairs` */
    uint32_t *pairs;
} rounding;

static void run_rounding(const void *user, size_t item, float *scratch)
{
    const rounding *r = user;
    const prt_linear *f = r->f;
    const size_t end = prt_parallel_piece_begin(f->m, r->pieces, item + 1);
    (void)scratch;
    for (size_t i = prt_parallel_piece_begin(f->m, r->pieces, item); i < end; i++)
        if (r->pairs != NULL)
            f->kern->low_precision.pairs(f->k, f->a + i * f->k, r->pairs + i * r->step);
        else
            f->kern->low_precision.round(f->k, f->a + i * f->k, r->rounded + i * r->step);
}

/* Allocates scratch for all rounded rows, `step` words a row, and cuts the rows into pieces. */
static poprt_status round_rows(prt_eval *c, rounding *r, float **to)
{
    const size_t most = prt_parallel_pieces(r->f->m * r->f->k, ROUND_LEAST);
    *to = prt_parallel_zeroed_floats(c, r->f->m, r->step);
    if (*to == NULL)
        return POPRT_E_NOMEM;
    r->pieces = r->f->m < most ? r->f->m : most;
    return POPRT_OK;
}

typedef struct product {
    const prt_linear *f;
    const uint32_t *a;
    size_t words, panels, blocks;
} product;

static size_t columns_at(const prt_linear *f, size_t panel)
{
    return prt_gemm_panel_columns(f->n, panel * PRT_GEMM_PANEL);
}

static void run_product(const void *user, size_t item, float *scratch)
{
    const product *p = user;
    const prt_linear *f = p->f;
    const size_t panel = item % p->panels, block = item / p->panels, first = panel * PRT_GEMM_PANEL;
    const size_t row = prt_parallel_piece_begin(f->m, p->blocks, block);
    const size_t rows = prt_parallel_piece_begin(f->m, p->blocks, block + 1) - row;
    const uint32_t *b = f->panels;
    const prt_gemm_end end = { .bias = f->bias != NULL ? f->bias + first : NULL,
        .residual = f->residual != NULL ? f->residual + row * f->n + first : NULL,
        .ldr = f->n,
        .act = f->act };
    prt_dot_block g = { .rows = rows,
        .columns = columns_at(f, panel),
        .words = p->words,
        .a = p->a + row * p->words,
        .lda = p->words,
        .b = b + first * p->words,
        .c = f->y + row * f->n + first,
        .ldc = f->n,
        .end = &end };
    const size_t after = panel + 1;
    if (after < p->panels) {
        g.next = (const char *)(b + after * PRT_GEMM_PANEL * p->words);
        g.next_lines = prt_gemm_width(columns_at(f, after)) * p->words / 16;
    }
    (void)scratch;
    f->kern->dot.bf16(&g);
}

static poprt_status run_pairs(prt_eval *c, const prt_linear *f)
{
    rounding r = { .f = f, .step = (f->k + 1) / 2 };
    float *to = NULL;
    PRT_TRY(round_rows(c, &r, &to));
    r.pairs = (uint32_t *)(void *)to;
    PRT_TRY(prt_parallel_for(c, r.pieces, 0, run_rounding, &r));
    const product p = { .f = f,
        .a = r.pairs,
        .words = r.step,
        .panels = (f->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .blocks = (f->m + ROW_BLOCK - 1) / ROW_BLOCK };
    return prt_parallel_for(c, p.panels * p.blocks, 0, run_product, &p);
}

poprt_status prt_linear_bf16(prt_eval *c, const prt_linear *f)
{
    const bool paired = f->low_precision == PRT_LOW_PRECISION_bf16 && f->by.scale == NULL &&
        (uintptr_t)f->panels % sizeof(uint32_t) == 0;
    if (f->m == 0 || f->n == 0)
        return POPRT_OK;
    if (paired && f->m > MEMORY_BOUND_ROWS && f->kern->dot.bf16 != NULL)
        return run_pairs(c, f);
    rounding r = { .f = f, .step = f->k };
    PRT_TRY(round_rows(c, &r, &r.rounded));
    PRT_TRY(prt_parallel_for(c, r.pieces, 0, run_rounding, &r));
    prt_linear rounded = *f;
    rounded.a = r.rounded;
    return prt_linear_run(c, &rounded);
}
