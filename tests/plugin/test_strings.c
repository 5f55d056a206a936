/* SPDX-License-Identifier: MIT */
/* test_strings.c — operators of plug-ins that read and write tensors of strings. */
#include "plugin/plugin_test.h"

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    return status == POPRT_OK ? host->infer_output(c, 0, &type) : status;
}

/* Writes capitals, and "!" after texts that are not empty. The last element keeps its initial
 * value: empty. */
static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, y;
    char text[64];
    poprt_status status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y);
    const poprt_string *from = status == POPRT_OK ? (const poprt_string *)x.data : NULL;
    for (int64_t i = 0; status == POPRT_OK && i + 1 < x.dims[0]; i++) {
        const size_t n = from[i].size < 63 ? from[i].size : 63;
        for (size_t k = 0; k < n; k++)
            text[k] = (char)(from[i].data[k] >= 'a' && from[i].data[k] <= 'z'
                    ? from[i].data[k] - 'a' + 'A'
                    : from[i].data[k]);
        text[n] = '!';
        status = host->eval_set_string(c, 0, (size_t)i, n != 0 ? text : NULL, n != 0 ? n + 1 : 0);
    }
    if (status != POPRT_OK)
        return status;
    ck_assert_fails(host->eval_set_string(c, 0, (size_t)x.dims[0], "a", 1), POPRT_E_ARG);
    ck_assert_fails(host->eval_set_string(c, 1, 0, "a", 1), POPRT_E_ARG);
    ck_assert_fails(host->eval_set_string(c, 0, 0, NULL, 1), POPRT_E_ARG);
    return POPRT_OK;
}

static poprt_status lower(const poprt_host *host, poprt_lower *c)
{
    return host->lower_kernel(c, "shout");
}

static poprt_status run(const poprt_host *host, poprt_kernel *c, uint64_t first, uint64_t count)
{
    (void)first;
    (void)count;
    return host->kernel_check(c);
}

static const poprt_plugin_kernel kernel = { .struct_size = sizeof(kernel),
    .name = "shout",
    .run = run };
static const poprt_plugin_kernel *const kernels[] = { &kernel };

static const poprt_plugin_op shout = { .struct_size = sizeof(shout),
    .domain = "custom.ops",
    .name = "Shout",
    .since = 1,
    .flags = POPRT_OP_PURE | POPRT_OP_STRINGS,
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .eval = eval };

START_TEST(strings_are_read_and_written)
{
    static const poprt_string words[] = { { "hi", 2 }, { "", 0 }, { "a\0b", 3 }, { "end", 3 } };
    const int64_t dim = 4;
    const poprt_tensor in = { .data = (void *)(uintptr_t)words,
        .size = sizeof(words),
        .dims = &dim,
        .rank = 1,
        .dtype = POPRT_DTYPE_STRING };
    poprt_env *env = make_env();
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    ck_assert_ok(add_op(env, &shout));
    poprt_model *model = load_model(env, MODEL("words"));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    for (int round = 0; round < 2; round++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        ck_assert_int_eq(out.dtype, POPRT_DTYPE_STRING);
        ck_assert_uint_eq(out.size, sizeof(words));
        const poprt_string *got = (const poprt_string *)out.data;
        ck_assert_uint_eq(got[0].size, 3);
        ck_assert_mem_eq(got[0].data, "HI!", 3);
        ck_assert_uint_eq(got[1].size, 0);
        ck_assert_uint_eq(got[2].size, 4);
        ck_assert_mem_eq(got[2].data, "A\0B!", 4);
        ck_assert_uint_eq(got[3].size, 0);
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

/* An operator without the flag is never given strings; kernels never get strings. */
START_TEST(strings_need_the_flag)
{
    poprt_plugin_op op = shout;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_env *env = make_env();
    op.flags = POPRT_OP_PURE;
    ck_assert_ok(add_op(env, &op));
    ck_assert_fails(poprt_model_load_file(env, MODEL("words"), NULL, &model), POPRT_E_TYPE);
    poprt_env_release(env);

    env = make_env();
    op.flags |= POPRT_OP_STRINGS;
    op.lower = lower;
    op.kernels = kernels;
    op.n_kernels = 1;
    ck_assert_ok(add_op(env, &op));
    model = load_model(env, MODEL("words"));
    ck_assert_says(poprt_compile(model, NULL, &exec), POPRT_E_TYPE,
        "input 0 is not a tensor of numbers or bool");
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("plugin/strings", strings_are_read_and_written, strings_need_the_flag)
