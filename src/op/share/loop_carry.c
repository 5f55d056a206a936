/* SPDX-License-Identifier: MIT */
/* loop_carry.c — carried values, stacked results and slices for Loop, Scan and SequenceMap. */
#include "op/share/loop_carry.h"

poprt_status prt_loop_carry_take(prt_eval *c, prt_loop_carry *to, const prt_tensor *first,
    const prt_tensor *from)
{
    to->wrapped = first->kind == PRT_VALUE_OPTIONAL && from->kind != PRT_VALUE_OPTIONAL;
    if (to->wrapped) {
        PRT_TRY(prt_eval_copy_item(c, UINT32_MAX, from, &to->held));
        to->value = (prt_tensor){ .kind = PRT_VALUE_OPTIONAL,
            .dtype = from->dtype,
            .count = 1,
            .items = &to->held };
        return POPRT_OK;
    }
    if (from->kind != first->kind ||
        (from->kind == PRT_VALUE_TENSOR && from->dtype != first->dtype))
        return prt_eval_fail(c, POPRT_E_TYPE,
            "the type of a carried value changes; it must stay %s",
            prt_dtype_of(first->dtype)->name);
    if (from->kind != PRT_VALUE_TENSOR || from->dtype == PRT_DTYPE_string)
        return prt_eval_copy_item(c, UINT32_MAX, from, &to->value);
    to->current ^= 1;
    const uint32_t current = to->current;
    if (to->place[current] == NULL || to->capacity[current] < from->size) {
        /* A growing value gets capacity for growth, so that the cost of copies is linear in its
         * size. */
        const bool again = to->place[current] != NULL && from->size <= SIZE_MAX / 2;
        const size_t capacity = again ? from->size * 2 : from->size;
        to->place[current] = prt_eval_scratch(c, capacity, 1);
        if (to->place[current] == NULL)
            return POPRT_E_NOMEM;
        to->capacity[current] = capacity;
    }
    if (from->size != 0)
        memcpy(to->place[current], from->data, from->size);
    to->value = *from;
    to->value.data = to->place[current];
    return POPRT_OK;
}

static bool same_type_and_shape(const prt_tensor *a, const prt_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
        (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) == 0);
}

static poprt_status stack_grow(prt_eval *c, prt_stack *s)
{
    const size_t n = prt_tensor_count(&s->first);
    size_t capacity = 4, elements, bytes, used;
    if (s->capacity != 0 && !prt_size_mul(s->capacity, 2, &capacity))
        return prt_fail_nomem(SIZE_MAX);
    if (!prt_size_mul(capacity, n, &elements) ||
        !prt_dtype_size(s->first.dtype, elements, &bytes) ||
        !prt_dtype_size(s->first.dtype, s->count * n, &used))
        return prt_fail_nomem(SIZE_MAX);
    void *data = prt_eval_scratch(c, bytes, 1);
    if (data == NULL)
        return POPRT_E_NOMEM;
    if (used != 0)
        memcpy(data, s->data, used);
    s->data = data;
    s->capacity = capacity;
    return POPRT_OK;
}

/* Copies the characters to the memory of the output: the region's memory is reused by its next
 * run. */
static poprt_status keep_characters(prt_eval *c, uint32_t out, poprt_string *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *text = c->host->alloc(c, out, s[i].size + 1);
        if (text == NULL)
            return POPRT_E_NOMEM;
        if (s[i].size != 0)
            memcpy(text, s[i].data, s[i].size);
        s[i].data = text;
    }
    return POPRT_OK;
}

poprt_status prt_stack_push(prt_eval *c, uint32_t out, prt_stack *s, const prt_tensor *item)
{
    if (!prt_eval_wants(c, out))
        return POPRT_OK;
    if (item->kind != PRT_VALUE_TENSOR || item->rank >= PRT_MAX_RANK)
        return prt_eval_fail(c, POPRT_E_TYPE,
            "output %u stacks tensors; each must have a rank below %d", out, PRT_MAX_RANK);
    if (s->count == 0 && s->capacity == 0)
        s->first = *item;
    else if (!same_type_and_shape(&s->first, item))
        return prt_eval_fail(c, POPRT_E_SHAPE, "output %u stacks tensors; their shapes differ",
            out);
    if (s->count == s->capacity)
        PRT_TRY(stack_grow(c, s));
    const size_t n = prt_tensor_count(item);
    prt_element_copy(item->dtype, s->data, s->count * n, item->data, 0, n);
    if (item->dtype == PRT_DTYPE_string)
        PRT_TRY(keep_characters(c, out, (poprt_string *)s->data + s->count * n, n));
    s->count++;
    return POPRT_OK;
}

poprt_status prt_loop_carry_empty(prt_eval *c, uint32_t out, uint32_t axis)
{
    if (!prt_eval_wants(c, out))
        return POPRT_OK;
    const prt_tensor *declared = c->out[out];
    int64_t dims[PRT_MAX_RANK] = { 0 };
    if (declared->dtype == PRT_DTYPE_undefined)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "the loop ran no iteration, and the type of output %u is not declared", out);
    uint32_t rank = declared->rank;
    if (rank <= axis || rank > PRT_MAX_RANK)
        rank = axis + 1;
    else
        for (uint32_t k = 0; k < rank; k++)
            dims[k] = declared->dims[k] > 0 && k != axis ? declared->dims[k] : 0;
    return prt_eval_shape(c, out, declared->dtype, rank, dims);
}

poprt_status prt_stack_to_output(prt_eval *c, uint32_t out, const prt_stack *s)
{
    if (!prt_eval_wants(c, out))
        return POPRT_OK;
    if (s->count == 0)
        return prt_loop_carry_empty(c, out, 0);
    int64_t dims[PRT_MAX_RANK] = { (int64_t)s->count };
    for (uint32_t k = 0; k < s->first.rank; k++)
        dims[k + 1] = s->first.dims[k];
    PRT_TRY(prt_eval_shape(c, out, s->first.dtype, s->first.rank + 1, dims));
    prt_tensor *to = c->out[out];
    prt_element_copy(to->dtype, to->data, 0, s->data, 0, prt_tensor_count(to));
    return POPRT_OK;
}

void prt_slice_read(const prt_tensor *whole, uint32_t axis, int64_t index, prt_tensor *slice)
{
    const size_t outer = prt_dims_product(whole->dims, 0, axis);
    const size_t inner = prt_dims_product(whole->dims, axis + 1, whole->rank);
    const size_t steps = (size_t)whole->dims[axis];
    for (size_t o = 0; o < outer && inner != 0; o++)
        prt_element_copy(whole->dtype, slice->data, o * inner, whole->data,
            (o * steps + (size_t)index) * inner, inner);
}

void prt_slice_write(prt_tensor *whole, uint32_t axis, int64_t index, const prt_tensor *slice)
{
    const size_t outer = prt_dims_product(whole->dims, 0, axis);
    const size_t inner = prt_dims_product(whole->dims, axis + 1, whole->rank);
    const size_t steps = (size_t)whole->dims[axis];
    for (size_t o = 0; o < outer && inner != 0; o++)
        prt_element_copy(whole->dtype, whole->data, (o * steps + (size_t)index) * inner,
            slice->data, o * inner, inner);
}

poprt_status prt_loop_carry_flag(prt_eval *c, const prt_tensor *t, const char *what, bool *out)
{
    if (t->kind != PRT_VALUE_TENSOR || t->dtype != PRT_DTYPE_bool || prt_tensor_count(t) != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "%s must be a tensor of one bool", what);
    *out = *(const unsigned char *)t->data != 0;
    return POPRT_OK;
}
