/* SPDX-License-Identifier: MIT */
/* downgrade_tools.c — helpers of the downgrade hooks: attributes as bytes, constants, edits. */
#include "converter/downgrade.h"

#include <stdarg.h>
#include <stdio.h>

#include "converter/history.h"
#include "converter/onnx_raw.h"
#include "converter/encode.h"

poprt_status prt_down_refuse(const prt_downgrade *d, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(d->op), "%s", text);
}

/* ---- attributes as ONNX bytes ---- */

static void put_attr(prt_encoder *p, const prt_node_attr *a)
{
    const prt_encode_mark mark = prt_encode_open(p, PRT_ONNX_Node_attribute);
    prt_encode_str(p, PRT_ONNX_Attribute_name, a->name);
    switch (a->kind) {
    case PRT_ONNX_INT:
        prt_encode_int(p, PRT_ONNX_Attribute_i, a->i);
        break;
    case PRT_ONNX_FLOAT:
        prt_encode_float(p, PRT_ONNX_Attribute_f, a->f);
        break;
    case PRT_ONNX_STRING:
        prt_encode_str(p, PRT_ONNX_Attribute_s, a->s);
        break;
    case PRT_ONNX_INTS:
        for (uint32_t i = 0; i < a->ints.count; i++)
            prt_encode_int(p, PRT_ONNX_Attribute_ints, a->ints.data[i]);
        break;
    default:
        for (uint32_t i = 0; i < a->floats.count; i++)
            prt_encode_float(p, PRT_ONNX_Attribute_floats, a->floats.data[i]);
        break;
    }
    prt_encode_int(p, PRT_ONNX_Attribute_type, a->kind);
    prt_encode_close(p, mark);
}

typedef struct sink {
    unsigned char *bytes;
    size_t size;
} sink;

static int32_t collect(void *user, const void *bytes, size_t size)
{
    sink *s = user;
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return 0;
}

static poprt_status add_attr(prt_downgrade *d, const prt_node_attr *a)
{
    prt_arena *arena = d->op->graph->module->arena;
    prt_encoder p;
    prt_encode_count(&p, arena);
    put_attr(&p, a);
    PRT_TRY(prt_encode_end(&p));
    const size_t size = prt_encode_size(&p);
    prt_raw *raw = PRT_NEW(arena, prt_raw);
    sink s = { PRT_NEW_N(arena, unsigned char, size), 0 };
    if (raw == NULL || s.bytes == NULL)
        return POPRT_E_NOMEM;
    prt_encode_write(&p, collect, &s);
    put_attr(&p, a);
    PRT_TRY(prt_encode_end(&p));
    *raw = (prt_raw){ .field = PRT_ONNX_Node_attribute,
        .bytes = s.bytes,
        .size = size,
        .next = (prt_raw *)(uintptr_t)d->op->extra };
    d->op->extra = raw;
    return POPRT_OK;
}

poprt_status prt_down_add_int(prt_downgrade *d, const char *name, int64_t value)
{
    return add_attr(d,
        &(prt_node_attr){ .name = prt_str_of(name), .kind = PRT_ONNX_INT, .i = value });
}

poprt_status prt_down_add_float(prt_downgrade *d, const char *name, float value)
{
    return add_attr(d,
        &(prt_node_attr){ .name = prt_str_of(name), .kind = PRT_ONNX_FLOAT, .f = value });
}

poprt_status prt_down_add_text(prt_downgrade *d, const char *name, const char *value)
{
    return add_attr(d,
        &(prt_node_attr){ .name = prt_str_of(name),
            .kind = PRT_ONNX_STRING,
            .s = prt_str_of(value) });
}

poprt_status prt_down_add_ints(prt_downgrade *d, const char *name, uint32_t n, const int64_t *v)
{
    return add_attr(d,
        &(prt_node_attr){ .name = prt_str_of(name), .kind = PRT_ONNX_INTS, .ints = { v, n } });
}

poprt_status prt_down_add_floats(prt_downgrade *d, const char *name, uint32_t n, const float *v)
{
    return add_attr(d,
        &(prt_node_attr){ .name = prt_str_of(name), .kind = PRT_ONNX_FLOATS, .floats = { v, n } });
}

/* ---- attributes of the row ---- */

static size_t size_of(uint32_t kind)
{
    static const size_t sizes[] = {
#define SIZE(kind) [PRT_ATTR_##kind] = sizeof(PRT_ATTR_C_##kind)
        SIZE(i64), SIZE(f32), SIZE(str), SIZE(i64s), SIZE(f32s), SIZE(strs), SIZE(tensor),
        SIZE(graph), SIZE(type)
#undef SIZE
    };
    return sizes[kind];
}

