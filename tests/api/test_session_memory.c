/* SPDX-License-Identifier: MIT */
/*
 * test_session_memory.c — the memory of a session as the executable predicts it. The prediction
 * equals the bytes that the session reports and that the environment's allocator counts, before
 * and after runs.
 */
#include "api_test.h"
#include "meter.h"

enum { MOST_DIMS = 8, RUNS = 4, ALIGN = 64 };

/* An executable, and the config it was compiled with. */
typedef struct subject {
    meter m;
    poprt_env *env;
    poprt_config *config;
    poprt_executable *exec;
} subject;

static void subject_init(subject *s, const char *path, const char *dims, uint32_t threads)
{
    poprt_model *model = NULL;
    *s = (subject){ .env = NULL };
    s->env = open_env(&s->m, threads);
    ck_assert_ok(poprt_config_create(s->env, &s->config));
    if (dims != NULL)
        ck_assert_ok(poprt_config_merge_json(s->config, dims, strlen(dims)));
    ck_assert_ok(poprt_model_load_file(s->env, path, NULL, &model));
    ck_assert_ok(poprt_compile(model, s->config, &s->exec));
    poprt_model_release(model);
}

static void subject_deinit(subject *s)
{
    poprt_executable_release(s->exec);
    poprt_config_release(s->config);
    poprt_env_release(s->env);
    ck_assert_uint_eq(s->m.held, 0);
}

static poprt_memory_info predicted_memory(const subject *s)
{
    poprt_memory_info info = { .struct_size = sizeof(info) };
    size_t both = 0;
    ck_assert_ok(poprt_executable_get_memory(s->exec, s->config, &info));
    ck_assert_ok(poprt_executable_session_memory(s->exec, s->config, &both));
    ck_assert_uint_eq(both, info.created + info.scratch);
    return info;
}

/* Bytes of an element of the types that occur in this test. */
static size_t element_size(int32_t dtype)
{
    switch (dtype) {
    case POPRT_DTYPE_FLOAT32:
    case POPRT_DTYPE_INT32:
        return 4;
    case POPRT_DTYPE_INT64:
    case POPRT_DTYPE_FLOAT64:
        return 8;
    case POPRT_DTYPE_FLOAT16:
    case POPRT_DTYPE_BFLOAT16:
    case POPRT_DTYPE_INT16:
    case POPRT_DTYPE_UINT16:
        return 2;
    default:
        return 1;
    }
}

/* Binds zeroed memory to an input or output of fixed shape. The caller frees the returned
 * memory. */
static void *bind_zeros(const subject *s, poprt_stepio *io, int32_t direction, size_t i)
{
    poprt_io_info info = { .struct_size = sizeof(info) };
    int64_t dims[MOST_DIMS];
    ck_assert_ok(poprt_executable_io_at(s->exec, direction, i, &info));
    ck_assert_int_le(info.rank, MOST_DIMS);
    poprt_tensor t = { .dims = dims,
        .rank = (uint32_t)info.rank,
        .dtype = info.dtype,
        .size = element_size(info.dtype) };
    for (int32_t k = 0; k < info.rank; k++) {
        ck_assert_msg(info.dims[k] >= 0, "%s is of open shape", info.name);
        dims[k] = info.dims[k];
        t.size *= (size_t)dims[k];
    }
    t.data = aligned_alloc(ALIGN, (t.size + ALIGN) / ALIGN * ALIGN);
    memset(t.data, 0, t.size);
    ck_assert_ok(poprt_stepio_bind(io, info.name, &t));
    return t.data;
}

/* Runs until the memory no longer changes, and compares it with `after`. */
static void run_and_compare(const subject *s, poprt_session *session, bool outputs, size_t after)
{
    const size_t n_in = poprt_executable_io_count(s->exec, POPRT_INPUT);
    const size_t n_out = outputs ? poprt_executable_io_count(s->exec, POPRT_OUTPUT) : 0;
    void **memory = calloc(n_in + n_out, sizeof(void *));
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (size_t i = 0; i < n_in; i++)
        memory[i] = bind_zeros(s, io, POPRT_INPUT, i);
    for (size_t i = 0; i < n_out; i++)
        memory[n_in + i] = bind_zeros(s, io, POPRT_OUTPUT, i);
    const size_t others = s->m.held - poprt_session_memory(session);
    for (size_t run = 0; run < RUNS; run++)
        ck_assert_ok(poprt_session_run(session, io));
    ck_assert_uint_eq(poprt_session_memory(session), after);
    ck_assert_uint_eq(s->m.held - others, after);
    poprt_stepio_release(io);
    for (size_t i = 0; i < n_in + n_out; i++)
        free(memory[i]);
    free(memory);
}

