/* SPDX-License-Identifier: MIT */
/*
 * test_roundtrip.c — ONNX to program to PopEF and back, and the descriptions of each.
 * Covers: base.c, describe.c, describe_model.c, executable.c, model.c, pass.c, dims.c, io_table.c,
 * model_info.c, operators.c, sharding.c, sink.c, steps.c, summary.c.
 */
#include <unistd.h>

#include "api_test.h"
#include "models.h"

START_TEST(digits_survive_popef)
{
    poprt_executable *exec = compile_digits(NULL), *again = NULL;
    buffer one = { 0 }, two = { 0 };
    float expected[10], found[10];
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &one));
    ck_assert_ok(poprt_executable_load_bytes(NULL, one.data, one.size, NULL, &again));
    digit_expect(exec, 1, expected);
    digit_expect(again, 1, found);
    ck_assert_mem_eq(expected, found, sizeof(expected));
    ck_assert_ok(poprt_executable_save(again, buffer_write, &two));
    ck_assert_uint_eq(one.size, two.size);
    ck_assert_mem_eq(one.data, two.data, one.size);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    free(one.data);
    free(two.data);
}
END_TEST

static buffer compiled_bytes(const char *tune, const char *cache)
{
    poprt_config *config = NULL;
    buffer bytes = { 0 };
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "tune", tune));
    ck_assert_ok(poprt_config_set(config, "tune_cache", cache));
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    return bytes;
}

static void check_same(buffer a, buffer b)
{
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
}

/* Rules always give the same bytes. Timing gives the same bytes once its result is in a file. */
START_TEST(compiling_is_repeatable)
{
    char path[] = "/tmp/poprt-api-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    check_same(compiled_bytes("off", ""), compiled_bytes("off", path));
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fgetc(file), EOF); /* no tuning: the file stays empty */
    (void)fclose(file);
    check_same(compiled_bytes("full", path), compiled_bytes("full", path));
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* Returns 0.25 + 2048 - 2048, where the sum is rounded to float16 (11 bits) or not. */
static uint16_t quarter_plus_2048_minus_2048(const char *exact)
{
    const int64_t dims[1] = { 1 };
    uint16_t x = 0x3400, y = 0xffff;
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor tensor = { .data = &x,
        .size = 2,
        .dims = dims,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT16 };
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "exact_half", exact));
    ck_assert_ok(poprt_model_load_bytes(NULL, half_model, sizeof(half_model), NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &tensor));
    tensor.data = &y;
    ck_assert_ok(poprt_stepio_bind(io, "y", &tensor));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_config_release(config);
    return y;
}

START_TEST(float16_intermediates_are_wide_by_default)
{
    ck_assert_uint_eq(quarter_plus_2048_minus_2048("false"), 0x3400);
    ck_assert_uint_eq(quarter_plus_2048_minus_2048("true"), 0);
}
END_TEST

START_TEST(operators_are_described)
{
    buffer text = { 0 };
    for (int32_t format = POPRT_FORMAT_SUMMARY; format <= POPRT_FORMAT_JSON; format++) {
        text.size = 0;
        ck_assert_ok(poprt_operators_describe(NULL, format, buffer_write, &text));
        ck_assert_ok(buffer_write(&text, "", 1));
        ck_assert_ptr_nonnull(strstr((const char *)text.data, "ConvTranspose"));
    }
    ck_assert_int_eq(poprt_operators_describe(NULL, POPRT_FORMAT_DOT, buffer_write, &text),
        POPRT_E_ARG);
    ck_assert_int_eq(poprt_operators_describe(NULL, POPRT_FORMAT_TEXT, NULL, NULL), POPRT_E_ARG);
    free(text.data);
}
END_TEST

/* Writing does not change the model, and a refused opset leaves no file. */
START_TEST(a_model_is_written_for_an_opset)
{
    char dir[] = "/tmp/poprt-api-XXXXXX", onnx[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(onnx, sizeof(onnx), "%s/d.onnx", dir);
    poprt_model *model = NULL, *copy = NULL, *encoder = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    poprt_config *config = NULL;
    float expected[10], found[10];
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_model_load_file(NULL, PRT_TEST_DATA "/encoder/model.onnx", NULL, &encoder));
    ck_assert_ok(poprt_config_set(config, "convert_version", "3"));
    ck_assert_fails(poprt_model_save_file_as(encoder, onnx, config), POPRT_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "cannot go to opset 3"));
    poprt_model_release(encoder);
    ck_assert_int_ne(unlink(onnx), 0);
    ck_assert_fails(poprt_config_set(config, "convert_version", "999"), POPRT_E_ARG);
    ck_assert_ok(poprt_config_set(config, "convert_version", "9"));
    ck_assert_ok(poprt_model_save_file_as(model, onnx, config));
    ck_assert_ok(poprt_model_load_file(NULL, onnx, NULL, &copy));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_compile(copy, NULL, &again));
    digit_expect(exec, 2, expected);
    digit_expect(again, 2, found);
    for (size_t i = 0; i < 10; i++)
        ck_assert_float_eq_tol(found[i], expected[i], 1e-4f);
    poprt_config_release(config);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_model_release(copy);
    poprt_model_release(model);
    ck_assert_int_eq(unlink(onnx), 0);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

