/* SPDX-License-Identifier: MIT */
/*
 * nhwc_windows.c — sliding windows over each channel: depthwise NhwcConv, NhwcMaxPool and
 * NhwcAveragePool. Outputs that read padding are computed one by one, all others in blocks of
 * columns and up to LINES rows.
 */
#include "fast/nhwc.h"

#include "fast/parallel.h"

enum {
    LEAST = 1 << 16, /* taps of an item, at least */
    USUAL = 1 << 20, /* taps of an item where every thread has enough items */
    LINES = 8        /* rows of a block: they find the inputs that they share in L1 */
};

typedef struct window_work {
    prt_nhwc_windows w;
    size_t bands; /* items of an image, or of its only row */
    bool finish;  /* the residual or the activation is applied after the sums */
    bool line;    /* images have one row */
} window_work;

/* Computes outputs [at, at + n) of some rows from taps [first, last) of each kernel row. `d` has
 * the parameters of these rows, from their first input on. */
static void run_columns(const prt_nhwc_windows *w, prt_windows d, size_t at, size_t n, size_t first,
    size_t last)
{
    const prt_nhwc *v = w->v;
    const size_t start = at * v->stride_w + first * v->dilation_w;
    if (first == last)
        d.rows = 0;
    else
        d.x += (size_t)((int64_t)start - v->left) * v->x_pitch;
    d.n = n;
    d.columns = last - first;
    if (d.w != NULL)
        d.w += first * v->in_c * d.group;
    d.y += at * v->y_pitch;
    w->run(w, &d);
}

/* Computes rows [row, row + lines), which all read the same kernel rows. */
static void run_lines(const prt_nhwc_windows *w, size_t row, size_t lines, const float *x,
    size_t x_row, float *y)
{
    const prt_nhwc *v = w->v;
    prt_windows d = w->d;
    size_t first, last;
    prt_nhwc_inside(row, v->stride_h, v->dilation_h, v->top, v->kernel_h, v->in_h, &first, &last);
    const int64_t top = (int64_t)(row * v->stride_h + first * v->dilation_h) - v->top;
    d.lines = lines;
    last = w->none ? first : last;
    d.rows = last - first;
    if (d.w != NULL)
        d.w += first * d.w_row;
    d.x = first < last ? x + ((size_t)top - x_row) * v->in_w * v->x_pitch : x;
    d.y = y;
    for (size_t at = 0; at < v->out_w; at++) {
        if (at == w->inner && w->outer > w->inner) {
            run_columns(w, d, at, w->outer - at, 0, v->kernel_w);
            at = w->outer - 1;
            continue;
        }
        prt_nhwc_inside(at, v->stride_w, v->dilation_w, v->left, v->kernel_w, v->in_w, &first,
            &last);
        run_columns(w, d, at, 1, first, last);
    }
}

/* Computes all rows by the kernel that handles padding itself. */
static void slide_rows(const prt_nhwc_windows *w, size_t row, size_t end, const float *x,
    size_t x_row, float *y)
{
    const prt_nhwc *v = w->v;
    prt_slide s = w->slide;
    const int64_t top = (int64_t)(row * v->stride_h) - v->top;
    const size_t first = top > 0 ? (size_t)top : 0;
    s.lines = end - row;
    s.above = top < 0 ? (size_t)-top : 0;
    s.in_h = v->in_h > first ? v->in_h - first : 0;
    s.x = s.in_h != 0 ? x + (first - x_row) * v->in_w * s.x_pitch : x;
    s.y = y;
    v->kern->slide(&s);
}

void prt_nhwc_windows_run(const prt_nhwc_windows *w, size_t row, size_t end, const float *x,
    size_t x_row, float *y)
{
    if (w->slides) {
        slide_rows(w, row, end, x, x_row, y);
        return;
    }
    for (size_t lines; row < end; row += lines, y += lines * w->d.y_line) {
        lines = 1;
        if (row >= w->upper && row < w->lower)
            lines = (end < w->lower ? end : w->lower) - row;
        lines = lines < LINES ? lines : LINES;
        run_lines(w, row, lines, x, x_row, y);
    }
}

