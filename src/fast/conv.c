/* SPDX-License-Identifier: MIT */
/*
 * conv.c — Conv of float32 as a product for each image and group: filters × depth, as they lie in
 * the file, by depth × output positions, of which a panel at a time is gathered. Depth runs over
 * channels and taps (kernel positions), taps fastest.
 */
#include "fast/conv.h"

#include "fast/product.h"
#include "op/fused.h"

typedef struct gather {
    const prt_conv_fast *v;
    size_t in_h, in_w, out_w, kernel_w, taps, in_plane, out_plane;
    int64_t stride_h, stride_w, dilation_h, dilation_w, top, left;
    bool pointwise; /* outputs are inputs, one by one */
} gather;

/* `n` outputs of one row from output column x on, at one tap. */
static void gather_row(const gather *g, const float *row, size_t x, size_t n, int64_t shift,
    float *to)
{
    int64_t at = (int64_t)x * g->stride_w + shift;
    if (g->stride_w != 1) {
        for (size_t i = 0; i < n; i++, at += g->stride_w)
            to[i] = at >= 0 && at < (int64_t)g->in_w ? row[at] : 0.0f;
        return;
    }
    size_t i = 0;
    for (; i < n && at < 0; i++, at++)
        to[i] = 0.0f;
    if (i < n && at < (int64_t)g->in_w) {
        const size_t room = g->in_w - (size_t)at, some = n - i < room ? n - i : room;
        memcpy(to + i, row + at, some * sizeof(float));
        i += some;
    }
    for (; i < n; i++)
        to[i] = 0.0f;
}

/* One row of the panel: all columns at one channel and tap. */
static void gather_depth(const gather *g, const float *plane, size_t tap, size_t first,
    size_t columns, float *to)
{
    const int64_t down = (int64_t)(tap / g->kernel_w) * g->dilation_h - g->top;
    const int64_t shift = (int64_t)(tap % g->kernel_w) * g->dilation_w - g->left;
    size_t y = first / g->out_w, x = first % g->out_w;
    for (size_t i = 0; i < columns; y++, x = 0) {
        const size_t left = g->out_w - x, n = columns - i < left ? columns - i : left;
        const int64_t row = (int64_t)y * g->stride_h + down;
        if (row >= 0 && row < (int64_t)g->in_h)
            gather_row(g, plane + (size_t)row * g->in_w, x, n, shift, to + i);
        else
            memset(to + i, 0, n * sizeof(float));
        i += n;
    }
}

static void pack(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    const gather *g = p->user;
    const float *x = g->v->x + batch * g->v->channels * g->in_plane;
    const size_t width = prt_gemm_width(columns);
    size_t channel = k / g->taps, tap = k % g->taps;
    for (size_t i = 0; i < depth; i++, to += width) {
        const float *plane = x + channel * g->in_plane;
        if (g->pointwise)
            memcpy(to, plane + first, columns * sizeof(float));
        else
            gather_depth(g, plane, tap, first, columns, to);
        for (size_t j = columns; j < width; j++)
            to[j] = 0.0f;
        if (++tap == g->taps) {
            tap = 0;
            channel++;
        }
    }
}

/* Where outputs are inputs, one by one, their planes are the rows. */
static const float *direct(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const gather *g = p->user;
    *stride = g->in_plane;
    return g->v->x + (batch * g->v->channels + k) * g->in_plane + first;
}

static void find(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *row_bias)
{
    const gather *g = p->user;
    const size_t group = batch % g->v->groups;
    *a = group * p->m * p->k;
    *c = batch * p->m * p->n;
    *row_bias = group * p->m;
}

static void init_gather(gather *g, const prt_conv_fast *v)
{
    const prt_window *w = v->window;
    const uint32_t x = w->rank - 1;
    const bool two = w->rank == 2;
    *g = (gather){ .v = v, .in_h = two ? (size_t)w->in[0] : 1, .in_w = (size_t)w->in[x],
        .out_w = (size_t)w->out[x], .kernel_w = (size_t)w->kernel[x],
        .stride_h = two ? w->stride[0] : 1, .stride_w = w->stride[x],
        .dilation_h = two ? w->dilation[0] : 1, .dilation_w = w->dilation[x],
        .top = two ? w->begin[0] : 0, .left = w->begin[x] };
    g->taps = (size_t)(two ? w->kernel[0] : 1) * g->kernel_w;
    g->in_plane = g->in_h * g->in_w;
    g->out_plane = (size_t)(two ? w->out[0] : 1) * g->out_w;
    g->pointwise = g->taps == 1 && g->stride_h == 1 && g->stride_w == 1 &&
        g->in_plane == g->out_plane && g->top == 0 && g->left == 0;
}

static poprt_status run_conv(prt_eval *c, const prt_kern *k, const prt_conv_attrs *attrs,
    const float *residual, const prt_act *act, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) ||
        c->in[0]->rank < 3 || c->in[0]->rank > 4)
        return prt_fast_pass(done);
    const prt_tensor *x = c->in[0], *w = c->in[1];
    const prt_window_spec spec = PRT_WINDOW_SPEC(attrs);
    prt_window window;
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + 2, w->dims + 2, &window);
    const prt_conv_fast v = { .kern = k, .window = &window, .batch = (size_t)x->dims[0],
        .groups = (size_t)attrs->group, .channels = (size_t)w->dims[1],
        .filters = (size_t)(w->dims[0] / attrs->group), .x = x->data, .w = w->data,
        .bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL, .y = c->out[0]->data,
        .residual = residual, .act = *act };
    if (v.channels == 1 && v.groups > 1) {
        PRT_TRY(prt_fast_depthwise(c, &v, done));
        if (*done)
            return POPRT_OK;
        *done = true;
    }
    gather g;
    init_gather(&g, &v);
    const size_t depth = v.channels * g.taps;
    if (depth == 0)
        return prt_fast_pass(done);
    const prt_product_spec p = { .batches = v.batch * v.groups, .m = v.filters, .n = g.out_plane,
        .k = depth, .a = v.w, .lda = depth, .c = v.y, .ldc = g.out_plane,
        .end = { .row_bias = v.bias, .residual = v.residual, .ldr = g.out_plane, .act = v.act },
        .at = find, .pack = pack, .direct = g.pointwise ? direct : NULL, .user = &g };
    return prt_product_fast(c, k, &p);
}

poprt_status prt_fast_conv(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_act none = { PRT_ACT_none, 0, 0 };
    return run_conv(c, k, c->attrs, NULL, &none, done);
}

poprt_status prt_fast_fused_conv(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_fused_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs attrs = prt_fused_conv_of(a);
    prt_act act;
    if (!prt_fused_act(a->activation, a->alpha, a->beta, &act))
        return prt_fast_pass(done);
    return run_conv(c, k, &attrs, prt_eval_has(c, 3) ? c->in[3]->data : NULL, &act, done);
}
