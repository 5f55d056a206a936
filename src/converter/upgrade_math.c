/* SPDX-License-Identifier: MIT */
/*
 * upgrade_math.c — upgrades element-wise operators: broadcasting by attributes (Add to Xor before
 * opset 7), slopes by channel (PRelu), bounds and ratios that were attributes (Clip, Dropout), and
 * element types as text (Cast).
 */
#include "converter/conversions.h"

#include "converter/onnx_raw.h"

/* The default constants of opset 1 have fewer digits. */
poprt_status prt_up_selu(prt_upgrade *u)
{
    prt_selu_attrs *a = u->op->attrs;
    const uint32_t alpha = prt_op_attr(u->op->def, PRT_STR("alpha"));
    const uint32_t gamma = prt_op_attr(u->op->def, PRT_STR("gamma"));
    if (!prt_attr_given(a, alpha))
        a->alpha = 1.6732f;
    if (!prt_attr_given(a, gamma))
        a->gamma = 1.0507f;
    a->present |= (uint64_t)1 << alpha | (uint64_t)1 << gamma;
    prt_op_touch(u->op);
    return POPRT_OK;
}

/* Appends `count` dims of 1 to the `rank` dims of input `slot`. */
static poprt_status append_ones(prt_op *op, uint32_t slot, int32_t rank, int64_t count)
{
    int64_t axes[PRT_MAX_RANK];
    if (rank < 0 || count < 0 || rank + count > PRT_MAX_RANK)
        return prt_fail(POPRT_E_SHAPE, prt_op_label(op), "%s: input %u does not fit in input 0",
            op->def->name, slot);
    if (count == 0)
        return POPRT_OK;
    for (int64_t i = 0; i < count; i++)
        axes[i] = rank + i;
    prt_build b = prt_build_before(op);
    prt_value *wider = prt_build_binary(&b, PRT_OP_unsqueeze, prt_op_input(op, slot),
        prt_build_i64s(&b, (uint32_t)count, axes));
    if (wider != NULL)
        prt_op_set_input(op, slot, wider);
    return prt_build_status(&b);
}

/*
 * Like append_ones for ranks known only at run time: extends input 1 to the rank of input 0 minus
 * `from`, or to rank `-from` if `from` is negative. A negative count is treated as 0.
 */
static poprt_status append_ones_at_run(prt_op *op, int64_t from)
{
    const prt_reshape_attrs exact = { .allowzero = 1 };
    const int64_t one = 1, zero = 0;
    const prt_tensor fill = { .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_i64,
        .rank = 1,
        .dims = { 1 },
        .data = (void *)(uintptr_t)&one,
        .size = sizeof(one) };
    const prt_constant_of_shape_attrs ones = { .value = &fill };
    prt_build b = prt_build_before(op);
    prt_value *a_shape = prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, 0));
    prt_value *shape[2] = { prt_build_unary(&b, PRT_OP_shape, prt_op_input(op, 1)), NULL };
    prt_value *rank =
        from < 0 ? prt_build_i64s(&b, 1, &zero) : prt_build_unary(&b, PRT_OP_shape, a_shape);
    prt_value *count = prt_build_binary(&b, PRT_OP_sub, rank, prt_build_i64s(&b, 1, &from));
    count = prt_build_binary(&b, PRT_OP_sub, count, prt_build_unary(&b, PRT_OP_shape, shape[0]));
    count = prt_build_binary(&b, PRT_OP_max, count, prt_build_i64s(&b, 1, &zero));
    shape[1] = prt_build_op(&b, PRT_OP_constant_of_shape, &ones, 1, &count);
    const prt_concat_attrs front = { .axis = 0 };
    prt_value *in[2] = { prt_op_input(op, 1), prt_build_op(&b, PRT_OP_concat, &front, 2, shape) };
    prt_value *wider = prt_build_op(&b, PRT_OP_reshape, &exact, 2, in);
    if (wider != NULL)
        prt_op_set_input(op, 1, wider);
    return prt_build_status(&b);
}

