/* SPDX-License-Identifier: MIT */
/*
 * upgrade_experimental.c — replaces the operators that were experimental in ai.onnx by others.
 * Where ONNX's schema leaves open which attributes are required, the check is that of ONNX Runtime.
 */
#include "converter/conversions.h"
#include "converter/onnx_raw.h"

/* Axes of an image [N, C, H, W]. */
enum { CHANNELS = 1, ROWS = 2, COLUMNS = 3, IMAGE_RANK = 4 };

/* Fails if a node has no input 0, or an attribute that its operator does not have. `accepted` names
 * the valid attributes, which the caller has taken. */
static poprt_status check(const prt_upgrade *u, const char *accepted)
{
    if (prt_op_input(u->op, 0) == NULL)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "input 0 is missing");
    return prt_upgrade_check_taken(u, 9, accepted);
}

/* Fails if the rank of input 0 is known and is not that of an image. */
static poprt_status check_image(const prt_upgrade *u)
{
    const prt_type *type = prt_upgrade_ranked(prt_op_input(u->op, 0));
    return type == NULL || type->rank == IMAGE_RANK
        ? POPRT_OK
        : prt_upgrade_refuse(u, POPRT_E_SHAPE, "needs an input [N, C, H, W]");
}

/* Returns the numbers as a constant of the element type of `like`: a scalar, or for `count` above 0
 * a tensor [count, 1, 1]. */
static prt_value *numbers_like(prt_build *b, prt_value *like, uint32_t count, const float *values)
{
    const int64_t dims[3] = { count, 1, 1 };
    prt_value *v = prt_build_tensor(b, PRT_DTYPE_f32, count != 0 ? 3 : 0, dims, values);
    const bool single = prt_type_is_tensor(like->type) && like->type->dtype == PRT_DTYPE_f32;
    return single ? v : prt_build_binary(b, PRT_OP_cast_like, v, like);
}

/* Returns x times a number; x itself if the number is 1. */
static prt_value *scale(prt_build *b, prt_value *x, float by)
{
    return by == 1.0f ? x : prt_build_binary(b, PRT_OP_mul, x, numbers_like(b, x, 0, &by));
}

/* Turns the op into `id` of x and y; y may be NULL. */
static poprt_status become(prt_upgrade *u, const prt_build *b, uint32_t id, prt_value *x,
    prt_value *y)
{
    prt_op *op = u->op;
    PRT_TRY(prt_build_status(b));
    PRT_TRY(prt_upgrade_become(u, id));
    prt_op_set_input(op, 0, x);
    for (uint32_t i = 1; i < op->n_in; i++)
        prt_op_set_input(op, i, NULL);
    op->n_in = 1;
    return y != NULL ? prt_op_add_input(op, y) : POPRT_OK;
}

/* y = alpha x + beta */
poprt_status prt_up_affine(prt_upgrade *u)
{
    const float alpha = prt_upgrade_f32(u, "alpha", 1.0f), beta = prt_upgrade_f32(u, "beta", 0.0f);
    PRT_TRY(check(u, "alpha, beta"));
    prt_build b = prt_build_before(u->op);
    prt_value *x = prt_op_input(u->op, 0);
    prt_value *shift = numbers_like(&b, x, 0, &beta);
    return become(u, &b, PRT_OP_add, scale(&b, x, alpha), shift);
}

/* y = scale x */
poprt_status prt_up_scale(prt_upgrade *u)
{
    const float by = prt_upgrade_f32(u, "scale", 1.0f);
    PRT_TRY(check(u, "scale"));
    prt_build b = prt_build_before(u->op);
    prt_value *x = prt_op_input(u->op, 0);
    return become(u, &b, PRT_OP_mul, x, numbers_like(&b, x, 0, &by));
}

/* y = alpha f(beta x), where both attributes are required. */
static poprt_status scaled_function(prt_upgrade *u, uint32_t function)
{
    const prt_node_attr *alpha = prt_upgrade_attr(u, "alpha"), *beta = prt_upgrade_attr(u, "beta");
    if (alpha == NULL || beta == NULL || alpha->kind != PRT_ONNX_FLOAT ||
        beta->kind != PRT_ONNX_FLOAT)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "needs the attributes alpha and beta, numbers");
    PRT_TRY(check(u, "alpha, beta"));
    prt_build b = prt_build_before(u->op);
    prt_value *x = prt_op_input(u->op, 0), *factor = numbers_like(&b, x, 0, &alpha->f);
    prt_value *y = prt_build_unary(&b, function, scale(&b, x, beta->f));
    return become(u, &b, PRT_OP_mul, y, factor);
}

poprt_status prt_up_scaled_tanh(prt_upgrade *u)
{
    return scaled_function(u, PRT_OP_tanh);
}

poprt_status prt_up_parametric_softplus(prt_upgrade *u)
{
    return scaled_function(u, PRT_OP_softplus);
}

