/* SPDX-License-Identifier: MIT */
/*
 * winograd.c — NhwcConv by Winograd's minimal filtering (Lavin, Gray: Fast Algorithms for
 * Convolutional Neural Networks, 2016).
 *
 * 3x3 at stride 1: F(4x4, 3x3), F(2x2, 3x3) or F(6x6, 3x3), with a quarter, less than a half, or a
 * fifth of the multiplications. 3x3 at stride 2: F(4x4, 3x3), with a little more than a half. 5x5:
 * F(2x2, 5x5), about a third. Kernels of one row or column: F(6, 3), F(5, 4) or F(4, 5), a little
 * less than a half. A long such kernel is a sum of pieces, whose channels follow each other in K
 * (`depth`).
 *
 * An item is a block of tiles: it transforms their inputs, all channels, which stay in L2. Then for
 * each panel of filters it runs one GEMM per plane (point of the transform), and transforms the
 * outputs.
 *
 * With dilation d the pixels of a tile are as far apart as the taps: every d-th row (or column)
 * from each of the first d on is an image of its own.
 *
 * Weights that were not transformed at compile time are transformed by each run. If there are more
 * items than threads, all threads transform as many panels as a cache holds; otherwise each item
 * transforms a part of the planes for some channels of a panel and multiplies at once, which is
 * faster than sharing the transformed weights.
 *
 * Differences from a direct convolution stay below 1e-4 of the largest element for well-behaved
 * inputs. A NaN or an infinity in the input makes all outputs of the tiles that read it NaN.
 */
#include "fast/nhwc.h"

#include "fast/parallel.h"

enum {
    LEAST = 24,         /* tiles of an item, at least */
    MOST = 64,          /* tiles of an item, at most; twice as many for one-dimensional kernels */
    LARGEST = 64,       /* planes of F(6x6, 3x3) */
    LARGEST_LEAST = 18, /* tiles of an item, at least, for F(6x6, 3x3) */
    MIN_TILES = 8,      /* tiles of an item, at least, where threads would be idle otherwise */
    INPUTS = 1 << 17,   /* floats of transformed inputs that stay in L2 */
    LARGE = 1 << 22,    /* floats of weights that come from memory each time */
    SLICE = 32,         /* filters: an item has a whole number of slices */
    WEIGHTS = 1 << 21,  /* floats of weights transformed by a run that stay in L3 */
    DEPTH = 64,         /* channels of weights that an item transforms: they stay in L2 */
    GO = 16,            /* channels of weights that a work item of the run transforms */
    LINE = 16,          /* floats of a cache line */
    TILE_ROWS = 6       /* rows of a register tile of the GEMM kernel, at most */
};

/* A plane of transformed inputs and the matrix of weights that it is multiplied by: its place in
 * the part of the matrices that one call transforms, and its place among all matrices. */
typedef struct plane_matrix {
    uint8_t plane, part, place, matrix;
} plane_matrix;

enum { PARTS = 4 };

typedef struct winograd_work {
    const prt_nhwc *v;
    const prt_kern_winograd *kern;
    plane_matrix order[PRT_WINOGRAD_MOST]; /* ordered by part */
    size_t planes, matrices, made_parts;
    size_t in[2], out[2];        /* inputs and outputs of a tile, by rows and columns */
    size_t axis, pieces, most;   /* one-dimensional kernels: axis, pieces, taps of a piece */
    size_t depth;                /* channels of all pieces */
    size_t before[PARTS + 1];    /* matrices before a part */
    size_t high, wide, blocks;   /* tiles of an image, in blocks */
    size_t each_high, each_wide; /* tiles of every d-th row or column */
    size_t first, slices, parts; /* filters of the current group of panels: the first, slices, and
                                  * parts of the slices */
    const float *weights;        /* their transformed weights; NULL: each item transforms its own */
    float *made;                 /* the same if the run transforms them */
    size_t chunk;                /* channels that are multiplied together */
    size_t step;                 /* floats of a matrix of weights */
    size_t in_step, out_step;    /* floats of a plane of transformed inputs; of products */
    float low, up;
    bool cheap;
} winograd_work;

/* Returns the kernels of the algorithm. F(6x6, 3x3) falls back to F(4x4, 3x3) if the level lacks
 * it. */
