/* SPDX-License-Identifier: MIT */
/* constant.c — turns the data of constant tensors into blobs. */
#include "tflite/constant.h"

#include "base/size.h"

static poprt_status bad(poprt_status status, const prt_tflite_tensor *t, const char *problem)
{
    return prt_fail(status, NULL, "tensor '%.*s': %s", PRT_STR_ARG(t->name), problem);
}

static poprt_status make_owned(const prt_tflite_tensor *t, const prt_allocator *allocator,
    size_t size, size_t *owned_left, prt_blob **out)
{
    if (size > *owned_left)
        return bad(POPRT_E_LIMIT, t,
            "constants that are strings or sparse exceed the limit of memory when expanded");
    PRT_TRY(prt_blob_create(allocator, size, out));
    *owned_left -= size;
    return POPRT_OK;
}

static poprt_status from_sparse(const prt_tflite_tensor *t, uint64_t count,
    const prt_allocator *allocator, size_t *owned_left, prt_blob **out)
{
    size_t size;
    prt_blob *blob = NULL;
    const uint32_t kind = prt_dtype_of(t->dtype)->kind;
    if (prt_dtype_bits(t->dtype) < 8 || kind == PRT_KIND_string)
        return bad(POPRT_E_UNSUPPORTED, t,
            "is sparse, which is supported for numbers of whole bytes");
    if (!prt_dtype_size(t->dtype, count, &size))
        return bad(POPRT_E_LIMIT, t, "is too large");
    PRT_TRY(make_owned(t, allocator, size, owned_left, &blob));
    const poprt_status status = prt_tflite_densify(t, count, prt_blob_bytes(blob));
    if (status != POPRT_OK)
        prt_blob_release(blob);
    else
        *out = blob;
    return status;
}

static uint32_t u32_at(const unsigned char *data, size_t index)
{
    uint32_t word;
    memcpy(&word, data + 4 * index, sizeof(word));
    return word;
}

/* A string buffer holds the count, the offsets of the strings and of their end, and the strings.
 * The blob holds the array and then the characters. */
static poprt_status from_strings(const prt_tflite_tensor *t, uint64_t count,
    const prt_allocator *allocator, size_t *owned_left, prt_blob **out)
{
    const prt_tflite_bytes *d = &t->data;
    size_t whole;
    prt_blob *block = NULL;
    if (d->size < 8 || u32_at(d->data, 0) != count || d->size / 4 - 2 < count)
        return bad(POPRT_E_PARSE, t, "the number of strings does not fit the shape or the data");
    for (size_t i = 0; i <= count; i++)
        if (u32_at(d->data, i + 1) > (i < count ? u32_at(d->data, i + 2) : d->size))
            return bad(POPRT_E_PARSE, t, "a string exceeds the data");
    const size_t first = u32_at(d->data, 1), end = u32_at(d->data, (size_t)count + 1);
    const size_t array = (size_t)count * sizeof(poprt_string);
    if (!prt_size_add(array, end - first, &whole))
        return bad(POPRT_E_LIMIT, t, "is too large");
    PRT_TRY(make_owned(t, allocator, whole, owned_left, &block));
    poprt_string *strings = (poprt_string *)(void *)prt_blob_bytes(block);
    char *chars = (char *)prt_blob_bytes(block) + array;
    if (end != first)
        memcpy(chars, d->data + first, end - first);
    for (size_t i = 0; i < count; i++)
        strings[i] = (poprt_string){ chars + (u32_at(d->data, i + 1) - first),
            u32_at(d->data, i + 2) - u32_at(d->data, i + 1) };
    const poprt_status status = prt_blob_view(block, 0, array, out);
    prt_blob_release(block);
    return status;
}

poprt_status prt_tflite_constant(const prt_tflite_model *m, const prt_tflite_tensor *t,
    const prt_allocator *allocator, size_t *owned_left, prt_blob **out)
{
    const prt_type type = { .kind = PRT_VALUE_TENSOR,
        .dtype = t->dtype,
        .rank = (int32_t)t->rank,
        .dims = t->dims };
    uint64_t count;
    if (t->data.data == NULL || !prt_type_count(&type, &count))
        return bad(POPRT_E_PARSE, t, "is a constant without data or without a fixed shape");
    if (t->sparsity != NULL)
        return from_sparse(t, count, allocator, owned_left, out);
    if (t->dtype == PRT_DTYPE_string)
        return from_strings(t, count, allocator, owned_left, out);
    return prt_blob_view(m->file, (size_t)(t->data.data - m->file->data), t->data.size, out);
}
