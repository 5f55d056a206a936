/* SPDX-License-Identifier: MIT */
/*
 * test_config.c — options by name, as text and as JSON; structs of other versions.
 * Covers: record.c.
 */
#include "api_test.h"
#include "models.h"

START_TEST(options_have_defaults_and_bounds)
{
    poprt_config *config = NULL;
    poprt_option_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_config_create(NULL, &config));
    for (size_t i = 0; poprt_config_option_at(i, &info) == POPRT_OK; i++) {
        const char *value = NULL;
        ck_assert_ok(poprt_config_get(config, info.key, &value));
        ck_assert_str_eq(value, info.default_value);
        ck_assert_ok(poprt_config_set(config, info.key, info.default_value));
        ck_assert_str_ne(info.help, "");
    }
    ck_assert_fails(poprt_config_set(config, "memory_limit", "-1"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "memory_limit", "12x"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "memory_limit", "99999999999999999999"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "external_data", "maybe"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "verify", "half"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "cpu", "fastest"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "tune", "best"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "weights", "f1"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "compute", "f16"), POPRT_E_ARG);
    ck_assert_ok(poprt_config_set(config, "weights", "i8"));
    ck_assert_ok(poprt_config_set(config, "tune", "full"));
    ck_assert_ok(poprt_config_set(config, "cpu", "portable"));
    ck_assert_fails(poprt_config_set(config, "memory_limits", "1"), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "memory_limit"));
    poprt_config_release(config);
}
END_TEST

/* The tool prints the help of an option without the call, and names in backticks as --NAME. */
START_TEST(help_begins_with_the_call_and_names_options_in_backticks)
{
    static const char *const calls[] = { "Compiling", "Compiling and converting",
        "Compiling and sessions", "Compiling for training", "Compiling with data flow",
        "Converting", "Loading a TensorFlow model", "Loading a model file",
        "Loading, compiling, sessions", "Opening PopEF", "Runners", "Runners of type host_concat",
        "Runners of type light", "Opening PopEF, or a checkpoint of TensorFlow",
        "Runners that pack", "Saving a model", "Sessions", "Sessions with data flow" };
    poprt_config *config = NULL;
    poprt_option_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_config_create(NULL, &config));
    for (size_t i = 0; poprt_config_option_at(i, &info) == POPRT_OK; i++) {
        const size_t size = strcspn(info.help, ":");
        bool known = false;
        ck_assert_msg(strncmp(info.help + size, ": ", 2) == 0, "%s: %s", info.key, info.help);
        for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
            known = known || (strlen(calls[k]) == size && memcmp(info.help, calls[k], size) == 0);
        ck_assert_msg(known, "%s: %s", info.key, info.help);
        for (const char *p = info.help; (p = strchr(p, '`')) != NULL;) {
            char key[64];
            const char *value = NULL;
            const size_t n = strcspn(p + 1, "`");
            ck_assert_uint_lt(n, sizeof(key));
            memcpy(key, p + 1, n);
            key[n] = '\0';
            ck_assert_ok(poprt_config_get(config, key, &value));
            p += n + 2;
        }
    }
    poprt_config_release(config);
}
END_TEST

START_TEST(dimensions_are_options)
{
    poprt_config *config = NULL;
    const char *value = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_fails(poprt_config_get(config, "dim.batch", &value), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_config_set(config, "dim.batch", "3"));
    ck_assert_ok(poprt_config_set(config, "dim.batch", "4"));
    ck_assert_ok(poprt_config_get(config, "dim.batch", &value));
    ck_assert_str_eq(value, "4");
    ck_assert_fails(poprt_config_set(config, "dim.batch", "-4"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "dim.", "4"), POPRT_E_ARG);
    poprt_config_release(config);
}
END_TEST

static int64_t first_dim(const poprt_executable *exec)
{
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_INPUT, 0, &info));
    return info.dims[0];
}

/* A dimension is compiled in also without optimization; a session may repeat the same number. */
START_TEST(dimensions_are_compiled_in)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_config *config = NULL, *other = NULL;
    ck_assert_ok(poprt_model_load_bytes(NULL, dense_model, sizeof(dense_model), NULL, &model));
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_create(NULL, &other));
    ck_assert_ok(poprt_config_set(config, "dim.batch", "4"));
    ck_assert_ok(poprt_config_set(other, "dim.other", "4"));
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_config_set(config, "optimize", i == 0 ? "true" : "false"));
        ck_assert_ok(poprt_compile(model, config, &exec));
        ck_assert_int_eq(first_dim(exec), 4);
        ck_assert_ok(poprt_session_create(exec, config, &session));
        poprt_session_release(session);
        ck_assert_fails(poprt_session_create(exec, other, &session), POPRT_E_NOT_FOUND);
        poprt_executable_release(exec);
    }
    ck_assert_fails(poprt_compile(model, other, &exec), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_int_lt(first_dim(exec), 0);
    poprt_executable_release(exec);
    poprt_config_release(other);
    poprt_config_release(config);
    poprt_model_release(model);
}
END_TEST

START_TEST(json_is_all_or_nothing)
{
    static const char good[] = "{\"seed\": 7, \"verify\": \"full\", \"external_data\": false}";
    static const char bad[] = "{\"seed\": 9, \"verify\": \"half\"}";
    static const char torn[] = "{\"seed\": 9";
    poprt_config *config = NULL;
    const char *value = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_merge_json(config, good, sizeof(good) - 1));
    ck_assert_int_ne(poprt_config_merge_json(config, bad, sizeof(bad) - 1), POPRT_OK);
    ck_assert_int_ne(poprt_config_merge_json(config, torn, sizeof(torn) - 1), POPRT_OK);
    ck_assert_ok(poprt_config_get(config, "seed", &value));
    ck_assert_str_eq(value, "7");
    ck_assert_ok(poprt_config_get(config, "external_data", &value));
    ck_assert_str_eq(value, "false");
    poprt_config_release(config);
}
END_TEST

START_TEST(structs_of_other_versions_are_converted)
{
    struct {
        poprt_env_options known;
        uint64_t added;
    } newer = { .known = POPRT_ENV_OPTIONS_INIT };
    poprt_env_options older = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    newer.known.struct_size = sizeof(newer);
    ck_assert_ok(poprt_env_create(&newer.known, &env));
    poprt_env_release(env);
    newer.added = 1;
    ck_assert_fails(poprt_env_create(&newer.known, &env), POPRT_E_VERSION);
    older.struct_size = offsetof(poprt_env_options, log);
    older.log_level = 1000; /* beyond the caller's struct: not read */
    ck_assert_ok(poprt_env_create(&older, &env));
    poprt_env_release(env);
    older.struct_size = 0;
    ck_assert_fails(poprt_env_create(&older, &env), POPRT_E_ARG);
}
END_TEST

PRT_TEST_MAIN("api/config", options_have_defaults_and_bounds,
    help_begins_with_the_call_and_names_options_in_backticks, dimensions_are_options,
    dimensions_are_compiled_in, json_is_all_or_nothing, structs_of_other_versions_are_converted)
