/* SPDX-License-Identifier: MIT */
/* downgrade_norm.c — downgrades normalisations, or expresses them by means and squares. */
#include "converter/downgrade.h"
#include "converter/conversions.h"

#define BINARY(id, x, y) prt_build_binary(&b, PRT_OP_##id, x, y)

/* Returns x minus its mean over axes, and stores the mean. */
static prt_value *subtract_mean(prt_build *b, prt_value *x, prt_value *axes, prt_value **mean)
{
    *mean = prt_down_reduce(b, PRT_OP_reduce_mean, x, axes, true);
    return prt_build_binary(b, PRT_OP_sub, x, *mean);
}

static prt_value *mean_square(prt_build *b, prt_value *x, prt_value *axes)
{
    return prt_down_reduce(b, PRT_OP_reduce_mean, prt_build_binary(b, PRT_OP_mul, x, x), axes,
        true);
}

/* √(v + epsilon) */
static prt_value *deviation(prt_build *b, prt_value *v, float epsilon)
{
    v = prt_build_binary(b, PRT_OP_add, v, prt_down_scalar(b, (double)epsilon, v));
    return prt_build_unary(b, PRT_OP_sqrt, v);
}

/* Returns the axes first, first + 1, … below `last`, except `without`. */
static prt_value *axes_from(prt_build *b, int64_t first, int64_t last, int64_t without)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count = 0;
    for (int64_t i = first; i < last; i++)
        if (i != without)
            axes[count++] = i;
    return prt_build_i64s(b, count, axes);
}

static bool is_used(const prt_op *op, uint32_t i)
{
    return i < op->n_out && (op->out[i].name.size != 0 || prt_value_used(&op->out[i]));
}

/* Returns the element type that a normalisation computes in: stash_type, or the type of the
 * data. */
static int32_t compute_dtype(int64_t stash_type, const prt_value *x)
{
    return stash_type == 0 ? prt_down_dtype(x) : (int32_t)stash_type;
}

poprt_status prt_down_layer_norm(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_layer_normalization_attrs *a = op->attrs;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    int64_t axis;
    if (type == NULL || !prt_down_axis_of(a->axis, type->rank, &axis))
        return prt_down_refuse(d, "its rank must be known");
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *mean;
    const int32_t dtype = prt_down_dtype(x);
    prt_value *wide = prt_down_cast(&b, x, compute_dtype(a->stash_type, x));
    prt_value *axes = axes_from(&b, axis, type->rank, -1);
    prt_value *centred = subtract_mean(&b, wide, axes, &mean);
    prt_value *scale = deviation(&b, mean_square(&b, centred, axes), a->epsilon);
    prt_value *y = prt_down_cast(&b, BINARY(div, centred, scale), dtype);
    y = BINARY(mul, y, prt_op_input(op, 1));
    if (prt_op_input(op, 2) != NULL)
        y = BINARY(add, y, prt_op_input(op, 2));
    if (is_used(op, 1))
        prt_build_replace_uses(&b, &op->out[1], mean);
    if (is_used(op, 2))
        prt_build_replace_uses(&b, &op->out[2], prt_build_unary(&b, PRT_OP_reciprocal, scale));
    return prt_down_replace(d, &b, y);
}

poprt_status prt_down_rms_norm(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_rms_normalization_attrs *a = op->attrs;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    int64_t axis;
    if (type == NULL || !prt_down_axis_of(a->axis, type->rank, &axis))
        return prt_down_refuse(d, "its rank must be known");
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0);
    prt_value *wide = prt_down_cast(&b, x, compute_dtype(a->stash_type, x));
    prt_value *axes = axes_from(&b, axis, type->rank, -1);
    prt_value *y = BINARY(div, wide, deviation(&b, mean_square(&b, wide, axes), a->epsilon));
    y = prt_down_cast(&b, y, prt_down_dtype(prt_op_input(op, 1)));
    return prt_down_replace(d, &b, BINARY(mul, y, prt_op_input(op, 1)));
}

poprt_status prt_down_mean_variance(prt_downgrade *d)
{
    static const int64_t usual[3] = { 0, 2, 3 };
    prt_op *op = d->op;
    const prt_mean_variance_normalization_attrs *a = op->attrs;
    const uint32_t k = prt_op_attr(op->def, PRT_STR("axes"));
    const prt_i64s axes = prt_attr_given(a, k) ? a->axes : (prt_i64s){ usual, 3 };
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *mean;
    prt_value *over = prt_build_i64s(&b, axes.count, axes.data);
    prt_value *centred = subtract_mean(&b, x, over, &mean);
    prt_value *scale = prt_build_unary(&b, PRT_OP_sqrt, mean_square(&b, centred, over));
    scale = BINARY(add, scale, prt_down_scalar(&b, 1e-9, x));
    return prt_down_replace(d, &b, BINARY(div, centred, scale));
}

