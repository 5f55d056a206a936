/* SPDX-License-Identifier: MIT */
/*
 * test_fixed_options.c — options that an executable keeps from its compilation, and those that may
 * change when its file is opened. Covers: fixed_options.c.
 */
#include <unistd.h>

#include "lesson.h"

static char folder[64];
static char path[256];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-fixed-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void save(poprt_executable *exec)
{
    make_folder();
    (void)snprintf(path, sizeof(path), "%s/executable.popef", folder);
    ck_assert_ok(poprt_executable_save_file(exec, path));
}

static void remove_folder(void)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static poprt_config *config_of(poprt_env *env, const char *key, const char *value)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    if (key != NULL)
        ck_assert_ok(poprt_config_set(config, key, value));
    return config;
}

/* Compiles digits with weights=f16 and batch 2, and writes the file. */
static poprt_executable *compile_half(poprt_env *env)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_config *config = config_of(env, "weights", "f16");
    ck_assert_ok(poprt_config_set(config, "dim.batch", "2"));
    ck_assert_ok(poprt_config_set(config, "optimize", "True"));
    ck_assert_ok(poprt_config_set(config, "seed", "5"));
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_config_release(config);
    poprt_model_release(model);
    save(exec);
    return exec;
}

static void check_refused(poprt_env *env, poprt_executable *exec, const char *key,
    const char *value, const char *option, const char *has)
{
    poprt_executable *loaded = NULL;
    poprt_session *session = NULL;
    poprt_config *config = config_of(env, key, value);
    poprt_executable *opened = NULL;
    ck_assert_ok(poprt_session_create(exec, config, &session)); /* compiled here: not compared */
    poprt_session_release(session);
    session = NULL;
    ck_assert_ok(poprt_executable_load_file(env, path, NULL, &opened));
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            ck_assert_fails(poprt_executable_load_file(env, path, config, &loaded), POPRT_E_ARG);
        else
            ck_assert_fails(poprt_session_create(opened, config, &session), POPRT_E_ARG);
        ck_assert_str_eq(poprt_last_error()->subject, option);
        ck_assert_ptr_nonnull(
            strstr(poprt_last_error()->message, "is fixed when a model is compiled"));
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, has));
    }
    poprt_executable_release(opened);
    poprt_config_release(config);
}

START_TEST(fixed_options_are_refused_by_name)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable *exec = compile_half(env);
    check_refused(env, exec, "weights", "f32", "weights", "'f16'");
    check_refused(env, exec, "weights", "i8", "weights", "'f16'");
    check_refused(env, exec, "optimize", "false", "optimize", "'true'");
    check_refused(env, exec, "dim.batch", "3", "dim.batch", "'2'");
    check_refused(env, exec, "winograd", "off", "winograd", "'auto'");
    check_refused(env, exec, "enableNonStableSoftmax", "True", "enable_non_stable_softmax",
        "'false'");
    poprt_executable_release(exec);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

START_TEST(options_of_sessions_may_change)
{
    static const char *const options[][2] = { { "weights", "f16" }, { "dim.batch", "2" },
        { "seed", "9" }, { "optimize", "1" }, { "synthetic_data_mode", "zeros" },
        { "cpu", "portable" }, { "strassen", "false" }, { "default_buffering_depth", "3" },
        { "enable_prefetch_datastreams", "false" }, { "log_dir", "/tmp" },
        { "check_floating_point", "true" }, { "verify", "full" }, { "memory_limit", "100000000" },
        { "cache_path", "/tmp" }, { "dot_checks", "All" }, { "randomSeed", "8" } };
    poprt_env *env = NULL;
    poprt_executable *loaded = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable *exec = compile_half(env);
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        poprt_config *config = config_of(env, options[i][0], options[i][1]);
        ck_assert_ok(poprt_executable_load_file(env, path, config, &loaded));
        ck_assert_ok(poprt_session_create(loaded, config, &session));
        poprt_session_release(session);
        poprt_executable_release(loaded);
        poprt_config_release(config);
    }
    poprt_executable_release(exec);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

static void check_option(const poprt_config *config, const char *key, const char *value)
{
    const char *text = NULL;
    ck_assert_ok(poprt_config_get(config, key, &text));
    ck_assert_str_eq(text, value);
}