/* y = scale x + bias, with a bias for each channel. */
poprt_status prt_up_image_scaler(prt_upgrade *u)
{
    const float by = prt_upgrade_f32(u, "scale", 1.0f);
    const prt_node_attr *bias = prt_upgrade_attr(u, "bias");
    if (bias != NULL && bias->kind != PRT_ONNX_FLOATS)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "bias must be a list of numbers");
    PRT_TRY(check(u, "bias, scale"));
    PRT_TRY(check_image(u));
    const uint32_t count = bias != NULL ? bias->floats.count : 0;
    prt_value *x = prt_op_input(u->op, 0);
    const prt_type *type = prt_upgrade_ranked(x);
    if (count != 0 && type != NULL && prt_dim_is_number(type->dims[CHANNELS]) &&
        type->dims[CHANNELS] != count)
        return prt_upgrade_refuse(u, POPRT_E_SHAPE, "bias must have one number for each channel");
    prt_build b = prt_build_before(u->op);
    if (count == 0)
        return become(u, &b, PRT_OP_mul, x, numbers_like(&b, x, 0, &by));
    prt_value *shift = numbers_like(&b, x, count, bias->floats.data);
    return become(u, &b, PRT_OP_add, scale(&b, x, by), shift);
}

/* Reads a list of `count` sizes, none of them negative; all zero if the attribute is absent. */
static poprt_status read_sizes(prt_upgrade *u, const char *name, uint32_t count, int64_t *to,
    bool *given)
{
    const prt_node_attr *a = prt_upgrade_attr(u, name);
    bool fits = a == NULL || (a->kind == PRT_ONNX_INTS && a->ints.count == count);
    for (uint32_t i = 0; fits && i < count; i++) {
        to[i] = a != NULL ? a->ints.data[i] : 0;
        fits = to[i] >= 0 && to[i] <= INT32_MAX;
    }
    *given = a != NULL;
    return fits ? POPRT_OK
                : prt_upgrade_refuse(u, POPRT_E_PARSE,
                      "border must be four sizes (left, top, right, bottom), and scale two "
                      "(height, width), from 0 to 2^31 - 1");
}

/* Cuts the borders off, or with `scale` everything outside scale[0] rows and scale[1] columns that
 * begin at the top left border. */
poprt_status prt_up_crop(prt_upgrade *u)
{
    enum { LEFT, TOP, RIGHT, BOTTOM };
    const int64_t axes[2] = { ROWS, COLUMNS };
    int64_t border[4], size[2], ends[2];
    bool has_border, has_size;
    PRT_TRY(read_sizes(u, "border", 4, border, &has_border));
    PRT_TRY(read_sizes(u, "scale", 2, size, &has_size));
    if (!has_border && !has_size)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "needs the attribute border or scale");
    PRT_TRY(check(u, "border, scale"));
    PRT_TRY(check_image(u));
    const int64_t starts[2] = { border[TOP], border[LEFT] };
    const int64_t behind[2] = { border[BOTTOM], border[RIGHT] };
    const prt_type *type = prt_upgrade_ranked(prt_op_input(u->op, 0));
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t dim = type != NULL ? type->dims[axes[i]] : PRT_DIM_UNKNOWN;
        if (prt_dim_is_number(dim) && starts[i] + (has_size ? size[i] : behind[i]) > dim)
            return prt_upgrade_refuse(u, POPRT_E_SHAPE, "border and scale exceed the image");
        ends[i] = has_size ? starts[i] + size[i] : behind[i] != 0 ? -behind[i] : INT32_MAX;
    }
    prt_build b = prt_build_before(u->op);
    prt_value *in[3] = { prt_build_i64s(&b, 2, starts), prt_build_i64s(&b, 2, ends),
        prt_build_i64s(&b, 2, axes) };
    PRT_TRY(become(u, &b, PRT_OP_slice, prt_op_input(u->op, 0), in[0]));
    PRT_TRY(prt_op_add_input(u->op, in[1]));
    return prt_op_add_input(u->op, in[2]);
}

poprt_status prt_up_dynamic_slice(prt_upgrade *u)
{
    PRT_TRY(check(u, "none"));
    return prt_upgrade_become(u, PRT_OP_slice);
}

/* Mean and deviation of each channel, or with across_channels of all elements; without
 * normalize_variance the mean is only subtracted. A node with `axes` has the meaning of opset 9. */
poprt_status prt_up_mean_variance(prt_upgrade *u)
{
    static const int64_t axes[IMAGE_RANK] = { 0, ROWS, COLUMNS, CHANNELS };
    const bool across = prt_upgrade_i64(u, "across_channels", 0) != 0;
    const bool divides = prt_upgrade_i64(u, "normalize_variance", 1) != 0;
    const uint32_t count = across ? IMAGE_RANK : IMAGE_RANK - 1;
    PRT_TRY(check(u, "across_channels, normalize_variance"));
    if (prt_attr_given(u->op->attrs, 0))
        return POPRT_OK;
    PRT_TRY(check_image(u));
    if (divides) {
        prt_op_touch(u->op);
        PRT_UPGRADE_SET(u, mean_variance_normalization, axes, axes, count);
        return POPRT_OK;
    }
    prt_build b = prt_build_before(u->op);
    prt_value *x = prt_op_input(u->op, 0);
    prt_value *mean = prt_build_binary(&b, PRT_OP_reduce_mean, x, prt_build_i64s(&b, count, axes));
    return become(u, &b, PRT_OP_sub, x, mean);
}
