/* SPDX-License-Identifier: MIT */
/*
 * flow_run.c — a run of a program with data flow: the loops over batches, micro-batches and
 * replicas, and the updates of training; see program/flow.h and stream.h.
 *
 * A micro-batch runs the main block. After the last of a batch the accumulators of all replicas are
 * summed, and entry `update` runs, which cannot fail. Whatever may fail or be cancelled comes
 * before, so that a run that ends early leaves the variables as after the last whole update.
 */
#include "runtime/flow_run.h"

typedef struct prt_flow_state state;

poprt_status prt_flow_state_create(prt_session *s)
{
    const prt_program *p = s->program;
    const size_t replicas = (size_t)p->flow.replicas;
    state *f = PRT_NEW(s->arena, state);
    s->flow = f;
    if (f == NULL)
        return POPRT_E_NOMEM;
    f->depths = PRT_NEW_N(s->arena, uint32_t, p->n_inputs);
    if (f->depths == NULL)
        return POPRT_E_NOMEM;
    f->depth = 1;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        f->depths[i] = s->buffering_depths != NULL ? s->buffering_depths[i] : 1;
        f->depth = f->depths[i] > f->depth ? f->depths[i] : f->depth;
    }
    s->buffering_depths = NULL;
    f->queue = PRT_NEW_N(s->arena, prt_tensor, p->n_inputs * replicas * f->depth);
    f->asked = PRT_NEW_N(s->arena, int64_t, p->n_inputs * replicas);
    f->in = PRT_NEW_N(s->arena, prt_tensor, p->n_inputs);
    f->out = PRT_NEW_N(s->arena, prt_tensor, p->n_outputs);
    f->sums = PRT_NEW_N(s->arena, prt_tensor, p->n_outputs * replicas);
    f->sum_memory = PRT_NEW_N(s->arena, prt_arena *, p->n_outputs * replicas);
    return f->queue != NULL && f->asked != NULL && f->in != NULL && f->out != NULL &&
            f->sums != NULL && f->sum_memory != NULL
        ? POPRT_OK
        : POPRT_E_NOMEM;
}

void prt_flow_state_release(prt_session *s)
{
    const size_t n = s->program->n_outputs * (size_t)s->program->flow.replicas;
    for (size_t i = 0; s->flow != NULL && s->flow->sum_memory != NULL && i < n; i++)
        prt_arena_release(s->flow->sum_memory[i]);
}

/* ---- inputs */

static prt_tensor *queued(const prt_session *s, uint32_t input, uint32_t replica, int64_t step)
{
    const state *f = s->flow;
    const size_t at = (size_t)input * (size_t)s->program->flow.replicas + replica;
    return &f->queue[at * f->depth + (size_t)(step % f->depth)];
}

/* Asks for the block that an input's replica reads in the next step not asked for. */
static poprt_status ask(prt_session *s, const prt_stream *io, uint32_t input, uint32_t replica,
    bool prefetch)
{
    const prt_program *p = s->program;
    int64_t *asked = &s->flow->asked[(size_t)input * (size_t)p->flow.replicas + replica];
    const prt_stream_block block = { input, replica, *asked, p->broadcast[input] };
    prt_tensor *to = queued(s, input, replica, *asked);
    *to = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    PRT_TRY(io->in(io->user, &block, prefetch, to));
    if (to->kind == PRT_VALUE_ABSENT && !prefetch)
        return prt_fail(POPRT_E_STATE, p->inputs[input].name.data, "input is not bound");
    *asked += to->kind != PRT_VALUE_ABSENT;
    return POPRT_OK;
}

/* Collects the blocks of a step: those that are read now, then, as far as the queue reaches, those
 * of later steps. */
static poprt_status collect(prt_session *s, const prt_stream *io, int64_t step)
{
    const prt_program *p = s->program;
    const uint32_t replicas = (uint32_t)p->flow.replicas;
    const int64_t steps = prt_flow_steps(&p->flow);
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const int64_t depth = s->flow->depths[i];
        const int64_t end = step + depth < steps ? step + depth : steps;
        bool waits = false; /* an earlier block has not come, and blocks come in order */
        for (int64_t at = step; at < end && !waits; at++)
            for (uint32_t r = 0; r < replicas && !waits; r++) {
                const int64_t *asked = &s->flow->asked[(size_t)i * replicas + r];
                if (*asked != at || prt_flow_first_reader(&p->flow, p->broadcast[i], r) != r)
                    continue;
                PRT_TRY(ask(s, io, i, r, at != step));
                waits = *asked == at;
            }
    }
    return POPRT_OK;
}

static void complete_inputs(const prt_session *s, const prt_stream *io, int64_t step)
{
    const prt_program *p = s->program;
    for (uint32_t i = 0; i < p->n_inputs; i++)
        for (uint32_t r = 0; r < (uint32_t)p->flow.replicas; r++) {
            const prt_stream_block block = { i, r, step, p->broadcast[i] };
            if (prt_flow_first_reader(&p->flow, p->broadcast[i], r) == r)
                io->in_complete(io->user, &block);
        }
}

/* ---- a micro-batch */

static poprt_status place_outputs(prt_session *s, const prt_stream *io, int64_t step,
    uint32_t replica)
{
    const prt_program *p = s->program;
    for (uint32_t i = 0; i < p->n_outputs; i++) {
        const prt_stream_block block = { i, replica, step, false };
        s->flow->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
        if (p->anchors[i].mode != PRT_ANCHOR_sum &&
            prt_flow_returns(&p->flow, &p->anchors[i], step))
            PRT_TRY(io->out(io->user, &block, &s->flow->out[i]));
    }
    return POPRT_OK;
}

