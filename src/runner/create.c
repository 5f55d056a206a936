/* SPDX-License-Identifier: MIT */
/* create.c — creates and releases runners: options, sessions, memory of the workers. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/size.h"
#include "runner/state.h"

/* ---- locks */

poprt_status prt_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0)
        return prt_fail_nomem(sizeof(*cond));
    const bool failed = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(cond, &attr) != 0;
    (void)pthread_condattr_destroy(&attr);
    return failed ? prt_fail_nomem(sizeof(*cond)) : POPRT_OK;
}

poprt_status prt_runner_init_locks(poprt_runner *runner)
{
    if (pthread_mutex_init(&runner->lock, NULL) != 0)
        return prt_fail_nomem(sizeof(runner->lock));
    for (uint32_t i = 0; i < runner->n_sessions; i++)
        if (pthread_mutex_init(&runner->sessions[i].lock, NULL) != 0)
            return prt_fail_nomem(sizeof(runner->lock));
    PRT_TRY(prt_cond_init(&runner->role));
    PRT_TRY(prt_cond_init(&runner->work));
    PRT_TRY(prt_cond_init(&runner->space));
    PRT_TRY(prt_cond_init(&runner->changed));
    runner->owner = getpid();
    return POPRT_OK;
}

static void destroy_locks(poprt_runner *runner)
{
    /* A forked child must not destroy its copy of the parent's locks. */
    if (runner->owner != getpid())
        return;
    (void)pthread_cond_destroy(&runner->changed);
    (void)pthread_cond_destroy(&runner->space);
    (void)pthread_cond_destroy(&runner->work);
    (void)pthread_cond_destroy(&runner->role);
    for (uint32_t i = 0; i < runner->n_sessions; i++)
        (void)pthread_mutex_destroy(&runner->sessions[i].lock);
    (void)pthread_mutex_destroy(&runner->lock);
}

/* ---- sessions */

static uint32_t count_graphs(const poprt_runner *runner)
{
    return prt_runner_is_fused(runner) ? runner->exec->program->n_graphs : 1;
}

void prt_runner_close(poprt_runner *runner)
{
    for (uint32_t i = 0; i < runner->n_sessions; i++) {
        prt_runner_session *s = &runner->sessions[i];
        for (uint32_t k = 0; k < count_graphs(runner) && s->io != NULL; k++) {
            poprt_stepio_release(s->io[k]);
            s->io[k] = NULL;
        }
        poprt_session_release(s->session);
        s->session = NULL;
    }
}

static poprt_status open_session(poprt_runner *runner, prt_runner_session *s)
{
    const uint32_t n = count_graphs(runner);
    PRT_TRY(poprt_session_create(runner->exec, runner->config, &s->session));
    if (s->io == NULL)
        s->io = PRT_NEW_N(runner->arena, poprt_stepio *, n);
    if (s->io == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t k = 0; k < n; k++)
        PRT_TRY(poprt_stepio_create(s->session, &s->io[k]));
    return POPRT_OK;
}

poprt_status prt_runner_open(poprt_runner *runner)
{
    poprt_status status = POPRT_OK;
    for (uint32_t i = 0; i < runner->n_sessions && status == POPRT_OK; i++)
        status = open_session(runner, &runner->sessions[i]);
    if (status != POPRT_OK) {
        prt_error_copy copy;
        prt_error_save(&copy);
        prt_runner_close(runner);
        prt_error_restore(&copy);
    }
    return status;
}

/* ---- options */

static poprt_status set_kind(poprt_runner *runner)
{
    static const char *const names[] = { "model", "pack", "fusion", "light", "host_concat" };
    const char *type = prt_config_text(runner->config, PRT_OPTION_runner_type);
    const bool is_fused = prt_runner_is_fused(runner);
    runner->kind = is_fused ? POPRT_RUNNER_FUSION : POPRT_RUNNER_MODEL;
    for (int32_t i = 0; i < (int32_t)PRT_COUNT_OF(names); i++)
        if (strcmp(type, names[i]) == 0)
            runner->kind = i;
    if (runner->kind != POPRT_RUNNER_LIGHT && (runner->kind == POPRT_RUNNER_FUSION) != is_fused)
        return prt_fail(POPRT_E_ARG, "runner_type", "'%s' is not for an executable that is %s",
            type, is_fused ? "fused; accepted: fusion, light" : "not fused");
    return POPRT_OK;
}

