/* SPDX-License-Identifier: MIT */
/*
 * downgrade_move.c — downgrades operators that move elements: inputs that were attributes, axes
 * that had to be counted from the front, and orders that did not exist.
 */
#include "converter/downgrade.h"
#include "converter/conversions.h"

/* Turns the axes of input `slot` into an attribute. Before opset 11 axes could not be negative. */
static poprt_status axes_to_attr(prt_downgrade *d, uint32_t slot, const prt_value *like)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count;
    const prt_value *v = prt_op_input(d->op, slot);
    if (v == NULL)
        return POPRT_OK;
    if (!prt_down_integers(v, PRT_MAX_RANK, axes, &count))
        return prt_down_refuse(d,
            "the axes are an attribute at that opset, so they must be constant");
    for (uint32_t i = 0; d->target < 11 && i < count; i++)
        axes[i] = prt_down_front_axis(axes[i], like);
    PRT_TRY(prt_down_add_ints(d, "axes", count, axes));
    prt_op_set_input(d->op, slot, NULL);
    return POPRT_OK;
}

poprt_status prt_down_shape(prt_downgrade *d)
{
    return prt_down_input_to_ints(d, 1, "shape");
}

/*
 * Older variants copy a dim of the input for each 0 in the shape. The op can drop `allowzero` if
 * the input has elements, because then the shape contains no 0. It can also drop it if every dim of
 * the shape is known and is not 0 or copies a dim of 0. Named dims are assumed to satisfy this.
 */
poprt_status prt_down_allowzero(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    int64_t dims[PRT_MAX_RANK];
    uint32_t count;
    uint64_t elements = 1;
    if (((const prt_reshape_attrs *)op->attrs)->allowzero == 0)
        return POPRT_OK;
    const bool known = prt_down_integers(prt_op_input(op, 1), PRT_MAX_RANK, dims, &count);
    const bool counted = x != NULL && prt_type_count(x, &elements);
    bool fits = known || !counted || elements > 0;
    for (uint32_t i = 0; known && i < count; i++)
        if (dims[i] == 0 && (x == NULL || (int32_t)i >= x->rank || x->dims[i] != 0))
            fits = false;
    if (!fits)
        return prt_down_refuse(d, "a 0 in the shape copies a dimension at that opset");
    prt_down_reset_attr(op, "allowzero");
    return POPRT_OK;
}

poprt_status prt_down_axes(prt_downgrade *d)
{
    const bool grows = prt_op_is(d->op, PRT_OP_unsqueeze);
    return axes_to_attr(d, 1, grows ? &d->op->out[0] : prt_op_input(d->op, 0));
}

poprt_status prt_down_slice(prt_downgrade *d)
{
    int64_t steps[PRT_MAX_RANK];
    uint32_t count;
    const prt_value *given = prt_op_input(d->op, 4);
    if (given != NULL && !prt_down_integers(given, PRT_MAX_RANK, steps, &count))
        return prt_down_refuse(d, "at that opset all steps are 1, so the steps must be constant");
    for (uint32_t i = 0; given != NULL && i < count; i++)
        if (steps[i] != 1)
            return prt_down_refuse(d, "at that opset all steps must be 1");
    PRT_TRY(prt_down_input_to_ints(d, 1, "starts"));
    PRT_TRY(prt_down_input_to_ints(d, 2, "ends"));
    PRT_TRY(axes_to_attr(d, 3, prt_op_input(d->op, 0)));
    prt_down_keep_inputs(d->op, 1);
    return POPRT_OK;
}

/* ---- the attribute `axis` ---- */