void prt_down_reset_attr(prt_op *op, const char *name)
{
    const uint32_t k = prt_op_attr(op->def, prt_str_of(name));
    PRT_ASSERT(k != UINT32_MAX);
    const prt_attr_def *row = &op->def->attrs[k];
    memcpy((char *)op->attrs + row->offset, (const char *)op->def->defaults + row->offset,
        size_of(row->kind));
    *(uint64_t *)op->attrs &= ~((uint64_t)1 << k);
}

void prt_down_mark_given(prt_op *op, const char *name)
{
    const uint32_t k = prt_op_attr(op->def, prt_str_of(name));
    PRT_ASSERT(k != UINT32_MAX);
    *(uint64_t *)op->attrs |= (uint64_t)1 << k;
}

void prt_down_rename(prt_downgrade *d, const char *name)
{
    d->op->def = NULL;
    d->op->attrs = NULL;
    d->op->name = prt_str_of(name);
}

/* ---- known properties of values ---- */

bool prt_down_integers(const prt_value *v, uint32_t most, int64_t *to, uint32_t *count)
{
    prt_tensor t;
    if (v == NULL)
        return false;
    if (prt_value_is_constant(v) && prt_value_tensor(v, &t)) {
        const size_t n = prt_tensor_count(&t);
        if (n > most || t.rank > 1 || !prt_dtype_is_integer(t.dtype))
            return false;
        for (size_t i = 0; i < n; i++)
            to[i] = prt_load_i64(t.dtype, t.data, i);
        *count = (uint32_t)n;
        return true;
    }
    if (v->content == NULL || v->content->count > most)
        return false;
    for (uint32_t i = 0; i < v->content->count; i++) {
        if (!prt_dim_is_number(v->content->values[i]))
            return false;
        to[i] = v->content->values[i];
    }
    *count = v->content->count;
    return true;
}

bool prt_down_number(const prt_value *v, double *out)
{
    prt_tensor t;
    if (v == NULL || !prt_value_is_constant(v) || !prt_value_tensor(v, &t) ||
        prt_tensor_count(&t) != 1 || t.dtype == PRT_DTYPE_string)
        return false;
    *out = prt_dtype_is_integer(t.dtype) || t.dtype == PRT_DTYPE_bool
        ? (double)prt_load_i64(t.dtype, t.data, 0)
        : prt_load_f64(t.dtype, t.data, 0);
    return true;
}

const prt_type *prt_down_ranked(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 0 &&
            v->type->rank <= PRT_MAX_RANK
        ? v->type
        : NULL;
}

const prt_type *prt_down_static(const prt_value *v)
{
    const prt_type *type = prt_down_ranked(v);
    return type != NULL && prt_type_is_static(type) ? type : NULL;
}

int32_t prt_down_dtype(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->dtype : PRT_DTYPE_undefined;
}

bool prt_down_axis_of(int64_t axis, int32_t rank, int64_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return false;
    *out = axis < 0 ? axis + rank : axis;
    return true;
}

bool prt_down_supports(const prt_downgrade *d, const char *name, const prt_value *v)
{
    return prt_history_version(prt_str_of(name), d->target) != 0 &&
        (v == NULL || prt_history_supports(prt_str_of(name), d->target, 0, v->type));
}

/* ---- edits ---- */

void prt_down_keep_inputs(prt_op *op, uint32_t count)
{
    while (op->n_in > count) {
        prt_op_set_input(op, op->n_in - 1, NULL);
        op->n_in--;
    }
}

poprt_status prt_down_set_input(prt_op *op, uint32_t slot, prt_value *value)
{
    while (op->n_in <= slot)
        PRT_TRY(prt_op_add_input(op, NULL));
    prt_op_set_input(op, slot, value);
    return POPRT_OK;
}

poprt_status prt_down_input_to_ints(prt_downgrade *d, uint32_t slot, const char *name)
{
    int64_t values[256];
    uint32_t count;
    if (prt_op_input(d->op, slot) == NULL)
        return POPRT_OK;
    if (!prt_down_integers(prt_op_input(d->op, slot), PRT_COUNT_OF(values), values, &count))
        return prt_down_refuse(d,
            "'%s' is an attribute at that opset, so input %u must be constant", name, slot);
    PRT_TRY(prt_down_add_ints(d, name, count, values));
    prt_op_set_input(d->op, slot, NULL);
    return POPRT_OK;
}

poprt_status prt_down_replace(prt_downgrade *d, prt_build *b, prt_value *by)
{
    PRT_TRY(prt_build_status(b));
    prt_op *op = d->op;
    prt_build_replace(b, &op->out[0], by);
    PRT_TRY(prt_build_status(b));
    if (!op->dead)
        prt_op_erase(op);
    d->op = NULL;
    return POPRT_OK;
}

prt_build prt_down_build_after(prt_op *op)
{
    prt_build b = prt_build_at_end(op->graph);
    b.before = op->next;
    b.origin = op->origin;
    b.like = op;
    return b;
}

