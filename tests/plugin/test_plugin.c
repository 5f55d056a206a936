/* SPDX-License-Identifier: MIT */
/*
 * test_plugin.c — shared objects: loaded, used from model to result, and refused.
 * Covers: load.c, plugins.c.
 */
#include <unistd.h>

#include "plugin/plugin_test.h"

#define PLUGIN(name) PRT_TEST_PLUGINS "/" name ".so"

static const float x[] = { -4, -1, 0, 1, 2, -0.5f };

/* LeakyRelu of 0.25, and 1. */
static const float leaky[] = { 0, 0.75f, 1, 2, 3, 0.875f };

static poprt_env *env_with(const char *plugin)
{
    poprt_env *env = make_env();
    ck_assert_ok(poprt_env_load_plugin(env, plugin));
    return env;
}

START_TEST(an_operator_is_typed_and_run)
{
    poprt_env *env = env_with(PLUGIN("leaky_relu"));
    poprt_model *model = load_model(env, MODEL("leaky"));
    poprt_env_release(env); /* the model keeps the environment and its plug-ins */
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.rank, 2);
    ck_assert_int_eq(info.dtype, POPRT_DTYPE_FLOAT32);
    char *text = text_of(model);
    ck_assert_ptr_nonnull(strstr(text, "\"custom.ops.LeakyRelu\" x {alpha=0.25}"));
    free(text);
    expect_result(model, x, leaky);
    poprt_model_release(model);
}
END_TEST

START_TEST(an_operator_survives_popef)
{
    poprt_env *env = env_with(PLUGIN("leaky_relu"));
    poprt_model *model = load_model(env, MODEL("leaky"));
    poprt_executable *exec = NULL;
    buffer file = { NULL, 0 };
    float y[6];
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &file));
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);

    ck_assert_says(poprt_executable_load_bytes(NULL, file.data, file.size, NULL, &exec),
        POPRT_E_PLUGIN, "operator custom.ops.LeakyRelu of plug-in leaky_relu");
    ck_assert_str_eq(poprt_last_error()->subject, "leak");

    env = env_with(PLUGIN("leaky_relu"));
    ck_assert_ok(poprt_executable_load_bytes(env, file.data, file.size, NULL, &exec));
    poprt_env_release(env);
    ck_assert_ok(run_exec(exec, x, y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], leaky[i]);
    poprt_executable_release(exec);
    free(file.data);
}
END_TEST

/* The operator is unchanged after it is written as ONNX and read again. */
START_TEST(an_operator_survives_onnx)
{
    char path[] = "/tmp/poprt-plugin-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    poprt_env *env = env_with(PLUGIN("leaky_relu"));
    poprt_model *model = load_model(env, MODEL("leaky"));
    ck_assert_ok(poprt_model_save_file(model, path));
    poprt_model_release(model);
    model = load_model(env, path);
    expect_result(model, x, leaky);
    poprt_model_release(model);
    poprt_env_release(env);
    (void)close(fd);
    (void)unlink(path);
}
END_TEST

START_TEST(without_the_plugin_the_model_does_not_compile)
{
    poprt_model *model = load_model(NULL, MODEL("leaky"));
    poprt_executable *exec = NULL;
    ck_assert_says(poprt_compile(model, NULL, &exec), POPRT_E_UNSUPPORTED, "LeakyRelu");
    poprt_model_release(model);
}
END_TEST

START_TEST(a_shape_function_gives_types)
{
    poprt_env *env = env_with(PLUGIN("twice_shape"));
    poprt_model *model = load_model(env, MODEL("twice"));
    poprt_executable *exec = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.rank, 2);
    ck_assert_int_eq(info.dims[0], 4);
    ck_assert_int_eq(info.dims[1], 3);
    ck_assert_says(poprt_compile(model, NULL, &exec), POPRT_E_UNSUPPORTED, "Twice");
    poprt_model_release(model);
    poprt_env_release(env);
    model = load_model(NULL, MODEL("twice"));
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.rank, -1);
    poprt_model_release(model);
}
END_TEST

START_TEST(a_pass_is_found_by_name)
{
    static const float expected[] = { -2, -1.25f, -1, 0, 1, -1.125f };
    poprt_env *env = env_with(PLUGIN("replace_add"));
    ck_assert_ok(poprt_env_load_plugin(env, PLUGIN("leaky_relu")));
    poprt_pass_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_env_pass_at(env, 0, &info));
    ck_assert_str_eq(info.name, "replace_add_with_sub");
    ck_assert_str_eq(info.since, "");
    ck_assert_fails(poprt_env_pass_at(env, 1, &info), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_env_pass_at(NULL, 0, &info), POPRT_E_NOT_FOUND);

    poprt_model *model = load_model(env, MODEL("leaky"));
    ck_assert_ok(run_pass(env, model, "replace_add_with_sub"));
    char *text = text_of(model);
    ck_assert_ptr_nonnull(strstr(text, "y = sub"));
    ck_assert_ptr_null(strstr(text, "add"));
    free(text);
    expect_result(model, x, expected);
    poprt_model_release(model);
    poprt_env_release(env);

    model = load_model(NULL, MODEL("negs"));
    ck_assert_fails(run_pass(NULL, model, "replace_add_with_sub"), POPRT_E_NOT_FOUND);
    poprt_model_release(model);
}
END_TEST

