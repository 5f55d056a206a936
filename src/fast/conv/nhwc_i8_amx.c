/* SPDX-License-Identifier: MIT */
/*
 * nhwc_i8_amx.c — int8 convolutions with AMX tiles that requantise their sums in registers.
 *
 * An item is a block of rows of an image times a chunk of panels of filters, one panel after the
 * other; the kernel reads a panel in place or packed. A tile has 16 consecutive outputs, counted as
 * if output rows were as long as the rows of the padded image; outputs beyond the end of a row are
 * dropped.
 */
#include "fast/parallel.h"
#include "fast/conv/nhwc_i8_amx.h"

enum {
    LEAST_COLUMNS = 17,
    LEAST_WORDS = 12,
    ROWS = PRT_REQUANTIZE_TILES_ROWS,
    BLOCK = 1 << 19, /* bytes of A in a block: it stays in L2 with a packed panel */
    MANY = 256       /* outputs of a thread from which on threads share rows, not panels */
};

typedef struct tile_work {
    const prt_nhwc_i8_amx_conv *t;
    bool pointwise;
    size_t batch, out_h, out_w, filters;
    const uint8_t *x;
    size_t image;                /* bytes from image to image */
    size_t wide, lda;            /* outputs of a row, dropped ones included; bytes between two
                                  * outputs */
    size_t taps, words, *tap_at; /* pieces of K, words of each, and bytes from an output to each */
    size_t lines, line;          /* joined rows of an image, and words of one */
    uint32_t *joined;
    enum {
        PACKS_none,
        PACKS_last,
        PACKS_all
    } packs;               /* the part of a panel that is packed:
                            * nothing, the last step of K, or all */
    size_t panels, depth;  /* panels; words of K in a panel */
    size_t chunks, blocks; /* of panels; of rows, or of outputs where there is only one row */
    size_t units, each;    /* rows (or outputs) of an image; outputs of each */
    size_t tiles;          /* of an item, at most */
    size_t table, to, packed, last; /* floats of scratch for the table of tiles, the destinations,
                                     * the packed panel and the last tile */
} tile_work;

static size_t rounded_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

bool prt_nhwc_i8_amx_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words)
{
    return kern->tiles != NULL && pixels >= ROWS && pixels < PRT_REQUANTIZE_TILES_NONE &&
        filters >= LEAST_COLUMNS && words >= LEAST_WORDS;
}

/* ---- joined rows: the pixels of `joined` consecutive kernel rows, interleaved ---- */

size_t prt_nhwc_i8_amx_joined(const prt_nhwc *v)
{
    const size_t most = PRT_TILES_WORDS / v->kernel_w;
    return most < 2 || v->dilation_h != 1 ? 1 : prt_size_min(most, v->kernel_h);
}

/* Returns the distance between two rows that pieces begin with. */
static size_t step_of(const prt_nhwc *v, size_t joined, size_t kernel_h)
{
    size_t step = v->stride_h;
    while (kernel_h > joined && (v->stride_h % step != 0 || joined % step != 0))
        step--;
    return step;
}

/* Returns the number of joined rows of an image: the first pieces of all outputs, then the
 * others. */
static size_t lines_of(const prt_nhwc *v, size_t joined, size_t kernel_h)
{
    const size_t step = step_of(v, joined, kernel_h), more = (kernel_h - 1) / joined * joined;
    return rounded_up(((v->out_h - 1) * v->stride_h + more) / step + 1, v->stride_h / step);
}

void prt_nhwc_i8_amx_round_size(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide)
{
    *wide = rounded_up(*wide, v->stride_w);
    *high = rounded_up(*high, v->stride_h);
    if (joined > 1)
        *high = (lines_of(v, joined, v->kernel_h) - 1) * step_of(v, joined, v->kernel_h) + joined;
}

