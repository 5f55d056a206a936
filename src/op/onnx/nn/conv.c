/* SPDX-License-Identifier: MIT */
/* conv.c — Conv, ConvInteger and QLinearConv. Sums of 8-bit products are exact in double. */
#include "op/share/conv_core.h"
#include "op/share/quant.h"

static const prt_conv_slots CONV_SLOTS = { 0, 1, 2 };
static const prt_conv_slots INTEGER_SLOTS = { 0, 1, UINT32_MAX };
static const prt_conv_slots QLINEAR_SLOTS = { 0, 3, 8 };

static poprt_status infer(prt_infer *c)
{
    const prt_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    return prt_conv_infer(c, CONV_SLOTS, &spec, a->group, c->in[0].dtype);
}

static poprt_status eval(prt_eval *c)
{
    const prt_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_conv v;
    PRT_TRY(prt_conv_init(c, &v, CONV_SLOTS, &spec, a->group, NULL));
    return prt_conv_run(c, &v);
}

const prt_op_hooks prt_op_conv = { .infer = infer, .eval = eval };

/* Checks a scale or zero point: one number or, if `each`, a vector with one per filter. */
static poprt_status check_scale(const prt_infer *c, uint32_t i, bool each, uint32_t weights)
{
    if (!prt_infer_ranked(c, i) || c->in[i].rank == 0)
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, 1));
    if (prt_dim_is_number(c->in[i].dims[0]) && c->in[i].dims[0] == 1)
        return POPRT_OK;
    return prt_infer_vector(c, i, each ? prt_infer_dim(c, weights, 0) : 1);
}

/* ---- ConvInteger ---- */

static poprt_status infer_integer(prt_infer *c)
{
    const prt_conv_integer_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    PRT_TRY(check_scale(c, 2, false, 1));
    PRT_TRY(check_scale(c, 3, true, 1));
    return prt_conv_infer(c, INTEGER_SLOTS, &spec, a->group, PRT_DTYPE_i32);
}

static void store_integer(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums)
{
    for (size_t j = 0; j < count; j++)
        prt_store_i64(PRT_DTYPE_i32, v->y->data, prt_conv_at(v, n, filter, first + j),
            (int64_t)sums[j]);
}

static poprt_status eval_integer(prt_eval *c)
{
    const prt_conv_integer_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_conv v;
    PRT_TRY(
        prt_conv_init(c, &v, INTEGER_SLOTS, &spec, a->group, prt_eval_has(c, 3) ? c->in[3] : NULL));
    v.zero = prt_quant_number(c, 2, 0);
    v.store = store_integer;
    return prt_conv_run(c, &v);
}

const prt_op_hooks prt_op_conv_integer = { .infer = infer_integer, .eval = eval_integer };

/* ---- QLinearConv ---- */

static poprt_status infer_qlinear(prt_infer *c)
{
    const prt_qlinear_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    for (uint32_t i = 1; i < 8; i++)
        if (i != 3)
            PRT_TRY(check_scale(c, i, i == 4 || i == 5, 3));
    return prt_conv_infer(c, QLINEAR_SLOTS, &spec, a->group, c->in[7].dtype);
}

typedef struct requantize {
    double input, output, zero; /* scales, and the output zero point */
    const prt_tensor *weights;  /* scales of the weights */
} requantize;

static void store_qlinear(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums)
{
    const requantize *q = v->user;
    double scale;
    prt_reals_load(PRT_DTYPE_f32, q->weights->data, prt_tensor_count(q->weights) != 1 ? filter : 0,
        1, 1, &scale);
    scale = q->input * scale / q->output;
    for (size_t j = 0; j < count; j++) {
        const double sum = v->bias != NULL ? sums[j] + v->bias[filter] : sums[j];
        prt_quant_store(v->y->dtype, v->y->data, prt_conv_at(v, n, filter, first + j), sum * scale,
            q->zero);
    }
}

static poprt_status eval_qlinear(prt_eval *c)
{
    const prt_qlinear_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    const requantize q = { .input = prt_quant_number(c, 1, 0),
        .output = prt_quant_number(c, 6, 0),
        .zero = prt_quant_number(c, 7, 0),
        .weights = c->in[4] };
    prt_conv v;
    PRT_TRY(prt_conv_init(c, &v, QLINEAR_SLOTS, &spec, a->group, c->in[5]));
    v.zero = prt_quant_number(c, 2, 0);
    v.store = store_qlinear;
    v.user = &q;
    return prt_conv_run(c, &v);
}

const prt_op_hooks prt_op_qlinear_conv = { .infer = infer_qlinear, .eval = eval_qlinear };
