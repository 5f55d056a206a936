/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.c — split products: an item is some rows of C and a few panels of B, one after the other.
 * Each of these is split while the one before is multiplied. What is read of A is split by the item
 * if that has all panels or it is little, else all of A by all threads beforehand. Where something
 * is not finite the step is done again without.
 *
 * A convolution is such a product whose rows are pieces, a pixel's channels for each tap. Its input
 * is split into an image with padding, W pixels wide, so that 16 neighbours are as far apart at
 * every tap. With steps of one a tile is any 16 pixels of the output as if that were W wide, too;
 * else of a row, whose last tile may go beyond. Sums are put into scratch laid out like that.
 * Images with channels first, few of them, are gathered: a pixel's row has all that its kernel
 * reads. Long images of one row are cut in parts, each a convolution on one thread.
 */
#include "fast/gemm/bf16x3.h"

#include <stdatomic.h>

#include "fast/gemm/bf16x3_small_m.h"
#include "fast/parallel.h"

/* Floats of A that a thread splits at a time; that are little; of a block of A with DEPTH of K,
 * which stays in the second cache level with two split panels. Items for each thread: blocks of
 * MANY_ROWS or more, or one of SOME_ROWS if B is little, else chunks of panels. GATHER rows of
 * pixels share what they read. SHORT, LONG: pixels of parts of a line. */
enum { LEAST_ROWS = 12, LEAST_COLUMNS = PRT_NHWC_BF16X3_FILTERS, LEAST_K = 24,
    LEAST_WORK = 1 << 20, PIECE = 1 << 14, BLOCK = PRT_BF16X3_BLOCK, ITEMS = 4,
    MANY_ROWS = 192, SOME_ROWS = 24, LITTLE = 1 << 17, GATHER = 4,
    DEPTH = PRT_BF16X3_DEPTH, ROWS = PRT_BF16X3_ROWS, SHORT = 256, LONG = 2048 };

/* Units of A that are split: rows, of images those of a row of pixels, with padding where that is
 * laid out. All with DEPTH of K, then all with more of it. */
typedef struct split_a {
    size_t row, end;
    float *a;
    size_t plane; /* floats from one of those to the next */
} split_a;

typedef struct job {
    const prt_product_spec *p;     /* one batch; `a` with the rows that are to be split */
    const prt_kern *kern;
    size_t rows, k;                /* of A: all units, and how long rows are */
    size_t unit;                   /* rows of one */
    split_a a;                     /* all; `a` is NULL: by items */
    size_t pitch;                  /* floats from row to row */
    size_t pieces;                 /* of A, for threads */
    const prt_nhwc *images;        /* that are gathered; else NULL */
    const prt_nhwc *v;             /* of another convolution; else NULL */
    size_t wide, high;             /* pixels of its image with padding */
    size_t taps, out_wide;         /* pixels of a row of sums */
    size_t *tap_at;
    size_t piece, chunks, blocks;  /* columns, whose chunks are whole pieces; blocks of rows, or of
                                    * rows of pixels */
    bool own;                      /* items split what they read of A */
    size_t span;                   /* panels that pass by before more of K does */
    size_t parts;                  /* of K */
    size_t size, sums, table;      /* floats of a split part of a panel, of sums, of tiles */
    size_t scratch;                /* of an item */
    const prt_nhwc_sink *sink;     /* takes panels of C, which are all put in one place; or NULL */
    _Atomic bool finite;
} job;

static size_t cuts_of(size_t n, size_t most)
{
    return (n + most - 1) / most;
}

/* ---- A ---- */

/* Rows of A that follow each other, to `to` and behind. */
static void split_rows(job *j, const float *a, size_t lda, size_t rows, size_t plane, float *to)
{
    const float *scale = j->p->scale;
    for (size_t k = 0; k < j->k; k += DEPTH, to += plane)
        if (!j->kern->bf16x3.rows(rows, prt_lesser(j->k - k, DEPTH), a + k, lda,
                scale != NULL ? scale + k : NULL, to, j->pitch))
            atomic_store_explicit(&j->finite, false, memory_order_relaxed);
}

