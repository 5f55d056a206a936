/* SPDX-License-Identifier: MIT */
/*
 * nhwc_winograd.c — NhwcConv of 3 by 3, one apart, by F(4x4, 3x3) or F(2x2, 3x3): a quarter of the
 * products, or less than a half. An item transforms some tiles of inputs, all channels, then takes
 * panel after panel of filters.
 *
 * Differences from the plain way stay below 1e-4 of the largest element for well-behaved inputs;
 * a NaN or an infinity in the input makes all outputs of the tiles that see it NaN.
 */
#include "fast/nhwc.h"

#include "fast/share.h"

enum {
    LEAST = 24, MOST = 60,  /* tiles of an item */
    INPUTS = 1 << 17,       /* floats of them that stay in the second cache level */
    LARGE = 1 << 22,        /* floats of weights that come from memory each time */
    ITEMS = 4
};

typedef struct job {
    const prt_nhwc *v;
    const prt_kern_winograd *kern;
    size_t matrices;
    size_t high, wide, blocks, parts; /* tiles of an image, in blocks; parts of the panels */
    size_t most;                      /* tiles of a block */
    size_t panels, step;              /* floats of a matrix of weights */
    size_t in_step, out_step;         /* of the transformed inputs, and of products */
    float low, up;
    bool cheap;
} job;

static void turn_input(const job *j, size_t n, size_t tile, float *to)
{
    const prt_nhwc *v = j->v;
    const float *from[PRT_WINOGRAD_MOST];
    const size_t out = j->kern->out, in = j->kern->in;
    const int64_t top = (int64_t)(tile / j->wide * out) - v->top;
    const int64_t left = (int64_t)(tile % j->wide * out) - v->left;
    for (size_t i = 0; i < j->matrices; i++) {
        const int64_t y = top + (int64_t)(i / in), x = left + (int64_t)(i % in);
        const bool there = y >= 0 && y < (int64_t)v->in_h && x >= 0 && x < (int64_t)v->in_w;
        from[i] = there ? v->x + ((n * v->in_h + (size_t)y) * v->in_w + (size_t)x) * v->in_c
                     : v->zeros;
    }
    j->kern->input(v->in_c, from, to, j->in_step);
}

static void turn_output(const job *j, size_t n, size_t tile, size_t first, size_t columns,
    const float *from)
{
    const prt_nhwc *v = j->v;
    const size_t out = j->kern->out, y = tile / j->wide * out, x = tile % j->wide * out;
    const size_t at = ((n * v->out_h + y) * v->out_w + x) * v->out_c + first;
    const prt_winograd_out o = { .n = columns, .from = from, .matrix = j->out_step,
        .bias = v->bias != NULL ? v->bias + first : NULL,
        .high = v->out_h - y < out ? v->out_h - y : out,
        .wide = v->out_w - x < out ? v->out_w - x : out,
        .residual = v->residual != NULL ? v->residual + at : NULL, .least = j->low,
        .most = j->up, .y = v->y + at, .y_row = v->out_w * v->out_c,
        .y_column = v->out_c };
    j->kern->output(&o);
    if (j->cheap)
        return;
    for (size_t i = 0; i < o.high * o.wide; i++) {
        float *pixel = o.y + i / o.wide * o.y_row + i % o.wide * o.y_column;
        v->kern->rows.act(&v->act, columns, pixel, pixel);
    }
}

static void run_panel(const job *j, size_t n, size_t panel, size_t tile, size_t tiles,
    const float *inputs, float *products)
{
    const prt_nhwc *v = j->v;
    const size_t first = panel * PRT_GEMM_PANEL, left = v->out_c - first;
    const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
    for (size_t m = 0; m < j->matrices; m++) {
        const prt_gemm_block g = { .rows = tiles, .columns = columns, .k = v->in_c,
            .a = inputs + m * j->in_step, .lda = v->in_c,
            .b = v->w + m * j->step + first * v->in_c, .stride = prt_gemm_width(columns),
            .c = products + m * j->out_step, .ldc = PRT_GEMM_PANEL,
            .next = m + 1 < j->matrices ? v->w + (m + 1) * j->step + first * v->in_c : NULL,
            .next_count = prt_gemm_width(columns) * v->in_c };
        v->kern->gemm(&g);
    }
    for (size_t i = 0; i < tiles; i++)
        turn_output(j, n, tile + i, first, columns, products + i * PRT_GEMM_PANEL);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t part = item % j->parts, block = item / j->parts % j->blocks;
    const size_t n = item / j->parts / j->blocks, all = j->high * j->wide;
    const size_t tile = prt_share_cut(all, j->blocks, block);
    const size_t tiles = prt_share_cut(all, j->blocks, block + 1) - tile;
    for (size_t i = 0; i < tiles; i++)
        turn_input(j, n, tile + i, scratch + i * j->v->in_c);
    const size_t end = prt_share_cut(j->panels, j->parts, part + 1);
    for (size_t panel = prt_share_cut(j->panels, j->parts, part); panel < end; panel++)
        run_panel(j, n, panel, tile, tiles, scratch, scratch + j->matrices * j->in_step);
}

poprt_status prt_nhwc_winograd(prt_eval *c, const prt_nhwc *v)
{
    const prt_kern_winograd *kern = &v->kern->winograd[v->form.form == PRT_NHWC_winograd2];
    job j = { .v = v, .kern = kern, .matrices = kern->in * kern->in,
        .high = (v->out_h + kern->out - 1) / kern->out,
        .wide = (v->out_w + kern->out - 1) / kern->out,
        .parts = 1, .panels = (v->out_c + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL,
        .step = prt_nhwc_weights_step(&v->form) };
    const size_t tiles = j.high * j.wide;
    size_t most = INPUTS / (j.matrices * v->in_c);
    if (most > MOST || j.matrices * j.step > LARGE)
        most = MOST;
    most = most < LEAST ? LEAST : most;
    j.blocks = (tiles + most - 1) / most;
    while (j.parts < j.panels && v->batch * j.blocks * j.parts < ITEMS)
        j.parts++;
    j.most = (tiles + j.blocks - 1) / j.blocks;
    /* Not a power of two, which would be the same cache sets for all matrices. */
    j.in_step = j.most * v->in_c + 16;
    j.out_step = j.most * PRT_GEMM_PANEL + 16;
    j.cheap = prt_act_bounds(&v->act, &j.low, &j.up);
    return prt_share_run(c, v->batch * j.blocks * j.parts, j.matrices * (j.in_step + j.out_step),
        run_item, &j);
}
