/* SPDX-License-Identifier: MIT */
/* call.c — inputs, attributes and results of a node, for the functions of the rows. */
#include "ir/build_ops.h"
#include "tensorflow/convert.h"

#include <stdarg.h>
#include <stdio.h>

poprt_status prt_tf_refuse(prt_tf_call *call, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    const poprt_status status = prt_fail(POPRT_E_UNSUPPORTED, call->b.origin.data, "%s", text);
    if (call->status == POPRT_OK)
        call->status = status;
    if (call->b.status == POPRT_OK) /* so that no later failure of the builder hides this one */
        call->b.status = status;
    return status;
}

void prt_tf_warn(prt_tf_call *call, const char *fmt, ...)
{
    char text[600];
    const int n = snprintf(text, sizeof(text), "node '%.200s' (%.100s): ", call->b.origin.data,
        call->node->op.data != NULL ? call->node->row->name : "");
    va_list args;
    va_start(args, fmt);
    if (n > 0)
        (void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, args);
    va_end(args);
    const char *kept = prt_arena_text(call->c->arena, text, strlen(text));
    if (kept == NULL || !PRT_VEC_PUSH(call->c->arena, &call->c->warnings, prt_str_of(kept)))
        call->status = POPRT_E_NOMEM;
}

/* ---- inputs */

prt_value *prt_tf_in(prt_tf_call *call, uint32_t i)
{
    if (i < call->n_in && call->in[i].kind == PRT_TF_tensor)
        return call->in[i].value;
    if (call->status == POPRT_OK && i >= call->n_in)
        (void)prt_tf_refuse(call, "input %u is missing", i);
    else if (call->status == POPRT_OK)
        (void)prt_tf_refuse(call, "input %u is not a tensor but a %s", i,
            call->in[i].kind == PRT_TF_complex    ? "complex tensor"
                : call->in[i].kind == PRT_TF_list ? "list of tensors"
                                                  : "resource");
    return NULL;
}

prt_value *prt_tf_in_i64(prt_tf_call *call, uint32_t i, bool vector)
{
    prt_value *v = prt_build_cast(&call->b, prt_tf_in(call, i), PRT_DTYPE_i64);
    return vector && prt_tf_rank(v) != 1 ? prt_build_reshape(&call->b, v, 1, (int64_t[]){ -1 }) : v;
}

bool prt_tf_constant(prt_tf_call *call, uint32_t i, prt_tensor *out)
{
    return i < call->n_in && call->in[i].kind == PRT_TF_tensor &&
        prt_value_is_constant(call->in[i].value) &&
        prt_value_aligned(call->in[i].value, call->c->arena, out);
}

bool prt_tf_value_ints(prt_tf_call *call, const prt_value *v, uint32_t max, int64_t *to,
    uint32_t *count)
{
    prt_tensor t;
    if (v == NULL)
        return false;
    if (prt_value_is_constant(v) && prt_value_aligned(v, call->c->arena, &t) &&
        (prt_dtype_is_integer(t.dtype) || t.dtype == PRT_DTYPE_bool) &&
        prt_tensor_count(&t) <= max) {
        *count = (uint32_t)prt_tensor_count(&t);
        for (uint32_t k = 0; k < *count; k++)
            to[k] = prt_load_i64(t.dtype, t.data, k);
        return true;
    }
    if (v->content == NULL || v->content->count > max ||
        (v->type->dtype != PRT_DTYPE_i32 && v->type->dtype != PRT_DTYPE_i64))
        return false;
    *count = v->content->count;
    memcpy(to, v->content->values, *count * sizeof(int64_t));
    return true;
}

bool prt_tf_ints(prt_tf_call *call, uint32_t i, uint32_t max, int64_t *to, uint32_t *count)
{
    return i < call->n_in && call->in[i].kind == PRT_TF_tensor &&
        prt_tf_value_ints(call, call->in[i].value, max, to, count);
}

bool prt_tf_need_ints(prt_tf_call *call, uint32_t i, const char *what, uint32_t max, int64_t *to,
    uint32_t *count)
{
    bool known = prt_tf_ints(call, i, max, to, count);
    for (uint32_t k = 0; known && k < *count; k++)
        known = prt_dim_is_number(to[k]);
    if (!known && call->status == POPRT_OK)
        (void)prt_tf_refuse(call, "%s (input %u) must be a constant", what, i);
    return known;
}

bool prt_tf_need_int(prt_tf_call *call, uint32_t i, const char *what, int64_t *to)
{
    uint32_t count = 0;
    if (!prt_tf_need_ints(call, i, what, 1, to, &count))
        return false;
    if (count != 1)
        (void)prt_tf_refuse(call, "%s (input %u) must be one number", what, i);
    return count == 1;
}

