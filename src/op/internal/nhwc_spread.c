/* SPDX-License-Identifier: MIT */
/* nhwc_spread.c — NhwcSpread: channels-last ConvTranspose with strides equal to the kernel
   shape. */
#include "op/internal/fused.h"
#include "op/share/delegate.h"
#include "op/internal/nhwc.h"

bool prt_nhwc_spread_size(const prt_nhwc_spread_attrs *a, size_t channels, size_t *count)
{
    size_t columns, width;
    return a->kernel_shape.count == 2 && a->filters > 0 && a->filters <= INT32_MAX &&
        a->kernel_shape.data[0] > 0 && a->kernel_shape.data[1] > 0 &&
        a->kernel_shape.data[0] <= INT32_MAX && a->kernel_shape.data[1] <= INT32_MAX &&
        prt_size_mul((size_t)a->kernel_shape.data[1], (size_t)a->filters, &columns) &&
        columns <= INT32_MAX && prt_size_mul(prt_nhwc_panels_width(columns), channels, &width) &&
        prt_size_mul(width, (size_t)a->kernel_shape.data[0], count);
}

static poprt_status infer(prt_infer *c)
{
    const prt_nhwc_spread_attrs *a = c->attrs;
    int64_t dims[PRT_MAX_RANK], all;
    size_t count;
    if (!prt_nhwc_spread_size(a, 1, &count))
        return prt_infer_fail(c, POPRT_E_ARG,
            "filters must be positive and kernel_shape have 2 sizes");
    PRT_TRY(prt_infer_rank(c, 1, 1));
    PRT_TRY(prt_infer_vector(c, 2, a->filters));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, c->in[0].dtype, 4);
    PRT_TRY(prt_infer_rank(c, 0, 4));
    const int64_t channels = c->in[0].dims[3];
    if (prt_dim_is_number(channels)) {
        if (!prt_nhwc_spread_size(a, (size_t)channels, &count) || count > INT64_MAX)
            return prt_infer_fail(c, POPRT_E_LIMIT, "weights do not fit in memory");
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, 0), (int64_t)count, "size of W", &all));
    }
    dims[0] = c->in[0].dims[0];
    dims[1] = prt_dim_mul(c->dims, c->in[0].dims[1], a->kernel_shape.data[0]);
    dims[2] = prt_dim_mul(c->dims, c->in[0].dims[2], a->kernel_shape.data[1]);
    dims[3] = a->filters;
    return prt_infer_exact(c, 0, c->in[0].dtype, 4, dims);
}

/* Returns the sum of one output element, in double. */
static double sum_at(const prt_eval *c, const prt_nhwc_spread_attrs *a, const float *x, size_t ky,
    size_t kx, size_t f)
{
    const size_t channels = (size_t)c->in[0]->dims[3];
    const size_t columns = (size_t)(a->kernel_shape.data[1] * a->filters);
    const float *w = (const float *)c->in[1]->data + ky * channels * prt_nhwc_panels_width(columns);
    double sum = prt_eval_has(c, 2) ? prt_real_at(c->in[2], f) : 0.0;
    for (size_t i = 0; i < channels; i++)
        sum += (double)x[i] *
            (double)w[prt_nhwc_panel_at(columns, channels, i, kx * (size_t)a->filters + f)];
    return sum;
}

static poprt_status eval(prt_eval *c)
{
    const prt_nhwc_spread_attrs *a = c->attrs;
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    if (prt_tensor_count(y) == 0)
        return POPRT_OK;
    const size_t high = (size_t)a->kernel_shape.data[0], wide = (size_t)a->kernel_shape.data[1];
    const size_t filters = (size_t)a->filters, out_w = (size_t)y->dims[2];
    const size_t rows = (size_t)(y->dims[0] * y->dims[1]), channels = (size_t)x->dims[3];
    for (size_t row = 0; row < rows; row++) {
        PRT_TRY(c->host->check(c));
        for (size_t column = 0; column < out_w; column++) {
            const float *from = (const float *)x->data +
                (row / high * (size_t)x->dims[2] + column / wide) * channels;
            for (size_t f = 0; f < filters; f++) {
                const double v = sum_at(c, a, from, row % high, column % wide, f);
                prt_reals_store(y->dtype, y->data, (row * out_w + column) * filters + f, 1, 1, &v);
            }
        }
    }
    prt_fused_finish(c, NULL, NULL, &act);
    return POPRT_OK;
}

/* The kernels store whole vectors of 16 filters. */
static bool columns(const void *attrs, bool out, uint32_t i)
{
    (void)i;
    return !out || ((const prt_nhwc_spread_attrs *)attrs)->filters % 16 == 0;
}

const prt_op_hooks prt_op_nhwc_spread = { .infer = infer, .eval = eval, .columns = columns };