poprt_status prt_down_wrap(prt_build *b, prt_value *inner, prt_value *outer)
{
    PRT_TRY(prt_build_status(b));
    prt_op *reader = outer->def;
    while (reader->in[0].value != inner)
        reader = reader->in[0].value->def;
    prt_build_replace_uses(b, inner, outer);
    prt_op_set_input(reader, 0, inner);
    return prt_build_status(b);
}

int64_t prt_down_front_axis(int64_t axis, const prt_value *like)
{
    const prt_type *type = prt_down_ranked(like);
    return axis < 0 && type != NULL ? axis + type->rank : axis;
}

/* ---- building ---- */

prt_value *prt_down_scalar(prt_build *b, double value, const prt_value *like)
{
    const int32_t dtype = prt_down_dtype(like);
    if (b->status == POPRT_OK && dtype == PRT_DTYPE_undefined) {
        b->status = prt_fail(POPRT_E_UNSUPPORTED, b->origin.data, "its element type must be known");
        return NULL;
    }
    return b->status == POPRT_OK ? prt_build_scalar(b, dtype, value) : NULL;
}

prt_value *prt_down_cast(prt_build *b, prt_value *x, int32_t dtype)
{
    prt_cast_attrs attrs = *(const prt_cast_attrs *)prt_op_of(PRT_OP_cast)->defaults;
    attrs.to = dtype;
    if (prt_down_dtype(x) == dtype)
        return x;
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &x);
}

prt_value *prt_down_reduce(prt_build *b, uint32_t id, prt_value *x, prt_value *axes, bool keep_dims)
{
    const prt_reduce_mean_attrs attrs = { .keepdims = keep_dims };
    prt_value *in[2] = { x, axes };
    return prt_build_op(b, id, &attrs, axes != NULL ? 2 : 1, in);
}

prt_value *prt_down_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm)
{
    const prt_transpose_attrs attrs = { .perm = { perm, rank } };
    return prt_build_op(b, PRT_OP_transpose, &attrs, 1, &x);
}

prt_value *prt_down_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims)
{
    return prt_build_binary(b, PRT_OP_reshape, x, prt_build_i64s(b, rank, dims));
}

prt_value *prt_down_reshape_to(prt_build *b, prt_value *x, prt_value *shape)
{
    const prt_reshape_attrs attrs = { .allowzero = 1 };
    prt_value *in[2] = { x, shape };
    return prt_build_op(b, PRT_OP_reshape, &attrs, 2, in);
}

prt_value *prt_down_write_at(prt_build *b, prt_value *whole, uint32_t count, const int64_t *at,
    prt_value *list)
{
    prt_scatter_elements_attrs attrs =
        *(const prt_scatter_elements_attrs *)prt_op_of(PRT_OP_scatter_elements)->defaults;
    prt_value *in[3] = { whole, prt_build_i64s(b, count, at), list };
    return prt_build_op(b, PRT_OP_scatter_elements, &attrs, 3, in);
}

/* Returns the length of one axis at run time, as a scalar. */
static prt_value *length(prt_build *b, prt_value *x, int64_t axis)
{
    const int64_t next = axis == -1 ? INT32_MAX : axis + 1, zero = 0;
    prt_value *in[4] = { prt_build_unary(b, PRT_OP_shape, x), prt_build_i64s(b, 1, &axis),
        prt_build_i64s(b, 1, &next), prt_build_i64s(b, 1, &zero) };
    prt_value *one = prt_build_op(b, PRT_OP_slice, NULL, 4, in);
    return prt_build_binary(b, PRT_OP_squeeze, one, prt_build_i64s(b, 1, &zero));
}

prt_value *prt_down_indices(prt_build *b, prt_value *x, int64_t axis, bool column)
{
    enum { MOST = 1 << 16 };
    const prt_type *type = prt_down_ranked(x);
    if (b->status != POPRT_OK || type == NULL || type->rank < -axis)
        return NULL;
    const int64_t count = type->dims[type->rank + axis];
    if (prt_dim_is_number(count) && count < MOST) {
        const int64_t shape[2] = { column ? count : 1, column ? 1 : count };
        int64_t *numbers = PRT_NEW_N(b->graph->module->arena, int64_t, (size_t)count + 1);
        if (numbers == NULL) {
            b->status = POPRT_E_NOMEM;
            return NULL;
        }
        for (int64_t i = 0; i < count; i++)
            numbers[i] = i;
        return prt_build_tensor(b, PRT_DTYPE_i64, 2, shape, numbers);
    }
    const int64_t shape[2] = { column ? -1 : 1, column ? 1 : -1 };
    prt_value *range[3] = { prt_build_i64(b, 0), length(b, x, axis), prt_build_i64(b, 1) };
    return prt_down_reshape(b, prt_build_op(b, PRT_OP_range, NULL, 3, range), 2, shape);
}
