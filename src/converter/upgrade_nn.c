/* SPDX-License-Identifier: MIT */
/*
 * upgrade_nn.c — older neural-network operators: softmax over several dims, normalisation with
 * flags of training frameworks, resampling before it had coordinates, and names that changed.
 */
#include <math.h>

#include "converter/upgrade.h"

#define FORM(domain, name, from, to, up, down) poprt_status up(prt_upgrade *u);
#define UP(domain, name, from, to, up) poprt_status up(prt_upgrade *u);
#define DOWN(domain, name, from, to, down)
#define MEANING(domain, name, since)
#include "converter/upgrade_nn.def"
#undef FORM
#undef UP
#undef DOWN
#undef MEANING

enum { KIND_FLOATS = 6 }; /* of AttributeProto */

static poprt_status refuse(const prt_upgrade *u, poprt_status status, const char *what)
{
    return prt_fail(status, prt_op_label(u->op), "%.100s of opset %lld: %s", u->op->name.data,
        (long long)u->version, what);
}

/* Sets an attribute of the row and marks it as given. */
#define SET(u, id, field, ...)                                                                     \
    set_attr(u, offsetof(prt_##id##_attrs, field), &(PRT_TYPE_OF(id, field)){ __VA_ARGS__ },      \
        sizeof(PRT_TYPE_OF(id, field)))
#define PRT_TYPE_OF(id, field) __typeof__(((prt_##id##_attrs *)0)->field)

static void set_attr(prt_upgrade *u, size_t offset, const void *value, size_t size)
{
    prt_op *op = u->op;
    memcpy((char *)op->attrs + offset, value, size);
    for (uint32_t i = 0; i < op->def->n_attrs; i++)
        if (op->def->attrs[i].offset == offset)
            *(uint64_t *)op->attrs |= (uint64_t)1 << i;
}

static bool given(const prt_upgrade *u, const char *name)
{
    const uint32_t i = prt_op_attr(u->op->def, prt_str_of(name));
    return i != UINT32_MAX && prt_attr_given(u->op->attrs, i);
}

static const prt_type *tensor_type(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 0 ? v->type : NULL;
}

/* The op becomes Reshape of `value` to the shape of `like`; it keeps its output. */
static poprt_status become_reshape(prt_upgrade *u, prt_build *b, prt_value *value, prt_value *like)
{
    prt_value *shape = prt_build_unary(b, PRT_OP_shape, like);
    PRT_TRY(prt_build_status(b));
    PRT_TRY(prt_upgrade_become(u, PRT_OP_reshape));
    SET(u, reshape, allowzero, 1);
    for (uint32_t i = u->op->n_in; i < 2; i++)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 0, value);
    prt_op_set_input(u->op, 1, shape);
    for (uint32_t i = 2; i < u->op->n_in; i++)
        prt_op_set_input(u->op, i, NULL);
    u->op->n_in = 2;
    return POPRT_OK;
}

poprt_status prt_up_consumed_input(prt_upgrade *u)
{
    (void)prt_upgrade_attr(u, "consumed_inputs");
    return POPRT_OK;
}

/* ---- Softmax, LogSoftmax, Hardmax ---- */

/* Where all dims after `axis` are one anyway, the new meaning is the old one. */
static bool is_last(const prt_type *type, int64_t axis)
{
    if (axis < 0)
        axis += type->rank;
    return axis == type->rank - 1;
}

poprt_status prt_up_flat_softmax(prt_upgrade *u)
{
    prt_op *op = u->op;
    prt_softmax_attrs *a = op->attrs; /* the three structs are alike */
    const int64_t axis = given(u, "axis") ? a->axis : 1;
    prt_value *x = prt_op_input(op, 0);
    const prt_type *type = tensor_type(x);
    a->axis = -1;
    a->present |= 1;
    if (type != NULL && is_last(type, axis))
        return POPRT_OK;
    prt_build b = prt_build_before(op);
    const prt_flatten_attrs flat = { .axis = axis };
    prt_value *rows = prt_build_op(&b, PRT_OP_flatten, &flat, 1, &x);
    prt_value *y = prt_build_op(&b, op->def->id, a, 1, &rows);
    return become_reshape(u, &b, y, x);
}

/* ---- normalisations ---- */

/* Statistics for every element rather than every channel: elements become channels. */
static poprt_status flatten_batch_norm(prt_upgrade *u)
{
    prt_op *op = u->op;
    static const int64_t all = -1;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *in[5];
    const prt_flatten_attrs flat = { .axis = 1 };
    in[0] = prt_build_op(&b, PRT_OP_flatten, &flat, 1, &x);
    for (uint32_t i = 1; i < 5; i++)
        in[i] = prt_build_binary(&b, PRT_OP_reshape, prt_op_input(op, i),
            prt_build_i64s(&b, 1, &all));
    prt_value *y = prt_build_op(&b, PRT_OP_batch_normalization, op->attrs, 5, in);
    return become_reshape(u, &b, y, x);
}

