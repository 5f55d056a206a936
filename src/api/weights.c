/* SPDX-License-Identifier: MIT */
/* weights.c — poprt_weights: a copy of weights, statistics and states that belongs to the caller.
 */
#include "api/weights.h"

static bool is_listed(const prt_variable *v, bool states)
{
    return v->role == PRT_VARIABLE_weight || v->role == PRT_VARIABLE_statistic ||
        (states && v->role == PRT_VARIABLE_state);
}

void poprt_weights_release(poprt_weights *w)
{
    if (w == NULL || atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    poprt_env *env = w->env;
    for (size_t i = 0; w->items != NULL && i < w->count; i++)
        prt_mem_free(&env->allocator, w->items[i].data);
    prt_mem_free(&env->allocator, w->items);
    prt_arena_release(w->arena);
    poprt_executable_release(w->exec);
    prt_mem_free(&env->allocator, w);
    poprt_env_release(env);
}

static poprt_status allocate(poprt_weights *w, bool states)
{
    const prt_program *p = w->exec->program;
    const prt_allocator *allocator = &w->env->allocator;
    PRT_TRY(prt_arena_create(allocator, 0, &w->arena));
    w->by_name = prt_map_in(w->arena);
    w->items = prt_mem_alloc(allocator, p->n_variables * sizeof(*w->items));
    if (w->items == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_variables; i++) {
        size_t size = 0;
        if (!is_listed(&p->variables[i], states) || !prt_type_size(p->variables[i].type, &size))
            continue;
        struct prt_weights_item *item = &w->items[w->count++];
        item->variable = i;
        item->size = size;
        item->data = prt_mem_alloc(allocator, size);
        if (item->data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&w->by_name, p->variables[i].name, item));
    }
    return POPRT_OK;
}

poprt_status poprt_weights_create(poprt_session *session, poprt_weights **out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    poprt_weights *w = prt_mem_alloc(&session->env->allocator, sizeof(*w));
    if (w == NULL)
        return POPRT_E_NOMEM;
    atomic_init(&w->refs, 1);
    (void)prt_env_acquire(session->env, &w->env);
    w->exec = poprt_executable_retain(session->exec);
    poprt_status status = allocate(w, !session->states_stay);
    if (status == POPRT_OK)
        status = poprt_session_weights_to_host(session, w);
    if (status != POPRT_OK) {
        poprt_weights_release(w);
        return status;
    }
    *out = w;
    return POPRT_OK;
}

size_t poprt_weights_count(const poprt_weights *weights)
{
    return weights != NULL ? weights->count : 0;
}

poprt_status poprt_weights_at(const poprt_weights *weights, size_t index, const char **name,
    poprt_tensor *out)
{
    PRT_REQUIRE(weights);
    PRT_REQUIRE(out);
    if (index >= weights->count)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "there is no tensor %zu: there are %zu", index,
            weights->count);
    const struct prt_weights_item *item = &weights->items[index];
    const prt_variable *v = &weights->exec->program->variables[item->variable];
    if (name != NULL)
        *name = v->name.data;
    *out = (poprt_tensor){ .data = item->data,
        .size = item->size,
        .dims = v->type->dims,
        .rank = (uint32_t)v->type->rank,
        .dtype = v->type->dtype };
    return POPRT_OK;
}

poprt_status poprt_weights_find(const poprt_weights *weights, const char *name, poprt_tensor *out)
{
    PRT_REQUIRE(weights);
    PRT_REQUIRE(name);
    const struct prt_weights_item *item = prt_map_find(&weights->by_name, prt_str_of(name));
    if (item != NULL)
        return poprt_weights_at(weights, (size_t)(item - weights->items), NULL, out);
    return prt_fail(POPRT_E_NOT_FOUND, name, "there is no weight, statistic or state of this name");
}

