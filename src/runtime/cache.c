/* SPDX-License-Identifier: MIT */
/*
 * cache.c — KV caches: memory of the caller's with capacity for more rows than a run reads, in
 * which an output replaces an input. If an attention is the only reader of the input and makes the
 * output, it reads its past from the cache and appends new rows. Otherwise rows are copied from and
 * to it.
 */
#include "op/op.h"
#include "runtime/frame.h"

/* Operators that read and write caches by prt_heads_of_rank4: the first input and output of a
 * cache; the second ones follow. */
static const struct {
    const char *op;
    uint32_t past, present;
} attentions[] = { { "fused_attention", 6, 1 }, { "attention", 4, 1 },
    { "ms_group_query_attention", 3, 1 } };

static bool is_float(const prt_type *type)
{
    return type->kind == PRT_VALUE_TENSOR &&
        (type->dtype == PRT_DTYPE_f32 || type->dtype == PRT_DTYPE_f16 ||
            type->dtype == PRT_DTYPE_bf16);
}

/* Returns the output whose past is argument `slot` of a step; PRT_NO_BUFFER otherwise. */
static uint32_t present_of(const prt_frame_step *step, uint32_t slot)
{
    for (size_t i = 0; i < sizeof(attentions) / sizeof(attentions[0]); i++) {
        const uint32_t past = attentions[i].past, out = attentions[i].present + slot - past;
        if (strcmp(step->params->def->key, attentions[i].op) == 0 && slot >= past &&
            slot < past + 2 && out < step->n_out)
            return step->out_buffers[out];
    }
    return PRT_NO_BUFFER;
}

static bool reads_dims(const prt_frame_step *step)
{
    return strcmp(step->params->def->key, "shape") == 0;
}

/* Counts, by buffer of the main block, the uses of its elements: by steps, views, parts, other
 * blocks and the caller. */
static void count_readers(const prt_session *s, uint32_t *n)
{
    const prt_frame *f = &s->frames[0];
    for (uint32_t k = 0; k < s->program->n_blocks; k++) {
        const prt_block *b = s->frames[k].block;
        for (uint32_t i = 0; i < b->n_buffers; i++) {
            const prt_buffer *buffer = &b->buffers[i];
            if (k == 0 ? buffer->space >= PRT_SPACE_VIEW /* or part, or columns */
                       : buffer->space == PRT_SPACE_CAPTURE && b->parent == 0)
                n[buffer->ref]++;
        }
    }
    for (uint32_t i = 0; i < f->block->n_steps; i++) {
        const prt_frame_step *step = &f->steps[i];
        for (uint32_t k = 0; k < step->n_in && !reads_dims(step); k++)
            if ((step->out_buffers - step->n_in)[k] != PRT_NO_BUFFER)
                n[(step->out_buffers - step->n_in)[k]]++;
    }
    for (uint32_t i = 0; i < f->block->n_outputs; i++)
        n[f->block->outputs[i]]++;
}

/* Finds the caches of a step that nothing else uses. */
static void find_in_step(prt_session *s, const prt_frame_step *step, const uint32_t *readers,
    const uint32_t *output)
{
    const prt_block *b = s->frames[0].block;
    for (uint32_t slot = 0; slot < step->n_in; slot++) {
        const uint32_t past = (step->out_buffers - step->n_in)[slot];
        const uint32_t present = present_of(step, slot);
        if (past == PRT_NO_BUFFER || present == PRT_NO_BUFFER || readers[past] != 1 ||
            readers[present] != 1 || output[present] == 0)
            continue;
        const prt_buffer *in = &b->buffers[past], *out = &b->buffers[present];
        if (in->space == PRT_SPACE_INPUT && is_float(in->type) && in->type->rank == 4 &&
            (out->space == PRT_SPACE_OUTPUT || out->space == PRT_SPACE_DYNAMIC))
            s->appends[in->ref] = output[present];
    }
}

poprt_status prt_cache_find(prt_session *s)
{
    const prt_block *b = s->frames[0].block;
    uint32_t *readers = PRT_NEW_N(s->infer_scratch, uint32_t, b->n_buffers);
    uint32_t *output = PRT_NEW_N(s->infer_scratch, uint32_t, b->n_buffers);
    if (readers == NULL || output == NULL)
        return POPRT_E_NOMEM;
    count_readers(s, readers);
    for (uint32_t i = 0; i < b->n_outputs; i++)
        output[b->outputs[i]] = i + 1;
    for (uint32_t i = 0; i < b->n_steps; i++)
        find_in_step(s, &s->frames[0].steps[i], readers, output);
    prt_arena_reset(s->infer_scratch);
    return POPRT_OK;
}

bool prt_cache_appends(const prt_session *s, uint32_t input, const prt_tensor *in, uint32_t output,
    const prt_tensor *out)
{
    return in->capacity != 0 && in->capacity == out->capacity && in->data == out->data &&
        s->appends[input] == output + 1;
}

/* Copies the rows of `t`, which lie in a cache, from or to a contiguous array. */
static void copy_rows(const prt_tensor *t, char *cache, char *rows, bool in)
{
    const uint32_t axis = t->rank - 2;
    const size_t heads = prt_dims_product(t->dims, 0, axis);
    const size_t each = heads != 0 ? t->size / heads : 0;
    const size_t step = t->dims[axis] != 0 ? each / (size_t)t->dims[axis] * t->capacity : 0;
    if (in)
        prt_move_pieces(heads, each, cache, step, rows, each);
    else
        prt_move_pieces(heads, each, rows, each, cache, step);
}

void prt_cache_gather(const prt_tensor *t, void *to)
{
    copy_rows(t, t->data, to, true);
}

poprt_status prt_cache_check(const prt_tensor *t, const prt_tensor *cache, const char *name)
{
    if (t->kind != PRT_VALUE_TENSOR || t->dtype != cache->dtype)
        return prt_fail(POPRT_E_TYPE, name, "is not a tensor of %s, the type of the cache",
            prt_dtype_of(cache->dtype)->name);
    for (uint32_t i = 0; t->rank == cache->rank && i < t->rank; i++)
        if (i + 2 != t->rank && t->dims[i] != cache->dims[i])
            return prt_fail(POPRT_E_SHAPE, name, "dimension %u is %lld, the cache's is %lld", i,
                (long long)t->dims[i], (long long)cache->dims[i]);
    if (t->rank != cache->rank || t->rank < 2)
        return prt_fail(POPRT_E_SHAPE, name, "has %u dimensions, the cache %u", t->rank,
            cache->rank);
    if (t->dims[t->rank - 2] > (int64_t)cache->capacity)
        return prt_fail(POPRT_E_ARG, name, "has %lld rows, the cache has room for %u",
            (long long)t->dims[t->rank - 2], cache->capacity);
    return POPRT_OK;
}

poprt_status prt_cache_scatter(const prt_tensor *t, const prt_tensor *cache, const char *name,
    prt_tensor *out)
{
    PRT_TRY(prt_cache_check(t, cache, name));
    *out = *t;
    out->capacity = cache->capacity;
    copy_rows(out, cache->data, t->data, false);
    out->data = cache->data;
    return POPRT_OK;
}