poprt_status prt_up_batch_norm(prt_upgrade *u)
{
    prt_op *op = u->op;
    uint32_t used = 1;
    (void)prt_upgrade_attr(u, "consumed_inputs");
    (void)prt_upgrade_attr(u, "is_test"); /* the outputs say it too */
    for (uint32_t i = 1; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            used = i + 1;
    if (used > 3)
        return refuse(u, POPRT_E_UNSUPPORTED, "saved statistics are not computed");
    op->n_out = used; /* outputs that only have names are left out */
    if (op->n_in < 5)
        return refuse(u, POPRT_E_PARSE, "has fewer than five inputs");
    if (used > 1)
        SET(u, batch_normalization, training_mode, 1);
    if (prt_upgrade_i64(u, "spatial", 1) != 0)
        return POPRT_OK;
    const prt_type *type = tensor_type(prt_op_input(op, 0));
    if (type != NULL && type->rank == 2)
        return POPRT_OK;
    if (used > 1)
        return refuse(u, POPRT_E_UNSUPPORTED, "training with spatial 0 is not possible");
    return flatten_batch_norm(u);
}

/* Factors by group: repeated for its channels, or applied to groups as instances' channels. */
poprt_status prt_up_group_norm(prt_upgrade *u)
{
    prt_op *op = u->op;
    const prt_group_normalization_attrs *a = op->attrs;
    const int64_t groups = a->num_groups;
    prt_value *x = prt_op_input(op, 0);
    const prt_type *type = tensor_type(x);
    prt_build b = prt_build_before(op);
    if (groups < 1 || op->n_in < 3)
        return refuse(u, POPRT_E_ARG, "num_groups or an input is missing");
    const int64_t channels = type != NULL && type->rank > 1 ? type->dims[1] : PRT_DIM_UNKNOWN;
    if (!prt_dim_is_number(channels) || channels % groups != 0) {
        const int64_t dims[3] = { 0, groups, -1 };
        const prt_instance_normalization_attrs norm = { .epsilon = a->epsilon };
        prt_value *in[3] = { prt_build_binary(&b, PRT_OP_reshape, x, prt_build_i64s(&b, 3, dims)),
            prt_op_input(op, 1), prt_op_input(op, 2) };
        prt_value *y = prt_build_op(&b, PRT_OP_instance_normalization, &norm, 3, in);
        return become_reshape(u, &b, y, x);
    }
    const int64_t column[2] = { groups, 1 }, table[2] = { groups, channels / groups };
    for (uint32_t i = 1; i < 3; i++) {
        prt_value *v = prt_build_binary(&b, PRT_OP_reshape, prt_op_input(op, i),
            prt_build_i64s(&b, 2, column));
        v = prt_build_binary(&b, PRT_OP_expand, v, prt_build_i64s(&b, 2, table));
        v = prt_build_binary(&b, PRT_OP_reshape, v, prt_build_i64s(&b, 1, &channels));
        PRT_TRY(prt_build_status(&b));
        prt_op_set_input(op, i, v);
    }
    return POPRT_OK;
}

/* ---- attributes that went or changed their type ---- */

/* C was broadcast only when asked for; where it was not, its shape is that of the result. */
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

poprt_status prt_up_real_p(prt_upgrade *u)
{
    if (given(u, "p"))
        return POPRT_OK;
    const float p = prt_upgrade_f32(u, "p", 2.0f);
    if (!(p >= 1.0f && p <= 1e6f && p == floorf(p)))
        return refuse(u, POPRT_E_UNSUPPORTED, "p must be a positive integer");
    if (prt_op_is(u->op, PRT_OP_lp_pool))
        SET(u, lp_pool, p, (int64_t)p);
    else
        SET(u, global_lp_pool, p, (int64_t)p);
    return POPRT_OK;
}

poprt_status prt_up_grid_sample(prt_upgrade *u)
{
    const prt_grid_sample_attrs *a = u->op->attrs;
    if (prt_str_is(a->mode, "bilinear"))
        SET(u, grid_sample, mode, "linear", 6);
    else if (prt_str_is(a->mode, "bicubic"))
        SET(u, grid_sample, mode, "cubic", 5);
    return POPRT_OK;
}

poprt_status prt_up_roi_align(prt_upgrade *u)
{
    SET(u, roi_align, coordinate_transformation_mode, "output_half_pixel", 17);
    return POPRT_OK;
}

/* ---- Upsample and the first Resize ---- */

/* Output i shows input i / scale, rounded down, or up where all dims shrink. */
poprt_status prt_up_resize(prt_upgrade *u)
{
    const prt_resize_attrs *a = u->op->attrs;
    prt_value *scales = prt_op_input(u->op, 1);
    prt_tensor known;
    bool shrinks = false, grows = true;
    if (prt_str_is(a->mode, "bilinear"))
        SET(u, resize, mode, "linear", 6);
    if (scales != NULL && prt_value_tensor(scales, &known) && known.dtype == PRT_DTYPE_f32) {
        const float *s = known.data;
        grows = false;
        for (size_t i = 0; i < prt_tensor_count(&known); i++) {
            grows = grows || s[i] > 1.0f;
            shrinks = shrinks || s[i] < 1.0f;
        }
    }
    SET(u, resize, coordinate_transformation_mode, "asymmetric", 10);
    if (shrinks && !grows)
        SET(u, resize, nearest_mode, "ceil", 4);
    else
        SET(u, resize, nearest_mode, "floor", 5);
    while (u->op->n_in < 3)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 1, NULL);
    prt_op_set_input(u->op, 2, scales);
    return POPRT_OK;
}

/* Scales from attributes: of height and width, or of all dims; the latter became an input. */
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
        return refuse(u, POPRT_E_PARSE, "scales are missing");
    PRT_TRY(prt_upgrade_become(u, PRT_OP_resize)); /* whose first form the next row finishes */
    if (u->op->n_in < 2)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 1, scales);
    return POPRT_OK;
}
