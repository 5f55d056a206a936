/* SPDX-License-Identifier: MIT */
/*
 * cache.c — caches: memory of the caller's with room for more rows than a run reads, in which an
 * output takes the place of an input. An attention that is all that reads the one and makes the
 * other finds its past in there and writes new rows behind it; else rows are copied, in and out.
 */
#include "op/op.h"
#include "runtime/frame.h"

/* Operators that read and write caches by prt_heads_split: their first inputs and outputs of that
 * kind; the second ones follow. */
static const struct {
    const char *op;
    uint32_t past, present;
} attentions[] = { { "fused_attention", 6, 1 }, { "attention", 4, 1 },
    { "ms_group_query_attention", 3, 1 } };

static bool is_float(const prt_type *type)
{
    return type->kind == PRT_VALUE_TENSOR && (type->dtype == PRT_DTYPE_f32 ||
        type->dtype == PRT_DTYPE_f16 || type->dtype == PRT_DTYPE_bf16);
}

/* The output that argument `slot` of a step is the past of; PRT_NO_BUFFER for none. */
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

/* How often steps, views, parts and other blocks have to do with the elements of a buffer of the
 * main block. */
static uint32_t readers(const prt_session *s, uint32_t buffer)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->program->n_blocks; k++) {
        const prt_block *b = s->frames[k].block;
        for (uint32_t i = 0; i < b->n_buffers; i++) {
            const uint32_t space = b->buffers[i].space;
            const bool here =
                k == 0 && (space == PRT_SPACE_VIEW || space == PRT_SPACE_PART);
            n += (here || (space == PRT_SPACE_CAPTURE && b->parent == 0 && k != 0)) &&
                b->buffers[i].ref == buffer;
        }
    }
    const prt_frame *f = &s->frames[0];
    for (uint32_t i = 0; i < f->block->n_steps; i++)
        for (uint32_t k = 0; k < f->steps[i].n_in && !reads_dims(&f->steps[i]); k++)
            n += (f->steps[i].out_buffers - f->steps[i].n_in)[k] == buffer;
    for (uint32_t i = 0; i < f->block->n_outputs; i++)
        n += f->block->outputs[i] == buffer;
    return n;
}

/* The output that a buffer with memory of its own is, and nothing else. */
static uint32_t output_of(const prt_session *s, uint32_t buffer)
{
    const prt_block *b = s->frames[0].block;
    if (buffer == PRT_NO_BUFFER || readers(s, buffer) != 1 ||
        (b->buffers[buffer].space != PRT_SPACE_OUTPUT &&
            b->buffers[buffer].space != PRT_SPACE_DYNAMIC))
        return UINT32_MAX;
    for (uint32_t i = 0; i < b->n_outputs; i++)
        if (b->outputs[i] == buffer)
            return i;
    return UINT32_MAX;
}

void prt_cache_find(prt_session *s)
{
    const prt_frame *f = &s->frames[0];
    for (uint32_t i = 0; i < s->program->n_inputs; i++) {
        const uint32_t buffer = f->block->inputs[i];
        const prt_type *type = s->program->inputs[i].type;
        s->appends[i] = (prt_append){ UINT32_MAX, NULL };
        if (!is_float(type) || type->rank != 4 || readers(s, buffer) != 1)
            continue;
        for (uint32_t k = 0; k < f->block->n_steps; k++) {
            const prt_frame_step *step = &f->steps[k];
            if (reads_dims(step))
                continue;
            for (uint32_t slot = 0; slot < step->n_in; slot++)
                if ((step->out_buffers - step->n_in)[slot] == buffer)
                    s->appends[i] = (prt_append){ output_of(s, present_of(step, slot)), step };
        }
    }
}

bool prt_cache_appends(const prt_session *s, uint32_t input, const prt_tensor *in, uint32_t output,
    const prt_tensor *out)
{
    const prt_append *a = &s->appends[input];
    return in->room != 0 && in->room == out->room && in->data == out->data && a->step != NULL &&
        a->output == output;
}

/* Rows of `t`, which lie in a cache, to or from where they are without gaps. */
static void copy_rows(const prt_tensor *t, char *cache, char *rows, bool in)
{
    const uint32_t axis = t->rank - 2;
    const size_t heads = prt_dims_product(t->dims, 0, axis);
    const size_t each = heads != 0 ? t->size / heads : 0;
    const size_t step = t->dims[axis] != 0 ? each / (size_t)t->dims[axis] * t->room : 0;
    for (size_t i = 0; i < heads && each != 0; i++)
        memcpy(in ? rows + i * each : cache + i * step, in ? cache + i * step : rows + i * each,
            each);
}

void prt_cache_gather(const prt_tensor *t, void *to)
{
    copy_rows(t, t->data, to, true);
}

poprt_status prt_cache_check(const prt_tensor *t, const prt_tensor *cache, const char *name)
{
    if (t->kind != PRT_VALUE_TENSOR || t->dtype != cache->dtype)
        return prt_fail(POPRT_E_TYPE, name, "is no tensor of %s, as the cache is",
            prt_dtype_of(cache->dtype)->name);
    for (uint32_t i = 0; t->rank == cache->rank && i < t->rank; i++)
        if (i + 2 != t->rank && t->dims[i] != cache->dims[i])
            return prt_fail(POPRT_E_SHAPE, name, "dimension %u is %lld, the cache's is %lld", i,
                (long long)t->dims[i], (long long)cache->dims[i]);
    if (t->rank != cache->rank || t->rank < 2)
        return prt_fail(POPRT_E_SHAPE, name, "has %u dimensions, the cache %u", t->rank,
            cache->rank);
    if (t->dims[t->rank - 2] > (int64_t)cache->room)
        return prt_fail(POPRT_E_ARG, name, "has %lld rows, the cache has room for %u",
            (long long)t->dims[t->rank - 2], cache->room);
    return POPRT_OK;
}

poprt_status prt_cache_scatter(const prt_tensor *t, const prt_tensor *cache, const char *name,
    prt_tensor *out)
{
    PRT_TRY(prt_cache_check(t, cache, name));
    *out = *t;
    out->room = cache->room;
    copy_rows(out, cache->data, t->data, false);
    out->data = cache->data;
    return POPRT_OK;
}
