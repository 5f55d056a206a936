/* SPDX-License-Identifier: MIT */
/*
 * test_custom.c — shape functions and passes of the calling program.
 * Covers: custom.c, model_pass.c.
 */
#include "poprt/builder_ops.h"
#include "poprt/custom.h"
#include "typed.h"

/* The bytes of a model with one operator of `word`, which has as many letters as Relu. */
static buffer bytes_of(const char *word)
{
    buffer bytes = { NULL, 0 };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id x = add_floats_input(b, "x", 2, 3);
    const poprt_id y = poprt_op_relu(b, x, NULL);
    (void)poprt_builder_output(b, poprt_op_exp(b, y, NULL));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    ck_assert_ok(poprt_model_save(model, buffer_write, &bytes));
    poprt_model_release(model);
    unsigned char *at = bytes.data;
    size_t replaced = 0;
    for (size_t i = 0; i + 4 <= bytes.size; i++)
        if (memcmp(at + i, "Relu", 4) == 0 && at[i - 1] == 4) {
            memcpy(at + i, word, 4);
            replaced++;
        }
    ck_assert_uint_ge(replaced, 1);
    return bytes;
}

typedef struct shape_calls {
    uint32_t calls;
    poprt_status status;
    poprt_type given; /* of the output */
} shape_calls;

static poprt_status infer(void *user, const poprt_unknown_node *node, poprt_type *outputs)
{
    shape_calls *calls = user;
    ck_assert_str_eq(node->op_type, "Mine");
    ck_assert_uint_eq(node->n_inputs, 1);
    ck_assert_uint_eq(node->n_outputs, 1);
    ck_assert_str_eq(node->input_names[0], "x");
    ck_assert_str_ne(node->output_names[0], "");
    ck_assert_ptr_null(node->constants[0].data);
    ck_assert_int_eq(node->inputs[0].dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(node->inputs[0].rank, 2);
    ck_assert_int_eq(node->inputs[0].dims[1], 3);
    calls->calls++;
    outputs[0] = calls->given;
    return calls->status;
}

static poprt_env *env_of(shape_calls *calls)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_set_infer(env, infer, calls));
    return env;
}

static poprt_type type_of(int32_t dtype, int32_t rank, int64_t first, int64_t second)
{
    poprt_type type = { .dtype = dtype, .rank = rank };
    type.dims[0] = first;
    type.dims[1] = second;
    return type;
}

START_TEST(shape_functions_set_the_types_of_unknown_operators)
{
    shape_calls calls = { .given = type_of(POPRT_DTYPE_FLOAT32, 2, 5, -1) };
    poprt_env *env = env_of(&calls);
    buffer bytes = bytes_of("Mine");
    poprt_model *model = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    ck_assert_ok(poprt_model_load_bytes(env, bytes.data, bytes.size, NULL, &model));
    ck_assert_uint_ge(calls.calls, 1);
    ck_assert_ok(poprt_model_io_at(model, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.rank, 2);
    ck_assert_int_eq(info.dims[0], 5);
    ck_assert_int_lt(info.dims[1], 0);
    poprt_model_release(model);
    poprt_env_release(env);
    free(bytes.data);
}
END_TEST

START_TEST(failures_of_shape_functions_are_reported)
{
    const struct {
        poprt_status status, want;
        poprt_type given;
    } cases[] = { { POPRT_E_PLUGIN, POPRT_E_PLUGIN, { .dtype = POPRT_DTYPE_FLOAT32, .rank = 0 } },
        { POPRT_OK, POPRT_E_TYPE, { .dtype = 1000, .rank = 0 } },
        { POPRT_OK, POPRT_E_LIMIT, { .dtype = POPRT_DTYPE_FLOAT32, .rank = 1000 } } };
    buffer bytes = bytes_of("Mine");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        shape_calls calls = { .status = cases[i].status, .given = cases[i].given };
        poprt_env *env = env_of(&calls);
        poprt_model *model = NULL;
        ck_assert_fails(poprt_model_load_bytes(env, bytes.data, bytes.size, NULL, &model),
            cases[i].want);
        ck_assert_fails(poprt_env_set_infer(env, infer, &calls), POPRT_E_STATE);
        poprt_env_release(env);
    }
    shape_calls calls = { .calls = 0 };
    poprt_env *env = env_of(&calls);
    ck_assert_fails(poprt_env_set_infer(env, infer, &calls), POPRT_E_STATE);
    ck_assert_fails(poprt_env_set_infer(NULL, infer, &calls), POPRT_E_ARG);
    ck_assert_fails(poprt_env_set_infer(env, NULL, &calls), POPRT_E_ARG);
    poprt_env_release(env);
    free(bytes.data);
}
END_TEST

