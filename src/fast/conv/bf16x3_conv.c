/* SPDX-License-Identifier: MIT */
/*
 * bf16x3_conv.c — convolutions by the bf16x3 GEMM (gemm/bf16x3_work.h).
 *
 * NHWC input runs without im2col (implicit GEMM): the input is converted into an image with
 * padding, padded_w pixels wide, so that the 16 rows of a tile have the same distance at every tap.
 * At stride 1 a tile is any 16 consecutive pixels of an output that is taken to be padded_w pixels
 * wide. Otherwise, or if that output would be wider than whole tiles, a tile belongs to one row of
 * pixels, and the last tile may reach beyond the row. Sums go to scratch in the same layout.
 *
 * NCHW input with few channels runs by im2col: a row of A has all inputs of an output pixel.
 *
 * Long images of one row are cut into parts, each a convolution on one thread.
 */
#include <stdatomic.h>

#include "fast/gemm/bf16x3.h"
#include "fast/gemm/bf16x3_work.h"
#include "fast/parallel.h"

enum {
    DEPTH = PRT_BF16X3_DEPTH,
    ROWS = PRT_BF16X3_ROWS,
    GATHER = 4,  /* rows of pixels gathered from one band of the input */
    SHORT = 256, /* pixels of a part of a line, at least */
    LONG = 2048  /* pixels of a part of a line, at most */
};

/* ---- padded images ---- */

static void zero_rows(const prt_bf16x3_work *w, size_t rows, size_t plane, float *to)
{
    for (size_t k = 0; k < w->k; k += DEPTH, to += plane)
        memset(to, 0, rows * w->pitch * sizeof(float));
}

/* Converts row `row` of all images with padding. */
static void convert_padded_row(prt_bf16x3_work *w, size_t row, size_t plane, float *to)
{
    const prt_nhwc *v = w->v;
    const size_t left = (size_t)v->left;
    const size_t in = prt_size_min(v->in_w, w->padded_w - prt_size_min(left, w->padded_w));
    const size_t y = row % w->padded_h - (size_t)v->top,
                 past = prt_size_min(left, w->padded_w) + in;
    if (y >= v->in_h || in == 0) {
        zero_rows(w, w->padded_w, plane, to);
        return;
    }
    zero_rows(w, left, plane, to);
    prt_bf16x3_convert_rows(w, v->x + (row / w->padded_h * v->in_h + y) * v->in_w * v->x_pitch,
        v->x_pitch, in, plane, to + left * w->pitch);
    zero_rows(w, w->padded_w - past, plane, to + past * w->pitch);
}

void prt_bf16x3_convert_padded(prt_bf16x3_work *w, size_t row, size_t end, size_t plane, float *to)
{
    for (; row < end; row++, to += w->unit_rows * w->pitch)
        convert_padded_row(w, row, plane, to);
}

/* ---- im2col ---- */

size_t prt_bf16x3_band_size(const prt_bf16x3_work *w)
{
    const prt_nhwc *v = w->images;
    const size_t high = v != NULL ? prt_nhwc_band_rows(v, prt_size_min(GATHER, v->out_h)) : 0;
    return v != NULL ? prt_bf16x3_item_count(high * prt_nhwc_band_row_size(v), 16) * 16 : 0;
}

/* Converts some rows of pixels of one image, from row `row` of all images on. */
static void gather_rows(prt_bf16x3_work *w, size_t row, size_t rows, size_t plane, float *band,
    float *to)
{
    const prt_nhwc *v = w->images;
    const size_t wide = prt_nhwc_band_row_size(v);
    prt_bf16x3_pixels g = { .count = v->out_w,
        .step = v->stride_w * v->in_c,
        .each = v->kernel_w * v->in_c,
        .piece_stride = v->dilation_h * wide,
        .x = band,
        .ldto = w->pitch };
    prt_nhwc_copy_band(v, row / v->out_h, row % v->out_h, rows, band);
    for (size_t i = 0; i < rows; i++, g.x += v->stride_h * wide)
        for (g.skip = 0; g.skip < w->k; g.skip += DEPTH) {
            g.k = prt_size_min(w->k - g.skip, DEPTH);
            g.to = to + g.skip / DEPTH * plane + i * w->unit_rows * w->pitch;
            if (!w->kern->bf16x3.pixels(&g))
                atomic_store_explicit(&w->finite, false, memory_order_relaxed);
        }
}

void prt_bf16x3_convert_im2col(prt_bf16x3_work *w, size_t row, size_t end, size_t plane,
    float *band, float *to)
{
    for (size_t some; row < end; row += some, to += some * w->unit_rows * w->pitch) {
        some = prt_size_min(GATHER, w->images->out_h - row % w->images->out_h);
        some = prt_size_min(some, end - row);
        gather_rows(w, row, some, plane, band, to);
    }
}

