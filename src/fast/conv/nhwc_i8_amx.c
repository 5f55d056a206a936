/* SPDX-License-Identifier: MIT */
/*
 * nhwc_i8_amx.c — convolutions of bytes by tiles: an item is some rows of an image and a few
 * panels, one after the other, packed or not as kern/int8/requantize_tiles.h wants them. A tile is
 * any 16 outputs that follow each other, as if rows were as long as those of the image with padding
 * are; what is behind a row is dropped.
 */
#include "fast/parallel.h"
#include "fast/conv/nhwc_i8_amx.h"

enum {
    LEAST_COLUMNS = 17,
    LEAST_WORDS = 12,
    ROWS = PRT_TILES_ROWS,
    BLOCK = 1 << 19, /* bytes of A, which stays in the second cache level with a packed panel */
    MANY = 256       /* outputs of a thread: then rows are shared, else panels */
};

typedef struct job {
    const prt_nhwc_i8_amx_conv *t;
    bool plain;
    size_t batch, out_h, out_w, filters;
    const uint8_t *x;
    size_t image;                /* bytes from image to image */
    size_t wide, lda;            /* outputs of a row, with those behind it; bytes between them */
    size_t taps, words, *tap_at; /* pieces of K, words of each, and bytes to them */
    size_t lines, line;          /* of joined rows in an image, and words of one */
    uint32_t *joined;
    enum { PACKS_none, PACKS_last, PACKS_all } packs; /* steps of K */
    size_t panels, depth;                             /* words of all K of a panel */
    size_t chunks, blocks; /* of panels; of rows, or of all outputs where there is one row */
    size_t units, each;    /* these; outputs of each */
    size_t tiles;          /* of an item, at most */
    size_t table, to, packed, last; /* floats of scratch */
} job;

static size_t rounded_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

bool prt_nhwc_i8_amx_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words)
{
    return kern->tiles != NULL && pixels >= ROWS && pixels < PRT_TILES_NONE &&
        filters >= LEAST_COLUMNS && words >= LEAST_WORDS;
}

/* ---- joined rows: for each row that a piece begins with, pixel by pixel, the words of all that it
 * is made of */

size_t prt_nhwc_i8_amx_joined(const prt_nhwc *v)
{
    const size_t most = PRT_TILES_WORDS / v->kernel_w;
    return most < 2 || v->dilation_h != 1 ? 1 : prt_lesser(most, v->kernel_h);
}

/* Rows from one to the next that a piece begins with. */
static size_t step_of(const prt_nhwc *v, size_t joined, size_t kernel_h)
{
    size_t step = v->stride_h;
    while (kernel_h > joined && (v->stride_h % step != 0 || joined % step != 0))
        step--;
    return step;
}

/* Rows of an image that pieces begin with, those of all outputs' first pieces, then the others. */
static size_t lines_of(const prt_nhwc *v, size_t joined, size_t kernel_h)
{
    const size_t step = step_of(v, joined, kernel_h), more = (kernel_h - 1) / joined * joined;
    return rounded_up(((v->out_h - 1) * v->stride_h + more) / step + 1, v->stride_h / step);
}

void prt_nhwc_i8_amx_lay(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide)
{
    *wide = rounded_up(*wide, v->stride_w);
    *high = rounded_up(*high, v->stride_h);
    if (joined > 1)
        *high = (lines_of(v, joined, v->kernel_h) - 1) * step_of(v, joined, v->kernel_h) + joined;
}

/* Line `item` of all images. */
static void join_rows(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const prt_nhwc *v = j->t->v;
    const size_t joined = j->t->joined, step = step_of(v, joined, v->form.taps);
    const size_t phases = v->stride_h / step, image = item / j->lines, line = item % j->lines;
    const size_t at = prt_nhwc_i8_amx_row(line, j->lines, phases);
    (void)scratch;
    v->kern->interleave(v->in_w, joined, v->x + (image * v->in_h + line * step) * v->in_w, v->in_w,
        (float *)(void *)(j->joined + (image * j->lines + at) * j->line));
}

