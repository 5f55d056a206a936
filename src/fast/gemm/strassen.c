/* SPDX-License-Identifier: MIT */
/*
 * strassen.c — Strassen's algorithm in Winograd's variant, with 15 additions (Higham, "Accuracy and
 * Stability of Numerical Algorithms", chapter 23).
 *
 * A block of rows and a part of K of A has quarters A11 to A22: upper and lower rows, first and
 * last columns. A pair of panels of B has B11 and B21 in its left panel, B12 and B22 in its right
 * one. The products that read differences of B first also compute them. Loop order: blocks of rows,
 * parts of K, pairs of panels. The block of A with its sums and a pair of panels stay in L2.
 */
#include "fast/gemm/strassen.h"

#include <math.h>

#include "fast/parallel.h"

enum {
    MOST_ROWS = 240, /* rows of a block, at most: in L2 with its sums and a pair of panels */
    MOST_K = 768     /* K of a block, at most */
};
enum { PANEL = PRT_GEMM_PANEL, PAIR = 2 * PANEL, SUMS = 4, TILES = 4, CHUNKS = 8 };

typedef struct strassen_work {
    const prt_strassen *s;
    const prt_tensor *prefetch_hint; /* prt_eval's `prefetch_hint`: a constant to prefetch */
    size_t blocks, parts;            /* blocks of the rows of a batch; parts of K */
    size_t unit;         /* columns of a quarter that a unit computes: a panel, or half of it */
    size_t pairs, units; /* units of pairs come first, then units of the remaining columns */
    size_t rows, depth;  /* of a quarter, at most */
} strassen_work;

/* A block of rows and a part of K. */
typedef struct part {
    const strassen_work *j;
    size_t row, upper, lower; /* the first row of C; rows of the upper and lower quarters */
    size_t k, h;              /* its first K; columns of a quarter */
    bool first, last;
    const float *a;
    float *sums[SUMS];   /* of A's quarters, [upper][h] each; the last sum contains all quarters */
    bool finite[CHUNKS]; /* whether these chunks of the sums are finite */
} part;

/* One unit of columns of a part. */
typedef struct unit_work {
    const part *p;
    float *tile[TILES]; /* [upper][unit] */
    float *b;           /* differences of B, [h][PANEL] */
    const float *next;  /* the data that the next unit reads, to prefetch */
    size_t next_count;
} unit_work;

/* Returns the number of blocks: 1, or an even number, which two threads can share equally. It does
 * not depend on the number of threads. */
static size_t blocks_of(size_t rows)
{
    const size_t blocks = (rows + MOST_ROWS - 1) / MOST_ROWS;
    return blocks > 1 ? (blocks + 1) / 2 * 2 : blocks;
}

/* The additions take about a fraction of the saved time that grows as sides get shorter
 * (measured). */
bool prt_strassen_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k)
{
    if (!c->strassen || m < 2 * PRT_GEMM_DIFFERENCE_ROWS || n < PAIR || k == 0 || k % 2 != 0)
        return false;
    const size_t rows = m / blocks_of(m), columns = n / PAIR * PAIR;
    return 64.0 / (double)columns + 48.0 / (double)rows + kern->strassen_min_k / (double)k <= 1.0;
}

static size_t sums_size(const strassen_work *j)
{
    return SUMS * j->rows * j->depth;
}

static size_t work_size(const strassen_work *j)
{
    return j->depth * PANEL + TILES * j->rows * j->unit;
}

static void set_part(part *p, const strassen_work *j, size_t block, size_t i, float *sums)
{
    const prt_strassen *s = j->s;
    const size_t row = prt_parallel_piece_begin(s->m, j->blocks, block % j->blocks);
    const size_t rows = prt_parallel_piece_begin(s->m, j->blocks, block % j->blocks + 1) - row;
    p->j = j;
    p->row = block / j->blocks * s->m + row;
    p->upper = (rows + 1) / 2;
    p->lower = rows / 2;
    p->k = 2 * prt_parallel_piece_begin(s->k / 2, j->parts, i);
    p->h = prt_parallel_piece_begin(s->k / 2, j->parts, i + 1) - p->k / 2;
    p->first = i == 0;
    p->last = i + 1 == j->parts;
    p->a = s->a + p->row * s->lda + p->k;
    for (size_t t = 0; t < SUMS; t++)
        p->sums[t] = sums + t * j->rows * j->depth;
}

