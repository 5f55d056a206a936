/* SPDX-License-Identifier: MIT */
/*
 * nhwc_separable.c — NhwcSeparable: pointwise expansion, depthwise convolution and pointwise
 * projection, fused by strips of rows. The hidden channels of a strip stay in L2; rows that the
 * next strip reads again are kept. Alternatively an item runs all its rows panel by panel: each
 * panel of hidden channels is computed into the same small scratch.
 */
#include "fast/nhwc.h"

#include <stdatomic.h>

#include "fast/parallel.h"
#include "fast/gemm/bf16x3.h"
#include "op/internal/fused.h"

enum {
    HIDDEN = 128 << 10, /* floats of the hidden channels of a strip, for L2 */
    BAND = 14,          /* output rows of an item, at least, on one thread */
    SHARED = 7, /* the same on several threads; border rows of two items are computed twice */
    LEAST = 3,  /* the same where threads would be idle otherwise */
    ITEMS = 64,
    PANEL = PRT_GEMM_PANEL
};

typedef struct separable_work {
    const prt_kern *kern;
    prt_nhwc v; /* the depthwise convolution; x and y are set for each strip */
    prt_nhwc_windows windows;
    bool expands, projects;
    prt_nhwc_product expand, project;
    bool bf16x3_expand, bf16x3_project; /* these products run by bf16x3 */
    size_t bf16x3_size;                 /* floats of scratch for bf16x3 */
    _Atomic bool not_finite;            /* bf16x3 met an element that is not finite: run again in
                                         * float32 */
    bool panels;               /* hidden channels are computed panel by panel, and a strip is a
                                * whole band */
    size_t bands, chunks;      /* items of an image: bands of rows times chunks of panels */
    size_t strip, hidden_rows; /* rows of the output of a strip, and of its hidden image */
    size_t hidden, middle;     /* floats of these; floats of a strip before the projection */
    const float *x, *residual;
    float *y;
    size_t out_c;
    float *sums; /* [image][row][hidden]; NULL: no mean */
    const float *ones;
} separable_work;

/* The strips of one item. */
typedef struct band {
    separable_work *j;
    size_t n, first, count;   /* image, channels */
    prt_nhwc_windows windows; /* of these channels */
    float *hidden, *middle, *scratch;
    size_t low, high; /* rows [low, high) of the hidden image are in scratch */
} band;

/* Multiplies by bf16x3 or in float32. */
static void multiply(const band *b, bool bf16x3, const prt_nhwc_product *p, size_t rows,
    const float *x, float *y, const float *residual)
{
    if (!bf16x3)
        prt_nhwc_multiply(b->j->kern, p, rows, x, y, residual);
    else if (!prt_bf16x3_strip(b->j->kern, p, rows, x, y, residual, NULL, b->scratch))
        atomic_store_explicit(&b->j->not_finite, true, memory_order_relaxed);
}

/* Computes rows [low, high) of the hidden image; keeps the rows that are already there. */
static const float *expand(band *b, size_t low, size_t high)
{
    const separable_work *j = b->j;
    const size_t wide = j->v.in_w, row = wide * j->v.in_c;
    const float *x = j->x + b->n * j->v.in_h * wide * j->expand.lda;
    if (b->high > low)
        memmove(b->hidden, b->hidden + (low - b->low) * row, (b->high - low) * row * sizeof(float));
    else
        b->high = low;
    multiply(b, j->bf16x3_expand, &j->expand, (high - b->high) * wide,
        x + b->high * wide * j->expand.lda, b->hidden + (b->high - low) * row, NULL);
    b->low = low;
    b->high = high;
    return b->hidden;
}

/* Runs the depthwise convolution of a panel of hidden channels, whose rows begin with `low`. */
typedef struct panel_run {
    band *b;
    size_t row, end, low; /* rows of the output; first row of the hidden image */
    float *y;
} panel_run;

static void run_panel(void *user, size_t first, size_t columns)
{
    const panel_run *s = user;
    prt_nhwc_windows windows = s->b->windows;
    prt_nhwc_windows_select_channels(&windows, first, columns, PANEL);
    prt_nhwc_windows_run(&windows, s->row, s->end, s->b->hidden, s->low, s->y + first);
}

/* Computes rows [low, high) of the hidden image panel by panel, and runs the convolution of
 * each. */