START_TEST(a_pass_runs_in_the_pipeline)
{
    poprt_env *env = env_with(PLUGIN("double_neg"));
    poprt_model *model = load_model(env, MODEL("negs"));
    poprt_pass_manager *manager = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "passes", "remove_double_neg"));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    poprt_pass_manager_release(manager);
    poprt_config_release(config);
    char *text = text_of(model);
    ck_assert_ptr_null(strstr(text, "neg"));
    free(text);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

START_TEST(a_pattern_is_rewritten_until_none_is_left)
{
    static const float expected[] = { -3, 0, 1, 2, 3, 0.5f };
    poprt_env *env = env_with(PLUGIN("double_neg"));
    poprt_model *model = load_model(env, MODEL("negs"));
    ck_assert_ok(run_pass(env, model, "remove_double_neg"));
    char *text = text_of(model);
    ck_assert_ptr_null(strstr(text, "neg"));
    free(text);
    expect_result(model, x, expected);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

/* ---- refused plug-ins */

static void expect_refusal(const char *path, poprt_status status, const char *words)
{
    poprt_env *env = make_env();
    ck_assert_says(poprt_env_load_plugin(env, path), status, words);
    ck_assert_str_eq(poprt_last_error()->file, path);
    ck_assert_str_eq(poprt_last_error()->stage, "plug-in");
    /* Nothing of the plug-in is registered. */
    ck_assert_ok(poprt_env_load_plugin(env, PLUGIN("leaky_relu")));
    poprt_model *model = load_model(env, MODEL("leaky"));
    expect_result(model, x, leaky);
    poprt_model_release(model);
    poprt_env_release(env);
}

START_TEST(invalid_plugins_are_refused)
{
    expect_refusal(PLUGIN("wrong_version"), POPRT_E_VERSION, "interface 2, this library has 1");
    expect_refusal(PLUGIN("no_symbol"), POPRT_E_PLUGIN, "no function poprt_plugin_entry");
    expect_refusal(PLUGIN("null_entry"), POPRT_E_VERSION, "too old for it");
    expect_refusal(PLUGIN("taken"), POPRT_E_PLUGIN,
        "already an operator of this name, the library's");
    expect_refusal(PRT_TEST_DATA "/generate.py", POPRT_E_PLUGIN, "Python files cannot be loaded");
    expect_refusal(MODEL("leaky"), POPRT_E_PLUGIN, "not a shared object that can be opened");
    expect_refusal("nowhere.so", POPRT_E_PLUGIN, "not a shared object that can be opened");
}
END_TEST

START_TEST(duplicate_names_are_refused)
{
    poprt_env *env = env_with(PLUGIN("leaky_relu"));
    ck_assert_says(poprt_env_load_plugin(env, PLUGIN("leaky_relu")), POPRT_E_PLUGIN,
        "a plug-in of this name is already loaded (version 1.0)");
    ck_assert_says(poprt_env_load_plugin(env, PLUGIN("failing_eval")), POPRT_E_PLUGIN,
        "already an operator of this name, of plug-in leaky_relu");
    ck_assert_fails(poprt_env_load_plugin(NULL, PLUGIN("leaky_relu")), POPRT_E_ARG);
    ck_assert_fails(poprt_env_load_plugin(env, NULL), POPRT_E_ARG);
    poprt_env_release(env);
}
END_TEST

START_TEST(plugins_after_models_are_refused)
{
    poprt_env *env = env_with(PLUGIN("leaky_relu"));
    poprt_model_release(load_model(env, MODEL("leaky")));
    ck_assert_fails(poprt_env_load_plugin(env, PLUGIN("double_neg")), POPRT_E_STATE);
    poprt_env_release(env);
    poprt_pass_manager *manager = NULL;
    env = make_env();
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_fails(poprt_env_load_plugin(env, PLUGIN("double_neg")), POPRT_E_STATE);
    poprt_pass_manager_release(manager);
    poprt_env_release(env);
}
END_TEST

START_TEST(failures_name_the_plugin)
{
    poprt_env *env = env_with(PLUGIN("failing_infer"));
    poprt_model *model = NULL;
    ck_assert_says(poprt_model_load_file(env, MODEL("leaky"), NULL, &model), POPRT_E_SHAPE,
        "plug-in broken, custom.ops.LeakyRelu: no shape is good enough");
    poprt_env_release(env);

    env = env_with(PLUGIN("failing_eval"));
    poprt_executable *exec = NULL;
    float y[6];
    model = load_model(env, MODEL("leaky"));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_says(run_exec(exec, x, y), POPRT_E_PLUGIN,
        "plug-in broken, custom.ops.LeakyRelu: the plug-in gave no reason");
    ck_assert_str_eq(poprt_last_error()->subject, "leak");
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("plugin/plugin", an_operator_is_typed_and_run, an_operator_survives_popef,
    an_operator_survives_onnx, without_the_plugin_the_model_does_not_compile,
    a_shape_function_gives_types, a_pass_is_found_by_name, a_pass_runs_in_the_pipeline,
    a_pattern_is_rewritten_until_none_is_left, invalid_plugins_are_refused,
    duplicate_names_are_refused, plugins_after_models_are_refused, failures_name_the_plugin)
