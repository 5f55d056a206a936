/* SPDX-License-Identifier: MIT */
/* alias.c — views, concatenations without copies and results in place, by the rows' traits. */
#include "op/alias.h"

bool prt_alias_may_view(const prt_op_def *def)
{
    const uint32_t views = PRT_VIEW | PRT_PURE;
    return (def->traits & views) == views || (def->traits & PRT_MAY_VIEW) != 0;
}

bool prt_view_has(const prt_view_query *q, uint32_t k)
{
    return k < q->n_in && q->in[k] != NULL && q->in[k]->kind != PRT_VALUE_ABSENT;
}

bool prt_view_is_unknown(const prt_view_query *q, uint32_t k)
{
    return prt_view_has(q, k) && (q->in[k]->kind != PRT_VALUE_TENSOR || q->in[k]->data == NULL);
}

int64_t prt_view_integer(const prt_view_query *q, uint32_t k, size_t at, int64_t absent)
{
    return prt_view_has(q, k) ? prt_load_i64(q->in[k]->dtype, q->in[k]->data, at) : absent;
}

/* A box is contiguous if all axes below the innermost sliced axis are whole, and all dims above it
 * are 1. */
bool prt_view_box(const prt_view_query *q, const int64_t *first, size_t *element)
{
    const prt_tensor *x = q->in[0], *y = q->y;
    bool cut = false;
    *element = 0;
    if (x->rank != y->rank)
        return false;
    for (uint32_t i = x->rank; i-- > 0;) {
        if (first[i] < 0 || y->dims[i] < 0 || first[i] > x->dims[i] - y->dims[i] ||
            (cut && y->dims[i] != 1))
            return false;
        cut = cut || y->dims[i] != x->dims[i];
        *element += (size_t)first[i] * prt_dims_product(x->dims, i + 1, x->rank);
    }
    return true;
}

/* The elements of the type have addresses of their own, and no memory outside the tensor. */
static bool has_plain_elements(int32_t dtype)
{
    return prt_dtype_bits(dtype) >= 8 && dtype != PRT_DTYPE_string;
}

bool prt_alias_view(const prt_op_def *def, const prt_view_query *q, size_t *offset)
{
    const prt_tensor *x = q->n_in != 0 ? q->in[0] : NULL, *y = q->y;
    size_t element = 0;
    *offset = 0;
    if (!prt_alias_may_view(def) || x == NULL || x->kind != PRT_VALUE_TENSOR ||
        y->kind != PRT_VALUE_TENSOR || x->dtype != y->dtype || !has_plain_elements(y->dtype))
        return false;
    if (def->hooks->view != NULL ? !def->hooks->view(q, &element) : q->i != 0 || x->size != y->size)
        return false;
    *offset = element * (prt_dtype_bits(y->dtype) / 8);
    return *offset <= x->size && y->size <= x->size - *offset;
}

static int64_t axis_of(const prt_op_def *def, const void *attrs)
{
    const uint32_t k = prt_op_attr(def, PRT_STR("axis"));
    return *(const int64_t *)(const void *)((const char *)attrs + def->attrs[k].offset);
}

bool prt_alias_concat_is_contiguous(const prt_op_def *def, const void *attrs, const prt_tensor *y)
{
    if (!prt_alias_is_concat(def) || y->kind != PRT_VALUE_TENSOR || !has_plain_elements(y->dtype))
        return false;
    const int64_t given = axis_of(def, attrs);
    const int64_t axis = given < 0 ? given + y->rank : given;
    return axis >= 0 && axis < (int64_t)y->rank &&
        prt_dims_product(y->dims, 0, (uint32_t)axis) == 1;
}

bool prt_alias_is_along_columns(const prt_op_def *def, const void *attrs, uint32_t rank)
{
    if ((!prt_alias_is_concat(def) && !prt_alias_is_split(def)) || rank == 0)
        return false;
    const int64_t axis = axis_of(def, attrs);
    return axis == -1 || axis == (int64_t)rank - 1;
}

bool prt_alias_takes_columns(const prt_op_def *def, const void *attrs, const prt_type *type,
    bool out, uint32_t i)
{
    const bool bytes = type->dtype == PRT_DTYPE_u8 || type->dtype == PRT_DTYPE_i8;
    const prt_slot_def *slot = out ? prt_op_out_slot(def, i) : prt_op_in_slot(def, i);
    if (!prt_type_is_tensor(type) || type->rank <= 0 || (!bytes && type->dtype != PRT_DTYPE_f32) ||
        slot == NULL || (slot->flags & PRT_SLOT_COLUMNS) == 0)
        return false;
    if (prt_alias_is_concat(def) || prt_alias_is_split(def))
        return prt_alias_is_along_columns(def, attrs, (uint32_t)type->rank);
    return def->hooks->columns == NULL || def->hooks->columns(attrs, out, i);
}

bool prt_alias_in_place(const prt_op_def *def, uint32_t n_in, uint32_t in)
{
    if (in >= n_in)
        return false;
    return (def->traits & PRT_IN_PLACE_ALL) != 0 ||
        (n_in <= 2 && (def->traits & PRT_IN_PLACE) != 0) ||
        (in == 0 && (def->traits & PRT_IN_PLACE_FIRST) != 0);
}