int32_t prt_tf_rank(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

int64_t prt_tf_dim(const prt_value *v, uint32_t axis)
{
    return (int64_t)prt_tf_rank(v) > (int64_t)axis ? v->type->dims[axis] : PRT_DIM_UNKNOWN;
}

int32_t prt_tf_dtype(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->dtype : PRT_DTYPE_undefined;
}

int32_t prt_tf_need_rank(prt_tf_call *call, uint32_t i)
{
    const int32_t rank = prt_tf_rank(prt_tf_in(call, i));
    if (rank < 0 && call->status == POPRT_OK)
        (void)prt_tf_refuse(call, "the rank of input %u is not known", i);
    return rank;
}

/* ---- attributes */

bool prt_tf_attr_value_of(prt_tf_call *call, const char *name, prt_tf_attr_value *out,
    uint32_t *depth)
{
    const prt_tf_node *node = call->node;
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, prt_str_of(name));
    const prt_tf_scope *scope = call->scope;
    while (attr != NULL) {
        const poprt_status status = prt_tf_attr_read(attr, out);
        if (status != POPRT_OK) {
            call->status = status;
            return false;
        }
        *depth = attr->depth;
        if (out->kind != PRT_TF_ATTR_placeholder)
            return out->kind != PRT_TF_ATTR_none;
        attr = scope != NULL ? prt_tf_attr_find(scope->attrs, scope->n_attrs, out->s) : NULL;
        scope = scope != NULL ? scope->caller : NULL;
    }
    return false;
}

int64_t prt_tf_attr_i64(prt_tf_call *call, const char *name, int64_t absent)
{
    prt_tf_attr_value v;
    uint32_t depth;
    return prt_tf_attr_value_of(call, name, &v, &depth) ? v.i : absent;
}

float prt_tf_attr_f32(prt_tf_call *call, const char *name, float absent)
{
    prt_tf_attr_value v;
    uint32_t depth;
    return prt_tf_attr_value_of(call, name, &v, &depth) ? v.f : absent;
}

bool prt_tf_attr_bool(prt_tf_call *call, const char *name, bool absent)
{
    return prt_tf_attr_i64(call, name, absent) != 0;
}

prt_str prt_tf_attr_str(prt_tf_call *call, const char *name, const char *absent)
{
    prt_tf_attr_value v;
    uint32_t depth;
    return prt_tf_attr_value_of(call, name, &v, &depth) ? v.s : prt_str_of(absent);
}

bool prt_tf_attr_is(prt_tf_call *call, const char *name, const char *absent, const char *word)
{
    return prt_str_is(prt_tf_attr_str(call, name, absent), word);
}

int32_t prt_tf_attr_dtype(prt_tf_call *call, const char *name, int32_t absent)
{
    prt_tf_attr_value v;
    uint32_t depth;
    return prt_tf_attr_value_of(call, name, &v, &depth) ? prt_tf_dtype_of(v.i) : absent;
}

prt_i64s prt_tf_attr_ints(prt_tf_call *call, const char *name)
{
    prt_tf_attr_value v;
    uint32_t depth;
    prt_i64s list = { NULL, 0 };
    if (prt_tf_attr_value_of(call, name, &v, &depth)) {
        const poprt_status status = prt_tf_list_ints(call->c->arena, &v, depth + 1, &list);
        call->status = call->status != POPRT_OK ? call->status : status;
    }
    return list;
}

prt_f32s prt_tf_attr_floats(prt_tf_call *call, const char *name)
{
    prt_tf_attr_value v;
    uint32_t depth;
    prt_f32s list = { NULL, 0 };
    if (prt_tf_attr_value_of(call, name, &v, &depth)) {
        const poprt_status status = prt_tf_list_floats(call->c->arena, &v, depth + 1, &list);
        call->status = call->status != POPRT_OK ? call->status : status;
    }
    return list;
}

prt_strs prt_tf_attr_texts(prt_tf_call *call, const char *name)
{
    prt_tf_attr_value v;
    uint32_t depth;
    prt_strs list = { NULL, 0 };
    if (prt_tf_attr_value_of(call, name, &v, &depth)) {
        const poprt_status status = prt_tf_list_texts(call->c->arena, &v, depth + 1, &list);
        call->status = call->status != POPRT_OK ? call->status : status;
    }
    return list;
}

bool prt_tf_attr_shape(prt_tf_call *call, const char *name, int32_t *rank,
    int64_t dims[PRT_MAX_RANK])
{
    prt_tf_attr_value v;
    uint32_t depth;
    if (!prt_tf_attr_value_of(call, name, &v, &depth) || v.kind != PRT_TF_ATTR_shape)
        return false;
    const poprt_status status = prt_tf_shape_read(v.bytes, depth + 1, rank, dims);
    call->status = call->status != POPRT_OK ? call->status : status;
    return status == POPRT_OK;
}

/* ---- results */

void prt_tf_set(prt_tf_call *call, uint32_t k, prt_value *value)
{
    if (value != NULL)
        prt_tf_set_value(call, k, (prt_tf_value){ .kind = PRT_TF_tensor, .value = value });
}

void prt_tf_set_value(prt_tf_call *call, uint32_t k, prt_tf_value value)
{
    if (k < call->n_out)
        call->out[k] = value;
}

poprt_status prt_tf_end(prt_tf_call *call)
{
    return call->status != POPRT_OK ? call->status : prt_build_status(&call->b);
}

poprt_status prt_tf_end_with(prt_tf_call *call, prt_value *value)
{
    prt_tf_set(call, 0, value);
    return prt_tf_end(call);
}