/* Interleaves joined row `item` of all images. */
static void join_rows(const void *user, size_t item, float *scratch)
{
    const tile_work *j = user;
    const prt_nhwc *v = j->t->v;
    const size_t joined = j->t->joined, step = step_of(v, joined, v->layout.taps);
    const size_t phases = v->stride_h / step, image = item / j->lines, line = item % j->lines;
    const size_t at = prt_nhwc_i8_amx_row(line, j->lines, phases);
    (void)scratch;
    v->kern->interleave(v->in_w, joined, v->x + (image * v->in_h + line * step) * v->in_w, v->in_w,
        (float *)(void *)(j->joined + (image * j->lines + at) * j->line));
}

/* Joins the rows of all images, which are the input from then on. */
static poprt_status join(prt_eval *c, tile_work *j)
{
    const prt_nhwc *v = j->t->v;
    const size_t joined = j->t->joined;
    j->lines = lines_of(v, joined, v->layout.taps);
    j->line = v->in_w * joined;
    j->joined = (void *)prt_parallel_uninitialized_floats(c, v->batch * j->lines + 1,
        j->line + ROWS * joined * v->stride_w + PRT_TILES_WORDS);
    if (j->joined == NULL)
        return POPRT_E_NOMEM;
    j->x = (const uint8_t *)j->joined;
    j->image = j->lines * j->line * sizeof(uint32_t);
    j->lda *= joined;
    j->taps = (v->layout.taps + joined - 1) / joined;
    j->words = v->layout.channels * joined;
    const size_t step = step_of(v, joined, v->layout.taps), phases = v->stride_h / step;
    for (size_t i = 0; i < j->taps; i++) {
        const size_t line = prt_nhwc_i8_amx_row(i * joined / step, j->lines, phases);
        j->tap_at[i] = line * j->line * sizeof(uint32_t);
    }
    return prt_parallel_for(c, v->batch * j->lines, 0, join_rows, j);
}

/* ---- panels ---- */

enum { WORDS = PRT_TILES_WORDS };

/* Packs a tile: words of piece `t` from `k` on, columns from `column` on. With joined rows, word k
 * of a pixel comes from row k % joined of the piece. */
static void pack_tile(const tile_work *j, size_t t, size_t k, size_t column, size_t width,
    const uint32_t *panel, uint32_t *to)
{
    const prt_nhwc *v = j->t->v;
    for (size_t end = k + WORDS; k < end; k++, to += WORDS) {
        const size_t joined = j->joined != NULL ? j->t->joined : 1;
        const size_t row = joined > 1 ? t * joined + k % joined : t;
        const size_t word = row * v->layout.channels + (joined > 1 ? k / joined : k);
        if (k < j->words && row < v->layout.taps && column < width)
            memcpy(to, panel + word * width + column, WORDS * sizeof(*to));
        else
            memset(to, 0, WORDS * sizeof(*to));
    }
}

/* Packs a panel: pairs of tiles for each 32 columns, piece and step of K. */
static void pack(const tile_work *j, size_t width, const uint32_t *panel, uint32_t *to)
{
    for (size_t column = 0; column < width; column += 2 * WORDS)
        for (size_t t = 0; t < j->taps; t++)
            for (size_t k = 0; k < j->words; k += WORDS, to += 2 * WORDS * WORDS) {
                pack_tile(j, t, k, column, width, panel, to);
                pack_tile(j, t, k, column + WORDS, width, panel, to + WORDS * WORDS);
            }
}

/* Copies the last step of K of a panel, filled up with zeros. */
static void pack_last_step(const tile_work *j, size_t width, const uint32_t *panel, uint32_t *to)
{
    const size_t rest = j->words % WORDS * width;
    memcpy(to, panel + j->words * width - rest, rest * sizeof(*to));
    memset(to + rest, 0, (WORDS * width - rest) * sizeof(*to));
}

/* ---- items ---- */

/* Finds the rows of y of outputs [first, first + count) of an image whose rows have `wide` outputs.
 * Dropped outputs, and outputs up to `all`, get PRT_REQUANTIZE_TILES_NONE. */
