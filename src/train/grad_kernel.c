/* SPDX-License-Identifier: MIT */
/*
 * grad_kernel.c — gradients that are operators of op/internal/gradients.def, because a formula of
 * ordinary operators would be too slow or is not possible. The regions of RoiAlign and MaxRoiPool
 * get no gradient, as in PopART.
 */
#include "train/terms.h"

/* Sets an attribute of the gradient operator to that of the forward operator. */
#define COPY(id, name) PRT_ATTR_SET(attrs, id, name, a->name)

/* Builds a gradient operator on the op's first `n_in` inputs and the gradients of its first `n_y`
 * outputs. Output k is the gradient of input likes[k]; an absent input has none. */
static poprt_status build(prt_grad *g, uint32_t id, const void *attrs, uint32_t n_in, uint32_t n_y,
    uint32_t n_likes, const uint32_t *likes)
{
    prt_value *in[12];
    PRT_ASSERT(n_in + n_y <= PRT_COUNT_OF(in));
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = prt_grad_x(g, i);
    for (uint32_t i = 0; i < n_y; i++)
        in[n_in + i] = i < g->op->n_out ? g->out[i] : NULL;
    const prt_op *op = prt_build_op_n(g->b, id, attrs, n_in + n_y, in, n_likes);
    for (uint32_t k = 0; op != NULL && k < n_likes; k++)
        if (prt_grad_x(g, likes[k]) != NULL)
            PRT_TRY(prt_grad_set(g, likes[k], &op->out[k]));
    return g->b->status;
}

static const uint32_t first_input[1] = { 0 };

poprt_status prt_grad_max_pool(prt_grad *g)
{
    const prt_max_pool_attrs *a = g->op->attrs;
    prt_max_pool_grad_attrs attrs = PRT_ATTRS_OF(max_pool_grad);
    COPY(max_pool_grad, kernel_shape);
    COPY(max_pool_grad, strides);
    COPY(max_pool_grad, dilations);
    COPY(max_pool_grad, pads);
    COPY(max_pool_grad, auto_pad);
    COPY(max_pool_grad, ceil_mode);
    return build(g, PRT_OP_max_pool_grad, &attrs, 1, 1, 1, first_input);
}

poprt_status prt_grad_roi_align(prt_grad *g)
{
    const prt_roi_align_attrs *a = g->op->attrs;
    prt_roi_align_grad_attrs attrs = PRT_ATTRS_OF(roi_align_grad);
    COPY(roi_align_grad, coordinate_transformation_mode);
    COPY(roi_align_grad, mode);
    COPY(roi_align_grad, output_height);
    COPY(roi_align_grad, output_width);
    COPY(roi_align_grad, sampling_ratio);
    COPY(roi_align_grad, spatial_scale);
    return build(g, PRT_OP_roi_align_grad, &attrs, 3, 1, 1, first_input);
}

poprt_status prt_grad_max_roi_pool(prt_grad *g)
{
    const prt_max_roi_pool_attrs *a = g->op->attrs;
    prt_max_roi_pool_grad_attrs attrs = PRT_ATTRS_OF(max_roi_pool_grad);
    COPY(max_roi_pool_grad, spatial_scale);
    COPY(max_roi_pool_grad, pooled_shape);
    return build(g, PRT_OP_max_roi_pool_grad, &attrs, 2, 1, 1, first_input);
}

poprt_status prt_grad_resize(prt_grad *g)
{
    const prt_resize_attrs *a = g->op->attrs;
    prt_resize_grad_attrs attrs = PRT_ATTRS_OF(resize_grad);
    COPY(resize_grad, keep_aspect_ratio_policy);
    COPY(resize_grad, axes);
    COPY(resize_grad, antialias);
    COPY(resize_grad, exclude_outside);
    COPY(resize_grad, nearest_mode);
    COPY(resize_grad, coordinate_transformation_mode);
    COPY(resize_grad, cubic_coeff_a);
    COPY(resize_grad, mode);
    if (g->op->n_in > 1 && g->wanted[1])
        return prt_grad_refuse(g, "not supported with respect to the region of interest");
    return build(g, PRT_OP_resize_grad, &attrs, 4, 1, 1, first_input);
}