static void expand_panels(panel_run *s, size_t high)
{
    const band *b = s->b;
    separable_work *j = b->j;
    const size_t wide = j->v.in_w, pixels = (high - s->low) * wide;
    const float *x = j->x + (b->n * j->v.in_h + s->low) * wide * j->expand.lda;
    const prt_nhwc_sink sink = { run_panel, s };
    prt_nhwc_product p = j->expand;
    p.w += b->first * p.k;
    p.bias = p.bias != NULL ? p.bias + b->first : NULL;
    p.n = p.run = b->count;
    p.ldc = PANEL;
    const bool bf16x3 = j->bf16x3_expand && pixels != 0; /* 0: all rows are padding */
    if (bf16x3 && !prt_bf16x3_strip(j->kern, &p, pixels, x, b->hidden, NULL, &sink, b->scratch))
        atomic_store_explicit(&j->not_finite, true, memory_order_relaxed);
    for (size_t first = 0; !bf16x3 && first < b->count; first += PANEL) {
        p.n = p.run = prt_size_min(b->count - first, PANEL);
        prt_nhwc_multiply(j->kern, &p, pixels, x, b->hidden, NULL);
        run_panel(s, first, p.n);
        p.w += PANEL * p.k;
        p.bias = p.bias != NULL ? p.bias + PANEL : NULL;
    }
}

/* Applies the activation to an item's channels, then sums each row for the mean. */
static void finish_rows(const band *b, size_t row, size_t end, float *y)
{
    const separable_work *j = b->j;
    const size_t channels = j->v.in_c, wide = j->v.out_w, each = wide * channels;
    const bool whole = b->count == channels;
    const size_t parts = whole ? 1 : (end - row) * wide;
    const size_t size = whole ? (end - row) * each : b->count;
    for (size_t i = 0; !b->windows.bounded && i < parts; i++)
        j->kern->rows.act(&j->v.act, size, y + i * channels, y + i * channels);
    for (; j->sums != NULL && row < end; row++, y += each)
        j->kern->rows.sums(wide, b->count, j->ones, y, channels, NULL,
            j->sums + (b->n * j->v.out_h + row) * channels + b->first);
}

/* Computes rows [row, end) of the output. */
static void run_strip(band *b, size_t row, size_t end)
{
    const separable_work *j = b->j;
    const prt_nhwc *v = &j->v;
    const int64_t top = (int64_t)(row * v->stride_h) - v->top;
    const int64_t last =
        (int64_t)((end - 1) * v->stride_h + (v->kernel_h - 1) * v->dilation_h) - v->top;
    const size_t low = top < 0 ? 0 : top < (int64_t)v->in_h ? (size_t)top : v->in_h;
    const size_t high = last < 0 ? 0 : last < (int64_t)v->in_h ? (size_t)last + 1 : v->in_h;
    const float *x = j->x + (b->n * v->in_h + low) * v->in_w * v->x_pitch + b->first;
    const size_t at = (b->n * v->out_h + row) * v->out_w;
    float *y = j->projects ? b->middle : j->y + at * v->in_c + b->first;
    if (j->panels) {
        panel_run s = { b, row, end, low, y };
        expand_panels(&s, high > low ? high : low);
    } else {
        if (j->expands)
            x = expand(b, low, high > low ? high : low);
        prt_nhwc_windows_run(&b->windows, row, end, x, low, y);
    }
    finish_rows(b, row, end, y);
    if (j->projects)
        multiply(b, j->bf16x3_project, &j->project, (end - row) * v->out_w, y, j->y + at * j->out_c,
            j->residual != NULL ? j->residual + at * j->out_c : NULL);
}

static size_t panels_of(const separable_work *j)
{
    return (j->v.in_c + PANEL - 1) / PANEL;
}

static void run_item(const void *user, size_t item, float *scratch)
{
    separable_work *j = (separable_work *)(uintptr_t)user;
    const size_t chunk = item % j->chunks, at = item / j->chunks, i = at % j->bands;
    const size_t end = prt_parallel_piece_begin(j->v.out_h, j->bands, i + 1), panels = panels_of(j);
    band b = { .j = j,
        .n = at / j->bands,
        .first = prt_parallel_piece_begin(panels, j->chunks, chunk) * PANEL,
        .windows = j->windows,
        .scratch = scratch,
        .hidden = scratch + j->bf16x3_size };
    b.middle = b.hidden + j->hidden;
    b.count =
        prt_size_min(prt_parallel_piece_begin(panels, j->chunks, chunk + 1) * PANEL, j->v.in_c) -
        b.first;
    if (j->chunks > 1)
        prt_nhwc_windows_select_channels(&b.windows, b.first, b.count, j->v.x_pitch);
    for (size_t row = prt_parallel_piece_begin(j->v.out_h, j->bands, i), some;
         row < end && !atomic_load_explicit(&j->not_finite, memory_order_relaxed); row += some) {
        some = end - row < j->strip ? end - row : j->strip;
        run_strip(&b, row, row + some);
    }
}