static void zero_rows(const job *j, size_t rows, size_t plane, float *to)
{
    for (size_t k = 0; k < j->k; k += DEPTH, to += plane)
        memset(to, 0, rows * j->pitch * sizeof(float));
}

/* Row `row` of all images with padding. */
static void split_pixels(job *j, size_t row, size_t plane, float *to)
{
    const prt_nhwc *v = j->v;
    const size_t left = (size_t)v->left;
    const size_t in = prt_lesser(v->in_w, j->wide - prt_lesser(left, j->wide));
    const size_t y = row % j->high - (size_t)v->top, past = prt_lesser(left, j->wide) + in;
    if (y >= v->in_h || in == 0) {
        zero_rows(j, j->wide, plane, to);
        return;
    }
    zero_rows(j, left, plane, to);
    split_rows(j, v->x + (row / j->high * v->in_h + y) * v->in_w * v->x_pitch, v->x_pitch, in,
        plane, to + left * j->pitch);
    zero_rows(j, j->wide - past, plane, to + past * j->pitch);
}

/* Floats of what rows of pixels that are gathered together read. */
static size_t room_of(const job *j)
{
    const prt_nhwc *v = j->images;
    const size_t high = v != NULL ? prt_nhwc_band_high(v, prt_lesser(GATHER, v->out_h)) : 0;
    return v != NULL ? cuts_of(high * prt_nhwc_band_wide(v), 16) * 16 : 0;
}

/* Some rows of pixels of an image, from row `row` of all images on. */
static void gather_pixels(job *j, size_t row, size_t rows, size_t plane, float *band, float *to)
{
    const prt_nhwc *v = j->images;
    const size_t wide = prt_nhwc_band_wide(v);
    prt_bf16x3_pixels g = { .count = v->out_w, .step = v->stride_w * v->in_c,
        .each = v->kernel_w * v->in_c, .far = v->dilation_h * wide, .x = band, .ldto = j->pitch };
    prt_nhwc_lay_band(v, row / v->out_h, row % v->out_h, rows, band);
    for (size_t i = 0; i < rows; i++, g.x += v->stride_h * wide)
        for (g.skip = 0; g.skip < j->k; g.skip += DEPTH) {
            g.k = prt_lesser(j->k - g.skip, DEPTH);
            g.to = to + g.skip / DEPTH * plane + i * j->unit * j->pitch;
            if (!j->kern->bf16x3.pixels(&g))
                atomic_store_explicit(&j->finite, false, memory_order_relaxed);
        }
}

/* Units [row, end) of those that are there. */
static void split_some(job *j, const split_a *s, size_t row, size_t end, float *room)
{
    const prt_product_spec *p = j->p;
    const size_t size = j->unit * j->pitch;
    float *to = s->a + (row - s->row) * size;
    for (size_t some; row < end && j->images != NULL; row += some, to += some * size) {
        some = prt_lesser(GATHER, j->images->out_h - row % j->images->out_h);
        some = prt_lesser(some, end - row);
        gather_pixels(j, row, some, s->plane, room, to);
    }
    if (row < end && j->v == NULL)
        split_rows(j, p->a + row * p->lda, p->lda, end - row, s->plane, to);
    for (; row < end && j->v != NULL; row++, to += size)
        split_pixels(j, row, s->plane, to);
}

static void split_piece(const void *user, size_t item, float *scratch)
{
    job *j = (job *)(uintptr_t)user;
    split_some(j, &j->a, prt_parallel_cut(j->rows, j->pieces, item),
        prt_parallel_cut(j->rows, j->pieces, item + 1), scratch);
}

/* ---- parts of panels ---- */

typedef struct part {
    size_t first;     /* column */
    size_t tap, skip; /* piece, and where in each */
    bool begins, ends; /* K */
    prt_bf16x3_panel panel;
} part;