static const prt_kern_winograd *winograd_of(const prt_nhwc *v)
{
    static const uint8_t algorithms[PRT_NHWC_ALGORITHMS] = { [PRT_NHWC_winograd] =
                                                                 PRT_WINOGRAD_4x4_3x3,
        [PRT_NHWC_winograd2] = PRT_WINOGRAD_2x2_3x3,
        [PRT_NHWC_winograd5] = PRT_WINOGRAD_2x2_5x5,
        [PRT_NHWC_winograd6] = PRT_WINOGRAD_6x6_3x3,
        [PRT_NHWC_winograd_line] = PRT_WINOGRAD_LINE };
    const prt_kern_winograd *all = v->kern->winograd;
    if (v->stride_h != 1)
        return &all[PRT_WINOGRAD_4x4_3x3_STRIDE2];
    const prt_kern_winograd *own = &all[algorithms[v->layout.algorithm]];
    if (v->layout.algorithm == PRT_NHWC_winograd6 && own->output == NULL)
        return &all[PRT_WINOGRAD_4x4_3x3];
    return own;
}

/* gcc drops calls of a function that only prefetches, unless it is inlined. */
#define FETCHES __attribute__((always_inline)) static inline

/* Prefetches `rows` rows of `pixels` pixels with n floats each into L2. */
FETCHES void fetch(const float *from, size_t rows, size_t row, size_t pixels, size_t pixel,
    size_t n)
{
    for (; rows != 0; rows--, from += row)
        for (size_t x = 0; x < pixels; x++)
            for (size_t i = 0; i < n; i += LINE)
                __builtin_prefetch(from + x * pixel + i, 0, 2);
}

/* Prefetches the inputs that the next tile of the row reads beyond the tile at (top, left). */
FETCHES void fetch_inputs(const winograd_work *j, size_t n, int64_t top, int64_t left)
{
    const prt_nhwc *v = j->v;
    const int64_t high = (int64_t)v->in_h, wide = (int64_t)v->in_w;
    const int64_t x = left + (int64_t)j->in[1], y = top > 0 ? top : 0;
    const int64_t end = top + (int64_t)j->in[0], below = end < high ? end : high;
    const size_t pixels = j->out[1] * v->stride_w;
    if (x >= 0 && x < wide && y < below)
        fetch(v->x + ((n * v->in_h + (size_t)y) * v->in_w + (size_t)x) * v->x_pitch,
            (size_t)(below - y), v->in_w * v->x_pitch,
            (size_t)(wide - x) < pixels ? (size_t)(wide - x) : pixels, v->x_pitch, v->in_c);
}

/* Returns the first row (or column) of a tile. */
static size_t first_of(size_t tile, size_t each, size_t out, size_t dilation)
{
    return tile / each + tile % each * out * dilation;
}

/* Finds the pixels of a tile that begins at (top, left). Coordinates before the image are huge as a
 * size_t, so one comparison finds all padding. */
static void find_pixels(const winograd_work *j, size_t n, size_t top, size_t left,
    const float **from)
{
    const prt_nhwc *v = j->v;
    const size_t dy = v->dilation_h, dx = v->dilation_w, pitch = v->x_pitch;
    const float *image = v->x + n * v->in_h * v->in_w * pitch;
    const bool inside = top < v->in_h && left < v->in_w && dy <= v->in_h && dx <= v->in_w &&
        top + (j->in[0] - 1) * dy < v->in_h && left + (j->in[1] - 1) * dx < v->in_w;
    for (size_t i = 0, y = top; i < j->in[0]; i++, y += dy) {
        const float *row = image + (y < v->in_h ? y * v->in_w * pitch : 0);
        if (inside)
            for (size_t k = 0, x = left; k < j->in[1]; k++, x += dx)
                *from++ = row + x * pitch;
        else
            for (size_t k = 0, x = left; k < j->in[1]; k++, x += dx)
                *from++ = y < v->in_h && x < v->in_w ? row + x * pitch : v->zeros;
    }
}

static void transform_piece(const winograd_work *j, size_t n, size_t top, size_t left, float *to)
{
    const float *from[PRT_WINOGRAD_MOST];
    find_pixels(j, n, top, left, from);
    j->kern->input(j->v->in_c, from, to, j->in_step);
}

