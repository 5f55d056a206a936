/* SPDX-License-Identifier: MIT */
/*
 * upgrade_norm.c — upgrades normalisations: flags of training frameworks, saved statistics, and
 * factors by group.
 */
#include "converter/conversions.h"

/* Builds the mean and the variance over all axes but the channels, or over the batch alone. Older
 * training modes returned them as outputs 3 and 4. */
static void save_statistics(prt_build *b, prt_op *op, prt_value *x, bool spatial)
{
    const int64_t plane[3] = { 0, 0, -1 }, over[2] = { 0, 2 };
    const prt_reduce_mean_attrs keep = { .keepdims = 1 }, drop = { .keepdims = 0 };
    prt_value *v = prt_build_binary(b, PRT_OP_reshape, x, prt_build_i64s(b, 3, plane));
    prt_value *axes = prt_build_i64s(b, spatial ? 2 : 1, over);
    prt_value *in[2] = { v, axes };
    prt_value *left =
        prt_build_binary(b, PRT_OP_sub, v, prt_build_op(b, PRT_OP_reduce_mean, &keep, 2, in));
    for (uint32_t i = 3; i < op->n_out && i < 5; i++) {
        in[0] = i == 3 ? v : prt_build_binary(b, PRT_OP_mul, left, left);
        prt_value *y = prt_build_op(b, PRT_OP_reduce_mean, &drop, 2, in);
        if (!spatial)
            y = prt_build_binary(b, PRT_OP_reshape, y,
                prt_build_unary(b, PRT_OP_shape, prt_op_input(op, 3)));
        if (prt_value_used(&op->out[i]))
            prt_build_replace_uses(b, &op->out[i], y);
    }
}

/* Handles statistics for each element instead of each channel by turning elements into channels. */
static poprt_status flatten_batch_norm(prt_upgrade *u, uint32_t used)
{
    prt_op *op = u->op;
    static const int64_t all = -1;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *in[5];
    const prt_flatten_attrs flat = { .axis = 1 };
    in[0] = prt_build_op(&b, PRT_OP_flatten, &flat, 1, &x);
    for (uint32_t i = 1; i < 5; i++)
        in[i] =
            prt_build_binary(&b, PRT_OP_reshape, prt_op_input(op, i), prt_build_i64s(&b, 1, &all));
    prt_op *norm = prt_build_op_n(&b, PRT_OP_batch_normalization, op->attrs, 5, in, used);
    for (uint32_t i = 1; norm != NULL && i < used; i++) {
        prt_value *shape = prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, i + 2));
        prt_value *y = prt_build_binary(&b, PRT_OP_reshape, &norm->out[i], shape);
        if (prt_value_used(&op->out[i]))
            prt_build_replace_uses(&b, &op->out[i], y);
    }
    PRT_TRY(prt_build_status(&b));
    op->n_out = 1;
    return prt_upgrade_become_reshape(u, &b, &norm->out[0], x);
}

/* Training mode is assumed if outputs after the first are read; unread outputs do not count. */
poprt_status prt_up_batch_norm(prt_upgrade *u)
{
    prt_op *op = u->op;
    uint32_t used = 1;
    (void)prt_upgrade_attr(u, "consumed_inputs");
    (void)prt_upgrade_attr(u, "is_test"); /* the outputs imply it */
    const bool spatial = prt_upgrade_i64(u, "spatial", 1) != 0;
    for (uint32_t i = 1; i < op->n_out && i < 5; i++)
        if (prt_value_used(&op->out[i]))
            used = i + 1;
    if (op->n_in < 5)
        return prt_upgrade_refuse(u, POPRT_E_PARSE, "has fewer than five inputs");
    if (used > 1)
        PRT_UPGRADE_SET(u, batch_normalization, training_mode, 1);
    if (used > 3) {
        prt_build b = prt_build_before(op);
        save_statistics(&b, op, prt_op_input(op, 0), spatial);
        PRT_TRY(prt_build_status(&b));
        used = 3;
    }
    op->n_out = used; /* drops outputs that are not read */
    if (spatial)
        return POPRT_OK;
    const prt_type *type = prt_upgrade_ranked(prt_op_input(op, 0));
    return type != NULL && type->rank == 2 ? POPRT_OK : flatten_batch_norm(u, used);
}

/* Repeats the factors of each group for its channels. If the number of channels is unknown,
 * normalises the groups as channels of InstanceNormalization. */
poprt_status prt_up_group_norm(prt_upgrade *u)
{
    prt_op *op = u->op;
    const prt_group_normalization_attrs *a = op->attrs;
    const int64_t groups = a->num_groups;
    prt_value *x = prt_op_input(op, 0);
    const prt_type *type = prt_upgrade_ranked(x);
    prt_build b = prt_build_before(op);
    if (groups < 1 || op->n_in < 3)
        return prt_upgrade_refuse(u, POPRT_E_ARG,
            "num_groups must be at least 1, and three inputs are needed");
    const int64_t channels = type != NULL && type->rank > 1 ? type->dims[1] : PRT_DIM_UNKNOWN;
    if (!prt_dim_is_number(channels) || channels % groups != 0) {
        const int64_t dims[3] = { 0, groups, -1 };
        const prt_instance_normalization_attrs norm = { .epsilon = a->epsilon };
        prt_value *in[3] = { prt_build_binary(&b, PRT_OP_reshape, x, prt_build_i64s(&b, 3, dims)),
            prt_op_input(op, 1), prt_op_input(op, 2) };
        prt_value *y = prt_build_op(&b, PRT_OP_instance_normalization, &norm, 3, in);
        return prt_upgrade_become_reshape(u, &b, y, x);
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
