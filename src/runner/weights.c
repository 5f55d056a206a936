/* SPDX-License-Identifier: MIT */
/* weights.c — weights that are set for all sessions of a runner. */
#include "runner/state.h"

void prt_runner_free_weights(poprt_runner *runner)
{
    while (runner->weights != NULL) {
        prt_runner_weight *w = runner->weights;
        runner->weights = w->after;
        prt_mem_free(&runner->env->allocator, w);
    }
}

poprt_status prt_runner_apply_weights(poprt_runner *runner, bool staged)
{
    for (const prt_runner_weight *w = runner->weights; w != NULL; w = w->after)
        for (uint32_t i = 0; i < runner->n_sessions && w->is_staged == staged; i++)
            PRT_TRY(poprt_session_write_weight(runner->sessions[i].session, w->name, &w->tensor));
    return POPRT_OK;
}

/* Fails unless a tensor can replace the weight of this name. */
static poprt_status check_weight(const poprt_runner *runner, const char *name,
    const poprt_tensor *t)
{
    const prt_type *type;
    bool may_set = false;
    prt_session *session = runner->sessions[0].session->session;
    PRT_TRY(prt_session_weight_type(session, prt_str_of(name), &type));
    PRT_TRY(prt_session_may_set_weight(session, prt_str_of(name), &may_set));
    if (!may_set)
        return prt_fail(POPRT_E_STATE, name,
            "the weight is a constant of the executable; compile the model with the option "
            "constant_weights=false to write it");
    if (t->dtype != type->dtype)
        return prt_fail(POPRT_E_TYPE, name, "has type %s; expected %s", poprt_dtype_name(t->dtype),
            poprt_dtype_name(type->dtype));
    if (t->rank != (uint32_t)type->rank || (t->rank != 0 && t->dims == NULL))
        return prt_fail(POPRT_E_SHAPE, name, "has rank %u; expected %d", t->rank, type->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] != type->dims[i])
            return prt_fail(POPRT_E_SHAPE, name, "dimension %u is %lld; expected %lld", i,
                (long long)t->dims[i], (long long)type->dims[i]);
    size_t size = 0;
    if (!prt_type_size(type, &size) || t->size < size || (size != 0 && t->data == NULL))
        return prt_fail(POPRT_E_ARG, name, "has %zu bytes; expected %zu", t->size, size);
    return POPRT_OK;
}

/* Copies a weight into memory of its own: record, data, name. */
static prt_runner_weight *copy_weight(const poprt_runner *runner, const char *name,
    const poprt_tensor *t)
{
    const size_t header = (sizeof(prt_runner_weight) + 63) / 64 * 64, length = strlen(name) + 1;
    prt_runner_weight *w = prt_mem_alloc(&runner->env->allocator, header + t->size + length);
    if (w == NULL)
        return NULL;
    w->is_staged = true;
    w->tensor = *t;
    w->tensor.data = (unsigned char *)w + header;
    w->tensor.dims = w->dims;
    w->name = (char *)w + header + t->size;
    memcpy(w->name, name, length);
    if (t->size != 0)
        memcpy(w->tensor.data, t->data, t->size);
    if (t->rank != 0)
        memcpy(w->dims, t->dims, t->rank * sizeof(w->dims[0]));
    return w;
}

/* Removes the weight of a name that is staged or not. */
static void remove_weight(poprt_runner *runner, const char *name, bool staged)
{
    for (prt_runner_weight **at = &runner->weights; *at != NULL; at = &(*at)->after) {
        prt_runner_weight *w = *at;
        if (w->is_staged == staged && strcmp(w->name, name) == 0) {
            *at = w->after;
            prt_mem_free(&runner->env->allocator, w);
            return;
        }
    }
}

/* Keeps all runs from starting and waits for the current ones, with the lock. Fails on a thread of
 * the runner. */
static poprt_status hold(poprt_runner *runner)
{
    if (prt_runner_is_inside(runner))
        return prt_fail(POPRT_E_STATE, NULL,
            "this is a callback on a thread of the runner, which cannot wait for itself");
    runner->holds++;
    for (uint32_t i = 0; i < runner->n_sessions; i++)
        while (runner->sessions[i].is_busy)
            (void)pthread_cond_wait(&runner->changed, &runner->lock);
    return POPRT_OK;
}

