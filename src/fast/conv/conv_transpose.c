/* SPDX-License-Identifier: MIT */
/*
 * conv_transpose.c — ConvTranspose of float32 by GEMM and col2im: the transposed weights, (filters
 * × taps) × channels, times the input as it lies, channels × positions. A panel of 64 positions
 * goes to scratch, from where the row of every tap is added to the outputs that it belongs to.
 *
 * An item is a part of the filters and a band of output rows; it recomputes the few input rows that
 * bands share. Where windows neither overlap nor leave gaps, each output is written once. Otherwise
 * outputs start with the bias.
 */
#include "fast/parallel.h"
#include "op/share/conv_core.h"

#include "fast/fast.h"

enum {
    MOST_ROWS = 240,  /* rows of an item (filters x taps), unless one filter has more */
    MOST_TAPS = 1024, /* taps, beyond which the reference runs */
    BLOCK_K = 512     /* channels in a block of K */
};

typedef struct conv_transpose_work {
    const prt_kern *kern;
    const float *x, *w, *bias;
    float *y, *transposed;            /* weights as [group][filter][tap][channel] */
    size_t groups, channels, filters; /* channels and filters of one group */
    size_t parts, bands, rows, taps;  /* parts of the filters, bands of the output; rows of a
                                       * product, at most; taps */
    int64_t in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    int64_t stride_h, stride_w, dilation_h, dilation_w, top, left;
    bool tiled; /* windows neither overlap nor leave gaps */
} conv_transpose_work;

/* One item, and the panel that it has computed. */
typedef struct band {
    const conv_transpose_work *j;
    size_t filters;     /* number of filters */
    const float *bias;  /* of the first filter; NULL: no bias */
    float *y;           /* plane of the first filter */
    int64_t first, end; /* rows of the output */
    const float *tile;  /* [filter][tap][PRT_GEMM_PANEL] */
} band;

/* Clips input columns [*low, *high) to the columns whose tap at `shift` is inside the output. */
static void clip(const conv_transpose_work *j, int64_t shift, int64_t *low, int64_t *high)
{
    const int64_t s = j->stride_w, first = shift >= 0 ? 0 : (-shift + s - 1) / s;
    const int64_t end = shift >= j->out_w ? 0 : (j->out_w - shift + s - 1) / s;
    *low = *low > first ? *low : first;
    *high = *high < end ? *high : end;
}

static void add_row(float *restrict to, int64_t step, const float *restrict from, size_t n)
{
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            to[i] += from[i];
    else if (step == 2)
        for (size_t i = 0; i < n; i++)
            to[2 * i] += from[i];
    else
        for (size_t i = 0; i < n; i++)
            to[i * (size_t)step] += from[i];
}

/* Adds inputs [x, x + n) of row `row`, from element `at` of the tile on, to the outputs of one
 * filter. */
static void add_taps(const band *b, size_t filter, int64_t row, int64_t x, int64_t n, size_t at)
{
    const conv_transpose_work *j = b->j;
    const float *from = b->tile + filter * j->taps * PRT_GEMM_PANEL + at;
    float *plane = b->y + filter * (size_t)(j->out_h * j->out_w);
    for (int64_t ky = 0; ky < j->kernel_h; ky++) {
        const int64_t y = row * j->stride_h - j->top + ky * j->dilation_h;
        for (int64_t kx = 0; kx < j->kernel_w; kx++, from += PRT_GEMM_PANEL) {
            const int64_t shift = kx * j->dilation_w - j->left;
            int64_t low = x, high = x + n;
            clip(j, shift, &low, &high);
            if (y >= b->first && y < b->end && low < high)
                add_row(plane + y * j->out_w + low * j->stride_w + shift, j->stride_w,
                    from + (low - x), (size_t)(high - low));
        }
    }
}

/* Writes the same outputs where windows neither overlap nor leave gaps: interleaves the rows of
 * taps. */
