/* SPDX-License-Identifier: MIT */
/*
 * causal_conv.c — CausalConvWithState: a causal depthwise convolution of [batch, channels, length].
 * The elements before the first are the state of the previous step (zeros without one). The new
 * state is the end of the old state and the input together.
 */
#include <math.h>

#include "op/share/reals.h"

enum { IN_X, IN_WEIGHT, IN_BIAS, IN_PAST };
enum { OUT_Y, OUT_STATE };

static bool is_silu(const prt_causal_conv_with_state_attrs *a)
{
    return prt_str_is(a->activation, "silu") || prt_str_is(a->activation, "swish");
}

static poprt_status infer(prt_infer *c)
{
    const prt_causal_conv_with_state_attrs *a = c->attrs;
    int64_t batch, channels, unused, kernel = prt_infer_dim(c, IN_WEIGHT, 2);
    if (!is_silu(a) && !prt_str_is(a->activation, "none"))
        return prt_infer_fail(c, POPRT_E_ARG, "activation is \"%.*s\"; accepted: none, silu, swish",
            PRT_STR_ARG(a->activation));
    for (uint32_t i = IN_X; i <= IN_PAST; i++)
        if (i != IN_BIAS)
            PRT_TRY(prt_infer_rank(c, i, 3));
    if (prt_dim_is_number(kernel) && kernel < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the kernel has no elements; at least one is required");
    PRT_TRY(prt_infer_merge(c, 1, prt_infer_dim(c, IN_WEIGHT, 1), "dim 1 of the weight", &unused));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_X, 0), prt_infer_dim(c, IN_PAST, 0), "the batch",
        &batch));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_X, 1), prt_infer_dim(c, IN_WEIGHT, 0),
        "the number of channels", &channels));
    PRT_TRY(prt_infer_merge(c, channels, prt_infer_dim(c, IN_PAST, 1), "the number of channels",
        &channels));
    PRT_TRY(prt_infer_vector(c, IN_BIAS, channels));
    int64_t kept = prt_dim_sub(c->dims, kernel, 1);
    PRT_TRY(
        prt_infer_merge(c, kept, prt_infer_dim(c, IN_PAST, 2), "the length of the state", &kept));
    const int64_t state[3] = { batch, channels, kept };
    const int64_t y[3] = { batch, channels, prt_infer_dim(c, IN_X, 2) };
    PRT_TRY(prt_infer_set(c, OUT_Y, c->in[IN_X].dtype, 3, y));
    return prt_infer_set(c, OUT_STATE, c->in[IN_X].dtype, 3, state);
}

/* Writes the new state: the last `kept` elements of a channel's past (NULL: zeros) and its new
 * elements. */
static void write_state(prt_tensor *to, size_t channel, size_t kept, const prt_tensor *past,
    const prt_tensor *x, size_t length)
{
    /* number of elements kept from the past */
    const size_t old = length < kept ? kept - length : 0;
    if (past != NULL)
        prt_element_copy(to->dtype, to->data, channel * kept, past->data,
            (channel + 1) * kept - old, old);
    else
        for (size_t k = 0; k < old; k++)
            prt_store_f64(to->dtype, to->data, channel * kept + k, 0);
    prt_element_copy(to->dtype, to->data, channel * kept + old, x->data,
        (channel + 1) * length - (kept - old), kept - old);
}

static poprt_status eval(prt_eval *c)
{
    const bool silu = is_silu(c->attrs);
    const prt_tensor *x = c->in[IN_X], *w = c->in[IN_WEIGHT];
    const prt_tensor *bias = prt_eval_has(c, IN_BIAS) ? c->in[IN_BIAS] : NULL;
    const prt_tensor *past = prt_eval_has(c, IN_PAST) ? c->in[IN_PAST] : NULL;
    const size_t channels = (size_t)x->dims[1], length = (size_t)x->dims[2];
    const size_t lines = (size_t)x->dims[0] * channels, kernel = (size_t)w->dims[2];
    const size_t kept = kernel - 1;
    double *row = prt_eval_scratch(c, length + kept, sizeof(double));
    double *taps = prt_eval_scratch(c, kernel, sizeof(double));
    if (row == NULL || taps == NULL)
        return POPRT_E_NOMEM;
    for (size_t line = 0; line < lines; line++) {
        const size_t channel = line % channels;
        if (past != NULL)
            prt_reals_load(past->dtype, past->data, line * kept, 1, kept, row);
        prt_reals_load(x->dtype, x->data, line * length, 1, length, row + kept);
        prt_reals_load(w->dtype, w->data, channel * kernel, 1, kernel, taps);
        PRT_TRY(c->host->check(c));
        for (size_t i = 0; i < length && prt_eval_wants(c, OUT_Y); i++) {
            double sum = bias != NULL ? prt_load_f64(bias->dtype, bias->data, channel) : 0;
            for (size_t k = 0; k < kernel; k++)
                sum += row[i + k] * taps[k];
            prt_store_f64(x->dtype, c->out[OUT_Y]->data, line * length + i,
                silu ? sum / (1 + exp(-sum)) : sum);
        }
        if (prt_eval_wants(c, OUT_STATE))
            write_state(c->out[OUT_STATE], line, kept, past, x, length);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_causal_conv_with_state = { .infer = infer, .eval = eval };