/* Restricts a volume to the kernel planes that are inside it for output plane `z`. */
static void select_planes(prt_nhwc_windows *w, size_t z, const float **x)
{
    const prt_nhwc *v = w->v;
    const size_t plane = v->in_h * v->in_w * v->x_pitch;
    size_t first, last;
    prt_nhwc_inside(z, v->stride_d, v->dilation_d, v->front, v->kernel_d, v->in_d, &first, &last);
    w->none = first == last;
    if (w->none)
        return;
    *x += (size_t)((int64_t)(z * v->stride_d + first * v->dilation_d) - v->front) * plane;
    w->d.more = last - first - 1;
    w->d.x_plane = v->dilation_d * plane;
    w->d.w_plane = v->kernel_h * w->d.w_row;
    if (w->d.w != NULL)
        w->d.w += first * w->d.w_plane;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    const window_work *j = user;
    const prt_nhwc *v = j->w.v;
    const size_t image = item / j->bands, band = item % j->bands; /* or a plane of a volume */
    const size_t row = prt_parallel_piece_begin(v->out_h, j->bands, band);
    const size_t end = prt_parallel_piece_begin(v->out_h, j->bands, band + 1);
    const size_t size = v->out_w * v->y_pitch, at = (image * v->out_h + row) * size;
    const float *x = v->x + image / v->out_d * v->in_d * v->in_h * v->in_w * v->x_pitch;
    prt_nhwc_windows w = j->w;
    (void)scratch;
    select_planes(&w, image % v->out_d, &x);
    prt_nhwc_windows_run(&w, row, end, x, 0, v->y + at);
    if (j->finish)
        prt_nhwc_finish(v, v->residual != NULL, at, (end - row) * size);
}

/* Finds the outputs [*from, *to) along an axis that read no padding; the range may be empty. */
static void find_inner(size_t out, size_t stride, size_t dilation, int64_t begin, size_t kernel,
    size_t in, size_t *from, size_t *to)
{
    const int64_t step = (int64_t)stride, far = (int64_t)((kernel - 1) * dilation);
    const int64_t least = begin > 0 ? (begin + step - 1) / step : 0;
    const int64_t last = (int64_t)in - 1 - far + begin; /* last position at which a window reads no
                                                         * padding behind */
    const int64_t end = last >= 0 ? last / step + 1 : 0;
    *to = end < (int64_t)out ? (size_t)end : out;
    *from = (size_t)least;
    if (least >= (int64_t)*to) {
        *from = out;
        *to = 0;
    }
}

static void run_depthwise(const prt_nhwc_windows *w, const prt_windows *d)
{
    w->v->kern->windows.depthwise(d);
}

void prt_nhwc_windows_init(prt_nhwc_windows *w, const prt_nhwc *v)
{
    prt_windows *d = &w->d;
    const size_t group = v->layout.channels > 1 ? v->layout.channels : 1; /* 0: pooling */
    *w = (prt_nhwc_windows){
        .v = v,
        .run = run_depthwise,
        .d = { .w = v->w, .w_row = v->kernel_w * v->in_c * group, .group = group, .bias = v->bias }
    };
    d->channels = v->in_c;
    d->x_step = v->stride_w * v->x_pitch;
    d->x_line = v->stride_h * v->in_w * v->x_pitch;
    d->x_row = v->dilation_h * v->in_w * v->x_pitch;
    d->x_column = v->dilation_w * v->x_pitch;
    d->y_step = v->y_pitch;
    d->y_line = v->out_w * v->y_pitch;
    w->bounded = prt_act_bounds(&v->act, &d->low, &d->high) && v->residual == NULL;
    if (!w->bounded) {
        d->low = -INFINITY;
        d->high = INFINITY;
    }
    w->slide = (prt_slide){ .n = v->out_w,
        .channels = v->in_c,
        .x_pitch = v->in_c,
        .pitch = v->in_c,
        .rows = v->kernel_h,
        .columns = v->kernel_w,
        .stride_h = v->stride_h,
        .stride_w = v->stride_w,
        .left = v->left > 0 ? (size_t)v->left : 0,
        .in_w = v->in_w,
        .w = v->w,
        .bias = v->bias,
        .low = d->low,
        .high = d->high };
    const bool planes = v->kernel_d == 1 && v->front == 0 && /* each output plane reads one plane
                                                              * that exists */
        (v->out_d - 1) * v->stride_d < v->in_d;
    w->slides = planes && v->w != NULL && group == 1 && v->left >= 0 && v->x_pitch == v->in_c &&
        v->y_pitch == v->in_c && v->dilation_h == 1 && v->dilation_w == 1 &&
        prt_slide_fits(&w->slide);
    find_inner(v->out_w, v->stride_w, v->dilation_w, v->left, v->kernel_w, v->in_w, &w->inner,
        &w->outer);
    find_inner(v->out_h, v->stride_h, v->dilation_h, v->top, v->kernel_h, v->in_h, &w->upper,
        &w->lower);
}

bool prt_nhwc_windows_can_split(const prt_nhwc_windows *w, size_t channels)
{
    const size_t rest = w->slide.channels % channels;
    return w->slides && (rest == 0 || rest >= PRT_SLIDE_CHANNELS);
}

void prt_nhwc_windows_select_channels(prt_nhwc_windows *w, size_t first, size_t count,
    size_t x_pitch)
{
    w->slide.channels = count;
    w->slide.x_pitch = x_pitch;
    w->slide.w += first;
    w->slide.bias = w->slide.bias != NULL ? w->slide.bias + first : NULL;
}

