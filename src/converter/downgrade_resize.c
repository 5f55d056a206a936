/* SPDX-License-Identifier: MIT */
/*
 * downgrade_resize.c — downgrades Resize: to inputs that are required, to the coordinates i /
 * scale, and to Upsample.
 */
#include <math.h>

#include "converter/downgrade.h"
#include "converter/conversions.h"

static bool is_empty(const prt_value *v)
{
    uint64_t count;
    return v == NULL || (prt_type_count(v->type, &count) && count == 0);
}

poprt_status prt_down_resize_modes(prt_downgrade *d)
{
    const prt_resize_attrs *a = d->op->attrs;
    if (prt_str_is(a->coordinate_transformation_mode, "half_pixel_symmetric"))
        return prt_down_refuse(d, "the mode 'half_pixel_symmetric' does not exist at that opset");
    if (prt_op_input(d->op, 3) != NULL && !is_empty(prt_op_input(d->op, 3)) &&
        !prt_str_is(a->keep_aspect_ratio_policy, "stretch") && d->target < 18)
        return prt_down_refuse(d, "keep_aspect_ratio_policy does not exist at that opset");
    return POPRT_OK;
}

/* Extends scales or sizes of some axes to all axes; the other axes keep their size. */
static poprt_status extend_to_all_axes(prt_downgrade *d, uint32_t slot, const int64_t *axes,
    const prt_type *x)
{
    prt_op *op = d->op;
    const uint32_t count = ((const prt_resize_attrs *)op->attrs)->axes.count;
    const int64_t rank = x->rank;
    float ones[PRT_MAX_RANK];
    if (is_empty(prt_op_input(op, slot)))
        return POPRT_OK;
    for (int64_t i = 0; i < rank; i++)
        ones[i] = 1.0f;
    prt_build b = prt_build_before(op);
    prt_value *whole = slot == 2 ? prt_build_tensor(&b, PRT_DTYPE_f32, 1, &rank, ones)
                                 : prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, 0));
    prt_value *all = prt_down_write_at(&b, whole, count, axes, prt_op_input(op, slot));
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, slot, all);
    return POPRT_OK;
}

/* Like `extend_to_all_axes` for constant scales or sizes, so that older variants can have them as
 * attributes. */
static poprt_status extend_constant(prt_downgrade *d, uint32_t slot, const int64_t *axes,
    const prt_type *x)
{
    prt_op *op = d->op;
    const uint32_t count = ((const prt_resize_attrs *)op->attrs)->axes.count;
    prt_tensor t;
    float scales[PRT_MAX_RANK];
    int64_t sizes[PRT_MAX_RANK];
    const int64_t rank = x->rank;
    const prt_value *v = prt_op_input(op, slot);
    if (is_empty(v))
        return POPRT_OK;
    bool known =
        prt_value_is_constant(v) && prt_value_tensor(v, &t) && prt_tensor_count(&t) == count;
    for (int64_t i = 0; i < rank; i++) {
        scales[i] = 1.0f;
        sizes[i] = x->dims[i];
        known = known && (slot == 2 || prt_dim_is_number(sizes[i]));
    }
    if (!known)
        return extend_to_all_axes(d, slot, axes, x);
    for (uint32_t i = 0; i < count; i++)
        if (slot == 2)
            scales[axes[i]] = (float)prt_load_f64(t.dtype, t.data, i);
        else
            sizes[axes[i]] = prt_load_i64(t.dtype, t.data, i);
    prt_build b = prt_build_before(op);
    prt_value *all = slot == 2 ? prt_build_tensor(&b, PRT_DTYPE_f32, 1, &rank, scales)
                               : prt_build_i64s(&b, (uint32_t)rank, sizes);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, slot, all);
    return POPRT_OK;
}