/* A pass that replaces the model by one of another operator. */
typedef struct replacement {
    buffer bytes;
    poprt_status status;
    uint32_t calls;
} replacement;

static poprt_status replace(void *user, poprt_model *model, int32_t *changed)
{
    replacement *r = user;
    r->calls++;
    if (r->status == POPRT_OK && r->bytes.data != NULL) {
        ck_assert_fails(poprt_model_replace(model, "nonsense", 8), POPRT_E_PARSE);
        ck_assert_ok(poprt_model_replace(model, r->bytes.data, r->bytes.size));
        *changed = 1;
    }
    return r->status;
}

static char *text_of(const poprt_model *model)
{
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_TEXT, buffer_write, &text));
    return (char *)text.data;
}

START_TEST(passes_of_the_program_run_between_others)
{
    replacement r = { .bytes = bytes_of("Tanh") };
    const poprt_model_pass pass = { .struct_size = sizeof(pass),
        .name = "use_tanh",
        .run = replace,
        .user = &r };
    poprt_env *env = NULL;
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_pass_manager *manager = NULL;
    poprt_pass_info info = { .struct_size = sizeof(info) };
    buffer bytes = bytes_of("Relu");
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_ok(poprt_env_add_model_pass(env, &pass));
    ck_assert_fails(poprt_env_add_model_pass(env, &pass), POPRT_E_PLUGIN);
    ck_assert_ok(poprt_env_pass_at(env, 0, &info));
    ck_assert_str_eq(info.name, "use_tanh");
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "passes", "use_tanh"));
    ck_assert_ok(poprt_model_load_bytes(env, bytes.data, bytes.size, NULL, &model));
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, "convert", config));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_uint_eq(r.calls, 1);
    char *text = text_of(model);
    ck_assert_msg(strstr(text, "Tanh") != NULL || strstr(text, "tanh") != NULL, "%s", text);
    free(text);
    r.status = POPRT_E_PLUGIN;
    ck_assert_fails(poprt_pass_manager_run(manager, model), POPRT_E_PLUGIN);
    ck_assert_fails(poprt_env_add_model_pass(env, &pass), POPRT_E_STATE);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
    poprt_config_release(config);
    poprt_env_release(env);
    free(bytes.data);
    free(r.bytes.data);
}
END_TEST

START_TEST(wrong_records_of_passes_are_refused)
{
    replacement r = { .calls = 0 };
    const poprt_model_pass no_run = { .struct_size = sizeof(no_run), .name = "a" },
                           short_record = { .struct_size = 8, .name = "a", .run = replace },
                           taken = { .struct_size = sizeof(taken),
                               .name = "constant_folding",
                               .run = replace,
                               .user = &r },
                           bad_name = { .struct_size = sizeof(bad_name),
                               .name = "a b",
                               .run = replace,
                               .user = &r };
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    ck_assert_fails(poprt_env_add_model_pass(env, &no_run), POPRT_E_ARG);
    ck_assert_fails(poprt_env_add_model_pass(env, &short_record), POPRT_E_ARG);
    ck_assert_fails(poprt_env_add_model_pass(env, &taken), POPRT_E_PLUGIN);
    ck_assert_fails(poprt_env_add_model_pass(env, &bad_name), POPRT_E_PLUGIN);
    ck_assert_fails(poprt_env_add_model_pass(env, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_model_replace(NULL, "", 0), POPRT_E_ARG);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/custom", shape_functions_set_the_types_of_unknown_operators,
    failures_of_shape_functions_are_reported, passes_of_the_program_run_between_others,
    wrong_records_of_passes_are_refused)
