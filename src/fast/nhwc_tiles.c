/* SPDX-License-Identifier: MIT */
/*
 * nhwc_tiles.c — convolutions of bytes by tiles: an item is some rows of an image and a few panels,
 * one after the other, each packed first if pieces are not whole steps. A tile is any 16 outputs
 * that follow each other, as if rows were as long as those of the image with padding are; what lies
 * behind a row is dropped.
 */
#include "fast/share.h"
#include "fast/tiles.h"

enum {
    LEAST_COLUMNS = 17, LEAST_WORDS = 6,
    ROWS = PRT_TILES_ROWS,
    BLOCK = 1 << 19,   /* bytes of A, which stays in the second cache level with a packed panel */
    MANY = 256,        /* outputs of a thread: then rows are shared, else panels */
    LATER = 1 << 18    /* bytes that are fetched of the next step's weights */
};

typedef struct job {
    const prt_tiles_conv *t;
    size_t panels, depth;       /* words of all K */
    size_t chunks, blocks;      /* of panels; of rows, or of all outputs where there is one row */
    size_t units, each;         /* these; outputs of each */
    size_t tiles;               /* of an item, at most */
    size_t table, to, packed, last; /* floats of scratch */
} job;

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool prt_tiles_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words)
{
    return kern->tiles.multiply != NULL && pixels >= ROWS && filters >= LEAST_COLUMNS &&
        words >= LEAST_WORDS;
}

/* An item's tiles and where their rows go: outputs [first, first + count) of `x`, an image whose
 * rows are `wide`, and pixels of y from `pixel` on. */
static size_t find_tiles(const job *j, size_t image, size_t first, size_t count,
    const uint8_t **tile, uint32_t *to, uint8_t *last)
{
    const prt_tiles_conv *t = j->t;
    const uint8_t *x = t->x + image * t->image;
    const size_t all = t->out_h * t->out_w, n = (count + ROWS - 1) / ROWS;
    for (size_t i = 0; i < n; i++) {
        size_t at = first + i * ROWS, skip = 0;
        if (!t->room && at + ROWS > all) { /* rows are one: outputs before the item's, too */
            skip = at - (all - ROWS);
            at = all - ROWS;
        }
        tile[i] = x + at * t->lda;
        for (size_t k = 0; k < ROWS; k++, to++) {
            const size_t row = (at + k) / t->wide, column = (at + k) % t->wide;
            *to = k < skip || at + k >= first + count || column >= t->out_w
                ? PRT_TILES_NONE
                : (uint32_t)(image * all + row * t->out_w + column);
        }
        if (!t->room && at + ROWS == all) {
            memcpy(last, tile[i], (ROWS - 1) * t->lda + t->words * sizeof(uint32_t));
            tile[i] = last;
        }
    }
    return n;
}

/* Weights that come while a panel is multiplied: the next one, which begins with column `first`, or
 * what the next step begins with where it is shared alike. */
static void fetch_next(const job *j, size_t first, size_t chunk, bool last, prt_tiles_block *g)
{
    const prt_tiles_conv *t = j->t;
    if (!last) {
        g->next = (const char *)(t->w + first * j->depth);
        g->next_lines = j->depth * prt_gemm_panel_width(t->filters, first) / PRT_GEMM_SLICE;
    } else if (t->later != NULL) {
        const size_t each = t->later->size / j->chunks;
        g->next = (const char *)t->later->data + each * chunk;
        g->next_lines = lesser(each, LATER) / (PRT_GEMM_SLICE * sizeof(*t->w));
    } else {
        g->next = NULL;
    }
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const prt_tiles_conv *t = j->t;
    const size_t chunk = item % j->chunks, block = item / j->chunks % j->blocks;
    const size_t unit = prt_share_cut(j->units, j->blocks, block);
    const size_t end = prt_share_cut(j->units, j->blocks, block + 1);
    const uint8_t **tile = (const uint8_t **)(void *)(scratch + j->packed);
    uint32_t *b = (uint32_t *)(void *)scratch, *to = b + j->packed + j->table;
    prt_requantize q = t->q;
    prt_tiles_block g = { .taps = t->taps, .steps = prt_tiles_steps(t->words), .tile = tile,
        .tap_at = t->tap_at, .lda = t->lda, .packed = j->packed != 0, .to = to, .q = &q,
        .ldy = t->y_pitch };
    g.tiles = find_tiles(j, item / j->chunks / j->blocks, unit * j->each,
        (end - unit - 1) * j->each + lesser(j->each, t->out_w), tile, to,
        (uint8_t *)(to + j->to));
    const size_t last = prt_share_cut(j->panels, j->chunks, chunk + 1);
    for (size_t p = prt_share_cut(j->panels, j->chunks, chunk); p < last; p++) {
        const size_t first = p * PRT_GEMM_PANEL, left = t->filters - first;
        const uint32_t *panel = t->w + first * j->depth;
        g.columns = lesser(left, PRT_GEMM_PANEL);
        q.biases = t->q.biases + first;
        q.scales = t->q.scales + first;
        q.near = t->q.near + first;
        g.y = t->y + first;
        const size_t width = prt_gemm_width(g.columns);
        g.b = panel;
        if (g.packed) {
            t->kern->tiles.pack(t->taps, t->words, width, panel, b);
            g.b = b;
        }
        fetch_next(j, first + PRT_GEMM_PANEL, chunk, p + 1 == last, &g);
        t->kern->tiles.multiply(&g);
    }
}

poprt_status prt_tiles_conv_run(prt_eval *c, const prt_tiles_conv *t)
{
    job j = { .t = t, .depth = t->taps * t->words };
    const size_t width = prt_share_width(c), all = t->out_h * t->wide;
    j.panels = (t->filters + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j.units = t->out_h > 1 ? t->out_h : t->out_w;
    j.each = t->out_h > 1 ? t->wide : 1;
    j.blocks = lesser((all * t->lda + BLOCK - 1) / BLOCK, j.units);
    if (t->batch * j.blocks < width && all / width >= MANY)
        j.blocks = width;
    j.blocks = prt_share_blocks(c, t->batch, j.blocks, j.units, (ROWS + j.each - 1) / j.each);
    j.chunks = t->batch * j.blocks >= width ? 1 : lesser(j.panels, width);
    const size_t most = (j.units + j.blocks - 1) / j.blocks;
    j.tiles = (most * j.each + ROWS - 1) / ROWS;
    j.packed = t->words % PRT_TILES_WORDS != 0 ? prt_tiles_size(t->taps, t->words) : 0;
    j.table = (j.tiles * sizeof(char *) / sizeof(float) + 15) / 16 * 16;
    j.to = j.tiles * ROWS;
    j.last = t->room ? 0 : (ROWS * t->lda + t->words * sizeof(float)) / sizeof(float) + ROWS;
    return prt_share_run(c, t->batch * j.blocks * j.chunks, j.packed + j.table + j.to + j.last,
        run_item, &j);
}