static void find_rows(const tile_work *j, size_t image, size_t first, size_t count, size_t all,
    uint32_t *to)
{
    const size_t row = image * j->out_h + first / j->wide;
    size_t column = first % j->wide, pixel = row * j->out_w + prt_size_min(column, j->out_w);
    for (size_t i = 0; i < all; i++) {
        const bool some = i < count && column < j->out_w;
        to[i] = some ? (uint32_t)pixel : PRT_REQUANTIZE_TILES_NONE;
        pixel += some;
        column = column + 1 < j->wide ? column + 1 : 0;
    }
}

/* Makes the tile of output `at` whole if it reaches beyond the last of `all` outputs: it begins
 * earlier instead, and the outputs before `at` are dropped. It is copied, so that nothing behind
 * the last output is read. */
static void copy_last_tile(const tile_work *j, size_t all, size_t at, const uint8_t *x,
    const uint8_t **tile, uint32_t *to, uint8_t *last)
{
    const size_t skip = at + ROWS - all;
    memmove(to + skip, to, (ROWS - skip) * sizeof(*to));
    for (size_t k = 0; k < skip; k++)
        to[k] = PRT_REQUANTIZE_TILES_NONE;
    memcpy(last, x + (all - ROWS) * j->lda, (ROWS - 1) * j->lda + j->words * sizeof(uint32_t));
    *tile = last;
}

/* Finds the tiles of an item and the destinations of their rows. Returns the number of tiles. */
static size_t find_tiles(const tile_work *j, size_t image, size_t first, size_t count,
    const uint8_t **tile, uint32_t *to, uint8_t *last)
{
    const uint8_t *x = j->x + image * j->image;
    const size_t all = j->out_h * j->out_w, n = (count + ROWS - 1) / ROWS;
    find_rows(j, image, first, count, n * ROWS, to);
    for (size_t i = 0, at = first; i < n; i++, at += ROWS) {
        tile[i] = x + at * j->lda;
        if (j->pointwise && at + ROWS >= all)
            copy_last_tile(j, all, at, x, &tile[i], to + i * ROWS, last);
    }
    return n;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const tile_work *j = user;
    const prt_nhwc_i8_amx_conv *t = j->t;
    const size_t chunk = item % j->chunks, block = item / j->chunks % j->blocks;
    const size_t unit = prt_parallel_piece_begin(j->units, j->blocks, block);
    const size_t end = prt_parallel_piece_begin(j->units, j->blocks, block + 1);
    const uint8_t **tile = (const uint8_t **)(void *)(scratch + j->packed);
    uint32_t *b = (uint32_t *)(void *)scratch, *to = b + j->packed + j->table;
    prt_requantize q = t->q;
    prt_requantize_tiles_block g = { .taps = j->taps,
        .steps = prt_requantize_tiles_steps(j->words),
        .tile = tile,
        .tap_at = j->tap_at,
        .lda = j->lda,
        .packed = j->packs == PACKS_all,
        .last = j->packs == PACKS_last ? b : NULL,
        .to = to,
        .q = &q,
        .ldy = t->v->y_pitch };
    g.tiles = find_tiles(j, item / j->chunks / j->blocks, unit * j->each,
        (end - unit - 1) * j->each + prt_size_min(j->each, j->out_w), tile, to,
        (uint8_t *)(to + j->to));
    const size_t last = prt_parallel_piece_begin(j->panels, j->chunks, chunk + 1);
    for (size_t p = prt_parallel_piece_begin(j->panels, j->chunks, chunk); p < last; p++) {
        const size_t first = p * PRT_GEMM_PANEL, left = j->filters - first;
        const uint32_t *panel = t->w + first * j->depth;
        g.columns = prt_size_min(left, PRT_GEMM_PANEL);
        q.biases = t->q.biases + first;
        q.scales = t->q.scales + first;
        q.scales_f32 = t->q.scales_f32 + first;
        g.y = t->y + first;
        const size_t width = prt_gemm_width(g.columns);
        if (j->packs == PACKS_all)
            pack(j, width, panel, b);
        else if (j->packs == PACKS_last)
            pack_last_step(j, width, panel, b);
        g.b = g.packed ? b : panel;
        g.next = p + 1 < last ? (const char *)(panel + width * j->depth) : NULL;
        g.next_lines = g.next != NULL
            ? j->depth * prt_gemm_panel_width(j->filters, first + PRT_GEMM_PANEL) / PRT_GEMM_SLICE
            : 0;
        t->v->kern->tiles(&g);
    }
}

