/* SPDX-License-Identifier: MIT */
/* light.c — light runners: the calling thread runs the request. */
#include "runner/state.h"

/* Runs batch `k` of the call of a session. */
static poprt_status run_batch(poprt_runner *runner, prt_runner_session *s, size_t k, int32_t graph)
{
    const uint32_t n_in = runner->lists[POPRT_INPUT].n_fields;
    poprt_stepio *io = s->io[graph < 0 ? 0 : graph];
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++) {
        const prt_runner_list *list = &runner->lists[direction];
        for (uint32_t i = 0; i < list->n_fields; i++) {
            const prt_request_data *d = &s->call[direction == POPRT_INPUT ? i : n_in + i];
            void *data = direction == POPRT_INPUT ? runner->zeros : NULL;
            if (!prt_runner_takes_part(list->fields[i].graph, graph))
                continue;
            if (d->data != NULL)
                data = d->data + k * list->fields[i].inner;
            PRT_TRY(prt_runner_bind(io, runner, direction, i, data));
        }
    }
    return poprt_session_run(s->session, io);
}

static poprt_status run_call(poprt_runner *runner, prt_runner_session *s,
    const poprt_runner_call *call)
{
    size_t rows = 0;
    int32_t graph;
    if (s->session == NULL)
        return prt_fail(POPRT_E_STATE, NULL,
            "the runner is stopped: call poprt_runner_reload first");
    PRT_TRY(prt_runner_read_call(runner, call, s->call, &rows, &graph));
    poprt_status status = POPRT_OK;
    for (size_t k = 0; k < rows && status == POPRT_OK; k++) {
        const uint32_t cancels = atomic_load(&runner->cancels);
        status = run_batch(runner, s, k, graph);
        /* A run may end by a cancellation that came too late for the run before it. */
        if (status == POPRT_E_CANCELLED && cancels == atomic_load(&runner->cancels))
            status = run_batch(runner, s, k, graph);
    }
    if (status != POPRT_OK && runner->auto_reset) {
        prt_error_copy copy;
        prt_error_save(&copy);
        (void)poprt_session_recover(s->session);
        prt_error_restore(&copy);
    }
    return status;
}

/* Adds a call to the counters. */
static void count(poprt_runner *runner, poprt_status status)
{
    (void)pthread_mutex_lock(&runner->lock);
    runner->stats.requests++;
    runner->stats.finished++;
    runner->stats.failed += status != POPRT_OK;
    (void)pthread_mutex_unlock(&runner->lock);
}

poprt_status prt_light_run(poprt_runner *runner, const poprt_runner_call *call)
{
    prt_runner_session *s = &runner->sessions[runner->replicas[call->replica]];
    if (runner->thread_safe)
        (void)pthread_mutex_lock(&s->lock);
    else if (pthread_mutex_trylock(&s->lock) != 0)
        return prt_fail(POPRT_E_STATE, "thread_safe",
            "is false, and another thread runs a request of this session");
    const poprt_status status = run_call(runner, s, call);
    (void)pthread_mutex_unlock(&s->lock);
    count(runner, status);
    return status;
}
