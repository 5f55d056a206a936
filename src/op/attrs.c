/* SPDX-License-Identifier: MIT */
/* attrs.c — equality and copying of attribute structs through their reflection rows. */
#include "op/op.h"

static const void *field(const void *attrs, const prt_attr_def *row)
{
    return (const char *)attrs + row->offset;
}

static bool tensors_equal(const prt_tensor *a, const prt_tensor *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->dtype != b->dtype || a->rank != b->rank || a->size != b->size)
        return false;
    if (memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) != 0)
        return false;
    if (a->dtype != PRT_DTYPE_string)
        return memcmp(a->data, b->data, a->size) == 0;
    const poprt_string *x = a->data, *y = b->data;
    for (size_t i = 0; i < prt_tensor_count(a); i++)
        if (x[i].size != y[i].size || memcmp(x[i].data, y[i].data, x[i].size) != 0)
            return false;
    return true;
}

static bool field_equal(uint32_t kind, const void *a, const void *b)
{
    switch (kind) {
    case PRT_ATTR_i64:
        return *(const int64_t *)a == *(const int64_t *)b;
    case PRT_ATTR_f32:
        return memcmp(a, b, sizeof(float)) == 0;
    case PRT_ATTR_str:
        return prt_str_equal(*(const prt_str *)a, *(const prt_str *)b);
    case PRT_ATTR_i64s: {
        const prt_i64s *x = a, *y = b;
        return x->count == y->count &&
            (x->count == 0 || memcmp(x->data, y->data, x->count * sizeof(int64_t)) == 0);
    }
    case PRT_ATTR_f32s: {
        const prt_f32s *x = a, *y = b;
        return x->count == y->count &&
            (x->count == 0 || memcmp(x->data, y->data, x->count * sizeof(float)) == 0);
    }
    case PRT_ATTR_strs: {
        const prt_strs *x = a, *y = b;
        if (x->count != y->count)
            return false;
        for (uint32_t i = 0; i < x->count; i++)
            if (!prt_str_equal(x->data[i], y->data[i]))
                return false;
        return true;
    }
    case PRT_ATTR_tensor:
        return tensors_equal(*(const prt_tensor *const *)a, *(const prt_tensor *const *)b);
    case PRT_ATTR_graph:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case PRT_ATTR_act:
    case PRT_ATTR_form:
    case PRT_ATTR_products:
        return *(const int32_t *)a == *(const int32_t *)b;
    default:
        return *(const prt_type *const *)a == *(const prt_type *const *)b;
    }
}

bool prt_attrs_equal(const prt_op_def *def, const void *a, const void *b)
{
    if (*(const uint64_t *)a != *(const uint64_t *)b)
        return false;
    for (uint32_t i = 0; i < def->n_attrs; i++)
        if (!field_equal(def->attrs[i].kind, field(a, &def->attrs[i]), field(b, &def->attrs[i])))
            return false;
    return true;
}

static bool clone_str(prt_arena *arena, prt_str *s)
{
    if (s->data == NULL)
        return true;
    s->data = prt_arena_text(arena, s->data, s->size);
    return s->data != NULL;
}

static bool clone_tensor(prt_arena *arena, const prt_tensor **tensor)
{
    if (*tensor == NULL)
        return true;
    prt_tensor *t = prt_arena_copy(arena, *tensor, sizeof(prt_tensor));
    if (t == NULL || (t->data = prt_arena_copy(arena, t->data, t->size)) == NULL)
        return false;
    if (t->dtype == PRT_DTYPE_string) {
        poprt_string *s = t->data;
        for (size_t i = 0; i < prt_tensor_count(t); i++)
            if ((s[i].data = prt_arena_text(arena, s[i].data, s[i].size)) == NULL)
                return false;
    }
    *tensor = t;
    return true;
}

static bool clone_field(prt_arena *arena, uint32_t kind, void *a)
{
    switch (kind) {
    case PRT_ATTR_str:
        return clone_str(arena, a);
    case PRT_ATTR_i64s: {
        prt_i64s *x = a;
        x->data = prt_arena_copy(arena, x->data, x->count * sizeof(int64_t));
        return x->data != NULL;
    }
    case PRT_ATTR_f32s: {
        prt_f32s *x = a;
        x->data = prt_arena_copy(arena, x->data, x->count * sizeof(float));
        return x->data != NULL;
    }
    case PRT_ATTR_strs: {
        prt_strs *x = a;
        prt_str *copy = prt_arena_copy(arena, x->data, x->count * sizeof(prt_str));
        if (copy == NULL)
            return false;
        for (uint32_t i = 0; i < x->count; i++)
            if (!clone_str(arena, &copy[i]))
                return false;
        x->data = copy;
        return true;
    }
    case PRT_ATTR_tensor:
        return clone_tensor(arena, a);
    default: /* Numbers are in the struct. A type belongs to a pool that the caller translates. */
        return true;
    }
}

void *prt_attrs_clone(const prt_op_def *def, prt_arena *arena, const void *attrs)
{
    char *copy = prt_arena_copy(arena, attrs, def->attrs_size);
    if (copy == NULL)
        return NULL;
    for (uint32_t i = 0; i < def->n_attrs; i++)
        if (!clone_field(arena, def->attrs[i].kind, copy + def->attrs[i].offset))
            return NULL;
    return copy;
}
