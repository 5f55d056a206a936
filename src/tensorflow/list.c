/* SPDX-License-Identifier: MIT */
/* list.c — the elements of lists, in the forms of list.h. */
#include "tensorflow/list.h"

#include "ir/build_ops.h"

const prt_tf_list *prt_tf_in_list(prt_tf_call *call, uint32_t i)
{
    if (i < call->n_in && call->in[i].kind == PRT_TF_list)
        return call->in[i].handle;
    if (call->status == POPRT_OK)
        (void)prt_tf_refuse(call, "input %u is not a list of tensors", i);
    return NULL;
}

prt_tf_value prt_tf_list_value(prt_tf_converter *c, const prt_tf_list *list)
{
    const prt_tf_list *kept = prt_arena_copy(c->arena, list, sizeof(*list));
    return (prt_tf_value){ .kind = kept != NULL ? PRT_TF_list : PRT_TF_none, .handle = kept };
}

void prt_tf_set_list(prt_tf_call *call, uint32_t k, const prt_tf_list *list)
{
    const prt_tf_value v = prt_tf_list_value(call->c, list);
    if (v.kind == PRT_TF_none)
        call->status = POPRT_E_NOMEM;
    prt_tf_set_value(call, k, v);
}

/* Finds the input of the model, and its axis, that has a dimension. */
static prt_value *find_dim(const prt_module *m, int64_t dim, int32_t *axis)
{
    for (size_t i = 0; i < m->main->inputs.count; i++) {
        prt_value *input = m->main->inputs.data[i];
        for (*axis = 0; *axis < prt_tf_rank(input); ++*axis)
            if (prt_tf_dim(input, (uint32_t)*axis) == dim)
                return input;
    }
    return NULL;
}

bool prt_tf_list_has_shape(const prt_module *m, const prt_tf_list *list)
{
    bool known = list->rank >= 0;
    int32_t axis;
    for (int32_t i = 0; i < list->rank; i++)
        known = known &&
            (prt_dim_is_number(list->dims[i]) ||
                (list->dims[i] != PRT_DIM_UNKNOWN && find_dim(m, list->dims[i], &axis) != NULL));
    return known;
}

/* Returns zeros [size, element…]. */
static prt_value *zeros(prt_build *b, const prt_tf_list *list)
{
    const prt_module *m = b->graph->module;
    prt_value *parts[PRT_MAX_RANK + 1] = { prt_build_reshape(b, list->size, 1, (int64_t[]){ 1 }) };
    if (!prt_tf_list_has_shape(m, list)) {
        if (b->status == POPRT_OK)
            b->status = prt_fail(POPRT_E_UNSUPPORTED, b->origin.data,
                "the shape of the elements of a list is not known before one is set");
        return NULL;
    }
    for (int32_t i = 0; i < list->rank; i++) {
        int32_t axis;
        if (prt_dim_is_number(list->dims[i])) {
            parts[i + 1] = prt_build_i64s(b, 1, &list->dims[i]);
            continue;
        }
        prt_value *input = find_dim(m, list->dims[i], &axis);
        parts[i + 1] = prt_build_size_of(b, input, axis);
    }
    prt_value *zero = prt_build_scalar(b, list->dtype, 0);
    return prt_build_expand(b, zero, prt_build_concat(b, 0, (uint32_t)list->rank + 1, parts));
}

prt_value *prt_tf_list_tensor(prt_build *b, const prt_tf_list *list)
{
    if (list->form == PRT_TF_LIST_tensor)
        return list->value;
    if (list->form == PRT_TF_LIST_unset)
        return zeros(b, list);
    if (list->form == PRT_TF_LIST_scan) {
        list->scan->refused = true;
        b->status = prt_fail(POPRT_E_UNSUPPORTED, b->origin.data, "a list is read inside a loop");
        return NULL;
    }
    prt_concat_from_sequence_attrs attrs = PRT_ATTRS_OF(concat_from_sequence);
    PRT_ATTR_SET(attrs, concat_from_sequence, axis, 0);
    PRT_ATTR_SET(attrs, concat_from_sequence, new_axis, 1);
    return prt_build_op(b, PRT_OP_concat_from_sequence, &attrs, 1, (prt_value *[]){ list->value });
}

prt_value *prt_tf_list_length(prt_build *b, const prt_tf_list *list)
{
    if (list->form == PRT_TF_LIST_unset || list->form == PRT_TF_LIST_scan)
        return list->size;
    if (list->form == PRT_TF_LIST_sequence)
        return prt_build_unary(b, PRT_OP_sequence_length, list->value);
    return prt_build_squeeze(b, prt_build_size_of(b, list->value, 0), 1, (int64_t[]){ 0 });
}

prt_tf_list prt_tf_list_of_tensor(prt_value *tensor)
{
    prt_tf_list list = { .form = PRT_TF_LIST_tensor,
        .dtype = prt_tf_dtype(tensor),
        .rank = prt_tf_rank(tensor) < 1 ? PRT_RANK_UNKNOWN : prt_tf_rank(tensor) - 1,
        .value = tensor };
    for (int32_t i = 0; i < list.rank; i++)
        list.dims[i] = prt_tf_dim(tensor, (uint32_t)i + 1);
    return list;
}

prt_tf_list prt_tf_list_of_sequence(const prt_tf_list *like, prt_value *sequence)
{
    prt_tf_list list = *like;
    list.form = PRT_TF_LIST_sequence;
    list.value = sequence;
    return list;
}

prt_value *prt_tf_list_empty_sequence(prt_build *b, const prt_tf_list *list)
{
    prt_sequence_empty_attrs attrs = PRT_ATTRS_OF(sequence_empty);
    PRT_ATTR_SET(attrs, sequence_empty, dtype, list->dtype);
    return prt_build_op(b, PRT_OP_sequence_empty, &attrs, 0, NULL);
}

prt_value *prt_tf_zero_rows(prt_build *b, prt_value *count, prt_value *like, int64_t from)
{
    prt_value *shape = prt_build_shape(b, like);
    if (from != 0)
        shape = prt_build_slice(b, shape, 0, from, INT64_MAX, 1);
    prt_value *parts[2] = { prt_build_reshape(b, count, 1, (int64_t[]){ 1 }), shape };
    return prt_build_expand(b, prt_build_number(b, like, 0), prt_build_concat(b, 0, 2, parts));
}

prt_value *prt_tf_pad_rows(prt_build *b, prt_value *tensor, prt_value *size)
{
    prt_value *have = prt_build_size_of(b, tensor, 0);
    prt_value *rest =
        prt_build_binary(b, PRT_OP_sub, prt_build_reshape(b, size, 1, (int64_t[]){ 1 }), have);
    rest = prt_build_op(b, PRT_OP_max, NULL, 2, (prt_value *[]){ rest, prt_build_i64(b, 0) });
    prt_value *zeros = prt_tf_zero_rows(b, rest, tensor, 1);
    return prt_build_concat(b, 0, 2, (prt_value *[]){ tensor, zeros });
}