/* Returns the rank of a value's type, or PRT_RANK_UNKNOWN. */
static int32_t rank_of(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

static bool has_one_element(const prt_value *v)
{
    uint64_t count;
    return v != NULL && prt_type_is_tensor(v->type) && prt_type_count(v->type, &count) &&
        count == 1;
}

/* The dims of B align with the dims of A from `axis` on; without it with the last ones, as in
 * numpy. */
poprt_status prt_up_broadcast(prt_upgrade *u)
{
    prt_op *op = u->op;
    const int64_t broadcast = prt_upgrade_i64(u, "broadcast", 0);
    const prt_node_attr *given = prt_upgrade_attr(u, "axis");
    int64_t axis = prt_upgrade_i64(u, "axis", 0);
    if (broadcast == 0 || given == NULL || has_one_element(prt_op_input(op, 1)))
        return POPRT_OK;
    const int32_t a = rank_of(prt_op_input(op, 0)), b = rank_of(prt_op_input(op, 1));
    if (a < 0 || b < 0)
        return append_ones_at_run(op, axis);
    if (axis < -a || axis > a)
        return prt_fail(POPRT_E_SHAPE, prt_op_label(op), "%s: axis %lld is outside [%d, %d]",
            op->def->name, (long long)axis, -a, a);
    axis += axis < 0 ? a : 0;
    return append_ones(op, 1, b, a - axis - b);
}

/* PRelu has one slope for each channel, on axis 1, for any number of dims after it. */
poprt_status prt_up_prelu(prt_upgrade *u)
{
    prt_op *op = u->op;
    const int32_t x = rank_of(prt_op_input(op, 0)), slope = rank_of(prt_op_input(op, 1));
    if (slope == 0 || slope > 1 || has_one_element(prt_op_input(op, 1)))
        return POPRT_OK;
    if (x < 0 || slope < 0)
        return append_ones_at_run(op, 1);
    return x > 2 ? append_ones(op, 1, 1, x - 2) : POPRT_OK;
}

static int64_t type_by_onnx_name(prt_str name)
{
    static const struct {
        const char *name;
        int32_t dtype;
    } names[] = {
        { "FLOAT", PRT_DTYPE_f32 },
        { "UINT8", PRT_DTYPE_u8 },
        { "INT8", PRT_DTYPE_i8 },
        { "UINT16", PRT_DTYPE_u16 },
        { "INT16", PRT_DTYPE_i16 },
        { "INT32", PRT_DTYPE_i32 },
        { "INT64", PRT_DTYPE_i64 },
        { "STRING", PRT_DTYPE_string },
        { "BOOL", PRT_DTYPE_bool },
        { "FLOAT16", PRT_DTYPE_f16 },
        { "DOUBLE", PRT_DTYPE_f64 },
        { "UINT32", PRT_DTYPE_u32 },
        { "UINT64", PRT_DTYPE_u64 },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(name, names[i].name))
            return names[i].dtype;
    return 0;
}

poprt_status prt_up_cast(prt_upgrade *u)
{
    prt_cast_attrs *a = u->op->attrs;
    const prt_node_attr *to = prt_upgrade_attr(u, "to");
    if (to == NULL || to->kind != PRT_ONNX_STRING)
        return POPRT_OK;
    a->to = type_by_onnx_name(to->s);
    if (a->to == 0)
        return prt_fail(POPRT_E_TYPE, prt_op_label(u->op), "Cast: \"%.*s\" is not an element type",
            PRT_STR_ARG(to->s));
    a->present |= (uint64_t)1 << prt_op_attr(u->op->def, PRT_STR("to"));
    prt_op_touch(u->op);
    return POPRT_OK;
}

/* Returns a scalar of the type of `like`, even if that type is still unknown. */
static prt_value *scalar_like(prt_build *b, double value, prt_value *like)
{
    const int32_t dtype =
        like != NULL && prt_type_is_tensor(like->type) ? like->type->dtype : PRT_DTYPE_undefined;
    if (dtype != PRT_DTYPE_undefined && dtype != PRT_DTYPE_string)
        return prt_build_scalar(b, dtype, value);
    return prt_build_binary(b, PRT_OP_cast_like, prt_build_scalar(b, PRT_DTYPE_f32, value), like);
}

poprt_status prt_up_clip(prt_upgrade *u)
{
    prt_op *op = u->op;
    prt_value *bounds[2] = { NULL, NULL };
    const prt_node_attr *attrs[2] = { prt_upgrade_attr(u, "min"), prt_upgrade_attr(u, "max") };
    prt_build b = prt_build_before(op);
    for (uint32_t i = 0; i < 2; i++)
        if (attrs[i] != NULL && attrs[i]->kind != PRT_ONNX_FLOAT)
            return prt_fail(POPRT_E_PARSE, prt_op_label(op), "Clip: %s must be a float",
                i == 0 ? "min" : "max");
        else if (attrs[i] != NULL)
            bounds[i] = scalar_like(&b, (double)attrs[i]->f, prt_op_input(op, 0));
    PRT_TRY(prt_build_status(&b));
    const uint32_t count = bounds[1] != NULL ? 2 : bounds[0] != NULL ? 1 : 0;
    for (uint32_t i = 0; i < count; i++)
        if (op->n_in > i + 1)
            prt_op_set_input(op, i + 1, bounds[i]);
        else
            PRT_TRY(prt_op_add_input(op, bounds[i]));
    return POPRT_OK;
}

/* The mask had the type of the data, so its readers get the mask cast to that type. */
static poprt_status keep_mask_type(prt_op *op)
{
    if (op->n_out < 2 || (op->out[1].name.size == 0 && !prt_value_used(&op->out[1])))
        return POPRT_OK;
    prt_value *mask = &op->out[1], *as_data = NULL;
    prt_build b = prt_build_at_end(op->graph);
    b.before = op->next;
    b.origin = op->origin;
    b.like = op;
    as_data = prt_build_binary(&b, PRT_OP_cast_like, mask, prt_op_input(op, 0));
    PRT_TRY(prt_build_status(&b));
    prt_build_replace_uses(&b, mask, as_data);
    prt_op_set_input(as_data->def, 0, mask);
    return prt_build_status(&b);
}

/* Before opset 7 the attribute is_test selected the mode, and training was the default. */
poprt_status prt_up_dropout_test(prt_upgrade *u)
{
    if (prt_upgrade_i64(u, "is_test", 0) != 0)
        return POPRT_OK;
    prt_build b = prt_build_before(u->op);
    prt_value *yes = prt_build_scalar(&b, PRT_DTYPE_bool, 1.0);
    PRT_TRY(prt_build_status(&b));
    while (u->op->n_in <= 2)
        PRT_TRY(prt_op_add_input(u->op, NULL));
    prt_op_set_input(u->op, 2, yes);
    return POPRT_OK;
}

/* Before opset 12 the ratio was an attribute; before opset 10 the mask had the type of the data. */
poprt_status prt_up_dropout(prt_upgrade *u)
{
    prt_op *op = u->op;
    const float ratio = prt_upgrade_f32(u, "ratio", 0.5f);
    prt_build b = prt_build_before(op);
    prt_value *value = prt_build_scalar(&b, PRT_DTYPE_f32, (double)ratio);
    PRT_TRY(prt_build_status(&b));
    while (op->n_in <= 1)
        PRT_TRY(prt_op_add_input(op, NULL));
    prt_op_set_input(op, 1, value);
    return u->version < 10 ? keep_mask_type(op) : POPRT_OK;
}
