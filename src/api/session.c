/* SPDX-License-Identifier: MIT */
/*
 * session.c — poprt/session.h: one run at a time; submitted runs on the session's own thread.
 *
 * `busy` is the lock of a run. A direct call is refused if it does not get the lock at once, or if
 * submitted runs are pending. A submitted run waits for the lock.
 */
#define _POSIX_C_SOURCE 200809L
#include <threads.h>

#include "api/fixed_options.h"
#include "api/memory_check.h"
#include "api/watch.h"
#include "api/weights.h"
#include "base/clock.h"
#include "base/json.h"
#include "cpu/cpu.h"
#include "op/op.h"
#include "par/queue.h"

enum { QUEUE_DEPTH = 64, LOCK_POLL_NS = 50000 };

typedef struct submission {
    poprt_stepio *io;
    poprt_done_fn done;
    void *user;
} submission;

static struct prt_queue *queue_of(const poprt_session *session)
{
    return atomic_load_explicit(&session->queue, memory_order_acquire);
}

static poprt_status set_dims(const poprt_config *config, prt_arena *arena,
    prt_session_options *options)
{
    if (config == NULL || config->n_dims == 0)
        return POPRT_OK;
    prt_str *names = PRT_NEW_N(arena, prt_str, config->n_dims);
    int64_t *values = PRT_NEW_N(arena, int64_t, config->n_dims);
    if (names == NULL || values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < config->n_dims; i++) {
        names[i] = prt_config_dim_name(config, i);
        values[i] = config->dims[i].value;
    }
    options->n_dims = config->n_dims;
    options->dim_names = names;
    options->dim_values = values;
    return POPRT_OK;
}

static uint32_t find_input(const prt_program *p, prt_str name)
{
    uint32_t i = 0;
    while (i < p->n_inputs && !prt_str_equal(p->inputs[i].name, name))
        i++;
    return i;
}

/* Sets how many blocks of each input data flow asks for at once. */
static poprt_status set_depths(const poprt_config *config, const prt_program *p, prt_arena *arena,
    prt_session_options *options)
{
    const char *map = prt_config_text(config, PRT_OPTION_buffering_depth_map);
    const bool ahead = prt_config_number(config, PRT_OPTION_enable_prefetch_datastreams) != 0;
    uint32_t *depths = PRT_NEW_N(arena, uint32_t, p->n_inputs);
    prt_json *root = NULL;
    if (depths == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_inputs; i++)
        depths[i] = (uint32_t)prt_config_number(config, PRT_OPTION_default_buffering_depth);
    if (*map != '\0') {
        PRT_TRY(prt_json_parse(arena, map, strlen(map), &root));
        if (root->kind != PRT_JSON_OBJECT)
            return prt_fail(POPRT_E_ARG, "buffering_depth_map", "is not an object: %.60s", map);
    }
    for (uint32_t k = 0; root != NULL && k < root->count; k++) {
        const prt_json *item = &root->items[k];
        const uint32_t i = find_input(p, item->key);
        int64_t depth = 0;
        if (i == p->n_inputs)
            return prt_fail(POPRT_E_NOT_FOUND, "buffering_depth_map",
                "the executable has no input '%.*s'", PRT_STR_ARG(item->key));
        if (!prt_json_i64(item, &depth) || depth < 1 || depth > 64)
            return prt_fail(POPRT_E_ARG, "buffering_depth_map",
                "the depth of '%.*s' must be a number from 1 to 64", PRT_STR_ARG(item->key));
        depths[i] = (uint32_t)depth;
    }
    for (uint32_t i = 0; i < p->n_inputs; i++)
        depths[i] = ahead ? depths[i] : 1;
    options->buffering_depths = depths;
    return POPRT_OK;
}

/* Writes a line of a printing operator to the environment's log. */
static void log_printed_line(void *user, const char *line)
{
    prt_env_log(user, PRT_LOG_op, POPRT_LOG_INFO, line);
}

