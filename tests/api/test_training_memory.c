/* SPDX-License-Identifier: MIT */
/*
 * test_training_memory.c — memory of training: a step allocates nothing after the first; each
 * allocation refused in turn during a step is an error that leaves the weights as they were, and
 * the next step is right; all memory is returned, also by refused saves and cache entries.
 */
#include "lesson.h"

typedef struct counter {
    size_t calls, live, refuse_at; /* number of the refused call, from 1; 0: none */
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    void *ptr = NULL;
    if (++c->calls == c->refuse_at || posix_memalign(&ptr, align, size) != 0)
        return NULL;
    memset(ptr, 0xa5, size); /* the library must not rely on zeroed memory */
    c->live++;
    return ptr;
}

static void count_release(void *user, void *ptr)
{
    counter *c = user;
    c->live--;
    free(ptr);
}

/* A lesson whose memory is counted: momentum, clipping, accumulation and two replicas. */
static lesson *counted(counter *c)
{
    lesson *l = lesson_begin("sgd", 2);
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.allocator = &allocator;
    poprt_config_release(l->config);
    poprt_flow_release(l->flow);
    poprt_optimizer_release(l->optimizer);
    poprt_model_release(l->model);
    poprt_env_release(l->env);
    ck_assert_ok(poprt_env_create(&options, &l->env));
    ck_assert_ok(
        poprt_model_load_bytes(l->env, linear_model, sizeof(linear_model), NULL, &l->model));
    ck_assert_ok(poprt_optimizer_create(l->env, "sgd", &l->optimizer));
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "momentum", 0.9f, 1));
    ck_assert_ok(poprt_optimizer_clip(l->optimizer, 0, NULL, 0.5f));
    ck_assert_ok(poprt_flow_create(l->env, 2, &l->flow));
    ck_assert_ok(poprt_flow_anchor(l->flow, "loss", POPRT_ANCHOR_SUM, 0));
    ck_assert_ok(poprt_config_create(l->env, &l->config));
    ck_assert_ok(poprt_config_set(l->config, "enable_gradient_accumulation", "true"));
    ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", "2"));
    ck_assert_ok(poprt_config_set(l->config, "enable_replicated_graphs", "true"));
    ck_assert_ok(poprt_config_set(l->config, "replicated_graph_count", "2"));
    return l;
}

START_TEST(a_step_allocates_nothing_after_the_first)
{
    counter c = { 0 };
    lesson *l = counted(&c);
    poprt_session *session = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, session, 8);
    for (int i = 0; i < 2; i++)
        ck_assert_ok(poprt_session_run(session, io));
    const size_t before = c.calls;
    for (int i = 0; i < 10; i++)
        ck_assert_ok(poprt_session_run(session, io));
    ck_assert_uint_eq(c.calls, before);
    poprt_stepio_release(io);
    poprt_session_release(session);
    lesson_end(l);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

START_TEST(a_refused_step_changes_nothing)
{
    counter c = { 0 };
    lesson *l = counted(&c);
    float w[2][IN * OUT], b[2][OUT], expected_w[IN * OUT], expected_b[OUT];
    poprt_session *whole = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, whole, 8);
    ck_assert_ok(poprt_session_run(whole, io));
    lesson_weights(whole, expected_w, expected_b);
    poprt_stepio_release(io);
    poprt_session_release(whole);
    size_t refused = 0;
    for (size_t at = 1;; at++) {
        poprt_session *session = lesson_session(l);
        io = lesson_bind(l, session, 8);
        lesson_weights(session, w[0], b[0]);
        c.refuse_at = c.calls + at;
        const poprt_status status = poprt_session_run(session, io);
        c.refuse_at = 0;
        if (status != POPRT_OK) {
            refused++;
            ck_assert_int_eq(status, POPRT_E_NOMEM);
            poprt_train_progress progress = { .struct_size = sizeof(progress) };
            ck_assert_ok(poprt_session_get_progress(session, &progress));
            lesson_weights(session, w[1], b[1]);
            if (progress.updates == 0)
                ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
            else /* the sum of the losses is allocated when the last batch returns it */
                ck_assert(memcmp(w[0], w[1], sizeof(w[0])) != 0);
            if (progress.updates != 0) { /* the session is one batch ahead: begin again */
                poprt_session_release(session);
                session = lesson_session(l);
                poprt_stepio_release(io);
                io = lesson_bind(l, session, 8);
            }
            ck_assert_ok(poprt_session_run(session, io));
        }
        lesson_weights(session, w[1], b[1]);
        ck_assert_mem_eq(w[1], expected_w, sizeof(expected_w));
        ck_assert_mem_eq(b[1], expected_b, sizeof(expected_b));
        poprt_stepio_release(io);
        poprt_session_release(session);
        if (status == POPRT_OK)
            break;
    }
    ck_assert_uint_gt(refused, 0);
    lesson_end(l);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