static void note_warning(void *user, int32_t level, const char *text)
{
    if (level == POPRT_LOG_WARNING)
        (void)snprintf(user, 256, "%s", text);
}

/* The opset as `inspect` prints it. */
static int opset_of(const char *path)
{
    poprt_model *model = NULL;
    buffer text = { 0 };
    int opset = -1;
    ck_assert_ok(poprt_model_load_file(NULL, path, NULL, &model));
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_SUMMARY, buffer_write, &text));
    const char *line = strstr((const char *)text.data, "ai.onnx ");
    if (line != NULL)
        opset = atoi(line + strlen("ai.onnx "));
    free(text.data);
    poprt_model_release(model);
    return opset;
}

static void convert_and_save(poprt_env *env, const char *from, const char *to)
{
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    ck_assert_ok(poprt_model_load_file(env, from, NULL, &model));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", NULL));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_ok(poprt_model_save_file(model, to));
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
}

/* Fusions do not raise the opset. An operator that only a later opset has raises it, with a
 * warning. */
START_TEST(a_saved_model_keeps_its_opset)
{
    char path[] = "/tmp/poprt-api-XXXXXX", warning[256] = "";
    ck_assert_int_ge(mkstemp(path), 0);
    poprt_env *env = NULL;
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.log = note_warning;
    options.log_user = warning;
    options.log_level = POPRT_LOG_WARNING;
    ck_assert_ok(poprt_env_create(&options, &env));
    convert_and_save(env, PRT_TEST_DATA "/convert0_raises_opset/model.onnx", path);
    ck_assert_int_eq(opset_of(path), 13);
    convert_and_save(env, PRT_TEST_DATA "/convert0_upsample/model.onnx", path);
    ck_assert_int_eq(opset_of(path), 9);
    convert_and_save(env, PRT_TEST_DATA "/convert0_microsoft/model.onnx", path);
    ck_assert_int_eq(opset_of(path), 9);
    ck_assert_str_eq(warning, "");
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    poprt_pass_manager *manager = NULL;
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "precision", "fp8"));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_ok(poprt_model_save_file(model, path));
    poprt_config_release(config);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
    ck_assert_int_eq(opset_of(path), 13);
    poprt_env_release(env);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* The last byte of the model is its imported opset. */
START_TEST(a_newer_opset_gives_a_warning)
{
    unsigned char bytes[sizeof(dense_model)];
    char warning[256] = "";
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.log = note_warning;
    options.log_user = warning;
    memcpy(bytes, dense_model, sizeof(bytes));
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_model_load_bytes(env, bytes, sizeof(bytes), NULL, &model));
    ck_assert_str_eq(warning, "");
    poprt_model_release(model);
    bytes[sizeof(bytes) - 1] = 99;
    ck_assert_ok(poprt_model_load_bytes(env, bytes, sizeof(bytes), NULL, &model));
    ck_assert_msg(strstr(warning, "opset 99 of ai.onnx, but the newest known opset is 28") != NULL,
        "%s", warning);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

static void check_info(const poprt_model_info *info, const char *value)
{
    ck_assert_str_eq(info->producer_name, "pytorch");
    ck_assert_str_eq(info->producer_version, "1.13.0");
    ck_assert_int_eq(info->opset, 13);
    ck_assert_uint_eq(info->property_count, value != NULL);
    if (value != NULL) {
        ck_assert_str_eq(info->properties[0].key, "author");
        ck_assert_str_eq(info->properties[0].value, value);
    }
}