static void transform_input(const winograd_work *j, size_t n, size_t tile, float *to)
{
    const prt_nhwc *v = j->v;
    const size_t dy = v->dilation_h, dx = v->dilation_w;
    const size_t row = first_of(tile / j->wide, j->each_high, j->out[0], dy) * v->stride_h;
    const size_t column = first_of(tile % j->wide, j->each_wide, j->out[1], dx) * v->stride_w;
    const int64_t top = (int64_t)row - v->top, left = (int64_t)column - v->left;
    if (dy == 1 && dx == 1)
        fetch_inputs(j, n, top, left);
    for (size_t i = 0; i < j->pieces; i++) {
        const size_t y = j->axis == 0 ? i * j->most * dy : 0;
        const size_t x = j->axis == 1 ? i * j->most * dx : 0;
        transform_piece(j, n, (size_t)top + y, (size_t)left + x, to + i * v->in_c);
    }
}

static void transform_output(const winograd_work *j, size_t n, size_t tile, size_t first,
    size_t columns, const float *from)
{
    const prt_nhwc *v = j->v;
    const size_t *out = j->out, dy = v->dilation_h, dx = v->dilation_w;
    const size_t y = first_of(tile / j->wide, j->each_high, out[0], dy);
    const size_t x = first_of(tile % j->wide, j->each_wide, out[1], dx);
    if (y >= v->out_h || x >= v->out_w)
        return; /* the last images may be smaller */
    const size_t high = (v->out_h - y - 1) / dy + 1, wide = (v->out_w - x - 1) / dx + 1;
    const size_t at = (n * v->out_h + y) * v->out_w + x, row = v->out_w * dy;
    prt_winograd_out o = { .n = columns,
        .from = from,
        .matrix = j->out_step,
        .after = PRT_GEMM_PANEL,
        .out = out[j->axis],
        .bias = v->bias != NULL ? v->bias + first : NULL,
        .high = high < out[0] ? high : out[0],
        .wide = wide < out[1] ? wide : out[1],
        .residual = v->residual != NULL ? v->residual + at * v->residual_pitch + first : NULL,
        .residual_row = row * v->residual_pitch,
        .residual_column = dx * v->residual_pitch,
        .least = j->low,
        .most = j->up,
        .y = v->y + at * v->y_pitch + first,
        .y_row = row * v->y_pitch,
        .y_column = dx * v->y_pitch };
    if (wide > out[1] && dx == 1)
        fetch(o.y + out[1] * v->y_pitch, o.high, o.y_row,
            wide - out[1] < out[1] ? wide - out[1] : out[1], v->y_pitch, columns);
    if (out[1] < out[0]) { /* kernels of one column */
        o.wide = o.high;
        o.high = 1;
        o.y_column = o.y_row;
        o.residual_column = o.residual_row;
    }
    j->kern->output(&o);
    if (j->cheap)
        return;
    for (size_t i = 0; i < o.high * o.wide; i++) {
        float *pixel = o.y + i / o.wide * o.y_row + i % o.wide * o.y_column;
        v->kern->rows.act(&v->act, columns, pixel, pixel);
    }
}

/* Returns the taps of the piece that a channel belongs to. */
static size_t taps_of(const winograd_work *j, size_t channel)
{
    const size_t left = j->v->layout.taps - channel / j->v->in_c * j->most;
    return left < j->most ? left : j->most;
}

/* Returns the first tap of a channel for the filters of a panel. */
static const float *weights_at(const winograd_work *j, size_t panel, size_t channel)
{
    const prt_nhwc *v = j->v;
    const size_t width = prt_gemm_panel_width(v->out_c, panel);
    const size_t tap = channel / v->in_c * j->most;
    return v->w + panel * v->layout.taps * v->in_c + (tap * v->in_c + channel % v->in_c) * width;
}

/* Transforms the weights of a part of the planes: `count` channels of a piece, filters [first,
 * first + columns) of a panel. */
static void transform_weights(const winograd_work *j, size_t first, size_t columns, size_t channel,
    size_t count, size_t part, float *to)
{
    const prt_nhwc *v = j->v;
    const size_t panel = first / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    const size_t width = prt_gemm_panel_width(v->out_c, panel), some = prt_gemm_width(columns);
    const size_t whole = some == width ? count : 1;
    prt_winograd_taps w = { .n = whole * some,
        .part = part,
        .taps = taps_of(j, channel),
        .out = j->out[j->axis],
        .from = weights_at(j, panel, channel) + first - panel,
        .tap = v->in_c * width,
        .to = to + first - panel,
        .matrix = j->step };
    for (size_t i = 0; i < count; i += whole, w.from += width, w.to += width)
        j->kern->weights(&w);
}