poprt_status prt_grad_grid_sample(prt_grad *g)
{
    static const uint32_t likes[2] = { 0, 1 };
    const prt_grid_sample_attrs *a = g->op->attrs;
    prt_grid_sample_grad_attrs attrs = PRT_ATTRS_OF(grid_sample_grad);
    COPY(grid_sample_grad, align_corners);
    COPY(grid_sample_grad, padding_mode);
    COPY(grid_sample_grad, mode);
    return build(g, PRT_OP_grid_sample_grad, &attrs, 2, 1, 2, likes);
}

poprt_status prt_grad_deform_conv(prt_grad *g)
{
    static const uint32_t likes[4] = { 0, 1, 2, 4 };
    const prt_deform_conv_attrs *a = g->op->attrs;
    prt_deform_conv_grad_attrs attrs = PRT_ATTRS_OF(deform_conv_grad);
    COPY(deform_conv_grad, strides);
    COPY(deform_conv_grad, pads);
    COPY(deform_conv_grad, offset_group);
    COPY(deform_conv_grad, kernel_shape);
    COPY(deform_conv_grad, group);
    COPY(deform_conv_grad, dilations);
    PRT_TRY(build(g, PRT_OP_deform_conv_grad, &attrs, 5, 1, 4, likes));
    return prt_grad_set_bias(g, 3, g->out[0]);
}

poprt_status prt_grad_cum_prod(prt_grad *g)
{
    const prt_cum_prod_attrs *a = g->op->attrs;
    prt_cum_prod_grad_attrs attrs = PRT_ATTRS_OF(cum_prod_grad);
    COPY(cum_prod_grad, reverse);
    COPY(cum_prod_grad, exclusive);
    return build(g, PRT_OP_cum_prod_grad, &attrs, 2, 1, 1, first_input);
}

poprt_status prt_grad_det(prt_grad *g)
{
    return build(g, PRT_OP_det_grad, NULL, 1, 1, 1, first_input);
}

/* ---- recurrent operators */

static const uint32_t recurrent_inputs[7] = { 0, 1, 2, 3, 5, 6, 7 };

#define COPY_RECURRENT(id)                                                                         \
    do {                                                                                           \
        COPY(id, clip);                                                                            \
        COPY(id, activation_alpha);                                                                \
        COPY(id, activation_beta);                                                                 \
        COPY(id, hidden_size);                                                                     \
        COPY(id, layout);                                                                          \
        COPY(id, direction);                                                                       \
        COPY(id, activations);                                                                     \
    } while (0)

poprt_status prt_grad_rnn(prt_grad *g)
{
    const prt_rnn_attrs *a = g->op->attrs;
    prt_rnn_grad_attrs attrs = PRT_ATTRS_OF(rnn_grad);
    COPY_RECURRENT(rnn_grad);
    return build(g, PRT_OP_rnn_grad, &attrs, 6, 2, 5, recurrent_inputs);
}

poprt_status prt_grad_gru(prt_grad *g)
{
    const prt_gru_attrs *a = g->op->attrs;
    prt_gru_grad_attrs attrs = PRT_ATTRS_OF(gru_grad);
    COPY_RECURRENT(gru_grad);
    COPY(gru_grad, linear_before_reset);
    return build(g, PRT_OP_gru_grad, &attrs, 6, 2, 5, recurrent_inputs);
}

poprt_status prt_grad_lstm(prt_grad *g)
{
    const prt_lstm_attrs *a = g->op->attrs;
    prt_lstm_grad_attrs attrs = PRT_ATTRS_OF(lstm_grad);
    COPY_RECURRENT(lstm_grad);
    COPY(lstm_grad, input_forget);
    return build(g, PRT_OP_lstm_grad, &attrs, 8, 3, 7, recurrent_inputs);
}
