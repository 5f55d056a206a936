/* SPDX-License-Identifier: MIT */
/*
 * winograd.c — convolutions with kernels of 3 by 3 and stride 1 by F(4x4, 3x3): a quarter of the
 * products, for transforms of weights (anew in each run), inputs and outputs. What is smaller,
 * weights or inputs, is transformed ahead, the other piece by piece where it is used.
 *
 * Differences from the plain way stay below 1e-4 of the largest element for well-behaved inputs;
 * a NaN or an infinity in the input makes all outputs of the tiles that see it NaN.
 */
#include "fast/conv.h"

#include "fast/planes.h"
#include "fast/share.h"
#include "kern/zip.h"

enum {
    OUT = PRT_WINOGRAD_OUT,
    IN = PRT_WINOGRAD_IN,
    MATRICES = PRT_WINOGRAD_MATRICES,
    SLICE = PRT_GEMM_SLICE,
    BLOCK = 24,        /* filters whose products are in scratch together */
    FEW_FILTERS = 128, /* that are worth transforming the input once more for another thread */
    ITEMS = 16,        /* enough of them */
    CHANNELS = 16,     /* of one item where inputs are transformed ahead */
    INPUT_MOST = 1 << 21 /* floats of those */
};

typedef struct job {
    const prt_conv_fast *v;
    float *weights;       /* [block of filters][matrix][filter][channel]; NULL: item by item */
    float *input;         /* [image][panel][matrix][channel][tile]; NULL: item by item */
    size_t high, wide;    /* tiles of an image */
    size_t width;         /* of a panel: most tiles of an item */
    size_t panels;        /* of an image's tiles */
    size_t block;         /* filters of a block */
    size_t blocks, parts; /* of the filters; parts are some blocks */
    size_t chunks;        /* of the channels */
    size_t plane;         /* floats of an arranged plane, as prt_planes_size has it */
    /* From one matrix to the next: not a power of two, which would be the same cache sets. */
    size_t weight_step, input_step, product_step;
} job;

/* Some tiles of an image: a panel. */
typedef struct piece {
    const job *j;
    size_t n, first, columns; /* image, tiles */
    float *input;             /* [matrix][channel][tile] */
} piece;

static piece piece_of(const job *j, size_t image, size_t panel)
{
    const size_t tiles = j->high * j->wide, slices = (tiles + SLICE - 1) / SLICE;
    const size_t first = prt_share_cut(slices, j->panels, panel) * SLICE;
    const size_t next = prt_share_cut(slices, j->panels, panel + 1) * SLICE;
    return (piece){ .j = j, .n = image, .first = first,
        .columns = (next < tiles ? next : tiles) - first,
        .input = j->input == NULL ? NULL : j->input + (image * j->panels + panel) *
                MATRICES * j->input_step };
}

/* Tiles from `at` on that lie in one row of them; where they are. */
static size_t stretch(const piece *p, size_t at, size_t *row, size_t *column)
{
    *row = (p->first + at) / p->j->wide;
    *column = (p->first + at) % p->j->wide;
    const size_t left = p->j->wide - *column, room = p->columns - at;
    return room < left ? room : left;
}

/* ---- weights ---- */

static void turn_filter(const job *j, size_t filter, float *to)
{
    const size_t channels = j->v->channels;
    j->v->kern->winograd.weights(channels, j->v->w + filter * channels * 9,
        to + filter % j->block * channels, j->weight_step);
}

static void filter_item(const void *user, size_t filter, float *scratch)
{
    const job *j = user;
    (void)scratch;
    turn_filter(j, filter, j->weights + filter / j->block * MATRICES * j->weight_step);
}

/* ---- inputs ---- */

/* The window of 6 by 6 inputs, 4 apart, over `rows` by `columns` tiles. */
static prt_window tiles_window(const job *j, size_t row, size_t rows, size_t column, size_t columns)
{
    const prt_window *w = j->v->window;
    return (prt_window){ .rank = 2, .in = { w->in[0], w->in[1] },
        .out = { (int64_t)rows, (int64_t)columns }, .kernel = { IN, IN }, .stride = { OUT, OUT },
        .dilation = { 1, 1 },
        .begin = { w->begin[0] - (int64_t)row * OUT, w->begin[1] - (int64_t)column * OUT } };
}

/* Channels [channel, end) of tiles [tile, last] of the panel: those of one row, or all. */
static void turn_tiles(const piece *p, size_t tile, size_t last, size_t channel, size_t end,
    float *spare)
{
    const job *j = p->j;
    const prt_conv_fast *v = j->v;
    const size_t low = (p->first + tile) / j->wide, high = (p->first + last) / j->wide;
    const size_t left = low == high ? (p->first + tile) % j->wide : 0;
    const prt_window window = tiles_window(j, low, high - low + 1, left,
        low == high ? last - tile + 1 : j->wide);
    prt_planes planes;
    if (!prt_planes_init(&planes, &window))
        return;
    const size_t image = planes.in_h * planes.in_w;
    for (size_t k = channel; k < end; k++) {
        const float *x = v->x + (p->n * v->channels + k) * image, *from[MATRICES];
        const float *plane = prt_planes_arrange(&planes, x, 0.0f, spare);
        size_t row, column, n;
        for (size_t at = tile; at <= last; at += n) {
            n = stretch(p, at, &row, &column);
            prt_planes_taps(&planes, plane + column - left, row - low, from);
            v->kern->winograd.input(n, from, p->input + k * j->width + at, j->input_step);
        }
    }
}

