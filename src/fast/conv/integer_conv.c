/* SPDX-License-Identifier: MIT */
/*
 * integer_conv.c — ConvInteger and QLinearConv (NCHW, 8-bit) by integer GEMM for each image and
 * group: filters × K by K × positions.
 *
 * Every channel is copied once, with its padding, into `stride_h * stride_w` phase planes: plane
 * (a, b) has the pixels (r * stride_h + a, q * stride_w + b). All positions of an output row then
 * read consecutive bytes of one plane at each tap, and the next row follows `width` later.
 * Positions are counted in that width, so a row of B is contiguous; columns beyond an output row
 * are computed and dropped.
 */
#include "fast/gemm/integer.h"
#include "fast/parallel.h"
#include "op/share/quant.h"
#include "op/share/sliding.h"

typedef struct conv {
    const prt_kern *kern;
    const uint8_t *x;
    uint8_t *planes;                         /* NULL: x is read in place */
    size_t channels, groups, taps, kernel_w; /* channels of a group */
    size_t in_h, in_w, out_h, out_w, stride_h, stride_w, dilation_h, dilation_w;
    int64_t top, left;
    size_t height, width, plane; /* of one plane; bytes of all planes of a channel */
    size_t *offset;              /* offset of each tap for the first position */
    uint8_t fill;
    void *y;
    /* QLinearConv only */
    prt_requantize q;
    const double *scales; /* by filter of all groups */
    const prt_tensor *bias;
} conv;

static const uint8_t *right(const prt_integer *p, size_t batch, size_t k, size_t first,
    size_t columns, uint8_t *scratch)
{
    const conv *v = p->user;
    const size_t channel = k / v->taps;
    (void)columns;
    (void)scratch;
    return (v->planes != NULL ? v->planes : v->x) + (batch * v->channels + channel) * v->plane +
        v->offset[k - channel * v->taps] + first;
}

/* Copies one row of a plane: every stride_w-th pixel of an image row from column `x` on. */
static void copy_row(const conv *v, const uint8_t *from, int64_t x, uint8_t *to)
{
    const int64_t step = (int64_t)v->stride_w, in_w = (int64_t)v->in_w;
    const int64_t width = (int64_t)v->width;
    int64_t begin = x < 0 ? (step - 1 - x) / step : 0;
    begin = begin < width ? begin : width;
    int64_t end = x < in_w ? (in_w - x + step - 1) / step : 0;
    end = end < width ? end : width;
    end = end < begin ? begin : end;
    memset(to, v->fill, (size_t)begin);
    for (int64_t q = end; q < width; q++)
        to[q] = v->fill;
    if (begin == end)
        return;
    if (step == 1)
        memcpy(to + begin, from + x + begin, (size_t)(end - begin));
    for (int64_t q = begin; step != 1 && q < end; q++)
        to[q] = from[x + q * step];
}

static void copy_channel(const void *user, size_t item, float *scratch)
{
    const conv *v = user;
    const uint8_t *from = v->x + item * v->in_h * v->in_w;
    uint8_t *to = v->planes + item * v->plane;
    (void)scratch;
    for (size_t a = 0; a < v->stride_h; a++)
        for (size_t b = 0; b < v->stride_w; b++)
            for (size_t r = 0; r < v->height; r++, to += v->width) {
                const int64_t y = (int64_t)(r * v->stride_h + a) - v->top;
                if (y < 0 || y >= (int64_t)v->in_h)
                    memset(to, v->fill, v->width);
                else
                    copy_row(v, from + (size_t)y * v->in_w, (int64_t)b - v->left, to);
            }
}

/* Copies positions [first, first + columns) to the outputs, without the columns beyond output
 * rows. */
static void store_outputs(const conv *v, size_t first, size_t columns, const void *from,
    size_t size, char *to)
{
    for (size_t i = 0; i < columns;) {
        const size_t y = (first + i) / v->width, x = (first + i) % v->width;
        const size_t rest = v->width - x, left = columns - i, run = rest < left ? rest : left;
        if (x < v->out_w) {
            const size_t count = v->out_w - x < run ? v->out_w - x : run;
            memcpy(to + (y * v->out_w + x) * size, (const char *)from + i * size, count * size);
        }
        i += run;
    }
}

static void store_integer(const prt_integer *p, size_t batch, size_t row, size_t first,
    size_t columns, const int32_t *sums)
{
    const conv *v = p->user;
    int32_t *y = (int32_t *)v->y + (batch * p->m + row) * v->out_h * v->out_w;
    store_outputs(v, first, columns, sums, sizeof(int32_t), (char *)y);
}

static void store_bytes(const prt_integer *p, size_t batch, size_t row, size_t first,
    size_t columns, const int32_t *sums)
{
    const conv *v = p->user;
    const size_t filter = batch % v->groups * p->m + row;
    prt_requantize q = v->q;
    uint8_t bytes[PRT_GEMM_PANEL];
    q.scale = v->scales[filter];
    q.bias = v->bias != NULL ? (double)((const int32_t *)v->bias->data)[filter] : 0.0;
    p->kern->bytes.requantize(columns, sums, &q, bytes);
    store_outputs(v, first, columns, bytes, 1,
        (char *)v->y + (batch * p->m + row) * v->out_h * v->out_w);
}

