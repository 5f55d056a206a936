/* SPDX-License-Identifier: MIT */
/*
 * im2col.c — im2col panels over padded planes: for each channel, the part of the input that the
 * outputs of the panel read is padded and split by column phase once. The inputs of one tap for a
 * row of outputs are then contiguous. Large windows, and single taps with strides, are gathered row
 * by row from the input.
 */
#include "fast/conv/im2col.h"

#include "kern/move/zip.h"

enum {
    SLACK = 16,     /* floats behind every buffer: copies go eight elements at a time */
    MOST = 1 << 16, /* floats, rows and columns of a padded plane, at most */
    BLOCKS = 2      /* padded blocks of a panel, at most */
};

/* Consecutive outputs of one row. */
typedef struct run {
    size_t to, n; /* columns of the panel */
    size_t from;  /* element of the padded planes at tap offset 0 */
} run;

/* The blocks of input that the columns of a panel read, and where. */
typedef struct panel_runs {
    prt_planes block[BLOCKS];
    size_t blocks, runs;
    run run[PRT_GEMM_PANEL];
} panel_runs;

/* ---- from the input ---- */

/* Gathers `n` outputs of one row from output column x on, at one tap. */
static void gather_row(const prt_im2col *g, const float *row, size_t x, size_t n, int64_t shift,
    float *to)
{
    const int64_t s = g->stride_w, at = (int64_t)x * s + shift, in = (int64_t)g->in_w;
    const int64_t before = at >= 0 ? 0 : (-at + s - 1) / s;
    const int64_t until = at >= in ? 0 : (in - at + s - 1) / s;
    const size_t low = before < (int64_t)n ? (size_t)before : n;
    const size_t high = until < (int64_t)low ? low : until < (int64_t)n ? (size_t)until : n;
    memset(to, 0, low * sizeof(float));
    if (s == 1)
        memcpy(to + low, row + at + (int64_t)low, (high - low) * sizeof(float));
    else if (s == 2 && low < high)
        prt_even_elements(high - low, row + at + 2 * (int64_t)low, to + low);
    else
        for (size_t i = low; i < high; i++)
            to[i] = row[at + (int64_t)i * s];
    memset(to + high, 0, (n - high) * sizeof(float));
}

/* Gathers one row of the panel: all columns at one channel and tap. */
static void gather_depth(const prt_im2col *g, const float *plane, size_t tap, size_t first,
    size_t columns, float *to)
{
    const int64_t down = (int64_t)(tap / g->kernel_w) * g->dilation_h - g->top;
    const int64_t shift = (int64_t)(tap % g->kernel_w) * g->dilation_w - g->left;
    size_t y = first / g->out_w, x = first % g->out_w;
    for (size_t i = 0; i < columns; y++, x = 0) {
        const size_t left = g->out_w - x, n = columns - i < left ? columns - i : left;
        const int64_t row = (int64_t)y * g->stride_h + down;
        if (row >= 0 && row < (int64_t)g->in_h)
            gather_row(g, plane + (size_t)row * g->in_w, x, n, shift, to + i);
        else
            memset(to + i, 0, n * sizeof(float));
        i += n;
    }
}

/* ---- from padded planes ---- */

static void copy_run(float *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        const prt_four a = prt_four_load(from + i), b = prt_four_load(from + i + 4);
        prt_four_store(to + i, a);
        prt_four_store(to + i + 4, b);
    }
}

/* Finds the runs of a panel. Rows wider than a panel get a block each, with the columns that are
 * read; other rows share one block. */
static void find_runs(const prt_im2col *g, size_t first, size_t columns, panel_runs *p)
{
    const bool wide = g->out_w > PRT_GEMM_PANEL;
    const size_t size = prt_planes_size(&g->planes);
    size_t y = first / g->out_w, x = first % g->out_w;
    p->blocks = 0;
    p->runs = 0;
    for (size_t i = 0, row = 0; i < columns; y++, row++, x = 0) {
        const size_t left = g->out_w - x, n = columns - i < left ? columns - i : left;
        if (wide || p->blocks == 0) {
            prt_planes *b = &p->block[p->blocks++];
            *b = g->planes;
            b->top = g->top - (int64_t)y * g->stride_h;
            b->left = wide ? g->left - (int64_t)x * g->stride_w : g->left;
            row = 0;
        }
        p->block[p->blocks - 1].rows =
            row * (size_t)g->stride_h + (g->planes.kernel_h - 1) * (size_t)g->dilation_h + 1;
        p->run[p->runs++] = (run){ .to = i,
            .n = n,
            .from = (p->blocks - 1) * size + row * (size_t)g->stride_h * g->planes.columns +
                (wide ? 0 : x) };
        i += n;
    }
}

