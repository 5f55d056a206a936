/* SPDX-License-Identifier: MIT */
/* type_wrap.c — types of sequences and optionals, and the join of two types. */
#include "op/share/type_wrap.h"

prt_shape prt_type_wrap_elem(const prt_shape *s)
{
    prt_shape elem = prt_shape_open(s->dtype);
    const prt_type *type = s->elem;
    if (type == NULL)
        return elem;
    elem.kind = type->kind;
    elem.dtype = type->dtype;
    elem.elem = type->elem;
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return elem;
    elem.rank = type->rank;
    if (type->rank > 0)
        memcpy(elem.dims, type->dims, (size_t)type->rank * sizeof(int64_t));
    return elem;
}

/* Returns the interned type of a shape; NULL with `refused` set if the pool is out of memory. */
static const prt_type *type_of(prt_infer *c, const prt_shape *s, bool *refused)
{
    const prt_type *type = NULL;
    *refused = false;
    if (c->types == NULL)
        return NULL;
    if (s->kind == PRT_VALUE_TENSOR)
        type = prt_type_tensor(c->types, s->dtype, s->rank, s->dims);
    else if (s->kind == PRT_VALUE_UNKNOWN && s->dtype != PRT_DTYPE_undefined)
        type = prt_type_tensor(c->types, s->dtype, PRT_RANK_UNKNOWN, NULL);
    else if (s->kind == PRT_VALUE_UNKNOWN)
        return NULL;
    else
        type = prt_type_wrap(c->types, s->kind, s->dtype, s->elem);
    *refused = type == NULL;
    return type;
}

poprt_status prt_type_wrap_set(prt_infer *c, uint32_t i, int32_t kind, const prt_shape *elem)
{
    if (!prt_infer_wants(c, i))
        return POPRT_OK;
    bool refused;
    const prt_type *type = type_of(c, elem, &refused);
    if (refused)
        return POPRT_E_NOMEM;
    c->out[i] =
        (prt_shape){ .kind = kind, .dtype = elem->dtype, .rank = PRT_RANK_UNKNOWN, .elem = type };
    return POPRT_OK;
}

void prt_type_wrap_copy(prt_infer *c, uint32_t i, const prt_shape *s)
{
    if (prt_infer_wants(c, i))
        c->out[i] = *s;
}

/* Joins tensors of one element type: dims that differ become unknown. */
static void join_tensors(prt_shape *to, const prt_shape *other)
{
    if (to->rank != other->rank)
        to->rank = PRT_RANK_UNKNOWN;
    for (int32_t k = 0; k < to->rank; k++)
        if (to->dims[k] != other->dims[k])
            to->dims[k] = PRT_DIM_UNKNOWN;
}

void prt_type_wrap_merge(prt_infer *c, prt_shape *to, const prt_shape *other)
{
    if (to->dtype != other->dtype || to->kind != other->kind) {
        *to = prt_shape_open(to->dtype == other->dtype ? to->dtype : PRT_DTYPE_undefined);
        return;
    }
    if (to->kind == PRT_VALUE_TENSOR) {
        join_tensors(to, other);
        return;
    }
    if (to->elem == other->elem || to->kind == PRT_VALUE_UNKNOWN)
        return;
    /* Item types are joined one level deep; deeper differences leave the item type unknown. */
    prt_shape a = prt_type_wrap_elem(to);
    const prt_shape b = prt_type_wrap_elem(other);
    to->elem = NULL;
    if (a.kind != PRT_VALUE_TENSOR || b.kind != PRT_VALUE_TENSOR || a.dtype != b.dtype)
        return;
    bool refused;
    join_tensors(&a, &b);
    to->elem = type_of(c, &a, &refused);
}