static void add_chunk(const void *user, size_t chunk, float *scratch)
{
    part *p = (part *)(uintptr_t)user;
    const prt_kern_rows *rows = &p->j->s->kern->rows;
    const size_t lda = p->j->s->lda, h = p->h,
                 end = prt_parallel_piece_begin(p->upper, CHUNKS, chunk + 1);
    (void)scratch;
    p->finite[chunk] = true;
    for (size_t i = prt_parallel_piece_begin(p->upper, CHUNKS, chunk); i < end; i++) {
        const float *a11 = p->a + i * lda, *a12 = a11 + h;
        const float *a21 = a11 + p->upper * lda, *a22 = a21 + h;
        float *s[SUMS];
        for (size_t t = 0; t < SUMS; t++)
            s[t] = p->sums[t] + i * h;
        if (i < p->lower) {
            rows->binary(PRT_BINARY_add, h, a21, 1, a22, 1, s[0]);
            rows->binary(PRT_BINARY_sub, h, a11, 1, a21, 1, s[2]);
        } else { /* a row of zeros below */
            memset(s[0], 0, h * sizeof(float));
            memcpy(s[2], a11, h * sizeof(float));
        }
        rows->binary(PRT_BINARY_sub, h, s[0], 1, a11, 1, s[1]);
        rows->binary(PRT_BINARY_sub, h, a12, 1, s[1], 1, s[3]);
        p->finite[chunk] = isfinite(rows->squares(h, s[3])) && p->finite[chunk];
    }
}

/* Returns the epilogue of a part: the first part adds bias and residual, the last one applies the
 * activation. */
static prt_gemm_end end_of(const part *p, size_t row, size_t column)
{
    const prt_strassen *s = p->j->s;
    prt_gemm_end end = { .residual = NULL };
    if (!p->first) {
        end.residual = s->c + (p->row + row) * s->ldc + column;
        end.ldr = s->ldc;
    } else if (s->end.residual != NULL) {
        end.residual = s->end.residual + (p->row + row) * s->end.ldr + column;
        end.ldr = s->end.ldr;
    }
    if (p->first && s->end.bias != NULL)
        end.bias = s->end.bias + column;
    if (p->last)
        end.act = s->end.act;
    return end;
}

/* Runs a GEMM block. If the block prefetches nothing itself, it prefetches a piece of the
 * data of the next unit. */
static void multiply(unit_work *w, prt_gemm_block *g)
{
    enum { PIECE = PANEL / 3 };
    if (g->next == NULL && w->next != NULL) {
        const size_t most = g->k * PIECE;
        g->next = w->next;
        g->next_count = w->next_count < most ? w->next_count : most;
        w->next += g->next_count;
        w->next_count -= g->next_count;
    }
    w->p->j->s->kern->gemm(g);
}

/* tile += rows of the residual */
static void add_rows(const part *p, float *tile, size_t rows, const prt_gemm_end *end)
{
    const prt_gemm_end sum = { .residual = end->residual, .ldr = end->ldr };
    const prt_gemm_block g = { .rows = rows,
        .columns = p->j->unit,
        .a = tile,
        .b = tile,
        .c = tile,
        .ldc = p->j->unit,
        .add = true,
        .end = &sum };
    if (end->residual != NULL)
        p->j->s->kern->gemm(&g);
}

/* Writes a quarter of C: the tile plus the product `g`, or the tile alone if its k is 0. */
static void write_quarter(unit_work *w, size_t row, size_t rows, size_t column, float *tile,
    prt_gemm_block g)
{
    const part *p = w->p;
    const prt_strassen *s = p->j->s;
    prt_gemm_end end = end_of(p, row, column);
    add_rows(p, tile, rows, &end);
    end.residual = tile;
    end.ldr = p->j->unit;
    g.rows = rows;
    g.c = s->c + (p->row + row) * s->ldc + column;
    g.ldc = s->ldc;
    g.end = &end;
    multiply(w, &g);
}

/* Computes columns from `from` on of the panel at column `left` and of the panel after it. Each
 * product prefetches the operands of the next ones. */
