/* SPDX-License-Identifier: MIT */
/* caches.c — finds the inputs and outputs that are caches, and allocates the caches. */
#include "tools/common/caches.h"

enum { MORE_ROWS = 64 };

/* Matches a name with a pattern. `*middle` receives the text that `*` stands for. Returns false if
 * the name does not match. */
static bool matches(prt_str pattern, const char *name, prt_str *middle)
{
    const char *star = memchr(pattern.data, '*', pattern.size);
    const size_t n = strlen(name);
    *middle = PRT_STR("");
    if (star == NULL)
        return prt_str_is(pattern, name);
    const size_t head = (size_t)(star - pattern.data), tail = pattern.size - head - 1;
    if (n < head + tail || memcmp(name, pattern.data, head) != 0 ||
        memcmp(name + n - tail, star + 1, tail) != 0)
        return false;
    *middle = (prt_str){ name + head, (uint32_t)(n - head - tail) };
    return true;
}

/* Returns a pattern with `*` replaced by a text. */
static const char *expand_pattern(prt_arena *arena, const char *pattern, prt_str middle)
{
    const char *star = strchr(pattern, '*');
    return star == NULL ? pattern
                        : prt_tool_text(arena, "%.*s%.*s%s", (int)(star - pattern), pattern,
                              PRT_STR_ARG(middle), star + 1);
}

static poprt_status add(prt_caches *c, prt_feed *feed, size_t slot, const poprt_io_info *info,
    const char *output)
{
    prt_cache *cache = &c->items[c->count];
    if (output == NULL)
        return POPRT_E_NOMEM;
    if (info->rank < 2 || info->rank > PRT_MAX_RANK || info->value_kind != POPRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_SHAPE, info->name,
            "is not a tensor with rows, so it cannot be a cache");
    const int32_t axis = info->rank - 2;
    if (info->dims[axis] >= 0)
        return prt_fail(POPRT_E_SHAPE, info->name,
            "has a fixed number of rows, %lld: the rows of a cache must be a symbolic dimension",
            (long long)info->dims[axis]);
    c->count++;
    *cache = (prt_cache){ .input = info->name, .output = output, .slot = slot };
    return prt_feed_derive_dim(feed, info->dim_names[axis], c->rows);
}

static poprt_status find(prt_caches *c, prt_feed *feed, const char *text)
{
    const char *equals = strchr(text, '=');
    const uint32_t before = c->count;
    if (equals == NULL)
        return prt_fail(POPRT_E_ARG, text, "a cache must have the form INPUT=OUTPUT");
    const prt_str pattern = { text, (uint32_t)(equals - text) };
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        prt_str middle;
        PRT_TRY(poprt_executable_io_at(feed->exec, POPRT_INPUT, i, &info));
        if (c->count < feed->count && matches(pattern, info.name, &middle))
            PRT_TRY(add(c, feed, i, &info, expand_pattern(feed->tool->arena, equals + 1, middle)));
    }
    return c->count != before
        ? POPRT_OK
        : prt_fail(POPRT_E_NOT_FOUND, text, "the model has no input of this name");
}

poprt_status prt_caches_find(prt_caches *c, prt_feed *feed, const prt_opts *opts, uint32_t option)
{
    uint32_t cursor = 0;
    c->items = PRT_NEW_N(feed->tool->arena, prt_cache, feed->count);
    if (c->items == NULL)
        return POPRT_E_NOMEM;
    for (const char *v; (v = prt_opt_next(opts, option, &cursor)) != NULL;)
        PRT_TRY(find(c, feed, v));
    return POPRT_OK;
}

poprt_status prt_caches_make(prt_caches *c, const prt_feed *feed)
{
    for (uint32_t i = 0; i < c->count; i++) {
        prt_cache *cache = &c->items[i];
        const prt_tensor *value = &feed->values[cache->slot];
        const uint32_t rank = value->rank, axis = rank - 2;
        prt_tensor whole;
        memcpy(cache->dims, value->dims, rank * sizeof(int64_t));
        cache->dims[axis] = 2 * c->rows + MORE_ROWS;
        if (!prt_tensor_init(&whole, value->dtype, rank, cache->dims, NULL))
            return prt_fail(POPRT_E_LIMIT, cache->input,
                "a cache of %lld rows does not fit in memory", (long long)c->rows);
        char *to = prt_arena_alloc(feed->tool->arena, whole.size);
        if (to == NULL)
            return POPRT_E_NOMEM;
        const size_t heads = prt_dims_product(value->dims, 0, axis);
        for (size_t h = 0; h < heads; h++)
            memcpy(to + h * (whole.size / heads),
                (const char *)value->data + h * (value->size / heads), value->size / heads);
        cache->buffer = (poprt_tensor){ .data = to,
            .size = whole.size,
            .dims = cache->dims,
            .rank = rank,
            .dtype = value->dtype };
    }
    return POPRT_OK;
}

poprt_status prt_caches_bind(const prt_caches *c, poprt_stepio *io)
{
    for (uint32_t i = 0; i < c->count; i++)
        PRT_TRY(poprt_stepio_bind_cache(io, c->items[i].input, c->items[i].output,
            &c->items[i].buffer, c->rows));
    return POPRT_OK;
}