static void write_taps(const band *b, size_t filter, int64_t row, int64_t x, int64_t n, size_t at)
{
    const conv_transpose_work *j = b->j;
    const size_t wide = (size_t)j->kernel_w, count = (size_t)n;
    const float bias = b->bias != NULL ? b->bias[filter] : 0.0f;
    const float *restrict from = b->tile + filter * j->taps * PRT_GEMM_PANEL + at;
    float *plane = b->y + filter * (size_t)(j->out_h * j->out_w);
    for (int64_t ky = 0; ky < j->kernel_h; ky++, from += wide * PRT_GEMM_PANEL) {
        const int64_t y = row * j->stride_h + ky;
        if (y < b->first || y >= b->end)
            continue;
        float *restrict to = plane + y * j->out_w + x * j->stride_w;
        if (wide == 2)
            for (size_t i = 0; i < count; i++) {
                to[2 * i] = from[i] + bias;
                to[2 * i + 1] = from[PRT_GEMM_PANEL + i] + bias;
            }
        else
            for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < wide; k++)
                    to[i * wide + k] = from[k * PRT_GEMM_PANEL + i] + bias;
    }
}

/* Adds one panel, `columns` positions from `first` on, to the outputs. */
static void store_panel(const band *b, int64_t first, int64_t columns)
{
    const conv_transpose_work *j = b->j;
    for (int64_t at = 0; at < columns;) {
        const int64_t row = (first + at) / j->in_w, x = (first + at) % j->in_w;
        const int64_t left = j->in_w - x, n = columns - at < left ? columns - at : left;
        for (size_t f = 0; f < b->filters; f++)
            (j->tiled ? write_taps : add_taps)(b, f, row, x, n, (size_t)at);
        at += n;
    }
}

/* Returns the first output row of a band: the first row that an input row reaches. */
static int64_t band_row(const conv_transpose_work *j, size_t i)
{
    const int64_t row =
        (int64_t)prt_parallel_piece_begin((size_t)j->in_h, j->bands, i) * j->stride_h - j->top;
    if (i == j->bands || row > j->out_h)
        return j->out_h;
    return i == 0 || row < 0 ? 0 : row;
}

/* Finds the input rows [*low, *high) that reach the band. */
static void reaching(const band *b, int64_t *low, int64_t *high)
{
    const conv_transpose_work *j = b->j;
    const int64_t first = b->first + j->top - (j->kernel_h - 1) * j->dilation_h;
    const int64_t last = b->end - 1 + j->top;
    *low = first <= 0 ? 0 : (first + j->stride_h - 1) / j->stride_h;
    *high = last < 0 ? 0 : last / j->stride_h + 1;
    *high = *high < j->in_h ? *high : j->in_h;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const conv_transpose_work *j = user;
    const size_t part = item % j->parts, n = item / j->parts / j->bands, group = n % j->groups;
    const size_t at = item / j->parts % j->bands, plane = (size_t)(j->in_h * j->in_w);
    const size_t filter = prt_parallel_piece_begin(j->filters, j->parts, part);
    const float *x = j->x + n * j->channels * plane;
    const float *w = j->transposed + (group * j->filters + filter) * j->taps * j->channels;
    float *tile = scratch, *packed = tile + j->rows * PRT_GEMM_PANEL;
    const band b = { .j = j,
        .filters = prt_parallel_piece_begin(j->filters, j->parts, part + 1) - filter,
        .bias = j->bias != NULL ? j->bias + group * j->filters + filter : NULL,
        .y = j->y + (n * j->filters + filter) * (size_t)(j->out_h * j->out_w),
        .first = band_row(j, at),
        .end = band_row(j, at + 1),
        .tile = tile };
    int64_t low, high;
    for (size_t f = 0; f < b.filters && !j->tiled; f++)
        for (int64_t i = b.first * j->out_w; i < b.end * j->out_w; i++)
            b.y[f * (size_t)(j->out_h * j->out_w) + (size_t)i] = b.bias != NULL ? b.bias[f] : 0.0f;
    reaching(&b, &low, &high);
    for (int64_t first = low * j->in_w; first < high * j->in_w; first += PRT_GEMM_PANEL) {
        const int64_t left = high * j->in_w - first;
        const int64_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        for (size_t k = 0; k < j->channels; k += BLOCK_K) {
            const size_t some = j->channels - k < BLOCK_K ? j->channels - k : BLOCK_K;
            prt_gemm_pack(some, (size_t)columns, x + k * plane + first, plane, 1, packed);
            const prt_gemm_block g = { .rows = b.filters * j->taps,
                .columns = (size_t)columns,
                .k = some,
                .a = w + k,
                .lda = j->channels,
                .b = packed,
                .stride = prt_gemm_width((size_t)columns),
                .c = tile,
                .ldc = PRT_GEMM_PANEL,
                .add = k != 0 };
            j->kern->gemm(&g);
        }
        store_panel(&b, first, columns);
    }
}

