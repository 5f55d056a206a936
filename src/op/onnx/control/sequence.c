/* SPDX-License-Identifier: MIT */
/* sequence.c — sequences of tensors: construction, access to items, insertion and removal. */
#include "op/check.h"
#include "op/share/type_wrap.h"
#include "op/op.h"

/* Reads the position in input `i` among `places` positions; a negative position counts from the
 * end. `absent` is the default. */
static poprt_status read_position(prt_eval *c, uint32_t i, size_t places, size_t absent,
    size_t *out)
{
    int64_t at;
    uint32_t n;
    *out = absent;
    if (!prt_eval_has(c, i))
        return POPRT_OK;
    PRT_TRY(prt_eval_ints(c, i, &at, 1, &n));
    const int64_t count = (int64_t)c->in[0]->count;
    if (n != 1 || at < -count || at >= (int64_t)places)
        return prt_eval_fail(c, POPRT_E_ARG, "position %lld is outside the sequence of %lld items",
            n == 1 ? (long long)at : 0, (long long)count);
    *out = (size_t)(at < 0 ? at + count : at);
    return POPRT_OK;
}

static poprt_status copy_items(prt_eval *c, const prt_tensor *from, size_t first, size_t count,
    size_t to)
{
    for (size_t k = 0; k < count; k++)
        PRT_TRY(prt_eval_copy_item(c, 0, &from->items[first + k], &c->out[0]->items[to + k]));
    return POPRT_OK;
}

/* ---- SequenceConstruct, SequenceEmpty ---- */

static poprt_status construct_infer(prt_infer *c)
{
    prt_shape elem = prt_shape_open(PRT_DTYPE_undefined);
    bool first = true;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
        if (first)
            elem = c->in[i];
        else
            prt_type_wrap_merge(c, &elem, &c->in[i]);
        first = false;
    }
    return prt_type_wrap_set(c, 0, PRT_VALUE_SEQUENCE, &elem);
}

static poprt_status construct_eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_sequence(c, 0, c->n_in != 0 ? c->in[0]->dtype : 0, c->n_in));
    for (uint32_t i = 0; i < c->n_in; i++)
        PRT_TRY(prt_eval_copy_item(c, 0, c->in[i], &c->out[0]->items[i]));
    return POPRT_OK;
}

static poprt_status empty_infer(prt_infer *c)
{
    const prt_sequence_empty_attrs *a = c->attrs;
    const int64_t dtype = prt_attr_given(a, 0) ? a->dtype : PRT_DTYPE_f32;
    PRT_TRY(prt_infer_dtype_attr(c, "dtype", PRT_T_ALL, dtype));
    const prt_shape elem = prt_shape_open((int32_t)dtype);
    return prt_type_wrap_set(c, 0, PRT_VALUE_SEQUENCE, &elem);
}

static poprt_status empty_eval(prt_eval *c)
{
    const prt_sequence_empty_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    return prt_eval_sequence(c, 0, prt_attr_given(a, 0) ? (int32_t)a->dtype : PRT_DTYPE_f32, 0);
}

/* ---- SequenceAt, SequenceLength ---- */

static poprt_status at_infer(prt_infer *c)
{
    const prt_shape elem = prt_type_wrap_elem(&c->in[0]);
    prt_type_wrap_copy(c, 0, &elem);
    return POPRT_OK;
}

static poprt_status at_eval(prt_eval *c)
{
    size_t at;
    PRT_TRY(read_position(c, 1, c->in[0]->count, 0, &at));
    return prt_eval_copy(c, 0, &c->in[0]->items[at]);
}

static poprt_status length_infer(prt_infer *c)
{
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_i64, 0, NULL));
    if (c->value[0] == NULL)
        return POPRT_OK;
    const int64_t count = (int64_t)c->value[0]->count;
    return prt_infer_set_content(c, 0, 1, &count);
}

static poprt_status length_eval(prt_eval *c)
{
    if (prt_eval_wants(c, 0))
        *(int64_t *)c->out[0]->data = (int64_t)c->in[0]->count;
    return POPRT_OK;
}

/* ---- SequenceInsert, SequenceErase ---- */

static poprt_status insert_infer(prt_infer *c)
{
    prt_shape elem = prt_type_wrap_elem(&c->in[0]);
    if (elem.dtype != PRT_DTYPE_undefined && c->in[1].dtype != PRT_DTYPE_undefined &&
        elem.dtype != c->in[1].dtype)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "an item of %s cannot be inserted into a sequence of %s",
            prt_dtype_of(c->in[1].dtype)->name, prt_dtype_of(elem.dtype)->name);
    prt_type_wrap_merge(c, &elem, &c->in[1]);
    return prt_type_wrap_set(c, 0, PRT_VALUE_SEQUENCE, &elem);
}

static poprt_status insert_eval(prt_eval *c)
{
    const prt_tensor *from = c->in[0];
    size_t at;
    PRT_TRY(read_position(c, 2, from->count + 1, from->count, &at));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const int32_t dtype = from->dtype != PRT_DTYPE_undefined ? from->dtype : c->in[1]->dtype;
    if (dtype != c->in[1]->dtype)
        return prt_eval_fail(c, POPRT_E_TYPE,
            "an item of %s cannot be inserted into a sequence of %s",
            prt_dtype_of(c->in[1]->dtype)->name, prt_dtype_of(dtype)->name);
    PRT_TRY(prt_eval_sequence(c, 0, dtype, from->count + 1));
    PRT_TRY(copy_items(c, from, 0, at, 0));
    PRT_TRY(prt_eval_copy_item(c, 0, c->in[1], &c->out[0]->items[at]));
    return copy_items(c, from, at, from->count - at, at + 1);
}

static poprt_status erase_infer(prt_infer *c)
{
    prt_type_wrap_copy(c, 0, &c->in[0]);
    return POPRT_OK;
}

static poprt_status erase_eval(prt_eval *c)
{
    const prt_tensor *from = c->in[0];
    size_t at;
    if (from->count == 0)
        return prt_eval_fail(c, POPRT_E_ARG, "the sequence is empty");
    PRT_TRY(read_position(c, 1, from->count, from->count - 1, &at));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_sequence(c, 0, from->dtype, from->count - 1));
    PRT_TRY(copy_items(c, from, 0, at, 0));
    return copy_items(c, from, at + 1, from->count - at - 1, at);
}

const prt_op_hooks prt_op_sequence_construct = { .infer = construct_infer, .eval = construct_eval };
const prt_op_hooks prt_op_sequence_empty = { .infer = empty_infer, .eval = empty_eval };
const prt_op_hooks prt_op_sequence_at = { .infer = at_infer, .eval = at_eval };
const prt_op_hooks prt_op_sequence_length = { .infer = length_infer, .eval = length_eval };
const prt_op_hooks prt_op_sequence_insert = { .infer = insert_infer, .eval = insert_eval };
const prt_op_hooks prt_op_sequence_erase = { .infer = erase_infer, .eval = erase_eval };