/* Rows of many tiles go one by one: a panel does not see all of them. */
static bool by_rows(const job *j)
{
    return 2 * j->wide >= j->width;
}

static void turn_input(const piece *p, size_t channel, size_t end, float *spare)
{
    size_t row, column, n = p->columns;
    for (size_t at = 0; at < p->columns; at += n) {
        if (by_rows(p->j))
            n = stretch(p, at, &row, &column);
        turn_tiles(p, at, at + n - 1, channel, end, spare);
    }
}

static void input_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t chunk = item % j->chunks, panel = item / j->chunks;
    const piece p = piece_of(j, panel / j->panels, panel % j->panels);
    turn_input(&p, prt_share_cut(j->v->channels, j->chunks, chunk),
        prt_share_cut(j->v->channels, j->chunks, chunk + 1), scratch);
}

/* ---- outputs ---- */

/* Tiles of one row, from [y][x][tile] to rows of the output, less what lies beyond it; with what is
 * added there (`residual`: NULL or such a plane) the activation is still to come. */
static void lay_tiles(const job *j, const float *restrict tile, size_t row, size_t column, size_t n,
    const float *residual, float *plane)
{
    const prt_kern_rows *rows = &j->v->kern->rows;
    const size_t out_h = (size_t)j->v->window->out[0], out_w = (size_t)j->v->window->out[1];
    const size_t rest = out_w - column * OUT, whole = rest / OUT < n ? rest / OUT : n;
    for (size_t y = 0; y < OUT && row * OUT + y < out_h; y++) {
        const float *restrict from = tile + y * OUT * j->width;
        float *to = plane + (row * OUT + y) * out_w + column * OUT;
        prt_zip4(whole, from, j->width, to);
        for (size_t x = 0; whole < n && x < rest - whole * OUT; x++)
            to[whole * OUT + x] = from[x * j->width + whole];
        if (residual == NULL)
            continue;
        const size_t some = rest < n * OUT ? rest : n * OUT;
        rows->two(PRT_TWO_add, some, to, 1, residual + (to - plane), 1, to);
        rows->act(&j->v->act, some, to, to);
    }
}

static void turn_output(const piece *p, size_t filter, const float *products, float *tile)
{
    const job *j = p->j;
    const prt_conv_fast *v = j->v;
    const size_t positions = (size_t)(v->window->out[0] * v->window->out[1]);
    const float bias = v->bias != NULL ? v->bias[filter] : 0.0f;
    const size_t first = (p->n * v->filters + filter) * positions;
    const float *residual = v->residual != NULL ? v->residual + first : NULL;
    const prt_act none = { PRT_ACT_none, 0, 0 }, *act = residual != NULL ? &none : &v->act;
    size_t row, column, n;
    v->kern->winograd.output(p->columns, products, j->product_step, bias, act, tile, j->width);
    for (size_t at = 0; at < p->columns; at += n) {
        n = stretch(p, at, &row, &column);
        lay_tiles(j, tile + at, row, column, n, residual, v->y + first);
    }
}

/* A block of filters with a panel; `products` has room for tiles of one filter behind it. */
static void multiply(const piece *p, size_t block, const float *weights, float *products)
{
    const job *j = p->j;
    const prt_conv_fast *v = j->v;
    const size_t filter = block * j->block, left = v->filters - filter;
    const size_t rows = left < j->block ? left : j->block;
    for (size_t m = 0; m < MATRICES; m++) {
        const prt_gemm_block g = { .rows = rows, .columns = p->columns, .k = v->channels,
            .a = weights + m * j->weight_step, .lda = v->channels,
            .b = p->input + m * j->input_step, .stride = j->width,
            .c = products + m * j->product_step, .ldc = j->width };
        v->kern->gemm(&g);
    }
    for (size_t f = 0; f < rows; f++)
        turn_output(p, filter + f, products + f * j->width, products + MATRICES * j->product_step);
}

/* ---- the two orders ---- */

/* Weights are there: a panel is transformed and meets some of the blocks. */
static void panel_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t part = item % j->parts, panel = item / j->parts % j->panels;
    float *products = scratch + MATRICES * j->input_step;
    piece p = piece_of(j, item / j->parts / j->panels, panel);
    p.input = scratch;
    turn_input(&p, 0, j->v->channels,
        products + MATRICES * j->product_step + OUT * OUT * j->width);
    const size_t end = prt_share_cut(j->blocks, j->parts, part + 1);
    for (size_t block = prt_share_cut(j->blocks, j->parts, part); block < end; block++)
        multiply(&p, block, j->weights + block * MATRICES * j->weight_step, products);
}

