/* SPDX-License-Identifier: MIT */
/*
 * nhwc.c — NhwcConv as GEMM without im2col (implicit GEMM): output pixels by K (taps, then
 * channels) times packed weights. The micro-kernel takes the address of each tap of a pixel; taps
 * in the padding point to a pixel of zeros.
 *
 * Loop order of an item: groups, panels of filters, blocks of K, with a block of pixels inside. A
 * block of A and one of a panel of B stay in L2 together.
 *
 * NCHW input, which has few channels, is copied to scratch in bands of NHWC rows with padding. Then
 * all taps of a kernel row are contiguous.
 */
#include "fast/nhwc.h"

#include "fast/gemm/matmul.h"
#include "fast/parallel.h"
#include "fast/gemm/bf16x3.h"
#include "fast/gemm/strassen.h"
#include "op/internal/fused.h"

enum {
    DEPTH = 512,     /* floats of K in a block */
    BLOCK = 1 << 16, /* floats of A that stay in L2 with a block of B */
    LEAST_ROWS = 96, /* pixels of a block of A, at least */
    MOST_ROWS = 1024,
    ITEMS = 8,           /* work items, at least, unless blocks become too small */
    MIN_PIXELS = 8,      /* pixels of a block, at least, where threads would be idle otherwise */
    MAX_GATED_PIXELS = 4 /* per filter, at most: bf16x3 scales pixels, not weights, by the gate */
};

typedef struct conv_work {
    const prt_nhwc *v;
    size_t slices;         /* items that share the filters */
    size_t halves;         /* half panels, divided among the slices; 0: a slice is one panel */
    size_t chunks;         /* parts of the groups; the groups of a part share their addresses */
    size_t blocks, pixels; /* blocks of an image's output; its pixels */
    size_t rows;           /* of a block, at most: pixels, or rows of pixels for NCHW input */
    bool pointwise;        /* pointwise: output i reads only input i */
    size_t wide;           /* floats of a row of a band */
    size_t table;          /* floats of scratch for the addresses */
    size_t image_w;        /* floats from one image's weights to the next one's; 0: shared */
} conv_work;

/* A block of pixels times one slice of filters. */
typedef struct block {
    const conv_work *j;
    size_t n, group, first, columns; /* image; group; filters of the group */
    size_t beyond;                   /* floats from the addresses to the channels of `group` */
    size_t row, rows;                /* pixels */
    const float **from;              /* [tap][pixel]; NULL: pointwise */
    size_t taps, depth;              /* contiguous pieces of a row of A, and floats of one */
} block;