/* Part i of K of columns from `first` on, before `end`, in `room` where it has to be packed. */
static part part_of(const job *j, size_t first, size_t end, size_t i, float *room, float *to)
{
    const prt_product_spec *p = j->p;
    const size_t cuts = cuts_of(j->k, DEPTH), skip = first % PRT_GEMM_PANEL;
    part t = { .first = first, .begins = i == 0, .ends = i + 1 == j->parts };
    const size_t columns = prt_lesser(end - first, PRT_GEMM_PANEL - skip);
    const size_t width = prt_gemm_width(columns);
    size_t taps = 1;
    if (cuts > 1) {
        t.tap = i / cuts;
        t.skip = i % cuts * DEPTH;
    } else {
        const size_t some = DEPTH / prt_bf16x3_size(j->k);
        t.tap = i * some;
        taps = prt_lesser(some, j->taps - t.tap);
    }
    t.panel = (prt_bf16x3_panel){ .taps = taps, .k = prt_lesser(j->k - t.skip, DEPTH),
        .columns = columns, .b = room, .stride = width, .to = to };
    const size_t k = t.tap * j->k + t.skip;
    if (p->direct != NULL && (width == columns || p->padded))
        t.panel.b = p->direct(p, 0, first - skip, k, &t.panel.stride) + skip;
    else
        p->pack(p, 0, first, columns, k, t.panel.k, room);
    return t;
}

/* What an item multiplies. */
typedef struct rows {
    size_t first, count;   /* of C; of a convolution those of pixels */
    size_t tiles;
    const size_t *tile_at;
    float *sums;           /* of a convolution */
    split_a a;             /* which they read */
} rows;

/* Sums of rows of pixels become the output's. */
static void finish(const job *j, const rows *r, const part *t)
{
    const prt_nhwc *v = j->v;
    const size_t columns = t->panel.columns;
    float *sums = r->sums;
    for (size_t i = 0; i < r->count; i++, sums += j->out_wide * PRT_GEMM_PANEL) {
        const size_t pixel = (r->first + i) * v->out_w;
        const prt_gemm_end add = { .residual = sums, .ldr = PRT_GEMM_PANEL, .act = v->act };
        prt_gemm_block g = { .rows = v->out_w, .columns = columns, .a = sums, .b = sums,
            .c = v->y + pixel * v->y_pitch + t->first, .ldc = v->y_pitch, .end = &add };
        if (v->residual != NULL) {
            const prt_gemm_end first = { .residual = v->residual + pixel * v->residual_pitch +
                    t->first, .ldr = v->residual_pitch };
            prt_gemm_block to = { .rows = v->out_w, .columns = columns, .a = sums, .b = sums,
                .c = sums, .ldc = PRT_GEMM_PANEL, .add = true, .end = &first };
            v->kern->gemm(&to);
        }
        v->kern->gemm(&g);
    }
}

static void multiply(job *j, const rows *r, const part *t, prt_bf16x3_panel *next)
{
    const prt_product_spec *p = j->p;
    const prt_bf16x3_panel *b = &t->panel;
    prt_gemm_end e = p->end;
    prt_bf16x3_block g = { .rows = r->count, .columns = b->columns, .k = b->k,
        .a = r->a.a + t->skip / DEPTH * r->a.plane, .lda = j->pitch, .taps = b->taps, .b = b->to,
        .bias = e.bias != NULL ? e.bias + t->first : NULL, .add = !t->begins, .ahead = next };
    if (!b->finite) {
        atomic_store_explicit(&j->finite, false, memory_order_relaxed);
        return;
    }
    if (j->v != NULL) {
        g.rows = r->tiles * ROWS;
        g.lda = j->v->stride_w * j->pitch;
        g.tile_at = r->tile_at;
        g.tap_at = j->tap_at + t->tap;
        g.c = r->sums;
        g.ldc = PRT_GEMM_PANEL;
    } else {
        g.a += (r->first - r->a.row * j->unit) * j->pitch;
        g.c = p->c + r->first * p->ldc + (j->sink == NULL ? t->first : 0);
        g.ldc = p->ldc;
        e.bias = NULL;
        e.residual = e.residual != NULL ? e.residual + r->first * e.ldr + t->first : NULL;
        e.row_bias = e.row_bias != NULL ? e.row_bias + r->first : NULL;
        g.end = t->ends && !prt_gemm_end_is_plain(&e) ? &e : NULL;
    }
    j->kern->bf16x3.multiply(&g);
    if (j->v != NULL && t->ends)
        finish(j, r, t);
    if (j->sink != NULL && t->ends)
        j->sink->take(j->sink->user, t->first, b->columns);
}

