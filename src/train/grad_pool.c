/* SPDX-License-Identifier: MIT */
/* grad_pool.c — gradients of AveragePool and LpPool, rebuilt from sums over windows, and of global
 * pools. Of several equal maxima the first gets the gradient, as in ONNX and PyTorch. */
#include "train/terms.h"
#include "train/windows.h"

/* Returns the number of elements that window `o` along axis i averages. */
static int64_t window_count(const prt_average_pool_attrs *a, const prt_grad_windows *w, uint32_t i,
    int64_t o)
{
    const int64_t start = o * w->stride[i] - w->pads[i], d = w->dilation[i];
    const bool explicit_pads = prt_str_is(a->auto_pad, "NOTSET") || a->auto_pad.size == 0;
    const int64_t end = explicit_pads ? prt_i64s_at(a->pads, w->n + i, 0) : w->pads[w->n + i];
    int64_t count = 0;
    for (int64_t k = 0; k < w->kernel[i]; k++) {
        const int64_t at = start + k * d;
        count += a->count_include_pad != 0 ? at < w->in[i] + end : at >= 0 && at < w->in[i];
    }
    return count > 0 ? count : 1;
}

/* The divisor of each window, in the shape [1, 1, windows]. */
static prt_value *window_counts(prt_grad *g, const prt_average_pool_attrs *a,
    const prt_grad_windows *w)
{
    int64_t dims[PRT_MAX_RANK] = { 1, 1 }, at[PRT_MAX_SPATIAL] = { 0 };
    const int32_t dtype = prt_grad_x(g, 0)->type->dtype;
    size_t n = 1, k = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        dims[2 + i] = w->out[i];
        n *= (size_t)w->out[i];
    }
    double *counts = PRT_NEW_N(g->b->graph->module->arena, double, n);
    if (counts == NULL) {
        g->b->status = POPRT_E_NOMEM;
        return NULL;
    }
    do {
        double count = 1.0;
        for (uint32_t i = 0; i < w->n; i++)
            count *= (double)window_count(a, w, i, at[i]);
        prt_store_f64(dtype, counts, k++, count);
    } while (prt_at_next(w->n, w->out, at));
    return prt_build_tensor(g->b, dtype, w->n + 2, dims, counts);
}

poprt_status prt_grad_average_pool(prt_grad *g)
{
    const prt_average_pool_attrs *a = g->op->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_grad_windows w;
    prt_value *x = prt_grad_x(g, 0), *y = prt_grad_y(g);
    PRT_TRY(prt_grad_find_windows(g, x, y, &spec, &w));
    prt_value *sums = prt_grad_window_sums(g, &w, x, y);
    return prt_grad_by(g, DIV(sums, window_counts(g, a, &w)));
}

/* The p-th root of `sum`, with a gradient of 0 where the sum is 0. */
static prt_value *root(prt_grad *g, prt_value *sum, int64_t p)
{
    prt_value *zero = NUM(sum, 0.0), *is_zero = BINARY(equal, sum, zero);
    prt_value *safe = WHERE(is_zero, NUM(sum, 1.0), sum);
    if (p == 1)
        return sum;
    return WHERE(is_zero, zero, BINARY(pow, safe, NUM(sum, 1.0 / (double)p)));
}

static prt_value *power(prt_grad *g, prt_value *x, int64_t p)
{
    if (p == 2)
        return MUL(x, x);
    x = CALL(abs, x);
    return p == 1 ? x : BINARY(pow, x, NUM(x, (double)p));
}

poprt_status prt_grad_lp_pool(prt_grad *g)
{
    const prt_lp_pool_attrs *a = g->op->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_grad_windows w;
    prt_value *x = prt_grad_x(g, 0), *y = prt_grad_y(g);
    PRT_TRY(prt_grad_find_windows(g, x, y, &spec, &w));
    return prt_grad_by(g, root(g, prt_grad_window_sums(g, &w, power(g, x, a->p), y), a->p));
}

poprt_status prt_grad_global_lp_pool(prt_grad *g)
{
    const prt_global_lp_pool_attrs *a = g->op->attrs;
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 2)
        return prt_grad_refuse(g, "needs an input of known rank");
    for (int32_t i = 2; i < rank; i++)
        axes[n++] = i;
    return prt_grad_by(g, root(g, prt_grad_sum(g, power(g, x, a->p), n, axes, true), a->p));
}

poprt_status prt_grad_global_average_pool(prt_grad *g)
{
    prt_value *count = prt_grad_ratio(g, prt_grad_x(g, 0), prt_grad_y(g), g->out[0]);
    return prt_grad_set(g, 0, prt_grad_expand(g, DIV(g->out[0], count), prt_grad_x(g, 0)));
}

poprt_status prt_grad_global_max_pool(prt_grad *g)
{
    static const int64_t rows[3] = { 0, 0, -1 };
    prt_value *x = prt_grad_x(g, 0), *flat = prt_grad_reshape_to(g, x, 3, rows);
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax);
    PRT_ATTR_SET(attrs, argmax, axis, 2);
    prt_value *at = prt_build_op(g->b, PRT_OP_argmax, &attrs, 1, &flat);
    prt_value *dy = prt_grad_reshape_to(g, g->out[0], 3, rows);
    return prt_grad_set(g, 0, prt_grad_reshape(g, prt_grad_scatter_at(g, dy, at, 2, flat), x));
}

poprt_status prt_grad_max_unpool(prt_grad *g)
{
    static const uint32_t first[1] = { 0 };
    return prt_grad_route(g, 1, first, PRT_DTYPE_f64);
}
