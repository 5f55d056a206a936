/* SPDX-License-Identifier: MIT */
/*
 * slots.c — memory of values whose size is known only when they are computed: an arena for each,
 * which a later value reuses after the last read of the earlier one.
 *
 * The last read is found from the steps, not from the lifetimes that the program states. Outputs,
 * and values other than numeric tensors, keep their arenas until they are computed again.
 */
#include "runtime/frame.h"

/* Bytes: a request up to this size releases no free slot, and any request accepts a slot that is
 * larger by up to twice this size plus the request itself. */
enum { SMALL = 1 << 16 };

/* Returns the smallest free slot of at least `size` bytes that is not far larger; NULL without
 * one. */
static prt_arena *reuse_slot(prt_session *s, size_t size)
{
    uint32_t best = PRT_FREE_SLOTS_MAX;
    for (uint32_t i = 0; i < s->n_free_slots; i++) {
        const size_t has = prt_arena_size(s->free_slots[i]);
        if (has >= size && has / 2 <= size + SMALL &&
            (best == PRT_FREE_SLOTS_MAX || has < prt_arena_size(s->free_slots[best])))
            best = i;
    }
    if (best == PRT_FREE_SLOTS_MAX)
        return NULL;
    prt_arena *slot = s->free_slots[best];
    s->free_slots[best] = s->free_slots[--s->n_free_slots];
    return slot;
}

/* Releases the largest or the smallest free slot. Returns its size. */
static size_t release_free_slot(prt_session *s, bool largest)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < s->n_free_slots; i++)
        if ((prt_arena_size(s->free_slots[i]) > prt_arena_size(s->free_slots[at])) == largest)
            at = i;
    const size_t size = prt_arena_size(s->free_slots[at]);
    prt_arena_release(s->free_slots[at]);
    s->free_slots[at] = s->free_slots[--s->n_free_slots];
    return size;
}

prt_arena *prt_frame_slot(prt_frame *f, uint32_t buffer, size_t size)
{
    prt_session *s = f->session;
    if (f->slots[buffer] != NULL)
        return f->slots[buffer];
    f->slots[buffer] = reuse_slot(s, size);
    if (f->slots[buffer] != NULL)
        return f->slots[buffer];
    for (size_t eliminated = 0; size > SMALL && eliminated < size && s->n_free_slots != 0;)
        eliminated += release_free_slot(s, true);
    (void)prt_arena_create(&s->memory.allocator, 0, &f->slots[buffer]);
    return f->slots[buffer];
}

void prt_frame_free_slots(prt_frame *f, uint32_t step)
{
    prt_session *s = f->session;
    for (uint32_t i = f->ends[step]; i < f->ends[step + 1]; i++) {
        prt_arena **slot = &f->slots[f->ending[i]];
        if (*slot == NULL)
            continue;
        prt_arena_reset(*slot);
        if (s->n_free_slots == PRT_FREE_SLOTS_MAX)
            (void)release_free_slot(s, false);
        s->free_slots[s->n_free_slots++] = *slot;
        *slot = NULL;
    }
}

/* Returns the buffer at the end of a chain of views. */
static uint32_t root_of(const prt_block *b, uint32_t buffer)
{
    while (b->buffers[buffer].space == PRT_SPACE_VIEW)
        buffer = b->buffers[buffer].ref;
    return buffer;
}

static bool is_numbers(const prt_type *type)
{
    return type->kind == PRT_VALUE_TENSOR && type->dtype != PRT_DTYPE_undefined &&
        type->dtype != PRT_DTYPE_string;
}

/* Buffers captured by the bodies of step k are read until it ends. */
static void read_captures(const prt_frame *f, uint32_t k, uint32_t *last)
{
    const prt_eval_params *params = f->steps[k].params;
    for (uint32_t r = 0; r < params->n_regions; r++) {
        const prt_block *body = &f->session->program->blocks[params->regions[r]];
        for (uint32_t i = 0; i < body->n_buffers; i++)
            if (body->buffers[i].space == PRT_SPACE_CAPTURE)
                last[root_of(f->block, body->buffers[i].ref)] = k;
    }
}

/* Finds, by root, the last step that uses it or a view of it; UINT32_MAX: it is kept. */
static void find_last(const prt_frame *f, uint32_t *last)
{
    const prt_block *b = f->block;
    for (uint32_t k = 0; k < b->n_steps; k++) {
        const prt_frame_step *step = &f->steps[k];
        const uint32_t *args = step->out_buffers - step->n_in;
        for (uint32_t i = 0; i < step->n_in + step->n_out; i++)
            if (args[i] != PRT_NO_BUFFER)
                last[root_of(b, args[i])] = k;
        read_captures(f, k, last);
    }
    for (uint32_t i = 0; i < b->n_outputs; i++)
        last[root_of(b, b->outputs[i])] = UINT32_MAX;
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (!is_numbers(b->buffers[i].type))
            last[root_of(b, i)] = UINT32_MAX;
}

/* Returns the step after which the memory of a buffer is reused; UINT32_MAX: it is kept. */
static uint32_t end_of(const prt_block *b, const uint32_t *last, uint32_t buffer)
{
    const uint32_t space = b->buffers[buffer].space;
    return space == PRT_SPACE_DYNAMIC || space == PRT_SPACE_VIEW ? last[root_of(b, buffer)]
                                                                 : UINT32_MAX;
}

poprt_status prt_frame_find_slot_reuse(prt_frame *f)
{
    const prt_block *b = f->block;
    prt_arena *arena = f->session->arena;
    uint32_t *last = PRT_NEW_N(arena, uint32_t, b->n_buffers);
    f->ends = PRT_NEW_N(arena, uint32_t, (size_t)b->n_steps + 2);
    f->ending = PRT_NEW_N(arena, uint32_t, b->n_buffers);
    if (last == NULL || f->ends == NULL || f->ending == NULL)
        return POPRT_E_NOMEM;
    find_last(f, last);
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (end_of(b, last, i) != UINT32_MAX)
            f->ends[end_of(b, last, i) + 2]++;
    for (uint32_t k = 2; k < b->n_steps + 2; k++)
        f->ends[k] += f->ends[k - 1];
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (end_of(b, last, i) != UINT32_MAX)
            f->ending[f->ends[end_of(b, last, i) + 1]++] = i;
    return POPRT_OK;
}
