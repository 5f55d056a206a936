/* SPDX-License-Identifier: MIT */
/*
 * nhwc_i8.c — NhwcQConv and NhwcQuantizedConv: int8 convolutions as implicit GEMM, or depthwise.
 *
 * K is counted in words of four channels (dot4_i8). Pixels are read in place through the addresses
 * of taps. If the channels of a group are not a multiple of four, or are signed, the image is
 * copied to unsigned words first. The copy has the padding if that is in proportion; then all taps
 * of a kernel row are contiguous. NhwcQuantizedConv quantises its float32 input in that copy, and
 * returns float32.
 *
 * An item is a block of pixels times one panel of filters. The block of A stays in L2 with the
 * panel; the sums of the rows that a call of the kernel computes stay in L1 or in registers.
 */
#include <math.h>

#include "fast/gemm/integer.h"
#include "fast/nhwc.h"
#include "fast/parallel.h"
#include "fast/conv/nhwc_i8_amx.h"
#include "op/internal/fused.h"
#include "op/share/quant.h"

enum {
    A_BYTES = 1 << 17,        /* bytes of a block of A, in L2 with a panel of B */
    LEAST_ROWS = 48,          /* pixels of a block of A, at least */
    MOST_ROWS = 480,          /* pixels of a block of A, at most */
    ITEMS = 8,                /* work items, at least, unless blocks become too small */
    DEPTHWISE_PIXELS = 192,   /* pixels of a depthwise item, about */
    DEPTHWISE_ITEMS = 4,      /* depthwise items, at least: they share channels otherwise */
    DEPTHWISE_COLUMNS = 4096, /* columns of the input of depthwise3x3, at most */
};

typedef struct qconv_work {
    prt_nhwc v;                                  /* with sizes in words: x, in_c, layout.channels */
    bool pointwise;                              /* pointwise: output i reads only input i */
    size_t panels, blocks, pixels, words, table; /* depthwise: `panels` are parts of the channels */
    const uint32_t *w;
    prt_requantize q;
    uint8_t *y;
    /* the copy of the input */
    const uint8_t *x;
    size_t pitch; /* bytes from pixel to pixel of x, which may have gaps */
    uint8_t *copy;
    size_t groups, channels; /* of a pixel */
    size_t image_h, image_w; /* of x */
    size_t above, before;    /* rows and columns of padding in the copy */
    size_t step;             /* stride of the copied pixels and rows in x */
    bool tiled;              /* the copy is laid out for kern/int8/requantize_tiles.h */
    size_t joined;           /* rows of the kernel that form one piece */
    size_t phases;           /* planes of rows: row y is in plane y % phases */
    uint8_t flip, fill;      /* XORed with bytes to make them unsigned; padding, already XORed */
    /* NhwcQuantizedConv: used instead of x, q and y */
    const float *floats;
    prt_bytes_by *by; /* quantisation parameters of each image */
    prt_finish end;   /* at pixel 0, column 0 */
} qconv_work;

/* ---- the copy ---- */

/* Interleaves up to four planes into words. */
static void copy_planes(const qconv_work *j, size_t n, const uint8_t *from, uint32_t *to)
{
    static const uint8_t none[PRT_GEMM_PANEL];
    const size_t plane = j->image_h * j->image_w;
    for (size_t i = 0, some; i < n; i += some) {
        const uint8_t *rows[4];
        uint32_t last[PRT_GEMM_PANEL];
        some = n - i < PRT_GEMM_PANEL ? n - i : PRT_GEMM_PANEL;
        for (size_t c = 0; c < 4; c++)
            rows[c] = c < j->channels ? from + c * plane + i : none;
        const bool whole = some == PRT_GEMM_PANEL;
        j->v.kern->bytes.pack4(some, rows, j->flip * 0x01010101u, whole ? to + i : last);
        if (!whole)
            memcpy(to + i, last, some * sizeof(*to));
    }
}