static void run_pair(unit_work *w, size_t left, size_t from)
{
    const part *p = w->p;
    const prt_strassen *s = p->j->s;
    const prt_kern_rows *rows = &s->kern->rows;
    const size_t h = p->h, up = p->upper, low = p->lower, unit = p->j->unit, all = up * unit;
    const size_t right = left + PANEL + from, quarter = h * PANEL;
    const float *b11 = s->b + left * s->k + p->k * PANEL + from, *b12 = b11 + s->k * PANEL;
    const float *b21 = b11 + quarter, *b22 = b12 + quarter;
    float *x = w->tile[0], *y = w->tile[1], *z = w->tile[2], *v = w->tile[3];
    const prt_gemm_block of_tiles = { .columns = unit, .a = x, .b = x };
    const prt_gemm_block of_a = { .columns = unit,
        .k = h,
        .lda = s->lda,
        .stride = PANEL,
        .ldc = unit };
    prt_gemm_block of_sums = of_a;
    of_sums.lda = h;
    left += from;

    prt_gemm_block g = of_a; /* X = A11 B11 */
    g.rows = up;
    g.a = p->a;
    g.b = b11;
    g.c = x;
    g.next = b21;
    g.next_count = quarter;
    multiply(w, &g);

    memcpy(y, x, all * sizeof(float)); /* C11 = X + A12 B21 */
    g.a = p->a + h;
    g.b = b21;
    g.next = b12;
    write_quarter(w, 0, up, left, y, g);

    g = of_sums; /* Z = (A21 + A22) (B12 - B11) */
    g.rows = low;
    g.a = p->sums[0];
    g.b = b12;
    g.less = b11;
    g.made = w->b;
    g.c = z;
    g.next = b22;
    g.next_count = quarter;
    multiply(w, &g);
    memset(z + low * unit, 0, (up - low) * unit * sizeof(float));

    g = of_sums; /* X += (A21 + A22 - A11) (B22 - B12 + B11) */
    g.rows = up;
    g.a = p->sums[1];
    g.b = b22;
    g.less = g.made = w->b;
    g.c = x;
    g.add = true;
    multiply(w, &g);

    g = of_sums; /* C12 = X + Z + (A12 - A21 - A22 + A11) B22 */
    g.a = p->sums[3];
    g.b = b22;
    rows->binary(PRT_BINARY_add, all, x, 1, z, 1, z);
    memcpy(v, z, all * sizeof(float));
    write_quarter(w, 0, up, right, v, g);

    const prt_gemm_end sum = { .residual = x, .ldr = unit };
    g = of_a; /* Y = X + A22 (B21 - B22 + B12 - B11) */
    g.rows = low;
    g.a = p->a + up * s->lda + h;
    g.b = b21;
    g.less = g.made = w->b;
    g.c = y;
    g.end = &sum;
    multiply(w, &g);

    g = of_sums; /* V = (A11 - A21) (B22 - B12) */
    g.rows = low;
    g.a = p->sums[2];
    g.b = b22;
    g.less = b12;
    g.made = w->b;
    g.c = v;
    multiply(w, &g);

    rows->binary(PRT_BINARY_add, low * unit, y, 1, v, 1, y); /* C21 = Y + V */
    write_quarter(w, up, low, left, y, of_tiles);
    rows->binary(PRT_BINARY_add, low * unit, z, 1, v, 1, z); /* C22 = X + Z + V */
    write_quarter(w, up, low, right, z, of_tiles);
}

/* Computes columns that have no pair, or a block that is not finite, by plain products. */
static void run_classical(unit_work *w, size_t first, size_t columns)
{
    const part *p = w->p;
    const prt_strassen *s = p->j->s;
    const size_t panel = first / PANEL * PANEL, width = prt_gemm_panel_width(s->n, panel);
    const prt_gemm_end end = end_of(p, 0, first);
    prt_gemm_block g = { .rows = p->upper + p->lower,
        .columns = columns,
        .k = 2 * p->h,
        .a = p->a,
        .lda = s->lda,
        .b = s->b + panel * s->k + p->k * width + first - panel,
        .stride = width,
        .c = s->c + p->row * s->ldc + first,
        .ldc = s->ldc,
        .end = &end };
    multiply(w, &g);
}

