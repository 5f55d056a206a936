/* SPDX-License-Identifier: MIT */
/* pixel_blocking.c — cost model and edits of pixel blocking; see pixel_blocking.h. */
#include "pass/layout/pixel_blocking.h"

#include "pass/layout/to_nhwc.h"

enum { LANES = 16 };
static const double GAIN = 0.8; /* largest cost, relative to no blocking, at which blocking pays */

/* Estimates the cost of an output row, in products of lanes, if `by` pixels are computed at once.
 * `rows` is the number of kernel rows over all channels. A result with too many pixels is
 * copied. */
static double cost(const prt_pixel_blocking *v, int64_t filters, double rows, int64_t by)
{
    const int64_t lanes = (by * filters + LANES - 1) / LANES * LANES;
    const int64_t tiles = (v->pixels - 1) / by + 1;
    const double copied = tiles * by != v->pixels ? (double)(LANES * filters * v->pixels) : 0.0;
    return (double)(lanes * (v->taps + (by - 1) * v->step)) * rows * (double)tiles + copied;
}

static bool is_plain(const prt_nhwc_weights *layout, const prt_type *y, const prt_window *w)
{
    uint32_t open = 0;
    if (layout->algorithm != PRT_NHWC_panels || layout->group != 1 || layout->filters > LANES / 2 ||
        w->dilation[w->rank - 1] != 1)
        return false;
    for (int32_t i = 0; i < y->rank; i++) {
        if (i != 1 && y->dims[i] == 0)
            return false;
        open += i != 1 && !prt_dim_is_number(y->dims[i]);
    }
    return open < 2 && prt_dim_is_number(y->dims[y->rank - 1]);
}

prt_pixel_blocking prt_pixel_blocking_of(const prt_nhwc_weights *layout, const prt_type *y,
    const prt_window *w, bool exact)
{
    const uint32_t last = w->rank - 1;
    const int64_t filters = (int64_t)layout->filters;
    prt_pixel_blocking v = { .by = 1, .step = w->stride[last], .taps = w->kernel[last] };
    if (!is_plain(layout, y, w) || v.step >= v.taps || v.taps > INT32_MAX / LANES / LANES)
        return v;
    v.pixels = y->dims[y->rank - 1];
    const double rows = (double)layout->channels * (double)(layout->taps / (size_t)v.taps);
    const double unblocked = cost(&v, filters, rows, 1);
    double least = unblocked;
    for (int64_t by = 2; by <= LANES / filters && by <= v.pixels; by++) {
        const double now = cost(&v, filters, rows, by);
        if (now < least && now < unblocked * GAIN && (!exact || v.pixels % by == 0)) {
            least = now;
            v.by = by;
        }
    }
    v.tiles = (v.pixels - 1) / v.by + 1;
    return v;
}

void prt_pixel_blocking_apply(const prt_pixel_blocking *v, const prt_window *w,
    prt_nhwc_weights *layout, int64_t *kernel, int64_t *strides, int64_t *pads)
{
    const uint32_t last = w->rank - 1;
    const int64_t more = (v->by - 1) * v->step;
    const int64_t extra = (v->tiles * v->by - v->pixels) * v->step;
    layout->taps = layout->taps / (size_t)v->taps * (size_t)(v->taps + more);
    layout->filters *= (size_t)v->by;
    kernel[last] += more;
    strides[last] *= v->by;
    /* Input pixels that were unused at the end of a row stay unused. */
    pads[w->rank + last] += extra;
}

void prt_pixel_blocking_pack(const prt_pixel_blocking *v, const prt_nhwc_weights *layout,
    const float *from, float *to)
{
    const size_t width = (size_t)(v->taps + (v->by - 1) * v->step), taps = (size_t)v->taps;
    const size_t filters = layout->filters / (size_t)v->by;
    const size_t rows = layout->channels * (layout->taps / width);
    memset(to, 0, layout->filters * rows * width * sizeof(float));
    for (size_t i = 0; i < layout->filters; i++)
        for (size_t r = 0; r < rows; r++)
            memcpy(to + (i * rows + r) * width + i / filters * (size_t)v->step,
                from + (i % filters * rows + r) * taps, taps * sizeof(float));
}

uint32_t prt_pixel_blocking_steps(const prt_pixel_blocking *v, const prt_nhwc_weights *layout,
    prt_weight_step steps[2])
{
    const int64_t width = v->taps + (v->by - 1) * v->step;
    const int64_t filters = (int64_t)layout->filters / v->by;
    const int64_t rows = (int64_t)layout->channels * ((int64_t)layout->taps / width);
    steps[0] = (prt_weight_step){ .kind = PRT_WEIGHT_part,
        .rank = 3,
        .dims = { filters, rows, width },
        .more = { 2, 0, v->taps } };
    steps[1] = (prt_weight_step){ .kind = PRT_WEIGHT_part,
        .rank = 3,
        .dims = { (int64_t)layout->filters, rows, width },
        .more = { 0, 0, filters } };
    return 2;
}

prt_value *prt_pixel_blocking_bias(prt_build *b, const prt_pixel_blocking *v, prt_value *bias)
{
    return bias != NULL ? prt_build_binary(b, PRT_OP_tile, bias, prt_build_i64s(b, 1, &v->by))
                        : NULL;
}

/* Reshapes x to the dims of y with channels last, with rows of `row` pixels and `channels`. */
static prt_value *shaped(prt_build *b, const prt_type *y, int64_t row, int64_t channels,
    prt_value *x)
{
    int64_t dims[PRT_MAX_RANK];
    const uint32_t rank = (uint32_t)y->rank;
    for (uint32_t i = 0; i < rank; i++)
        dims[prt_to_nhwc_axis(i, rank)] = y->dims[i];
    dims[rank - 2] = row;
    dims[rank - 1] = channels;
    return prt_to_nhwc_reshape(b, x, rank, dims);
}

prt_value *prt_pixel_blocking_join(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x)
{
    return shaped(b, y, v->tiles, y->dims[1] * v->by, x);
}

prt_value *prt_pixel_blocking_split(prt_build *b, const prt_pixel_blocking *v, const prt_type *y,
    prt_value *x)
{
    const int64_t zero = 0, axis = y->rank - 2;
    x = shaped(b, y, v->tiles * v->by, y->dims[1], x);
    if (v->tiles * v->by == v->pixels)
        return x;
    prt_value *in[4] = { x, prt_build_i64s(b, 1, &zero), prt_build_i64s(b, 1, &v->pixels),
        prt_build_i64s(b, 1, &axis) };
    return prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}
