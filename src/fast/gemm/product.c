/* SPDX-License-Identifier: MIT */
/*
 * product.c — float32 GEMM. An item is one panel of B times a block of rows of A, in one batch. It
 * loops over blocks of K: packs the block of the panel unless it can be read in place, and runs the
 * micro-kernel over all rows.
 */
#include "fast/gemm/product.h"

#include "fast/parallel.h"
#include "fast/gemm/bf16x3.h"

enum {
    BLOCK_K = 512,    /* K of a block: A and two packed blocks of B stay in L2 */
    BLOCK_ROWS = 240, /* rows of a block of A */
    LONG_K = 768,     /* K of a block if A has few rows */
    LONG_ROWS = 160,  /* rows, up to which blocks have LONG_K */
    LEAST_ROWS = 24   /* rows of a block, at least */
};

typedef struct product_work {
    const prt_product_spec *p;
    const prt_kern *kern;
    const prt_tensor *prefetch_hint; /* prt_eval's `prefetch_hint`: a constant to prefetch */
    size_t panels, blocks;           /* blocks of rows */
    size_t depth;                    /* K of a block, about */
} product_work;

/* Sets the data that the GEMM block prefetches after K position `k`: the rest of its panel, the
 * panel that this thread probably takes next, or the constant of a later step. */
static void set_prefetch(const product_work *j, size_t batch, size_t block, size_t panel, size_t k,
    prt_gemm_block *g)
{
    const prt_product_spec *p = j->p;
    const size_t after = k < p->k ? panel : panel + 1;
    const size_t from = k < p->k ? k : 0, first = after * PRT_GEMM_PANEL;
    size_t stride;
    if (after >= j->panels) {
        if (block + 1 == j->blocks && batch + 1 == p->batches)
            prt_fast_prefetch_hint(j->prefetch_hint, g);
        return;
    }
    if (p->source != NULL) {
        g->next = p->source(p, first, prt_gemm_panel_columns(p->n, first), from, g->k, &stride);
        g->next_count = stride / sizeof(float);
        return;
    }
    g->next = p->direct(p, batch, first, from, &stride);
    g->next_count = stride == prt_gemm_panel_width(p->n, first) ? stride * g->k : 0;
}

static void run_item(const void *user, size_t item, float *packed)
{
    const product_work *j = user;
    const prt_product_spec *p = j->p;
    const size_t panel = item % j->panels, block = item / j->panels % j->blocks;
    const size_t batch = item / j->panels / j->blocks;
    const size_t first = panel * PRT_GEMM_PANEL, columns = prt_gemm_panel_columns(p->n, first);
    const size_t row = prt_parallel_piece_begin(p->m, j->blocks, block);
    const size_t next = prt_parallel_piece_begin(p->m, j->blocks, block + 1);
    size_t a = 0, c = 0, bias = 0;
    if (p->at != NULL)
        p->at(p, batch, &a, &c, &bias);
    prt_gemm_end end = p->end;
    end.bias = end.bias != NULL ? end.bias + first : NULL;
    end.row_bias = end.row_bias != NULL ? end.row_bias + bias + row : NULL;
    end.residual = end.residual != NULL ? end.residual + c + row * end.ldr + first : NULL;
    const bool plain = prt_gemm_end_is_identity(&end);
    const size_t parts = (p->k + j->depth - 1) / j->depth, depth = (p->k + parts - 1) / parts;
    for (size_t k = 0; k < p->k; k += depth) {
        const size_t some = p->k - k < depth ? p->k - k : depth;
        size_t width = prt_gemm_width(columns);
        const float *ready = p->direct != NULL ? p->direct(p, batch, first, k, &width) : NULL;
        if (ready == NULL)
            p->pack(p, batch, first, columns, k, some, packed);
        prt_gemm_block g = { .rows = next - row,
            .columns = columns,
            .k = some,
            .a = p->a + a + row * p->lda + k,
            .lda = p->lda,
            .b = ready != NULL ? ready : packed,
            .stride = width,
            .c = p->c + c + row * p->ldc + first,
            .ldc = p->ldc,
            .add = k != 0,
            .end = k + some == p->k && !plain ? &end : NULL };
        if (p->padded || p->source != NULL)
            set_prefetch(j, batch, block, panel, k + some, &g);
        j->kern->gemm(&g);
    }
}

poprt_status prt_product_fast(prt_eval *c, const prt_kern *kern, const prt_product_spec *p)
{
    if (p->batches == 0 || p->m == 0 || p->n == 0)
        return POPRT_OK;
    bool done = false;
    if (p->batches == 1 && prt_bf16x3_pays(c, kern, p->m, p->n, p->k))
        PRT_TRY(prt_bf16x3_product(c, kern, p, &done));
    if (done)
        return POPRT_OK;
    product_work j = { .p = p,
        .kern = kern,
        .prefetch_hint = c->prefetch_hint,
        .panels = (p->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .blocks = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS,
        .depth = p->m <= LONG_ROWS && p->padded ? LONG_K : BLOCK_K };
    const size_t depth = p->k < j.depth ? p->k : j.depth;
    j.blocks = prt_parallel_blocks(c, j.panels * p->batches, j.blocks, p->m, LEAST_ROWS);
    const size_t scratch = p->padded ? 0 : depth * PRT_GEMM_PANEL + p->pack_scratch;
    return prt_parallel_for(c, j.panels * j.blocks * p->batches, scratch, run_item, &j);
}