static void fill_window(conv *v, const prt_window *w)
{
    const uint32_t last = w->rank - 1;
    const bool flat = w->rank == 1;
    v->in_h = flat ? 1 : (size_t)w->in[0];
    v->out_h = flat ? 1 : (size_t)w->out[0];
    v->stride_h = flat ? 1 : (size_t)w->stride[0];
    v->dilation_h = flat ? 1 : (size_t)w->dilation[0];
    v->top = flat ? 0 : w->begin[0];
    v->in_w = (size_t)w->in[last];
    v->out_w = (size_t)w->out[last];
    v->stride_w = (size_t)w->stride[last];
    v->dilation_w = (size_t)w->dilation[last];
    v->left = w->begin[last];
    v->kernel_w = (size_t)w->kernel[last];
    const size_t kernel_h = flat ? 1 : (size_t)w->kernel[0];
    v->taps = kernel_h * v->kernel_w;
    v->height = v->out_h + (kernel_h - 1) * v->dilation_h / v->stride_h;
    v->width = v->out_w + (v->kernel_w - 1) * v->dilation_w / v->stride_w;
}

/* Sets the offsets of the taps, and makes the phase planes unless x can be read in place. */
static poprt_status make_planes(prt_eval *c, const prt_kern *k, conv *v, size_t channels)
{
    const size_t phases = v->stride_h * v->stride_w;
    size_t size;
    v->kern = k;
    v->plane = phases * v->height * v->width;
    v->offset = prt_eval_scratch(c, v->taps, sizeof(size_t));
    if (v->offset == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < v->taps; i++) {
        const size_t y = i / v->kernel_w * v->dilation_h, x = i % v->kernel_w * v->dilation_w;
        const size_t phase = y % v->stride_h * v->stride_w + x % v->stride_w;
        v->offset[i] = (phase * v->height + y / v->stride_h) * v->width + x / v->stride_w;
    }
    if (phases == 1 && v->top == 0 && v->left == 0 && v->height == v->in_h && v->width == v->in_w)
        return POPRT_OK;
    if (!prt_size_mul(channels, v->plane, &size))
        return prt_fail_nomem(SIZE_MAX);
    v->planes = prt_eval_scratch(c, 1, size);
    if (v->planes == NULL)
        return POPRT_E_NOMEM;
    return prt_parallel_for(c, channels, 0, copy_channel, v);
}

/* Runs both operators. `in` are the indices of x, w, and their zero points. */
static poprt_status run(prt_eval *c, const prt_kern *k, const uint32_t *in,
    const prt_window_spec *spec, size_t groups, conv *v, bool *done)
{
    const prt_tensor *x = c->in[in[0]], *w = c->in[in[1]];
    prt_window window;
    prt_window_fill(NULL, spec, x->rank - 2, x->dims + 2, w->dims + 2, &window);
    fill_window(v, &window);
    v->x = x->data;
    v->y = c->out[0]->data;
    v->groups = groups;
    v->channels = (size_t)w->dims[1];
    v->fill = (uint8_t)(int)prt_quant_number(c, in[2], 0);
    const size_t filters = (size_t)w->dims[0], images = (size_t)x->dims[0];
    const size_t limit = 1 << 12; /* rows or columns that may be computed and dropped */
    prt_integer p = { .kern = k,
        .lefts = groups,
        .batches = images * groups,
        .m = filters / groups,
        .k = v->channels * v->taps,
        .a = w->data,
        .a_signed = w->dtype == PRT_DTYPE_i8,
        .b_signed = x->dtype == PRT_DTYPE_i8,
        .right = right,
        .user = v,
        .store = c->out[0]->dtype == PRT_DTYPE_i32 ? store_integer : store_bytes };
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    if (p.k == 0 || v->stride_h * v->stride_w > 64 || v->width > 2 * v->out_w + limit ||
        v->height > 2 * v->out_h + limit)
        return prt_fast_use_reference(done);
    p.n = (v->out_h - 1) * v->width + v->out_w;
    p.b_zero = prt_integer_zeros(c, in[2], 1, &p.b_step);
    p.a_zero = prt_integer_zeros(c, in[3], filters, &p.a_step);
    if (p.a_zero == NULL || p.b_zero == NULL)
        return prt_fast_use_reference(done);
    PRT_TRY(make_planes(c, k, v, images * groups * v->channels));
    return prt_integer_run(c, &p);
}

static bool fits(const prt_eval *c, uint32_t x, uint32_t w)
{
    return prt_integer_has(c, x) && prt_integer_has(c, w) && prt_fast_has_output(c) &&
        c->in[x]->rank >= 3 && c->in[x]->rank <= 4;
}

poprt_status prt_fast_conv_integer(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_conv_integer_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    conv v = { 0 };
    if (!fits(c, 0, 1))
        return prt_fast_use_reference(done);
    return run(c, k, (const uint32_t[]){ 0, 1, 2, 3 }, &spec, (size_t)a->group, &v, done);
}

poprt_status prt_fast_qlinear_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_qlinear_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    conv v = { 0 };
    if (!fits(c, 0, 3) || !prt_integer_has(c, 7) || prt_tensor_count(c->in[3]) == 0)
        return prt_fast_use_reference(done);
    const size_t filters = (size_t)c->in[3]->dims[0];
    const size_t n = prt_tensor_count(c->in[4]);
    double *scales = prt_eval_scratch(c, filters, sizeof(double));
    if (scales == NULL)
        return POPRT_E_NOMEM;
    const double x = prt_quant_number(c, 1, 0), y = prt_quant_number(c, 6, 0);
    for (size_t i = 0; i < filters; i++)
        scales[i] = x * prt_load_f64(c->in[4]->dtype, c->in[4]->data, n != 1 ? i : 0) / y;
    v.scales = scales;
    v.bias = prt_eval_has(c, 8) ? c->in[8] : NULL;
    v.q.zero = prt_quant_number(c, 7, 0);
    (void)prt_quant_range(c->out[0]->dtype, &v.q.low, &v.q.high);
    return run(c, k, (const uint32_t[]){ 0, 3, 2, 5 }, &spec, (size_t)a->group, &v, done);
}