START_TEST(a_refused_compilation_leaks_nothing)
{
    counter c = { 0 };
    lesson *l = counted(&c);
    size_t refused = 0;
    for (size_t at = 1;; at++) {
        poprt_executable *exec = NULL;
        const size_t live = c.live;
        c.refuse_at = c.calls + at;
        const poprt_status status = lesson_compile(l, l->model, &exec);
        c.refuse_at = 0;
        if (status == POPRT_OK) {
            poprt_executable_release(exec);
            break;
        }
        ck_assert_int_eq(status, POPRT_E_NOMEM);
        ck_assert_uint_eq(c.live, live);
        refused++;
    }
    ck_assert_uint_gt(refused, 10);
    lesson_end(l);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

/* The bytes that are stated before a session exists are a sufficient memory_limit. */
START_TEST(training_fits_into_the_stated_memory)
{
    static const char *const kinds[] = { "sgd", "adam", "lamb", "rmsprop" };
    for (size_t i = 0; i < 8; i++) {
        lesson *l = lesson_begin(kinds[i / 2], 4);
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        size_t bytes = 0;
        char limit[32];
        if (i % 2 == 1)
            ck_assert_ok(poprt_config_set(l->config, "replicationFactor", "2"));
        if (i >= 4)
            ck_assert_ok(poprt_flow_anchor(l->flow, "loss", POPRT_ANCHOR_SUM, 0));
        ck_assert_ok(lesson_compile(l, l->model, &exec));
        ck_assert_ok(poprt_executable_session_memory(exec, l->config, &bytes));
        (void)snprintf(limit, sizeof(limit), "%zu", bytes);
        ck_assert_ok(poprt_config_set(l->config, "memory_limit", limit));
        ck_assert_ok(poprt_session_create(exec, l->config, &session));
        poprt_stepio *io = lesson_bind(l, session, i % 2 == 1 ? 8 : 4);
        float loss[8];
        const int64_t n = i % 2 == 1 ? 2 : 1;
        const poprt_tensor out = { loss, (size_t)n * 4, &n, 1, POPRT_DTYPE_FLOAT32 };
        ck_assert_ok(poprt_stepio_bind(io, "loss", &out));
        for (int k = 0; k < 3; k++)
            ck_assert_ok(poprt_session_run(session, io));
        ck_assert_uint_eq(poprt_session_memory(session), bytes);
        poprt_stepio_release(io);
        poprt_session_release(session);
        session = NULL;
        (void)snprintf(limit, sizeof(limit), "%zu", bytes - 1);
        ck_assert_ok(poprt_config_set(l->config, "memory_limit", limit));
        ck_assert_fails(poprt_session_create(exec, l->config, &session), POPRT_E_NOMEM);
        poprt_executable_release(exec);
        lesson_end(l);
    }
}
END_TEST

/* Refuses each allocation of a call in turn, until a call makes all of its allocations. */
static void sweep(counter *c, poprt_status (*call)(void *user), void *user, bool must_fail)
{
    size_t refused = 0;
    for (size_t at = 1;; at++, refused++) {
        const size_t live = c->live;
        c->refuse_at = c->calls + at;
        const poprt_status status = call(user);
        const bool done = c->calls < c->refuse_at;
        c->refuse_at = 0;
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
        ck_assert(!must_fail || done == (status == POPRT_OK));
        ck_assert_uint_eq(c->live, live);
        if (done)
            break;
    }
    ck_assert_uint_gt(refused, 10);
}

static char folder[] = "/tmp/poprt-refused-XXXXXX";

static poprt_status save_all(void *user)
{
    char file[64];
    (void)snprintf(file, sizeof(file), "%s/executable.popef", folder);
    return poprt_session_save_executable(user, file, POPRT_SAVE_VARIABLES | POPRT_SAVE_METADATA);
}

static poprt_status save_bare(void *user)
{
    return poprt_session_save_executable(user, folder, 0);
}

static poprt_status update_cache(void *user)
{
    return poprt_session_update_cache(user);
}

static poprt_status compile(void *user)
{
    lesson *l = user;
    poprt_executable *exec = NULL;
    const poprt_status status = lesson_compile(l, l->model, &exec);
    poprt_executable_release(exec);
    return status;
}

START_TEST(refused_saves_and_caches_leak_nothing)
{
    counter c = { 0 };
    char command[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    lesson *l = counted(&c);
    ck_assert_ok(poprt_config_set(l->config, "enable_engine_caching", "true"));
    ck_assert_ok(poprt_config_set(l->config, "cache_path", folder));
    poprt_session *session = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, session, 8);
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    sweep(&c, save_all, session, true);
    sweep(&c, save_bare, session, true);
    sweep(&c, update_cache, session, true);
    poprt_session_release(session);
    ck_assert_ok(poprt_config_set(l->config, "enable_variables_caching", "false"));
    ck_assert_ok(compile(l));
    sweep(&c, compile, l, false); /* a refused hit is compiled again */
    lesson_end(l);
    ck_assert_uint_eq(c.live, 0);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

PRT_TEST_MAIN("api/training_memory", training_fits_into_the_stated_memory,
    refused_saves_and_caches_leak_nothing, a_step_allocates_nothing_after_the_first,
    a_refused_step_changes_nothing, a_refused_compilation_leaks_nothing)