/* ---- tiles and sums ---- */

void prt_bf16x3_find_tiles(const prt_bf16x3_work *w, prt_bf16x3_item *r, size_t row, size_t *to)
{
    const prt_nhwc *v = w->v;
    const size_t per =
        w->sums_w == w->padded_w ? 0 : w->sums_w / ROWS; /* tiles in a row; 0: they run over rows */
    r->tiles = prt_bf16x3_item_count((r->count - 1) * w->sums_w + v->out_w, ROWS);
    for (size_t i = 0; i < r->tiles; i++) {
        const size_t y = per != 0 ? i / per : 0, x = (per != 0 ? i % per : i) * ROWS;
        to[i] = ((row - r->a.row + y * v->stride_h) * w->padded_w + x * v->stride_w) * w->pitch;
    }
    r->tile_at = to;
}

void prt_bf16x3_finish_pixels(const prt_bf16x3_work *w, const prt_bf16x3_item *r,
    const prt_bf16x3_part *t)
{
    const prt_nhwc *v = w->v;
    const size_t columns = t->panel.columns;
    float *sums = r->sums;
    for (size_t i = 0; i < r->count; i++, sums += w->sums_w * PRT_GEMM_PANEL) {
        const size_t pixel = (r->first + i) * v->out_w;
        const prt_gemm_end add = { .residual = sums, .ldr = PRT_GEMM_PANEL, .act = v->act };
        prt_gemm_block g = { .rows = v->out_w,
            .columns = columns,
            .a = sums,
            .b = sums,
            .c = v->y + pixel * v->y_pitch + t->first,
            .ldc = v->y_pitch,
            .end = &add };
        if (v->residual != NULL) {
            const prt_gemm_end first = { .residual =
                                             v->residual + pixel * v->residual_pitch + t->first,
                .ldr = v->residual_pitch };
            prt_gemm_block to = { .rows = v->out_w,
                .columns = columns,
                .a = sums,
                .b = sums,
                .c = sums,
                .ldc = PRT_GEMM_PANEL,
                .add = true,
                .end = &first };
            v->kern->gemm(&to);
        }
        v->kern->gemm(&g);
    }
}

/* ---- the work of a convolution ---- */

static const prt_eval one_thread; /* a context with one thread: this one */

static const float *panel_at(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const prt_nhwc *v = p->user;
    (void)batch;
    *stride = prt_gemm_panel_width(p->n, first);
    return v->w + first * p->k + k * *stride;
}

/* Sets the sizes of the image with padding. Returns false if the padding is negative or out of
 * proportion, or the image has a depth. */
static bool set_padded_size(prt_bf16x3_work *w)
{
    const prt_nhwc *v = w->v;
    const double high = (double)(v->out_h - 1) * (double)v->stride_h +
        (double)(v->kernel_h - 1) * (double)v->dilation_h + 1.0;
    const double wide = (double)(v->out_w - 1) * (double)v->stride_w +
        (double)(v->kernel_w - 1) * (double)v->dilation_w + 1.0;
    const double pixels = (double)v->in_h * (double)v->in_w + (double)v->out_h * (double)v->out_w;
    if (!prt_nhwc_is_2d(v) || v->top < 0 || v->left < 0 || high * wide > 2.0 * pixels + 1024.0)
        return false;
    w->padded_h = (size_t)high;
    w->padded_w = w->unit_rows = (size_t)wide;
    const bool whole = v->stride_h == 1 && v->stride_w == 1;
    const size_t by_row = prt_bf16x3_item_count(v->out_w, ROWS) * ROWS;
    w->sums_w = whole && w->padded_w <= by_row ? w->padded_w : by_row;
    return true;
}

bool prt_bf16x3_fits(const prt_nhwc *v)
{
    prt_bf16x3_work w = { .v = v };
    return v->layout.group == 1 &&
        (v->images || prt_nhwc_is_pointwise_conv(v) || set_padded_size(&w));
}

static prt_product_spec conv_spec(const prt_nhwc *v)
{
    return (prt_product_spec){ .m = v->batch * v->out_d * v->out_h * v->out_w,
        .n = v->layout.filters,
        .k = v->layout.taps * v->layout.channels,
        .a = v->x,
        .lda = v->x_pitch,
        .scale = v->scale,
        .c = v->y,
        .ldc = v->y_pitch,
        .end = { .bias = v->bias,
            .residual = v->residual,
            .ldr = v->residual_pitch,
            .act = v->act },
        .direct = panel_at,
        .padded = true,
        .user = v };
}

