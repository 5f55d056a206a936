/* SPDX-License-Identifier: MIT */
/* request.c — requests: submitting, waiting, cancelling. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>

#include "base/clock.h"
#include "base/size.h"
#include "runner/state.h"

bool prt_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until)
{
    if (until == UINT64_MAX) {
        (void)pthread_cond_wait(cond, lock);
        return true;
    }
    const struct timespec time = { .tv_sec = (time_t)(until / 1000000000u),
        .tv_nsec = (long)(until % 1000000000u) };
    return pthread_cond_timedwait(cond, lock, &time) != ETIMEDOUT;
}

/* Returns the time `wait_ns` from now; UINT64_MAX: never. */
static uint64_t time_after(uint64_t wait_ns)
{
    const uint64_t now = prt_clock_ns();
    return wait_ns > UINT64_MAX - now ? UINT64_MAX : now + wait_ns;
}

/* ---- the object */

static poprt_status create_request(poprt_runner *runner, const poprt_runner_call *call,
    poprt_request **out)
{
    const size_t n =
        (size_t)runner->lists[POPRT_INPUT].n_fields + runner->lists[POPRT_OUTPUT].n_fields;
    poprt_request *r =
        prt_mem_alloc_raw(&runner->env->allocator, sizeof(*r) + n * sizeof(r->data[0]));
    if (r == NULL)
        return POPRT_E_NOMEM;
    memset(r, 0, offsetof(poprt_request, error));
    if (prt_cond_init(&r->finished) != POPRT_OK) {
        prt_mem_free(&runner->env->allocator, r);
        return POPRT_E_NOMEM;
    }
    atomic_init(&r->refs, 1);
    r->runner = prt_runner_retain(runner);
    r->done = call->done;
    r->user = call->user;
    *out = r;
    return POPRT_OK;
}

void prt_request_unref(poprt_request *request)
{
    if (atomic_fetch_sub_explicit(&request->refs, 1, memory_order_acq_rel) != 1)
        return;
    poprt_runner *runner = request->runner;
    (void)pthread_cond_destroy(&request->finished);
    prt_mem_free(&runner->env->allocator, request);
    prt_runner_unref(runner);
}

void poprt_request_release(poprt_request *request)
{
    if (request != NULL)
        prt_request_unref(request);
}

/* ---- submitting */

static poprt_status fail_stopped(void)
{
    return prt_fail(POPRT_E_STATE, NULL, "the runner is stopped: call poprt_runner_reload first");
}

/* Waits for a free place in the queue, with the lock. */
static poprt_status wait_for_place(poprt_runner *runner, uint64_t wait_ns)
{
    const uint64_t until = prt_runner_is_inside(runner) ? 0 : time_after(wait_ns);
    bool in_time = true;
    while (!runner->is_stopping && !runner->is_stopped &&
        runner->stats.queued >= runner->most_queued) {
        if (!in_time)
            return prt_fail(POPRT_E_LIMIT, NULL, "the queue is full: %llu requests wait in it",
                (unsigned long long)runner->stats.queued);
        in_time = prt_wait_until(&runner->space, &runner->lock, until);
    }
    return runner->is_stopping || runner->is_stopped ? fail_stopped() : POPRT_OK;
}

/* Appends a request to the list, which then holds a reference. */
static void append(poprt_runner *runner, poprt_request *r)
{
    r->sequence = ++runner->stats.requests;
    r->arrival = prt_clock_ns();
    r->is_linked = true;
    r->before = runner->last;
    if (runner->last != NULL)
        runner->last->after = r;
    else
        runner->first = r;
    runner->last = r;
    if (runner->cursor == NULL)
        runner->cursor = r;
    runner->stats.queued++;
    atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
    (void)pthread_cond_signal(&runner->work);
}

static poprt_status queue_request(poprt_runner *runner, poprt_request *r, uint64_t wait_ns)
{
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    poprt_status status = wait_for_place(runner, wait_ns);
    if (status == POPRT_OK)
        status = prt_runner_start(runner);
    if (status == POPRT_OK)
        append(runner, r);
    (void)pthread_mutex_unlock(&runner->lock);
    return status;
}

