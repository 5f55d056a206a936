/* SPDX-License-Identifier: MIT */
/* nhwc_pool.c — NhwcMaxPool and NhwcAveragePool: pixels are vectors, windows lists of them. */
#include "fast/nhwc.h"

#include "fast/share.h"

enum { MOST_TAPS = 256 };

typedef struct job {
    const prt_kern *kern;
    prt_window w;
    size_t channels;
    const float *x;
    float *y;
    bool average, with_padding;
} job;

/* Taps that count in the divisor: those inside, or in the padding as well. */
static size_t counted(const job *j, uint32_t axis, size_t out, size_t inside)
{
    const prt_window *w = &j->w;
    const int64_t start = (int64_t)out * w->stride[axis] - w->begin[axis];
    const int64_t most = (w->in[axis] + w->end[axis] - start + w->dilation[axis] - 1) /
        w->dilation[axis];
    if (!j->with_padding)
        return inside;
    return (size_t)(most < w->kernel[axis] ? most : w->kernel[axis]);
}

static void run_pixel(const job *j, size_t n, size_t row, size_t column, size_t up, size_t down)
{
    const prt_window *w = &j->w;
    const float *from[MOST_TAPS];
    float weights[MOST_TAPS];
    size_t left, right, taps = 0;
    const size_t in_w = (size_t)w->in[1];
    prt_nhwc_inside(column, (size_t)w->stride[1], (size_t)w->dilation[1], w->begin[1],
        (size_t)w->kernel[1], in_w, &left, &right);
    for (size_t ky = up; ky < down; ky++)
        for (size_t kx = left; kx < right; kx++) {
            const size_t y = row * (size_t)w->stride[0] + ky * (size_t)w->dilation[0] -
                (size_t)w->begin[0];
            const size_t x = column * (size_t)w->stride[1] + kx * (size_t)w->dilation[1] -
                (size_t)w->begin[1];
            from[taps++] = j->x + ((n * (size_t)w->in[0] + y) * in_w + x) * j->channels;
        }
    float *to = j->y + ((n * (size_t)w->out[0] + row) * (size_t)w->out[1] + column) * j->channels;
    if (taps == 0) {
        for (size_t i = 0; i < j->channels; i++)
            to[i] = j->average ? 0.0f : -INFINITY;
    } else if (j->average) {
        const size_t count = counted(j, 0, row, down - up) * counted(j, 1, column, right - left);
        for (size_t i = 0; i < taps; i++)
            weights[i] = 1.0f / (float)count;
        const prt_taps t = { .n = j->channels, .taps = taps, .from = from, .w = weights, .y = to };
        j->kern->rows.taps(&t);
    } else {
        j->kern->rows.largest(j->channels, taps, from, to);
    }
}

static void run_row(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const prt_window *w = &j->w;
    const size_t n = item / (size_t)w->out[0], row = item % (size_t)w->out[0];
    size_t up, down;
    (void)scratch;
    prt_nhwc_inside(row, (size_t)w->stride[0], (size_t)w->dilation[0], w->begin[0],
        (size_t)w->kernel[0], (size_t)w->in[0], &up, &down);
    for (size_t column = 0; column < (size_t)w->out[1]; column++)
        run_pixel(j, n, row, column, up, down);
}

poprt_status prt_fast_nhwc_pool(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_nhwc_pool(prt_eval *c, const prt_kern *k, bool *done)
{
    const bool average = c->def->id == PRT_OP_nhwc_average_pool;
    const prt_nhwc_max_pool_attrs *m = c->attrs;
    const prt_nhwc_average_pool_attrs *a = c->attrs;
    prt_window_spec spec = PRT_WINDOW_SPEC(m);
    if (average)
        spec = (prt_window_spec)PRT_WINDOW_SPEC(a);
    spec.ceil_mode = (average ? a->ceil_mode : m->ceil_mode) != 0;
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has(c, 0) || !prt_fast_wants(c) || x->rank != 4 ||
        prt_tensor_count(c->out[0]) == 0)
        return prt_fast_pass(done);
    job j = { .kern = k, .channels = (size_t)x->dims[3], .x = x->data, .y = c->out[0]->data,
        .average = average, .with_padding = average && a->count_include_pad != 0 };
    prt_window_fill(NULL, &spec, 2, x->dims + 1, NULL, &j.w);
    if (j.w.kernel[0] * j.w.kernel[1] > MOST_TAPS)
        return prt_fast_pass(done);
    return prt_share_run(c, (size_t)(x->dims[0] * j.w.out[0]), 0, run_row, &j);
}