/* ---- items ---- */

/* What rows of C, or of pixels, read of A. */
static void find_a(const job *j, const rows *r, split_a *to)
{
    const prt_nhwc *v = j->v;
    to->row = r->first / j->unit;
    to->end = to->row + r->count / j->unit;
    if (v != NULL) {
        to->row = r->first / v->out_h * j->high + r->first % v->out_h * v->stride_h;
        to->end = to->row + prt_nhwc_band_high(v, r->count);
    }
}

/* Where tiles of rows of pixels, which read from `row` on, find that. */
static void find_tiles(const job *j, rows *r, size_t row, size_t *to)
{
    const prt_nhwc *v = j->v;
    const size_t per = j->out_wide == j->wide ? 0 : j->out_wide / ROWS; /* tiles of a row */
    r->tiles = cuts_of((r->count - 1) * j->out_wide + v->out_w, ROWS);
    for (size_t i = 0; i < r->tiles; i++) {
        const size_t y = per != 0 ? i / per : 0, x = (per != 0 ? i % per : i) * ROWS;
        to[i] = ((row - r->a.row + y * v->stride_h) * j->wide + x * v->stride_w) * j->pitch;
    }
    r->tile_at = to;
}

/* Where the panel of a column, and panels after it, are over. */
static size_t panel_after(size_t column, size_t panels)
{
    return (column / PRT_GEMM_PANEL + panels) * PRT_GEMM_PANEL;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    job *j = (job *)(uintptr_t)user;
    const prt_nhwc *v = j->v;
    const size_t chunk = item % j->chunks, block = item / j->chunks % j->blocks;
    const size_t image = item / j->chunks / j->blocks, each = j->images != NULL ? j->unit : 1;
    const size_t all = v != NULL ? v->out_h : j->p->m / each;
    const size_t row = prt_parallel_cut(all, j->blocks, block);
    rows r = { .first = (image * all + row) * each,
        .count = (prt_parallel_cut(all, j->blocks, block + 1) - row) * each, .sums = scratch,
        .a = j->a };
    const size_t pieces = cuts_of(j->p->n, j->piece);
    size_t first = prt_parallel_cut(pieces, j->chunks, chunk) * j->piece, at = first, i = 0;
    const size_t last =
        prt_lesser(prt_parallel_cut(pieces, j->chunks, chunk + 1) * j->piece, j->p->n);
    float *split = scratch + j->sums, *packed = split + 2 * j->size;
    split_a own = { .a = packed + j->table + room_of(j), .plane = j->a.plane };
    find_a(j, &r, &own);
    if (j->a.a == NULL) {
        r.a = own;
        split_some(j, &own, own.row, own.end, packed + j->table);
    }
    if (v != NULL)
        find_tiles(j, &r, own.row, (size_t *)(void *)packed);
    part t = part_of(j, first, last, 0, packed, split), next;
    j->kern->bf16x3.begin(v != NULL ? r.tiles * ROWS : r.count, v != NULL);
    j->kern->bf16x3.panel(&t.panel);
    for (size_t other = 1;
         first < last && atomic_load_explicit(&j->finite, memory_order_relaxed);
         other = 1 - other, t = next) {
        const size_t past = prt_lesser(panel_after(first, j->span), last);
        at = panel_after(at, 1) < past ? panel_after(at, 1) : first;
        i += at == first ? 1 : 0;
        if (i == j->parts) {
            i = 0;
            at = first = past;
        }
        next = t;
        if (first < last)
            next = part_of(j, at, last, i, packed + other * j->size, split + other * j->size);
        multiply(j, &r, &t, first < last ? &next.panel : NULL);
    }
    j->kern->bf16x3.end();
}

/* Short ones take no time either way, and small errors are worth more. */
bool prt_bf16x3_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k)
{
    return c->bf16x3 && kern->bf16x3.multiply != NULL && m >= LEAST_ROWS && n >= LEAST_COLUMNS &&
        k >= LEAST_K && (double)m * (double)n * (double)k >= LEAST_WORK;
}