/* Fails unless the session has every tensor of the copy, of the same type. */
static poprt_status check_tensors(const poprt_session *session, const poprt_weights *w)
{
    if (session->exec == w->exec)
        return POPRT_OK;
    for (size_t i = 0; i < w->count; i++) {
        const prt_variable *v = &w->exec->program->variables[w->items[i].variable];
        prt_tensor own;
        PRT_TRY(prt_session_weight(session->session, v->name, &own));
        if (own.dtype != v->type->dtype || own.rank != (uint32_t)v->type->rank ||
            !prt_dims_equal(own.dims, v->type->dims, own.rank))
            return prt_fail(POPRT_E_SHAPE, v->name.data,
                "this tensor has another type or shape in the session");
    }
    return POPRT_OK;
}

static poprt_status to_host(poprt_session *session, poprt_weights *w)
{
    PRT_TRY(prt_session_check_contents(session->session));
    PRT_TRY(check_tensors(session, w));
    for (size_t i = 0; i < w->count; i++) {
        const prt_variable *v = &w->exec->program->variables[w->items[i].variable];
        prt_tensor from;
        PRT_TRY(prt_session_weight(session->session, v->name, &from));
        if (from.size != 0)
            memcpy(w->items[i].data, from.data, from.size);
    }
    if (w->env == session->env)
        w->version = session->version;
    else
        (void)poprt_weights_changed(w);
    return POPRT_OK;
}

static poprt_status from_host(poprt_session *session, poprt_weights *w)
{
    PRT_TRY(check_tensors(session, w));
    for (size_t i = 0; i < w->count; i++) {
        const prt_variable *v = &w->exec->program->variables[w->items[i].variable];
        prt_tensor from;
        (void)prt_tensor_init(&from, v->type->dtype, (uint32_t)v->type->rank, v->type->dims,
            w->items[i].data);
        PRT_TRY(prt_session_set_weight(session->session, v->name, &from));
    }
    if (w->env == session->env)
        session->version = w->version;
    else
        prt_session_changed(session);
    return POPRT_OK;
}

/* Calls `use` while the session is locked. */
static poprt_status with_session(poprt_session *session, poprt_weights *weights,
    poprt_status (*use)(poprt_session *session, poprt_weights *weights))
{
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = use(session, weights);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "weight");
}

poprt_status poprt_session_weights_to_host(poprt_session *session, poprt_weights *weights)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(weights);
    return with_session(session, weights, to_host);
}

poprt_status poprt_session_weights_from_host(poprt_session *session, const poprt_weights *weights)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(weights);
    return with_session(session, (poprt_weights *)(uintptr_t)weights, from_host);
}

/* ---- versions */

poprt_status poprt_weights_changed(poprt_weights *weights)
{
    PRT_REQUIRE(weights);
    weights->version = atomic_fetch_add(&weights->env->versions, 1) + 1;
    return POPRT_OK;
}

poprt_status poprt_weights_in_sync(const poprt_weights *weights, poprt_session *session,
    int32_t *out)
{
    PRT_REQUIRE(weights);
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    PRT_TRY(prt_lock_session(session));
    *out = weights->env == session->env && weights->version == session->version;
    prt_unlock_session(session);
    return POPRT_OK;
}

poprt_status prt_weights_follow(poprt_session *session)
{
    poprt_weights *w = session->shared;
    if (w == NULL || session->shared_version == w->version)
        return POPRT_OK;
    PRT_TRY(from_host(session, w));
    session->shared_version = w->version;
    return POPRT_OK;
}

static poprt_status share(poprt_session *session, poprt_weights *weights)
{
    poprt_weights *old = session->shared;
    if (weights != NULL)
        PRT_TRY(check_tensors(session, weights));
    if (weights != NULL)
        (void)atomic_fetch_add(&weights->refs, 1);
    session->shared = weights;
    session->shared_version = UINT64_MAX; /* a number of no contents: the next run copies */
    poprt_weights_release(old);
    return POPRT_OK;
}

poprt_status poprt_session_share_weights(poprt_session *session, poprt_weights *weights)
{
    PRT_REQUIRE(session);
    return with_session(session, weights, share);
}