/* Threads and their stacks belong to the environment, so a session runs before bytes are
 * counted. */
static void warm_up(const subject *s)
{
    poprt_session *session = NULL;
    ck_assert_ok(poprt_session_create(s->exec, s->config, &session));
    const poprt_memory_info info = predicted_memory(s);
    run_and_compare(s, session, true, info.created + info.scratch);
    poprt_session_release(session);
}

/* The predicted bytes are a sufficient memory_limit, and the smallest one. */
static void expect_limit(const subject *s, const poprt_memory_info *info)
{
    poprt_config *config = NULL;
    poprt_session *session = NULL;
    char limit[32];
    for (size_t less = 0; less < 2; less++) {
        (void)snprintf(limit, sizeof(limit), "%zu", info->created + info->scratch - less);
        ck_assert_ok(poprt_config_clone(s->config, &config));
        ck_assert_ok(poprt_config_set(config, "memory_limit", limit));
        if (less != 0) {
            ck_assert_fails(poprt_session_create(s->exec, config, &session), POPRT_E_NOMEM);
        } else {
            ck_assert_ok(poprt_session_create(s->exec, config, &session));
            run_and_compare(s, session, true, info->created + info->scratch);
            poprt_session_release(session);
            session = NULL;
        }
        poprt_config_release(config);
    }
}

static void expect_prediction(const char *path, const char *dims, uint32_t threads)
{
    subject s;
    poprt_session *session = NULL;
    subject_init(&s, path, dims, threads);
    warm_up(&s);
    const size_t before = s.m.held;
    const poprt_memory_info info = predicted_memory(&s);
    ck_assert_uint_eq(s.m.held, before);
    ck_assert_int_eq(info.is_planned, 1);
    ck_assert_ok(poprt_session_create(s.exec, s.config, &session));
    ck_assert_uint_eq(poprt_session_memory(session), info.created);
    run_and_compare(&s, session, true, info.created + info.scratch);
    run_and_compare(&s, session, false, info.created + info.scratch + info.outputs);
    poprt_session_release(session);
    expect_limit(&s, &info);
    ck_assert_uint_eq(s.m.held, before);
    subject_deinit(&s);
}

START_TEST(session_memory_is_predicted)
{
    static const struct {
        const char *model, *dims;
    } cases[] = {
        { "digits", "{\"dim.batch\":\"1\"}" },
        { "digits", "{\"dim.batch\":\"300\"}" },
        { "encoder", "{\"dim.batch\":\"2\",\"dim.seq\":\"16\"}" },
        { "charlm", "{\"dim.batch\":\"2\",\"dim.seq\":\"5\"}" },
        { "charlm", "{\"dim.batch\":\"1\",\"dim.seq\":\"40\"}" },
        { "quantised/digits_qop_u8s8_channel", "{\"dim.batch\":\"8\"}" },
        { "quantised/encoder_bits4", "{\"dim.batch\":\"2\",\"dim.seq\":\"16\"}" },
        { "feed-forward", NULL },
        { "mixed_attention", NULL },
        { "gradient", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            char path[512];
            (void)snprintf(path, sizeof(path), "%s/%s/model.onnx", PRT_TEST_DATA, cases[i].model);
            expect_prediction(path, cases[i].dims, threads);
        }
}
END_TEST

/* With symbolic dimensions the prediction leaves out the plan, like a new session. */
START_TEST(open_dimensions_leave_the_plan_out)
{
    subject s;
    poprt_session *session = NULL;
    subject_init(&s, DIGITS, NULL, 1);
    const poprt_memory_info info = predicted_memory(&s);
    ck_assert_ok(poprt_session_create(s.exec, NULL, &session));
    ck_assert_uint_eq(poprt_session_memory(session), info.created);
    ck_assert_uint_eq(info.scratch, 0);
    ck_assert_uint_eq(info.outputs, 0);
    ck_assert_int_eq(info.is_planned, 0);
    poprt_session_release(session);
    subject_deinit(&s);
}
END_TEST

/* A plan of several gigabytes is predicted without being allocated. */
START_TEST(prediction_allocates_no_plan)
{
    subject s;
    subject_init(&s, DIGITS, NULL, 1);
    ck_assert_ok(poprt_config_set(s.config, "dim.batch", "1000000"));
    s.m.peak = s.m.held;
    const size_t before = s.m.held;
    ck_assert_uint_gt(predicted_memory(&s).created, (size_t)1 << 30);
    ck_assert_uint_lt(s.m.peak - before, 1 << 20);
    subject_deinit(&s);
}
END_TEST

PRT_TEST_MAIN("api/session_memory", session_memory_is_predicted, open_dimensions_leave_the_plan_out,
    prediction_allocates_no_plan)