/* Cuts a job of `all` rows of C, or rows of pixels with `row` of C each, in each of the images. */
static void cut(const prt_eval *c, job *j, size_t images, size_t all, size_t row)
{
    const prt_product_spec *p = j->p;
    const size_t depth = prt_lesser(j->k, DEPTH), cuts = cuts_of(j->k, DEPTH);
    const size_t some = prt_lesser(DEPTH / prt_bf16x3_size(depth), j->taps);
    j->pitch = prt_bf16x3_pitch(depth);
    j->parts = cuts > 1 ? cuts * j->taps : cuts_of(j->taps, some);
    j->size = some * prt_bf16x3_size(depth) * PRT_GEMM_PANEL;
    j->blocks = prt_lesser(cuts_of(all * row * DEPTH, BLOCK), all);
    j->span = j->v != NULL || all / j->blocks * p->k <= BLOCK ? 1 : p->n;
    const size_t width = prt_parallel_width(c), items = width > 1 ? ITEMS * width : 1;
    const size_t more = all * row / MANY_ROWS; /* blocks, rather than chunks */
    if (images * j->blocks < items && more > j->blocks)
        j->blocks = prt_lesser(prt_lesser(more, cuts_of(items, images)), all);
    if (images * j->blocks < width && all * row >= width * SOME_ROWS && p->n * p->k <= 2 * LITTLE)
        j->blocks = prt_lesser(width, all);
    const bool little = j->rows * j->unit * j->k <= LITTLE;
    j->piece = little ? PRT_GEMM_PANEL / 2 : PRT_GEMM_PANEL; /* kernels take 32 columns at a time */
    const size_t chunks = prt_lesser(little ? width : items, cuts_of(p->n, j->piece));
    j->chunks = images * j->blocks >= width ? 1 : chunks;
    j->own = j->chunks == 1 || little;
    j->blocks = prt_parallel_blocks(c, j->chunks * images, j->blocks, all, cuts_of(ROWS, row));
    const size_t tiles = cuts_of(cuts_of(all, j->blocks) * row, ROWS);
    j->sums = j->v != NULL ? tiles * ROWS * PRT_GEMM_PANEL : 0;
    j->table = j->v != NULL ? cuts_of(tiles * sizeof(size_t), 64) * 16
             : p->padded    ? 0
                            : cuts_of(2 * j->size + p->spare, 16) * 16;
    const size_t most = cuts_of(all, j->blocks);
    const prt_nhwc *v = j->v;
    const size_t beyond = v != NULL ? ROWS * v->stride_w : PRT_BF16X3_BEHIND; /* of the last tile */
    j->a.end = !j->own ? j->rows
        : v != NULL ? prt_nhwc_band_high(v, most)
                    : most;
    j->a.plane = (j->a.end * j->unit + beyond) * j->pitch;
    j->scratch = j->sums + 2 * j->size + j->table + (j->own ? cuts * j->a.plane + room_of(j) : 0);
    atomic_init(&j->finite, true);
}

static poprt_status run(prt_eval *c, job *j, size_t images, size_t all, size_t row, bool *done)
{
    cut(c, j, images, all, row);
    if (!j->own) {
        const size_t cuts = cuts_of(j->k, DEPTH);
        j->a.a = prt_parallel_raw(c, cuts, j->a.plane);
        if (j->a.a == NULL)
            return POPRT_E_NOMEM;
        j->pieces = prt_lesser(prt_parallel_alike(c, j->a.plane * cuts, PIECE), j->rows);
        PRT_TRY(prt_parallel_for(c, j->pieces, room_of(j), split_piece, j));
    }
    PRT_TRY(prt_parallel_for(c, j->chunks * j->blocks * images, j->scratch, run_item, j));
    *done = atomic_load(&j->finite);
    return POPRT_OK;
}

poprt_status prt_bf16x3_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done)
{
    job j = { .p = p, .kern = kern, .rows = p->m, .k = p->k, .unit = 1, .taps = 1 };
    if (prt_bf16x3_small_m_fits(p))
        return prt_bf16x3_small_m_product(c, kern, p, done);
    return run(c, &j, 1, p->m, 1, done);
}