/* Quantises pixels of a float32 image. */
static void quantize_pixels(const qconv_work *j, size_t n, const float *x, prt_bytes_by by,
    uint8_t *to)
{
    const size_t c = j->channels, wide = (c + 3) / 4 * 4, each = n * j->groups;
    const bool dense = c == wide;
    const size_t pieces = dense ? 1 : each, some = dense ? c * each : c;
    for (size_t i = 0; i < pieces; i++, x += some, to += wide) {
        if (!dense)
            memset(to + wide - 4, 0, 4);
        j->v.kern->bytes.quantize(some, x, by.scale, (float)by.zero, false, to);
    }
}

/* Copies pixels to unsigned words. */
static void copy_pixels(const qconv_work *j, size_t n, const uint8_t *from, uint8_t *to)
{
    const prt_kern_bytes *k = &j->v.kern->bytes;
    const size_t c = j->channels, wide = (c + 3) / 4 * 4, groups = j->groups;
    const size_t pitch = j->pitch * j->step;
    if (c == wide && pitch == groups * c) {
        k->row(n * groups * c, from, j->flip, to);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t g = 0; g < groups; g++)
            k->row(c, from + i * pitch + g * c, j->flip, to + (i * groups + g) * wide);
}

/* Copies one row of the input with its padding. */
static void copy_row(const void *user, size_t item, float *scratch)
{
    const qconv_work *j = user;
    const prt_nhwc *v = &j->v;
    const size_t rows = v->in_d * v->in_h, n = item / rows, y = item % rows, pixel = v->in_c * 4;
    const size_t before = j->before < v->in_w ? j->before : v->in_w;
    const size_t space = v->in_w - before, some = (j->image_w + j->step - 1) / j->step;
    const size_t count = some < space ? some : space;
    const uint8_t fill = j->by != NULL ? (uint8_t)j->by[n].zero : j->fill;
    uint8_t *to = j->copy +
        (item - y + prt_nhwc_i8_amx_row(y, v->in_d * v->in_h, j->phases)) * v->in_w * pixel;
    (void)scratch;
    if (y < j->above || (y - j->above) * j->step >= j->image_h * v->in_d) {
        memset(to, fill, v->in_w * pixel);
        return;
    }
    const size_t row = n * v->in_d * j->image_h + (y - j->above) * j->step;
    memset(to, fill, before * pixel);
    memset(to + (before + count) * pixel, fill, (space - count) * pixel);
    to += before * pixel;
    if (v->images)
        copy_planes(j, count, j->x + (n * j->image_h * j->channels + y - j->above) * j->image_w,
            (void *)to);
    else if (j->by != NULL)
        quantize_pixels(j, count, j->floats + row * j->image_w * j->pitch, j->by[n], to);
    else
        copy_pixels(j, count, j->x + row * j->image_w * j->pitch, to);
}

/* Returns whether the padded input is in proportion to the image, and its rows and columns. */
static bool padding_is_small(const prt_nhwc *v, size_t *to_high, size_t *to_wide)
{
    const double high = (double)(v->out_h - 1) * (double)v->stride_h +
        (double)(v->kernel_h - 1) * (double)v->dilation_h + 1.0;
    const double wide = (double)(v->out_w - 1) * (double)v->stride_w + (double)v->kernel_w;
    const double pixels = (double)v->in_h * (double)v->in_w + (double)v->out_h * (double)v->out_w;
    if (!prt_nhwc_is_2d(v) || v->layout.group != 1 || v->layout.algorithm != PRT_NHWC_panels ||
        v->dilation_w != 1 || v->top < 0 || v->left < 0 || high * wide > 16.0 * (pixels + 4096.0))
        return false;
    *to_high = (size_t)high;
    *to_wide = (size_t)wide;
    return true;
}

static bool is_tiled(const qconv_work *j)
{
    return PRT_HAS_TILES && j->tiled;
}

/* Adapts the layout of the copy, which is in proportion, to the AMX tiles. */
static void set_tile_layout(qconv_work *j, size_t *high, size_t *wide)
{
    prt_nhwc *v = &j->v;
    if (v->layout.taps == 1 && v->stride_h == v->stride_w && v->top == 0 && v->left == 0 &&
        !v->images) {
        j->step = v->stride_h;
        v->stride_h = v->stride_w = 1;
        *high = v->out_h;
        *wide = v->out_w;
    }
    j->joined = v->images && v->in_c == 1 ? prt_nhwc_i8_amx_joined(v) : 1;
    j->phases = j->joined > 1 ? 1 : v->stride_h;
    prt_nhwc_i8_amx_round_size(v, j->joined, high, wide);
}

