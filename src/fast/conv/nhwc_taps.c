/* SPDX-License-Identifier: MIT */
/*
 * nhwc_taps.c — the inputs that an NHWC convolution reads: the address of each tap of an output,
 * and bands of NCHW images with padding.
 */
#include "fast/nhwc.h"

void prt_nhwc_set_window(prt_nhwc *v, const prt_window *w)
{
    const bool two = w->rank >= 2, three = w->rank == 3;
    const uint32_t x = w->rank - 1, y = two ? x - 1 : 0;
    v->in_d = three ? (size_t)w->in[0] : 1;
    v->out_d = three ? (size_t)w->out[0] : 1;
    v->kernel_d = three ? (size_t)w->kernel[0] : 1;
    v->stride_d = three ? (size_t)w->stride[0] : 1;
    v->dilation_d = three ? (size_t)w->dilation[0] : 1;
    v->front = three ? w->begin[0] : 0;
    v->in_h = two ? (size_t)w->in[y] : 1;
    v->out_h = two ? (size_t)w->out[y] : 1;
    v->kernel_h = two ? (size_t)w->kernel[y] : 1;
    v->stride_h = two ? (size_t)w->stride[y] : 1;
    v->dilation_h = two ? (size_t)w->dilation[y] : 1;
    v->top = two ? w->begin[y] : 0;
    v->in_w = (size_t)w->in[x];
    v->out_w = (size_t)w->out[x];
    v->kernel_w = (size_t)w->kernel[x];
    v->stride_w = (size_t)w->stride[x];
    v->dilation_w = (size_t)w->dilation[x];
    v->left = w->begin[x];
}

/* ---- addresses of taps ---- */

/* Finds the index that tap k of output `out` reads along an axis. Returns false in the padding. */
static bool find_at(size_t out, size_t stride, size_t k, size_t dilation, int64_t begin, size_t in,
    size_t *at)
{
    const int64_t i = (int64_t)(out * stride + k * dilation) - begin;
    *at = (size_t)i;
    return i >= 0 && i < (int64_t)in;
}

/* Finds the outputs [*from, *to) of [first, end) of a row whose tap kx is inside the image. */
static void inside(const prt_nhwc *v, size_t kx, size_t first, size_t end, size_t *from, size_t *to)
{
    const int64_t begin = v->left - (int64_t)(kx * v->dilation_w), step = (int64_t)v->stride_w;
    const int64_t low = begin > 0 ? (begin + step - 1) / step : 0;
    const int64_t past = begin + (int64_t)v->in_w; /* the first output from here on is outside */
    const int64_t high = past > 0 ? (past + step - 1) / step : 0;
    *to = high < (int64_t)end ? (size_t)high : end;
    *to = *to > first ? *to : first;
    *from = low < (int64_t)*to ? (size_t)low : *to;
    *from = *from > first ? *from : first;
}

/* Finds the taps of outputs [first, end) of a row; the tables of two taps are `step` apart. */
static void find_row(const prt_nhwc *v, const float *x, size_t plane, size_t row, size_t first,
    size_t end, const float **to, size_t step)
{
    const size_t far = v->stride_w * v->x_pitch;
    size_t z, y;
    for (size_t kz = 0; kz < v->kernel_d; kz++) {
        const bool in_z = find_at(plane, v->stride_d, kz, v->dilation_d, v->front, v->in_d, &z);
        for (size_t ky = 0; ky < v->kernel_h; ky++) {
            const bool in =
                find_at(row, v->stride_h, ky, v->dilation_h, v->top, v->in_h, &y) && in_z;
            for (size_t kx = 0; kx < v->kernel_w; kx++, to += step) {
                size_t from = end, until = end, i = first;
                if (in)
                    inside(v, kx, first, end, &from, &until);
                for (; i < from; i++)
                    to[i - first] = v->zeros;
                if (i < until) {
                    const int64_t at = (int64_t)(i * v->stride_w + kx * v->dilation_w) - v->left;
                    const float *p = x + ((z * v->in_h + y) * v->in_w + (size_t)at) * v->x_pitch;
                    for (size_t k = 0; i < until; i++, k++)
                        to[i - first] = p + k * far;
                }
                for (; i < end; i++)
                    to[i - first] = v->zeros;
            }
        }
    }
}

void prt_nhwc_find_taps(const prt_nhwc *v, size_t n, size_t group, size_t first, size_t count,
    const float **to)
{
    const float *x =
        v->x + n * v->in_d * v->in_h * v->in_w * v->x_pitch + group * v->layout.channels;
    size_t row = first / v->out_w, column = first % v->out_w;
    for (size_t i = 0, some; i < count; i += some, column = 0, row++) {
        some = v->out_w - column < count - i ? v->out_w - column : count - i;
        find_row(v, x, row / v->out_h, row % v->out_h, column, column + some, to + i, count);
    }
}

/* ---- bands of NCHW images ---- */

size_t prt_nhwc_band_row_size(const prt_nhwc *v)
{
    return ((v->out_w - 1) * v->stride_w + v->kernel_w) * v->in_c;
}

size_t prt_nhwc_band_rows(const prt_nhwc *v, size_t rows)
{
    return (rows - 1) * v->stride_h + (v->kernel_h - 1) * v->dilation_h + 1;
}

void prt_nhwc_copy_band(const prt_nhwc *v, size_t n, size_t row, size_t rows, float *to)
{
    const size_t high = prt_nhwc_band_rows(v, rows);
    const size_t channels = v->in_c, plane = v->in_h * v->in_w, size = prt_nhwc_band_row_size(v);
    const int64_t wide = (int64_t)(size / channels);
    for (size_t i = 0; i < high; i++, to += size) {
        const int64_t y = (int64_t)(row * v->stride_h + i) - v->top;
        const int64_t end = v->left + (int64_t)v->in_w < wide ? v->left + (int64_t)v->in_w : wide;
        const int64_t from = v->left > 0 ? v->left : 0;
        if (y < 0 || y >= (int64_t)v->in_h || from >= end) {
            memset(to, 0, size * sizeof(float));
            continue;
        }
        memset(to, 0, (size_t)from * channels * sizeof(float));
        memset(to + (size_t)end * channels, 0, (size_t)(wide - end) * channels * sizeof(float));
        const float *x = v->x + n * channels * plane + (size_t)y * v->in_w;
        v->kern->interleave((size_t)(end - from), channels, x + (from - v->left), plane,
            to + (size_t)from * channels);
    }
}

void prt_nhwc_find_band(const prt_nhwc *v, size_t rows, const float *band, const float **to)
{
    const size_t step = v->stride_w * v->in_c, wide = prt_nhwc_band_row_size(v);
    for (size_t ky = 0; ky < v->kernel_h; ky++)
        for (size_t row = 0; row < rows; row++) {
            const float *x = band + (row * v->stride_h + ky * v->dilation_h) * wide;
            for (size_t i = 0; i < v->out_w; i++)
                *to++ = x + i * step;
        }
}