/* Inputs are there: a block is transformed and meets all panels. */
static void block_item(const void *user, size_t block, float *scratch)
{
    const job *j = user;
    const size_t filter = block * j->block, left = j->v->filters - filter;
    for (size_t f = 0; f < j->block && f < left; f++)
        turn_filter(j, filter + f, scratch);
    for (size_t n = 0; n < j->v->batch; n++)
        for (size_t panel = 0; panel < j->panels; panel++) {
            const piece p = piece_of(j, n, panel);
            multiply(&p, block, scratch, scratch + MATRICES * j->weight_step);
        }
}

/* ---- whether it pays ---- */

/* In products of two numbers, as measured: an element of a transformed weight costs as much as
 * WEIGHT of them, more where a block of filters leaves the second cache level; one of a tile as
 * much as TILE. */
static bool pays(const prt_conv_fast *v, size_t tiles)
{
    enum { WEIGHT = 15, WEIGHT_FAR = 28, TILE = 6, NEAR = 256 * 256 };
    const double pairs = (double)v->filters * (double)v->channels, images = (double)v->batch;
    const double plain = 9.0 * pairs * images * (double)v->window->out[0] *
        (double)v->window->out[1];
    const double each = v->filters * v->channels <= NEAR ? WEIGHT : WEIGHT_FAR;
    const double columns = (double)((tiles + SLICE - 1) / SLICE * SLICE) * images;
    const double here = MATRICES * (pairs * (columns + each) +
        (double)(v->filters + v->channels) * columns * TILE);
    return here * 1.05 < plain;
}

static bool fits(const prt_conv_fast *v)
{
    const prt_window *w = v->window;
    enum { MOST_CHANNELS = 1024, MOST_WIDE = 1 << 14 };
    if (w->rank != 2 || v->groups != 1 || v->channels < 8 || v->filters < 8 ||
        v->channels > MOST_CHANNELS)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (w->kernel[i] != 3 || w->stride[i] != 1 || w->dilation[i] != 1 || w->out[i] < OUT ||
            w->out[i] > MOST_WIDE)
            return false;
    return true;
}

static void init_items(job *j)
{
    const prt_conv_fast *v = j->v;
    const size_t tiles = j->high * j->wide, slices = (tiles + SLICE - 1) / SLICE;
    const size_t panel = v->channels <= 128 && tiles >= 512 ? 4 : 2;
    j->width = panel * SLICE;
    j->panels = (slices + panel - 1) / panel;
    const size_t wanted = (ITEMS + j->panels * v->batch - 1) / (j->panels * v->batch);
    const size_t most = (v->filters + FEW_FILTERS - 1) / FEW_FILTERS;
    j->parts = wanted < most ? wanted : most;
    j->block = v->channels > 256 ? BLOCK / 2 : BLOCK;
    j->blocks = (v->filters + j->block - 1) / j->block;
    j->chunks = (v->channels + CHANNELS - 1) / CHANNELS;
    j->weight_step = j->block * v->channels + SLICE;
    j->input_step = v->channels * j->width + SLICE;
    j->product_step = j->block * j->width + SLICE;
    const size_t rows = by_rows(j) ? 1 : (j->width + j->wide - 2) / j->wide + 1;
    const size_t columns = j->wide < j->width ? j->wide : j->width;
    const size_t span = (rows < j->high ? rows : j->high) * OUT + IN - OUT + 1;
    j->plane = span * (columns + (IN - 1) / OUT) * OUT;
}

static poprt_status run_blocks(prt_eval *c, job *j, size_t inputs)
{
    j->input = prt_eval_scratch(c, inputs, sizeof(float));
    if (j->input == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_share_run(c, j->v->batch * j->panels * j->chunks, j->plane, input_item, j));
    return prt_share_run(c, j->blocks, MATRICES * (j->weight_step + j->product_step) +
        OUT * OUT * j->width, block_item, j);
}

static poprt_status run_panels(prt_eval *c, job *j)
{
    j->weights = prt_eval_scratch(c, MATRICES * j->blocks * j->weight_step, sizeof(float));
    if (j->weights == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_share_run(c, j->v->filters, 0, filter_item, j));
    return prt_share_run(c, j->v->batch * j->panels * j->parts,
        MATRICES * (j->input_step + j->product_step) + OUT * OUT * j->width + j->plane, panel_item,
        j);
}

poprt_status prt_fast_winograd(prt_eval *c, const prt_conv_fast *v, bool *done)
{
    if (!fits(v) || v->batch == 0)
        return prt_fast_pass(done);
    job j = { .v = v, .high = (size_t)(v->window->out[0] + OUT - 1) / OUT,
        .wide = (size_t)(v->window->out[1] + OUT - 1) / OUT };
    if (!pays(v, j.high * j.wide))
        return prt_fast_pass(done);
    init_items(&j);
    const size_t inputs = v->batch * j.panels * MATRICES * j.input_step;
    const size_t weights = MATRICES * j.blocks * j.weight_step;
    if (inputs <= INPUT_MOST && inputs <= weights / 2)
        return run_blocks(c, &j, inputs);
    return run_panels(c, &j);
}