/* Copies all images to unsigned words. */
static poprt_status copy_images(prt_eval *c, qconv_work *j)
{
    prt_nhwc *v = &j->v;
    size_t high, wide;
    j->image_h = v->in_h;
    j->image_w = v->in_w;
    j->step = j->phases = 1;
    if (padding_is_small(v, &high, &wide)) {
        if (is_tiled(j))
            set_tile_layout(j, &high, &wide);
        j->above = (size_t)v->top;
        j->before = (size_t)v->left;
        v->in_h = high;
        v->in_w = wide;
        v->top = v->left = 0;
        v->layout.channels *= v->kernel_w;
        v->layout.taps = v->kernel_h;
        v->kernel_w = 1;
    }
    size_t rows;
    if (!prt_size_mul(v->batch * v->in_d, v->in_h, &rows) || !prt_size_mul(rows, v->in_w, &rows))
        return prt_fail_nomem(SIZE_MAX);
    /* Tiles read beyond the last row, and beyond its end. */
    const size_t beyond =
        is_tiled(j) ? PRT_REQUANTIZE_TILES_ROWS * v->stride_w + PRT_TILES_WORDS : 0;
    float *copy = prt_parallel_uninitialized_floats(c, rows + beyond, v->in_c);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    j->copy = (uint8_t *)copy;
    v->x = copy;
    PRT_TRY(prt_parallel_for(c, rows / v->in_w, 0, copy_row, j));
    v->images = false; /* the copy is NHWC */
    return POPRT_OK;
}

/* ---- NhwcQuantizedConv ---- */

/* Finds the scale of one image; NaN if its elements are not all finite. */
static void find_scale(const void *user, size_t item, float *scratch)
{
    const qconv_work *j = user;
    const prt_nhwc *v = &j->v;
    const size_t each = v->in_d * v->in_h * v->in_w * j->pitch;
    uint8_t zero = 0;
    j->by[item].scale = NAN;
    (void)scratch;
    (void)prt_integer_scale(v->kern, each, j->floats + item * each, &j->by[item].scale, &zero);
    j->by[item].zero = zero;
}

/* Converts the sums of image n to float32; `row` is their first pixel, counted over all images. */
static void finish_rows(const qconv_work *j, size_t n, size_t row, size_t column,
    const prt_dot_block *g)
{
    prt_finish end = prt_integer_finish(&j->end, row, column);
    end.by = &j->by[n];
    end.rows = g->rows;
    end.columns = g->columns;
    end.sums = g->c;
    j->v.kern->bytes.finish(&end);
}

/* ---- GEMM ---- */