/* Returns the channels that are multiplied together from this one on: all, or some of a piece. */
static size_t chunk_of(const winograd_work *j, size_t channel)
{
    const size_t left = j->weights != NULL ? j->depth - channel : j->v->in_c - channel % j->v->in_c;
    return left < j->chunk ? left : j->chunk;
}

/* Sets the weights to prefetch: the next matrix; or, spread over the last planes at one cache line
 * per step of the kernel, the weights of `panel` that are transformed next, from `channel` on. */
static void fetch_next(const winograd_work *j, size_t done, size_t panel, size_t channel,
    prt_gemm_block *g)
{
    const prt_nhwc *v = j->v;
    if (j->weights != NULL) {
        const plane_matrix *t = &j->order[done];
        if (done + 1 < j->planes && t[1].matrix != t->matrix)
            g->next = g->b + ((ptrdiff_t)t[1].matrix - t->matrix) * (ptrdiff_t)j->step;
        g->next_count = g->k * g->stride;
        return;
    }
    if (panel >= v->out_c)
        return;
    const size_t width = prt_gemm_panel_width(v->out_c, panel);
    const size_t whole = chunk_of(j, channel) * width, taps = taps_of(j, channel);
    const size_t steps = (g->rows + TILE_ROWS - 1) / TILE_ROWS * g->k;
    const size_t need = (taps * whole + steps * LINE - 1) / (steps * LINE);
    const size_t products = need < j->planes ? need : j->planes;
    const size_t some = (taps * whole + products - 1) / products;
    if (done + products < j->planes)
        return;
    const size_t at = (done + products - j->planes) * some, tap = at / whole;
    const size_t left = whole - at % whole;
    if (tap >= taps)
        return;
    g->next = weights_at(j, panel, channel) + tap * v->in_c * width + at % whole;
    g->next_count = some < left ? some : left;
}

/* Computes filters [first, first + columns) of one panel: GEMM for each plane, then the output
 * transform. */
static void run_filters(const winograd_work *j, size_t n, size_t first, size_t columns, size_t tile,
    size_t tiles, const float *inputs, float *products, float *scratch)
{
    const prt_nhwc *v = j->v;
    const size_t panel = first / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    for (size_t channel = 0, k; channel < j->depth; channel += k) {
        k = chunk_of(j, channel);
        const float *b = j->weights != NULL ? j->weights + (panel - j->first) * j->depth : scratch;
        for (size_t i = 0; i < j->planes; i++) {
            const plane_matrix *t = &j->order[i];
            if (j->weights == NULL && (i == 0 || t->part != t[-1].part))
                transform_weights(j, first, columns, channel, k, t->part, scratch);
            prt_gemm_block g = { .rows = tiles,
                .columns = columns,
                .k = k,
                .a = inputs + t->plane * j->in_step + channel,
                .lda = j->depth,
                .b = b + (j->weights != NULL ? t->matrix : t->place) * j->step + first - panel,
                .stride = prt_gemm_panel_width(v->out_c, panel),
                .c = products + t->plane * j->out_step,
                .ldc = PRT_GEMM_PANEL,
                .add = channel != 0 };
            if (channel + k < j->depth)
                fetch_next(j, i, panel, channel + k, &g);
            else
                fetch_next(j, i, panel + PRT_GEMM_PANEL, 0, &g);
            v->kern->gemm(&g);
        }
    }
    for (size_t i = 0; i < tiles; i++)
        transform_output(j, n, tile + i, first, columns, products + i * PRT_GEMM_PANEL);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const winograd_work *j = user;
    const size_t part = item % j->parts, block = item / j->parts % j->blocks;
    const size_t n = item / j->parts / j->blocks, all = j->high * j->wide;
    const size_t tile = prt_parallel_piece_begin(all, j->blocks, block);
    const size_t tiles = prt_parallel_piece_begin(all, j->blocks, block + 1) - tile;
    float *products = scratch + j->planes * j->in_step;
    for (size_t i = 0; i < tiles; i++)
        transform_input(j, n, tile + i, scratch + i * j->depth);
    const size_t last = j->first + prt_parallel_piece_begin(j->slices, j->parts, part + 1) * SLICE;
    const size_t end = last < j->v->out_c ? last : j->v->out_c;
    size_t i = j->first + prt_parallel_piece_begin(j->slices, j->parts, part) * SLICE;
    for (size_t some; i < end; i += some) {
        some = PRT_GEMM_PANEL - i % PRT_GEMM_PANEL;
        some = some < end - i ? some : end - i;
        run_filters(j, n, i, some, tile, tiles, scratch, products,
            products + j->planes * j->out_step);
    }
}

