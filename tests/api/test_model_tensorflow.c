/* SPDX-License-Identifier: MIT */
/* test_model_tensorflow.c — TensorFlow models are loaded as ONNX models are, by their contents. */
#include "api_test.h"

#define NET PRT_TEST_DATA "/tensorflow/net.pb"

static poprt_model *load(poprt_env *env, const char *key, const char *value)
{
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    if (key != NULL)
        ck_assert_ok(poprt_config_set(config, key, value));
    ck_assert_ok(poprt_model_load_file(env, NET, config, &model));
    poprt_config_release(config);
    return model;
}

static poprt_io_info io(const poprt_model *model, int32_t direction)
{
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_uint_eq(poprt_model_io_count(model, direction), 1);
    ck_assert_ok(poprt_model_io_at(model, direction, 0, &info));
    return info;
}

static void refused(poprt_env *env, const char *key, const char *value, const char *part)
{
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, key, value));
    ck_assert_int_ne(poprt_model_load_file(env, NET, config, &model), POPRT_OK);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, part));
    poprt_config_release(config);
}

START_TEST(a_frozen_graph_is_loaded_and_compiled)
{
    poprt_env *env = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model *model = load(env, NULL, NULL);
    ck_assert_str_eq(io(model, POPRT_INPUT).name, "x:0");
    ck_assert_str_eq(io(model, POPRT_INPUT).dim_names[0], "x_0");
    ck_assert_str_eq(io(model, POPRT_OUTPUT).name, "b:0");
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

START_TEST(inputs_and_outputs_are_chosen_by_graph_inputs_and_graph_outputs)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model *model = load(env, "graph_outputs", "a");
    ck_assert_str_eq(io(model, POPRT_OUTPUT).name, "a:0");
    poprt_model_release(model);
    model = load(env, "graph_inputs", "a:0[2,3]");
    ck_assert_str_eq(io(model, POPRT_INPUT).name, "a:0");
    ck_assert_int_eq(io(model, POPRT_INPUT).dims[1], 3);
    poprt_model_release(model);
    refused(env, "graph_outputs", "bb", "no tensor of this name");
    refused(env, "graph_inputs", "x:0[2,z]", "is not a shape");
    poprt_env_release(env);
}
END_TEST

START_TEST(the_saved_model_imports_graph_opset)
{
    poprt_env *env = NULL;
    poprt_model_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model *model = load(env, "graph_opset", "11");
    ck_assert_ok(poprt_model_get_info(model, &info));
    ck_assert_int_eq(info.opset, 11);
    ck_assert_str_eq(info.producer_name, "poprt");
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

START_TEST(model_format_says_what_is_accepted)
{
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model_release(load(env, "model_format", "tensorflow"));
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "model_format", "onnx"));
    ck_assert_fails(poprt_model_load_file(env, NET, config, &model), POPRT_E_PARSE);
    ck_assert_ok(poprt_model_load_file(env, DIGITS, config, &model));
    poprt_model_release(model);
    ck_assert_ok(poprt_config_set(config, "model_format", "tensorflow"));
    ck_assert_fails(poprt_model_load_file(env, DIGITS, config, &model), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "is not a TensorFlow model"));
    poprt_config_release(config);
    poprt_env_release(env);
}
END_TEST

START_TEST(a_tflite_file_is_loaded_and_compiled)
{
    static const char path[] = PRT_TEST_DATA "/tflite/int8.tflite";
    poprt_env *env = NULL;
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_model_load_file(env, path, NULL, &model));
    ck_assert_uint_eq(poprt_model_io_count(model, POPRT_OUTPUT), 3);
    ck_assert_ok(poprt_model_io_at(model, POPRT_INPUT, 0, &info));
    ck_assert_str_eq(info.name, "serving_default_x:0");
    ck_assert_int_eq(info.dtype, POPRT_DTYPE_INT8);
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_executable_release(exec);
    poprt_model_release(model);
    model = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "model_format", "saved_model"));
    ck_assert_int_eq(poprt_model_load_file(env, path, config, &model), POPRT_E_ARG);
    ck_assert_ok(poprt_config_set(config, "model_format", "onnx"));
    ck_assert_int_ne(poprt_model_load_file(env, path, config, &model), POPRT_OK);
    poprt_config_release(config);
    poprt_env_release(env);
}
END_TEST

START_TEST(images_are_nchw_where_inputs_as_nchw_and_outputs_as_nchw_say_so)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model *model = load(env, "inputs_as_nchw", "x:0");
    ck_assert_int_eq(io(model, POPRT_INPUT).dims[1], 3);
    ck_assert_int_eq(io(model, POPRT_OUTPUT).dims[3], 3);
    poprt_model_release(model);
    model = load(env, "outputs_as_nchw", "b");
    ck_assert_int_eq(io(model, POPRT_INPUT).dims[3], 3);
    ck_assert_int_eq(io(model, POPRT_OUTPUT).dims[1], 3);
    poprt_model_release(model);
    refused(env, "inputs_as_nchw", "q", "no input 'q'");
    refused(env, "outputs_as_nchw", "q", "no output 'q'");
    refused(env, "signature_def", "serving_default", "the model is a GraphDef");
    refused(env, "tag", "serve", "the model is a GraphDef");
    refused(env, "model_format", "saved_model", "the model is a GraphDef");
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/model_tensorflow", a_frozen_graph_is_loaded_and_compiled,
    inputs_and_outputs_are_chosen_by_graph_inputs_and_graph_outputs,
    the_saved_model_imports_graph_opset, model_format_says_what_is_accepted,
    a_tflite_file_is_loaded_and_compiled,
    images_are_nchw_where_inputs_as_nchw_and_outputs_as_nchw_say_so)