poprt_status prt_down_resize_axes(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_resize_attrs *a = op->attrs;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    if (a->axes.count == 0)
        return POPRT_OK;
    if (x == NULL)
        return prt_down_refuse(d,
            "scales and sizes are of all axes at that opset, so its rank must be known");
    if (!is_empty(prt_op_input(op, 1)))
        return prt_down_refuse(d, "the region of interest must have all axes at that opset");
    int64_t axes[PRT_MAX_RANK];
    if (a->axes.count > PRT_MAX_RANK)
        return prt_down_refuse(d, "it has more axes than its rank");
    for (uint32_t i = 0; i < a->axes.count; i++) {
        if (!prt_down_axis_of(a->axes.data[i], x->rank, &axes[i]))
            return prt_down_refuse(d, "an axis is out of range for its rank");
    }
    PRT_TRY(extend_constant(d, 2, axes, x));
    PRT_TRY(extend_constant(d, 3, axes, x));
    prt_down_reset_attr(op, "axes");
    return POPRT_OK;
}

/* The region and the scales are required, but may be empty. */
poprt_status prt_down_resize_inputs(prt_downgrade *d)
{
    const int64_t none = 0;
    for (uint32_t slot = 1; slot < 3; slot++) {
        if (prt_op_input(d->op, slot) != NULL)
            continue;
        prt_build b = prt_build_before(d->op);
        prt_value *empty = prt_build_tensor(&b, PRT_DTYPE_f32, 1, &none, "");
        PRT_TRY(prt_build_status(&b));
        PRT_TRY(prt_down_set_input(d->op, slot, empty));
    }
    return POPRT_OK;
}

/* ---- before opset 11: output i is input i / scale, rounded down ---- */

/* Reads the scales from a constant, or computes them from static shapes; false if they are
 * unknown. */
static bool find_scales(const prt_op *op, uint32_t rank, float *scales)
{
    prt_tensor t;
    const prt_type *x = prt_down_static(prt_op_input(op, 0)), *y = prt_down_static(&op->out[0]);
    const prt_value *given = prt_op_input(op, 2);
    if (!is_empty(given)) {
        if (!prt_value_is_constant(given) || !prt_value_tensor(given, &t) ||
            prt_tensor_count(&t) != rank)
            return false;
        for (uint32_t i = 0; i < rank; i++)
            scales[i] = (float)prt_load_f64(t.dtype, t.data, i);
        return true;
    }
    if (x == NULL || y == NULL)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        scales[i] = x->dims[i] > 0 ? (float)y->dims[i] / (float)x->dims[i] : 1.0f;
        if (floorf((float)x->dims[i] * scales[i]) != (float)y->dims[i])
            return false;
    }
    return true;
}

/* Returns whether every output element equals the one at i / scale rounded down. An integer scale
 * repeats each input that many times in every mode that rounds to the nearest element. */
static bool rounds_down(const prt_resize_attrs *a, uint32_t rank, const float *scales)
{
    const bool plain = prt_str_is(a->coordinate_transformation_mode, "asymmetric");
    const bool half = prt_str_is(a->coordinate_transformation_mode, "half_pixel") &&
        (prt_str_is(a->nearest_mode, "round_prefer_floor") ||
            prt_str_is(a->nearest_mode, "round_prefer_ceil"));
    if (prt_str_is(a->mode, "linear")) {
        for (uint32_t i = 0; i < rank; i++)
            if (scales[i] != 1.0f && !plain)
                return false;
        return true;
    }
    if (!prt_str_is(a->mode, "nearest"))
        return false;
    bool shrinks = false, grows = false;
    for (uint32_t i = 0; i < rank; i++) {
        if (scales[i] != 1.0f && !(plain && prt_str_is(a->nearest_mode, "floor")) &&
            !(half && scales[i] > 1.0f && scales[i] == floorf(scales[i])))
            return false;
        shrinks = shrinks || scales[i] < 1.0f;
        grows = grows || scales[i] > 1.0f;
    }
    return !shrinks || grows;
}

/* Checks the op and returns its scales and its rank; fails if the older variants cannot express
 * it. */
