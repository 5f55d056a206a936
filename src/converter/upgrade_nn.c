/* SPDX-License-Identifier: MIT */
/*
 * upgrade_nn.c — upgrades neural-network operators: softmax over several dims, non-integer powers,
 * resampling without a coordinate mode, and names that changed.
 */
#include <math.h>

#include "converter/conversions.h"

enum { KIND_FLOATS = 6 }; /* AttributeProto.AttributeType */

static bool given(const prt_upgrade *u, const char *name)
{
    const uint32_t i = prt_op_attr(u->op->def, prt_str_of(name));
    return i != UINT32_MAX && prt_attr_given(u->op->attrs, i);
}

poprt_status prt_up_consumed_input(prt_upgrade *u)
{
    (void)prt_upgrade_attr(u, "consumed_inputs");
    return POPRT_OK;
}

/* ---- Softmax, LogSoftmax, Hardmax ---- */

/* If `axis` is the last one, the old and the new meaning agree. */
static bool is_last(const prt_type *type, int64_t axis)
{
    if (axis < 0)
        axis += type->rank;
    return axis == type->rank - 1;
}

poprt_status prt_up_flat_softmax(prt_upgrade *u)
{
    prt_op *op = u->op;
    prt_softmax_attrs *a = op->attrs; /* the three structs have the same layout */
    const int64_t axis = given(u, "axis") ? a->axis : 1;
    prt_value *x = prt_op_input(op, 0);
    const prt_type *type = prt_upgrade_ranked(x);
    a->axis = -1;
    a->present |= 1;
    if (type != NULL && is_last(type, axis))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    const prt_flatten_attrs flat = { .axis = axis };
    prt_value *rows = prt_build_op(&b, PRT_OP_flatten, &flat, 1, &x);
    prt_value *y = prt_build_op(&b, op->def->id, a, 1, &rows);
    return prt_upgrade_become_reshape(u, &b, y, x);
}

/* ---- attributes that were removed or changed their type ---- */

/* C was broadcast only on request; otherwise its shape is that of the result. */
poprt_status prt_up_gemm(prt_upgrade *u)
{
    (void)prt_upgrade_attr(u, "broadcast");
    return POPRT_OK;
}

poprt_status prt_up_output_sequence(prt_upgrade *u)
{
    (void)prt_upgrade_attr(u, "output_sequence");
    return POPRT_OK;
}

/* Computes the mean of |x|^p by window, times the number of elements, to the power of 1 / p. */
static poprt_status any_power(prt_upgrade *u, float p)
{
    prt_op *op = u->op;
    prt_value *x = prt_op_input(op, 0), *sum;
    const prt_type *type = prt_upgrade_ranked(x);
    int64_t axes[PRT_MAX_RANK];
    double count = 1;
    if (type == NULL || type->rank > PRT_MAX_RANK)
        return prt_upgrade_refuse(u, POPRT_E_UNSUPPORTED,
            "a p that is not an integer needs a known rank");
    prt_build b = prt_build_before(op);
    prt_value *power = prt_build_scalar(&b, type->dtype, (double)p);
    x = prt_build_binary(&b, PRT_OP_pow, prt_build_unary(&b, PRT_OP_abs, x), power);
    if (prt_op_is(op, PRT_OP_lp_pool)) {
        const prt_lp_pool_attrs *a = op->attrs;
        const prt_average_pool_attrs mean = { .count_include_pad = 1,
            .pads = a->pads,
            .auto_pad = a->auto_pad,
            .strides = a->strides,
            .kernel_shape = a->kernel_shape };
        for (uint32_t i = 0; i < a->kernel_shape.count; i++)
            count *= (double)a->kernel_shape.data[i];
        sum = prt_build_op(&b, PRT_OP_average_pool, &mean, 1, &x);
        sum = prt_build_binary(&b, PRT_OP_mul, sum, prt_build_scalar(&b, type->dtype, count));
    } else {
        for (int32_t i = 2; i < type->rank; i++)
            axes[i - 2] = i;
        const uint32_t n = type->rank > 2 ? (uint32_t)type->rank - 2 : 0;
        sum = prt_build_binary(&b, PRT_OP_reduce_sum, x, prt_build_i64s(&b, n, axes));
    }
    prt_value *root = prt_build_scalar(&b, type->dtype, 1.0 / (double)p);
    PRT_TRY(prt_build_status(&b));
    PRT_TRY(prt_upgrade_become(u, PRT_OP_pow));
    prt_op_set_input(op, 0, sum);
    return prt_op_add_input(op, root);
}