START_TEST(a_file_states_its_options)
{
    poprt_env *env = NULL;
    poprt_executable *loaded = NULL;
    poprt_session *session = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable_release(compile_half(env));
    /* As PopTorch's load with a function that edits the options. */
    ck_assert_ok(poprt_executable_load_file(env, path, NULL, &loaded));
    ck_assert_ok(poprt_executable_get_options(loaded, &config));
    check_option(config, "weights", "f16");
    check_option(config, "dim.batch", "2");
    check_option(config, "seed", "0"); /* of sessions: not kept */
    ck_assert_ok(poprt_config_set(config, "seed", "3"));
    ck_assert_ok(poprt_session_create(loaded, config, &session));
    poprt_session_release(session);
    session = NULL;
    ck_assert_ok(poprt_config_set(config, "compute", "bf16"));
    ck_assert_fails(poprt_session_create(loaded, config, &session), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "compute");
    poprt_config_release(config);
    poprt_executable_release(loaded);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

/* Replaces a text in the saved file, and the checksum of the descriptor with it. */
static void forge(const char *from, const char *to)
{
    static unsigned char bytes[1 << 18];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    const size_t size = fread(bytes, 1, sizeof(bytes), file), n = strlen(from);
    (void)fclose(file);
    ck_assert_uint_lt(size, sizeof(bytes));
    ck_assert_uint_eq(n, strlen(to));
    size_t header = 0, at = 0;
    while (at + n < size && memcmp(bytes + at, from, n) != 0) {
        header = memcmp(bytes + at, "POPEF-C", 8) == 0 ? at : header;
        at++;
    }
    ck_assert_uint_lt(at + n, size);
    memcpy(bytes + at, to, n);
    uint32_t length, sum = UINT32_MAX;
    memcpy(&length, bytes + header + 64, sizeof(length));
    for (size_t i = 0; i < length; i++) {
        sum ^= bytes[header + 68 + i];
        for (int bit = 0; bit < 8; bit++)
            sum = (sum >> 1) ^ (sum & 1 ? 0x82f63b78u : 0);
    }
    sum = ~sum;
    memcpy(bytes + header + 52, &sum, sizeof(sum));
    file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
}

START_TEST(a_file_cannot_state_other_options)
{
    poprt_env *env = NULL;
    poprt_executable *loaded = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_executable_release(compile_half(env));
    forge("\\\"weights\\\":\\\"f16\\\"", "\\\"log_dir\\\":\\\"/up\\\"");
    ck_assert_ok(poprt_executable_load_file(env, path, NULL, &loaded));
    ck_assert_fails(poprt_executable_get_options(loaded, &config), POPRT_E_PARSE);
    ck_assert_str_eq(poprt_last_error()->subject, "log_dir");
    poprt_executable_release(loaded);
    poprt_env_release(env);
    remove_folder();
}
END_TEST

START_TEST(training_keeps_its_options)
{
    lesson *l = lesson_begin("sgd", 4);
    poprt_executable *exec = NULL, *loaded = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_set(l->config, "enable_gradient_accumulation", "true"));
    ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", "2"));
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    save(exec);
    ck_assert_ok(poprt_executable_load_file(l->env, path, NULL, &loaded));
    ck_assert_ok(poprt_executable_get_options(loaded, &config));
    check_option(config, "accumulation_factor", "2");
    poprt_config_release(config);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    lesson_end(l);
    remove_folder();
}
END_TEST

START_TEST(the_table_says_which_are_fixed)
{
    size_t fixed = 0, free_options = 0;
    poprt_option_info info = { .struct_size = sizeof(info) };
    for (size_t i = 0; poprt_config_option_at(i, &info) == POPRT_OK; i++) {
        const bool compiling = strncmp(info.help, "Compiling", 9) == 0;
        ck_assert(!info.is_fixed || compiling);
        if (strcmp(info.key, "weights") == 0 || strcmp(info.key, "accumulation_factor") == 0)
            ck_assert_int_eq(info.is_fixed, 1);
        if (strcmp(info.key, "seed") == 0 || strcmp(info.key, "cpu") == 0 ||
            strcmp(info.key, "cache_path") == 0 || strcmp(info.key, "log_dir") == 0)
            ck_assert_int_eq(info.is_fixed, 0);
        fixed += info.is_fixed != 0;
        free_options += info.is_fixed == 0;
        info.struct_size = sizeof(info);
    }
    ck_assert_uint_gt(fixed, 20);
    ck_assert_uint_gt(free_options, 20);
}
END_TEST

PRT_TEST_MAIN("api/fixed_options", fixed_options_are_refused_by_name,
    options_of_sessions_may_change, a_file_states_its_options, a_file_cannot_state_other_options,
    training_keeps_its_options, the_table_says_which_are_fixed)