/* Transposes the weights of one group, [channels][filters * taps]; an item is 16 columns. */
static void transpose_weights(const void *user, size_t item, float *scratch)
{
    const conv_transpose_work *j = user;
    const size_t all = j->filters * j->taps, slices = (all + 15) / 16, group = item / slices;
    const size_t first = item % slices * 16, left = all - first, n = left < 16 ? left : 16;
    const float *from = j->w + group * j->channels * all + first;
    float *to = j->transposed + (group * all + first) * j->channels;
    (void)scratch;
    for (size_t k = 0; k < j->channels; k++, from += all)
        for (size_t i = 0; i < n; i++)
            to[i * j->channels + k] = from[i];
}

static void init_sizes(conv_transpose_work *j, const prt_window *w)
{
    const uint32_t x = w->rank - 1;
    const bool two = w->rank == 2;
    j->in_h = two ? w->in[0] : 1;
    j->out_h = two ? w->out[0] : 1;
    j->kernel_h = two ? w->kernel[0] : 1;
    j->stride_h = two ? w->stride[0] : 1;
    j->dilation_h = two ? w->dilation[0] : 1;
    j->top = two ? w->begin[0] : 0;
    j->in_w = w->in[x];
    j->out_w = w->out[x];
    j->kernel_w = w->kernel[x];
    j->stride_w = w->stride[x];
    j->dilation_w = w->dilation[x];
    j->left = w->begin[x];
    j->tiled = j->kernel_h == j->stride_h && j->kernel_w == j->stride_w && j->dilation_h == 1 &&
        j->dilation_w == 1 && j->top == 0 && j->left == 0 && j->out_h == j->in_h * j->stride_h &&
        j->out_w == j->in_w * j->stride_w;
}

/* Cuts filters by the rows of a product, and outputs into bands that share an eighth at most. */
static void init_items(conv_transpose_work *j)
{
    const size_t each = MOST_ROWS / j->taps > 1 ? MOST_ROWS / j->taps : 1;
    j->parts = (j->filters + each - 1) / each;
    j->rows = (j->filters + j->parts - 1) / j->parts * j->taps;
    const int64_t shared = (j->kernel_h - 1) * j->dilation_h / j->stride_h;
    const int64_t wide = (4 * PRT_GEMM_PANEL + j->in_w - 1) / j->in_w;
    const int64_t least = 8 * shared > wide ? 8 * shared : wide;
    j->bands = prt_parallel_pieces((size_t)j->in_h, least > 0 ? (size_t)least : 1);
}

poprt_status prt_fast_conv_transpose(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_conv_transpose_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) || c->in[0]->rank < 3 ||
        c->in[0]->rank > 4)
        return prt_fast_use_reference(done);
    const prt_tensor *x = c->in[0], *w = c->in[1];
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    if (prt_tensor_count(x) == 0 || prt_tensor_count(w) == 0)
        return prt_fast_use_reference(done);
    conv_transpose_work j = { .kern = k,
        .x = x->data,
        .w = w->data,
        .y = c->out[0]->data,
        .bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL,
        .groups = (size_t)a->group,
        .channels = (size_t)(w->dims[0] / a->group),
        .filters = (size_t)w->dims[1],
        .taps = prt_dims_product(w->dims, 2, w->rank) };
    if (j.taps > MOST_TAPS)
        return prt_fast_use_reference(done);
    prt_window window;
    prt_conv_transpose_fill(NULL, a, x->rank - 2, x->dims + 2, w->dims + 2, &window);
    init_sizes(&j, &window);
    init_items(&j);
    j.transposed = prt_eval_scratch(c, prt_tensor_count(w), sizeof(float));
    if (j.transposed == NULL)
        return POPRT_E_NOMEM;
    const size_t slices = (j.filters * j.taps + 15) / 16;
    const size_t depth = j.channels < BLOCK_K ? j.channels : BLOCK_K;
    PRT_TRY(prt_parallel_for(c, j.groups * slices, 0, transpose_weights, &j));
    return prt_parallel_for(c, (size_t)x->dims[0] * j.groups * j.parts * j.bands,
        (j.rows + depth) * PRT_GEMM_PANEL, run_item, &j);
}
