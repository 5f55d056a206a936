/* SPDX-License-Identifier: MIT */
/*
 * nhwc_pool.c — NhwcMaxPool of 8-bit integers: the maximum over the rows of a window, then over the
 * pixels of that row of maxima.
 */
#include "fast/nhwc.h"
#include "fast/parallel.h"

typedef struct pool_work {
    const prt_nhwc *v;
    const uint8_t *x;
    uint8_t *y;
    bool sign;
} pool_work;

/* Copies a row of pixels, or updates `to` with the maximum of both. Pixels of `from` may have
 * gaps. */
static void max_of_rows(const pool_work *j, bool first, const uint8_t *from, uint8_t *to)
{
    const prt_nhwc *v = j->v;
    const bool whole = v->x_pitch == v->in_c;
    const size_t pieces = whole ? 1 : v->in_w, size = whole ? v->in_w * v->in_c : v->in_c;
    for (size_t i = 0; i < pieces; i++, from += v->x_pitch, to += size)
        if (first)
            memcpy(to, from, size);
        else
            v->kern->bytes.max(size, from, j->sign, to);
}

static void run_row(const void *user, size_t item, float *scratch)
{
    const pool_work *j = user;
    const prt_nhwc *v = j->v;
    const size_t n = item / v->out_h, row = item % v->out_h, c = v->in_c;
    const size_t wide = v->in_w * v->x_pitch;
    const uint8_t *x = j->x + n * v->in_h * wide;
    uint8_t *y = j->y + item * v->out_w * v->y_pitch, *row_max = (uint8_t *)scratch;
    size_t first, last;
    prt_nhwc_inside(row, v->stride_h, v->dilation_h, v->top, v->kernel_h, v->in_h, &first, &last);
    const bool none = first >= last;
    for (size_t k = first; k < last; k++)
        max_of_rows(j, k == first,
            x + (size_t)((int64_t)(row * v->stride_h + k * v->dilation_h) - v->top) * wide,
            row_max);
    for (size_t i = 0; i < v->out_w; i++, y += v->y_pitch) {
        prt_nhwc_inside(i, v->stride_w, v->dilation_w, v->left, v->kernel_w, v->in_w, &first,
            &last);
        if (none || first >= last)
            memset(y, j->sign ? 0x80 : 0, c);
        for (size_t k = first; !none && k < last; k++) {
            const uint8_t *from =
                row_max + (size_t)((int64_t)(i * v->stride_w + k * v->dilation_w) - v->left) * c;
            if (k == first)
                memcpy(y, from, c);
            else
                v->kern->bytes.max(c, from, j->sign, y);
        }
    }
}

poprt_status prt_nhwc_pool_bytes(prt_eval *c, const prt_nhwc *v, bool sign)
{
    const pool_work j = { .v = v, .x = (const void *)v->x, .y = (void *)v->y, .sign = sign };
    return prt_parallel_for(c, v->batch * v->out_h, v->in_w * v->in_c / sizeof(float) + 1, run_row,
        &j);
}
