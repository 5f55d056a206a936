/* SPDX-License-Identifier: MIT */
/* nhwc_weights.c — weight layouts of channels-last convolutions; Winograd weight transforms in
   double. */
#include "kern/gemm/gemm.h"
#include "op/internal/nhwc.h"

enum {
    POINTS = 6, /* maximum Winograd points along an axis of transformed weights */
    SIDE = 5    /* maximum kernel size of transformed weights */
};

bool prt_nhwc_weights_of(const prt_nhwc_conv_attrs *a, prt_nhwc_weights *out)
{
    *out = (prt_nhwc_weights){ .algorithm = (prt_nhwc_algorithm)a->form,
        .group = (size_t)a->group,
        .channels = (size_t)a->channels,
        .filters = (size_t)a->filters,
        .taps = 1,
        .transformed = a->transformed != 0 };
    for (uint32_t i = 0; i < a->kernel_shape.count; i++)
        if (!prt_size_mul(out->taps, (size_t)a->kernel_shape.data[i], &out->taps))
            return false;
    return true;
}

/* Winograd forms need one group and strides of 1; the outputs of a tile are as far apart as the
   taps. F(4x4, 3x3) also supports strides of 2 without dilation. */
bool prt_nhwc_fits(const prt_nhwc_conv_attrs *a, const prt_nhwc_weights *w)
{
    enum { LEAST_TAPS = 3 };
    const bool by_two = w->algorithm == PRT_NHWC_winograd && !w->transformed &&
        a->strides.count == 2 && prt_i64s_are(a->strides, 2) && prt_i64s_are(a->dilations, 1);
    const uint32_t rank = a->kernel_shape.count;
    if (prt_nhwc_points(w->algorithm) == 0)
        return true;
    if (w->group != 1 || rank > 2 || !(prt_i64s_are(a->strides, 1) || by_two))
        return false;
    if (w->algorithm != PRT_NHWC_winograd_line)
        return rank == 2 && prt_i64s_are(a->kernel_shape, (int64_t)prt_nhwc_side(w->algorithm));
    return w->taps >= LEAST_TAPS &&
        (rank == 1 || a->kernel_shape.data[0] == 1 || a->kernel_shape.data[1] == 1);
}

prt_nhwc_line prt_nhwc_line_of(size_t taps, size_t pixels, size_t dilation)
{
    enum { MOST_OUT = 6, LEAST_OUT = 4, SUM = 9 };
    prt_nhwc_line best = { .out = 0 };
    for (size_t out = MOST_OUT; out >= LEAST_OUT; out--) {
        size_t each;
        const prt_nhwc_line line = { .out = out,
            .pieces = (taps - 1) / (SUM - out) + 1,
            .tiles = prt_nhwc_tiles(pixels, dilation, out, &each) };
        if (best.out == 0 || line.pieces * line.tiles < best.pieces * best.tiles)
            best = line;
    }
    return best;
}

size_t prt_nhwc_panels_width(size_t filters)
{
    const size_t whole = filters / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    return whole + prt_gemm_width(filters - whole);
}

size_t prt_nhwc_weights_step(const prt_nhwc_weights *w)
{
    return (w->transformed ? 1 : w->taps) * w->channels * prt_nhwc_panels_width(w->filters);
}

bool prt_nhwc_weights_size(const prt_nhwc_weights *w, size_t *count)
{
    size_t bytes;
    const size_t points = prt_nhwc_points(w->algorithm);
    const size_t side = prt_nhwc_side(w->algorithm);
    const bool line = w->algorithm == PRT_NHWC_winograd_line;
    if (points != 0 && (w->group != 1 || (!line && w->taps != side * side)))
        return false;
    if (w->transformed ? points == 0 || points > POINTS : w->algorithm == PRT_NHWC_winograd5)
        return false;
    if (w->algorithm == PRT_NHWC_taps)
        return prt_nhwc_is_depthwise(w) && prt_size_mul(w->taps, w->group, count) &&
            prt_size_mul(*count, w->channels * w->filters, count);
    const size_t rows = w->transformed ? points * points : w->taps;
    return w->filters < SIZE_MAX - PRT_GEMM_PANEL &&
        prt_size_mul(w->channels, prt_nhwc_panels_width(w->filters), count) &&
        prt_size_mul(*count, rows, count) && prt_size_mul(*count, w->group, count) &&
        prt_size_mul(*count, sizeof(float), &bytes);
}

/* Transforms three or five taps to the points 0, 1, -1, 2, -2 and infinity, or three taps to the
   points 0, 1, -1 and infinity. */
