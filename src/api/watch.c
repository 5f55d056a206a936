/* SPDX-License-Identifier: MIT */
/* watch.c — the times of a session's steps: poprt_session_watch, poprt_session_profile and
 * poprt_session_trace. */
#include "api/watch.h"

#include "op/op.h"

static void add_time(const poprt_session *session, uint32_t block, uint32_t index, uint64_t ns)
{
    prt_step_times *t = prt_step_times_of(session->profile, block, index);
    t->least = t->calls == 0 || ns < t->least ? ns : t->least;
    t->most = ns > t->most ? ns : t->most;
    t->total += ns;
    t->calls++;
}

static void report_step(void *user, uint32_t block, uint32_t index, uint64_t start_ns,
    uint64_t stop_ns)
{
    const poprt_session *session = user;
    const prt_program *p = session->exec->program;
    const prt_eval_params *params = &p->params[p->blocks[block].steps[index].params];
    const poprt_step step = { .struct_size = sizeof(step),
        .block = block,
        .index = index,
        .op = params->def->key,
        .form = prt_program_op_variant(params).data,
        .node = params->origin.data,
        .start_ns = start_ns,
        .stop_ns = stop_ns,
        .location = params->location.data };
    if (session->profile != NULL && session->profile->on)
        add_time(session, block, index, stop_ns - start_ns);
    if (session->trace != NULL)
        prt_trace_add_step(session->trace, &step);
    if (session->watch != NULL)
        session->watch(session->watch_user, &step);
}

bool prt_watch_is_on(const poprt_session *session)
{
    return session->trace != NULL || (session->profile != NULL && session->profile->on);
}

/* Makes runs report their steps as long as one of the three wants them. */
static void update(poprt_session *session)
{
    const bool wanted = session->watch != NULL || prt_watch_is_on(session);
    prt_session_watch(session->session, wanted ? report_step : NULL, session);
}

poprt_status poprt_session_watch(poprt_session *session, poprt_step_fn fn, void *user)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    session->watch = fn;
    session->watch_user = user;
    update(session);
    prt_unlock_session(session);
    return POPRT_OK;
}

poprt_status poprt_session_trace(poprt_session *session, poprt_trace *trace)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = trace != NULL ? prt_trace_keep(trace, session->exec) : POPRT_OK;
    if (status == POPRT_OK)
        session->trace = trace;
    update(session);
    prt_unlock_session(session);
    return status;
}

/* ---- profile */

/* Makes the sums in one block of memory. */
static poprt_status create_profile(const poprt_session *session, prt_step_profile **out)
{
    const prt_program *p = session->exec->program;
    size_t n = 0, size;
    for (uint32_t b = 0; b < p->n_blocks; b++)
        n += p->blocks[b].n_steps;
    if (!prt_size_mul(n, sizeof(prt_step_times), &size) ||
        !prt_size_add(size, sizeof(prt_step_profile) + p->n_blocks * sizeof(uint32_t), &size) ||
        n > UINT32_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL, "too many steps for a profile");
    prt_step_profile *made = prt_mem_alloc(&session->env->allocator, size);
    if (made == NULL)
        return POPRT_E_NOMEM;
    made->n_steps = (uint32_t)n;
    made->steps = (prt_step_times *)(void *)(made + 1);
    made->first = (uint32_t *)(void *)(made->steps + n);
    n = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        made->first[b] = (uint32_t)n;
        n += p->blocks[b].n_steps;
    }
    *out = made;
    return POPRT_OK;
}

poprt_status poprt_session_profile(poprt_session *session, int32_t on)
{
    PRT_REQUIRE(session);
    if (on != 0 && on != 1)
        return prt_fail(POPRT_E_ARG, "on", "%d is neither 0 nor 1", on);
    PRT_TRY(prt_lock_session(session));
    poprt_status status = POPRT_OK;
    if (session->profile == NULL && on != 0)
        status = create_profile(session, &session->profile);
    if (session->profile != NULL)
        session->profile->on = on != 0;
    update(session);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "profile");
}

poprt_status poprt_session_reset_profile(poprt_session *session)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    prt_step_profile *p = session->profile;
    if (p != NULL) {
        p->runs = p->run_ns = 0;
        memset(p->steps, 0, p->n_steps * sizeof(*p->steps));
    }
    prt_unlock_session(session);
    return POPRT_OK;
}

void prt_watch_run(poprt_session *session, poprt_status status, uint64_t start_ns, uint64_t stop_ns)
{
    prt_step_profile *p = session->profile;
    if (p != NULL && p->on && status == POPRT_OK) {
        p->runs++;
        p->run_ns += stop_ns - start_ns;
    }
    if (session->trace != NULL)
        prt_trace_add_run(session->trace, session->exec->file, start_ns, stop_ns);
}

void prt_watch_release(poprt_session *session)
{
    if (session->profile != NULL)
        prt_mem_free(&session->env->allocator, session->profile);
}