/* ---- sizes ---- */

/* Returns the output rows of an item, at most. */
static size_t band_rows(const separable_work *j)
{
    return (j->v.out_h + j->bands - 1) / j->bands;
}

/* Returns the rows of the hidden image that `rows` output rows read, without padding. */
static size_t rows_seen(const prt_nhwc *v, size_t rows)
{
    return prt_size_min(prt_nhwc_band_rows(v, rows), v->in_h);
}

/* Returns whether hidden channels can be computed panel by panel. */
static bool can_run_panels(const separable_work *j)
{
    const prt_nhwc *v = &j->v;
    const size_t pixels = rows_seen(v, band_rows(j)) * v->in_w;
    return j->expands && v->in_c > PANEL && pixels > PRT_BF16X3_SMALL_M &&
        prt_bf16x3_fits_block(pixels, j->expand.k) &&
        prt_nhwc_windows_can_split(&j->windows, PANEL);
}

/* Cuts the work into bands and chunks. Computing some hidden rows twice is better than idle
 * threads, unless threads can share the channels. */
static void cut(separable_work *j, const prt_eval *c)
{
    const prt_nhwc *v = &j->v;
    const size_t row = v->in_w * v->in_c, reach = (v->kernel_h - 1) * v->dilation_h + 1;
    const size_t width = prt_parallel_threads(c);
    size_t rows = HIDDEN / (row != 0 ? row : 1);
    rows = rows < reach + v->stride_h ? reach + v->stride_h : rows;
    j->bands = v->out_h / (width > 1 ? SHARED : BAND);
    j->bands = j->bands < 1 ? 1 : j->bands > ITEMS ? ITEMS : j->bands;
    j->chunks = 1;
    if (v->batch * j->bands < width && !j->projects && can_run_panels(j))
        j->chunks = prt_size_min(width / (v->batch * j->bands), panels_of(j));
    while (!prt_parallel_is_balanced(c, v->batch * j->bands * j->chunks) &&
        v->out_h / (j->bands + 1) >= LEAST)
        j->bands++;
    j->panels = can_run_panels(j);
    j->strip = band_rows(j);
    if (!j->panels)
        j->strip = prt_size_min((rows - reach) / v->stride_h + 1, j->strip);
}

/* Chooses the products that run by bf16x3. The choice does not depend on the number of threads. */
static void choose_bf16x3(separable_work *j, const prt_eval *c)
{
    const prt_nhwc *v = &j->v;
    j->bf16x3_expand = j->expands && !atomic_load(&j->not_finite) &&
        prt_bf16x3_pays(c, j->kern, v->in_h * v->in_w, j->expand.n, j->expand.k);
    j->bf16x3_project = j->projects && !atomic_load(&j->not_finite) &&
        prt_bf16x3_pays(c, j->kern, v->out_h * v->out_w, j->project.n, j->project.k);
    const size_t first =
        j->bf16x3_expand ? prt_bf16x3_strip_size(&j->expand, j->hidden_rows * v->in_w) : 0;
    const size_t last =
        j->bf16x3_project ? prt_bf16x3_strip_size(&j->project, j->strip * v->out_w) : 0;
    j->bf16x3_size = (first > last ? first : last) + 15;
    j->bf16x3_size -= j->bf16x3_size % 16;
}

static size_t scratch_of(const separable_work *j)
{
    return j->bf16x3_size + j->hidden + j->middle;
}

static void set_strip(separable_work *j, const prt_eval *c, size_t strip)
{
    const prt_nhwc *v = &j->v;
    j->strip = strip;
    j->hidden_rows = rows_seen(v, strip);
    j->hidden = j->expands ? j->hidden_rows * v->in_w * (j->panels ? PANEL : v->in_c) : 0;
    j->middle = j->projects ? j->strip * v->out_w * v->in_c : 0;
    choose_bf16x3(j, c);
}

/* Chooses a strip that is somewhat lower if its scratch then fits into idle memory of the
 * session. */
