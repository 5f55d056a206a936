/* SPDX-License-Identifier: MIT */
/*
 * stepio_cache.c — caches: an input and an output bound to one buffer. The input is its first rows,
 * and the result of a run is the input of the next.
 */
#include "api/stepio.h"

static poprt_status find_slot(const poprt_stepio *io, const char *name, size_t first, size_t end,
    size_t *out)
{
    for (*out = first; *out < end; ++*out)
        if (prt_str_is(io->slots[*out].name, name))
            return POPRT_OK;
    return prt_fail_no_slot(io, name, first, end);
}

/* Checks that the buffer has the layout of the slot, at least `rows` rows, and all its bytes. */
static poprt_status check_cache_buffer(const prt_slot *slot, const poprt_tensor *cache,
    int64_t rows, prt_tensor *buffer)
{
    const char *name = slot->name.data;
    if (cache->rank < 2 || cache->rank > PRT_MAX_RANK || cache->dims == NULL)
        return prt_fail(POPRT_E_SHAPE, name,
            "a cache has dimensions [..., rows, size], at least 2, not %u", cache->rank);
    if (prt_dtype_bits(cache->dtype) < 8 || cache->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_UNSUPPORTED, name, "the elements of a cache cannot be %s",
            poprt_dtype_name(cache->dtype));
    for (uint32_t i = 0; i < cache->rank; i++)
        if (cache->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, name, "dimension %u is negative", i);
    const int64_t most = cache->dims[cache->rank - 2];
    if (most < 1 || most > UINT32_MAX || rows < 0 || rows > most)
        return prt_fail(POPRT_E_ARG, name, "%lld rows are outside the cache, which has %lld",
            (long long)rows, (long long)most);
    if (!prt_tensor_init(buffer, cache->dtype, cache->rank, cache->dims, cache->data))
        return prt_fail(POPRT_E_ARG, name, "the cache's size does not fit in memory");
    if (buffer->size != 0 && (cache->data == NULL || cache->size < buffer->size))
        return prt_fail(POPRT_E_ARG, name, "needs %zu bytes, but the bound buffer has %zu",
            buffer->size, cache->data != NULL ? cache->size : 0);
    return POPRT_OK;
}

/* Checks that an output fits into the cache for some number of rows. */
static poprt_status check_output(const prt_slot *slot, const prt_tensor *buffer)
{
    const prt_type *type = slot->type;
    const char *name = slot->name.data;
    if (type->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_TYPE, name, "is not a tensor: it cannot be a cache");
    if (type->dtype != PRT_DTYPE_undefined && type->dtype != buffer->dtype)
        return prt_fail(POPRT_E_TYPE, name, "has type %s, but the bound cache has type %s",
            poprt_dtype_name(type->dtype), poprt_dtype_name(buffer->dtype));
    if (type->rank >= 0 && (uint32_t)type->rank != buffer->rank)
        return prt_fail(POPRT_E_SHAPE, name, "has %d dimensions, but the bound cache has %u",
            type->rank, buffer->rank);
    for (uint32_t i = 0; type->rank >= 0 && i < buffer->rank; i++) {
        const int64_t dim = type->dims[i], have = buffer->dims[i];
        if (prt_dim_is_number(dim) && (i + 2 == buffer->rank ? dim > have : dim != have))
            return prt_fail(POPRT_E_SHAPE, name, "dimension %u is %lld, but the cache has %lld", i,
                (long long)dim, (long long)have);
    }
    return POPRT_OK;
}

poprt_status poprt_stepio_bind_cache(poprt_stepio *io, const char *input, const char *output,
    const poprt_tensor *cache, int64_t rows)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(input);
    PRT_REQUIRE(output);
    PRT_REQUIRE(cache);
    size_t in, out;
    int64_t dims[PRT_MAX_RANK];
    prt_tensor buffer, value;
    PRT_TRY(find_slot(io, input, 0, io->n_in, &in));
    PRT_TRY(find_slot(io, output, io->n_in, io->n_in + io->n_out, &out));
    if (io->with_callbacks)
        return prt_fail(POPRT_E_STATE, input,
            "cannot bind: this StepIO gets its tensors from callbacks");
    PRT_TRY(check_cache_buffer(&io->slots[in], cache, rows, &buffer));
    PRT_TRY(check_output(&io->slots[out], &buffer));
    memcpy(dims, cache->dims, cache->rank * sizeof(int64_t));
    dims[cache->rank - 2] = rows;
    poprt_tensor now = *cache;
    now.dims = dims;
    PRT_TRY(prt_slot_import(&io->slots[in], io->slots[in].type, &now, &value));
    prt_slot_clear(io, in);
    prt_slot_clear(io, out);
    value.size = buffer.size;
    value.capacity = (uint32_t)cache->dims[cache->rank - 2];
    io->slots[in].value = value;
    io->slots[out].value = buffer;
    io->slots[out].value.capacity = value.capacity;
    io->slots[in].bound = io->slots[out].bound = true;
    io->slots[in].partner = (uint32_t)out;
    io->slots[out].partner = (uint32_t)in;
    return POPRT_OK;
}

poprt_status poprt_stepio_cache_rows(const poprt_stepio *io, const char *input, int64_t *rows)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(input);
    PRT_REQUIRE(rows);
    size_t in;
    PRT_TRY(find_slot(io, input, 0, io->n_in, &in));
    const prt_tensor *value = &io->slots[in].value;
    if (value->capacity == 0)
        return prt_fail(POPRT_E_STATE, input, "no cache is bound to this input");
    *rows = value->dims[value->rank - 2];
    return POPRT_OK;
}