/* ---- rows of a strip ---- */

static const float *strip_panel(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const float *w = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return w + first * p->k + k * *stride;
}

static const prt_eval alone; /* this thread */

static prt_product_spec spec_of_strip(const prt_nhwc_product *of, size_t m)
{
    return (prt_product_spec){ .m = m, .n = of->n, .k = of->k, .lda = of->lda, .ldc = of->ldc,
        .end = { .bias = of->bias, .ldr = of->ldc, .act = of->act }, .direct = strip_panel,
        .padded = true, .user = of->w };
}

static void begin_strip(job *j, const prt_kern *kern, const prt_product_spec *p)
{
    *j = (job){ .p = p, .kern = kern, .rows = p->m, .k = p->k, .unit = 1, .taps = 1 };
    cut(&alone, j, 1, p->m, 1);
}

size_t prt_bf16x3_strip_size(const prt_nhwc_product *p, size_t m)
{
    prt_product_spec spec = spec_of_strip(p, prt_lesser(m, PRT_BF16X3_SMALL_M));
    const size_t few = prt_bf16x3_small_m_fits(&spec) ? prt_bf16x3_small_m_size(spec.m, spec.k) : 0;
    job j;
    spec.m = prt_lesser(m, PRT_BF16X3_WHOLE); /* in one block */
    begin_strip(&j, NULL, &spec);
    return few > j.scratch ? few : j.scratch;
}

bool prt_bf16x3_strip(const prt_kern *kern, const prt_nhwc_product *p, size_t m, const float *a,
    float *c, const float *residual, const prt_nhwc_sink *sink, float *scratch)
{
    job j;
    prt_product_spec spec = spec_of_strip(p, m);
    spec.a = a;
    spec.c = c;
    spec.end.residual = residual;
    if (m == 0)
        return true;
    if (sink == NULL && prt_bf16x3_small_m_fits(&spec))
        return prt_bf16x3_small_m_strip(kern, &spec, scratch);
    begin_strip(&j, kern, &spec);
    j.sink = sink;
    for (size_t i = 0; i < j.blocks; i++)
        run_item(&j, i, scratch);
    return atomic_load_explicit(&j.finite, memory_order_relaxed);
}

/* ---- convolutions ---- */

static const float *panel_at(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const prt_nhwc *v = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return v->w + first * p->k + k * *stride;
}

/* The image with padding; false: that is out of proportion. */
static bool take_padding(job *j)
{
    const prt_nhwc *v = j->v;
    const double high = (double)(v->out_h - 1) * (double)v->stride_h +
        (double)(v->kernel_h - 1) * (double)v->dilation_h + 1.0;
    const double wide = (double)(v->out_w - 1) * (double)v->stride_w +
        (double)(v->kernel_w - 1) * (double)v->dilation_w + 1.0;
    const double pixels = (double)v->in_h * (double)v->in_w + (double)v->out_h * (double)v->out_w;
    if (!prt_nhwc_is_flat(v) || v->top < 0 || v->left < 0 || high * wide > 2.0 * pixels + 1024.0)
        return false;
    j->high = (size_t)high;
    j->wide = j->unit = (size_t)wide;
    const bool whole = v->stride_h == 1 && v->stride_w == 1;
    const size_t by_row = cuts_of(v->out_w, ROWS) * ROWS;
    j->out_wide = whole && j->wide <= by_row ? j->wide : by_row;
    return true;
}

bool prt_bf16x3_fits(const prt_nhwc *v)
{
    job j = { .v = v };
    return v->form.group == 1 && (v->images || prt_nhwc_is_plain(v) || take_padding(&j));
}

static prt_product_spec spec_of(const prt_nhwc *v)
{
    return (prt_product_spec){ .m = v->batch * v->out_d * v->out_h * v->out_w,
        .n = v->form.filters, .k = v->form.taps * v->form.channels, .a = v->x, .lda = v->x_pitch,
        .scale = v->scale, .c = v->y, .ldc = v->y_pitch, .end = { .bias = v->bias,
            .residual = v->residual, .ldr = v->residual_pitch, .act = v->act },
        .direct = panel_at, .padded = true, .user = v };
}