/* Metadata is read, set, written to ONNX and PopEF, and read from both. */
START_TEST(metadata_survives_onnx_and_popef)
{
    char onnx[] = "/tmp/poprt-api-XXXXXX";
    poprt_model *model = NULL, *again = NULL;
    poprt_executable *exec = NULL, *loaded = NULL;
    poprt_model_info info = { .struct_size = sizeof(info) };
    buffer popef = { 0 };
    ck_assert_int_ge(mkstemp(onnx), 0);
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_model_get_info(model, &info));
    check_info(&info, NULL);
    ck_assert_ok(poprt_model_set_property(model, "author", "nobody"));
    ck_assert_ok(poprt_model_set_property(model, "other", "x"));
    ck_assert_ok(poprt_model_set_property(model, "author", "somebody"));
    ck_assert_ok(poprt_model_set_property(model, "other", NULL));
    ck_assert_fails(poprt_model_set_property(model, "", "x"), POPRT_E_ARG);
    ck_assert_fails(poprt_model_set_property(model, NULL, "x"), POPRT_E_ARG);
    ck_assert_fails(poprt_model_get_info(model, NULL), POPRT_E_ARG);
    ck_assert_ok(poprt_model_get_info(model, &info));
    check_info(&info, "somebody");
    ck_assert_ok(poprt_model_save_file(model, onnx));
    ck_assert_ok(poprt_model_load_file(NULL, onnx, NULL, &again));
    ck_assert_ok(poprt_model_get_info(again, &info));
    check_info(&info, "somebody");
    ck_assert_ok(poprt_compile(again, NULL, &exec));
    poprt_model_release(again);
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &popef));
    ck_assert_ok(poprt_executable_load_bytes(NULL, popef.data, popef.size, NULL, &loaded));
    ck_assert_ok(poprt_executable_get_info(loaded, &info));
    check_info(&info, "somebody");
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    poprt_model_release(model);
    free(popef.data);
    ck_assert_int_eq(unlink(onnx), 0);
}
END_TEST

START_TEST(files_are_written_whole)
{
    char dir[] = "/tmp/poprt-api-XXXXXX", popef[64], onnx[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    (void)snprintf(popef, sizeof(popef), "%s/d.popef", dir);
    (void)snprintf(onnx, sizeof(onnx), "%s/d.onnx", dir);
    poprt_model *model = NULL, *copy = NULL;
    poprt_executable *exec = NULL, *again = NULL;
    poprt_config *config = NULL;
    float expected[10], found[10];
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_model_save_file(model, onnx));
    ck_assert_ok(poprt_model_load_file(NULL, onnx, NULL, &copy));
    ck_assert_ok(poprt_compile(copy, NULL, &exec));
    ck_assert_ok(poprt_executable_save_file(exec, popef));
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "verify", "full"));
    ck_assert_ok(poprt_executable_load_file(NULL, popef, config, &again));
    digit_expect(exec, 2, expected);
    digit_expect(again, 2, found);
    ck_assert_mem_eq(expected, found, sizeof(expected));
    poprt_config_release(config);
    poprt_executable_release(again);
    poprt_executable_release(exec);
    poprt_model_release(copy);
    poprt_model_release(model);
    ck_assert_int_eq(unlink(popef), 0);
    ck_assert_int_eq(unlink(onnx), 0);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(passes_do_not_change_results)
{
    poprt_model *model = NULL, *copy = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_executable *plain = NULL, *better = NULL;
    float expected[10], found[10];
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_model_clone(model, &copy));
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", NULL));
    ck_assert_ok(poprt_pass_manager_run(manager, copy));
    ck_assert_ok(poprt_compile(model, NULL, &plain));
    ck_assert_ok(poprt_compile(copy, NULL, &better));
    poprt_model_release(model);
    poprt_model_release(copy);
    poprt_pass_manager_release(manager);
    digit_expect(plain, 3, expected);
    digit_expect(better, 3, found);
    for (int i = 0; i < 10; i++)
        ck_assert_float_eq_tol(expected[i], found[i], 1e-4f);
    poprt_executable_release(plain);
    poprt_executable_release(better);
}
END_TEST

