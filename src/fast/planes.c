/* SPDX-License-Identifier: MIT */
/* planes.c — padded planes. */
#include "fast/planes.h"

bool prt_planes_init(prt_planes *p, const prt_window *w)
{
    if (w->rank < 1 || w->rank > 2)
        return false;
    const uint32_t x = w->rank - 1;
    const bool two = w->rank == 2;
    *p = (prt_planes){ .in_h = two ? (size_t)w->in[0] : 1, .in_w = (size_t)w->in[x],
        .out_h = two ? (size_t)w->out[0] : 1, .out_w = (size_t)w->out[x],
        .kernel_h = two ? (size_t)w->kernel[0] : 1, .kernel_w = (size_t)w->kernel[x],
        .stride_h = two ? (size_t)w->stride[0] : 1, .stride_w = (size_t)w->stride[x],
        .dilation_h = two ? (size_t)w->dilation[0] : 1, .dilation_w = (size_t)w->dilation[x],
        .top = two ? w->begin[0] : 0, .left = w->begin[x] };
    if (p->kernel_h * p->kernel_w > PRT_PLANE_TAPS || p->out_h == 0 || p->out_w == 0)
        return false;
    const size_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    p->rows = (p->out_h - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    p->group = (columns + p->stride_w - 1) / p->stride_w;
    p->direct = p->stride_w == 1 && p->top == 0 && p->left == 0 && p->rows <= p->in_h &&
        columns <= p->in_w;
    if (p->direct)
        p->group = p->in_w;
    return true;
}

static void arrange_row(const prt_planes *p, const float *x, float fill, float *to)
{
    const size_t columns = p->stride_w * p->group;
    if (p->stride_w == 1) {
        const size_t before = p->left > 0 ? (size_t)p->left : 0;
        const size_t lead = before < columns ? before : columns;
        const size_t room = columns - lead, some = p->in_w < room ? p->in_w : room;
        for (size_t i = 0; i < lead; i++)
            to[i] = fill;
        memcpy(to + lead, x, some * sizeof(float));
        for (size_t i = lead + some; i < columns; i++)
            to[i] = fill;
        return;
    }
    for (size_t phase = 0; phase < p->stride_w; phase++)
        for (size_t i = 0; i < p->group; i++) {
            const int64_t at = (int64_t)(i * p->stride_w + phase) - p->left;
            to[phase * p->group + i] = at >= 0 && at < (int64_t)p->in_w ? x[at] : fill;
        }
}

const float *prt_planes_arrange(const prt_planes *p, const float *x, float fill, float *scratch)
{
    if (p->direct)
        return x;
    const size_t columns = p->stride_w * p->group;
    for (size_t r = 0; r < p->rows; r++) {
        const int64_t at = (int64_t)r - p->top;
        float *to = scratch + r * columns;
        if (at >= 0 && at < (int64_t)p->in_h)
            arrange_row(p, x + (size_t)at * p->in_w, fill, to);
        else
            for (size_t i = 0; i < columns; i++)
                to[i] = fill;
    }
    return scratch;
}

void prt_planes_taps(const prt_planes *p, const float *plane, size_t y, const float **taps)
{
    const size_t columns = p->stride_w * p->group;
    for (size_t kh = 0; kh < p->kernel_h; kh++) {
        const float *row = plane + (y * p->stride_h + kh * p->dilation_h) * columns;
        for (size_t kw = 0; kw < p->kernel_w; kw++) {
            const size_t x = kw * p->dilation_w;
            *taps++ = row + x % p->stride_w * p->group + x / p->stride_w;
        }
    }
}
