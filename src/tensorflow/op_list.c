/* SPDX-License-Identifier: MIT */
/*
 * op_list.c — TensorLists and TensorArrays. A TensorArray has a handle and a flow, a number that
 * orders its operators: here the list is in the flow, which the operators take as last input.
 */
#include "tensorflow/list.h"
#include "tensorflow/number.h"
#include "tensorflow/rows.h"

static bool is_array(const prt_tf_call *n)
{
    static const char prefix[] = "TensorArray";
    return n->node->op.size >= sizeof(prefix) - 1 &&
        memcmp(n->node->op.data, prefix, sizeof(prefix) - 1) == 0;
}

/* Returns the list that a node reads; NULL (recorded) if there is none. */
static const prt_tf_list *list_of(prt_tf_call *n)
{
    return prt_tf_in_list(n, is_array(n) && n->n_in != 0 ? n->n_in - 1 : 0);
}

/* Returns input i as int64 of rank 0. */
static prt_value *number_in(prt_tf_call *n, uint32_t i)
{
    prt_value *v = prt_build_cast(&n->b, prt_tf_in(n, i), PRT_DTYPE_i64);
    return prt_tf_rank(v) == 0 ? v : prt_build_reshape(&n->b, v, 0, NULL);
}

/* Takes over what input i, an element_shape, knows more than the list. */
static void read_shape(prt_tf_call *n, uint32_t i, prt_tf_list *list)
{
    int64_t dims[PRT_MAX_RANK];
    uint32_t count = 0;
    if (i >= n->n_in || prt_tf_rank(n->in[i].value) != 1 ||
        !prt_tf_ints(n, i, PRT_MAX_RANK, dims, &count))
        return;
    if (list->rank >= 0 && list->rank != (int32_t)count)
        return;
    for (uint32_t k = 0; k < count; k++) {
        const bool known =
            dims[k] != PRT_DIM_UNKNOWN && (!prt_dim_is_number(dims[k]) || dims[k] >= 0);
        if (list->rank < 0)
            list->dims[k] = PRT_DIM_UNKNOWN;
        if (known && !prt_dim_is_number(list->dims[k]))
            list->dims[k] = dims[k];
    }
    list->rank = (int32_t)count;
}

static void shape_of_item(const prt_value *item, prt_tf_list *list)
{
    list->rank = prt_tf_rank(item);
    for (int32_t i = 0; i < list->rank; i++)
        list->dims[i] = prt_tf_dim(item, (uint32_t)i);
}

static void set_tensor(prt_tf_call *n, uint32_t k, const prt_tf_list *like, prt_value *tensor)
{
    prt_tf_list list = prt_tf_list_of_tensor(tensor);
    list.grows = like != NULL && like->grows;
    if (tensor != NULL)
        prt_tf_set_list(n, k, &list);
}

static poprt_status refuse_scan(prt_tf_call *n, const prt_tf_list *list)
{
    list->scan->refused = true;
    return prt_tf_refuse(n, "the list is used in a loop in a way that is not supported");
}

/* ---- new lists */

