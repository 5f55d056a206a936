/* SPDX-License-Identifier: MIT */
/*
 * split.c — split products: A is split first, by all threads; then an item is some rows and a few
 * panels of B, one after the other. Each of these is split while the one before is multiplied.
 */
#include "fast/split.h"

#include "fast/share.h"

enum { LEAST_ROWS = 12, LEAST_COLUMNS = 32, LEAST_K = 24, PIECE = 1 << 14, MOST_PIECES = 64 };

/* Floats of a block of A with PRT_SPLIT_DEPTH of K, which stay in the second cache level with two
 * split panels. Items are as many as that for each thread. */
enum { BLOCK = 1 << 18, ITEMS = 4 };

/* ---- rows ---- */

typedef struct splitting {
    const prt_kern *kern;
    size_t rows, k, pieces;
    const float *a;
    size_t lda;
    float *to;
    bool *finite; /* of each piece */
} splitting;

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of rows of PRT_SPLIT_DEPTH, or less where K is. */
static size_t pitch_of(size_t k)
{
    return prt_split_pitch(lesser(k, PRT_SPLIT_DEPTH));
}

static void run_piece(const void *user, size_t item, float *scratch)
{
    const splitting *s = user;
    const size_t row = prt_share_cut(s->rows, s->pieces, item), pitch = pitch_of(s->k);
    const size_t rows = prt_share_cut(s->rows, s->pieces, item + 1) - row;
    float *to = s->to + row * pitch;
    (void)scratch;
    s->finite[item] = true;
    for (size_t k = 0; k < s->k; k += PRT_SPLIT_DEPTH, to += s->rows * pitch)
        s->finite[item] = s->kern->split.rows(rows, lesser(s->k - k, PRT_SPLIT_DEPTH),
            s->a + row * s->lda + k, s->lda, to, pitch) && s->finite[item];
}

bool prt_split_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k)
{
    return c->bf16x3 && kern->split.multiply != NULL && m >= LEAST_ROWS && n >= LEAST_COLUMNS &&
        k >= LEAST_K;
}

/* All rows in scratch, one PRT_SPLIT_DEPTH of K after the other; NULL in `*to` where not all of
 * them are finite. */
static poprt_status split_rows(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    const float **to)
{
    bool finite[MOST_PIECES];
    splitting s = { .kern = kern, .rows = p->m, .k = p->k, .a = p->a, .lda = p->lda,
        .finite = finite, .pieces = prt_share_alike(c, p->m * p->k, PIECE) };
    s.pieces = lesser(lesser(s.pieces, MOST_PIECES), p->m);
    s.to = prt_share_raw(c, p->m, (p->k + PRT_SPLIT_DEPTH - 1) / PRT_SPLIT_DEPTH * pitch_of(p->k));
    if (s.to == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_share_run(c, s.pieces, 0, run_piece, &s));
    *to = s.to;
    for (size_t i = 0; i < s.pieces; i++)
        *to = finite[i] ? *to : NULL;
    return POPRT_OK;
}

/* ---- products ---- */

typedef struct job {
    const prt_product_spec *p;
    const prt_kern *kern;
    const float *a;                /* split */
    size_t panels, chunks, blocks; /* chunks of panels; blocks of rows */
    size_t span;                   /* panels that pass by before more of K does */
    size_t size;                   /* floats of a split part of a panel */
} job;

/* Some of K of a panel. */
typedef struct part {
    size_t first, k; /* columns and rows before it */
    prt_split_panel panel;
} part;

/* That part as floats: in `room` where they have to be packed. */
static part part_of(const job *j, size_t panel, size_t k, float *room, float *to)
{
    const prt_product_spec *p = j->p;
    part t = { .first = panel * PRT_GEMM_PANEL, .k = k };
    const size_t some = lesser(p->k - k, PRT_SPLIT_DEPTH);
    const size_t columns = lesser(p->n - t.first, PRT_GEMM_PANEL), width = prt_gemm_width(columns);
    t.panel = (prt_split_panel){ .k = some, .columns = columns, .b = room, .stride = width,
        .to = to };
    if (p->direct != NULL && (width == columns || p->padded))
        t.panel.b = p->direct(p, 0, t.first, k, &t.panel.stride);
    else
        p->pack(p, 0, t.first, columns, k, some, room);
    return t;
}