/* Sets the time after which a batch runs that is not full. */
static poprt_status set_limit(poprt_runner *runner)
{
    const poprt_config *config = runner->config;
    uint64_t limit = (uint64_t)prt_config_number(config, PRT_OPTION_timeout_ns);
    const uint64_t other = (uint64_t)prt_config_number(config, PRT_OPTION_batch_size_timeout_ns);
    if (runner->kind == POPRT_RUNNER_PACK) {
        const int64_t us = prt_config_number(config, PRT_OPTION_timeout_microseconds);
        if (us == 0)
            return prt_fail(POPRT_E_ARG, "timeout_microseconds",
                "is 0; a runner that packs needs 1 or more");
        limit = (uint64_t)us * 1000;
    }
    if (limit == 0)
        limit = UINT64_MAX;
    if (prt_config_number(config, PRT_OPTION_is_batch_size_timeout_enabled) != 0 && other < limit)
        limit = other;
    runner->limit_ns = limit;
    return POPRT_OK;
}

/* Reads the map from replicas to sessions of a light runner. */
static poprt_status set_replicas(poprt_runner *runner)
{
    enum { MOST_REPLICAS = 1024, MOST_DEVICES = 256 };
    const char *map = prt_config_text(runner->config, PRT_OPTION_replica_to_device);
    prt_json *root = NULL;
    runner->n_replicas = runner->n_sessions = 1;
    if (*map != '\0')
        PRT_TRY(prt_json_parse(runner->arena, map, strlen(map), &root));
    if (root != NULL && (root->kind != PRT_JSON_OBJECT || root->count > MOST_REPLICAS))
        return prt_fail(POPRT_E_ARG, "replica_to_device", "is not an object of at most %d replicas",
            MOST_REPLICAS);
    if (root != NULL && root->count != 0)
        runner->n_replicas = root->count;
    runner->replicas = PRT_NEW_N(runner->arena, uint32_t, runner->n_replicas);
    if (runner->replicas == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; root != NULL && i < root->count; i++) {
        char key[16];
        int64_t device = -1;
        (void)snprintf(key, sizeof(key), "%u", i);
        if (!prt_json_i64(prt_json_get(root, key), &device) || device < 0 || device >= MOST_DEVICES)
            return prt_fail(POPRT_E_ARG, "replica_to_device",
                "replica %u of %u needs a device from 0 to %d", i, root->count, MOST_DEVICES - 1);
        runner->replicas[i] = (uint32_t)device;
        if ((uint32_t)device >= runner->n_sessions)
            runner->n_sessions = (uint32_t)device + 1;
    }
    return POPRT_OK;
}

static poprt_status read_options(poprt_runner *runner)
{
    const poprt_config *config = runner->config;
    static const int64_t no_dim = 0xFFFFFFFF;
    PRT_TRY(set_kind(runner));
    runner->validates = prt_config_number(config, PRT_OPTION_validate_io_params) != 0;
    runner->thread_safe = prt_config_number(config, PRT_OPTION_thread_safe) != 0;
    runner->auto_reset = prt_config_number(config, PRT_OPTION_auto_reset) != 0;
    runner->waits_for_waiters = prt_config_number(config, PRT_OPTION_flush_on_waiting_outputs) != 0;
    runner->has_rows = prt_config_number(config, PRT_OPTION_batching_dim) != no_dim;
    if (runner->has_rows && runner->kind != POPRT_RUNNER_MODEL &&
        runner->kind != POPRT_RUNNER_FUSION)
        return prt_fail(POPRT_E_ARG, "batching_dim",
            "is for runners of type model and fusion, not '%s'",
            prt_config_text(config, PRT_OPTION_runner_type));
    PRT_TRY(set_limit(runner));
    if (runner->kind == POPRT_RUNNER_LIGHT)
        return set_replicas(runner);
    runner->n_replicas = 1;
    runner->n_sessions = (uint32_t)prt_config_number(config, PRT_OPTION_runner_sessions);
    runner->n_workers = runner->n_sessions + 1;
    return POPRT_OK;
}