static void pack_arranged(const prt_im2col *g, const float *x, size_t first, size_t columns,
    size_t k, size_t depth, float *to)
{
    const size_t width = prt_gemm_width(columns), size = prt_planes_size(&g->planes);
    float *pack_scratch = to + depth * width + SLACK;
    size_t channel = k / g->taps, tap = k % g->taps;
    panel_runs p;
    find_runs(g, first, columns, &p);
    for (size_t end = k + depth; k < end; channel++, tap = 0) {
        for (size_t i = 0; i < p.blocks; i++)
            (void)prt_planes_arrange(&p.block[i], x + channel * g->in_plane, 0.0f,
                pack_scratch + i * size);
        for (; tap < g->taps && k < end; tap++, k++, to += width) {
            const float *from = pack_scratch + g->planes.offset[tap];
            for (size_t i = 0; i < p.runs; i++)
                copy_run(to + p.run[i].to, from + p.run[i].from, p.run[i].n);
            memset(to + columns, 0, (width - columns) * sizeof(float));
        }
    }
}

void prt_im2col_pack(const prt_im2col *g, size_t image, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    const float *x = g->v->x + image * g->v->channels * g->in_plane;
    const size_t width = prt_gemm_width(columns);
    if (g->arranged) {
        pack_arranged(g, x, first, columns, k, depth, to);
        return;
    }
    for (size_t end = k + depth; k < end; k++, to += width) {
        const float *plane = x + k / g->taps * g->in_plane;
        if (g->pointwise)
            memcpy(to, plane + first, columns * sizeof(float));
        else
            gather_depth(g, plane, k % g->taps, first, columns, to);
        memset(to + columns, 0, (width - columns) * sizeof(float));
    }
}

/* ---- sizes ---- */

/* Sets the largest block of outputs that a panel reads. */
static void init_planes(prt_im2col *g)
{
    const prt_window *w = g->v->window;
    const size_t out_h = g->out_plane / g->out_w;
    const size_t rows = (PRT_GEMM_PANEL + g->out_w - 2) / g->out_w + 1;
    const bool wide = g->out_w > PRT_GEMM_PANEL;
    prt_window block = *w;
    if (w->rank == 2)
        block.out[0] = wide ? 1 : (int64_t)(rows < out_h ? rows : out_h);
    block.out[w->rank - 1] = wide ? PRT_GEMM_PANEL : (int64_t)g->out_w;
    block.begin[w->rank - 1] = 1; /* forces a copy, since no slack follows the input itself */
    if (g->taps == 1 || !prt_planes_init(&g->planes, &block))
        return;
    g->arranged =
        g->planes.rows <= MOST && g->planes.columns <= MOST && prt_planes_size(&g->planes) <= MOST;
    g->pack_scratch = g->arranged ? BLOCKS * prt_planes_size(&g->planes) + 2 * SLACK : 0;
}

void prt_im2col_init(prt_im2col *g, const prt_conv_fast *v)
{
    const prt_window *w = v->window;
    const uint32_t x = w->rank - 1;
    const bool two = w->rank == 2;
    *g = (prt_im2col){ .v = v,
        .in_h = two ? (size_t)w->in[0] : 1,
        .in_w = (size_t)w->in[x],
        .out_w = (size_t)w->out[x],
        .kernel_w = (size_t)w->kernel[x],
        .stride_h = two ? w->stride[0] : 1,
        .stride_w = w->stride[x],
        .dilation_h = two ? w->dilation[0] : 1,
        .dilation_w = w->dilation[x],
        .top = two ? w->begin[0] : 0,
        .left = w->begin[x] };
    g->taps = (size_t)(two ? w->kernel[0] : 1) * g->kernel_w;
    g->in_plane = g->in_h * g->in_w;
    g->out_plane = (size_t)(two ? w->out[0] : 1) * g->out_w;
    g->pointwise = g->taps == 1 && g->stride_h == 1 && g->stride_w == 1 &&
        g->in_plane == g->out_plane && g->top == 0 && g->left == 0;
    if (g->out_plane != 0)
        init_planes(g);
}
