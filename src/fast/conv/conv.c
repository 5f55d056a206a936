/* SPDX-License-Identifier: MIT */
/*
 * conv.c — NCHW Conv of float32 by im2col and GEMM: for each image and group, filters × K times K ×
 * output positions. The weights are A as they lie in the file. B is gathered a panel of positions
 * and a block of K at a time (im2col.h), so that it stays in cache while all filters pass by.
 */
#include "fast/conv/im2col.h"
#include "fast/gemm/product.h"
#include "op/internal/fused.h"

static void pack(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
    size_t depth, float *to)
{
    prt_im2col_pack(p->user, batch, first, columns, k, depth, to);
}

/* Pointwise convolutions read the planes of the input as rows of B. */
static const float *direct(const prt_product_spec *p, size_t batch, size_t first, size_t k,
    size_t *stride)
{
    const prt_im2col *g = p->user;
    if (prt_gemm_panel_columns(p->n, first) % PRT_GEMM_SLICE != 0)
        return NULL;
    *stride = g->in_plane;
    return g->v->x + (batch * g->v->channels + k) * g->in_plane + first;
}

static void find(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *row_bias)
{
    const prt_im2col *g = p->user;
    const size_t group = batch % g->v->groups;
    *a = group * p->m * p->k;
    *c = batch * p->m * p->n;
    *row_bias = group * p->m;
}

static poprt_status run_conv(prt_eval *c, const prt_kern *k, const prt_conv_attrs *attrs,
    const float *residual, const prt_act *act, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_eval_wants(c, 0) || c->in[0]->rank < 3 ||
        c->in[0]->rank > 4)
        return prt_fast_use_reference(done);
    const prt_tensor *x = c->in[0], *w = c->in[1];
    const prt_window_spec spec = PRT_WINDOW_SPEC(attrs);
    prt_window window;
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + 2, w->dims + 2, &window);
    const prt_conv_fast v = { .kern = k,
        .window = &window,
        .batch = (size_t)x->dims[0],
        .groups = (size_t)attrs->group,
        .channels = (size_t)w->dims[1],
        .filters = (size_t)(w->dims[0] / attrs->group),
        .x = x->data,
        .w = w->data,
        .bias = prt_eval_has(c, 2) ? c->in[2]->data : NULL,
        .y = c->out[0]->data,
        .residual = residual,
        .act = *act };
    if (v.channels == 1 && v.groups > 1) {
        PRT_TRY(prt_fast_depthwise(c, &v, done));
        if (*done)
            return POPRT_OK;
        *done = true;
    }
    prt_im2col g;
    prt_im2col_init(&g, &v);
    const size_t depth = v.channels * g.taps;
    if (depth == 0)
        return prt_fast_use_reference(done);
    const prt_product_spec p = { .batches = v.batch * v.groups,
        .m = v.filters,
        .n = g.out_plane,
        .k = depth,
        .a = v.w,
        .lda = depth,
        .c = v.y,
        .ldc = g.out_plane,
        .end = { .row_bias = v.bias, .residual = v.residual, .ldr = g.out_plane, .act = v.act },
        .at = find,
        .pack = pack,
        .direct = g.pointwise ? direct : NULL,
        .pack_scratch = g.pack_scratch,
        .user = &g };
    return prt_product_fast(c, k, &p);
}

poprt_status prt_fast_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_act none = { PRT_ACT_none, 0, 0 };
    return run_conv(c, k, c->attrs, NULL, &none, done);
}

poprt_status prt_fast_fused_conv(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs attrs = prt_fused_conv_of(a);
    const prt_act act = { a->activation, a->alpha, a->beta };
    return run_conv(c, k, &attrs, prt_eval_has(c, 3) ? c->in[3]->data : NULL, &act, done);
}