static poprt_status new_list(prt_tf_call *n, bool grows, prt_value *size, const char *dtype)
{
    prt_tf_list list = { .form = PRT_TF_LIST_unset,
        .dtype = prt_tf_attr_dtype(n, dtype, PRT_DTYPE_undefined),
        .rank = PRT_RANK_UNKNOWN,
        .grows = grows,
        .size = size };
    if (list.dtype == PRT_DTYPE_undefined)
        return prt_tf_refuse(n, "elements of this type are not supported, such as lists in lists");
    if (is_array(n))
        (void)prt_tf_attr_shape(n, "element_shape", &list.rank, list.dims);
    else
        read_shape(n, 0, &list);
    PRT_TRY(prt_tf_end(n));
    for (uint32_t k = 0; k < n->n_out; k++)
        prt_tf_set_list(n, k, &list);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_empty(prt_tf_call *n)
{
    return new_list(n, true, prt_build_i64(&n->b, 0), "element_dtype");
}

poprt_status prt_tf_row_list_reserve(prt_tf_call *n)
{
    return new_list(n, false, number_in(n, 1), "element_dtype");
}

poprt_status prt_tf_row_list_array(prt_tf_call *n)
{
    return new_list(n, prt_tf_attr_bool(n, "dynamic_size", false), number_in(n, 0), "dtype");
}

poprt_status prt_tf_row_list_from_tensor(prt_tf_call *n)
{
    set_tensor(n, 0, NULL, prt_tf_in(n, 0));
    return prt_tf_end(n);
}

/* ---- elements */

/* Sets an element of a list that is carried as a tensor. */
static prt_value *set_in_tensor(prt_tf_call *n, const prt_tf_list *list, prt_value *index,
    prt_value *item)
{
    prt_build *b = &n->b;
    prt_value *row = prt_build_unsqueeze(b, item, 1, (int64_t[]){ 0 });
    const bool one = list->form == PRT_TF_LIST_unset ? prt_tf_is_number(n, list->size, 1)
                                                     : prt_tf_dim(list->value, 0) == 1;
    if (one && !list->grows && prt_tf_is_number(n, index, 0))
        return row;
    prt_value *tensor = list->form == PRT_TF_LIST_unset ? prt_tf_zero_rows(b, list->size, item, 0)
                                                        : prt_tf_list_tensor(b, list);
    if (list->grows)
        tensor =
            prt_tf_pad_rows(b, tensor, prt_build_binary(b, PRT_OP_add, index, prt_build_i64(b, 1)));
    return prt_build_scatter_nd(b, tensor, prt_build_reshape(b, index, 2, (int64_t[]){ 1, 1 }), row,
        "none");
}

static poprt_status set_in_scan(prt_tf_call *n, const prt_tf_list *list, prt_value *index,
    prt_value *item)
{
    if (list->scan->item != NULL || n->b.graph != list->scan->graph)
        return refuse_scan(n, list);
    list->scan->item = item;
    list->scan->index = index;
    prt_tf_set_list(n, 0, list);
    return prt_tf_end(n);
}

/* list, index, item; handle, index, value, flow. */
poprt_status prt_tf_row_list_set(prt_tf_call *n)
{
    prt_build *b = &n->b;
    const prt_tf_list *found = list_of(n);
    prt_value *index = number_in(n, 1), *item = prt_tf_in(n, 2);
    if (found == NULL || item == NULL || index == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    list.grows = list.grows || prt_tf_attr_bool(n, "resize_if_index_out_of_bounds", false);
    if (list.form == PRT_TF_LIST_scan)
        return set_in_scan(n, &list, index, item);
    if (list.form != PRT_TF_LIST_sequence) {
        set_tensor(n, 0, &list, set_in_tensor(n, &list, index, item));
        return prt_tf_end(n);
    }
    prt_value *rest = prt_build_binary(b, PRT_OP_sequence_erase, list.value, index);
    list.value =
        prt_build_op(b, PRT_OP_sequence_insert, NULL, 3, (prt_value *[]){ rest, item, index });
    prt_tf_set_list(n, 0, &list);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_get(prt_tf_call *n)
{
    prt_build *b = &n->b;
    const prt_tf_list *found = list_of(n);
    prt_value *index = number_in(n, 1);
    if (found == NULL || index == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (list.form == PRT_TF_LIST_scan)
        return refuse_scan(n, found);
    read_shape(n, 2, &list);
    prt_tf_set(n, 0,
        list.form == PRT_TF_LIST_sequence
            ? prt_build_binary(b, PRT_OP_sequence_at, list.value, index)
            : prt_build_gather(b, prt_tf_list_tensor(b, &list), index, 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_push(prt_tf_call *n)
{
    prt_build *b = &n->b;
    const prt_tf_list *found = list_of(n);
    prt_value *item = prt_tf_in(n, 1);
    if (found == NULL || item == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (list.form == PRT_TF_LIST_scan)
        return set_in_scan(n, &list, NULL, item);
    if (list.form == PRT_TF_LIST_sequence) {
        list.value = prt_build_binary(b, PRT_OP_sequence_insert, list.value, item);
        prt_tf_set_list(n, 0, &list);
        return prt_tf_end(n);
    }
    prt_value *last = prt_build_unsqueeze(b, item, 1, (int64_t[]){ 0 });
    if (list.form == PRT_TF_LIST_unset && prt_tf_is_number(n, list.size, 0)) {
        set_tensor(n, 0, &list, last);
        return prt_tf_end(n);
    }
    if (list.rank < 0)
        shape_of_item(item, &list);
    set_tensor(n, 0, &list,
        prt_build_concat(b, 0, 2, (prt_value *[]){ prt_tf_list_tensor(b, &list), last }));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_pop(prt_tf_call *n)
{
    prt_build *b = &n->b;
    const prt_tf_list *found = list_of(n);
    if (found == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (list.form == PRT_TF_LIST_scan)
        return refuse_scan(n, found);
    prt_value *last = prt_build_i64(b, -1);
    if (list.form == PRT_TF_LIST_sequence) {
        prt_tf_set(n, 1, prt_build_binary(b, PRT_OP_sequence_at, list.value, last));
        list.value = prt_build_binary(b, PRT_OP_sequence_erase, list.value, last);
        prt_tf_set_list(n, 0, &list);
        return prt_tf_end(n);
    }
    read_shape(n, 1, &list);
    prt_value *tensor = prt_tf_list_tensor(b, &list);
    prt_tf_set(n, 1, prt_build_gather(b, tensor, last, 0));
    set_tensor(n, 0, &list, prt_build_slice(b, tensor, 0, 0, -1, 1));
    return prt_tf_end(n);
}

/* ---- all elements */

poprt_status prt_tf_row_list_stack(prt_tf_call *n)
{
    const prt_tf_list *found = list_of(n);
    if (found == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    read_shape(n, 1, &list);
    prt_tf_set(n, 0, prt_tf_list_tensor(&n->b, &list));
    return prt_tf_end(n);
}

/* Returns whether indices are those of all elements, in order. */
static bool is_whole(prt_tf_call *n, prt_value *indices, const prt_tf_list *list)
{
    prt_value *limit;
    int64_t count;
    if (!prt_tf_is_range(n, indices, &limit, &count))
        return false;
    if (list->size != NULL)
        return limit != NULL ? prt_tf_same_number(n, limit, list->size)
                             : prt_tf_is_number(n, list->size, count);
    return list->form == PRT_TF_LIST_tensor && limit == NULL && count == prt_tf_dim(list->value, 0);
}

poprt_status prt_tf_row_list_gather(prt_tf_call *n)
{
    const prt_tf_list *found = list_of(n);
    prt_value *indices = prt_tf_in(n, 1);
    if (found == NULL || indices == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (!is_array(n))
        read_shape(n, 2, &list);
    prt_value *tensor = prt_tf_list_tensor(&n->b, &list);
    prt_tf_set(n, 0,
        is_whole(n, indices, &list) ? tensor : prt_build_gather(&n->b, tensor, indices, 0));
    return prt_tf_end(n);
}

/* Writes elements [k, …] of a tensor to a list that is carried as a tensor. */
static poprt_status scatter(prt_tf_call *n, const prt_tf_list *list, prt_value *indices,
    prt_value *tensor)
{
    prt_build *b = &n->b;
    prt_value *limit;
    int64_t count;
    if (indices == NULL || tensor == NULL)
        return prt_tf_end(n);
    if (list->form == PRT_TF_LIST_scan)
        return refuse_scan(n, list);
    if (list->form == PRT_TF_LIST_unset && prt_tf_is_range(n, indices, &limit, &count)) {
        if (!is_whole(n, indices, list) && !prt_tf_is_number(n, list->size, 0))
            tensor = prt_tf_pad_rows(b, tensor, list->size);
        prt_tf_list whole = prt_tf_list_of_tensor(tensor);
        whole.size = list->size;
        whole.grows = list->grows;
        if (whole.grows)
            whole.size = NULL;
        if (tensor != NULL)
            prt_tf_set_list(n, 0, &whole);
        return prt_tf_end(n);
    }
    if (list->grows)
        return prt_tf_refuse(n, "elements of a growing list are set out of order");
    prt_value *all = list->form == PRT_TF_LIST_unset ? prt_tf_zero_rows(b, list->size, tensor, 1)
                                                     : prt_tf_list_tensor(b, list);
    indices = prt_build_cast(b, indices, PRT_DTYPE_i64);
    set_tensor(n, 0, list,
        prt_build_scatter_nd(b, all, prt_build_unsqueeze(b, indices, 1, (int64_t[]){ 1 }), tensor,
            "none"));
    return prt_tf_end(n);
}

/* list, tensor, indices; handle, indices, value, flow. */
poprt_status prt_tf_row_list_scatter(prt_tf_call *n)
{
    const prt_tf_list *list = list_of(n);
    const bool array = is_array(n);
    if (list == NULL)
        return prt_tf_end(n);
    return scatter(n, list, prt_tf_in(n, array ? 1 : 2), prt_tf_in(n, array ? 2 : 1));
}

/* tensor, indices, element_shape, num_elements. */
poprt_status prt_tf_row_list_scatter_new(prt_tf_call *n)
{
    prt_value *tensor = prt_tf_in(n, 0), *indices = prt_tf_in(n, 1), *size = number_in(n, 3);
    if (tensor == NULL || indices == NULL || size == NULL)
        return prt_tf_end(n);
    if (prt_tf_is_number(n, size, -1))
        size = prt_build_binary(&n->b, PRT_OP_add, prt_build_i64(&n->b, 1),
            prt_build_cast(&n->b, prt_build_reduce(&n->b, PRT_OP_reduce_max, indices, NULL, false),
                PRT_DTYPE_i64));
    const prt_tf_list list = { .form = PRT_TF_LIST_unset,
        .dtype = prt_tf_dtype(tensor),
        .rank = PRT_RANK_UNKNOWN,
        .size = size };
    return size != NULL ? scatter(n, &list, indices, tensor) : prt_tf_end(n);
}

poprt_status prt_tf_row_list_length(prt_tf_call *n)
{
    const prt_tf_list *list = list_of(n);
    if (list == NULL)
        return prt_tf_end(n);
    if (list->form == PRT_TF_LIST_scan && list->grows)
        return refuse_scan(n, list);
    prt_tf_set(n, 0, prt_build_cast(&n->b, prt_tf_list_length(&n->b, list), PRT_DTYPE_i32));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_resize(prt_tf_call *n)
{
    const prt_tf_list *found = list_of(n);
    prt_value *size = number_in(n, 1);
    if (found == NULL || size == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (list.form == PRT_TF_LIST_scan)
        return refuse_scan(n, found);
    if (list.form == PRT_TF_LIST_unset) {
        list.size = size;
        prt_tf_set_list(n, 0, &list);
        return prt_tf_end(n);
    }
    prt_value *tensor = prt_tf_pad_rows(&n->b, prt_tf_list_tensor(&n->b, &list), size);
    set_tensor(n, 0, &list,
        prt_build_slice_by(&n->b, tensor, prt_build_i64s(&n->b, 1, (int64_t[]){ 0 }),
            prt_build_reshape(&n->b, size, 1, (int64_t[]){ 1 }),
            prt_build_i64s(&n->b, 1, (int64_t[]){ 0 }), NULL));
    return prt_tf_end(n);
}

/* The elements joined along their first axis, and their lengths. */
poprt_status prt_tf_row_list_concat(prt_tf_call *n)
{
    prt_build *b = &n->b;
    const prt_tf_list *found = list_of(n);
    if (found == NULL)
        return prt_tf_end(n);
    prt_tf_list list = *found;
    if (!is_array(n))
        read_shape(n, 1, &list);
    if (list.form == PRT_TF_LIST_sequence) {
        prt_concat_from_sequence_attrs attrs = PRT_ATTRS_OF(concat_from_sequence);
        PRT_ATTR_SET(attrs, concat_from_sequence, axis, 0);
        prt_tf_set(n, 0, prt_build_op(b, PRT_OP_concat_from_sequence, &attrs, 1, &list.value));
        return prt_tf_end(n);
    }
    prt_value *tensor = prt_tf_list_tensor(b, &list);
    prt_value *shape = prt_build_shape(b, tensor);
    prt_value *rows = prt_build_slice(b, shape, 0, 0, 2, 1);
    prt_value *parts[2] = { prt_build_reduce(b, PRT_OP_reduce_prod, rows, NULL, true),
        prt_build_slice(b, shape, 0, 2, INT64_MAX, 1) };
    prt_tf_set(n, 0, prt_build_reshape_to(b, tensor, prt_build_concat(b, 0, 2, parts)));
    prt_tf_set(n, 1,
        prt_build_expand(b, prt_build_slice(b, rows, 0, 1, 2, 1),
            prt_build_slice(b, rows, 0, 0, 1, 1)));
    return prt_tf_end(n);
}

/* tensor, element_shape, lengths; handle, value, lengths, flow. */
poprt_status prt_tf_row_list_split(prt_tf_call *n)
{
    prt_build *b = &n->b;
    prt_value *tensor = prt_tf_in(n, is_array(n) ? 1 : 0), *lengths = prt_tf_in(n, 2);
    int64_t sizes[PRT_CONTENT_MAX];
    uint32_t count = 0;
    if (tensor == NULL || lengths == NULL)
        return prt_tf_end(n);
    bool equal = prt_tf_ints(n, 2, PRT_CONTENT_MAX, sizes, &count) && count != 0;
    for (uint32_t i = 0; equal && i < count; i++)
        equal = prt_dim_is_number(sizes[i]) && sizes[i] == sizes[0];
    if (equal) {
        prt_value *parts[2] = { prt_build_i64s(b, 2, (int64_t[]){ count, sizes[0] }),
            prt_build_slice(b, prt_build_shape(b, tensor), 0, 1, INT64_MAX, 1) };
        set_tensor(n, 0, NULL, prt_build_reshape_to(b, tensor, prt_build_concat(b, 0, 2, parts)));
        return prt_tf_end(n);
    }
    const prt_tf_list like = { .dtype = prt_tf_dtype(tensor), .rank = PRT_RANK_UNKNOWN };
    const prt_tf_list list = prt_tf_list_of_sequence(&like,
        prt_build_binary(b, PRT_OP_split_to_sequence, tensor,
            prt_build_cast(b, lengths, PRT_DTYPE_i64)));
    prt_tf_set_list(n, 0, &list);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_join(prt_tf_call *n)
{
    const prt_tf_list *first = prt_tf_in_list(n, 0), *second = prt_tf_in_list(n, 1);
    if (first == NULL || second == NULL)
        return prt_tf_end(n);
    set_tensor(n, 0, first,
        prt_build_concat(&n->b, 0, 2,
            (prt_value *[]){ prt_tf_list_tensor(&n->b, first),
                prt_tf_list_tensor(&n->b, second) }));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_list_element_shape(prt_tf_call *n)
{
    const prt_tf_list *list = list_of(n);
    const int32_t dtype = prt_tf_attr_dtype(n, "shape_type", PRT_DTYPE_i32);
    prt_value *shape = NULL;
    if (list == NULL)
        return prt_tf_end(n);
    if (list->form == PRT_TF_LIST_tensor)
        shape = prt_build_slice(&n->b, prt_build_shape(&n->b, list->value), 0, 1, INT64_MAX, 1);
    else if (list->rank < 0)
        shape = prt_build_i64(&n->b, -1);
    else {
        int64_t dims[PRT_MAX_RANK];
        for (int32_t i = 0; i < list->rank; i++)
            dims[i] = prt_dim_is_number(list->dims[i]) ? list->dims[i] : -1;
        shape = prt_build_i64s(&n->b, (uint32_t)list->rank, dims);
    }
    prt_tf_set(n, 0, prt_build_cast(&n->b, shape, dtype));
    return prt_tf_end(n);
}
