/* SPDX-License-Identifier: MIT */
/*
 * q_conv.c — QLinearConv of com.microsoft, which may be channels last; channels first, it is the
 * ONNX operator and is computed by it.
 */
#include "op/share/channels.h"

enum { INPUTS = 9 };

static prt_qlinear_conv_attrs conv_attrs(const prt_ms_qlinear_conv_attrs *a)
{
    return (prt_qlinear_conv_attrs){ .group = a->group,
        .pads = a->pads,
        .strides = a->strides,
        .dilations = a->dilations,
        .kernel_shape = a->kernel_shape,
        .auto_pad = a->auto_pad };
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_qlinear_conv_attrs *a = c->attrs;
    const prt_qlinear_conv_attrs attrs = conv_attrs(a);
    prt_shape in[INPUTS], y;
    memcpy(in, c->in, c->n_in * sizeof(prt_shape));
    if (a->channels_last != 0)
        prt_channels_first(&in[0]);
    PRT_TRY(prt_delegate_infer(c, PRT_OP_qlinear_conv, &attrs, c->n_in, in, NULL, 1, &y));
    if (a->channels_last != 0)
        prt_channels_last(&y);
    return prt_infer_set(c, 0, c->in[7].dtype, y.rank, y.dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_qlinear_conv_attrs *a = c->attrs;
    const prt_qlinear_conv_attrs attrs = conv_attrs(a);
    const prt_tensor *in[INPUTS];
    prt_tensor x, y;
    prt_tensor *out[] = { &y };
    prt_shape shape;
    if (a->channels_last == 0)
        return prt_delegate_eval(c, PRT_OP_qlinear_conv, &attrs, c->n_in, c->in, 1, c->out);
    memcpy(in, c->in, c->n_in * sizeof(in[0]));
    PRT_TRY(prt_channels_to_first(c, c->in[0], &x));
    in[0] = &x;
    prt_shape_of_tensor(c->out[0], &shape);
    prt_channels_first(&shape);
    PRT_TRY(prt_delegate_tensor(c, c->out[0]->dtype, c->out[0]->rank, shape.dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_qlinear_conv, &attrs, c->n_in, in, 1, out));
    return prt_channels_to_last(c, &y, c->out[0]);
}

const prt_op_hooks prt_op_ms_qlinear_conv = { .infer = infer, .eval = eval };
