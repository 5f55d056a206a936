/* SPDX-License-Identifier: MIT */
/*
 * nhwc_windows.c — sliding windows over channels by themselves: depthwise NhwcConv, NhwcMaxPool and
 * NhwcAveragePool. Outputs that see padding go apart from the blocks of those that do not.
 */
#include "fast/nhwc.h"

#include "fast/share.h"

enum {
    LEAST = 1 << 16, /* taps of an item */
    LINES = 8        /* of a block: their inputs are still in the first cache level for the next */
};

typedef struct job job;
struct job {
    const prt_nhwc *v;
    size_t bands;        /* of an image */
    size_t inner, outer; /* outputs [inner, outer) of a row see no padding at its ends */
    size_t upper, lower; /* rows that see none above and below */
    prt_windows d;       /* what all blocks share */
    void (*run)(const job *j, const prt_windows *d);
    bool finish;      /* rows are to be finished */
    bool with_padding; /* the mean counts it */
};

/* Outputs [at, at + n) of the lines, from the taps [first, last) of each row of the kernel; `d` is
 * the lines', from their first input on. */
static void run_columns(const job *j, prt_windows d, size_t at, size_t n, size_t first,
    size_t last)
{
    const prt_nhwc *v = j->v;
    const size_t start = at * v->stride_w + first * v->dilation_w;
    if (first == last)
        d.rows = 0;
    else
        d.x += (size_t)((int64_t)start - v->left) * v->in_c;
    d.n = n;
    d.columns = last - first;
    if (d.w != NULL)
        d.w += first * v->in_c;
    d.y += at * v->in_c;
    j->run(j, &d);
}

/* Rows [row, row + lines), which see the same rows of taps. */
static void run_lines(const job *j, size_t n, size_t row, size_t lines)
{
    const prt_nhwc *v = j->v;
    prt_windows d = j->d;
    size_t first, last;
    prt_nhwc_inside(row, v->stride_h, v->dilation_h, v->top, v->kernel_h, v->in_h, &first, &last);
    const int64_t y = (int64_t)(row * v->stride_h + first * v->dilation_h) - v->top;
    d.lines = lines;
    d.rows = last - first;
    if (d.w != NULL)
        d.w += first * d.w_row;
    d.x += (n * v->in_h + (first < last ? (size_t)y : 0)) * v->in_w * v->in_c;
    d.y += (n * v->out_h + row) * v->out_w * v->in_c;
    for (size_t at = 0; at < v->out_w; at++) {
        if (at == j->inner && j->outer > j->inner) {
            run_columns(j, d, at, j->outer - at, 0, v->kernel_w);
            at = j->outer - 1;
            continue;
        }
        prt_nhwc_inside(at, v->stride_w, v->dilation_w, v->left, v->kernel_w, v->in_w, &first,
            &last);
        run_columns(j, d, at, 1, first, last);
    }
    const size_t size = v->out_w * v->in_c;
    if (j->finish)
        prt_nhwc_finish(v, v->residual != NULL, (n * v->out_h + row) * size, lines * size);
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const job *j = user;
    const size_t n = item / j->bands, band = item % j->bands;
    const size_t end = prt_share_cut(j->v->out_h, j->bands, band + 1);
    (void)scratch;
    for (size_t row = prt_share_cut(j->v->out_h, j->bands, band), lines; row < end; row += lines) {
        lines = 1;
        if (row >= j->upper && row < j->lower)
            lines = (end < j->lower ? end : j->lower) - row;
        lines = lines < LINES ? lines : LINES;
        run_lines(j, n, row, lines);
    }
}

/* Outputs along an axis that see no padding: [*from, *to), empty when none does. */
static void find_inner(size_t out, size_t stride, size_t dilation, int64_t begin, size_t kernel,
    size_t in, size_t *from, size_t *to)
{
    *from = out;
    *to = 0;
    for (size_t at = 0; at < out; at++) {
        size_t first, last;
        prt_nhwc_inside(at, stride, dilation, begin, kernel, in, &first, &last);
        if (last - first != kernel)
            continue;
        *from = at < *from ? at : *from;
        *to = at + 1;
    }
}