/* Transforms some channels of a piece of a panel. */
static void weights_item(const void *user, size_t item, float *scratch)
{
    const winograd_work *j = user;
    const size_t in_c = j->v->in_c, goes = (in_c + GO - 1) / GO;
    const size_t panel = item / goes / j->pieces * PRT_GEMM_PANEL;
    const size_t channel = item / goes % j->pieces * in_c + item % goes * GO;
    const size_t left = in_c - item % goes * GO;
    const size_t width = prt_gemm_panel_width(j->v->out_c, j->first + panel);
    float *to = j->made + panel * j->depth + channel * width;
    (void)scratch;
    for (size_t part = 0; part < j->made_parts; part++)
        transform_weights(j, j->first + panel, width, channel, left < GO ? left : GO, part,
            to + j->before[part] * j->step);
}

/* Transforms as many panels of weights as fit the cache, runs all items with them, and repeats. */
static poprt_status run_groups(prt_eval *c, winograd_work *j, size_t items, size_t floats)
{
    const size_t goes = (j->v->in_c + GO - 1) / GO, each = PRT_GEMM_PANEL * j->depth;
    const size_t all = (j->v->out_c + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    const size_t fit = WEIGHTS / (j->matrices * each), some = fit < 1 ? 1 : fit < all ? fit : all;
    j->step = some * each + 16;
    j->weights = j->made = prt_parallel_uninitialized_floats(c, j->matrices, j->step);
    if (j->made == NULL)
        return POPRT_E_NOMEM;
    for (size_t panel = 0; panel < all; panel += some) {
        const size_t panels = all - panel < some ? all - panel : some;
        j->first = panel * PRT_GEMM_PANEL;
        j->slices = panels * (PRT_GEMM_PANEL / SLICE);
        j->parts = j->parts < j->slices ? j->parts : j->slices;
        PRT_TRY(prt_parallel_for(c, panels * j->pieces * goes, 0, weights_item, j));
        PRT_TRY(prt_parallel_for(c, items * j->parts, floats, run_item, j));
    }
    return POPRT_OK;
}

/* Cuts more blocks, of `least` tiles or more, until the threads are balanced. */
static void cut_tiles(winograd_work *j, const prt_eval *c, size_t least)
{
    const size_t tiles = j->high * j->wide;
    while (!prt_parallel_is_balanced(c, j->v->batch * j->blocks * j->parts) &&
        tiles / (j->blocks + 1) >= least)
        j->blocks++;
}

/* Cuts the tiles into blocks of at most `most`, in a number that balances the threads. If images
 * are too small, items share panels of filters, or slices: each part then transforms its inputs
 * again. */
static void cut(winograd_work *j, const prt_eval *c, size_t most)
{
    j->blocks = (j->high * j->wide + most - 1) / most;
    j->slices = (j->v->out_c + SLICE - 1) / SLICE;
    j->parts = 1;
    const bool whole = j->v->out_c % PRT_GEMM_PANEL == 0 &&
        prt_parallel_is_balanced(c, j->v->out_c / PRT_GEMM_PANEL);
    cut_tiles(j, c, whole || j->v->layout.transformed ? LEAST : MIN_TILES);
    while (!prt_parallel_is_balanced(c, j->v->batch * j->blocks * j->parts) &&
        j->parts < prt_parallel_threads(c) && j->parts < j->slices)
        j->parts++;
    cut_tiles(j, c, MIN_TILES);
}

/* Stride 2: returns the matrix of a plane, see kern/conv/winograd_strided.inl. */
static plane_matrix strided_plane(size_t plane)
{
    enum { POINTS = 5, ROWS = 25, COLUMNS = 45, PIXELS = 65, EACH = 4 };
    const size_t y = plane / POINTS, x = plane % POINTS;
    plane_matrix t = { .plane = (uint8_t)plane, .part = 3, .place = POINTS };
    if (plane < ROWS) {
        t.part = (uint8_t)(x / 2);
        t.place = (uint8_t)(t.part == 2 ? y : 2 * y + x % 2);
    } else if (plane < COLUMNS) {
        t.part = 2;
        t.place = (uint8_t)(POINTS + (plane - ROWS) / EACH);
    } else if (plane < PIXELS) {
        t.place = (uint8_t)((plane - COLUMNS) / EACH);
    }
    return t;
}

static plane_matrix square_plane(size_t plane, size_t in, size_t columns)
{
    const size_t y = plane / in, x = plane % in;
    return (plane_matrix){ .plane = (uint8_t)plane,
        .part = (uint8_t)(x / columns),
        .place = (uint8_t)(y * columns + x % columns) };
}

static void order_planes(winograd_work *j)
{
    const size_t columns = j->kern->columns, in = j->kern->in;
    j->made_parts = columns != 0 ? in / columns : PARTS;
    j->planes = j->in[0] * j->in[1];
    size_t n = 0;
    for (size_t part = 0; part < j->made_parts; part++) {
        for (size_t plane = 0; plane < j->planes; plane++) {
            plane_matrix t = columns != 0 ? square_plane(plane, in, columns) : strided_plane(plane);
            if (t.part != part)
                continue;
            t.matrix = (uint8_t)(j->v->layout.transformed ? plane : j->before[part] + t.place);
            j->order[n++] = t;
            j->before[part + 1] = j->before[part] + t.place + 1U;
        }
    }
    j->matrices = j->before[j->made_parts];
}

/* Sets the sizes of tiles, square or one-dimensional, and their number. */
static void set_tiles(winograd_work *j)
{
    const prt_nhwc *v = j->v;
    const bool line = v->layout.algorithm == PRT_NHWC_winograd_line;
    const size_t in = j->kern->in, out = j->kern->out;
    j->axis = v->kernel_w > 1;
    j->pieces = 1;
    j->most = v->layout.taps;
    j->in[0] = j->in[1] = line ? 1 : in;
    j->out[0] = j->out[1] = line ? 1 : out;
    if (line) {
        const prt_nhwc_line l = j->axis != 0
            ? prt_nhwc_line_of(v->layout.taps, v->out_w, v->dilation_w)
            : prt_nhwc_line_of(v->layout.taps, v->out_h, v->dilation_h);
        j->in[j->axis] = in;
        j->out[j->axis] = l.out;
        j->pieces = l.pieces;
        j->most = in + 1 - l.out;
    }
    j->depth = j->pieces * v->in_c;
    j->high = prt_nhwc_tiles(v->out_h, v->dilation_h, j->out[0], &j->each_high);
    j->wide = prt_nhwc_tiles(v->out_w, v->dilation_w, j->out[1], &j->each_wide);
}

bool prt_nhwc_has_winograd(const prt_nhwc *v)
{
    return winograd_of(v)->output != NULL;
}

poprt_status prt_nhwc_winograd(prt_eval *c, const prt_nhwc *v)
{
    winograd_work j = { .v = v, .kern = winograd_of(v) };
    set_tiles(&j);
    order_planes(&j);
    j.chunk = j.depth;
    const bool large =
        v->layout.transformed && j.matrices * prt_nhwc_weights_step(&v->layout) > LARGE;
    const size_t by = v->layout.algorithm == PRT_NHWC_winograd_line ? 2 : 1, tiles = by * MOST;
    size_t most = by * INPUTS / (j.planes * j.depth);
    if (most > tiles || large || (!v->layout.transformed && j.high * j.wide <= tiles))
        most = tiles;
    const size_t least = j.planes == LARGEST ? LARGEST_LEAST : LEAST;
    cut(&j, c, most < least ? least : most);
    most = (j.high * j.wide + j.blocks - 1) / j.blocks;
    /* Not a power of two: planes would map to the same cache sets. */
    j.in_step = most * j.depth + 48;
    j.out_step = most * PRT_GEMM_PANEL + 48;
    j.cheap = prt_act_bounds(&v->act, &j.low, &j.up);
    const size_t floats = j.planes * (j.in_step + j.out_step), items = v->batch * j.blocks;
    if (v->layout.transformed) {
        j.weights = v->w;
        j.step = prt_nhwc_weights_step(&v->layout);
        return prt_parallel_for(c, items * j.parts, floats, run_item, &j);
    }
    if (items > prt_parallel_threads(c))
        return run_groups(c, &j, items, floats);
    j.chunk = v->in_c < DEPTH ? v->in_c : DEPTH;
    j.step = j.chunk * PRT_GEMM_PANEL + 48;
    size_t scratch = 0;
    for (size_t part = 0; part < j.made_parts; part++)
        if (scratch < (j.before[part + 1] - j.before[part]) * j.step)
            scratch = (j.before[part + 1] - j.before[part]) * j.step;
    return prt_parallel_for(c, items * j.parts, floats + scratch, run_item, &j);
}