/* Cuts the work into blocks and chunks, and sets the scratch of an item. */
static void cut(const prt_eval *c, tile_work *j)
{
    const size_t width = prt_parallel_threads(c), all = j->out_h * j->wide;
    j->panels = (j->filters + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j->units = j->out_h > 1 ? j->out_h : j->out_w;
    j->each = j->out_h > 1 ? j->wide : 1;
    j->blocks = prt_size_min((all * j->lda + BLOCK - 1) / BLOCK, j->units);
    if (j->batch * j->blocks < width && all / width >= MANY)
        j->blocks = width;
    j->blocks =
        prt_parallel_blocks(c, j->batch, j->blocks, j->units, (ROWS + j->each - 1) / j->each);
    j->chunks = j->batch * j->blocks >= width ? 1 : prt_size_min(j->panels, width);
    const size_t most = (j->units + j->blocks - 1) / j->blocks;
    j->tiles = (most * j->each + ROWS - 1) / ROWS;
    const bool whole = j->joined == NULL && j->words % WORDS == 0;
    j->packs = whole ? PACKS_none : j->taps == 1 && j->joined == NULL ? PACKS_last : PACKS_all;
    j->packed = j->packs == PACKS_none ? 0
        : j->packs == PACKS_last       ? (size_t)WORDS * PRT_GEMM_PANEL
                                       : prt_requantize_tiles_size(j->taps, j->words);
    j->table = prt_size_align(j->tiles * sizeof(char *) / sizeof(float), 16);
    j->to = j->tiles * ROWS;
    j->last = j->pointwise ? ROWS * j->lda / sizeof(float) + j->words + ROWS : 0;
}

poprt_status prt_nhwc_i8_amx_conv_run(prt_eval *c, const prt_nhwc_i8_amx_conv *t)
{
    const prt_nhwc *v = t->v;
    const size_t pixel = v->in_c * sizeof(uint32_t), line = v->in_w * pixel;
    tile_work j = { .t = t,
        .pointwise = prt_nhwc_is_pointwise_conv(v),
        .batch = v->batch,
        .out_h = v->out_h,
        .out_w = v->out_w,
        .filters = v->layout.filters,
        .x = (const uint8_t *)v->x,
        .image = v->in_h * line,
        .wide = v->in_w / v->stride_w,
        .lda = v->stride_w * pixel,
        .taps = v->layout.taps,
        .words = v->layout.channels,
        .depth = v->layout.taps * v->layout.channels };
    if (j.pointwise) {
        j.batch = j.out_h = 1;
        j.out_w = j.wide = v->batch * v->out_d * v->out_h * v->out_w;
        j.lda = v->x_pitch * sizeof(uint32_t);
    }
    j.tap_at = prt_eval_scratch_raw(c, j.taps, sizeof(*j.tap_at));
    if (j.tap_at == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < j.taps; i++)
        j.tap_at[i] = prt_nhwc_i8_amx_row(i * v->dilation_h, v->in_h, v->stride_h) * line;
    if (t->joined > 1)
        PRT_TRY(join(c, &j));
    cut(c, &j);
    return prt_parallel_for(c, j.batch * j.blocks * j.chunks, j.packed + j.table + j.to + j.last,
        run_item, &j);
}
