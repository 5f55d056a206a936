/* SPDX-License-Identifier: MIT */
/*
 * test_limits.c — memory_limit. The memory of a model, a compilation or a session, counted by the
 * environment's allocator, is at most a tenth above the limit. Otherwise the call fails with a
 * message that names the limit.
 * Covers: env.c.
 */
#include "api_test.h"
#include "meter.h"

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

typedef enum stage { LOAD, COMPILE, SESSION, STAGES } stage;

/* One trial: the stages before `limited` run without a limit, `limited` runs with it. */
typedef struct trial {
    poprt_env *env;
    poprt_model *model;
    poprt_executable *exec;
    poprt_session *session;
} trial;

static poprt_status run_stage(trial *t, stage s, const poprt_config *config, const void *bytes,
    size_t size)
{
    if (s == LOAD)
        return poprt_model_load_bytes(t->env, bytes, size, config, &t->model);
    if (s == COMPILE)
        return poprt_compile(t->model, config, &t->exec);
    return poprt_session_create(t->exec, config, &t->session);
}

/* Measures the peak memory of the stage and its status; `limit` 0 means no limit. */
static poprt_status measure(stage limited, size_t limit, const void *bytes, size_t size,
    const char *dims, size_t *peak)
{
    meter m = { 0 };
    trial t = { .env = open_env(&m, 1) };
    poprt_config *config = NULL, *with_limit = NULL;
    char text[32];
    (void)snprintf(text, sizeof(text), "%zu", limit);
    ck_assert_ok(poprt_config_create(t.env, &config));
    ck_assert_ok(poprt_config_create(t.env, &with_limit));
    ck_assert_ok(poprt_config_set(with_limit, "memory_limit", text));
    if (dims != NULL) {
        ck_assert_ok(poprt_config_merge_json(config, dims, strlen(dims)));
        ck_assert_ok(poprt_config_merge_json(with_limit, dims, strlen(dims)));
    }
    for (stage s = LOAD; s < limited; s++)
        ck_assert_ok(run_stage(&t, s, config, bytes, size));
    const size_t before = m.peak = m.held;
    const poprt_status status = run_stage(&t, limited, with_limit, bytes, size);
    *peak = m.peak - before;
    if (status != POPRT_OK) {
        /*
         * All memory is released, except aligned copies of constants, which the executable keeps.
         */
        if (limited != SESSION)
            ck_assert_uint_eq(m.held, before);
        ck_assert(status == POPRT_E_NOMEM || status == POPRT_E_LIMIT);
        ck_assert_msg(strstr(poprt_last_error()->message, "limit") != NULL, "%s",
            poprt_last_error()->message);
    }
    poprt_session_release(t.session);
    poprt_executable_release(t.exec);
    poprt_model_release(t.model);
    poprt_config_release(with_limit);
    poprt_config_release(config);
    poprt_env_release(t.env);
    ck_assert_uint_eq(m.held, 0);
    return status;
}

/* Tries limits from a twentieth of the stage's peak to twice the peak. */
static void sweep(stage limited, const char *path, const char *dims)
{
    size_t size = 0, need = 0, peak = 0;
    void *bytes = read_file(path, &size);
    ck_assert_ok(measure(limited, 0, bytes, size, dims, &need));
    for (size_t parts = 1; parts <= 40; parts++) {
        const size_t limit = need / 20 * parts;
        const poprt_status status = measure(limited, limit, bytes, size, dims, &peak);
        ck_assert_msg(peak <= limit + limit / 10 + 1024, "%s, stage %d: %zu held, the limit is %zu",
            path, (int)limited, peak, limit);
        /* Compilation skips optional work for which it has no memory. */
        if (parts <= (limited == COMPILE ? 1 : 15))
            ck_assert_msg(status != POPRT_OK, "%s, stage %d: %zu needed, %zu enough", path,
                (int)limited, need, limit);
        if (parts >= 30)
            ck_assert_msg(status == POPRT_OK, "%s, stage %d: %zu needed, %zu too little", path,
                (int)limited, need, limit);
    }
    free(bytes);
}

START_TEST(limits_include_weights)
{
    static const char *const paths[] = { DIGITS, PRT_TEST_DATA "/charlm/model.onnx",
        PRT_TEST_DATA "/encoder/model.onnx" };
    static const char *const dims[] = { "{\"dim.batch\":\"64\"}", NULL, NULL };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        for (stage s = LOAD; s < STAGES; s++)
            sweep(s, paths[i], dims[i]);
}
END_TEST

/* A few hundred bytes expand to 65,536 nodes. */
START_TEST(limits_include_expanded_functions)
{
    size_t size = 0, peak = 0;
    void *bytes = read_file(PRT_TEST_DATA "/../tools/data/doubling.onnx", &size);
    ck_assert_int_ne(measure(LOAD, 4 << 20, bytes, size, NULL, &peak), POPRT_OK);
    ck_assert_uint_le(peak, (4 << 20) + (4 << 20) / 10);
    ck_assert_ok(measure(LOAD, 0, bytes, size, NULL, &peak));
    ck_assert_uint_gt(peak, 4 << 20);
    free(bytes);
}
END_TEST

/* The mapped file of a model or an executable counts as its memory. */
START_TEST(limits_include_mapped_files)
{
    const char *model_path = PRT_TEST_DATA "/encoder/model.onnx";
    const char *popef = "test_limits.popef";
    meter m = { 0 };
    poprt_env *env = open_env(&m, 1);
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_model_load_file(env, model_path, config, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_executable_save_file(exec, popef));
    poprt_model_release(model);
    model = NULL;
    ck_assert_ok(poprt_config_set(config, "memory_limit", "300000")); /* smaller than either file */
    ck_assert_fails(poprt_model_load_file(env, model_path, config, &model), POPRT_E_NOMEM);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "memory_limit of 300000 bytes"));
    ck_assert_fails(poprt_executable_load_file(env, popef, config, &again), POPRT_E_NOMEM);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "memory_limit of 300000 bytes"));
    ck_assert_ok(poprt_config_set(config, "memory_limit", "2000000"));
    ck_assert_ok(poprt_model_load_file(env, model_path, config, &model));
    ck_assert_ok(poprt_executable_load_file(env, popef, config, &again));
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    poprt_env_release(env);
    ck_assert_uint_eq(m.held, 0);
    ck_assert_int_eq(remove(popef), 0);
}
END_TEST

PRT_TEST_MAIN("api/limits", limits_include_weights, limits_include_expanded_functions,
    limits_include_mapped_files)