START_TEST(passes_accept_arguments)
{
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_pass_option_info option = { .struct_size = sizeof(option) };
    const poprt_pass_arg good = { "const_batch_size", "5" }, bad = { "const_batch_size", "x" };
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_pass_option_at("const_batch_size", 0, &option));
    ck_assert_str_eq(option.name, "const_batch_size");
    ck_assert_str_eq(option.kind, "i64");
    ck_assert_str_eq(option.default_value, "1");
    ck_assert_int_eq(poprt_pass_option_at("const_batch_size", 1, &option), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(poprt_pass_option_at("const_batch", 0, &option), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_int_eq(poprt_pass_manager_add_args(manager, "const_batch_size", &bad, 1),
        POPRT_E_ARG);
    ck_assert_int_eq(poprt_pass_manager_add_args(manager, "eliminate_identity", &good, 1),
        POPRT_E_ARG);
    ck_assert_ok(poprt_pass_manager_add_args(manager, "const_batch_size", &good, 1));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_ok(poprt_model_io_at(model, POPRT_INPUT, 0, &info));
    ck_assert_int_eq(info.dims[0], 5);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
}
END_TEST

START_TEST(a_conversion_follows_its_options)
{
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_config *config = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "precision", "fp16"));
    ck_assert_ok(poprt_config_set(config, "input_shape", "{\"image\": [2, 1, 8, 8]}"));
    ck_assert_ok(poprt_config_set(config, "checkpoints", "/5/Relu_output_0"));
    ck_assert_int_eq(poprt_config_set(config, "precision", "fp17"), POPRT_E_ARG);
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_uint_eq(poprt_model_io_count(model, POPRT_OUTPUT), 2);
    ck_assert_ok(poprt_model_io_at(model, POPRT_INPUT, 0, &info));
    ck_assert_int_eq(info.dtype, POPRT_DTYPE_FLOAT16);
    ck_assert_int_eq(info.dims[0], 2);
    ck_assert_ok(poprt_config_set(config, "skip_passes", "no_such_pass"));
    ck_assert_int_eq(poprt_pass_manager_add_pipeline(manager, "convert", config),
        POPRT_E_NOT_FOUND);
    poprt_pass_manager_release(manager);
    poprt_config_release(config);
    poprt_model_release(model);
}
END_TEST

static void count_pass(void *user, const poprt_pass_event *event)
{
    ck_assert_str_ne(event->pass, "");
    ck_assert((event->before != NULL) == (strcmp(event->pass, "fuse_bn_into_conv") == 0));
    ++*(int *)user;
}

START_TEST(passes_are_listed_and_observed)
{
    poprt_pass_info info = { .struct_size = sizeof(info) };
    poprt_pass_manager *manager = NULL;
    poprt_model *model = NULL;
    int seen = 0;
    size_t count = 0;
    char before[64] = "";
    while (poprt_pass_at(count, &info) == POPRT_OK) {
        ck_assert_int_lt(strcmp(before, info.name), 0);
        (void)snprintf(before, sizeof(before), "%s", info.name);
        count++;
        /* bounds of lossy passes are measured, all others are guaranteed */
        ck_assert(info.typical == 0 || info.typical < info.bound);
        if (strncmp(info.name, "float_to_", 9) == 0)
            ck_assert_double_gt(info.typical, 0);
        if (strncmp(info.name, "fuse_", 5) == 0)
            ck_assert(info.typical == 0 && info.bound <= 1e-5);
    }
    ck_assert_uint_ge(count, 4);
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_fails(poprt_pass_manager_add(manager, "eliminate_identitty", NULL),
        POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "eliminate_identity"));
    ck_assert_ok(poprt_pass_manager_add(manager, "eliminate_identity", NULL));
    ck_assert_ok(poprt_pass_manager_sort(manager));
    ck_assert_ok(poprt_pass_manager_at(manager, 0, &info));
    ck_assert_str_eq(info.name, "eliminate_identity");
    ck_assert_fails(poprt_pass_manager_at(manager, 1, &info), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_pass_manager_gather_ir_passes(manager, 1));
    ck_assert_ok(poprt_pass_manager_show(manager, "fuse_bn_into_conv"));
    poprt_pass_manager_observe(manager, count_pass, &seen);
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_int_eq(seen, 1);
    poprt_model_release(model);
    poprt_pass_manager_release(manager);
}
END_TEST

START_TEST(input_shapes_can_be_fixed)
{
    poprt_model *model = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    const int64_t four[] = { 4, -1, 8, 8 }, five[] = { 5, 1, 8, 8 }, flat[] = { 4 };
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_uint_eq(poprt_model_io_count(model, POPRT_INPUT), 1);
    ck_assert_ok(poprt_model_io_at(model, POPRT_INPUT, 0, &info));
    ck_assert_str_eq(info.name, "image");
    ck_assert_int_eq(info.dims[0], -1);
    ck_assert_str_eq(info.dim_names[0], "batch");
    ck_assert_fails(poprt_model_set_input_shape(model, "image", flat, 1), POPRT_E_SHAPE);
    ck_assert_fails(poprt_model_set_input_shape(model, "imag", four, 4), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_model_set_input_shape(model, "image", four, 4));
    ck_assert_fails(poprt_model_set_input_shape(model, "image", five, 4), POPRT_E_SHAPE);
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.dims[0], 4);
    ck_assert_int_eq(info.dims[1], 10);
    poprt_model_release(model);
}
END_TEST

