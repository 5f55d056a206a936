/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.c — bf16x3 GEMM (kern/bf16x3/bf16x3.h): matrix products, and strips of rows for fused
 * convolutions.
 *
 * A work item is a block of rows of C and a chunk of panels of B. Loop order: groups of `span`
 * panels, parts of K, panels of the group. The next part of a panel is converted to bf16 pairs
 * while the current one is multiplied. A block of A with DEPTH of K stays in L2 together with two
 * converted parts.
 *
 * An item that has all panels, or reads a small A, converts its rows of A itself; otherwise all
 * threads convert A beforehand. If an element is not finite, the caller repeats the product in
 * float32.
 */
#include "fast/gemm/bf16x3.h"

#include <stdatomic.h>

#include "fast/gemm/bf16x3_small_m.h"
#include "fast/gemm/bf16x3_work.h"
#include "fast/parallel.h"

enum {
    LEAST_ROWS = 12, /* the smallest product that pays: rows, columns, K and their product */
    LEAST_COLUMNS = PRT_NHWC_BF16X3_FILTERS,
    LEAST_K = 24,
    LEAST_WORK = 1 << 20,
    PIECE = 1 << 14,          /* floats of A that one work item converts, at least */
    BLOCK = PRT_BF16X3_BLOCK, /* floats of a block of A: in L2 with two converted parts */
    ITEMS = 4,                /* work items for each thread */
    MANY_ROWS = 192,          /* rows of a block, at least, where blocks are cut for more items */
    SOME_ROWS = 24,           /* rows of the only block of a thread, at least, where B is small */
    LITTLE = 1 << 17,         /* floats of an A that each item converts for itself */
    DEPTH = PRT_BF16X3_DEPTH,
    ROWS = PRT_BF16X3_ROWS
};

/* ---- conversion of A ---- */

void prt_bf16x3_convert_rows(prt_bf16x3_work *w, const float *a, size_t lda, size_t rows,
    size_t plane, float *to)
{
    const float *scale = w->p->scale;
    for (size_t k = 0; k < w->k; k += DEPTH, to += plane)
        if (!w->kern->bf16x3.rows(rows, prt_size_min(w->k - k, DEPTH), a + k, lda,
                scale != NULL ? scale + k : NULL, to, w->pitch))
            atomic_store_explicit(&w->finite, false, memory_order_relaxed);
}

/* Converts units [row, end) of A into `s`. */
static void convert_units(prt_bf16x3_work *w, const prt_bf16x3_converted *s, size_t row, size_t end,
    float *band)
{
    const prt_product_spec *p = w->p;
    float *to = s->a + (row - s->row) * w->unit_rows * w->pitch;
    if (w->images != NULL)
        prt_bf16x3_convert_im2col(w, row, end, s->plane, band, to);
    else if (w->v != NULL)
        prt_bf16x3_convert_padded(w, row, end, s->plane, to);
    else if (row < end)
        prt_bf16x3_convert_rows(w, p->a + row * p->lda, p->lda, end - row, s->plane, to);
}

static void convert_piece(const void *user, size_t item, float *scratch)
{
    prt_bf16x3_work *w = (prt_bf16x3_work *)(uintptr_t)user;
    convert_units(w, &w->a, prt_parallel_piece_begin(w->units, w->pieces, item),
        prt_parallel_piece_begin(w->units, w->pieces, item + 1), scratch);
}

/* ---- parts of panels ---- */

/* Returns part i of K of the panel of column `first`, up to column `end`: in place, or packed to
 * `packed`. It is to be converted to `to`. */
static prt_bf16x3_part panel_part(const prt_bf16x3_work *w, size_t first, size_t end, size_t i,
    float *packed, float *to)
{
    const prt_product_spec *p = w->p;
    const size_t cuts = prt_bf16x3_item_count(w->k, DEPTH), skip = first % PRT_GEMM_PANEL;
    prt_bf16x3_part t = { .first = first, .begins = i == 0, .ends = i + 1 == w->parts };
    const size_t columns = prt_size_min(end - first, PRT_GEMM_PANEL - skip);
    const size_t width = prt_gemm_width(columns);
    size_t taps = 1;
    if (cuts > 1) {
        t.tap = i / cuts;
        t.skip = i % cuts * DEPTH;
    } else {
        const size_t some = DEPTH / prt_bf16x3_size(w->k);
        t.tap = i * some;
        taps = prt_size_min(some, w->taps - t.tap);
    }
    t.panel = (prt_bf16x3_panel){ .taps = taps,
        .k = prt_size_min(w->k - t.skip, DEPTH),
        .columns = columns,
        .b = packed,
        .stride = width,
        .to = to };
    const size_t k = t.tap * w->k + t.skip;
    if (p->direct != NULL && (width == columns || p->padded))
        t.panel.b = p->direct(p, 0, first - skip, k, &t.panel.stride) + skip;
    else
        p->pack(p, 0, first, columns, k, t.panel.k, packed);
    return t;
}