static poprt_status join(prt_eval *c, job *j)
{
    const prt_nhwc *v = j->t->v;
    const size_t joined = j->t->joined;
    j->lines = lines_of(v, joined, v->form.taps);
    j->line = v->in_w * joined;
    j->joined = (void *)prt_parallel_raw(c, v->batch * j->lines + 1,
        j->line + ROWS * joined * v->stride_w + PRT_TILES_WORDS);
    if (j->joined == NULL)
        return POPRT_E_NOMEM;
    j->x = (const uint8_t *)j->joined;
    j->image = j->lines * j->line * sizeof(uint32_t);
    j->lda *= joined;
    j->taps = (v->form.taps + joined - 1) / joined;
    j->words = v->form.channels * joined;
    const size_t step = step_of(v, joined, v->form.taps), phases = v->stride_h / step;
    for (size_t i = 0; i < j->taps; i++) {
        const size_t line = prt_nhwc_i8_amx_row(i * joined / step, j->lines, phases);
        j->tap_at[i] = line * j->line * sizeof(uint32_t);
    }
    return prt_parallel_for(c, v->batch * j->lines, 0, join_rows, j);
}

/* ---- panels */

enum { WORDS = PRT_TILES_WORDS };

/* A tile: words of piece `t` from `k` on, columns from `column` on. Of joined rows each word, and
 * their rows one after the other. */
static void pack_tile(const job *j, size_t t, size_t k, size_t column, size_t width,
    const uint32_t *panel, uint32_t *to)
{
    const prt_nhwc *v = j->t->v;
    for (size_t end = k + WORDS; k < end; k++, to += WORDS) {
        const size_t joined = j->joined != NULL ? j->t->joined : 1;
        const size_t row = joined > 1 ? t * joined + k % joined : t;
        const size_t word = row * v->form.channels + (joined > 1 ? k / joined : k);
        if (k < j->words && row < v->form.taps && column < width)
            memcpy(to, panel + word * width + column, WORDS * sizeof(*to));
        else
            memset(to, 0, WORDS * sizeof(*to));
    }
}

static void pack(const job *j, size_t width, const uint32_t *panel, uint32_t *to)
{
    for (size_t column = 0; column < width; column += 2 * WORDS)
        for (size_t t = 0; t < j->taps; t++)
            for (size_t k = 0; k < j->words; k += WORDS, to += 2 * WORDS * WORDS) {
                pack_tile(j, t, k, column, width, panel, to);
                pack_tile(j, t, k, column + WORDS, width, panel, to + WORDS * WORDS);
            }
}

/* The last step of a panel. */
static void copy_last(const job *j, size_t width, const uint32_t *panel, uint32_t *to)
{
    const size_t rest = j->words % WORDS * width;
    memcpy(to, panel + j->words * width - rest, rest * sizeof(*to));
    memset(to + rest, 0, (WORDS * width - rest) * sizeof(*to));
}

/* ---- items */

/* Outputs [first, first + count) of an image, whose rows are `wide`, then others up to `all`: which
 * rows of y they are. */
static void find_rows(const job *j, size_t image, size_t first, size_t count, size_t all,
    uint32_t *to)
{
    const size_t row = image * j->out_h + first / j->wide;
    size_t column = first % j->wide, pixel = row * j->out_w + prt_lesser(column, j->out_w);
    for (size_t i = 0; i < all; i++) {
        const bool some = i < count && column < j->out_w;
        to[i] = some ? (uint32_t)pixel : PRT_TILES_NONE;
        pixel += some;
        column = column + 1 < j->wide ? column + 1 : 0;
    }
}

/* The tile that begins with output `at` of `all` and may go beyond the last: outputs before it make
 * it whole. What is behind the last one is not read. */
static void take_last(const job *j, size_t all, size_t at, const uint8_t *x, const uint8_t **tile,
    uint32_t *to, uint8_t *last)
{
    const size_t skip = at + ROWS - all;
    memmove(to + skip, to, (ROWS - skip) * sizeof(*to));
    for (size_t k = 0; k < skip; k++)
        to[k] = PRT_TILES_NONE;
    memcpy(last, x + (all - ROWS) * j->lda, (ROWS - 1) * j->lda + j->words * sizeof(uint32_t));
    *tile = last;
}

