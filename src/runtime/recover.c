/* SPDX-License-Identifier: MIT */
/*
 * recover.c — makes a session as after its creation, whatever its last run left behind. Weights and
 * variables stay: a run that fails has changed neither (update.c, store.h).
 */
#include "runtime/flow_run.h"
#include "runtime/frame.h"

static void release(prt_arena **arena)
{
    prt_arena_release(*arena);
    *arena = NULL;
}

/* Replaces an arena that must exist by an empty one. */
static poprt_status renew(prt_session *s, prt_arena **arena)
{
    prt_arena *fresh = NULL;
    PRT_TRY(prt_arena_create(&s->memory.allocator, 0, &fresh));
    prt_arena_release(*arena);
    *arena = fresh;
    return POPRT_OK;
}

static poprt_status clear_frame(prt_frame *f)
{
    prt_session *s = f->session;
    for (uint32_t i = 0; i < f->block->n_buffers; i++)
        release(&f->slots[i]);
    f->scratch_used = false;
    f->scratch_offset = 0;
    if (!f->block->is_static) {
        prt_counted_free(&s->memory, f->memory, f->memory_size);
        f->memory = NULL;
        f->memory_size = 0;
    }
    return renew(s, &f->scratch);
}

static void clear_flow(prt_session *s)
{
    const prt_program *p = s->program;
    const size_t replicas = (size_t)p->flow.replicas;
    for (size_t i = 0; i < p->n_outputs * replicas; i++)
        release(&s->flow->sum_memory[i]);
    memset(s->flow->asked, 0, p->n_inputs * replicas * sizeof(*s->flow->asked));
}

poprt_status prt_session_recover(prt_session *s)
{
    const prt_program *p = s->program;
    atomic_store_explicit(&s->cancel, false, memory_order_relaxed);
    for (uint32_t i = 0; i < p->n_inputs; i++)
        release(&s->staging[i]);
    for (uint32_t i = 0; i < p->n_outputs; i++)
        release(&s->results[i]);
    while (s->n_free_slots != 0)
        prt_arena_release(s->free_slots[--s->n_free_slots]);
    if (s->flow != NULL)
        clear_flow(s);
    if (s->store != NULL) {
        prt_store_clear(s->store);
        prt_store_restart(s->store);
        s->has_sums = false;
    }
    s->replica = 0;
    s->resolved = false;
    for (uint32_t k = 0; k < p->n_blocks; k++)
        PRT_TRY(clear_frame(&s->frames[k]));
    PRT_TRY(renew(s, &s->infer_scratch));
    return s->open ? POPRT_OK : prt_frames_resolve(s);
}