static poprt_status run_windows(prt_eval *c, job *j)
{
    const prt_nhwc *v = j->v;
    prt_windows *d = &j->d;
    d->channels = v->in_c;
    d->x = v->x;
    d->y = v->y;
    d->x_step = v->stride_w * v->in_c;
    d->x_line = v->stride_h * v->in_w * v->in_c;
    d->x_row = v->dilation_h * v->in_w * v->in_c;
    d->x_column = v->dilation_w * v->in_c;
    d->y_line = v->out_w * v->in_c;
    find_inner(v->out_w, v->stride_w, v->dilation_w, v->left, v->kernel_w, v->in_w, &j->inner,
        &j->outer);
    find_inner(v->out_h, v->stride_h, v->dilation_h, v->top, v->kernel_h, v->in_h, &j->upper,
        &j->lower);
    const size_t row = v->out_w * v->in_c * v->kernel_h * v->kernel_w;
    j->bands = prt_share_pieces(row * v->out_h, LEAST);
    j->bands = j->bands < v->out_h ? j->bands : v->out_h;
    return prt_share_run(c, v->batch * j->bands, 0, run_item, j);
}

/* ---- depthwise convolution */

static void run_depthwise(const job *j, const prt_windows *d)
{
    j->v->kern->windows.depthwise(d);
}

poprt_status prt_nhwc_depthwise(prt_eval *c, const prt_nhwc *v)
{
    job j = { .v = v, .run = run_depthwise,
        .d = { .w = v->w, .w_row = v->kernel_w * v->in_c, .bias = v->bias } };
    j.finish = !prt_act_bounds(&v->act, &j.d.low, &j.d.high) || v->residual != NULL;
    if (v->residual != NULL) {
        j.d.low = -INFINITY;
        j.d.high = INFINITY;
    }
    return run_windows(c, &j);
}

/* ---- pools */

static void run_largest(const job *j, const prt_windows *d)
{
    j->v->kern->windows.largest(d);
}

static void run_mean(const job *j, const prt_windows *d)
{
    const prt_nhwc *v = j->v;
    const size_t count = j->with_padding ? v->kernel_h * v->kernel_w : d->rows * d->columns;
    prt_windows block = *d;
    block.scale = count != 0 ? 1.0f / (float)count : 0.0f;
    v->kern->windows.mean(&block);
}

poprt_status prt_fast_nhwc_pool(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_nhwc_pool(prt_eval *c, const prt_kern *k, bool *done)
{
    const bool mean = c->def->id == PRT_OP_nhwc_average_pool;
    const prt_nhwc_max_pool_attrs *m = c->attrs;
    const prt_nhwc_average_pool_attrs *a = c->attrs;
    prt_window_spec spec = PRT_WINDOW_SPEC(m);
    if (mean)
        spec = (prt_window_spec)PRT_WINDOW_SPEC(a);
    spec.ceil_mode = (mean ? a->ceil_mode : m->ceil_mode) != 0;
    const prt_tensor *x = c->in[0];
    const bool with_padding = mean && a->count_include_pad != 0;
    if (!prt_fast_has(c, 0) || !prt_fast_wants(c) || x->rank != 4 ||
        prt_tensor_count(c->out[0]) == 0 || (with_padding && spec.ceil_mode))
        return prt_fast_pass(done);
    prt_window w;
    prt_window_fill(NULL, &spec, 2, x->dims + 1, NULL, &w);
    prt_nhwc v = { .kern = k, .batch = (size_t)x->dims[0], .in_c = (size_t)x->dims[3],
        .x = x->data, .y = c->out[0]->data };
    prt_nhwc_take_window(&v, &w);
    job j = { .v = &v, .run = mean ? run_mean : run_largest, .with_padding = with_padding };
    return run_windows(c, &j);
}