poprt_status prt_up_real_p(prt_upgrade *u)
{
    if (given(u, "p"))
        return POPRT_OK;
    const float p = prt_upgrade_f32(u, "p", 2.0f);
    if (!(p > 0.0f && p <= 1e6f))
        return prt_upgrade_refuse(u, POPRT_E_ARG, "p must be positive");
    if (p != floorf(p))
        return any_power(u, p);
    if (prt_op_is(u->op, PRT_OP_lp_pool))
        PRT_UPGRADE_SET(u, lp_pool, p, (int64_t)p);
    else
        PRT_UPGRADE_SET(u, global_lp_pool, p, (int64_t)p);
    return POPRT_OK;
}

poprt_status prt_up_grid_sample(prt_upgrade *u)
{
    const prt_grid_sample_attrs *a = u->op->attrs;
    if (prt_str_is(a->mode, "bilinear"))
        PRT_UPGRADE_SET(u, grid_sample, mode, "linear", 6);
    else if (prt_str_is(a->mode, "bicubic"))
        PRT_UPGRADE_SET(u, grid_sample, mode, "cubic", 5);
    return POPRT_OK;
}

poprt_status prt_up_roi_align(prt_upgrade *u)
{
    PRT_UPGRADE_SET(u, roi_align, coordinate_transformation_mode, "output_half_pixel", 17);
    return POPRT_OK;
}

/* ---- Upsample and the first Resize ---- */

/* Output i is input i / scale, rounded down, or rounded up if all dims shrink. */
poprt_status prt_up_resize(prt_upgrade *u)
{
    const prt_resize_attrs *a = u->op->attrs;
    prt_value *scales = prt_op_input(u->op, 1);
    prt_tensor known;
    bool shrinks = false, grows = true;
    if (prt_str_is(a->mode, "bilinear"))
        PRT_UPGRADE_SET(u, resize, mode, "linear", 6);
    if (scales != NULL && prt_value_tensor(scales, &known) && known.dtype == PRT_DTYPE_f32) {
        const float *s = known.data;
        grows = false;
        for (size_t i = 0; i < prt_tensor_count(&known); i++) {
            grows = grows || s[i] > 1.0f;
            shrinks = shrinks || s[i] < 1.0f;
        }
    }
    PRT_UPGRADE_SET(u, resize, coordinate_transformation_mode, "asymmetric", 10);
    if (shrinks && !grows)
        PRT_UPGRADE_SET(u, resize, nearest_mode, "ceil", 4);
    else
        PRT_UPGRADE_SET(u, resize, nearest_mode, "floor", 5);
    while (u->op->n_in < 3)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 1, NULL);
    prt_op_set_input(u->op, 2, scales);
    return POPRT_OK;
}

/* The scales were attributes, first of height and width, then of all dims, and then became an
 * input. */
poprt_status prt_up_upsample(prt_upgrade *u)
{
    const prt_node_attr *list = prt_upgrade_attr(u, "scales");
    const float height = prt_upgrade_f32(u, "height_scale", 0.0f);
    const float width = prt_upgrade_f32(u, "width_scale", 0.0f);
    const float image[4] = { 1.0f, 1.0f, height, width };
    prt_build b = prt_build_before(u->op);
    prt_value *scales = prt_op_input(u->op, 1);
    int64_t count = 4;
    if (list != NULL && list->kind == KIND_FLOATS) {
        count = list->floats.count;
        scales = prt_build_tensor(&b, PRT_DTYPE_f32, 1, &count, list->floats.data);
    } else if (height > 0.0f && width > 0.0f) {
        scales = prt_build_tensor(&b, PRT_DTYPE_f32, 1, &count, image);
    }
    PRT_TRY(prt_build_status(&b));
    if (scales == NULL)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "scales are missing");
    PRT_TRY(prt_upgrade_become(u, PRT_OP_resize)); /* the next row upgrades its first variant */
    if (u->op->n_in < 2)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 1, scales);
    return POPRT_OK;
}
