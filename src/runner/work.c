/* SPDX-License-Identifier: MIT */
/* work.c — the threads of a runner: composing batches, running them and finishing requests. See
 * state.h. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "runner/state.h"

/* Takes a request off the list. */
static void unlink_request(poprt_runner *runner, poprt_request *request)
{
    if (runner->cursor == request)
        runner->cursor = request->after;
    if (request->before != NULL)
        request->before->after = request->after;
    else
        runner->first = request->after;
    if (request->after != NULL)
        request->after->before = request->before;
    else
        runner->last = request->before;
    request->before = request->after = NULL;
    request->is_linked = false;
}

/* Finishes a request that no batch has rows of. The lock is released while its callback runs. */
static void finish(poprt_runner *runner, poprt_request *request)
{
    if (request->next < request->rows) {
        runner->stats.queued--;
        (void)pthread_cond_signal(&runner->space);
    }
    unlink_request(runner, request);
    if (request->status == POPRT_OK && request->is_cancelled) {
        request->status = prt_fail(POPRT_E_CANCELLED, NULL, "the request was cancelled");
        prt_error_save(&request->error);
    }
    request->end = prt_clock_ns();
    if (request->done != NULL) {
        (void)pthread_mutex_unlock(&runner->lock);
        if (request->status != POPRT_OK)
            prt_error_restore(&request->error);
        request->done(request->user, request->status,
            request->status != POPRT_OK ? prt_error_last() : NULL);
        (void)pthread_mutex_lock(&runner->lock);
    }
    request->is_finished = true;
    runner->stats.finished++;
    runner->stats.failed += request->status != POPRT_OK;
    (void)pthread_cond_broadcast(&request->finished);
    (void)pthread_cond_broadcast(&runner->changed);
    prt_request_unref(request);
}

/* Finishes the requests that were cancelled or failed and have no rows in a batch. */
static void finish_ended(poprt_runner *runner)
{
    for (poprt_request *r = runner->first; r != NULL;) {
        if (r->running == 0 && (r->is_cancelled || r->is_failed)) {
            finish(runner, r);
            r = runner->first; /* the list may have changed during the callback */
        } else {
            r = r->after;
        }
    }
}

/* Makes a request fail with the thread's last error, unless it has failed already. */
static void fail_request(poprt_request *request, poprt_status status)
{
    if (request->is_failed || request->is_finished)
        return;
    request->is_failed = true;
    request->status = status;
    prt_error_save(&request->error);
}

/* ---- composing */

/* Returns the time at which the batch runs although it is not full; 0: now; UINT64_MAX: never. */
static uint64_t due_time(const prt_runner_worker *w)
{
    const poprt_runner *runner = w->runner;
    const poprt_request *oldest = w->parts[0].request;
    bool is_awaited = !runner->waits_for_waiters;
    if (prt_batch_is_full(w) || oldest->sequence <= runner->flush_until)
        return 0;
    for (size_t i = 0; i < w->n_parts && !is_awaited; i++)
        is_awaited = w->parts[i].request->waiters != 0 || w->parts[i].request->done != NULL;
    if (!is_awaited || runner->limit_ns == UINT64_MAX)
        return UINT64_MAX;
    return oldest->arrival > UINT64_MAX - runner->limit_ns ? UINT64_MAX
                                                           : oldest->arrival + runner->limit_ns;
}

static prt_runner_session *find_free_session(poprt_runner *runner)
{
    for (uint32_t i = 0; i < runner->n_sessions && runner->holds == 0; i++)
        if (!runner->sessions[i].is_busy)
            return &runner->sessions[i];
    return NULL;
}

/* Returns whether all requests of a batch were cancelled. */
static bool is_cancelled(const prt_runner_worker *w)
{
    for (size_t i = 0; i < w->n_parts; i++)
        if (!w->parts[i].request->is_cancelled)
            return false;
    return w->n_parts != 0;
}

void prt_runner_cancel_runs(const poprt_runner *runner)
{
    for (uint32_t i = 0; i < runner->n_started; i++)
        if (runner->workers[i].session != NULL && is_cancelled(&runner->workers[i]))
            poprt_session_cancel(runner->workers[i].session->session);
}

