/* SPDX-License-Identifier: MIT */
/* planes.c — padded planes, split by column phase. */
#include "fast/conv/planes.h"

#include "kern/move/zip.h"

bool prt_planes_init(prt_planes *p, const prt_window *w)
{
    if (w->rank < 1 || w->rank > 2)
        return false;
    const uint32_t x = w->rank - 1;
    const bool two = w->rank == 2;
    *p = (prt_planes){ .in_h = two ? (size_t)w->in[0] : 1,
        .in_w = (size_t)w->in[x],
        .out_h = two ? (size_t)w->out[0] : 1,
        .out_w = (size_t)w->out[x],
        .kernel_h = two ? (size_t)w->kernel[0] : 1,
        .kernel_w = (size_t)w->kernel[x],
        .stride_h = two ? (size_t)w->stride[0] : 1,
        .stride_w = (size_t)w->stride[x],
        .dilation_h = two ? (size_t)w->dilation[0] : 1,
        .dilation_w = (size_t)w->dilation[x],
        .top = two ? w->begin[0] : 0,
        .left = w->begin[x] };
    if (p->kernel_h * p->kernel_w > PRT_PLANE_TAPS || p->out_h == 0 || p->out_w == 0)
        return false;
    const size_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    p->rows = (p->out_h - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    p->group = (columns + p->stride_w - 1) / p->stride_w;
    p->direct =
        p->stride_w == 1 && p->top == 0 && p->left == 0 && p->rows <= p->in_h && columns <= p->in_w;
    if (p->direct)
        p->group = p->in_w;
    p->columns = p->stride_w * p->group;
    p->taps = p->kernel_h * p->kernel_w;
    for (size_t i = 0; i < p->taps; i++) {
        const size_t at = i % p->kernel_w * p->dilation_w;
        p->offset[i] = i / p->kernel_w * p->dilation_h * p->columns + at % p->stride_w * p->group +
            at / p->stride_w;
    }
    return true;
}

/* Copies a row with its padding. */
static void pad_row(const prt_planes *p, const float *x, float fill, float *to)
{
    const size_t columns = p->columns;
    const size_t before = p->left > 0 ? (size_t)p->left : 0;
    const size_t after = p->left < 0 ? (size_t)-p->left : 0; /* elements left out */
    const size_t lead = before < columns ? before : columns;
    const size_t space = columns - lead, there = p->in_w > after ? p->in_w - after : 0;
    const size_t some = there < space ? there : space;
    for (size_t i = 0; i < lead; i++)
        to[i] = fill;
    memcpy(to + lead, x + (some != 0 ? after : 0), some * sizeof(float));
    for (size_t i = lead + some; i < columns; i++)
        to[i] = fill;
}

static void arrange_row(const prt_planes *p, const float *x, float fill, float *padded, float *to)
{
    const size_t n = p->group, phases = p->stride_w;
    pad_row(p, x, fill, phases == 1 ? to : padded);
    if (phases == 2)
        prt_unzip2(n, padded, to, n);
    else if (phases == 4)
        prt_unzip4(n, padded, to, n);
    else
        for (size_t k = 0; k < phases && phases != 1; k++)
            for (size_t i = 0; i < n; i++)
                to[k * n + i] = padded[i * phases + k];
}

const float *prt_planes_arrange(const prt_planes *p, const float *x, float fill, float *scratch)
{
    if (p->direct)
        return x;
    float *padded = scratch + p->rows * p->columns;
    for (size_t r = 0; r < p->rows; r++) {
        const int64_t at = (int64_t)r - p->top;
        float *to = scratch + r * p->columns;
        if (at >= 0 && at < (int64_t)p->in_h)
            arrange_row(p, x + (size_t)at * p->in_w, fill, padded, to);
        else
            for (size_t i = 0; i < p->columns; i++)
                to[i] = fill;
    }
    return scratch;
}