/* Multiplies the rows by one part of K of a panel, converts `next` meanwhile, and finishes the sums
 * after the last part. */
static void multiply(prt_bf16x3_work *w, const prt_bf16x3_item *r, const prt_bf16x3_part *t,
    prt_bf16x3_panel *next)
{
    const prt_product_spec *p = w->p;
    const prt_bf16x3_panel *b = &t->panel;
    prt_gemm_end e = p->end;
    prt_bf16x3_block g = { .rows = r->count,
        .columns = b->columns,
        .k = b->k,
        .a = r->a.a + t->skip / DEPTH * r->a.plane,
        .lda = w->pitch,
        .taps = b->taps,
        .b = b->to,
        .bias = e.bias != NULL ? e.bias + t->first : NULL,
        .add = !t->begins,
        .ahead = next };
    if (!b->finite) {
        atomic_store_explicit(&w->finite, false, memory_order_relaxed);
        return;
    }
    if (w->v != NULL) {
        g.rows = r->tiles * ROWS;
        g.lda = w->v->stride_w * w->pitch;
        g.tile_at = r->tile_at;
        g.tap_at = w->tap_at + t->tap;
        g.c = r->sums;
        g.ldc = PRT_GEMM_PANEL;
    } else {
        g.a += (r->first - r->a.row * w->unit_rows) * w->pitch;
        g.c = p->c + r->first * p->ldc + (w->sink == NULL ? t->first : 0);
        g.ldc = p->ldc;
        e.bias = NULL;
        e.residual = e.residual != NULL ? e.residual + r->first * e.ldr + t->first : NULL;
        e.row_bias = e.row_bias != NULL ? e.row_bias + r->first : NULL;
        g.end = t->ends && !prt_gemm_end_is_identity(&e) ? &e : NULL;
    }
    w->kern->bf16x3.multiply(&g);
    if (w->v != NULL && t->ends)
        prt_bf16x3_finish_pixels(w, r, t);
    if (w->sink != NULL && t->ends)
        w->sink->consume(w->sink->user, t->first, b->columns);
}

/* ---- items ---- */

/* Finds the units of A that the rows of an item read. */
static void find_input(const prt_bf16x3_work *w, const prt_bf16x3_item *r, prt_bf16x3_converted *to)
{
    const prt_nhwc *v = w->v;
    to->row = r->first / w->unit_rows;
    to->end = to->row + r->count / w->unit_rows;
    if (v != NULL) {
        to->row = r->first / v->out_h * w->padded_h + r->first % v->out_h * v->stride_h;
        to->end = to->row + prt_nhwc_band_rows(v, r->count);
    }
}

/* The first column after `panels` panels, counted from the panel of a column. */
static size_t panel_after(size_t column, size_t panels)
{
    return (column / PRT_GEMM_PANEL + panels) * PRT_GEMM_PANEL;
}

