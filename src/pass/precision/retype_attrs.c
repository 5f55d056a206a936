/* SPDX-License-Identifier: MIT */
/*
 * retype_attrs.c — attributes that determine results: the target type of Cast, the value of
 * ConstantOfShape, the type of an empty Optional, the number for masked or missing elements.
 */
#include "pass/precision/retype_state.h"

/* Returns whether the attribute is an integer that names the element type of output 0. */
static bool names_a_type(const prt_attr_def *row)
{
    static const char *const names[] = { "to", "dtype", "output_dtype", "output_datatype",
        "outDataType" };
    for (size_t i = 0; row->kind == PRT_ATTR_i64 && i < PRT_COUNT_OF(names); i++)
        if (strcmp(prt_attr_name(row), names[i]) == 0)
            return true;
    return false;
}

/* Returns the op's own_attrs copy of its attributes, cloned at the first change, so that a failure
 * can restore the old ones. */
static void *own_attrs(prt_retype_state *s, prt_op *op, bool *any)
{
    if (!*any)
        op->attrs = prt_attrs_clone(op->def, s->p->module->arena, op->attrs);
    *any = true;
    return op->attrs;
}

static void mark_given(const prt_op *op, uint32_t index)
{
    *(uint64_t *)op->attrs |= (uint64_t)1 << index;
}

/* Gives a ConstantOfShape a value of its own_attrs with the type and shape of `like`; returns a
 * pointer to its element, which is 0. */
static void *own_fill_value(prt_retype_state *s, prt_op *op, const prt_tensor *like, bool *any)
{
    prt_constant_of_shape_attrs *a = own_attrs(s, op, any);
    prt_tensor *value = PRT_NEW(s->p->module->arena, prt_tensor);
    void *data = prt_arena_alloc(s->p->module->arena, sizeof(int64_t));
    if (a == NULL || value == NULL || data == NULL)
        return NULL;
    *value = *like;
    value->data = data;
    PRT_ATTR_SET(*a, constant_of_shape, value, value);
    return data;
}

/* Without the attribute, the value is a float 0. */
static poprt_status retype_fill(prt_retype_state *s, prt_op *op, bool *any)
{
    const prt_retype *how = s->how;
    const prt_tensor *old = ((const prt_constant_of_shape_attrs *)op->attrs)->value;
    const int64_t one = 1;
    prt_tensor t;
    if ((old != NULL ? old->dtype : (int32_t)PRT_DTYPE_f32) != how->from)
        return POPRT_OK;
    (void)prt_tensor_init(&t, how->to, 1, &one, NULL);
    void *data = own_fill_value(s, op, &t, any);
    if (data == NULL)
        return POPRT_E_NOMEM;
    if (old != NULL && prt_dtype_is_float(how->to)) {
        prt_store_f64(how->to, data, 0,
            prt_retype_clip(how, prt_load_f64(old->dtype, old->data, 0)));
    } else if (old != NULL) {
        int64_t number = prt_load_i64(old->dtype, old->data, 0);
        number = number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number;
        prt_store_i64(how->to, data, 0, number);
    }
    return POPRT_OK;
}

/* Clips the value of an op that stays `from`: a Cast of its result to `to` might round the value to
 * infinity. */
poprt_status prt_retype_clip_fill(prt_retype_state *s, prt_op *op)
{
    bool any = false;
    if (!s->how->quiet || !prt_op_is(op, PRT_OP_constant_of_shape))
        return POPRT_OK;
    const prt_tensor *old = ((const prt_constant_of_shape_attrs *)op->attrs)->value;
    if (old == NULL || old->dtype != s->how->from)
        return POPRT_OK;
    const double number = prt_load_f64(old->dtype, old->data, 0);
    const double now = prt_retype_clip(s->how, number);
    if (!(now < number || now > number))
        return POPRT_OK;
    void *data = own_fill_value(s, op, old, &any);
    if (data == NULL)
        return POPRT_E_NOMEM;
    prt_store_f64(old->dtype, data, 0, now);
    prt_op_touch(op);
    s->changed = true;
    return POPRT_OK;
}

/* Returns whether output 0 can become `to`, or is a sequence that contains `from`. */
static bool may_become_to(const prt_retype_state *s, const prt_op *op)
{
    return prt_retype_wraps(op->out[0].type, s->how->from) ||
        prt_retype_allows(op, prt_op_out_slot(op->def, 0), s->how->to);
}

/* Returns whether the attribute is a float that stands for a tensor element. */
static bool is_element(const prt_attr_def *row)
{
    static const char *const names[] = { "extrapolation_value", "filter_value",
        "mask_filter_value" };
    for (size_t i = 0; row->kind == PRT_ATTR_f32 && i < PRT_COUNT_OF(names); i++)
        if (strcmp(prt_attr_name(row), names[i]) == 0)
            return true;
    return false;
}

/* The largest number of `to` is exact in float32, so the clipped attribute is exact. */
static poprt_status clip_element(prt_retype_state *s, prt_op *op, uint32_t index, bool *any)
{
    const prt_attr_def *row = &op->def->attrs[index];
    if (!is_element(row) || !may_become_to(s, op))
        return POPRT_OK;
    const float old = *(const float *)(const void *)((const char *)op->attrs + row->offset);
    const float now = (float)prt_retype_clip(s->how, (double)old);
    if (!(now < old || now > old))
        return POPRT_OK;
    char *attrs = own_attrs(s, op, any);
    if (attrs == NULL)
        return POPRT_E_NOMEM;
    *(float *)(void *)(attrs + row->offset) = now;
    mark_given(op, index);
    return POPRT_OK;
}

/* Returns whether the attribute names `from`. Without the attribute an empty sequence has float
 * elements. */
static bool names_from(const prt_retype_state *s, const prt_op *op, int64_t value)
{
    return value == s->how->from ||
        (value == PRT_DTYPE_undefined && s->how->from == PRT_DTYPE_f32 &&
            prt_op_is(op, PRT_OP_sequence_empty));
}

static poprt_status retype_row(prt_retype_state *s, prt_op *op, uint32_t index, bool *any)
{
    const prt_attr_def *row = &op->def->attrs[index];
    const void *field = (const char *)op->attrs + row->offset;
    if (names_a_type(row) && names_from(s, op, *(const int64_t *)field) && may_become_to(s, op)) {
        char *attrs = own_attrs(s, op, any);
        if (attrs == NULL)
            return POPRT_E_NOMEM;
        *(int64_t *)(void *)(attrs + row->offset) = s->how->to;
        mark_given(op, index);
    }
    if (row->kind == PRT_ATTR_type && *(const prt_type *const *)field != NULL) {
        const prt_type *type = prt_retype_type(s, *(const prt_type *const *)field);
        if (type == *(const prt_type *const *)field)
            return POPRT_OK;
        char *attrs = own_attrs(s, op, any);
        if (attrs == NULL || type == NULL)
            return POPRT_E_NOMEM;
        *(const prt_type **)(void *)(attrs + row->offset) = type;
    }
    return POPRT_OK;
}

poprt_status prt_retype_attrs(prt_retype_state *s, prt_op *op, bool *any)
{
    *any = false;
    for (uint32_t i = 0; s->how->clip && i < op->def->n_attrs; i++)
        PRT_TRY(clip_element(s, op, i, any));
    if (!s->how->attrs)
        return POPRT_OK;
    if (prt_op_is(op, PRT_OP_constant_of_shape))
        return retype_fill(s, op, any);
    for (uint32_t i = 0; i < op->def->n_attrs; i++)
        PRT_TRY(retype_row(s, op, i, any));
    return POPRT_OK;
}