static void begin_conv(job *j, const prt_product_spec *p, const prt_nhwc *v, size_t *tap_at)
{
    *j = (job){ .p = p, .kern = v->kern, .k = v->form.channels, .taps = v->form.taps, .v = v,
        .tap_at = tap_at };
    (void)take_padding(j);
    j->rows = v->batch * j->high;
}

/* ---- long lines: images of one row, cut in parts that are rows of their own */

typedef struct lines {
    const prt_nhwc *v;
    size_t *tap_at, parts;
    _Atomic bool finite;
} lines;

/* Part `i` of a line, on this thread alone. */
static void begin_part(const lines *l, size_t image, size_t i, prt_nhwc *of,
    prt_product_spec *p, job *j)
{
    const size_t all = l->v->out_w;
    *of = prt_nhwc_part_of_line(l->v, image, prt_parallel_cut(all, l->parts, i),
        prt_parallel_cut(all, l->parts, i + 1));
    of->batch = 1;
    *p = spec_of(of);
    begin_conv(j, p, of, l->tap_at);
    cut(&alone, j, 1, 1, j->out_wide);
}

static void run_part(const void *user, size_t item, float *scratch)
{
    lines *l = (lines *)(uintptr_t)user;
    prt_nhwc of;
    prt_product_spec p;
    job j;
    if (!atomic_load_explicit(&l->finite, memory_order_relaxed))
        return;
    begin_part(l, item / l->parts, item % l->parts, &of, &p, &j);
    run_item(&j, 0, scratch);
    if (!atomic_load_explicit(&j.finite, memory_order_relaxed))
        atomic_store_explicit(&l->finite, false, memory_order_relaxed);
}

static poprt_status run_lines(prt_eval *c, lines *l, bool *done)
{
    prt_nhwc of;
    prt_product_spec p;
    job j;
    begin_part(l, 0, 0, &of, &p, &j); /* none is longer */
    atomic_init(&l->finite, true);
    PRT_TRY(prt_parallel_for(c, l->v->batch * l->parts, j.scratch, run_part, l));
    *done = atomic_load(&l->finite);
    return POPRT_OK;
}

/* Parts of each line; 1: it stays whole. */
static size_t parts_of(const prt_eval *c, const prt_nhwc *v)
{
    const size_t width = prt_parallel_width(c), most = v->out_w / SHORT;
    if (v->in_h != 1 || v->kernel_h != 1 || v->out_h != 1 || v->top != 0)
        return 1;
    const size_t some = prt_lesser(most, width > 1 ? 2 * width : 1);
    const size_t least = cuts_of(v->out_w, LONG);
    return prt_parallel_blocks(c, v->batch, some > least ? some : least, v->out_w, SHORT);
}

poprt_status prt_bf16x3_conv(prt_eval *c, const prt_nhwc *v, bool *done)
{
    const prt_product_spec p = spec_of(v);
    job j = { .p = &p, .kern = v->kern, .rows = v->batch * v->out_h, .k = p.k, .unit = v->out_w,
        .taps = 1, .images = v };
    if (prt_nhwc_is_plain(v))
        return prt_bf16x3_product(c, v->kern, &p, done);
    if (v->images)
        return run(c, &j, 1, j.rows, v->out_w, done);
    size_t *tap_at = prt_eval_scratch_raw(c, v->form.taps, sizeof(*tap_at));
    if (tap_at == NULL)
        return POPRT_E_NOMEM;
    begin_conv(&j, &p, v, tap_at);
    const size_t pitch = prt_bf16x3_pitch(prt_lesser(j.k, DEPTH));
    for (size_t t = 0; t < j.taps; t++)
        tap_at[t] = (t / v->kernel_w * v->dilation_h * j.wide +
            t % v->kernel_w * v->dilation_w) * pitch;
    lines l = { .v = v, .tap_at = tap_at, .parts = parts_of(c, v) };
    return l.parts > 1 ? run_lines(c, &l, done) : run(c, &j, v->batch, v->out_h, j.out_wide, done);
}