prt_nhwc prt_nhwc_part_of_line(const prt_nhwc *v, size_t image, size_t first, size_t end)
{
    prt_nhwc part = *v;
    const int64_t left = v->left - (int64_t)(first * v->stride_w);
    const size_t at = image * v->out_w + first;
    const size_t skip = left >= 0 ? 0 : (size_t)-left < v->in_w ? (size_t)-left : v->in_w;
    part.left = left + (int64_t)skip;
    part.in_w -= skip;
    part.x += (image * v->in_w + skip) * v->x_pitch;
    part.out_w = end - first;
    part.y += at * v->y_pitch;
    if (v->residual != NULL)
        part.residual += at * v->residual_pitch;
    return part;
}

static void run_line(const void *user, size_t item, float *scratch)
{
    const window_work *j = user;
    const prt_nhwc *v = j->w.v;
    const size_t band = item % j->bands;
    const prt_nhwc part = prt_nhwc_part_of_line(v, item / j->bands,
        prt_parallel_piece_begin(v->out_w, j->bands, band),
        prt_parallel_piece_begin(v->out_w, j->bands, band + 1));
    prt_nhwc_windows w;
    (void)scratch;
    prt_nhwc_windows_init(&w, &part);
    w.slides = w.slides && j->w.slides; /* so that the order of sums does not depend on the number
                                         * of items */
    prt_nhwc_windows_run(&w, 0, 1, part.x, 0, part.y);
    if (j->finish)
        prt_nhwc_finish(&part, part.residual != NULL, 0, part.out_w * part.y_pitch);
}

static poprt_status run_bands(prt_eval *c, window_work *j)
{
    const prt_nhwc *v = j->w.v;
    const size_t row = v->out_w * v->in_c * v->kernel_h * v->kernel_w * j->w.d.group;
    const size_t all = row * v->out_h, usual = prt_parallel_pieces(all, USUAL);
    const size_t width = prt_parallel_threads(c);
    const size_t least = prt_parallel_pieces(all, LEAST), fair = 2 * width;
    j->bands = width == 1 || usual > fair ? usual : least < fair ? least : fair;
    const size_t most = j->line ? v->out_w : v->out_h;
    j->bands = j->bands < most ? j->bands : most;
    return prt_parallel_for(c, v->batch * v->out_d * j->bands, 0, j->line ? run_line : run_item, j);
}

poprt_status prt_nhwc_depthwise(prt_eval *c, const prt_nhwc *v)
{
    window_work j;
    prt_nhwc_windows_init(&j.w, v);
    j.finish = !j.w.bounded;
    j.line = prt_nhwc_is_2d(v) && v->in_h == 1 && v->kernel_h == 1 && v->top == 0 && v->out_h == 1;
    return run_bands(c, &j);
}

/* ---- pooling ---- */

static void run_max(const prt_nhwc_windows *w, const prt_windows *d)
{
    w->v->kern->windows.max(d);
}

static void mean_of(const prt_nhwc_windows *w, const prt_windows *d, size_t count)
{
    prt_windows block = *d;
    block.scale = count != 0 ? 1.0f / (float)count : 0.0f;
    w->v->kern->windows.mean(&block);
}

static void run_mean(const prt_nhwc_windows *w, const prt_windows *d)
{
    mean_of(w, d, d->rows * d->columns);
}

/* Average pooling with count_include_pad. */
static void run_mean_of_all(const prt_nhwc_windows *w, const prt_windows *d)
{
    mean_of(w, d, w->v->kernel_h * w->v->kernel_w);
}

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
    if (!prt_fast_has_output(c) || x->rank != 4 || prt_tensor_count(c->out[0]) == 0)
        return prt_fast_use_reference(done);
    prt_window w;
    prt_window_fill(NULL, &spec, 2, x->dims + 1, NULL, &w);
    const bool with_padding = mean && a->count_include_pad != 0 && prt_window_is_padded(&w);
    if (with_padding && prt_window_goes_beyond(&w))
        return prt_fast_use_reference(done);
    prt_nhwc v = { .kern = k,
        .batch = (size_t)x->dims[0],
        .in_c = (size_t)x->dims[3],
        .x_pitch = prt_tensor_pitch(x),
        .y_pitch = prt_tensor_pitch(c->out[0]),
        .x = x->data,
        .y = c->out[0]->data };
    prt_nhwc_set_window(&v, &w);
    if (x->dtype != PRT_DTYPE_f32)
        return prt_nhwc_pool_bytes(c, &v, x->dtype == PRT_DTYPE_i8);
    window_work j = { .finish = false };
    prt_nhwc_windows_init(&j.w, &v);
    j.w.run = with_padding ? run_mean_of_all : mean ? run_mean : run_max;
    return run_bands(c, &j);
}