/* Takes rows from the queue, and copies them without the lock. */
static poprt_status take_and_gather(prt_runner_worker *w)
{
    poprt_status status = POPRT_OK;
    const size_t before = w->n_parts;
    prt_batch_take(w);
    if (w->n_parts == before)
        return POPRT_OK;
    (void)pthread_mutex_unlock(&w->runner->lock);
    for (size_t i = before; i < w->n_parts && status == POPRT_OK; i++)
        status = prt_batch_gather(w, &w->parts[i]);
    (void)pthread_mutex_lock(&w->runner->lock);
    return status;
}

/* Fills the worker's batch and waits until it may run, with the lock. On success the batch is empty
 * if the runner ends or all requests of the batch were cancelled; otherwise the worker has a
 * session. */
static poprt_status compose(prt_runner_worker *w)
{
    poprt_runner *runner = w->runner;
    prt_batch_reset(w);
    for (;;) {
        finish_ended(runner);
        const size_t before = w->n_parts;
        PRT_TRY(take_and_gather(w));
        if (runner->is_stopping || is_cancelled(w))
            return POPRT_OK;
        if (w->n_parts > before)
            continue;
        uint64_t due = UINT64_MAX;
        if (w->n_parts != 0) {
            prt_runner_session *session = find_free_session(runner);
            due = session != NULL ? due_time(w) : UINT64_MAX;
            if (due <= prt_clock_ns()) {
                session->is_busy = true;
                w->session = session;
                return POPRT_OK;
            }
        }
        (void)prt_wait_until(&runner->work, &runner->lock, due);
    }
}

/* ---- running */

/* After a failure: recovers the session, or makes the requests fail that are queued. */
static void after_failure(prt_runner_worker *w, poprt_status status)
{
    poprt_runner *runner = w->runner;
    if (runner->auto_reset && prt_status_category(status) != POPRT_ERROR_UNRECOVERABLE) {
        prt_error_copy copy;
        prt_error_save(&copy);
        (void)pthread_mutex_unlock(&runner->lock);
        (void)poprt_session_recover(w->session->session);
        prt_error_restore(&copy);
        (void)pthread_mutex_lock(&runner->lock);
        return;
    }
    for (poprt_request *r = runner->cursor; r != NULL; r = r->after)
        if (!r->is_failed && !r->is_cancelled)
            fail_request(r, status);
}

/* Runs the batch of a worker and counts it. */
static poprt_status run(prt_runner_worker *w)
{
    poprt_runner *runner = w->runner;
    if (runner->kind == POPRT_RUNNER_PACK)
        prt_pack_finish(w);
    poprt_status status = POPRT_OK;
    const uint64_t start = prt_clock_ns();
    for (size_t i = 0; i < w->n_parts; i++)
        if (w->parts[i].request->start == 0)
            w->parts[i].request->start = start;
    /* A run may end by a cancellation that came too late for the run before it. The second attempt
     * is for a batch with requests that were not cancelled. */
    for (int attempt = 0; attempt < 2; attempt++) {
        (void)pthread_mutex_unlock(&runner->lock);
        status = prt_batch_run(w);
        (void)pthread_mutex_lock(&runner->lock);
        if (status != POPRT_E_CANCELLED || is_cancelled(w))
            break;
    }
    if (status == POPRT_OK) {
        runner->stats.batches++;
        runner->stats.rows += w->rows;
        if (runner->kind != POPRT_RUNNER_PACK)
            runner->stats.padding += runner->capacity - w->rows;
    } else if (status != POPRT_E_CANCELLED) {
        after_failure(w, status);
    }
    return status;
}

/* Notes that the rows of the batch are done, and finishes the requests that have no others. */
static void finish_batch(prt_runner_worker *w, poprt_status status)
{
    poprt_runner *runner = w->runner;
    for (size_t i = 0; i < w->n_parts; i++) {
        poprt_request *r = w->parts[i].request;
        r->running--;
        r->left -= w->parts[i].count;
        if (status != POPRT_OK && !(status == POPRT_E_CANCELLED && r->is_cancelled))
            fail_request(r, status);
        if (r->running == 0 && (r->left == 0 || r->is_failed || r->is_cancelled))
            finish(runner, r);
    }
    w->n_parts = 0;
    finish_ended(runner);
}