START_TEST(models_and_executables_are_described)
{
    static const char *const of_model[] = { "operators", "image = input f32[batch,1,8,8]",
        "\"operators\"", "digraph" };
    static const char *const of_program[] = { "plan bytes", "steps", "\"plan_bytes\"", "digraph" };
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    for (int32_t f = POPRT_FORMAT_SUMMARY; f <= POPRT_FORMAT_DOT; f++) {
        buffer one = { 0 }, two = { 0 };
        ck_assert_ok(poprt_model_describe(model, f, buffer_write, &one));
        ck_assert_ptr_nonnull(strstr((char *)one.data, of_model[f]));
        ck_assert_ok(poprt_executable_describe(exec, f, buffer_write, &two));
        ck_assert_ptr_nonnull(strstr((char *)two.data, of_program[f]));
        free(one.data);
        free(two.data);
    }
    poprt_executable_release(exec);
    poprt_model_release(model);
}
END_TEST

/* Texts of a file cannot start a new line of the summary, and long texts are cut between
 * characters. */
START_TEST(the_summary_keeps_texts_on_one_line)
{
    char value[400] = "one\ntwo\r\t";
    poprt_model *model = NULL;
    buffer text = { 0 };
    for (size_t i = strlen(value); i + 3 < sizeof(value); i += 2)
        memcpy(value + i, "\xC3\xA4", 3);
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_model_set_property(model, "a\nb", value));
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_SUMMARY, buffer_write, &text));
    ck_assert_ok(buffer_write(&text, "", 1));
    const char *line = strstr((char *)text.data, "\n  a b ");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(strstr(line, " one two  \xC3\xA4"));
    ck_assert_ptr_nonnull(strstr(line, "\xC3\xA4...\n"));
    ck_assert_uint_lt((size_t)(strchr(line + 1, '\n') - line), 170);
    free(text.data);
    poprt_model_release(model);
}
END_TEST

START_TEST(a_model_is_sharded)
{
    const int64_t four[] = { 4, 1, 8, 8 };
    const poprt_pass_arg args[] = { { "num_ipus", "3" }, { "optimal_perf", "true" } };
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    buffer text = { 0 };
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_args(manager, "auto_sharding", args, 2));
    ck_assert_fails(poprt_pass_manager_run(manager, model), POPRT_E_ARG);
    ck_assert_ok(poprt_model_set_input_shape(model, "image", four, 4));
    ck_assert_fails(poprt_model_describe(model, POPRT_FORMAT_SHARDING, buffer_write, &text),
        POPRT_E_STATE);
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_SHARDING, buffer_write, &text));
    ck_assert_ptr_nonnull(strstr((char *)text.data, "# device 2: "));
    ck_assert_ptr_nonnull(strstr((char *)text.data, "\n- node: \"/"));
    ck_assert_ptr_nonnull(strstr((char *)text.data, "\n  device: 1\n  stage: 1\n"));
    free(text.data);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
}
END_TEST

START_TEST(names_and_versions_are_known)
{
    ck_assert_uint_eq(poprt_abi_version(), POPRT_ABI_VERSION);
    ck_assert_str_eq(poprt_version(), POPRT_VERSION_STRING);
    ck_assert_str_eq(poprt_status_name(POPRT_E_SHAPE), "POPRT_E_SHAPE");
    ck_assert_str_eq(poprt_status_name(99), "POPRT_E_?");
    ck_assert_str_eq(poprt_dtype_name(POPRT_DTYPE_BFLOAT16), "bfloat16");
    ck_assert_str_eq(poprt_dtype_name(-1), "?");
    ck_assert_uint_eq(poprt_dtype_bits(POPRT_DTYPE_INT4), 4);
    ck_assert_uint_eq(poprt_dtype_bits(POPRT_DTYPE_STRING), 128);
    ck_assert_uint_eq(poprt_dtype_bits(1000), 0);
}
END_TEST

PRT_TEST_MAIN("api/roundtrip", digits_survive_popef, compiling_is_repeatable,
    float16_intermediates_are_wide_by_default, a_model_is_written_for_an_opset,
    a_saved_model_keeps_its_opset, metadata_survives_onnx_and_popef, a_newer_opset_gives_a_warning,
    files_are_written_whole, passes_accept_arguments, a_conversion_follows_its_options,
    passes_do_not_change_results, passes_are_listed_and_observed, input_shapes_can_be_fixed,
    models_and_executables_are_described, the_summary_keeps_texts_on_one_line, a_model_is_sharded,
    operators_are_described, names_and_versions_are_known)
