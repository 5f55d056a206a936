/* SPDX-License-Identifier: MIT */
/* test_checks.c — check_floating_point and check_kernels. Covers: runtime/checks.c. */
#include "session_test.h"

#include <math.h>

#include "poprt/plugin.h"

#define ON "enableFloatingPointChecks = True"

static poprt_model *exponential(int64_t opset, int32_t dtype)
{
    poprt_builder *b = new_builder(opset);
    const poprt_id x = INPUT(b, dtype, 4);
    ck_assert_ok(poprt_builder_output(b, poprt_op_exp(b, x, &(poprt_exp_attrs){ .name = "grow" })));
    return finish(b);
}

static void check_exponential(int32_t dtype, const void *fine, const void *large, const void *inf,
    size_t size)
{
    static const int64_t four = 4;
    char out[32];
    poprt_model *model = exponential(13, dtype);
    const poprt_tensor a = tensor_of(dtype, fine, size, &four, 1);
    const poprt_tensor b = tensor_of(dtype, large, size, &four, 1);
    const poprt_tensor c = tensor_of(dtype, inf, size, &four, 1);
    ck_assert_ok(run_once(model, ON, &a, out, size));
    ck_assert_ok(run_once(model, "", &b, out, size));
    ck_assert_fails(run_once(model, ON, &b, out, size), POPRT_E_LIMIT);
    ck_assert_str_eq(poprt_last_error()->subject, "grow");
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "is inf at element 2"));
    ck_assert_ok(run_once(model, ON, &c, out, size)); /* the infinity is the caller's */
    poprt_model_release(model);
}

START_TEST(overflows_name_their_node)
{
    static const float fine[] = { 0, 1, 2, 3 }, large[] = { 0, 1, 100, 3 },
                       inf[] = { 0, 1, INFINITY, 3 };
    static const double fine64[] = { 0, 1, 2, 3 }, large64[] = { 0, 1, 1000, 3 },
                        inf64[] = { 0, 1, (double)INFINITY, 3 };
    static const uint16_t fine16[] = { 0, 0x3c00, 0x4000, 0x4200 }, /* 0 1 2 3, 100, infinity */
        large16[] = { 0, 0x3c00, 0x5640, 0x4200 }, inf16[] = { 0, 0x3c00, 0x7c00, 0x4200 };
    check_exponential(POPRT_DTYPE_FLOAT32, fine, large, inf, sizeof(fine));
    check_exponential(POPRT_DTYPE_FLOAT64, fine64, large64, inf64, sizeof(fine64));
    check_exponential(POPRT_DTYPE_FLOAT16, fine16, large16, inf16, sizeof(fine16));
}
END_TEST

START_TEST(divisions_by_zero_and_invalid_operations_are_found)
{
    static const int64_t four = 4;
    static const float zero[] = { 1, 2, 3, 0 }, negative[] = { 1, -2, 3, 4 };
    float out[4];
    for (int root = 0; root < 2; root++) {
        poprt_builder *b = new_builder(13);
        const poprt_id x = FLOATS(b, 4);
        ck_assert_ok(poprt_builder_output(b,
            root ? poprt_op_sqrt(b, x, NULL) : poprt_op_reciprocal(b, x, NULL)));
        poprt_model *model = finish(b);
        const poprt_tensor in =
            tensor_of(POPRT_DTYPE_FLOAT32, root ? negative : zero, sizeof(zero), &four, 1);
        ck_assert_ok(run_once(model, "", &in, out, sizeof(out)));
        ck_assert_fails(run_once(model, ON, &in, out, sizeof(out)), POPRT_E_LIMIT);
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, root ? "nan" : "inf"));
        poprt_model_release(model);
    }
}
END_TEST

/* ---- a plug-in that writes to its input */

static poprt_status like_input(const poprt_host *host, poprt_infer *infer)
{
    poprt_type type;
    const poprt_status status = host->infer_input(infer, 0, &type);
    return status == POPRT_OK ? host->infer_output(infer, 0, &type) : status;
}

static poprt_status double_input(const poprt_host *host, poprt_eval *eval)
{
    poprt_tensor x, y;
    poprt_status status = host->eval_input(eval, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_output(eval, 0, x.dtype, x.rank, x.dims, &y);
    for (size_t i = 0; status == POPRT_OK && i < x.size / sizeof(float); i++) {
        ((float *)x.data)[i] *= 2;
        ((float *)y.data)[i] = ((float *)x.data)[i];
    }
    return status;
}

static const poprt_plugin_op op = { .struct_size = sizeof(op),
    .domain = "test",
    .name = "Twice",
    .since = 1,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = like_input,
    .eval = double_input };
static const poprt_plugin_op *const ops[] = { &op };
static const poprt_plugin plugin = { .struct_size = sizeof(plugin),
    .abi = POPRT_PLUGIN_ABI,
    .name = "twice",
    .version = "1",
    .ops = ops,
    .n_ops = 1 };

START_TEST(a_kernel_that_changes_its_input_is_named)
{
    static const char *const options[] = { "", "opxModifyChecking = True",
        "opxAliasChecking = True" };
    static const int64_t four = 4;
    for (size_t k = 0; k < 3; k++) {
        float x[] = { 1, 2, 3, 4 };
        poprt_env *env = NULL;
        poprt_builder *b = NULL;
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        poprt_stepio *io = NULL;
        poprt_id y = 0;
        ck_assert_ok(poprt_env_create(NULL, &env));
        ck_assert_ok(poprt_env_add_plugin(env, &plugin));
        ck_assert_ok(poprt_builder_create(env, 13, &b));
        const poprt_id in = FLOATS(b, 4);
        const poprt_builder_op_info twice = { .struct_size = sizeof(twice),
            .domain = "test",
            .op_type = "Twice",
            .name = "twice",
            .inputs = &in,
            .n_inputs = 1,
            .n_outputs = 1 };
        y = poprt_builder_op(b, &twice, NULL);
        ck_assert_ok(poprt_builder_output(b, y));
        poprt_model *model = finish(b);
        poprt_config *config = options_of(env, options[k]);
        ck_assert_ok(poprt_compile(model, config, &exec));
        ck_assert_ok(poprt_session_create(exec, config, &session));
        ck_assert_ok(poprt_stepio_create(session, &io));
        const poprt_tensor bound = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), &four, 1);
        ck_assert_ok(poprt_stepio_bind(io, "input", &bound));
        const poprt_status status = poprt_session_run(session, io);
        ck_assert_int_eq(status, k == 0 ? POPRT_OK : POPRT_E_PLUGIN);
        if (k != 0) {
            ck_assert_str_eq(poprt_last_error()->subject, "twice");
            ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "changed its input 0"));
        }
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_executable_release(exec);
        poprt_config_release(config);
        poprt_model_release(model);
        poprt_env_release(env);
    }
}
END_TEST

PRT_TEST_MAIN("session/checks", overflows_name_their_node,
    divisions_by_zero_and_invalid_operations_are_found, a_kernel_that_changes_its_input_is_named)