/* Composes and runs one batch. */
static void work_once(prt_runner_worker *w)
{
    poprt_runner *runner = w->runner;
    runner->is_composing = true;
    poprt_status status = compose(w);
    runner->is_composing = false;
    (void)pthread_cond_signal(&runner->role);
    if (status == POPRT_OK && w->session != NULL)
        status = run(w);
    else if (status == POPRT_OK)
        status = prt_fail(POPRT_E_CANCELLED, NULL, "the request was cancelled");
    if (w->session != NULL) {
        w->session->is_busy = false;
        w->session = NULL;
        (void)pthread_cond_signal(&runner->work);
        (void)pthread_cond_broadcast(&runner->changed);
    }
    finish_batch(w, status);
}

static void *work(void *arg)
{
    prt_runner_worker *w = arg;
    poprt_runner *runner = w->runner;
    (void)pthread_setname_np(pthread_self(), "poprt-runner");
    (void)pthread_mutex_lock(&runner->lock);
    while (!runner->is_stopping) {
        if (runner->is_composing)
            (void)pthread_cond_wait(&runner->role, &runner->lock);
        else
            work_once(w);
    }
    for (poprt_request *r = runner->first; r != NULL; r = r->after)
        r->is_cancelled = true;
    finish_ended(runner);
    (void)pthread_cond_broadcast(&runner->role);
    const bool is_last = --runner->n_active == 0, closes = is_last && runner->is_detached;
    (void)pthread_cond_broadcast(&runner->changed);
    (void)pthread_mutex_unlock(&runner->lock);
    if (closes)
        prt_runner_close(runner);
    prt_runner_unref(runner);
    return NULL;
}

/* ---- beginning and end */

poprt_status prt_runner_start(poprt_runner *runner)
{
    sigset_t all, before;
    poprt_status status = POPRT_OK;
    if (runner->n_started == runner->n_workers)
        return POPRT_OK;
    (void)sigfillset(&all);
    /* All signals are blocked on the threads: they belong to the host's threads. */
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return prt_fail(POPRT_E_STATE, NULL,
            "a thread cannot be started: its signals cannot be blocked");
    while (runner->n_started < runner->n_workers && status == POPRT_OK) {
        prt_runner_worker *w = &runner->workers[runner->n_started];
        (void)prt_runner_retain(runner);
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            prt_runner_unref(runner);
            status = prt_fail(POPRT_E_NOMEM, NULL, "the system refused a thread");
        } else {
            runner->n_started++;
            runner->n_active++;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* One worker is enough to serve requests; a later request starts the others. */
    return runner->n_started != 0 ? POPRT_OK : status;
}

poprt_status prt_runner_own(poprt_runner *runner)
{
    if (runner->owner == getpid())
        return POPRT_OK;
    /* The threads of the parent and their references are not there. */
    atomic_fetch_sub_explicit(&runner->refs, runner->n_active, memory_order_relaxed);
    runner->n_started = runner->n_active = 0;
    runner->is_composing = false;
    runner->first = runner->last = runner->cursor = NULL;
    runner->stats.queued = 0;
    for (uint32_t i = 0; i < runner->n_sessions; i++)
        runner->sessions[i].is_busy = false;
    return prt_runner_init_locks(runner);
}

bool prt_runner_is_inside(const poprt_runner *runner)
{
    for (uint32_t i = 0; i < runner->n_started; i++)
        if (pthread_equal(runner->workers[i].thread, pthread_self()))
            return true;
    return false;
}

void prt_runner_end(poprt_runner *runner)
{
    (void)prt_runner_own(runner);
    (void)pthread_mutex_lock(&runner->lock);
    const bool inside = prt_runner_is_inside(runner);
    const uint32_t n = runner->n_started;
    runner->is_stopping = true;
    (void)pthread_cond_broadcast(&runner->work);
    (void)pthread_cond_broadcast(&runner->role);
    (void)pthread_cond_broadcast(&runner->space);
    runner->is_detached = inside;
    for (uint32_t i = 0; i < n && inside; i++)
        (void)pthread_detach(runner->workers[i].thread);
    (void)pthread_mutex_unlock(&runner->lock);
    if (inside)
        return;
    for (uint32_t i = 0; i < n; i++)
        (void)pthread_join(runner->workers[i].thread, NULL);
    (void)pthread_mutex_lock(&runner->lock);
    runner->is_stopping = false;
    runner->n_started = 0;
    (void)pthread_mutex_unlock(&runner->lock);
}