/* Returns the first column of unit i. The second half of a pair is one panel further. */
static size_t column_of(const strassen_work *j, size_t i)
{
    const size_t per = PANEL / j->unit, paired = j->pairs * per;
    return i < paired ? i / per * PAIR + i % per * j->unit
                      : j->pairs * PAIR + (i - paired) * j->unit;
}

/* Sets the data to prefetch after unit i, unless it is adjacent. */
static void set_prefetch(unit_work *w, size_t i)
{
    const part *p = w->p;
    const strassen_work *j = p->j;
    const prt_strassen *s = j->s;
    const bool more = i + 1 < j->units;
    const size_t column = more ? column_of(j, i + 1) : 0, k = more ? p->k : p->k + 2 * p->h;
    prt_gemm_block g = { .next = NULL };
    if (!more && p->last) {
        if (p->row + p->upper + p->lower == s->batches * s->m)
            prt_fast_prefetch_hint(j->prefetch_hint, &g);
    } else if (column % PANEL == 0) {
        const size_t width = prt_gemm_panel_width(s->n, column);
        g.next = s->b + column * s->k + k * width;
        g.next_count = p->h * width;
    }
    w->next = g.next;
    w->next_count = g.next_count;
}

static void run_unit(const void *user, size_t i, float *scratch)
{
    unit_work w = { .p = user, .b = scratch };
    const strassen_work *j = w.p->j;
    const size_t n = j->s->n, column = column_of(j, i);
    bool finite = true;
    for (size_t t = 0; t < CHUNKS; t++)
        finite = finite && w.p->finite[t];
    for (size_t t = 0; t < TILES; t++)
        w.tile[t] = w.b + j->depth * PANEL + t * j->rows * j->unit;
    set_prefetch(&w, i);
    if (column >= j->pairs * PAIR) {
        run_classical(&w, column, n - column < j->unit ? n - column : j->unit);
    } else if (finite) {
        run_pair(&w, column / PANEL * PANEL, column % PANEL);
    } else {
        run_classical(&w, column, j->unit);
        run_classical(&w, column + PANEL, j->unit);
    }
}

/* Runs one block on one thread. */
static void run_block(const void *user, size_t block, float *scratch)
{
    const strassen_work *j = user;
    for (size_t i = 0; i < j->parts; i++) {
        part p;
        set_part(&p, j, block, i, scratch);
        for (size_t k = 0; k < CHUNKS; k++)
            add_chunk(&p, k, NULL);
        for (size_t k = 0; k < j->units; k++)
            run_unit(&p, k, scratch + sums_size(j));
    }
}

/* Runs the blocks one by one, each on all threads. */
static poprt_status run_together(prt_eval *c, const strassen_work *j)
{
    float *sums = prt_parallel_uninitialized_floats(c, 1, sums_size(j));
    float *scratch = prt_parallel_scratch(c, j->units, work_size(j));
    if (sums == NULL || scratch == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < j->s->batches * j->blocks * j->parts; i++) {
        part p;
        set_part(&p, j, i / j->parts, i % j->parts, sums);
        PRT_TRY(prt_parallel_for_in(c, CHUNKS, 0, NULL, add_chunk, &p));
        PRT_TRY(prt_parallel_for_in(c, j->units, work_size(j), scratch, run_unit, &p));
    }
    return POPRT_OK;
}

poprt_status prt_strassen_run(prt_eval *c, const prt_strassen *s)
{
    strassen_work j = { .s = s,
        .prefetch_hint = c->prefetch_hint,
        .blocks = blocks_of(s->m),
        .parts = (s->k + MOST_K - 1) / MOST_K,
        .unit = PANEL,
        .pairs = s->n / PAIR };
    const size_t left = s->n % PAIR, blocks = s->batches * j.blocks;
    const bool together = !prt_parallel_is_balanced(c, blocks);
    j.units = j.pairs + (left + PANEL - 1) / PANEL;
    if (together && (left != 0 || !prt_parallel_is_balanced(c, j.units))) {
        j.unit = PANEL / 2;
        j.units = 2 * j.pairs + (left + j.unit - 1) / j.unit;
    }
    j.rows = ((s->m + j.blocks - 1) / j.blocks + 1) / 2;
    j.depth = (s->k / 2 + j.parts - 1) / j.parts;
    return together ? run_together(c, &j)
                    : prt_parallel_for(c, blocks, sums_size(&j) + work_size(&j), run_block, &j);
}