/* Copies the caller's config. Strassen's algorithm adds rows of different requests. */
static poprt_status copy_config(poprt_runner *runner, const poprt_config *config)
{
    PRT_TRY(config != NULL ? poprt_config_clone(config, &runner->config)
                           : poprt_config_create(runner->env, &runner->config));
    PRT_TRY(read_options(runner));
    return runner->has_rows ? poprt_config_set(runner->config, "strassen", "false") : POPRT_OK;
}

/* Accepts the data flow of batches_per_step: each batch has a block in every input and output. */
static poprt_status read_flow(poprt_runner *runner)
{
    const prt_program *p = runner->exec->program;
    bool fits = p->optimizer.size == 0 && p->flow.accumulation == 1 && p->flow.replicas == 1 &&
        runner->kind == POPRT_RUNNER_MODEL;
    for (uint32_t i = 0; i < p->n_outputs && fits; i++)
        fits = p->anchors[i].mode == PRT_ANCHOR_all || p->flow.batches == 1;
    if (!fits)
        return prt_fail(POPRT_E_UNSUPPORTED, runner->exec->file,
            "of executables with data flow, runners of type model accept only executables that "
            "return all "
            "batches of a step, without replicas and training");
    runner->blocks = (size_t)p->flow.batches;
    runner->batches = runner->batches || runner->blocks > 1;
    return POPRT_OK;
}

static poprt_status check_executable(poprt_runner *runner)
{
    const prt_program *p = runner->exec->program;
    runner->batches = runner->has_rows;
    runner->blocks = 1;
    if (p->has_flow || p->optimizer.size != 0)
        PRT_TRY(read_flow(runner));
    if (prt_config_number(runner->config, PRT_OPTION_check_package_hash) != 0 &&
        !prt_str_is(p->source, POPRT_VERSION_STRING))
        return prt_fail(POPRT_E_VERSION, "check_package_hash",
            "the executable was compiled by version '%.*s', and this is %s; compile it again, or "
            "set this option to false",
            PRT_STR_ARG(p->source), POPRT_VERSION_STRING);
    return POPRT_OK;
}

/* ---- memory */

static poprt_status make_worker(poprt_runner *runner, prt_runner_worker *w)
{
    const bool packs = runner->kind == POPRT_RUNNER_PACK;
    const size_t parts = packs ? runner->packing.most : runner->capacity;
    w->runner = runner;
    w->in = PRT_NEW_N(runner->arena, unsigned char *, runner->lists[POPRT_INPUT].n_tensors);
    w->out = PRT_NEW_N(runner->arena, unsigned char *, runner->lists[POPRT_OUTPUT].n_tensors);
    w->parts = PRT_NEW_N(runner->arena, prt_runner_part, parts);
    if (packs) {
        w->fill = PRT_NEW_N(runner->arena, size_t, runner->packing.rows);
        w->numbers = PRT_NEW_N(runner->arena, int64_t, runner->packing.rows);
    }
    if (w->in == NULL || w->out == NULL || w->parts == NULL ||
        (packs && (w->fill == NULL || w->numbers == NULL)))
        return POPRT_E_NOMEM;
    return POPRT_OK;
}

static poprt_status make_workers(poprt_runner *runner)
{
    runner->workers = PRT_NEW_N(runner->arena, prt_runner_worker, runner->n_workers);
    if (runner->workers == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < runner->n_workers; i++)
        PRT_TRY(make_worker(runner, &runner->workers[i]));
    const int64_t multiplier =
        prt_config_number(runner->config, PRT_OPTION_ring_buffer_size_multiplier);
    const size_t rows = runner->kind == POPRT_RUNNER_PACK ? runner->packing.most : runner->capacity;
    if (runner->n_workers != 0)
        runner->most_queued =
            prt_saturating_mul((uint64_t)multiplier, prt_saturating_mul(rows, runner->n_sessions));
    return POPRT_OK;
}