#define AXIS_OF(id)                                                                                \
    case PRT_OP_##id:                                                                              \
        return &((prt_##id##_attrs *)op->attrs)->axis;

static int64_t *axis_of(prt_op *op)
{
    switch (op->def->id) {
        AXIS_OF(argmax)
        AXIS_OF(argmin)
        AXIS_OF(compress)
        AXIS_OF(concat)
        AXIS_OF(flatten)
        AXIS_OF(split)
    default:
        return &((prt_one_hot_attrs *)op->attrs)->axis;
    }
}

poprt_status prt_down_axis(prt_downgrade *d)
{
    prt_op *op = d->op;
    int64_t *axis = axis_of(op);
    if (*axis < 0)
        *axis = prt_down_front_axis(*axis,
            prt_op_is(op, PRT_OP_one_hot) ? &op->out[0] : prt_op_input(op, 0));
    if (!prt_op_is(op, PRT_OP_compress)) /* without an axis Compress flattens its input */
        prt_down_mark_given(op, "axis");
    return POPRT_OK;
}

/* ---- Split ---- */

/* If the parts are not equal, passes their sizes. */
poprt_status prt_down_split_equal(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_split_attrs *a = op->attrs;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    int64_t sizes[256];
    if (prt_op_input(op, 1) != NULL)
        return POPRT_OK;
    prt_down_reset_attr(op, "num_outputs");
    int64_t axis;
    if (x == NULL || !prt_down_axis_of(a->axis, x->rank, &axis))
        return POPRT_OK;
    const int64_t size = x->dims[axis], n = op->n_out;
    if (!prt_dim_is_number(size) || size % n == 0)
        return POPRT_OK;
    if (n > (int64_t)PRT_COUNT_OF(sizes))
        return prt_down_refuse(d, "it has more than %zu unequal parts", PRT_COUNT_OF(sizes));
    const int64_t part = size / n + 1; /* rounded up, because the size is not divisible */
    for (int64_t i = 0, left = size; i < n; i++, left -= sizes[i - 1])
        sizes[i] = left < part ? left : part;
    prt_build b = prt_build_before(op);
    prt_value *list = prt_build_i64s(&b, (uint32_t)n, sizes);
    PRT_TRY(prt_build_status(&b));
    return prt_down_set_input(op, 1, list);
}

poprt_status prt_down_split_to_attr(prt_downgrade *d)
{
    PRT_TRY(prt_down_input_to_ints(d, 1, "split"));
    prt_down_keep_inputs(d->op, 1);
    return d->target < 11 ? prt_down_axis(d) : POPRT_OK;
}

/* ---- Pad ---- */

poprt_status prt_down_pad_wrap(prt_downgrade *d)
{
    return prt_str_is(((const prt_pad_attrs *)d->op->attrs)->mode, "wrap")
        ? prt_down_refuse(d, "the mode 'wrap' does not exist at that opset")
        : POPRT_OK;
}

/* Extends the pads of some axes to pads of all axes. */
poprt_status prt_down_pad_axes(prt_downgrade *d)
{
    prt_op *op = d->op;
    int64_t at[2 * PRT_MAX_RANK], values[2 * PRT_MAX_RANK], pads[2 * PRT_MAX_RANK] = { 0 };
    uint32_t n, n_pads;
    const prt_type *x = prt_down_ranked(prt_op_input(op, 0));
    if (prt_op_input(op, 3) == NULL)
        return POPRT_OK;
    if (x == NULL || !prt_down_integers(prt_op_input(op, 3), PRT_MAX_RANK, at, &n))
        return prt_down_refuse(d,
            "at that opset the pads are of all axes, so the axes must be constant and the rank "
            "known");
    for (uint32_t i = 0; i < n; i++) {
        if (!prt_down_axis_of(at[i], x->rank, &at[i]))
            return prt_down_refuse(d, "an axis is out of range for rank %d", x->rank);
        at[n + i] = x->rank + at[i];
    }
    const bool known = prt_down_integers(prt_op_input(op, 1), 2 * PRT_MAX_RANK, values, &n_pads) &&
        n_pads == 2 * n;
    for (uint32_t i = 0; known && i < 2 * n; i++)
        pads[at[i]] = values[i];
    prt_build b = prt_build_before(op);
    prt_value *list = prt_build_i64s(&b, 2 * (uint32_t)x->rank, pads);
    if (!known)
        list = prt_down_write_at(&b, list, 2 * n, at, prt_op_input(op, 1));
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, list);
    prt_down_keep_inputs(op, 3);
    return POPRT_OK;
}

poprt_status prt_down_pad(prt_downgrade *d)
{
    double value = 0;
    if (prt_op_input(d->op, 2) != NULL && !prt_down_number(prt_op_input(d->op, 2), &value))
        return prt_down_refuse(d,
            "the value is an attribute at that opset, so it must be constant");
    PRT_TRY(prt_down_input_to_ints(d, 1, d->target < 2 ? "paddings" : "pads"));
    prt_down_keep_inputs(d->op, 1);
    return value != 0 ? prt_down_add_float(d, "value", (float)value) : POPRT_OK;
}

/* ---- Scatter, Tile, TopK ---- */

poprt_status prt_down_scatter_reduction(prt_downgrade *d)
{
    const prt_str reduction = prt_op_is(d->op, PRT_OP_scatter_nd)
        ? ((const prt_scatter_nd_attrs *)d->op->attrs)->reduction
        : ((const prt_scatter_elements_attrs *)d->op->attrs)->reduction;
    if (prt_str_is(reduction, "max") || prt_str_is(reduction, "min"))
        return prt_down_refuse(d, "the reduction '%.*s' does not exist at that opset",
            PRT_STR_ARG(reduction));
    return POPRT_OK;
}

/* Scatter is the earlier name of ScatterElements. */
poprt_status prt_down_scatter(prt_downgrade *d)
{
    const prt_scatter_elements_attrs *a = d->op->attrs;
    const int64_t axis = prt_down_front_axis(a->axis, prt_op_input(d->op, 0));
    if (!prt_str_is(a->reduction, "none"))
        return prt_down_refuse(d, "reductions do not exist at that opset");
    if (!prt_down_supports(d, "Scatter", prt_op_input(d->op, 0)))
        return prt_down_refuse(d, "Scatter does not have this element type at that opset");
    prt_down_rename(d, "Scatter");
    return prt_down_add_int(d, "axis", axis);
}

/* Repeats one axis at a time; count and axis are scalars of the data's type. */
poprt_status prt_down_tile(prt_downgrade *d)
{
    prt_op *op = d->op;
    int64_t repeats[PRT_MAX_RANK];
    uint32_t count, at = 0, many = 0;
    prt_value *x = prt_op_input(op, 0);
    if (!prt_down_integers(prt_op_input(op, 1), PRT_MAX_RANK, repeats, &count))
        return prt_down_refuse(d, "the repeats must be constant");
    for (uint32_t i = 0; i < count; i++)
        if (repeats[i] != 1) {
            at = i;
            many++;
        }
    prt_build b = prt_build_before(op);
    if (many == 0)
        return prt_down_replace(d, &b, prt_build_unary(&b, PRT_OP_identity, x));
    if (many > 1) {
        for (uint32_t i = 0; i < count; i++) {
            int64_t one[PRT_MAX_RANK];
            for (uint32_t k = 0; k < count; k++)
                one[k] = k == i ? repeats[i] : 1;
            if (repeats[i] != 1)
                x = prt_build_binary(&b, PRT_OP_tile, x, prt_build_i64s(&b, count, one));
        }
        return prt_down_replace(d, &b, x);
    }
    prt_value *tiles = prt_down_scalar(&b, (double)repeats[at], x);
    prt_value *axis = prt_down_scalar(&b, (double)at, x);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, tiles);
    return prt_down_set_input(op, 2, axis);
}