static void transform_taps(size_t points, size_t side, const double g[SIDE], double to[POINTS])
{
    if (points == 4) {
        to[0] = g[0];
        to[1] = (g[0] + g[1] + g[2]) / 2;
        to[2] = (g[0] - g[1] + g[2]) / 2;
        to[3] = g[2];
        return;
    }
    const double g3 = side == 5 ? g[3] : 0.0, g4 = side == 5 ? g[4] : 0.0;
    const double even = -(g[0] + g[2] + g4) / 6, odd = (g[1] + g3) / 6;
    const double even2 = g[0] / 24 + g[2] / 6 + g4 * 2 / 3, odd2 = g[1] / 12 + g3 / 3;
    to[0] = g[0] / 4;
    to[1] = even - odd;
    to[2] = even + odd;
    to[3] = even2 + odd2;
    to[4] = even2 - odd2;
    to[5] = g[side - 1];
}

/* The inverse of transform_taps: the taps from the values at the points. */
static void inverse_transform_taps(size_t points, size_t side, const double u[POINTS],
    double g[SIDE])
{
    const double odd = points == 4 ? u[1] - u[2] : 3 * (u[2] - u[1]);
    g[0] = points == 4 ? u[0] : 4 * u[0];
    g[1] = odd;
    g[side - 1] = u[points - 1];
    if (side != 5)
        return;
    g[2] = -3 * (u[1] + u[2]) - g[0] - g[4];
    g[3] = (6 * (u[3] - u[4]) - odd) / 3;
    g[1] = odd - g[3];
}

size_t prt_nhwc_panel_at(size_t filters, size_t depth, size_t k, size_t f)
{
    const size_t first = f / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    return first * depth + k * prt_gemm_panel_width(filters, first) + f - first;
}

/* Calls `visit` for every kernel, that is every filter and channel of every group. */
static void visit_kernels(const prt_nhwc_weights *w,
    void (
        *visit)(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel, void *user),
    void *user)
{
    for (size_t g = 0; g < w->group; g++)
        for (size_t f = 0; f < w->filters; f++)
            for (size_t c = 0; c < w->channels; c++)
                visit(w, g, f, c, user);
}

typedef struct copy_ends {
    const float *from;
    float *to;
} copy_ends;

static size_t plain_at(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel)
{
    return ((group * w->filters + filter) * w->channels + channel) * w->taps;
}

/* Returns the offset of tap t of a kernel that is not transformed. */
static size_t tap_at(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel,
    size_t t)
{
    if (w->algorithm == PRT_NHWC_taps)
        return ((t * w->channels + channel) * w->group + group) * w->filters + filter;
    return group * prt_nhwc_weights_step(w) +
        prt_nhwc_panel_at(w->filters, w->taps * w->channels, t * w->channels + channel, filter);
}

static void pack_kernel(const prt_nhwc_weights *w, size_t g, size_t f, size_t c, void *user)
{
    const copy_ends *s = user;
    const float *from = s->from + plain_at(w, g, f, c);
    const size_t points = prt_nhwc_points(w->algorithm);
    if (!w->transformed) {
        for (size_t t = 0; t < w->taps; t++)
            s->to[tap_at(w, g, f, c, t)] = from[t];
        return;
    }
    double rows[SIDE][POINTS], column[POINTS], taps[SIDE];
    const size_t side = prt_nhwc_side(w->algorithm);
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++)
            taps[x] = (double)from[side * y + x];
        transform_taps(points, side, taps, rows[y]);
    }
    float *to = s->to + prt_nhwc_panel_at(w->filters, w->channels, c, f);
    for (size_t x = 0; x < points; x++) {
        for (size_t y = 0; y < side; y++)
            taps[y] = rows[y][x];
        transform_taps(points, side, taps, column);
        for (size_t y = 0; y < points; y++)
            to[(y * points + x) * prt_nhwc_weights_step(w)] = (float)column[y];
    }
}

static void unpack_kernel(const prt_nhwc_weights *w, size_t g, size_t f, size_t c, void *user)
{
    const copy_ends *s = user;
    float *to = s->to + plain_at(w, g, f, c);
    const size_t points = prt_nhwc_points(w->algorithm);
    if (!w->transformed) {
        for (size_t t = 0; t < w->taps; t++)
            to[t] = s->from[tap_at(w, g, f, c, t)];
        return;
    }
    const float *from = s->from + prt_nhwc_panel_at(w->filters, w->channels, c, f);
    const size_t side = prt_nhwc_side(w->algorithm);
    double columns[POINTS][SIDE], row[SIDE], u[POINTS];
    for (size_t x = 0; x < points; x++) {
        for (size_t y = 0; y < points; y++)
            u[y] = (double)from[(y * points + x) * prt_nhwc_weights_step(w)];
        inverse_transform_taps(points, side, u, columns[x]);
    }
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < points; x++)
            u[x] = columns[x][y];
        inverse_transform_taps(points, side, u, row);
        for (size_t x = 0; x < side; x++)
            to[side * y + x] = (float)row[x];
    }
}

void prt_nhwc_weights_pack(const prt_nhwc_weights *w, const float *from, float *to)
{
    copy_ends s = { from, to };
    visit_kernels(w, pack_kernel, &s);
}

void prt_nhwc_weights_unpack(const prt_nhwc_weights *w, const float *from, float *to)
{
    copy_ends s = { from, to };
    visit_kernels(w, unpack_kernel, &s);
}