static size_t clamp(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- products ---- */

/* Returns whether the block is of the last group and the last image. */
static bool is_last(const block *b)
{
    return b->group + 1 == b->j->v->layout.group && b->n + 1 == b->j->v->batch;
}

/* Sets the weights to prefetch: the next block of K of the panel, the panel that this thread may
 * get next, or the constant of a later step. */
static void fetch_next(const block *b, bool last, prt_gemm_block *g)
{
    const conv_work *j = b->j;
    const size_t whole = b->taps * b->depth, taps = g->from != NULL ? g->taps : 1;
    const size_t count = taps * g->k * g->stride, ahead = b->first + b->columns;
    if (!last) {
        g->next = g->b + count;
        g->next_count = count;
    } else if (ahead % PRT_GEMM_PANEL == 0 && ahead + PRT_GEMM_PANEL <= j->v->layout.filters) {
        g->next = j->v->w + b->group * prt_nhwc_weights_step(&j->v->layout) + ahead * whole;
        g->next_count = count < PRT_GEMM_PANEL * whole ? count : PRT_GEMM_PANEL * whole;
    } else if (ahead == j->v->layout.filters && is_last(b)) {
        prt_fast_prefetch_hint(j->v->prefetch_hint, g);
    }
}

/* Sets the inputs to prefetch: the rows that the next block reads and this one does not, or the
 * constant of a later step. */
static void fetch_after(const block *b, prt_gemm_block *g)
{
    const conv_work *j = b->j;
    const prt_nhwc *v = j->v;
    const size_t end = b->row + b->rows;
    if (end == j->pixels) {
        if (is_last(b))
            prt_fast_prefetch_hint(v->prefetch_hint, g);
        return;
    }
    const size_t row_size = v->in_w * v->x_pitch, each = row_size * v->stride_h;
    const int64_t last =
        (int64_t)((end - 1) / v->out_w * v->stride_h + (v->kernel_h - 1) * v->dilation_h) - v->top;
    const size_t at = (last < 0 ? 0 : (size_t)last) * row_size;
    const size_t count = b->rows * each / v->out_w, size = v->in_h * row_size;
    if (b->from == NULL || v->images || v->in_d != 1 || at >= size)
        return;
    g->next = v->x + b->n * size + at;
    g->next_count = count < size - at ? count : size - at;
}

/* A block of K: taps [tap, tap + taps), elements [skip, skip + k) of each, for pixels [row, row +
 * rows) of the block. The first part of a pixel overwrites the output, the last part applies bias,
 * residual and activation. */
typedef struct part {
    size_t tap, taps, skip, k, row, rows;
    bool first, last;
} part;

static void multiply(const block *b, const part *p)
{
    const conv_work *j = b->j;
    const prt_nhwc *v = j->v;
    const prt_nhwc_weights *w = &v->layout;
    const size_t panel = b->first / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    const size_t width = prt_gemm_panel_width(w->filters, panel);
    const size_t whole = b->taps * b->depth;
    const size_t column = b->group * w->filters + b->first;
    const size_t pixel = b->n * j->pixels + b->row + p->row;
    const prt_gemm_end end = { .bias = v->bias != NULL ? v->bias + column : NULL,
        .residual = v->residual != NULL ? v->residual + pixel * v->residual_pitch + column : NULL,
        .ldr = v->residual_pitch,
        .act = v->act };
    prt_gemm_block g = { .rows = p->rows,
        .columns = b->columns,
        .k = p->k,
        .a = b->from == NULL ? v->x + pixel * v->x_pitch + b->group * w->channels + p->skip : NULL,
        .lda = v->x_pitch,
        .from = b->from != NULL ? b->from + p->tap * b->rows + p->row : NULL,
        .taps = p->taps,
        .skip = b->from != NULL ? b->beyond + p->skip : 0,
        .b = v->w + b->n * j->image_w + b->group * prt_nhwc_weights_step(w) + panel * whole +
            (p->tap * b->depth + p->skip) * width + b->first - panel,
        .stride = width,
        .c = v->y + pixel * v->y_pitch + column,
        .ldc = v->y_pitch,
        .add = !p->first,
        .end = p->last && !prt_gemm_end_is_identity(&end) ? &end : NULL };
    if (j->blocks == 1) /* weights are read once: prefetch the next ones */
        fetch_next(b, p->last, &g);
    else if (p->last && b->first + b->columns >= w->filters)
        fetch_after(b, &g);
    v->kern->gemm(&g);
}

/* Multiplies depth [skip, end) of a tap, in blocks of K. */
static void multiply_tap(const block *b, part p, size_t end)
{
    const size_t skip = p.skip, parts = (end - skip + DEPTH - 1) / DEPTH;
    const bool first = p.first, last = p.last;
    for (size_t i = 0; i < parts; i++) {
        p.skip = skip + prt_parallel_piece_begin(end - skip, parts, i);
        p.k = skip + prt_parallel_piece_begin(end - skip, parts, i + 1) - p.skip;
        p.first = first && i == 0;
        p.last = last && i + 1 == parts;
        multiply(b, &p);
    }
}

/* Returns the first run of pixels, from `row` on, whose tap is inside the image. A run may contain
 * up to GAP pixels whose tap is in the padding. */
static part next_run(const block *b, size_t tap, size_t row)
{
    enum { GAP = 4 };
    const float *const *from = b->from + tap * b->rows, *zeros = b->j->v->zeros;
    part p = { .tap = tap, .taps = 1 };
    while (row < b->rows && from[row] == zeros)
        row++;
    p.row = row;
    for (size_t end = row; end < b->rows && end - row <= GAP; end++)
        if (from[end] != zeros)
            row = end + 1;
    p.rows = row - p.row;
    return p;
}

/* Large dilations on small images: skips taps that fall into the padding. A tap that every pixel
 * has runs first and last, since it initialises and finishes the sums. Returns false when skipping
 * saves too little. */
static bool run_dilated(const block *b)
{
    const prt_nhwc *v = b->j->v;
    size_t live = 0, full = b->taps;
    part p;
    if (b->from == NULL || v->images || b->depth < PRT_NHWC_FAR_DEPTH ||
        (v->dilation_h == 1 && v->dilation_w == 1))
        return false;
    for (size_t tap = 0; tap < b->taps; tap++)
        for (size_t row = 0; (p = next_run(b, tap, row)).rows != 0; row = p.row + p.rows) {
            live += p.rows;
            full = p.rows == b->rows ? tap : full;
        }
    if (full == b->taps || live > b->taps * b->rows * 3 / 4)
        return false;
    part whole = next_run(b, full, 0);
    whole.first = true;
    multiply_tap(b, whole, b->depth / 2);
    for (size_t tap = 0; tap < b->taps; tap++)
        for (size_t row = 0; tap != full && (p = next_run(b, tap, row)).rows != 0;
             row = p.row + p.rows)
            multiply_tap(b, p, b->depth);
    whole.first = false;
    whole.last = true;
    whole.skip = b->depth / 2;
    multiply_tap(b, whole, b->depth);
    return true;
}

static void run_block(const block *b)
{
    part p = { .rows = b->rows };
    if (run_dilated(b))
        return;
    if (b->depth < DEPTH) {
        const size_t most = DEPTH / b->depth, parts = (b->taps + most - 1) / most;
        for (size_t i = 0; i < parts; i++) {
            p.tap = prt_parallel_piece_begin(b->taps, parts, i);
            p.taps = prt_parallel_piece_begin(b->taps, parts, i + 1) - p.tap;
            p.k = b->depth;
            p.first = i == 0;
            p.last = i + 1 == parts;
            multiply(b, &p);
        }
        return;
    }
    p.taps = 1;
    for (; p.tap < b->taps; p.tap++) {
        p.first = p.tap == 0;
        p.last = p.tap + 1 == b->taps;
        multiply_tap(b, p, b->depth);
    }
}

/* Returns the first filter of a slice. */
static size_t filter_at(const conv_work *j, size_t slice)
{
    const size_t first = j->halves == 0
        ? slice * PRT_GEMM_PANEL
        : prt_parallel_piece_begin(j->halves, j->slices, slice) * (PRT_GEMM_PANEL / 2);
    return prt_size_min(first, j->v->layout.filters);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const conv_work *j = user;
    const prt_nhwc *v = j->v;
    const size_t slice = item % j->slices, chunk = item / j->slices % j->chunks;
    const size_t rest = item / j->slices / j->chunks, piece = rest % j->blocks;
    const size_t end = prt_parallel_piece_begin(v->layout.group, j->chunks, chunk + 1);
    const size_t last = filter_at(j, slice + 1);
    block b = { .j = j,
        .n = rest / j->blocks,
        .group = prt_parallel_piece_begin(v->layout.group, j->chunks, chunk),
        .taps = v->layout.taps,
        .depth = v->layout.channels };
    const size_t all = v->images ? v->out_h : j->pixels;
    const size_t first = prt_parallel_piece_begin(all, j->blocks, piece);
    const size_t rows = prt_parallel_piece_begin(all, j->blocks, piece + 1) - first;
    b.row = v->images ? first * v->out_w : first;
    b.rows = v->images ? rows * v->out_w : rows;
    if (!j->pointwise)
        b.from = (const float **)(void *)scratch;
    if (v->images) {
        prt_nhwc_copy_band(v, b.n, first, rows, scratch + j->table);
        b.taps = v->kernel_h;
        b.depth = v->kernel_w * v->in_c;
        prt_nhwc_find_band(v, b.rows / v->out_w, scratch + j->table, b.from);
    } else if (!j->pointwise) {
        prt_nhwc_find_taps(v, b.n, b.group, b.row, b.rows, b.from);
    }
    for (; b.group < end; b.group++, b.beyond += v->layout.channels)
        for (b.first = filter_at(j, slice); b.first < last; b.first += b.columns) {
            b.columns = prt_size_min(PRT_GEMM_PANEL - b.first % PRT_GEMM_PANEL, last - b.first);
            run_block(&b);
        }
}

void prt_nhwc_multiply(const prt_kern *kern, const prt_nhwc_product *p, size_t rows, const float *a,
    float *c, const float *residual)
{
    const size_t parts = (p->k + DEPTH - 1) / DEPTH;
    for (size_t first = 0, columns; first < p->n && rows != 0; first += columns) {
        const size_t panel = first / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
        const size_t width = prt_gemm_panel_width(p->n, panel);
        const size_t left = prt_size_min(p->n, panel + PRT_GEMM_PANEL) - first;
        const size_t at = first / p->run * p->run_stride + first % p->run;
        columns = prt_size_min(left, p->run - first % p->run);
        const prt_gemm_end end = { .bias = p->bias != NULL ? p->bias + first : NULL,
            .residual = residual != NULL ? residual + at : NULL,
            .ldr = p->ldc,
            .act = p->act };
        for (size_t i = 0; i < parts; i++) {
            const size_t k = prt_parallel_piece_begin(p->k, parts, i);
            prt_gemm_block g = { .rows = rows,
                .columns = columns,
                .k = prt_parallel_piece_begin(p->k, parts, i + 1) - k,
                .a = a + k,
                .lda = p->lda,
                .b = p->w + panel * p->k + k * width + first - panel,
                .stride = width,
                .c = c + at,
                .ldc = p->ldc,
                .add = k != 0,
                .end = i + 1 == parts && !prt_gemm_end_is_identity(&end) ? &end : NULL };
            kern->gemm(&g);
            for (size_t line = 1; line < p->lines; line++) { /* without a residual */
                g.a += p->a_line;
                g.c += p->c_line;
                kern->gemm(&g);
            }
        }
    }
}

/* ---- algorithms ---- */

/* Returns a copy of the weights for each image, scaled by its gate; the copy is no larger than
 * scaled pixels would be. NULL if memory is refused. */
static const float *gated_weights(prt_eval *c, const prt_nhwc *v, const float *gate)
{
    const prt_nhwc_weights *w = &v->layout;
    const size_t size = prt_nhwc_weights_step(w), depth = w->taps * w->channels;
    float *all = prt_parallel_zeroed_floats(c, v->batch, size);
    for (size_t n = 0; all != NULL && n < v->batch; n++)
        for (size_t first = 0; first < w->filters; first += PRT_GEMM_PANEL) {
            const size_t width = prt_gemm_panel_width(w->filters, first);
            for (size_t k = 0; k < depth; k++)
                v->kern->rows.scale(width, v->w + first * depth + k * width,
                    gate[n * w->channels + k % w->channels], 0.0f,
                    all + n * size + first * depth + k * width);
        }
    return all;
}

/* Returns a copy of the input, scaled by the gates. NULL if memory is refused. */
static const float *gated_pixels(prt_eval *c, const prt_nhwc *v, const float *gate)
{
    const size_t each = v->in_d * v->in_h * v->in_w, wide = v->in_c;
    float *all = prt_parallel_zeroed_floats(c, v->batch * each, wide);
    for (size_t i = 0; all != NULL && i < v->batch * each; i++)
        v->kern->rows.binary(PRT_BINARY_mul, wide, v->x + i * v->x_pitch, 1, gate + i / each * wide,
            1, all + i * wide);
    return all;
}

static poprt_status run_strassen(prt_eval *c, const prt_nhwc *v, size_t pixels)
{
    const prt_strassen s = {
        .kern = v->kern,
        .batches = v->batch,
        .m = pixels,
        .n = v->out_c,
        .k = v->in_c,
        .a = v->x,
        .lda = v->x_pitch,
        .b = v->w,
        .c = v->y,
        .ldc = v->y_pitch,
        .end = { .bias = v->bias, .residual = v->residual, .ldr = v->residual_pitch, .act = v->act }
    };
    return prt_strassen_run(c, &s);
}

/* Convolves a single pixel. */
static poprt_status run_gemv(prt_eval *c, const prt_nhwc *v)
{
    prt_linear f = { .kern = v->kern,
        .m = 1,
        .n = v->out_c,
        .k = v->in_c,
        .a = v->x,
        .b = v->w,
        .packed = true,
        .low_precision = PRT_LOW_PRECISION_COUNT,
        .bias = v->bias,
        .residual = v->residual,
        .y = v->y,
        .act = v->act };
    return prt_linear_run(c, &f);
}

/* Divides the output into blocks of rows, and the filters into slices. `some`: panels of all groups
 * and images; `all`: pixels of an image, or rows of pixels for NCHW input. */
static void choose_blocks(const prt_eval *c, conv_work *j, size_t some, size_t all)
{
    const prt_nhwc *v = j->v;
    const size_t each = prt_nhwc_inputs_each(v);
    j->rows = clamp(BLOCK / (v->layout.channels * each), LEAST_ROWS, MOST_ROWS);
    if (some < ITEMS && j->pixels / j->rows * some < ITEMS)
        j->rows = clamp(j->pixels * some / ITEMS, LEAST_ROWS, j->rows);
    if (v->images)
        j->rows = clamp(j->rows / v->out_w, 1, v->out_h);
    j->blocks = (all + j->rows - 1) / j->rows;
    /* Whole panels are fastest. If there are too few to balance the threads, some threads get half
     * panels, or blocks become smaller. */
    if (j->blocks == 1 && v->layout.filters > PRT_GEMM_PANEL / 2 &&
        !prt_parallel_is_balanced(c, some)) {
        j->halves = (v->layout.filters + PRT_GEMM_PANEL / 2 - 1) / (PRT_GEMM_PANEL / 2);
        j->slices = prt_size_min(prt_parallel_threads(c), j->halves);
    } else {
        j->blocks = prt_parallel_blocks(c, some, j->blocks, all, v->images ? 1 : MIN_PIXELS);
    }
}

/* Runs bf16x3, Strassen, a GEMV or the float32 GEMM, whichever applies first. */
static poprt_status run_panels(prt_eval *c, prt_nhwc *v, const float *gate)
{
    const size_t pixels = v->out_d * v->out_h * v->out_w;
    const size_t depth = v->layout.taps * v->layout.channels;
    bool done = false, weights = false;
    bool bf16x3 = (v->images ? depth >= PRT_NHWC_BF16X3_IMAGES
                             : v->layout.channels >= PRT_NHWC_BF16X3_CHANNELS) &&
        prt_bf16x3_pays(c, v->kern, pixels, v->layout.filters, depth) && prt_bf16x3_fits(v);
    if (gate != NULL && bf16x3 && v->batch == 1 && pixels <= MAX_GATED_PIXELS * v->layout.filters) {
        v->scale = gate; /* scales the pixels during conversion */
        PRT_TRY(prt_bf16x3_conv(c, v, &done));
        v->scale = NULL;
        bf16x3 = false;
    } else if (gate != NULL) {
        weights = v->images || pixels >= v->layout.filters;
    }
    if (done)
        return POPRT_OK;
    if (weights && (v->w = gated_weights(c, v, gate)) == NULL)
        return POPRT_E_NOMEM;
    if (gate != NULL && !weights) {
        v->x = gated_pixels(c, v, gate);
        v->x_pitch = v->in_c;
        if (v->x == NULL)
            return POPRT_E_NOMEM;
    }
    if (bf16x3 && (!weights || v->batch == 1))
        PRT_TRY(prt_bf16x3_conv(c, v, &done));
    if (done)
        return POPRT_OK;
    const size_t panels = (v->layout.filters + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    conv_work j = { .v = v,
        .slices = panels,
        .pixels = pixels,
        .image_w = weights ? prt_nhwc_weights_step(&v->layout) : 0 };
    const size_t taps = v->layout.taps;
    j.pointwise = prt_nhwc_is_pointwise_conv(v);
    if (j.pointwise && v->layout.group == 1 && !weights && !v->in_order &&
        prt_strassen_pays(c, v->kern, j.pixels, v->out_c, v->in_c)) {
        return run_strassen(c, v, j.pixels);
    }
    if (j.pointwise && v->layout.group == 1 && v->batch * pixels == 1) {
        return run_gemv(c, v);
    }
    const size_t some = v->batch * v->layout.group * panels;
    const size_t all = v->images ? v->out_h : j.pixels, width = prt_parallel_threads(c);
    choose_blocks(c, &j, some, all);
    const size_t most = (all + j.blocks - 1) / j.blocks;
    size_t scratch = 0;
    if (!j.pointwise) {
        const size_t entries = v->images ? most * v->out_w * v->kernel_h : most * taps;
        j.table = (entries * sizeof(float *) / sizeof(float) + 15) / 16 * 16;
        scratch = j.table;
    }
    if (v->images) {
        j.wide = prt_nhwc_band_row_size(v);
        scratch += j.wide * prt_nhwc_band_rows(v, most);
    }
    const size_t others = v->batch * j.slices * j.blocks;
    j.chunks = clamp(width > 1 ? 2 * ITEMS * width / others : 1, 1, v->layout.group);
    return prt_parallel_for(c, others * j.chunks, scratch, run_item, &j);
}

/* Returns whether NCHW input can be copied with its padding. The sizes are doubles because padding
 * can be arbitrarily large. */
static bool can_copy_images(const prt_nhwc *v)
{
    const double high = (double)(v->out_h - 1) * (double)v->stride_h +
        (double)(v->kernel_h - 1) * (double)v->dilation_h + 1.0;
    const double wide = (double)(v->out_w - 1) * (double)v->stride_w + (double)v->kernel_w;
    const double pixels = (double)v->in_h * (double)v->in_w + (double)v->out_h * (double)v->out_w;
    return prt_nhwc_is_2d(v) && v->layout.group == 1 && v->layout.algorithm == PRT_NHWC_panels &&
        v->dilation_w == 1 && high * wide <= 16.0 * (pixels + 4096.0);
}

poprt_status prt_fast_nhwc_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_conv_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *y = c->out[0];
    prt_nhwc v = { .kern = k,
        .images = a->images != 0,
        .in_order = a->in_order != 0,
        .act = { a->activation, a->alpha, a->beta } };
    prt_window w;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_output(c) || x->rank < 3 ||
        x->rank > 5 || !prt_nhwc_weights_of(a, &v.layout) || prt_tensor_count(y) == 0)
        return prt_fast_use_reference(done);
    prt_nhwc_window(a, x, &w);
    prt_nhwc_set_window(&v, &w);
    v.batch = (size_t)x->dims[0];
    v.in_c = v.layout.group * v.layout.channels;
    v.out_c = v.layout.group * v.layout.filters;
    v.x_pitch = v.images ? v.in_c : prt_tensor_pitch(x);
    v.y_pitch = prt_tensor_pitch(y);
    v.residual_pitch = prt_eval_has(c, 3) ? prt_tensor_pitch(c->in[3]) : 0;
    v.x = x->data;
    v.w = c->in[1]->data;
    v.bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL;
    v.residual = prt_eval_has(c, 3) ? c->in[3]->data : NULL;
    v.y = c->out[0]->data;
    v.prefetch_hint = c->prefetch_hint;
    const bool alone = v.layout.algorithm == PRT_NHWC_taps && v.layout.channels == 1;
    if ((v.images && !can_copy_images(&v)) ||
        (x->rank == 5 && v.layout.algorithm != PRT_NHWC_panels && !alone))
        return prt_fast_use_reference(done);
    if (v.layout.algorithm == PRT_NHWC_taps)
        return prt_nhwc_depthwise(c, &v);
    v.zeros = prt_eval_scratch(c, v.in_c, sizeof(float));
    if (v.zeros == NULL)
        return POPRT_E_NOMEM;
    return prt_nhwc_points(v.layout.algorithm) != 0 && prt_nhwc_has_winograd(&v)
        ? prt_nhwc_winograd(c, &v)
        : run_panels(c, &v, prt_eval_has(c, 4) ? c->in[4]->data : NULL);
}
