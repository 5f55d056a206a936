/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c — an allocator that counts requests and can refuse them. All memory comes from it
 * and is returned to it; a run allocates only the first time; any single refusal is an error
 * without a leak.
 */
#include "api_test.h"
#include "models.h"

typedef struct counter {
    size_t calls, live;
    size_t refuse_at;  /* number of the refused call, from 1; 0: no call is refused */
    bool refuse_after; /* all later calls are refused too */
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    void *ptr = NULL;
    c->calls++;
    if (c->refuse_at != 0 &&
        (c->calls == c->refuse_at || (c->refuse_after && c->calls > c->refuse_at)))
        return NULL;
    if (posix_memalign(&ptr, align, size) != 0)
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

static poprt_status make_env(counter *c, poprt_env **out)
{
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.allocator = &allocator;
    return poprt_env_create(&options, out);
}

START_TEST(runs_allocate_nothing_after_the_first)
{
    counter c = { 0 };
    poprt_env *env = NULL;
    poprt_session *session = NULL;
    digit d;
    ck_assert_ok(make_env(&c, &env));
    poprt_executable *exec = compile_digits(env);
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    digit_init(&d, 1);
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_run(session, io));
    const size_t before = c.calls;
    for (int i = 0; i < 10; i++) {
        ck_assert_ok(poprt_stepio_bind_at(io, 0, &d.in));
        ck_assert_ok(poprt_session_run(session, io));
    }
    ck_assert_uint_eq(c.calls, before);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(env);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

/* Runs a model with a map input and output `runs` times; `before` is the count of calls before
 * the last run. */
static poprt_status run_map_life(counter *c, int runs, size_t *before, float *result)
{
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_string word = { "b", 1 };
    float number = 5.5f;
    const int64_t one = 1;
    const poprt_tensor keys = { .data = &word,
        .size = sizeof(word),
        .dims = &one,
        .rank = 1,
        .dtype = POPRT_DTYPE_STRING };
    const poprt_tensor values = { .data = &number,
        .size = sizeof(number),
        .dims = &one,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor k = { 0 }, v = { 0 };
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_model_load_bytes(env, map_model, sizeof(map_model), NULL, &model);
    if (s == POPRT_OK)
        s = poprt_compile(model, NULL, &exec);
    if (s == POPRT_OK)
        s = poprt_session_create(exec, NULL, &session);
    if (s == POPRT_OK)
        s = poprt_stepio_create(session, &io);
    if (s == POPRT_OK)
        s = poprt_stepio_bind_map(io, 0, &keys, &values);
    for (int i = 0; s == POPRT_OK && i < runs; i++) {
        *before = c->calls;
        s = poprt_session_run(session, io);
    }
    *before = c->calls - *before;
    if (s == POPRT_OK)
        s = poprt_stepio_output_map(io, 1, 0, &k, &v);
    if (s == POPRT_OK)
        *result = ((const float *)v.data)[1];
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
    return s;
}

START_TEST(maps_need_no_memory_after_the_first_runs)
{
    counter c = { 0 };
    size_t calls = 0;
    float result = 0;
    ck_assert_ok(run_map_life(&c, 3, &calls, &result));
    ck_assert_uint_eq(calls, 0);
    ck_assert_float_eq(result, 5.5f);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

/* Fuses two models and runs graph 1. */
static poprt_status run_fused_life(counter *c, int runs, size_t *before, float *result)
{
    poprt_env *env = NULL;
    poprt_model *model = NULL, *fused = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float x[] = { 1, 1 };
    const int64_t dims[] = { 1, 2 };
    const poprt_tensor in = { .data = x,
        .size = sizeof(x),
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor out = { 0 };
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_model_load_bytes(env, dense_model, sizeof(dense_model), NULL, &model);
    if (s == POPRT_OK)
        s = poprt_model_set_input_shape(model, "x", dims, 2);
    const poprt_model *models[2] = { model, model };
    if (s == POPRT_OK)
        s = poprt_model_fuse(models, 2, &fused);
    if (s == POPRT_OK)
        s = poprt_compile(fused, NULL, &exec);
    if (s == POPRT_OK)
        s = poprt_session_create(exec, NULL, &session);
    if (s == POPRT_OK)
        s = poprt_stepio_create(session, &io);
    if (s == POPRT_OK)
        s = poprt_stepio_bind(io, "graph1/x", &in);
    for (int i = 0; s == POPRT_OK && i < runs; i++) {
        *before = c->calls;
        s = poprt_session_run(session, io);
    }
    *before = c->calls - *before;
    if (s == POPRT_OK)
        s = poprt_stepio_output(io, 4, &out);
    if (s == POPRT_OK)
        *result = ((const float *)out.data)[0];
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(fused);
    poprt_model_release(model);
    poprt_env_release(env);
    return s;
}

START_TEST(fused_models_need_no_memory_after_the_first_runs)
{
    counter c = { 0 };
    size_t calls = 0;
    float result = 0;
    ck_assert_ok(run_fused_life(&c, 3, &calls, &result));
    ck_assert_uint_eq(calls, 0);
    ck_assert_float_eq(result, 5.5f);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

/* Decodes `words` words with caches in place. `then` and `last` are the numbers of live
 * allocations after `early` words and at the end. */
static poprt_status run_decoder_life(counter *c, int words, int early, size_t *then, size_t *last,
    float *result)
{
    enum { CAPACITY = 64 };
    static const char *const past[] = { "past_key", "past_value", "history" };
    static const char *const present[] = { "present_key", "present_value", "history_now" };
    static const int64_t four[] = { 1, 2, CAPACITY, 8 }, three[] = { 1, CAPACITY, 4 },
                         one[] = { 1, 1 };
    float rows[3][2 * CAPACITY * 8] = { { 0 } };
    int64_t id = 5, place = 0, mask[CAPACITY + 1], seen[] = { 1, 1 };
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const poprt_tensor ids = { .data = &id,
        .size = 8,
        .dims = one,
        .rank = 2,
        .dtype = POPRT_DTYPE_INT64 };
    poprt_tensor places = ids, all = ids;
    places.data = &place;
    all.data = mask;
    all.dims = seen;
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_model_load_file(env, PRT_TEST_DATA "/decoder/model.onnx", NULL, &model);
    if (s == POPRT_OK)
        s = poprt_compile(model, NULL, &exec);
    if (s == POPRT_OK)
        s = poprt_session_create(exec, NULL, &session);
    if (s == POPRT_OK)
        s = poprt_stepio_create(session, &io);
    for (int i = 0; s == POPRT_OK && i < 3; i++) {
        const poprt_tensor memory = { .data = rows[i],
            .size = sizeof(rows[i]),
            .dims = i == 2 ? three : four,
            .rank = i == 2 ? 3 : 4,
            .dtype = POPRT_DTYPE_FLOAT32 };
        s = poprt_stepio_bind_cache(io, past[i], present[i], &memory, 0);
    }
    if (s == POPRT_OK)
        s = poprt_stepio_bind(io, "input_ids", &ids);
    if (s == POPRT_OK)
        s = poprt_stepio_bind(io, "position_ids", &places);
    for (int i = 0; s == POPRT_OK && i < words; i++) {
        place = i;
        mask[i] = 1;
        seen[1] = i + 1;
        all.size = (size_t)(i + 1) * 8;
        s = poprt_stepio_bind(io, "attention_mask", &all);
        if (s == POPRT_OK)
            s = poprt_session_run(session, io);
        *then = i < early ? c->live : *then;
    }
    *last = c->live;
    if (s == POPRT_OK)
        *result = 5.5f;
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
    return s;
}

START_TEST(decoding_loops_do_not_grow_memory)
{
    counter c = { 0 };
    size_t then = 0, last = 0;
    float result = 0;
    ck_assert_ok(run_decoder_life(&c, 60, 3, &then, &last, &result));
    ck_assert_uint_le(last, then);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

/* Loads, compiles, saves, runs and releases a small model. */
static poprt_status run_model_life(counter *c, float *result)
{
    poprt_env *env = NULL;
    poprt_config *config = NULL;
    poprt_model *model = NULL, *copy = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    buffer popef = { 0 };
    float x[] = { 1, 1 };
    const int64_t dims[] = { 1, 2 };
    const poprt_tensor in = { .data = x,
        .size = sizeof(x),
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor out = { 0 };
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_config_create(env, &config);
    if (s == POPRT_OK)
        s = poprt_config_merge_json(config, "{\"seed\": 3}", 11);
    if (s == POPRT_OK)
        s = poprt_model_load_bytes(env, dense_model, sizeof(dense_model), config, &model);
    if (s == POPRT_OK)
        s = poprt_model_clone(model, &copy);
    if (s == POPRT_OK)
        s = poprt_pass_manager_create(env, &manager);
    if (s == POPRT_OK)
        s = poprt_pass_manager_add_pipeline(manager, "convert", NULL);
    if (s == POPRT_OK)
        s = poprt_pass_manager_run(manager, copy);
    if (s == POPRT_OK)
        s = poprt_compile(copy, config, &exec);
    if (s == POPRT_OK)
        s = poprt_executable_save(exec, buffer_write, &popef);
    if (s == POPRT_OK)
        s = poprt_executable_load_bytes(env, popef.data, popef.size, config, &again);
    if (s == POPRT_OK)
        s = poprt_session_create(again, config, &session);
    if (s == POPRT_OK)
        s = poprt_stepio_create(session, &io);
    if (s == POPRT_OK)
        s = poprt_stepio_bind(io, "x", &in);
    if (s == POPRT_OK)
        s = poprt_session_run(session, io);
    if (s == POPRT_OK)
        s = poprt_session_submit(session, io, NULL, NULL);
    if (s == POPRT_OK)
        s = poprt_session_drain(session);
    if (s == POPRT_OK)
        s = poprt_stepio_output(io, 1, &out);
    if (s == POPRT_OK)
        *result = ((const float *)out.data)[0];
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_pass_manager_release(manager);
    poprt_model_release(copy);
    poprt_model_release(model);
    poprt_config_release(config);
    poprt_env_release(env);
    free(popef.data);
    return s;
}

static poprt_status run_map_once(counter *c, float *result)
{
    size_t calls = 0;
    return run_map_life(c, 1, &calls, result);
}

static poprt_status run_fused_once(counter *c, float *result)
{
    size_t calls = 0;
    return run_fused_life(c, 1, &calls, result);
}

static poprt_status run_decoder_once(counter *c, float *result)
{
    size_t then = 0, last = 0;
    return run_decoder_life(c, 2, 1, &then, &last, result);
}

static size_t sweep(bool refuse_after, poprt_status (*life)(counter *c, float *result))
{
    size_t points = 0;
    for (size_t k = 1;; k++) {
        counter c = { .refuse_at = k, .refuse_after = refuse_after };
        float result = 0;
        const poprt_status s = life(&c, &result);
        ck_assert_msg(c.live == 0, "refusing allocation %zu leaks %zu pieces", k, c.live);
        if (c.calls < k) {
            ck_assert_ok(s);
            ck_assert_float_eq(result, 5.5f);
            return points;
        }
        /*
         * A submitted run reports its failure to its callback, so the other calls may still
         * succeed.
         */
        if (s != POPRT_OK)
            ck_assert_msg(s == POPRT_E_NOMEM || s == POPRT_E_STATE,
                "refusing allocation %zu gives %s: %s", k, poprt_status_name(s),
                poprt_last_error()->message);
        points++;
    }
}

static poprt_status tune_digits(counter *c)
{
    poprt_env *env = NULL;
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_config_create(env, &config);
    if (s == POPRT_OK)
        s = poprt_config_set(config, "tune", "full");
    if (s == POPRT_OK)
        s = poprt_model_load_file(env, DIGITS, NULL, &model);
    if (s == POPRT_OK)
        s = poprt_compile(model, config, &exec);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    poprt_env_release(env);
    return s;
}

/* If timing gets no memory, the rules decide; any other failure is an error. Only some of the
 * points are tried, because flushing the caches is slow. */
START_TEST(tuning_survives_refused_memory)
{
    enum { POINTS = 12 };
    counter all = { 0 };
    ck_assert_ok(tune_digits(&all));
    ck_assert_uint_eq(all.live, 0);
    ck_assert_uint_gt(all.calls, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        counter c = { .refuse_at = 1 + i * all.calls / POINTS, .refuse_after = i % 2 != 0 };
        const poprt_status s = tune_digits(&c);
        ck_assert_uint_eq(c.live, 0);
        ck_assert(s == POPRT_OK || s == POPRT_E_NOMEM);
    }
}
END_TEST

START_TEST(any_single_refusal_is_an_error)
{
    ck_assert_uint_gt(sweep(false, run_model_life), 50);
    ck_assert_uint_gt(sweep(false, run_map_once), 30);
    ck_assert_uint_gt(sweep(false, run_fused_once), 30);
    ck_assert_uint_gt(sweep(false, run_decoder_once), 30);
}
END_TEST

START_TEST(refusals_from_any_point_are_errors)
{
    ck_assert_uint_gt(sweep(true, run_model_life), 50);
    ck_assert_uint_gt(sweep(true, run_map_once), 30);
    ck_assert_uint_gt(sweep(true, run_fused_once), 30);
    ck_assert_uint_gt(sweep(true, run_decoder_once), 30);
}
END_TEST

START_TEST(memory_limits_are_kept)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    options.memory_limit = 1000;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_int_ne(poprt_model_load_file(env, DIGITS, NULL, &model), POPRT_OK);
    ck_assert_ptr_null(model);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/memory", runs_allocate_nothing_after_the_first, any_single_refusal_is_an_error,
    tuning_survives_refused_memory, refusals_from_any_point_are_errors, memory_limits_are_kept,
    decoding_loops_do_not_grow_memory, maps_need_no_memory_after_the_first_runs,
    fused_models_need_no_memory_after_the_first_runs)