static void run_item(const void *user, size_t item, float *scratch)
{
    const qconv_work *j = user;
    const prt_nhwc *v = &j->v;
    const size_t panel = item % j->panels, group = item / j->panels % v->layout.group;
    const size_t rest = item / j->panels / v->layout.group, n = rest / j->blocks;
    const size_t first = panel * PRT_GEMM_PANEL, left = v->layout.filters - first;
    const size_t row = prt_parallel_piece_begin(j->pixels, j->blocks, rest % j->blocks);
    const size_t rows = prt_parallel_piece_begin(j->pixels, j->blocks, rest % j->blocks + 1) - row;
    const size_t column = group * v->layout.filters + first;
    const float **from = (const float **)(void *)scratch;
    int32_t *sums = (int32_t *)(void *)(scratch + j->table);
    prt_dot_block g = { .columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL,
        .words = v->layout.channels,
        .lda = v->x_pitch,
        .taps = v->layout.taps,
        .step = rows,
        .b = j->w + group * prt_nhwc_panels_width(v->layout.filters) * j->words + first * j->words,
        .c = sums,
        .ldc = PRT_GEMM_PANEL };
    prt_requantize q = j->q;
    if (j->by == NULL) {
        q.biases += column;
        q.scales += column;
        q.scales_f32 += column;
    }
    if (!j->pointwise) {
        prt_nhwc own = *v;
        own.zeros += j->by != NULL ? n * v->in_c : 0;
        prt_nhwc_find_taps(&own, n, group, row, rows, from);
    }
    const bool more = j->blocks == 1 && left > PRT_GEMM_PANEL; /* prefetch the weights of the next
                                                                * panel */
    const char *next = more ? (const char *)(g.b + j->words * PRT_GEMM_PANEL) : NULL;
    const size_t lines = more ? j->words *
            prt_gemm_panel_width(v->layout.filters, first + PRT_GEMM_PANEL) / PRT_GEMM_SLICE
                              : 0;
    for (size_t i = 0, some; i < rows; i += some) {
        const size_t pixel = n * j->pixels + row + i;
        g.rows = rows - i;
        g.from = j->pointwise ? NULL : (const void *)(from + i);
        g.a = (const void *)(v->x + pixel * v->x_pitch + group * v->layout.channels);
        prt_dot_set_prefetch(&g, next, lines, i, rows);
        uint8_t *y = j->by == NULL ? j->y + pixel * v->y_pitch + column : NULL;
        some = y != NULL && v->kern->dot.requantize != NULL
            ? v->kern->dot.requantize(&g, &q, y, v->y_pitch)
            : 0;
        if (some != 0)
            continue;
        some = g.rows = prt_size_min(g.rows, v->kern->dot.rows);
        prt_dot_set_prefetch(&g, next, lines, i, rows);
        v->kern->dot.i8(&g);
        if (y != NULL)
            v->kern->bytes.requantize_sums(some, g.columns, sums, &q, y, v->y_pitch);
        else
            finish_rows(j, n, pixel, column, &g);
    }
}