/* Computes the smallest elements as the negated largest elements of the negated input. */
poprt_status prt_down_topk_order(prt_downgrade *d)
{
    prt_op *op = d->op;
    prt_topk_attrs *a = op->attrs;
    prt_value *x = prt_op_input(op, 0);
    a->axis = prt_down_front_axis(a->axis, x);
    prt_down_mark_given(op, "axis");
    prt_down_reset_attr(op, "sorted"); /* sorted results are valid for any order */
    if (a->largest != 0) {
        prt_down_reset_attr(op, "largest");
        return POPRT_OK;
    }
    if (!prt_dtype_is_float(prt_down_dtype(x)))
        return prt_down_refuse(d, "the smallest integers cannot be selected at that opset");
    prt_down_reset_attr(op, "largest");
    prt_build b = prt_build_before(op);
    prt_value *minus = prt_build_unary(&b, PRT_OP_neg, x);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 0, minus);
    b = prt_down_build_after(op);
    prt_value *values = prt_build_unary(&b, PRT_OP_neg, &op->out[0]);
    return prt_down_wrap(&b, &op->out[0], values);
}

poprt_status prt_down_topk_count(prt_downgrade *d)
{
    int64_t k[1];
    uint32_t count;
    if (!prt_down_integers(prt_op_input(d->op, 1), 1, k, &count) || count != 1)
        return prt_down_refuse(d, "'k' is an attribute at that opset, so it must be constant");
    prt_down_keep_inputs(d->op, 1);
    return prt_down_add_int(d, "k", k[0]);
}
