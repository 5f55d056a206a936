/* SPDX-License-Identifier: MIT */
/* nhwc_qconv.c — NhwcQConv and the layout of its weights. */
#include "kern/int8/dot.h"
#include "op/check.h"
#include "op/share/delegate.h"
#include "op/internal/nhwc.h"
#include "op/share/quant.h"

/* ---- weights */

/* Returns the number of 4-byte words of one column of a panel. */
static size_t words_of(const prt_nhwc_weights *w)
{
    return w->taps * ((w->channels + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR);
}

bool prt_nhwc_qconv_size(const prt_nhwc_weights *w, size_t *count)
{
    if (w->algorithm == PRT_NHWC_taps)
        return w->channels == 1 && w->filters == 1 && w->taps <= SIZE_MAX - PRT_DOT_FOUR &&
            prt_size_mul((w->taps + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR * PRT_DOT_FOUR, w->group,
                count);
    return w->algorithm == PRT_NHWC_panels && w->filters < SIZE_MAX - PRT_GEMM_PANEL &&
        w->channels < SIZE_MAX - PRT_DOT_FOUR &&
        prt_size_mul(w->taps, (w->channels + PRT_DOT_FOUR - 1) / PRT_DOT_FOUR, count) &&
        prt_size_mul(*count, prt_nhwc_panels_width(w->filters), count) &&
        prt_size_mul(*count, w->group, count) && prt_size_mul(*count, PRT_DOT_FOUR, count);
}

size_t prt_nhwc_qconv_at(const prt_nhwc_weights *w, size_t group, size_t filter, size_t channel,
    size_t t)
{
    if (w->algorithm == PRT_NHWC_taps)
        return (t / PRT_DOT_FOUR * w->group + group) * PRT_DOT_FOUR + t % PRT_DOT_FOUR;
    const size_t words = words_of(w), word = t * (words / w->taps) + channel / PRT_DOT_FOUR;
    return (group * words * prt_nhwc_panels_width(w->filters) +
               prt_nhwc_panel_at(w->filters, words, word, filter)) *
        PRT_DOT_FOUR +
        channel % PRT_DOT_FOUR;
}

prt_nhwc_conv_attrs prt_nhwc_conv_of(const prt_nhwc_qconv_attrs *a)
{
    return (prt_nhwc_conv_attrs){ .form = a->form,
        .group = a->group,
        .channels = a->channels,
        .filters = a->filters,
        .kernel_shape = a->kernel_shape,
        .pads = a->pads,
        .strides = a->strides,
        .dilations = a->dilations,
        .images = a->images };
}

/* ---- the operator */

static poprt_status infer(prt_infer *c)
{
    const prt_nhwc_conv_attrs a = prt_nhwc_conv_of(c->attrs);
    const prt_conv_attrs conv = prt_nhwc_plain_conv(&a);
    prt_shape in[2] = { c->in[0] };
    int64_t dim;
    PRT_TRY(prt_nhwc_infer_weights(c, &a, PRT_DTYPE_i8, &in[1]));
    for (uint32_t i = 2; i < 4; i++) {
        PRT_TRY(prt_infer_rank(c, i, 1));
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, i, 0), a.group * a.filters,
            "filters of B and scale", &dim));
        PRT_TRY(prt_infer_scalar(c, i + 2, &dim));
    }
    return prt_nhwc_infer_transposed(c, PRT_OP_conv, &conv, a.images != 0, 2, in, c->in[5].dtype);
}

/* Computes, in double, X without its zero point, W in the order of Conv, and the bias before the
   zero point's correction. */
static poprt_status unpack_operands(prt_eval *c, const prt_nhwc_conv_attrs *a, prt_tensor to[3])
{
    const prt_tensor *x = c->in[0];
    const uint32_t spatial = a->kernel_shape.count;
    const double zero = prt_quant_number(c, 4, 0);
    int64_t dims[PRT_MAX_RANK] = { a->group * a->filters, a->channels };
    prt_nhwc_weights w;
    memcpy(dims + 2, a->kernel_shape.data, spatial * sizeof(int64_t));
    (void)prt_nhwc_weights_of(a, &w);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, &to[0]));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, spatial + 2, dims, &to[1]));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 1, dims, &to[2]));
    double *xs = to[0].data, *ws = to[1].data, *bias = to[2].data;
    for (size_t i = 0; i < prt_tensor_count(x); i++)
        xs[i] = prt_load_f64(x->dtype, x->data, i) - zero;
    for (size_t f = 0; f < w.group * w.filters; f++) {
        bias[f] = (double)((const int32_t *)c->in[2]->data)[f];
        for (size_t k = 0; k < w.channels; k++)
            for (size_t t = 0; t < w.taps; t++, ws++) {
                *ws =
                    (double)((const int8_t *)c->in[1]
                                 ->data)[prt_nhwc_qconv_at(&w, f / w.filters, f % w.filters, k, t)];
                bias[f] += (x->dtype == PRT_DTYPE_i8 ? zero + 128 : zero) * *ws;
            }
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_nhwc_conv_attrs a = prt_nhwc_conv_of(c->attrs);
    const prt_conv_attrs conv = prt_nhwc_plain_conv(&a);
    const double zero = prt_quant_number(c, 5, 0);
    prt_tensor open[3], sums, *y = c->out[0];
    const prt_tensor *in[3] = { &open[0], &open[1], &open[2] };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(unpack_operands(c, &a, open));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, y->rank, y->dims, &sums));
    PRT_TRY(prt_nhwc_eval_transposed(c, PRT_OP_conv, &conv, a.images != 0, 3, in, &sums));
    const size_t filters = (size_t)(a.group * a.filters);
    for (size_t i = 0; i < prt_tensor_count(y); i++)
        prt_quant_store(y->dtype, y->data, i,
            ((const double *)sums.data)[i] * ((const double *)c->in[3]->data)[i % filters], zero);
    return POPRT_OK;
}

static bool columns(const void *attrs, bool out, uint32_t i)
{
    (void)i;
    return out || ((const prt_nhwc_qconv_attrs *)attrs)->images == 0;
}

const prt_op_hooks prt_op_nhwc_qconv = { .infer = infer, .eval = eval, .columns = columns };