static size_t clamp(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

static poprt_status run_panels(prt_eval *c, qconv_work *j)
{
    const prt_nhwc *v = &j->v;
    j->words = v->layout.taps * v->layout.channels;
    j->panels = (v->layout.filters + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    j->pointwise = prt_nhwc_is_pointwise_conv(v);
    const size_t each = prt_nhwc_inputs_each(v);
    const size_t some = v->batch * v->layout.group * j->panels;
    size_t rows = clamp(A_BYTES / (4 * v->in_c * each), LEAST_ROWS, MOST_ROWS);
    if (some < ITEMS && j->pixels / rows * some < ITEMS)
        rows = clamp(j->pixels * some / ITEMS, LEAST_ROWS, rows);
    j->blocks = (j->pixels + rows - 1) / rows;
    rows = (j->pixels + j->blocks - 1) / j->blocks;
    if (!j->pointwise)
        j->table = (rows * v->layout.taps * sizeof(float *) / sizeof(float) + 15) / 16 * 16;
    const size_t sums = PRT_DOT_ROWS * PRT_GEMM_PANEL;
    return prt_parallel_for(c, some * j->blocks, j->table + sums, run_item, j);
}

/* ---- depthwise ---- */

/* Sets the channels of an item, all or a part, and the parameters that all items share. */
static void set_channels(const qconv_work *j, size_t part, prt_depthwise_i8_block *g)
{
    const size_t units = j->v.out_c / PRT_DEPTHWISE_CHANNELS;
    g->channels = j->v.out_c;
    g->ldy = j->v.y_pitch;
    g->taps = j->v.layout.taps;
    g->w = j->w;
    g->q = &j->q;
    g->first = prt_parallel_piece_begin(units, j->panels, part) * PRT_DEPTHWISE_CHANNELS;
    g->last = part + 1 == j->panels
        ? j->v.out_c
        : prt_parallel_piece_begin(units, j->panels, part + 1) * PRT_DEPTHWISE_CHANNELS;
}

static void run_depthwise(const void *user, size_t item, float *scratch)
{
    const qconv_work *j = user;
    const prt_nhwc *v = &j->v;
    const size_t rest = item / j->panels, n = rest / j->blocks, block = rest % j->blocks;
    const size_t first = prt_parallel_piece_begin(j->pixels, j->blocks, block);
    const float **from = (const float **)(void *)scratch;
    prt_depthwise_i8_block g = {
        .pixels = prt_parallel_piece_begin(j->pixels, j->blocks, block + 1) - first,
        .from = (const void *)from,
        .y = j->y + (n * j->pixels + first) * v->y_pitch
    };
    prt_nhwc_find_taps(v, n, 0, first, g.pixels, from);
    set_channels(j, item % j->panels, &g);
    v->kern->dot.depthwise(&g);
}

/* Returns a convolution of one kernel column and stride 1 whose outputs are the input columns that
 * rows of outputs read. */
static prt_nhwc columns_of(const prt_nhwc *v)
{
    prt_nhwc columns = *v;
    columns.out_w = (v->out_w - 1) * v->stride_w + v->kernel_w;
    columns.kernel_w = columns.stride_w = 1;
    return columns;
}

static void run_rows(const void *user, size_t item, float *scratch)
{
    const qconv_work *j = user;
    const prt_nhwc *v = &j->v, columns = columns_of(v);
    const size_t rest = item / j->panels, n = rest / j->blocks, block = rest % j->blocks;
    const size_t all = v->out_d * v->out_h, pairs = (all + 1) / 2;
    const size_t row = prt_parallel_piece_begin(pairs, j->blocks, block) * 2;
    const size_t rows =
        prt_size_min(prt_parallel_piece_begin(pairs, j->blocks, block + 1) * 2, all) - row;
    const float **from = (const float **)(void *)scratch;
    prt_depthwise_i8_block g = { .pixels = rows * v->out_w,
        .wide = v->out_w,
        .stride = v->stride_w,
        .from = (const void *)from,
        .y = j->y + (n * j->pixels + row * v->out_w) * v->y_pitch };
    prt_nhwc_find_taps(&columns, n, 0, row * columns.out_w, rows * columns.out_w, from);
    set_channels(j, item % j->panels, &g);
    v->kern->dot.depthwise3x3(&g);
}

static poprt_status run_windows(prt_eval *c, qconv_work *j)
{
    const prt_nhwc *v = &j->v;
    const size_t all = v->out_d * v->out_h, columns = columns_of(v).out_w;
    const bool by_rows = v->kern->dot.depthwise3x3 != NULL && v->layout.taps == 9 &&
        v->kernel_h == 3 && v->kernel_w == 3 && v->dilation_w == 1 && v->stride_w <= 2 &&
        columns <= DEPTHWISE_COLUMNS;
    /* Rows come in pairs: with few channels, the kernel computes two rows at once. */
    const size_t pairs = clamp((DEPTHWISE_PIXELS / v->out_w + 1) / 2, 1, all);
    const size_t addresses = by_rows ? 2 * pairs * columns * 3 : DEPTHWISE_PIXELS * v->layout.taps;
    j->blocks = by_rows ? ((all + 1) / 2 + pairs - 1) / pairs
                        : (j->pixels + DEPTHWISE_PIXELS - 1) / DEPTHWISE_PIXELS;
    /* Few pixels: items share the channels, as GEMM items share the panels. */
    const size_t most = DEPTHWISE_ITEMS / (v->batch * j->blocks);
    j->panels = clamp(v->out_c / PRT_DEPTHWISE_CHANNELS, 1, most > 1 ? most : 1);
    return prt_parallel_for(c, v->batch * j->blocks * j->panels,
        (addresses * sizeof(float *) / sizeof(float) + 15) / 16 * 16,
        by_rows ? run_rows : run_depthwise, j);
}

/* ---- operators ---- */

static bool is_aligned(const void *p)
{
    return (uintptr_t)p % _Alignof(uint32_t) == 0;
}

/* Converts the scales to float32. Returns false if one is greater than 1/2 or is NaN. */
static bool round_scales(size_t n, const double *restrict scales, float *restrict scales_f32)
{
    int beyond = 0;
    for (size_t i = 0; i < n; i++) {
        scales_f32[i] = (float)scales[i];
        beyond |= !(fabs(scales[i]) <= 0.5);
    }
    return beyond == 0;
}

/* Reads the parameters of requantisation. Copies them where kernels read beyond the last column. */
static poprt_status read_scales(prt_eval *c, qconv_work *j)
{
    const size_t n = prt_tensor_count(c->in[3]);
    const bool whole =
        j->v.layout.algorithm == PRT_NHWC_taps || j->v.layout.filters % PRT_GEMM_SLICE == 0;
    double *copy =
        (double *)(void *)prt_parallel_zeroed_floats(c, n + PRT_GEMM_SLICE, whole ? 1 : 4);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    float *scales_f32 = (float *)copy;
    j->q = (prt_requantize){ .scale = 1.0,
        .scales = c->in[3]->data,
        .scales_f32 = scales_f32,
        .biases = c->in[2]->data,
        .zero = prt_quant_number(c, 5, 0) };
    if (!whole) {
        int32_t *biases = (int32_t *)(copy + n + PRT_GEMM_SLICE);
        memcpy(copy, j->q.scales, n * sizeof(*copy));
        memcpy(biases, j->q.biases, n * sizeof(*biases));
        j->q.scales = copy;
        j->q.biases = biases;
        j->q.scales_f32 = scales_f32 = (float *)(void *)(biases + n + PRT_GEMM_SLICE);
    }
    j->q.fits_int32 = round_scales(n, j->q.scales, scales_f32);
    (void)prt_quant_range(c->out[0]->dtype, &j->q.low, &j->q.high);
    return POPRT_OK;
}

/* Sets the sizes in words, and copies the input where kernels cannot read it in place. */
static poprt_status read_input(prt_eval *c, qconv_work *j)
{
    prt_nhwc *v = &j->v;
    const bool depthwise = v->layout.algorithm == PRT_NHWC_taps,
               negative = c->in[0]->dtype == PRT_DTYPE_i8;
    j->groups = depthwise ? 1 : v->layout.group;
    j->channels = depthwise ? v->layout.group : v->layout.channels;
    v->layout.channels = (j->channels + 3) / 4;
    v->in_c = j->groups * v->layout.channels;
    j->flip = negative ? 0x80 : 0;
    j->fill = (uint8_t)((uint8_t)(int)prt_quant_number(c, 4, 0) ^ j->flip);
    float *zeros = prt_parallel_uninitialized_floats(c, v->in_c, 1);
    if (zeros == NULL)
        return POPRT_E_NOMEM;
    memset(zeros, j->fill, v->in_c * sizeof(float));
    v->zeros = zeros;
    j->x = c->in[0]->data;
    j->pitch = prt_tensor_pitch(c->in[0]);
    v->x = c->in[0]->data;
    v->x_pitch = j->pitch / 4;
    size_t high, wide;
    const bool pointwise = prt_nhwc_is_pointwise_conv(v);
    j->tiled = PRT_HAS_TILES && !depthwise && v->layout.group == 1 && j->q.fits_int32 &&
        prt_nhwc_i8_amx_pays(v->kern, v->batch * j->pixels, v->layout.filters,
            v->layout.taps * v->layout.channels) &&
        (pointwise || padding_is_small(v, &high, &wide));
    if ((!is_tiled(j) || pointwise) && !v->images && !negative && j->channels % 4 == 0 &&
        j->pitch % 4 == 0 && is_aligned(j->x))
        return POPRT_OK;
    v->x_pitch = v->in_c;
    return copy_images(c, j);
}

poprt_status prt_fast_nhwc_qconv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_conv_attrs a = prt_nhwc_conv_of(c->attrs);
    const prt_tensor *x = c->in[0], *y = c->out[0];
    qconv_work j = { .v = { .kern = k, .images = a.images != 0 } };
    prt_nhwc *v = &j.v;
    prt_window w;
    if (!prt_fast_has_output(c) || x->rank < 3 || x->rank > 5 ||
        !prt_nhwc_weights_of(&a, &v->layout) || prt_tensor_count(y) == 0 ||
        prt_tensor_count(x) == 0 || !is_aligned(c->in[1]->data))
        return prt_fast_use_reference(done);
    PRT_TRY(read_scales(c, &j));
    const bool depthwise = v->layout.algorithm == PRT_NHWC_taps;
    prt_nhwc_window(&a, x, &w);
    prt_nhwc_set_window(v, &w);
    if ((depthwise && (!j.q.fits_int32 || v->layout.taps > PRT_DEPTHWISE_TAPS)) ||
        (v->images && (depthwise || v->layout.group > 1 || v->layout.channels > 4 || x->rank == 5)))
        return prt_fast_use_reference(done);
    v->batch = (size_t)x->dims[0];
    v->out_c = v->layout.group * v->layout.filters;
    v->y_pitch = prt_tensor_pitch(y);
    j.pixels = v->out_d * v->out_h * v->out_w;
    j.w = c->in[1]->data;
    j.y = c->out[0]->data;
    PRT_TRY(read_input(c, &j));
    const prt_nhwc_i8_amx_conv t = { v, j.joined, j.w, j.q, j.y };
    return is_tiled(&j) ? prt_nhwc_i8_amx_conv_run(c, &t)
        : depthwise     ? run_windows(c, &j)
                        : run_panels(c, &j);
}

/* Finds the scales of all images, sets the padding, and copies the input. */
static poprt_status read_float_input(prt_eval *c, qconv_work *j)
{
    prt_nhwc *v = &j->v;
    j->groups = v->layout.group;
    j->channels = v->layout.channels;
    v->layout.channels = (j->channels + 3) / 4;
    v->in_c = j->groups * v->layout.channels;
    v->x_pitch = v->in_c;
    j->pitch = j->groups * j->channels;
    j->floats = c->in[0]->data;
    j->by = (prt_bytes_by *)(void *)prt_parallel_uninitialized_floats(c, v->batch,
        sizeof(prt_bytes_by) / sizeof(float));
    float *zeros = prt_parallel_uninitialized_floats(c, v->batch, v->in_c);
    if (j->by == NULL || zeros == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_parallel_for(c, v->batch, 0, find_scale, j));
    for (size_t n = 0; n < v->batch; n++)
        memset(zeros + n * v->in_c, j->by[n].zero, v->in_c * sizeof(float));
    v->zeros = zeros;
    return copy_images(c, j);
}

poprt_status prt_fast_nhwc_quantized_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_nhwc_quantized_conv_attrs *attrs = c->attrs;
    const prt_nhwc_conv_attrs a = prt_nhwc_quantized_conv_of(attrs);
    const prt_tensor *x = c->in[0], *y = c->out[0];
    qconv_work j = { .v = { .kern = k } };
    prt_nhwc *v = &j.v;
    prt_window w;
    if (!prt_fast_has_output(c) || x->rank < 3 || x->rank > 5 ||
        !prt_nhwc_weights_of(&a, &v->layout) || prt_tensor_count(y) == 0 ||
        prt_tensor_count(x) == 0 || !is_aligned(c->in[1]->data))
        return prt_fast_use_reference(done);
    j.end.act = (prt_act){ attrs->activation, attrs->alpha, attrs->beta };
    prt_nhwc_window(&a, x, &w);
    prt_nhwc_set_window(v, &w);
    v->batch = (size_t)x->dims[0];
    v->out_c = v->layout.group * v->layout.filters;
    j.end.y = c->out[0]->data;
    j.end.ldy = prt_tensor_pitch(y);
    j.end.residual = prt_eval_has(c, 5) ? c->in[5]->data : NULL;
    j.end.ldr = prt_eval_has(c, 5) ? prt_tensor_pitch(c->in[5]) : 0;
    j.end.ldsums = PRT_GEMM_PANEL;
    j.end.column_sums = c->in[2]->data;
    j.end.scales = c->in[3]->data;
    j.end.bias = prt_eval_has(c, 4) ? c->in[4]->data : NULL;
    j.pixels = v->out_d * v->out_h * v->out_w;
    j.w = c->in[1]->data;
    PRT_TRY(read_float_input(c, &j));
    return run_panels(c, &j);
}