void prt_bf16x3_run_item(const void *user, size_t item, float *scratch)
{
    prt_bf16x3_work *w = (prt_bf16x3_work *)(uintptr_t)user;
    const prt_nhwc *v = w->v;
    const size_t chunk = item % w->chunks, block = item / w->chunks % w->blocks;
    const size_t image = item / w->chunks / w->blocks, each = w->images != NULL ? w->unit_rows : 1;
    const size_t all = v != NULL ? v->out_h : w->p->m / each;
    const size_t row = prt_parallel_piece_begin(all, w->blocks, block);
    prt_bf16x3_item r = { .first = (image * all + row) * each,
        .count = (prt_parallel_piece_begin(all, w->blocks, block + 1) - row) * each,
        .sums = scratch,
        .a = w->a };
    const size_t pieces = prt_bf16x3_item_count(w->p->n, w->chunk_step);
    size_t first = prt_parallel_piece_begin(pieces, w->chunks, chunk) * w->chunk_step, at = first,
           i = 0;
    const size_t last =
        prt_size_min(prt_parallel_piece_begin(pieces, w->chunks, chunk + 1) * w->chunk_step,
            w->p->n);
    float *split = scratch + w->sums, *packed = split + 2 * w->part_size;
    prt_bf16x3_converted own = { .a = packed + w->table + prt_bf16x3_band_size(w),
        .plane = w->a.plane };
    find_input(w, &r, &own);
    if (w->a.a == NULL) {
        r.a = own;
        convert_units(w, &own, own.row, own.end, packed + w->table);
    }
    if (v != NULL)
        prt_bf16x3_find_tiles(w, &r, own.row, (size_t *)(void *)packed);
    prt_bf16x3_part t = panel_part(w, first, last, 0, packed, split), next;
    w->kern->bf16x3.begin(v != NULL ? r.tiles * ROWS : r.count, v != NULL);
    w->kern->bf16x3.panel(&t.panel);
    for (size_t other = 1; first < last && atomic_load_explicit(&w->finite, memory_order_relaxed);
         other = 1 - other, t = next) {
        const size_t past = prt_size_min(panel_after(first, w->span), last);
        at = panel_after(at, 1) < past ? panel_after(at, 1) : first;
        i += at == first ? 1 : 0;
        if (i == w->parts) {
            i = 0;
            at = first = past;
        }
        next = t;
        if (first < last)
            next = panel_part(w, at, last, i, packed + other * w->part_size,
                split + other * w->part_size);
        multiply(w, &r, &t, first < last ? &next.panel : NULL);
    }
    w->kern->bf16x3.end();
}

/* Small products take little time either way, and the errors of float32 are smaller. */
bool prt_bf16x3_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k)
{
    return c->bf16x3 && kern->bf16x3.multiply != NULL && m >= LEAST_ROWS && n >= LEAST_COLUMNS &&
        k >= LEAST_K && (double)m * (double)n * (double)k >= LEAST_WORK;
}

void prt_bf16x3_set_items(const prt_eval *c, prt_bf16x3_work *w, size_t images, size_t all,
    size_t row)
{
    const prt_product_spec *p = w->p;
    const size_t depth = prt_size_min(w->k, DEPTH), cuts = prt_bf16x3_item_count(w->k, DEPTH);
    const size_t some = prt_size_min(DEPTH / prt_bf16x3_size(depth), w->taps);
    w->pitch = prt_bf16x3_pitch(depth);
    w->parts = cuts > 1 ? cuts * w->taps : prt_bf16x3_item_count(w->taps, some);
    w->part_size = some * prt_bf16x3_size(depth) * PRT_GEMM_PANEL;
    w->blocks = prt_size_min(prt_bf16x3_item_count(all * row * DEPTH, BLOCK), all);
    w->span = w->v != NULL || all / w->blocks * p->k <= BLOCK ? 1 : p->n;
    const size_t width = prt_parallel_threads(c), items = width > 1 ? ITEMS * width : 1;
    const size_t more = all * row / MANY_ROWS; /* blocks rather than chunks */
    if (images * w->blocks < items && more > w->blocks)
        w->blocks = prt_size_min(prt_size_min(more, prt_bf16x3_item_count(items, images)), all);
    if (images * w->blocks < width && all * row >= width * SOME_ROWS && p->n * p->k <= 2 * LITTLE)
        w->blocks = prt_size_min(width, all);
    const bool little = w->units * w->unit_rows * w->k <= LITTLE;
    /* The kernel computes 32 columns at a time. */
    w->chunk_step = little ? PRT_GEMM_PANEL / 2 : PRT_GEMM_PANEL;
    const size_t chunks =
        prt_size_min(little ? width : items, prt_bf16x3_item_count(p->n, w->chunk_step));
    w->chunks = images * w->blocks >= width ? 1 : chunks;
    w->converts_own = w->chunks == 1 || little;
    w->blocks = prt_parallel_blocks(c, w->chunks * images, w->blocks, all,
        prt_bf16x3_item_count(ROWS, row));
    const size_t tiles = prt_bf16x3_item_count(prt_bf16x3_item_count(all, w->blocks) * row, ROWS);
    w->sums = w->v != NULL ? tiles * ROWS * PRT_GEMM_PANEL : 0;
    w->table = w->v != NULL ? prt_bf16x3_item_count(tiles * sizeof(size_t), 64) * 16
        : p->padded         ? 0
                            : prt_bf16x3_item_count(2 * w->part_size + p->pack_scratch, 16) * 16;
    const size_t most = prt_bf16x3_item_count(all, w->blocks);
    const prt_nhwc *v = w->v;
    const size_t beyond =
        v != NULL ? ROWS * v->stride_w : PRT_BF16X3_ROWS_PAST_END; /* rows read by the last tile */
    w->a.end = !w->converts_own ? w->units : v != NULL ? prt_nhwc_band_rows(v, most) : most;
    w->a.plane = (w->a.end * w->unit_rows + beyond) * w->pitch;
    w->scratch = w->sums + 2 * w->part_size + w->table +
        (w->converts_own ? cuts * w->a.plane + prt_bf16x3_band_size(w) : 0);
    atomic_init(&w->finite, true);
}