/* Makes the tables of calls of a light runner. */
static poprt_status make_calls(poprt_runner *runner)
{
    const prt_runner_list *inputs = &runner->lists[POPRT_INPUT];
    const size_t n = (size_t)inputs->n_fields + runner->lists[POPRT_OUTPUT].n_fields;
    size_t largest = 0;
    for (uint32_t i = 0; i < runner->n_sessions; i++) {
        runner->sessions[i].call = PRT_NEW_N(runner->arena, prt_request_data, n);
        if (runner->sessions[i].call == NULL)
            return POPRT_E_NOMEM;
    }
    for (uint32_t i = 0; i < inputs->n_fields; i++)
        if (inputs->fields[i].size > largest)
            largest = inputs->fields[i].size;
    if (!runner->validates) {
        runner->zeros = prt_mem_alloc(&runner->env->allocator, largest);
        if (runner->zeros == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* ---- life */

poprt_runner *prt_runner_retain(poprt_runner *runner)
{
    atomic_fetch_add_explicit(&runner->refs, 1, memory_order_relaxed);
    return runner;
}

static void free_worker(const poprt_runner *runner, prt_runner_worker *w)
{
    for (uint32_t i = 0; i < runner->lists[POPRT_INPUT].n_tensors && w->in != NULL; i++)
        prt_mem_free(&runner->env->allocator, w->in[i]);
    for (uint32_t i = 0; i < runner->lists[POPRT_OUTPUT].n_tensors && w->out != NULL; i++)
        prt_mem_free(&runner->env->allocator, w->out[i]);
}

void prt_runner_unref(poprt_runner *runner)
{
    if (atomic_fetch_sub_explicit(&runner->refs, 1, memory_order_acq_rel) != 1)
        return;
    poprt_env *env = runner->env;
    for (uint32_t i = 0; i < runner->n_workers && runner->workers != NULL; i++)
        free_worker(runner, &runner->workers[i]);
    prt_runner_free_weights(runner);
    prt_mem_free(&env->allocator, runner->zeros);
    destroy_locks(runner);
    prt_arena_release(runner->arena);
    poprt_config_release(runner->config);
    poprt_executable_release(runner->exec);
    prt_mem_free(&env->allocator, runner);
    poprt_env_release(env);
}

static poprt_status create(poprt_runner *runner, const poprt_config *config)
{
    PRT_TRY(prt_arena_create(&runner->env->allocator, 0, &runner->arena));
    PRT_TRY(copy_config(runner, config));
    PRT_TRY(check_executable(runner));
    runner->sessions = PRT_NEW_N(runner->arena, prt_runner_session, runner->n_sessions);
    if (runner->sessions == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_runner_init_locks(runner));
    PRT_TRY(prt_runner_open(runner));
    PRT_TRY(prt_runner_list_fields(runner));
    PRT_TRY(make_workers(runner));
    return runner->kind == POPRT_RUNNER_LIGHT ? make_calls(runner) : POPRT_OK;
}

poprt_status poprt_runner_create(poprt_executable *exec, const poprt_config *config,
    poprt_runner **out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    poprt_runner *runner = prt_mem_alloc(&exec->env->allocator, sizeof(*runner));
    if (runner == NULL)
        return POPRT_E_NOMEM;
    atomic_init(&runner->refs, 1);
    (void)prt_env_acquire(exec->env, &runner->env);
    runner->exec = poprt_executable_retain(exec);
    const poprt_status status = create(runner, config);
    if (status != POPRT_OK) {
        prt_error_copy copy;
        prt_error_save(&copy);
        if (runner->sessions != NULL)
            prt_runner_close(runner);
        prt_runner_unref(runner);
        prt_error_restore(&copy);
        return prt_fail_at_stage(status, "bind");
    }
    *out = runner;
    return POPRT_OK;
}

poprt_status poprt_runner_create_from_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_runner **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    poprt_executable *exec = NULL;
    PRT_TRY(poprt_executable_load_file(env, path, config, &exec));
    const poprt_status status = poprt_runner_create(exec, config, out);
    poprt_executable_release(exec);
    return prt_fail_in_file(status, path);
}

void poprt_runner_release(poprt_runner *runner)
{
    if (runner == NULL)
        return;
    prt_runner_end(runner);
    if (!runner->is_detached)
        prt_runner_close(runner);
    prt_runner_unref(runner);
}

int32_t poprt_runner_kind(const poprt_runner *runner)
{
    return runner != NULL ? runner->kind : POPRT_RUNNER_MODEL;
}
