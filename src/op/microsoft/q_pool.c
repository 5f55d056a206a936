/* SPDX-License-Identifier: MIT */
/*
 * q_pool.c — QLinearAveragePool and QLinearGlobalAveragePool: quantised means of quantised images,
 * channels first or last.
 */
#include "op/share/channels.h"
#include "op/share/quant.h"

static prt_average_pool_attrs pool_attrs(const prt_ms_qlinear_average_pool_attrs *a)
{
    prt_average_pool_attrs to =
        *(const prt_average_pool_attrs *)prt_op_of(PRT_OP_average_pool)->defaults;
    to.count_include_pad = a->count_include_pad;
    to.ceil_mode = a->ceil_mode;
    to.pads = a->pads;
    to.auto_pad = a->auto_pad;
    to.strides = a->strides;
    to.kernel_shape = a->kernel_shape;
    return to;
}

static poprt_status infer(prt_infer *c, uint32_t id, const void *attrs, bool last)
{
    prt_shape x = c->in[0], y;
    PRT_TRY(prt_quant_check(c, 1));
    PRT_TRY(prt_quant_check(c, 3));
    if (last)
        prt_channels_first(&x);
    PRT_TRY(prt_delegate_infer(c, id, attrs, 1, &x, NULL, 1, &y));
    if (last)
        prt_channels_last(&y);
    return prt_infer_set(c, 0, c->in[0].dtype, y.rank, y.dims);
}

static poprt_status eval(prt_eval *c, uint32_t id, const void *attrs, bool last)
{
    prt_tensor x, transposed, y, back;
    const prt_tensor *in[] = { &x };
    prt_tensor *out[] = { &y };
    prt_shape shape;
    prt_shape_of_tensor(c->out[0], &shape);
    PRT_TRY(prt_quant_dequantize_input(c, 0, &x));
    if (last) {
        prt_channels_first(&shape);
        PRT_TRY(prt_channels_to_first(c, &x, &transposed));
        x = transposed;
    }
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, shape.dims, &y));
    PRT_TRY(prt_delegate_eval(c, id, attrs, 1, in, 1, out));
    if (last) {
        PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x.rank, c->out[0]->dims, &back));
        PRT_TRY(prt_channels_to_last(c, &y, &back));
        y = back;
    }
    prt_quant_quantize_output(c, &y, 3);
    return POPRT_OK;
}

static poprt_status infer_average(prt_infer *c)
{
    const prt_ms_qlinear_average_pool_attrs *a = c->attrs;
    const prt_average_pool_attrs attrs = pool_attrs(a);
    return infer(c, PRT_OP_average_pool, &attrs, a->channels_last != 0);
}

static poprt_status eval_average(prt_eval *c)
{
    const prt_ms_qlinear_average_pool_attrs *a = c->attrs;
    const prt_average_pool_attrs attrs = pool_attrs(a);
    return eval(c, PRT_OP_average_pool, &attrs, a->channels_last != 0);
}

const prt_op_hooks prt_op_ms_qlinear_average_pool = { .infer = infer_average,
    .eval = eval_average };

static poprt_status infer_global(prt_infer *c)
{
    const prt_ms_qlinear_global_average_pool_attrs *a = c->attrs;
    return infer(c, PRT_OP_global_average_pool, NULL, a->channels_last != 0);
}

static poprt_status eval_global(prt_eval *c)
{
    const prt_ms_qlinear_global_average_pool_attrs *a = c->attrs;
    return eval(c, PRT_OP_global_average_pool, NULL, a->channels_last != 0);
}

const prt_op_hooks prt_op_ms_qlinear_global_average_pool = { .infer = infer_global,
    .eval = eval_global };