/* Rows [row, end) times part i, which has been split where that could be; `next` is meanwhile. */
static void multiply(const job *j, size_t row, size_t end, part *t, prt_split_panel *next)
{
    const prt_product_spec *p = j->p;
    const prt_split_panel *b = &t->panel;
    const bool last = t->k + b->k == p->k;
    prt_gemm_end e = p->end;
    e.bias = e.bias != NULL ? e.bias + t->first : NULL;
    e.row_bias = e.row_bias != NULL ? e.row_bias + row : NULL;
    e.residual = e.residual != NULL ? e.residual + row * e.ldr + t->first : NULL;
    const bool plain = e.bias == NULL && e.row_bias == NULL && e.residual == NULL &&
        e.act.kind == PRT_ACT_none;
    const prt_gemm_end *what = last && !plain ? &e : NULL;
    float *c = p->c + row * p->ldc + t->first;
    if (b->finite) {
        const size_t pitch = pitch_of(p->k);
        const prt_split_block g = { .rows = end - row, .columns = b->columns, .k = b->k,
            .a = j->a + (t->k / PRT_SPLIT_DEPTH * p->m + row) * pitch, .lda = pitch, .b = b->to,
            .c = c, .ldc = p->ldc, .add = t->k != 0, .end = what, .ahead = next };
        j->kern->split.multiply(&g);
        return;
    }
    const prt_gemm_block g = { .rows = end - row, .columns = b->columns, .k = b->k,
        .a = p->a + row * p->lda + t->k, .lda = p->lda, .b = b->b, .stride = b->stride, .c = c,
        .ldc = p->ldc, .add = t->k != 0, .end = what };
    j->kern->gemm(&g);
    if (next != NULL)
        j->kern->split.panel(next);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t chunk = item % j->chunks, block = item / j->chunks;
    const size_t row = prt_share_cut(j->p->m, j->blocks, block);
    const size_t end = prt_share_cut(j->p->m, j->blocks, block + 1);
    size_t first = prt_share_cut(j->panels, j->chunks, chunk), panel = first, k = 0;
    const size_t last = prt_share_cut(j->panels, j->chunks, chunk + 1);
    float *split = scratch, *packed = scratch + 2 * j->size;
    part t = part_of(j, first, 0, packed, split), next;
    j->kern->split.panel(&t.panel);
    for (size_t other = 1; first < last; other = 1 - other, t = next) {
        const size_t past = lesser(first + j->span, last);
        panel = panel + 1 < past ? panel + 1 : first;
        k += panel == first ? PRT_SPLIT_DEPTH : 0;
        if (k >= j->p->k) {
            k = 0;
            panel = first = past;
        }
        next = t;
        if (first < last)
            next = part_of(j, panel, k, packed + other * j->size, split + other * j->size);
        multiply(j, row, end, &t, first < last ? &next.panel : NULL);
    }
}

poprt_status prt_split_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done)
{
    const size_t width = prt_share_width(c), depth = lesser(p->k, PRT_SPLIT_DEPTH);
    job j = { .p = p, .kern = kern, .panels = (p->n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .size = prt_split_size(depth) * PRT_GEMM_PANEL };
    PRT_TRY(split_rows(c, kern, p, &j.a));
    *done = j.a != NULL;
    if (!*done)
        return POPRT_OK;
    j.blocks = (p->m * depth + BLOCK - 1) / BLOCK;
    j.span = p->m / j.blocks * p->k <= BLOCK ? 1 : j.panels;
    const size_t items = width > 1 ? ITEMS * width : 1;
    j.chunks = (items + j.blocks - 1) / j.blocks;
    j.chunks = j.chunks < j.panels ? j.chunks : j.panels;
    j.blocks = prt_share_blocks(c, j.chunks, j.blocks, p->m, PRT_SPLIT_UNIT);
    const size_t packed = p->padded ? 0 : 2 * j.size + p->spare;
    return prt_share_run(c, j.chunks * j.blocks, 2 * j.size + packed, run_item, &j);
}