static poprt_status submit(poprt_runner *runner, const poprt_runner_call *call, uint64_t wait_ns,
    poprt_request **out)
{
    poprt_request *r = NULL;
    PRT_TRY(create_request(runner, call, &r));
    poprt_status status = prt_runner_read_call(runner, call, r->data, &r->rows, &r->graph);
    if (status == POPRT_OK && runner->kind == POPRT_RUNNER_PACK)
        status = prt_pack_measure(runner, r);
    r->left = r->rows;
    if (status == POPRT_OK)
        status = queue_request(runner, r, wait_ns);
    if (status == POPRT_OK)
        *out = r;
    else
        prt_request_unref(r);
    return status;
}

/* Runs a call of a light runner, whose request is finished at once. */
static poprt_status submit_light(poprt_runner *runner, const poprt_runner_call *call,
    poprt_request **out)
{
    poprt_request *r = NULL;
    PRT_TRY(create_request(runner, call, &r));
    r->arrival = r->start = prt_clock_ns();
    r->status = prt_light_run(runner, call);
    r->end = prt_clock_ns();
    r->is_finished = true;
    if (r->status != POPRT_OK)
        prt_error_save(&r->error);
    if (call->done != NULL)
        call->done(call->user, r->status, r->status != POPRT_OK ? prt_error_last() : NULL);
    *out = r;
    return POPRT_OK;
}

/* Copies a caller's call, whose struct may be older or newer. */
static poprt_status import_call(const poprt_runner *runner, const poprt_runner_call *call,
    poprt_runner_call *out)
{
    PRT_REQUIRE(runner);
    PRT_REQUIRE(call);
    PRT_TRY(prt_import(out, sizeof(*out), call, call->struct_size, "call"));
    if (out->replica >= runner->n_replicas)
        return prt_fail(POPRT_E_ARG, "replica", "there is no replica %u: the runner has %u",
            out->replica, runner->n_replicas);
    return POPRT_OK;
}

poprt_status poprt_runner_submit(poprt_runner *runner, const poprt_runner_call *call,
    uint64_t wait_ns, poprt_request **out)
{
    poprt_runner_call own;
    poprt_request *r = NULL;
    PRT_TRY(import_call(runner, call, &own));
    PRT_TRY(
        prt_fail_at_stage(runner->kind == POPRT_RUNNER_LIGHT ? submit_light(runner, &own, &r)
                                                             : submit(runner, &own, wait_ns, &r),
            "submit"));
    if (out != NULL)
        *out = r;
    else
        prt_request_unref(r);
    return POPRT_OK;
}

poprt_status poprt_runner_execute(poprt_runner *runner, const poprt_runner_call *call)
{
    poprt_runner_call own;
    poprt_request *r = NULL;
    PRT_TRY(import_call(runner, call, &own));
    PRT_TRY(prt_runner_own(runner));
    if (runner->kind == POPRT_RUNNER_LIGHT) {
        const poprt_status status = prt_light_run(runner, &own);
        if (own.done != NULL)
            own.done(own.user, status, status != POPRT_OK ? prt_error_last() : NULL);
        return status;
    }
    (void)pthread_mutex_lock(&runner->lock);
    const bool inside = prt_runner_is_inside(runner);
    (void)pthread_mutex_unlock(&runner->lock);
    if (inside)
        return prt_fail(POPRT_E_STATE, NULL,
            "this is a callback on a thread of the runner: submit the request instead");
    PRT_TRY(prt_fail_at_stage(submit(runner, &own, UINT64_MAX, &r), "submit"));
    (void)poprt_request_wait(r, UINT64_MAX);
    const poprt_status status = poprt_request_result(r);
    prt_request_unref(r);
    return status;
}

/* ---- waiting and cancelling */