static poprt_status return_outputs(prt_session *s, const prt_stream *io, int64_t step,
    uint32_t replica)
{
    const prt_program *p = s->program;
    for (uint32_t i = 0; i < p->n_outputs; i++) {
        const prt_stream_block block = { i, replica, step, false };
        prt_tensor *value = &s->flow->out[i];
        const bool sums = p->anchors[i].mode == PRT_ANCHOR_sum;
        if (sums)
            PRT_TRY(prt_flow_add_sum(s, i, replica, value, step == 0));
        if (!prt_flow_returns(&p->flow, &p->anchors[i], step))
            continue;
        if (sums) {
            *value = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
            PRT_TRY(io->out(io->user, &block, value));
            PRT_TRY(prt_flow_return_sum(s, i, replica, value));
        }
        PRT_TRY(io->out_complete(io->user, &block, value));
    }
    return POPRT_OK;
}

static poprt_status run_micro_batch(prt_session *s, const prt_stream *io, int64_t step,
    uint32_t replica)
{
    const prt_program *p = s->program;
    const uint64_t number = s->micro_batches * (uint64_t)p->flow.replicas + replica;
    s->replica = replica;
    if (s->store != NULL && p->flow.replicas > 1)
        prt_frame_use_replica(&s->frames[0]);
    s->run_seed = prt_session_mix(s->seed, number);
    s->random_calls = 0;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const int64_t reader = prt_flow_first_reader(&p->flow, p->broadcast[i], replica);
        s->flow->in[i] = *queued(s, i, (uint32_t)reader, step);
    }
    PRT_TRY(place_outputs(s, io, step, replica));
    PRT_TRY(prt_session_run_once(s, s->flow->in, s->flow->out));
    return return_outputs(s, io, step, replica);
}

/* ---- an update */

static poprt_status run_entry(prt_session *s, uint32_t kind)
{
    const uint32_t block = prt_program_entry(s->program, kind);
    if (block == 0)
        return POPRT_OK;
    prt_frame_use_replica(&s->frames[block]);
    return prt_session_run_steps(s, block);
}

/* Halves or doubles the factor of automatic loss scaling. It stays where a scalar that carries it,
 * such as the gradient of the loss with respect to itself, would overflow or become 0. */
static void scale_loss(prt_session *s)
{
    const prt_loss_scaling *l = &s->program->scaling;
    if (l->factor == PRT_NO_VARIABLE || s->update_count % (uint64_t)l->period != 0)
        return;
    const int64_t *counts = prt_store_working(s->store, l->counts, 0);
    float *factor = prt_store_current(s->store, l->factor, 0);
    const double share = (double)l->threshold;
    const bool overflows = (double)counts[1] * (1.0 - share) > share * (double)counts[0];
    const float next = *factor * (overflows ? 0.5f : 2.0f);
    if (!prt_session_may_scale(s, next))
        return;
    *factor = next;
    prt_session_scale_scalars(s);
}

static poprt_status update(prt_session *s)
{
    s->replica = 0;
    prt_session_sum_replicas(s);
    if (atomic_load_explicit(&s->cancel, memory_order_relaxed))
        return prt_fail(POPRT_E_CANCELLED, NULL, "run was cancelled");
    PRT_TRY(run_entry(s, PRT_ENTRY_update));
    prt_store_commit(s->store);
    scale_loss(s);
    s->update_count++;
    s->updated_at = s->micro_batches;
    prt_store_clear(s->store);
    return POPRT_OK;
}

static poprt_status run(prt_session *s, const prt_stream *io)
{
    const prt_flow *f = &s->program->flow;
    const int64_t steps = prt_flow_steps(f);
    for (int64_t step = 0; step < steps; step++) {
        if (atomic_load_explicit(&s->cancel, memory_order_relaxed))
            return prt_fail(POPRT_E_CANCELLED, NULL, "run was cancelled");
        PRT_TRY(collect(s, io, step));
        for (uint32_t r = 0; r < (uint32_t)f->replicas; r++)
            PRT_TRY(run_micro_batch(s, io, step, r));
        complete_inputs(s, io, step);
        s->micro_batches++;
        if ((step + 1) % f->accumulation == 0 && s->store != NULL)
            PRT_TRY(update(s));
    }
    return POPRT_OK;
}

/* Prepares the variables for a run: the one before may have failed within a batch, and the caller
 * may have changed statistics since. */
static void begin(prt_session *s)
{
    if (s->store == NULL)
        return;
    if (s->has_sums)
        prt_store_clear(s->store);
    prt_store_restart(s->store);
}

poprt_status prt_session_run_flow(prt_session *s, const prt_stream *io)
{
    const prt_program *p = s->program;
    PRT_TRY(prt_session_check_contents(s));
    memset(s->flow->asked, 0, p->n_inputs * (size_t)p->flow.replicas * sizeof(int64_t));
    begin(s);
    s->updated_at = s->micro_batches;
    const poprt_status status = run(s, io);
    s->has_sums = status != POPRT_OK;
    if (status != POPRT_OK)
        s->micro_batches = s->updated_at;
    s->run_seed = s->seed;
    atomic_store_explicit(&s->cancel, false, memory_order_relaxed);
    return prt_fail_at_stage(status, "run");
}
