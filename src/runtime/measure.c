/* SPDX-License-Identifier: MIT */
/*
 * measure.c — the memory that runs add to a session, computed without running. A session that
 * measures has reserved addresses instead of memory for its planned values, inputs and outputs. Its
 * kernels are called as in a run and ask for scratch, but skip their loops (`is_measuring` of
 * prt_eval).
 *
 * A step that fails, or whose shapes are known only in a run, is skipped, except for operators with
 * bodies: these run as with inputs of zeros, and each body at least once.
 */
#include "runtime/flow_run.h"

enum {
    ROUNDS = 3,          /* runs until scratch and written weights keep their sizes */
    MOST_CALLS = 1 << 12 /* calls of bodies in a round, since a loop may not end */
};

static void drop_substitute(void *user, const void *data, size_t size)
{
    (void)user;
    prt_mem_unreserve((void *)(uintptr_t)data, size);
}

poprt_status prt_session_substitute_weight(const prt_blob *weight, prt_blob **out)
{
    enum { READ = 16 << 20 }; /* bytes; larger weights read as zeros */
    void *data = prt_mem_reserve(weight->size);
    if (data == NULL)
        return POPRT_E_NOMEM;
    if (weight->size <= READ)
        memcpy(data, weight->data, weight->size);
    const poprt_status status =
        prt_blob_borrow(&prt_mem_libc, data, weight->size, drop_substitute, NULL, out);
    if (status != POPRT_OK)
        prt_mem_unreserve(data, weight->size);
    return status;
}

/* Returns whether the buffer is an input or output in the caller's memory. */
static bool is_bound(const prt_frame *f, uint32_t buffer)
{
    const uint32_t space = f->block->buffers[buffer].space;
    return (space == PRT_SPACE_INPUT || space == PRT_SPACE_OUTPUT) &&
        prt_frame_is_final(&f->expected[buffer]);
}

/* Returns the bytes of the inputs and outputs of a frame, each aligned to a cache line. Places them
 * in `memory` unless it is NULL. */
static size_t bind(prt_frame *f, unsigned char *memory)
{
    size_t total = 0;
    for (uint32_t i = 0; i < f->block->n_buffers; i++) {
        size_t end;
        if (!is_bound(f, i) || !prt_size_add(total, f->expected[i].size, &end) || end > PTRDIFF_MAX)
            continue;
        if (memory != NULL)
            f->values[i].data = f->planned[i] = memory + total;
        total = prt_size_align(end, PRT_BUFFER_ALIGN);
    }
    if (memory != NULL)
        prt_frame_place_parts(f);
    return total;
}

static bool has_inputs(const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_in; i++)
        if (step->in[i] != NULL && step->in[i]->data == NULL && step->in[i]->size != 0)
            return false;
    return true;
}

/* Memory of an earlier call may be released, and readers test the pointer. */
static void forget_outputs(const prt_frame_step *step)
{
    for (uint32_t i = 0; i < step->n_out; i++)
        if (step->out[i] != NULL)
            step->out[i]->data = NULL;
}

static void dry_run_frame(prt_frame *f)
{
    for (uint32_t i = 0; i < f->n_active_steps; i++) {
        prt_frame_step *step = &f->steps[f->active_steps[i]];
        if (!step->is_static)
            forget_outputs(step);
        if ((step->is_static || step->params->n_regions != 0) && has_inputs(step))
            (void)prt_frame_dry_run_step(f, step);
        prt_frame_free_slots(f, f->active_steps[i]);
    }
}

poprt_status prt_frame_dry_run_body(prt_frame *f)
{
    if (f->session->dry_runs++ >= MOST_CALLS)
        return prt_fail(POPRT_E_LIMIT, NULL, "a rehearsal runs at most %d bodies", MOST_CALLS);
    dry_run_frame(f);
    return POPRT_OK;
}

/* Rehearses a run, with inputs and outputs at reserved addresses. */
static poprt_status dry_run(prt_session *s)
{
    prt_frame *f = &s->frames[0];
    const size_t size = bind(f, NULL);
    void *memory = prt_mem_reserve(size);
    if (memory == NULL)
        return POPRT_E_NOMEM;
    (void)bind(f, memory);
    s->dry_runs = 0;
    dry_run_frame(f);
    for (uint32_t i = 0; i < s->program->n_entries; i++)
        dry_run_frame(&s->frames[s->program->entries[i].block]);
    prt_mem_unreserve(memory, size);
    return POPRT_OK;
}

poprt_status prt_session_dry_run(prt_session *s)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        PRT_TRY(prt_session_apply_updates(s));
        if (!s->resolved)
            PRT_TRY(prt_frames_resolve(s));
        PRT_TRY(dry_run(s));
        PRT_TRY(prt_session_merge_scratch(s));
    }
    return POPRT_OK;
}

/* Returns whether data flow returns an output in every step, so that the caller has its memory. */
static bool always_returns(const prt_program *p, uint32_t output)
{
    const prt_anchor *a = &p->anchors[output];
    if (!p->has_flow)
        return true;
    if (a->mode == PRT_ANCHOR_final)
        return prt_flow_steps(&p->flow) == 1;
    return a->mode != PRT_ANCHOR_sum && a->period == 1;
}

poprt_status prt_session_alloc_results(prt_session *s, bool all)
{
    const prt_frame *f = &s->frames[0];
    for (uint32_t i = 0; i < s->program->n_outputs; i++) {
        const uint32_t buffer = f->block->outputs[i];
        const prt_buffer *b = &f->block->buffers[buffer];
        if (!all && always_returns(s->program, i))
            continue;
        if (b->space == PRT_SPACE_OUTPUT && b->ref == i && is_bound(f, buffer) &&
            prt_session_alloc_result(s, i, &f->expected[buffer]) == NULL)
            return POPRT_E_NOMEM;
        if (!all && s->program->anchors[i].mode == PRT_ANCHOR_sum)
            PRT_TRY(prt_flow_reserve_sums(s, i, &f->expected[buffer]));
    }
    return POPRT_OK;
}