int32_t poprt_request_wait(poprt_request *request, uint64_t wait_ns)
{
    if (request == NULL)
        return 0;
    poprt_runner *runner = request->runner;
    const uint64_t until = time_after(wait_ns);
    bool in_time = wait_ns != 0;
    (void)pthread_mutex_lock(&runner->lock);
    if (!request->is_finished && prt_runner_is_inside(runner))
        in_time = false;
    if (request->waiters++ == 0 && runner->waits_for_waiters && in_time)
        (void)pthread_cond_signal(&runner->work);
    while (!request->is_finished && in_time)
        in_time = prt_wait_until(&request->finished, &runner->lock, until);
    request->waiters--;
    const bool is_finished = request->is_finished;
    (void)pthread_mutex_unlock(&runner->lock);
    return is_finished;
}

poprt_status poprt_request_result(poprt_request *request)
{
    PRT_REQUIRE(request);
    if (poprt_request_wait(request, 0) == 0)
        return prt_fail(POPRT_E_STATE, NULL, "the request is not finished");
    if (request->status != POPRT_OK)
        prt_error_restore(&request->error);
    return request->status;
}

poprt_status poprt_request_get_times(poprt_request *request, poprt_request_times *out)
{
    PRT_REQUIRE(request);
    PRT_REQUIRE(out);
    (void)pthread_mutex_lock(&request->runner->lock);
    const poprt_request_times times = { .struct_size = sizeof(times),
        .queued = request->arrival,
        .started = request->start,
        .finished = request->end };
    (void)pthread_mutex_unlock(&request->runner->lock);
    return prt_export(out, &times, sizeof(times), "out");
}

void poprt_request_cancel(poprt_request *request)
{
    if (request == NULL)
        return;
    poprt_runner *runner = request->runner;
    (void)pthread_mutex_lock(&runner->lock);
    if (!request->is_finished) {
        request->is_cancelled = true;
        prt_runner_cancel_runs(runner);
        (void)pthread_cond_signal(&runner->work);
    }
    (void)pthread_mutex_unlock(&runner->lock);
}

void poprt_runner_cancel(poprt_runner *runner)
{
    if (runner == NULL || prt_runner_own(runner) != POPRT_OK)
        return;
    (void)pthread_mutex_lock(&runner->lock);
    for (poprt_request *r = runner->first; r != NULL; r = r->after)
        r->is_cancelled = true;
    prt_runner_cancel_runs(runner);
    atomic_fetch_add(&runner->cancels, 1);
    for (uint32_t i = 0; i < runner->n_sessions && runner->kind == POPRT_RUNNER_LIGHT; i++)
        poprt_session_cancel(runner->sessions[i].session);
    (void)pthread_cond_signal(&runner->work);
    (void)pthread_mutex_unlock(&runner->lock);
}

poprt_status poprt_runner_drain(poprt_runner *runner)
{
    PRT_REQUIRE(runner);
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    const bool inside = prt_runner_is_inside(runner);
    const uint64_t last = runner->stats.requests;
    if (runner->flush_until < last && !inside)
        runner->flush_until = last;
    (void)pthread_cond_signal(&runner->work);
    while (!inside && runner->first != NULL && runner->first->sequence <= last)
        (void)pthread_cond_wait(&runner->changed, &runner->lock);
    (void)pthread_mutex_unlock(&runner->lock);
    return inside
        ? prt_fail(POPRT_E_STATE, NULL,
              "this is a callback on a thread of the runner, which cannot wait for itself")
        : POPRT_OK;
}

poprt_status poprt_runner_get_stats(poprt_runner *runner, poprt_runner_stats *out)
{
    PRT_REQUIRE(runner);
    PRT_REQUIRE(out);
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    poprt_runner_stats stats = runner->stats;
    (void)pthread_mutex_unlock(&runner->lock);
    stats.struct_size = sizeof(stats);
    stats.capacity = runner->most_queued;
    return prt_export(out, &stats, sizeof(stats), "out");
}
