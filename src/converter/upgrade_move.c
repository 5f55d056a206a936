/* SPDX-License-Identifier: MIT */
/*
 * upgrade_move.c — upgrades operators that move or reduce elements: attributes that became inputs,
 * defaults that changed, and names that changed.
 */
#include "converter/conversions.h"

enum { KIND_INT = 2 }; /* AttributeProto.AttributeType */

/* Sets input `slot`, and adds absent inputs before it if needed. */
static poprt_status set_input(prt_op *op, uint32_t slot, prt_value *value)
{
    while (op->n_in <= slot)
        PRT_TRY(prt_op_add_input(op, NULL));
    prt_op_set_input(op, slot, value);
    return POPRT_OK;
}

poprt_status prt_up_shape_to_input(prt_upgrade *u)
{
    return prt_upgrade_ints_to_input(u, "shape", 1);
}

/* In all versions absent axes mean that all axes are reduced, or all dims of 1 squeezed. */
poprt_status prt_up_axes_to_input(prt_upgrade *u)
{
    return prt_upgrade_ints_to_input(u, "axes", 1);
}

poprt_status prt_up_slice(prt_upgrade *u)
{
    PRT_TRY(prt_upgrade_ints_to_input(u, "starts", 1));
    PRT_TRY(prt_upgrade_ints_to_input(u, "ends", 2));
    return prt_upgrade_ints_to_input(u, "axes", 3);
}

/* Opset 1 had an input for the sizes besides the attribute; it has the data's type. */
poprt_status prt_up_split_to_input(prt_upgrade *u)
{
    prt_value *sizes = prt_op_input(u->op, 1);
    if (sizes == NULL)
        return prt_upgrade_ints_to_input(u, "split", 1);
    prt_cast_attrs attrs = *(const prt_cast_attrs *)prt_op_of(PRT_OP_cast)->defaults;
    attrs.to = PRT_DTYPE_i64;
    attrs.present = (uint64_t)1 << prt_op_attr(prt_op_of(PRT_OP_cast), PRT_STR("to"));
    prt_build b = prt_build_before(u->op);
    prt_value *integers = prt_build_op(&b, PRT_OP_cast, &attrs, 1, &sizes);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(u->op, 1, integers);
    return POPRT_OK;
}

/* The number of equal parts used to follow from the number of outputs. */
poprt_status prt_up_split_equal(prt_upgrade *u)
{
    prt_split_attrs *a = u->op->attrs;
    if (prt_op_input(u->op, 1) != NULL)
        return POPRT_OK;
    a->num_outputs = u->op->n_out;
    a->present |= (uint64_t)1 << prt_op_attr(u->op->def, PRT_STR("num_outputs"));
    return POPRT_OK;
}

poprt_status prt_up_concat(prt_upgrade *u)
{
    prt_concat_attrs *a = u->op->attrs;
    const uint32_t axis = prt_op_attr(u->op->def, PRT_STR("axis"));
    if (!prt_attr_given(a, axis))
        a->axis = 1;
    a->present |= (uint64_t)1 << axis;
    return POPRT_OK;
}

/* `paddings` was the first name of `pads`. */
poprt_status prt_up_pad_name(prt_upgrade *u)
{
    return prt_upgrade_ints_to_input(u, "paddings", 1);
}

/* The value was a float attribute and becomes an input of the data's type. */
poprt_status prt_up_pad(prt_upgrade *u)
{
    prt_op *op = u->op;
    const prt_value *x = prt_op_input(op, 0);
    PRT_TRY(prt_upgrade_ints_to_input(u, "pads", 1));
    const float value = prt_upgrade_f32(u, "value", 0.0f);
    if (value == 0.0f)
        return POPRT_OK;
    const bool typed =
        x != NULL && prt_type_is_tensor(x->type) && prt_dtype_is_float(x->type->dtype);
    prt_build b = prt_build_before(op);
    prt_value *fill = prt_build_scalar(&b, typed ? x->type->dtype : PRT_DTYPE_f32, (double)value);
    PRT_TRY(prt_build_status(&b));
    return set_input(op, 2, fill);
}

