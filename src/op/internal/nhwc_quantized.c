/* SPDX-License-Identifier: MIT */
/* nhwc_quantized.c — NhwcQuantizedConv: quantises its float input to uint8 per image, convolves in
   integers and returns float32. */
#include <math.h>

#include "op/internal/fused.h"
#include "op/share/delegate.h"
#include "op/internal/nhwc.h"
#include "op/share/quant.h"

prt_nhwc_conv_attrs prt_nhwc_quantized_conv_of(const prt_nhwc_quantized_conv_attrs *a)
{
    return (prt_nhwc_conv_attrs){ .form = PRT_NHWC_panels,
        .group = a->group,
        .channels = a->channels,
        .filters = a->filters,
        .kernel_shape = a->kernel_shape,
        .pads = a->pads,
        .strides = a->strides,
        .dilations = a->dilations };
}

static poprt_status infer(prt_infer *c)
{
    const prt_nhwc_quantized_conv_attrs *attrs = c->attrs;
    const prt_nhwc_conv_attrs a = prt_nhwc_quantized_conv_of(attrs);
    const prt_conv_attrs conv = prt_nhwc_plain_conv(&a);
    prt_shape in[2] = { c->in[0] };
    PRT_TRY(prt_nhwc_infer_weights(c, &a, PRT_DTYPE_i8, &in[1]));
    for (uint32_t i = 2; i < 5; i++)
        PRT_TRY(prt_infer_vector(c, i, a.group * a.filters));
    PRT_TRY(prt_nhwc_infer_transposed(c, PRT_OP_conv, &conv, false, 2, in, PRT_DTYPE_f32));
    return prt_infer_wants(c, 0) ? prt_fused_check_residual(c, 5, &c->out[0]) : POPRT_OK;
}

/* Quantises X: `to` gets its bytes without the zero point, `by` the scale of each image. Scratch
   owns both. */
static poprt_status quantize_images(prt_eval *c, prt_tensor *to, double **by)
{
    const prt_tensor *x = c->in[0];
    const size_t n = (size_t)x->dims[0], each = prt_dims_product(x->dims, 1, x->rank);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, to));
    uint8_t *bytes = prt_eval_scratch(c, each, 1);
    *by = prt_eval_scratch(c, n, sizeof(double));
    if (bytes == NULL || *by == NULL)
        return POPRT_E_NOMEM;
    double *out = to->data;
    for (size_t i = 0; i < n; i++) {
        const float *image = (const float *)x->data + i * each;
        float scale;
        uint8_t zero;
        prt_quant_dynamic_run(each, image, bytes, &scale, &zero);
        (*by)[i] = (double)scale;
        for (size_t k = 0; k < each; k++) {
            out[i * each + k] = (double)bytes[k] - (double)zero;
            if (!isfinite(image[k]))
                (*by)[i] = (double)NAN;
        }
    }
    return POPRT_OK;
}

/* Returns W in the order of Conv. */
static poprt_status unpack_weights(prt_eval *c, const prt_nhwc_conv_attrs *a, prt_tensor *to)
{
    const uint32_t spatial = a->kernel_shape.count;
    int64_t dims[PRT_MAX_RANK] = { a->group * a->filters, a->channels };
    prt_nhwc_weights w;
    memcpy(dims + 2, a->kernel_shape.data, spatial * sizeof(int64_t));
    (void)prt_nhwc_weights_of(a, &w);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, spatial + 2, dims, to));
    double *out = to->data;
    for (size_t f = 0; f < w.group * w.filters; f++)
        for (size_t k = 0; k < w.channels; k++)
            for (size_t t = 0; t < w.taps; t++)
                *out++ =
                    (double)((const int8_t *)c->in[1]
                                 ->data)[prt_nhwc_qconv_at(&w, f / w.filters, f % w.filters, k, t)];
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_nhwc_quantized_conv_attrs *attrs = c->attrs;
    const prt_nhwc_conv_attrs a = prt_nhwc_quantized_conv_of(attrs);
    const prt_conv_attrs conv = prt_nhwc_plain_conv(&a);
    prt_tensor open[2], sums, *y = c->out[0];
    const prt_tensor *in[2] = { &open[0], &open[1] };
    double *by;
    const prt_act act = { attrs->activation, attrs->alpha, attrs->beta };
    if (!prt_eval_wants(c, 0) || prt_tensor_count(y) == 0)
        return POPRT_OK;
    PRT_TRY(quantize_images(c, &open[0], &by));
    PRT_TRY(unpack_weights(c, &a, &open[1]));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, y->rank, y->dims, &sums));
    PRT_TRY(prt_nhwc_eval_transposed(c, PRT_OP_conv, &conv, false, 2, in, &sums));
    const size_t each = prt_dims_product(y->dims, 1, y->rank);
    float *out = y->data;
    for (size_t i = 0; i < prt_tensor_count(y); i++)
        out[i] = (float)((double)(int32_t)(uint32_t)(int64_t)((const double *)sums.data)[i] *
            by[i / each]);
    prt_fused_finish_scaled(c, c->in[3], prt_eval_has(c, 4) ? c->in[4] : NULL,
        prt_eval_has(c, 5) ? c->in[5] : NULL, &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_nhwc_quantized_conv = { .infer = infer, .eval = eval };