/* Creates a session of an executable with a limit of its bytes, or measures one if `out` is NULL.
 */
static poprt_status create_inner(const poprt_executable *exec, const poprt_config *config,
    size_t limit, prt_session **out, prt_session_needs *needs)
{
    poprt_env *env = exec->env;
    prt_session_options options = { .allocator = &env->allocator,
        .par = &env->par,
        .memory_limit = limit,
        .seed = (uint64_t)prt_config_number(config, PRT_OPTION_seed),
        .kern = prt_config_kernels(config, env),
        .strassen = prt_config_number(config, PRT_OPTION_strassen) != 0,
        .bf16x3 = prt_config_number(config, PRT_OPTION_bf16x3) != 0,
        .any_log2_scale =
            prt_config_number(config, PRT_OPTION_throw_if_log2_scale_tensor_not_in_range) == 0,
        .check_floating_point = prt_config_number(config, PRT_OPTION_check_floating_point) != 0,
        .check_kernels = prt_config_number(config, PRT_OPTION_check_kernels) != 0,
        .flush_denormals = prt_config_number(config, PRT_OPTION_flush_denormals) != 0,
        .print = log_printed_line,
        .print_user = env };
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(&env->allocator, 0, &scratch));
    poprt_status status = set_dims(config, scratch, &options);
    if (status == POPRT_OK && exec->program->has_flow)
        status = set_depths(config, exec->program, scratch, &options);
    if (status == POPRT_OK && out != NULL)
        status = prt_session_create(exec->program, &options, out);
    else if (status == POPRT_OK)
        status = prt_session_measure(exec->program, &options, needs);
    prt_arena_release(scratch);
    return status;
}

poprt_status prt_executable_needs(const poprt_executable *exec, const poprt_config *config,
    prt_session_needs *out)
{
    PRT_TRY(create_inner(exec, config, 0, NULL, out));
    out->created += sizeof(poprt_session);
    return POPRT_OK;
}

poprt_status poprt_executable_get_memory(const poprt_executable *exec, const poprt_config *config,
    poprt_memory_info *out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    prt_session_needs needs;
    const poprt_status status = prt_executable_needs(exec, config, &needs);
    if (status != POPRT_OK)
        return prt_fail_in_file(prt_fail_at_stage(status, "bind"), exec->file);
    const poprt_memory_info info = { .struct_size = sizeof(info),
        .created = needs.created,
        .scratch = needs.scratch,
        .outputs = needs.outputs,
        .is_planned = needs.is_planned };
    return prt_export(out, &info, sizeof(info), "out");
}

poprt_status poprt_executable_session_memory(const poprt_executable *exec,
    const poprt_config *config, size_t *out)
{
    PRT_REQUIRE(out);
    poprt_memory_info info = { .struct_size = sizeof(info) };
    PRT_TRY(poprt_executable_get_memory(exec, config, &info));
    *out = info.created + info.scratch;
    return POPRT_OK;
}