poprt_status prt_up_scatter(prt_upgrade *u)
{
    return prt_upgrade_become(u, PRT_OP_scatter_elements);
}

poprt_status prt_up_topk(prt_upgrade *u)
{
    const prt_node_attr *k = prt_upgrade_attr(u, "k");
    if (k == NULL || k->kind != KIND_INT)
        return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
            "TopK: attribute 'k' must be an integer");
    prt_build b = prt_build_before(u->op);
    prt_value *value = prt_build_i64s(&b, 1, &k->i);
    PRT_TRY(prt_build_status(&b));
    return set_input(u->op, 1, value);
}

/* Reads the only element of a constant of any type; false if its magnitude exceeds `most`. */
static bool read_number(const prt_value *v, int64_t most, int64_t *out)
{
    prt_tensor t;
    if (v == NULL || !prt_value_tensor(v, &t) || prt_tensor_count(&t) != 1 ||
        t.dtype == PRT_DTYPE_string)
        return false;
    *out = prt_load_i64(t.dtype, t.data, 0);
    return *out >= -most && *out <= most;
}

/* For a count and an axis known only at run time: repeats are 1 except at the axis. */
static prt_value *tiles_at_run(prt_build *b, const prt_op *op)
{
    const int64_t one = 1;
    prt_cast_attrs to = *(const prt_cast_attrs *)prt_op_of(PRT_OP_cast)->defaults;
    to.to = PRT_DTYPE_i64;
    prt_value *tiles = prt_op_input(op, 1), *axis = prt_op_input(op, 2);
    prt_value *shape = prt_build_unary(b, PRT_OP_shape, prt_op_input(op, 0));
    const int64_t list = -1;
    tiles = prt_build_op(b, PRT_OP_cast, &to, 1, &tiles);
    tiles = prt_build_binary(b, PRT_OP_reshape, tiles, prt_build_i64s(b, 1, &list));
    axis = prt_build_op(b, PRT_OP_cast, &to, 1, &axis);
    axis = prt_build_binary(b, PRT_OP_reshape, axis, prt_build_i64s(b, 0, &list));
    const prt_concat_attrs front = { .axis = 0 };
    prt_value *both[2] = { prt_build_i64s(b, 1, &one), tiles };
    const prt_one_hot_attrs last = { .axis = -1 };
    prt_value *in[3] = { axis, prt_build_unary(b, PRT_OP_shape, shape),
        prt_build_op(b, PRT_OP_concat, &front, 2, both) };
    return prt_build_op(b, PRT_OP_one_hot, &last, 3, in);
}

/* In opset 1 the count and the axis are two scalars of the data's type. */
poprt_status prt_up_tile(prt_upgrade *u)
{
    prt_op *op = u->op;
    const prt_value *x = prt_op_input(op, 0);
    int64_t tiles, axis, repeats[PRT_MAX_RANK];
    prt_build b = prt_build_before(op);
    prt_value *list;
    if (x == NULL || prt_op_input(op, 1) == NULL || prt_op_input(op, 2) == NULL || op->n_in != 3)
        return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Tile: must have three inputs");
    if (!prt_type_is_tensor(x->type) || x->type->rank < 0 || x->type->rank > PRT_MAX_RANK ||
        !read_number(prt_op_input(op, 1), INT32_MAX, &tiles) ||
        !read_number(prt_op_input(op, 2), PRT_MAX_RANK, &axis)) {
        list = tiles_at_run(&b, op);
    } else {
        const int32_t rank = x->type->rank;
        axis = axis < 0 ? axis + rank : axis;
        if (axis < 0 || axis >= rank)
            return prt_fail(POPRT_E_SHAPE, prt_op_label(op), "Tile: the axis is outside rank %d",
                rank);
        for (int32_t i = 0; i < rank; i++)
            repeats[i] = i == axis ? tiles : 1;
        list = prt_build_i64s(&b, (uint32_t)rank, repeats);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, list);
    prt_op_set_input(op, 2, NULL);
    op->n_in = 2;
    return POPRT_OK;
}