/* Normalises each group by its mean and deviation, then applies the factors of each channel. */
poprt_status prt_down_group_norm(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_group_normalization_attrs *a = op->attrs;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    if (type == NULL || type->rank < 2 || a->num_groups < 1)
        return prt_down_refuse(d, "its rank must be known");
    const int64_t groups[3] = { 0, a->num_groups, -1 };
    int64_t column[PRT_MAX_RANK];
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *mean;
    const int32_t dtype = prt_down_dtype(x);
    prt_value *y =
        prt_down_reshape(&b, prt_down_cast(&b, x, compute_dtype(a->stash_type, x)), 3, groups);
    prt_value *axes = axes_from(&b, 2, 3, -1);
    y = subtract_mean(&b, y, axes, &mean);
    y = BINARY(div, y, deviation(&b, mean_square(&b, y, axes), a->epsilon));
    y = prt_down_cast(&b, y, dtype);
    y = prt_down_reshape_to(&b, y, prt_build_unary(&b, PRT_OP_shape, x));
    column[0] = -1;
    for (int32_t i = 2; i < type->rank; i++)
        column[i - 1] = 1;
    const uint32_t rank = (uint32_t)type->rank - 1;
    y = BINARY(mul, y, prt_down_reshape(&b, prt_op_input(op, 1), rank, column));
    y = BINARY(add, y, prt_down_reshape(&b, prt_op_input(op, 2), rank, column));
    return prt_down_replace(d, &b, y);
}

/* ---- BatchNormalization ---- */

/* running · momentum + now · (1 - momentum) */
static prt_value *blend(prt_build *build, prt_value *running, prt_value *now, float momentum)
{
    prt_build b = *build;
    now = prt_down_cast(&b, now, prt_down_dtype(running));
    prt_value *old = BINARY(mul, running, prt_down_scalar(&b, (double)momentum, running));
    now = BINARY(mul, now, prt_down_scalar(&b, 1.0 - (double)momentum, running));
    prt_value *y = BINARY(add, old, now);
    *build = b;
    return y;
}

/* Expresses training mode with the statistics of the current batch. */
static poprt_status expand_training(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_batch_normalization_attrs *a = op->attrs;
    const prt_type *type = prt_down_ranked(prt_op_input(op, 0));
    if (type == NULL || type->rank < 2)
        return prt_down_refuse(d, "its rank must be known");
    int64_t column[PRT_MAX_RANK];
    const int64_t list = -1;
    const uint32_t rank = (uint32_t)type->rank - 1;
    prt_build b = prt_build_before(op);
    prt_value *x = prt_op_input(op, 0), *mean;
    prt_value *axes = axes_from(&b, 0, type->rank, 1);
    prt_value *centred = subtract_mean(&b, x, axes, &mean),
              *square = mean_square(&b, centred, axes);
    column[0] = -1;
    for (uint32_t i = 1; i < rank; i++)
        column[i] = 1;
    prt_value *y = BINARY(div, centred, deviation(&b, square, a->epsilon));
    y = BINARY(mul, y, prt_down_reshape(&b, prt_op_input(op, 1), rank, column));
    y = BINARY(add, y, prt_down_reshape(&b, prt_op_input(op, 2), rank, column));
    for (uint32_t i = 1; i < 3; i++) {
        if (!is_used(op, i))
            continue;
        prt_value *now = prt_down_reshape(&b, i == 1 ? mean : square, 1, &list);
        now = blend(&b, prt_op_input(op, i + 2), now, a->momentum);
        prt_build_replace_uses(&b, &op->out[i], now);
    }
    return prt_down_replace(d, &b, y);
}

poprt_status prt_down_batch_norm(prt_downgrade *d)
{
    const prt_batch_normalization_attrs *a = d->op->attrs;
    if (a->training_mode != 0)
        return expand_training(d);
    prt_down_reset_attr(d->op, "training_mode");
    return POPRT_OK;
}

poprt_status prt_down_is_test(prt_downgrade *d)
{
    return prt_down_add_int(d, "is_test", 1);
}

/* Older schemas require a list of the inputs that may be overwritten: only the statistics are. */
poprt_status prt_down_consumed_statistics(prt_downgrade *d)
{
    static const int64_t consumed[5] = { 0, 0, 0, 1, 1 };
    return prt_down_add_ints(d, "consumed_inputs", 5, consumed);
}