poprt_status poprt_session_create(poprt_executable *exec, const poprt_config *config,
    poprt_session **out)
{
    PRT_REQUIRE(exec);
    PRT_REQUIRE(out);
    poprt_env *env = exec->env;
    if (prt_config_number(config, PRT_OPTION_compile_engine) == 0)
        return prt_fail(POPRT_E_STATE, "compile_engine",
            "is false: executables are compiled, and nothing runs");
    size_t limit = 0;
    poprt_status status = prt_fixed_options_check(exec, config);
    if (status == POPRT_OK)
        status = prt_memory_check(exec, config, &limit);
    PRT_TRY(prt_fail_in_file(prt_fail_at_stage(status, "bind"), exec->file));
    poprt_session *session = prt_mem_alloc(&env->allocator, sizeof(*session));
    if (session == NULL)
        return POPRT_E_NOMEM;
    (void)prt_env_acquire(env, &session->env);
    session->exec = poprt_executable_retain(exec);
    session->counts =
        prt_config_number(config, PRT_OPTION_instrument_with_hardware_cycle_counter) != 0;
    session->states_stay =
        prt_config_number(config, PRT_OPTION_disable_optimizer_state_tensor_streams) != 0;
    session->keeps_random_state =
        prt_config_number(config, PRT_OPTION_enable_load_and_offload_rng_state) == 0;
    status = create_inner(exec, config, limit, &session->session, NULL);
    if (status == POPRT_OK)
        status = prt_synthetic_create(session, config);
    prt_session_changed(session);
    if (status != POPRT_OK) {
        poprt_session_release(session);
        return prt_fail_in_file(prt_fail_at_stage(status, "bind"), exec->file);
    }
    prt_env_logf(env, PRT_LOG_session, POPRT_LOG_DEBUG, "created for %s: %zu bytes", exec->file,
        poprt_session_memory(session));
    *out = session;
    return POPRT_OK;
}

static poprt_status run_once(poprt_session *session, poprt_stepio *io)
{
    PRT_TRY(prt_weights_follow(session));
    if (session->exec->program->optimizer.size != 0)
        prt_session_changed(session); /* a run that fails may have made updates too */
    if (session->exec->program->has_flow)
        return prt_stepio_run_flow(io, session);
    poprt_status status = prt_stepio_begin(io, session);
    if (status == POPRT_OK)
        status = prt_session_run(session->session, io->in, io->out);
    return prt_stepio_end(io, status);
}

static void note_unusable(poprt_session *session)
{
    session->is_unusable = true;
    prt_env_logf(session->env, PRT_LOG_session, POPRT_LOG_CRITICAL,
        "the session of %s cannot be used any more: %s", session->exec->file,
        prt_error_last()->message);
}

/* Runs with clocks and log lines around. */
static poprt_status run_timed(poprt_session *session, poprt_stepio *io)
{
    const char *file = session->exec->file;
    prt_env_logf(session->env, PRT_LOG_session, POPRT_LOG_TRACE, "run of %s begins", file);
    const uint64_t start = prt_clock_ns();
    const poprt_status status = run_once(session, io);
    const uint64_t stop = prt_clock_ns();
    session->has_count = true;
    session->count = stop - start;
    prt_watch_run(session, status, start, stop);
    prt_env_logf(session->env, PRT_LOG_session, POPRT_LOG_DEBUG, "run of %s: %s, %.3f ms", file,
        prt_status_name(status), (double)(stop - start) / 1e6);
    return status;
}

static poprt_status run(poprt_session *session, poprt_stepio *io)
{
    const bool timed = session->counts || prt_watch_is_on(session) ||
        prt_env_logs(session->env, PRT_LOG_session, POPRT_LOG_DEBUG);
    const poprt_status status = timed ? run_timed(session, io) : run_once(session, io);
    if (status == POPRT_OK)
        return POPRT_OK;
    if (prt_status_category(status) == POPRT_ERROR_UNRECOVERABLE)
        note_unusable(session);
    return prt_fail_in_file(prt_fail_at_stage(status, "run"), session->exec->file);
}

static bool try_lock(poprt_session *session)
{
    return atomic_exchange_explicit(&session->busy, 1, memory_order_acquire) == 0;
}

void prt_unlock_session(poprt_session *session)
{
    atomic_store_explicit(&session->busy, 0, memory_order_release);
}

poprt_status prt_lock_session(poprt_session *session)
{
    struct prt_queue *queue = queue_of(session);
    if (queue != NULL && prt_queue_pending(queue) != 0)
        return prt_fail(POPRT_E_STATE, NULL,
            prt_queue_is_inside(queue)
                ? "this is a callback of a submitted run, on the session's own thread: submit "
                  "another run, or call from another thread after poprt_session_drain"
                : "submitted runs have not finished: call poprt_session_drain first");
    if (!try_lock(session))
        return prt_fail(POPRT_E_STATE, NULL, "the session is running on another thread");
    return POPRT_OK;
}