/* Takes or returns the locks of light runners' sessions. */
static void lock_calls(poprt_runner *runner, bool lock)
{
    for (uint32_t i = 0; i < runner->n_sessions && runner->kind == POPRT_RUNNER_LIGHT; i++)
        if (lock)
            (void)pthread_mutex_lock(&runner->sessions[i].lock);
        else
            (void)pthread_mutex_unlock(&runner->sessions[i].lock);
}

/* Calls `fn` while nothing runs, with the lock of the runner and the locks of the sessions. */
static poprt_status without_runs(poprt_runner *runner, poprt_status (*fn)(poprt_runner *runner))
{
    PRT_REQUIRE(runner);
    PRT_TRY(prt_runner_own(runner));
    lock_calls(runner, true);
    (void)pthread_mutex_lock(&runner->lock);
    poprt_status status = hold(runner);
    if (status == POPRT_OK) {
        status = fn(runner);
        runner->holds--;
        (void)pthread_cond_signal(&runner->work);
    }
    (void)pthread_mutex_unlock(&runner->lock);
    lock_calls(runner, false);
    return status;
}

static poprt_status fail_stopped(void)
{
    return prt_fail(POPRT_E_STATE, NULL, "the runner is stopped: call poprt_runner_reload first");
}

poprt_status poprt_runner_set_weight(poprt_runner *runner, const char *name,
    const poprt_tensor *tensor)
{
    PRT_REQUIRE(runner);
    PRT_REQUIRE(name);
    PRT_REQUIRE(tensor);
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    poprt_status status = runner->is_stopped ? fail_stopped() : check_weight(runner, name, tensor);
    prt_runner_weight *w = status == POPRT_OK ? copy_weight(runner, name, tensor) : NULL;
    if (w != NULL) {
        remove_weight(runner, name, true);
        w->after = runner->weights;
        runner->weights = w;
    } else if (status == POPRT_OK) {
        status = POPRT_E_NOMEM;
    }
    (void)pthread_mutex_unlock(&runner->lock);
    return prt_fail_at_stage(status, "weight");
}

static poprt_status update(poprt_runner *runner)
{
    if (runner->is_stopped)
        return fail_stopped();
    PRT_TRY(prt_runner_apply_weights(runner, true));
    for (prt_runner_weight *w = runner->weights; w != NULL; w = w->after)
        if (w->is_staged) {
            remove_weight(runner, w->name, false);
            w->is_staged = false;
        }
    return POPRT_OK;
}

poprt_status poprt_runner_update_weights(poprt_runner *runner)
{
    return prt_fail_at_stage(without_runs(runner, update), "weight");
}

/* ---- stop and reload */

static poprt_status close_sessions(poprt_runner *runner)
{
    runner->is_stopped = true;
    prt_runner_close(runner);
    return POPRT_OK;
}

static poprt_status open_sessions(poprt_runner *runner)
{
    if (runner->is_stopping)
        return prt_fail(POPRT_E_STATE, NULL, "another thread stops the runner");
    if (!runner->is_stopped)
        return POPRT_OK;
    PRT_TRY(prt_runner_open(runner));
    const poprt_status status = prt_runner_apply_weights(runner, false);
    if (status != POPRT_OK)
        prt_runner_close(runner);
    else
        runner->is_stopped = false;
    return status;
}

poprt_status poprt_runner_stop(poprt_runner *runner)
{
    PRT_REQUIRE(runner);
    PRT_TRY(prt_runner_own(runner));
    (void)pthread_mutex_lock(&runner->lock);
    const bool inside = prt_runner_is_inside(runner), is_other = runner->is_stopping;
    const bool was_stopped = runner->is_stopped;
    runner->is_stopped = runner->is_stopped || !(inside || is_other);
    (void)pthread_mutex_unlock(&runner->lock);
    if (inside || is_other)
        return prt_fail(POPRT_E_STATE, NULL,
            inside ? "this is a callback on a thread of the runner, which cannot wait for itself"
                   : "another thread stops the runner");
    if (was_stopped)
        return POPRT_OK;
    prt_runner_end(runner);
    return without_runs(runner, close_sessions);
}

poprt_status poprt_runner_reload(poprt_runner *runner)
{
    return without_runs(runner, open_sessions);
}