static poprt_status to_scales(prt_downgrade *d, float *scales, uint32_t *rank)
{
    prt_op *op = d->op;
    const prt_resize_attrs *a = op->attrs;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    if (x == NULL || a->axes.count != 0 || a->antialias != 0 || a->exclude_outside != 0)
        return prt_down_refuse(d,
            "its rank is not known, or it has options that do not exist at that opset");
    *rank = (uint32_t)x->rank;
    if (!find_scales(op, *rank, scales))
        return prt_down_refuse(d, "Resize takes only scales at that opset, so these must be known");
    if (!rounds_down(a, *rank, scales))
        return prt_down_refuse(d,
            "at that opset output i is input i / scale, rounded down or interpolated");
    return POPRT_OK;
}

/* Scales known only at run time stay an input if the older variant interprets any scale the same
 * way. */
static bool keeps_scales(const prt_op *op)
{
    const prt_resize_attrs *a = op->attrs;
    const prt_value *given = prt_op_input(op, 2);
    return !is_empty(given) && given->constant == NULL && a->axes.count == 0 && a->antialias == 0 &&
        a->exclude_outside == 0 && prt_str_is(a->coordinate_transformation_mode, "asymmetric") &&
        (prt_str_is(a->mode, "linear") ||
            (prt_str_is(a->mode, "nearest") && prt_str_is(a->nearest_mode, "floor")));
}

static poprt_status move_scales(prt_downgrade *d)
{
    prt_value *scales = prt_op_input(d->op, 2);
    prt_down_keep_inputs(d->op, 1);
    return prt_down_set_input(d->op, 1, scales);
}

static poprt_status set_scales(prt_downgrade *d, const float *scales, uint32_t rank)
{
    const int64_t count = rank;
    prt_build b = prt_build_before(d->op);
    prt_value *list = prt_build_tensor(&b, PRT_DTYPE_f32, 1, &count, scales);
    PRT_TRY(prt_build_status(&b));
    prt_down_keep_inputs(d->op, 1);
    return prt_down_set_input(d->op, 1, list);
}

poprt_status prt_down_resize_scales(prt_downgrade *d)
{
    static const char *const hidden[] = { "coordinate_transformation_mode", "nearest_mode",
        "cubic_coeff_a", "extrapolation_value" };
    float scales[PRT_MAX_RANK];
    uint32_t rank = 0;
    const bool keeps = keeps_scales(d->op);
    if (!keeps)
        PRT_TRY(to_scales(d, scales, &rank));
    for (size_t i = 0; i < PRT_COUNT_OF(hidden); i++)
        prt_down_reset_attr(d->op, hidden[i]);
    return keeps ? move_scales(d) : set_scales(d, scales, rank);
}

/* Upsample has scales of height and width up to opset 6, then of all dims, and takes them as an
 * input from opset 9 on. They must not be below 1. */
poprt_status prt_down_upsample(prt_downgrade *d)
{
    prt_op *op = d->op;
    float scales[PRT_MAX_RANK];
    uint32_t rank = 0;
    if (d->target >= 10)
        return prt_down_refuse(d, "Upsample does not exist at that opset");
    const bool linear = prt_str_is(((const prt_resize_attrs *)op->attrs)->mode, "linear");
    const bool keeps = d->target >= 9 && keeps_scales(op);
    if (!keeps)
        PRT_TRY(to_scales(d, scales, &rank));
    for (uint32_t i = 0; i < rank; i++)
        if (scales[i] < 1.0f)
            return prt_down_refuse(d, "Upsample takes only scales of at least 1");
    if (d->target < 7 && (rank != 4 || scales[0] != 1.0f || scales[1] != 1.0f))
        return prt_down_refuse(d,
            "Upsample scales only height and width of rank-4 images at that opset");
    prt_down_rename(d, "Upsample");
    PRT_TRY(prt_down_add_text(d, "mode",
        linear && d->target < 7 ? "bilinear"
            : linear            ? "linear"
                                : "nearest"));
    if (d->target >= 9)
        return keeps ? move_scales(d) : set_scales(d, scales, rank);
    prt_down_keep_inputs(op, 1);
    if (d->target >= 7)
        return prt_down_add_floats(d, "scales", rank, scales);
    PRT_TRY(prt_down_add_float(d, "height_scale", scales[2]));
    return prt_down_add_float(d, "width_scale", scales[3]);
}