poprt_status poprt_session_get_cycle_count(poprt_session *session, uint64_t *out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(out);
    if (!session->counts)
        return prt_fail(POPRT_E_STATE, "instrument_with_hardware_cycle_counter",
            "is false: the session does not measure its runs");
    PRT_TRY(prt_lock_session(session));
    const bool has = session->has_count;
    *out = session->count;
    prt_unlock_session(session);
    return has ? POPRT_OK
               : prt_fail(POPRT_E_STATE, session->exec->file, "the session has not run yet");
}

poprt_status poprt_session_run(poprt_session *session, poprt_stepio *io)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(io);
    return prt_session_run_graph(session, io, PRT_NO_GRAPH);
}

poprt_status prt_session_run_graph(poprt_session *session, poprt_stepio *io, uint32_t graph)
{
    PRT_TRY(prt_lock_session(session));
    io->program = graph;
    const poprt_status status = run(session, io);
    prt_unlock_session(session);
    return status;
}

/* Runs a submission on the session's thread. */
static void run_submission(void *user, const void *item)
{
    poprt_session *session = user;
    const submission *s = item;
    const struct timespec poll = { .tv_nsec = LOCK_POLL_NS };
    while (!try_lock(session))
        (void)thrd_sleep(&poll, NULL);
    s->io->program = PRT_NO_GRAPH;
    const poprt_status status = run(session, s->io);
    prt_unlock_session(session);
    if (s->done != NULL)
        s->done(s->user, status, status != POPRT_OK ? prt_error_last() : NULL);
    else if (status != POPRT_OK)
        prt_env_logf(session->env, PRT_LOG_session, POPRT_LOG_ERROR,
            "a submitted run failed: %s: %s: %s", prt_status_name(status),
            prt_error_last()->subject, prt_error_last()->message);
}

/* Returns the queue of the session. The first caller creates it. */
static poprt_status get_queue(poprt_session *session, struct prt_queue **out)
{
    struct prt_queue *queue = queue_of(session);
    if (queue == NULL) {
        PRT_TRY(prt_queue_create(&session->env->allocator, QUEUE_DEPTH, sizeof(submission),
            run_submission, session, &queue));
        struct prt_queue *first = NULL;
        if (!atomic_compare_exchange_strong(&session->queue, &first, queue)) {
            prt_queue_release(queue);
            queue = first;
        }
    }
    *out = queue;
    return POPRT_OK;
}

poprt_status poprt_session_submit(poprt_session *session, poprt_stepio *io, poprt_done_fn done,
    void *user)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(io);
    struct prt_queue *queue = NULL;
    PRT_TRY(prt_fail_at_stage(get_queue(session, &queue), "submit"));
    const submission item = { .io = io, .done = done, .user = user };
    return prt_fail_at_stage(prt_queue_push(queue, &item), "submit");
}

poprt_status poprt_session_drain(poprt_session *session)
{
    PRT_REQUIRE(session);
    struct prt_queue *queue = queue_of(session);
    return queue != NULL ? prt_queue_drain(queue) : POPRT_OK;
}

poprt_status poprt_session_recover(poprt_session *session)
{
    PRT_REQUIRE(session);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = session->is_unusable
        ? prt_fail(POPRT_E_STATE, NULL,
              "the last failure cannot be recovered from: release the session and make a new one")
        : prt_session_recover(session->session);
    prt_unlock_session(session);
    if (status == POPRT_OK)
        prt_env_logf(session->env, PRT_LOG_session, POPRT_LOG_INFO, "recovered for %s: %zu bytes",
            session->exec->file, poprt_session_memory(session));
    return prt_fail_at_stage(status, "recover");
}