static void fit_strip(separable_work *j, prt_eval *c)
{
    const size_t idle = prt_parallel_idle_scratch(c, j->v.batch * j->bands * j->chunks);
    const size_t most = j->strip;
    for (size_t strip = most; !j->panels && strip > most / 2; strip--) {
        set_strip(j, c, strip);
        if (scratch_of(j) <= idle)
            return;
    }
    set_strip(j, c, most);
}

/* Computes the means of all images from the sums of their rows, in order. */
static void store_mean(const separable_work *j, double *sum, float *mean)
{
    const size_t channels = j->v.in_c, high = j->v.out_h;
    const double pixels = (double)(high * j->v.out_w);
    for (size_t n = 0; n < j->v.batch; n++, mean += channels) {
        memset(sum, 0, channels * sizeof(*sum));
        for (size_t row = n * high; row < (n + 1) * high; row++)
            j->kern->rows.add_to(channels, j->sums + row * channels, false, sum);
        for (size_t i = 0; i < channels; i++)
            mean[i] = (float)(sum[i] / pixels);
    }
}

static const float *input(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

/* Reads the operator's parts. */
static void read_parts(const prt_eval *c, separable_work *j)
{
    const prt_nhwc_separable_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const prt_nhwc_conv_attrs part = prt_nhwc_separable_part(a, 1, 1);
    prt_tensor hidden = *x;
    prt_window w;
    hidden.dims[3] = a->hidden;
    prt_nhwc_window(&part, &hidden, &w);
    prt_nhwc_set_window(&j->v, &w);
    j->v.kern = j->kern;
    j->v.batch = (size_t)x->dims[0];
    j->v.in_c = j->v.out_c = (size_t)a->hidden;
    j->v.y_pitch = j->v.in_c;
    j->v.w = c->in[1]->data;
    j->v.bias = input(c, 2);
    j->expands = prt_eval_has(c, 3);
    j->projects = prt_eval_has(c, 5);
    j->v.x_pitch = j->expands ? j->v.in_c : prt_tensor_pitch(x);
    j->expand = (prt_nhwc_product){ .k = (size_t)x->dims[3],
        .n = (size_t)a->hidden,
        .lda = prt_tensor_pitch(x),
        .ldc = (size_t)a->hidden,
        .run = (size_t)a->hidden,
        .w = input(c, 3),
        .bias = input(c, 4) };
    j->project = (prt_nhwc_product){ .k = (size_t)a->hidden,
        .n = (size_t)a->filters,
        .lda = (size_t)a->hidden,
        .ldc = (size_t)a->filters,
        .run = (size_t)a->filters,
        .w = input(c, 5),
        .bias = input(c, 6) };
    j->out_c = j->projects ? (size_t)a->filters : (size_t)a->hidden;
    j->x = x->data;
    j->residual = input(c, 7);
    j->y = c->out[0]->data;
    j->expand.act = (prt_act){ a->activation0, a->alpha0, a->beta0 };
    j->v.act = (prt_act){ a->activation1, a->alpha1, a->beta1 };
    j->project.act = (prt_act){ a->activation2, a->alpha2, a->beta2 };
}

poprt_status prt_fast_nhwc_separable(prt_eval *c, const prt_kern *k, bool *done)
{
    separable_work j = { .kern = k };
    const bool mean = prt_eval_wants(c, 1);
    if (!prt_fast_has(c, 0) || !prt_fast_has_output(c) || prt_tensor_count(c->out[0]) == 0 ||
        c->in[0]->dims[3] == 0)
        return prt_fast_use_reference(done);
    read_parts(c, &j);
    prt_nhwc_windows_init(&j.windows, &j.v);
    cut(&j, c);
    double *sum = NULL;
    if (mean) {
        float *ones = prt_parallel_zeroed_floats(c, 1, j.v.out_w);
        j.sums = prt_parallel_uninitialized_floats(c, j.v.batch * j.v.out_h, j.v.in_c);
        sum = prt_eval_scratch_raw(c, j.v.in_c, sizeof(*sum));
        if (ones == NULL || j.sums == NULL || sum == NULL)
            return POPRT_E_NOMEM;
        for (size_t i = 0; i < j.v.out_w; i++)
            ones[i] = 1.0f;
        j.ones = ones;
    }
    atomic_init(&j.not_finite, false);
    do {
        fit_strip(&j, c);
        atomic_store(&j.not_finite, false);
        PRT_TRY(prt_parallel_for(c, j.v.batch * j.bands * j.chunks, scratch_of(&j), run_item, &j));
    } while (atomic_load(&j.not_finite));
    if (mean)
        store_mean(&j, sum, c->out[1]->data);
    return POPRT_OK;
}