static void begin_conv(prt_bf16x3_work *w, const prt_product_spec *p, const prt_nhwc *v,
    size_t *tap_at)
{
    *w = (prt_bf16x3_work){ .p = p,
        .kern = v->kern,
        .k = v->layout.channels,
        .taps = v->layout.taps,
        .v = v,
        .tap_at = tap_at };
    (void)set_padded_size(w);
    w->units = v->batch * w->padded_h;
}

/* ---- long lines: images of one row, cut into parts that are images of their own ---- */

typedef struct line_parts {
    const prt_nhwc *v;
    size_t *tap_at, parts;
    _Atomic bool finite;
} line_parts;

/* Prepares part `i` of a line as a convolution on this thread. */
static void begin_line_part(const line_parts *l, size_t image, size_t i, prt_nhwc *of,
    prt_product_spec *p, prt_bf16x3_work *w)
{
    const size_t all = l->v->out_w;
    *of = prt_nhwc_part_of_line(l->v, image, prt_parallel_piece_begin(all, l->parts, i),
        prt_parallel_piece_begin(all, l->parts, i + 1));
    of->batch = 1;
    *p = conv_spec(of);
    begin_conv(w, p, of, l->tap_at);
    prt_bf16x3_set_items(&one_thread, w, 1, 1, w->sums_w);
}

static void run_line_part(const void *user, size_t item, float *scratch)
{
    line_parts *l = (line_parts *)(uintptr_t)user;
    prt_nhwc of;
    prt_product_spec p;
    prt_bf16x3_work w;
    if (!atomic_load_explicit(&l->finite, memory_order_relaxed))
        return;
    begin_line_part(l, item / l->parts, item % l->parts, &of, &p, &w);
    prt_bf16x3_run_item(&w, 0, scratch);
    if (!atomic_load_explicit(&w.finite, memory_order_relaxed))
        atomic_store_explicit(&l->finite, false, memory_order_relaxed);
}

static poprt_status run_line_parts(prt_eval *c, line_parts *l, bool *done)
{
    prt_nhwc of;
    prt_product_spec p;
    prt_bf16x3_work w;
    begin_line_part(l, 0, 0, &of, &p, &w); /* the longest part */
    atomic_init(&l->finite, true);
    PRT_TRY(prt_parallel_for(c, l->v->batch * l->parts, w.scratch, run_line_part, l));
    *done = atomic_load(&l->finite);
    return POPRT_OK;
}

/* Returns the number of parts of each line; 1: it stays whole. */
static size_t parts_per_line(const prt_eval *c, const prt_nhwc *v)
{
    const size_t width = prt_parallel_threads(c), most = v->out_w / SHORT;
    if (v->in_h != 1 || v->kernel_h != 1 || v->out_h != 1 || v->top != 0)
        return 1;
    const size_t some = prt_size_min(most, width > 1 ? 2 * width : 1);
    const size_t least = prt_bf16x3_item_count(v->out_w, LONG);
    return prt_parallel_blocks(c, v->batch, some > least ? some : least, v->out_w, SHORT);
}

poprt_status prt_bf16x3_conv(prt_eval *c, const prt_nhwc *v, bool *done)
{
    const prt_product_spec p = conv_spec(v);
    prt_bf16x3_work w = { .p = &p,
        .kern = v->kern,
        .units = v->batch * v->out_h,
        .k = p.k,
        .unit_rows = v->out_w,
        .taps = 1,
        .images = v };
    if (prt_nhwc_is_pointwise_conv(v))
        return prt_bf16x3_product(c, v->kern, &p, done);
    if (v->images)
        return prt_bf16x3_run(c, &w, 1, w.units, v->out_w, done);
    size_t *tap_at = prt_eval_scratch_raw(c, v->layout.taps, sizeof(*tap_at));
    if (tap_at == NULL)
        return POPRT_E_NOMEM;
    begin_conv(&w, &p, v, tap_at);
    const size_t pitch = prt_bf16x3_pitch(prt_size_min(w.k, DEPTH));
    for (size_t t = 0; t < w.taps; t++)
        tap_at[t] =
            (t / v->kernel_w * v->dilation_h * w.padded_w + t % v->kernel_w * v->dilation_w) *
            pitch;
    line_parts l = { .v = v, .tap_at = tap_at, .parts = parts_per_line(c, v) };
    return l.parts > 1 ? run_line_parts(c, &l, done)
                       : prt_bf16x3_run(c, &w, v->batch, v->out_h, w.sums_w, done);
}