/* An item's tiles, and where their rows go. */
static size_t find_tiles(const job *j, size_t image, size_t first, size_t count,
    const uint8_t **tile, uint32_t *to, uint8_t *last)
{
    const uint8_t *x = j->x + image * j->image;
    const size_t all = j->out_h * j->out_w, n = (count + ROWS - 1) / ROWS;
    find_rows(j, image, first, count, n * ROWS, to);
    for (size_t i = 0, at = first; i < n; i++, at += ROWS) {
        tile[i] = x + at * j->lda;
        if (j->plain && at + ROWS >= all)
            take_last(j, all, at, x, &tile[i], to + i * ROWS, last);
    }
    return n;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const prt_nhwc_i8_amx_conv *t = j->t;
    const size_t chunk = item % j->chunks, block = item / j->chunks % j->blocks;
    const size_t unit = prt_parallel_cut(j->units, j->blocks, block);
    const size_t end = prt_parallel_cut(j->units, j->blocks, block + 1);
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
        (end - unit - 1) * j->each + prt_lesser(j->each, j->out_w), tile, to,
        (uint8_t *)(to + j->to));
    const size_t last = prt_parallel_cut(j->panels, j->chunks, chunk + 1);
    for (size_t p = prt_parallel_cut(j->panels, j->chunks, chunk); p < last; p++) {
        const size_t first = p * PRT_GEMM_PANEL, left = j->filters - first;
        const uint32_t *panel = t->w + first * j->depth;
        g.columns = prt_lesser(left, PRT_GEMM_PANEL);
        q.biases = t->q.biases + first;
        q.scales = t->q.scales + first;
        q.near = t->q.near + first;
        g.y = t->y + first;
        const size_t width = prt_gemm_width(g.columns);
        if (j->packs == PACKS_all)
            pack(j, width, panel, b);
        else if (j->packs == PACKS_last)
            copy_last(j, width, panel, b);
        g.b = g.packed ? b : panel;
        g.next = p + 1 < last ? (const char *)(panel + width * j->depth) : NULL;
        g.next_lines = g.next != NULL
            ? j->depth * prt_gemm_panel_width(j->filters, first + PRT_GEMM_PANEL) / PRT_GEMM_SLICE
            : 0;
        t->v->kern->tiles(&g);
    }
}

/* Blocks and chunks, and the scratch of an item. */
static void cut(const prt_eval *c, job *j)
{
    const size_t width = prt_parallel_width(c), all = j->out_h * j->wide;
    j->panels = (j->filters + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j->units = j->out_h > 1 ? j->out_h : j->out_w;
    j->each = j->out_h > 1 ? j->wide : 1;
    j->blocks = prt_lesser((all * j->lda + BLOCK - 1) / BLOCK, j->units);
    if (j->batch * j->blocks < width && all / width >= MANY)
        j->blocks = width;
    j->blocks =
        prt_parallel_blocks(c, j->batch, j->blocks, j->units, (ROWS + j->each - 1) / j->each);
    j->chunks = j->batch * j->blocks >= width ? 1 : prt_lesser(j->panels, width);
    const size_t most = (j->units + j->blocks - 1) / j->blocks;
    j->tiles = (most * j->each + ROWS - 1) / ROWS;
    const bool whole = j->joined == NULL && j->words % WORDS == 0;
    j->packs = whole ? PACKS_none : j->taps == 1 && j->joined == NULL ? PACKS_last : PACKS_all;
    j->packed = j->packs == PACKS_none ? 0
        : j->packs == PACKS_last       ? (size_t)WORDS * PRT_GEMM_PANEL
                                       : prt_requantize_tiles_size(j->taps, j->words);
    j->table = prt_size_align(j->tiles * sizeof(char *) / sizeof(float), 16);
    j->to = j->tiles * ROWS;
    j->last = j->plain ? ROWS * j->lda / sizeof(float) + j->words + ROWS : 0;
}

poprt_status prt_nhwc_i8_amx_conv_run(prt_eval *c, const prt_nhwc_i8_amx_conv *t)
{
    const prt_nhwc *v = t->v;
    const size_t pixel = v->in_c * sizeof(uint32_t), line = v->in_w * pixel;
    job j = { .t = t,
        .plain = prt_nhwc_is_plain(v),
        .batch = v->batch,
        .out_h = v->out_h,
        .out_w = v->out_w,
        .filters = v->form.filters,
        .x = (const uint8_t *)v->x,
        .image = v->in_h * line,
        .wide = v->in_w / v->stride_w,
        .lda = v->stride_w * pixel,
        .taps = v->form.taps,
        .words = v->form.channels,
        .depth = v->form.taps * v->form.channels };
    if (j.plain) {
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