poprt_status prt_bf16x3_run(prt_eval *c, prt_bf16x3_work *w, size_t images, size_t all, size_t row,
    bool *done)
{
    prt_bf16x3_set_items(c, w, images, all, row);
    if (!w->converts_own) {
        const size_t cuts = prt_bf16x3_item_count(w->k, DEPTH);
        w->a.a = prt_parallel_uninitialized_floats(c, cuts, w->a.plane);
        if (w->a.a == NULL)
            return POPRT_E_NOMEM;
        w->pieces =
            prt_size_min(prt_parallel_balanced_pieces(c, w->a.plane * cuts, PIECE), w->units);
        PRT_TRY(prt_parallel_for(c, w->pieces, prt_bf16x3_band_size(w), convert_piece, w));
    }
    PRT_TRY(
        prt_parallel_for(c, w->chunks * w->blocks * images, w->scratch, prt_bf16x3_run_item, w));
    *done = atomic_load(&w->finite);
    return POPRT_OK;
}

poprt_status prt_bf16x3_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done)
{
    prt_bf16x3_work w = { .p = p,
        .kern = kern,
        .units = p->m,
        .k = p->k,
        .unit_rows = 1,
        .taps = 1 };
    if (prt_bf16x3_small_m_fits(p))
        return prt_bf16x3_small_m_product(c, kern, p, done);
    return prt_bf16x3_run(c, &w, 1, p->m, 1, done);
}

/* ---- strips ---- */

static const float *strip_panel_at(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const float *w = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return w + first * p->k + k * *stride;
}

static const prt_eval one_thread; /* a context with one thread: this one */

static prt_product_spec strip_spec(const prt_nhwc_product *of, size_t m)
{
    return (prt_product_spec){ .m = m,
        .n = of->n,
        .k = of->k,
        .lda = of->lda,
        .ldc = of->ldc,
        .end = { .bias = of->bias, .ldr = of->ldc, .act = of->act },
        .direct = strip_panel_at,
        .padded = true,
        .user = of->w };
}

static void begin_strip(prt_bf16x3_work *w, const prt_kern *kern, const prt_product_spec *p)
{
    *w = (prt_bf16x3_work){ .p = p,
        .kern = kern,
        .units = p->m,
        .k = p->k,
        .unit_rows = 1,
        .taps = 1 };
    prt_bf16x3_set_items(&one_thread, w, 1, p->m, 1);
}

size_t prt_bf16x3_strip_size(const prt_nhwc_product *p, size_t m)
{
    prt_product_spec spec = strip_spec(p, prt_size_min(m, PRT_BF16X3_SMALL_M));
    const size_t small_m =
        prt_bf16x3_small_m_fits(&spec) ? prt_bf16x3_small_m_size(spec.m, spec.k) : 0;
    prt_bf16x3_work w;
    spec.m = prt_size_min(m, PRT_BF16X3_BLOCK_ROWS); /* one block */
    begin_strip(&w, NULL, &spec);
    return small_m > w.scratch ? small_m : w.scratch;
}

bool prt_bf16x3_strip(const prt_kern *kern, const prt_nhwc_product *p, size_t m, const float *a,
    float *c, const float *residual, const prt_nhwc_sink *sink, float *scratch)
{
    prt_bf16x3_work w;
    prt_product_spec spec = strip_spec(p, m);
    spec.a = a;
    spec.c = c;
    spec.end.residual = residual;
    if (m == 0)
        return true;
    if (sink == NULL && prt_bf16x3_small_m_fits(&spec))
        return prt_bf16x3_small_m_strip(kern, &spec, scratch);
    begin_strip(&w, kern, &spec);
    w.sink = sink;
    for (size_t i = 0; i < w.blocks; i++)
        prt_bf16x3_run_item(&w, i, scratch);
    return atomic_load_explicit(&w.finite, memory_order_relaxed);
}