void poprt_session_cancel(poprt_session *session)
{
    if (session != NULL && atomic_load_explicit(&session->busy, memory_order_acquire) != 0)
        prt_session_cancel(session->session);
}

size_t poprt_session_memory(const poprt_session *session)
{
    return session != NULL ? prt_session_memory(session->session) + sizeof(*session) : 0;
}

static poprt_status read_weight(poprt_session *session, const char *name, poprt_tensor *out)
{
    const prt_type *type;
    size_t size = 0;
    PRT_TRY(prt_session_weight_type(session->session, prt_str_of(name), &type));
    if (!prt_type_size(type, &size))
        return prt_fail(POPRT_E_INTERNAL, name, "weight has an impossible shape");
    if (out->size < size)
        return prt_fail(POPRT_E_ARG, name, "the weight has %zu bytes, the buffer only %zu", size,
            out->size);
    if (size != 0 && out->data == NULL)
        return prt_fail_null("out->data");
    PRT_TRY(prt_session_copy_weight(session->session, prt_str_of(name), out->data));
    out->size = size;
    out->dtype = type->dtype;
    out->rank = (uint32_t)type->rank;
    out->dims = type->dims; /* static, and the program lives at least as long as the session */
    return POPRT_OK;
}

poprt_status poprt_session_read_weight(poprt_session *session, const char *name, poprt_tensor *out)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(name);
    PRT_REQUIRE(out);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = read_weight(session, name, out);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "weight");
}

static poprt_status write_weight(poprt_session *session, const char *name, const poprt_tensor *in)
{
    prt_tensor from;
    if (in->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, name, "rank %u is above %d", in->rank, PRT_MAX_RANK);
    if (in->rank != 0 && in->dims == NULL)
        return prt_fail_null("in->dims");
    for (uint32_t i = 0; i < in->rank; i++)
        if (in->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, name, "dimension %u is negative", i);
    if (!prt_tensor_init(&from, in->dtype, in->rank, in->dims, in->data))
        return prt_fail(POPRT_E_ARG, name, "the tensor's size does not fit in memory");
    if (in->size < from.size || (from.size != 0 && in->data == NULL))
        return prt_fail(POPRT_E_ARG, name, "the weight has %zu bytes, the tensor only %zu",
            from.size, in->data != NULL ? in->size : 0);
    bool may_set = false;
    PRT_TRY(prt_session_may_set_weight(session->session, prt_str_of(name), &may_set));
    if (!may_set)
        return prt_fail(POPRT_E_STATE, name, "the weight is a constant of the executable; %s",
            session->exec->program->n_variables != 0
                ? "only variables can be written: weights that are trained, or, with the option "
                  "constant_weights=false, floating-point weights, integers of 8 bits and "
                  "quantised biases"
                : "compile the model with the option constant_weights=false to write it");
    PRT_TRY(prt_session_set_weight(session->session, prt_str_of(name), &from));
    prt_session_changed(session);
    return POPRT_OK;
}

poprt_status poprt_session_write_weight(poprt_session *session, const char *name,
    const poprt_tensor *in)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(name);
    PRT_REQUIRE(in);
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = write_weight(session, name, in);
    prt_unlock_session(session);
    return prt_fail_at_stage(status, "weight");
}

/* Releases everything but the queue. */
static void release_session(void *user)
{
    poprt_session *session = user;
    poprt_env *env = session->env;
    poprt_weights_release(session->shared);
    prt_synthetic_release(session);
    prt_watch_release(session);
    prt_session_release(session->session);
    poprt_executable_release(session->exec);
    prt_mem_free(&env->allocator, session);
    poprt_env_release(env);
}

void poprt_session_release(poprt_session *session)
{
    if (session == NULL)
        return;
    struct prt_queue *queue = queue_of(session);
    if (queue != NULL && prt_queue_is_inside(queue)) {
        prt_queue_release_inside(queue, release_session, session);
        return;
    }
    prt_queue_release(queue);
    release_session(session);
}
