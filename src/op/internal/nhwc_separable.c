/* SPDX-License-Identifier: MIT */
/* nhwc_separable.c — NhwcSeparable: up to three NhwcConv, and the mean of the second result. */
#include "op/share/delegate.h"
#include "op/internal/nhwc.h"

enum { X, W1, B1, W0, B0, W2, B2, RESIDUAL };

prt_nhwc_conv_attrs prt_nhwc_separable_part(const prt_nhwc_separable_attrs *a, int part,
    int64_t channels)
{
    static const int64_t one[2] = { 1, 1 };
    prt_nhwc_conv_attrs v = PRT_ATTRS_OF(nhwc_conv);
    v.kernel_shape = (prt_i64s){ .data = one, .count = 2 };
    v.channels = part == 0 ? channels : part == 1 ? 1 : a->hidden;
    v.filters = part == 0 ? a->hidden : part == 1 ? 1 : a->filters;
    v.activation = part == 0 ? a->activation0 : part == 1 ? a->activation1 : a->activation2;
    v.alpha = part == 0 ? a->alpha0 : part == 1 ? a->alpha1 : a->alpha2;
    v.beta = part == 0 ? a->beta0 : part == 1 ? a->beta1 : a->beta2;
    if (part != 1)
        return v;
    v.form = PRT_NHWC_taps;
    v.group = a->hidden;
    v.kernel_shape = a->kernel_shape;
    v.pads = a->pads;
    v.strides = a->strides;
    v.dilations = a->dilations;
    return v;
}

static poprt_status infer_part(prt_infer *c, int part, const prt_shape *x, uint32_t w, prt_shape *y)
{
    const prt_nhwc_separable_attrs *a = c->attrs;
    const prt_nhwc_conv_attrs attrs = prt_nhwc_separable_part(a, part, part == 0 ? x->dims[3] : 0);
    const prt_shape absent = { .kind = PRT_VALUE_ABSENT };
    const uint32_t r = part == 2 ? RESIDUAL : UINT32_MAX;
    const prt_shape in[4] = { *x, c->in[w], prt_infer_has(c, w + 1) ? c->in[w + 1] : absent,
        prt_infer_has(c, r) ? c->in[r] : absent };
    return prt_delegate_infer(c, PRT_OP_nhwc_conv, &attrs, 4, in, NULL, 1, y);
}

static poprt_status infer(prt_infer *c)
{
    const prt_nhwc_separable_attrs *a = c->attrs;
    prt_shape x = c->in[X], y = { .kind = PRT_VALUE_UNKNOWN, .rank = PRT_RANK_UNKNOWN };
    if (a->kernel_shape.count != 2 || a->hidden < 1 || a->filters < 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "hidden must be positive and kernel_shape have 2 sizes");
    if (prt_infer_has(c, W2) != (a->filters > 0) || (prt_infer_has(c, W2) && prt_infer_wants(c, 1)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "filters needs W2, and the output mean needs W2 absent");
    if (prt_infer_has(c, RESIDUAL) && !prt_infer_has(c, W2))
        return prt_infer_fail(c, POPRT_E_ARG, "a residual needs W2, which is absent");
    if (prt_infer_ranked(c, X))
        PRT_TRY(prt_infer_rank(c, X, 4));
    if (prt_infer_has(c, W0) && !prt_dim_is_number(prt_infer_dim(c, X, 3))) {
        /* The size of W0 depends on the number of channels, which is unknown. */
        PRT_TRY(prt_infer_unranked(c, 1, c->in[X].dtype, 4));
        return prt_infer_unranked(c, 0, c->in[X].dtype, 4);
    }
    if (prt_infer_has(c, W0)) {
        PRT_TRY(infer_part(c, 0, &x, W0, &y));
        x = y;
    }
    PRT_TRY(infer_part(c, 1, &x, W1, &y));
    const int64_t dims[4] = { y.rank == 4 ? y.dims[0] : PRT_DIM_UNKNOWN, 1, 1, a->hidden };
    PRT_TRY(prt_infer_set(c, 1, c->in[X].dtype, 4, dims));
    if (prt_infer_has(c, W2)) {
        x = y;
        PRT_TRY(infer_part(c, 2, &x, W2, &y));
    }
    return prt_infer_set(c, 0, c->in[X].dtype, y.rank, y.dims);
}

/* Runs one part on x. y gets memory from the scratch of `c` if its data is NULL. */
static poprt_status run_part(prt_eval *c, int part, const prt_tensor *x, uint32_t w, prt_tensor *y)
{
    const prt_nhwc_separable_attrs *a = c->attrs;
    const prt_nhwc_conv_attrs attrs = prt_nhwc_separable_part(a, part, x->dims[3]);
    const prt_tensor *in[4] = { x, c->in[w], prt_eval_has(c, w + 1) ? c->in[w + 1] : NULL,
        part == 2 && prt_eval_has(c, RESIDUAL) ? c->in[RESIDUAL] : NULL };
    prt_window window;
    prt_nhwc_window(&attrs, x, &window);
    if (y->data == NULL) {
        const int64_t dims[4] = { x->dims[0], window.out[0], window.out[1],
            attrs.group * attrs.filters };
        PRT_TRY(prt_delegate_tensor(c, x->dtype, 4, dims, y));
    }
    prt_tensor *out[1] = { y };
    return prt_delegate_eval(c, PRT_OP_nhwc_conv, &attrs, 4, in, 1, out);
}

static void store_mean(const prt_tensor *x, prt_tensor *y)
{
    const size_t channels = (size_t)x->dims[3], pixels = prt_dims_product(x->dims, 1, 3);
    for (size_t i = 0; i < prt_tensor_count(y); i++) {
        double sum = 0.0;
        for (size_t p = 0; p < pixels; p++)
            sum += prt_real_at(x, (i / channels * pixels + p) * channels + i % channels);
        sum /= (double)pixels;
        prt_reals_store(y->dtype, y->data, i, 1, 1, &sum);
    }
}

static poprt_status eval(prt_eval *c)
{
    prt_tensor x = *c->in[X], hidden = { .data = NULL }, middle = { .data = NULL };
    if (prt_eval_has(c, W0)) {
        PRT_TRY(run_part(c, 0, &x, W0, &hidden));
        x = hidden;
    }
    if (!prt_eval_has(c, W2) && prt_eval_wants(c, 0))
        middle = *c->out[0];
    PRT_TRY(run_part(c, 1, &x, W1, &middle));
    if (prt_eval_wants(c, 1))
        store_mean(&middle, c->out[1]);
    return prt_eval_has(c, W2) && prt_eval_wants(c, 0) ? run_part(c, 2, &middle, W2, c->out[0])
                                                       : POPRT_OK;
}

/* The depthwise kernels need channels without gaps, except for 1x1 kernels. */
static bool columns(const void *attrs, bool out, uint32_t i)
{
    (void)i;
    return !out && prt_nhwc_is_pointwise(&((const prt_nhwc_separable_attrs *)attrs)->kernel_shape);
}

const prt_op_hooks prt_op_nhwc_separable = { .infer = infer, .eval = eval, .columns = columns };
