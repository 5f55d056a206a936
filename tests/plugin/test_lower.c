/* SPDX-License-Identifier: MIT */
/*
 * test_lower.c — operators of plug-ins that are compiled: the worked example, which must give the
 * results of its eval, and hooks with invalid requests.
 * Covers: kernel.c.
 */
#include <stddef.h>

#include "plugin/plugin_test.h"

#define PLUGIN(name) PRT_TEST_PLUGINS "/" name ".so"

const poprt_plugin *packed_dense_entry(const poprt_host *host);

enum { ROWS = 40, DEEP = 24, COLUMNS = 50 };

/* The example's record, with copies of its parts that a test may change. */
typedef struct example {
    poprt_plugin plugin;
    poprt_plugin_op op;
    const poprt_plugin_op *ops[1];
    poprt_plugin_kernel kernel;
    const poprt_plugin_kernel *kernels[1];
} example;

static void copy_example(example *e)
{
    const poprt_host host = { .struct_size = sizeof(host), .abi = POPRT_PLUGIN_ABI };
    e->plugin = *packed_dense_entry(&host);
    e->op = *e->plugin.ops[0];
    e->kernel = *e->op.kernels[0];
    e->kernels[0] = &e->kernel;
    e->ops[0] = &e->op;
    e->op.kernels = e->kernels;
    e->plugin.ops = e->ops;
}

static poprt_env *env_with(const poprt_plugin *plugin, uint32_t threads)
{
    const poprt_env_options options = { .struct_size = sizeof(options), .threads = threads };
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_env_add_plugin(env, plugin));
    return env;
}

static poprt_executable *compile(poprt_env *env, const char *path)
{
    poprt_model *model = load_model(env, path);
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    return exec;
}

/* Runs the model "dense" twice on `rows` rows of numbers whose sums are not exact. */
static poprt_status try_dense(poprt_executable *exec, int64_t rows, float *y)
{
    static float x[ROWS * DEEP];
    const int64_t in_dims[] = { rows, DEEP }, out_dims[] = { rows, COLUMNS };
    for (int i = 0; i < ROWS * DEEP; i++)
        x[i] = (float)(i * 37 % 101 - 50) / 7.0f;
    const poprt_tensor in = { x, (size_t)rows * DEEP * 4, in_dims, 2, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { y, (size_t)rows * COLUMNS * 4, out_dims, 2, POPRT_DTYPE_FLOAT32 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "y", &out));
    poprt_status status = poprt_session_run(session, io);
    if (status == POPRT_OK)
        status = poprt_session_run(session, io);
    poprt_stepio_release(io);
    poprt_session_release(session);
    return status;
}

static void run_dense(poprt_executable *exec, int64_t rows, float *y)
{
    ck_assert_ok(try_dense(exec, rows, y));
}

static void expect_text(const poprt_executable *exec, int32_t format, const char *words, bool there)
{
    buffer b = { NULL, 0 };
    ck_assert_ok(poprt_executable_describe(exec, format, buffer_write, &b));
    ck_assert_msg((strstr((char *)b.data, words) != NULL) == there, "'%s' in '%s'", words,
        (char *)b.data);
    free(b.data);
}

START_TEST(the_kernel_matches_eval)
{
    static float expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
    static const uint32_t threads[] = { 1, 3 };
    static const int64_t rows[] = { ROWS, 1, 0 };
    example e;
    copy_example(&e);
    for (int r = 0; r < 3; r++) {
        const size_t size = (size_t)rows[r] * COLUMNS * 4;
        e.op.lower = NULL;
        e.op.n_kernels = 0;
        poprt_env *env = env_with(&e.plugin, 1);
        poprt_executable *exec = compile(env, MODEL("dense"));
        expect_text(exec, POPRT_FORMAT_TEXT, "plugin custom.ops.Dense", false);
        run_dense(exec, rows[r], expected);
        poprt_executable_release(exec);
        poprt_env_release(env);
        copy_example(&e);
        for (int t = 0; t < 2; t++) {
            env = env_with(&e.plugin, threads[t]);
            exec = compile(env, MODEL("dense"));
            expect_text(exec, POPRT_FORMAT_TEXT, "plugin custom.ops.Dense", true);
            expect_text(exec, POPRT_FORMAT_STEPS, "panels", true);
            memset(got, 0xa5, sizeof(got));
            run_dense(exec, rows[r], got);
            ck_assert_mem_eq(got, expected, size);
            poprt_executable_release(exec);
            poprt_env_release(env);
        }
    }
}
END_TEST

static buffer save_dense(const poprt_plugin *plugin)
{
    buffer file = { NULL, 0 };
    poprt_env *env = env_with(plugin, 1);
    poprt_executable *exec = compile(env, MODEL("dense"));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &file));
    poprt_executable_release(exec);
    poprt_env_release(env);
    return file;
}

START_TEST(the_kernel_survives_popef)
{
    static float expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
    char path[] = "/tmp/poprt-lower-XXXXXX";
    example e;
    poprt_executable *exec = NULL;
    copy_example(&e);
    poprt_env *env = env_with(&e.plugin, 3);
    exec = compile(env, MODEL("dense"));
    run_dense(exec, ROWS, expected);
    poprt_executable_release(exec);

    buffer file = save_dense(&e.plugin), again = { NULL, 0 };
    ck_assert_ok(poprt_executable_load_bytes(env, file.data, file.size, NULL, &exec));
    run_dense(exec, ROWS, got);
    ck_assert_mem_eq(got, expected, sizeof(got));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &again));
    ck_assert_uint_eq(again.size, file.size);
    ck_assert_mem_eq(again.data, file.data, file.size);
    poprt_executable_release(exec);

    /* Loads from bytes at an odd address and from a mapped file. */
    unsigned char *odd = malloc(file.size + 1);
    memcpy(odd + 1, file.data, file.size);
    ck_assert_ok(poprt_executable_load_bytes(env, odd + 1, file.size, NULL, &exec));
    run_dense(exec, ROWS, got);
    ck_assert_mem_eq(got, expected, sizeof(got));
    poprt_executable_release(exec);
    free(odd);
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "wb");
    ck_assert_uint_eq(fwrite(file.data, 1, file.size, f), file.size);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_ok(poprt_executable_load_file(env, path, NULL, &exec));
    memset(got, 0, sizeof(got));
    run_dense(exec, ROWS, got);
    ck_assert_mem_eq(got, expected, sizeof(got));
    poprt_executable_release(exec);
    ck_assert_int_eq(remove(path), 0);
    poprt_env_release(env);
    free(again.data);
    free(file.data);
}
END_TEST

START_TEST(popef_needs_the_plugin_and_its_kernel)
{
    example e;
    poprt_executable *exec = NULL;
    copy_example(&e);
    buffer file = save_dense(&e.plugin);
    ck_assert_says(poprt_executable_load_bytes(NULL, file.data, file.size, NULL, &exec),
        POPRT_E_PLUGIN, "operator custom.ops.Dense of plug-in packed_dense: load that first");
    e.kernel.name = "rows";
    poprt_env *env = env_with(&e.plugin, 1);
    ck_assert_says(poprt_executable_load_bytes(env, file.data, file.size, NULL, &exec),
        POPRT_E_PLUGIN,
        "kernel panels of operator custom.ops.Dense, which plug-in packed_dense "
        "does not have");
    ck_assert_str_eq(poprt_last_error()->subject, "dense");
    poprt_env_release(env);
    e.op.lower = NULL;
    e.op.n_kernels = 0;
    env = env_with(&e.plugin, 1);
    ck_assert_says(poprt_executable_load_bytes(env, file.data, file.size, NULL, &exec),
        POPRT_E_PLUGIN, "kernel panels");
    poprt_env_release(env);
    free(file.data);
}
END_TEST

/* A record without `lower` ends at the end of its allocation. */
START_TEST(older_records_are_evaluated)
{
    static float expected[ROWS * COLUMNS], got[ROWS * COLUMNS];
    const size_t size = offsetof(poprt_plugin_op, lower);
    example e;
    copy_example(&e);
    poprt_env *env = env_with(&e.plugin, 1);
    poprt_executable *exec = compile(env, MODEL("dense"));
    run_dense(exec, ROWS, expected);
    poprt_executable_release(exec);
    poprt_env_release(env);

    poprt_plugin_op *old = malloc(size);
    memcpy(old, &e.op, size);
    memcpy(old, &size, sizeof(size));
    e.ops[0] = old;
    env = env_with(&e.plugin, 1);
    exec = compile(env, MODEL("dense"));
    expect_text(exec, POPRT_FORMAT_TEXT, "plugin custom.ops.Dense", false);
    run_dense(exec, ROWS, got);
    ck_assert_mem_eq(got, expected, sizeof(got));
    poprt_executable_release(exec);
    poprt_env_release(env);
    free(old);
}
END_TEST

/* ---- hooks of an operator in the place of LeakyRelu */

static poprt_status infer(const poprt_host *host, poprt_infer *c)
{
    poprt_type type;
    const poprt_status status = host->infer_input(c, 0, &type);
    return status == POPRT_OK ? host->infer_output(c, 0, &type) : status;
}

static poprt_status eval(const poprt_host *host, poprt_eval *c)
{
    poprt_tensor x, y;
    poprt_status status = host->eval_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->eval_output(c, 0, x.dtype, x.rank, x.dims, &y);
    for (size_t i = 0; status == POPRT_OK && i < x.size / 4; i++)
        ((float *)y.data)[i] = ((const float *)x.data)[i] > 0 ? ((const float *)x.data)[i] : 0;
    return status;
}

/* LeakyRelu that always uses an alpha of 0.25, so that its results differ from eval's. */
static poprt_status run(const poprt_host *host, poprt_kernel *c, uint64_t first, uint64_t count)
{
    poprt_tensor x, y;
    poprt_status status = host->kernel_input(c, 0, &x);
    if (status == POPRT_OK)
        status = host->kernel_output(c, 0, &y);
    const uint64_t items = host->kernel_items(c);
    for (size_t i = 0; status == POPRT_OK && i < x.size / 4; i++)
        if (i % items >= first && i % items < first + count) {
            const float v = ((const float *)x.data)[i];
            ((float *)y.data)[i] = v > 0 ? v : 0.25f * v;
        }
    return status;
}

static poprt_status run_and_fail(const poprt_host *host, poprt_kernel *c, uint64_t first,
    uint64_t count)
{
    (void)c;
    return first + count == 1 ? (host->fail)(POPRT_E_SHAPE, NULL, "nothing fits") : POPRT_OK;
}

static poprt_status run_and_ask(const poprt_host *host, poprt_kernel *c, uint64_t first,
    uint64_t count)
{
    const void *bytes = NULL;
    (void)first;
    (void)count;
    if (host->kernel_inputs(c) != 1 || host->kernel_outputs(c) != 1 ||
        host->kernel_has_input(c, 1) != 0 || host->kernel_has_output(c, 0) != 1 ||
        host->kernel_check(c) != POPRT_OK || host->kernel_scratch(c, 8) == NULL ||
        host->kernel_constant(c, 0, 5, &bytes) != POPRT_OK)
        return POPRT_E_INTERNAL;
    poprt_attr alpha;
    poprt_tensor t;
    ck_assert_fails(host->kernel_attr(c, "beta", &alpha), POPRT_E_NOT_FOUND);
    ck_assert_fails(host->kernel_input(c, 1, &t), POPRT_E_ARG);
    ck_assert_fails(host->kernel_output(c, 1, &t), POPRT_E_ARG);
    ck_assert_fails(host->kernel_constant(c, 1, 5, &bytes), POPRT_E_ARG);
    ck_assert_fails(host->kernel_constant(c, 0, 6, &bytes), POPRT_E_PLUGIN);
    if (memcmp(bytes, "\1\0\0\0\0", 5) != 0 || (uintptr_t)bytes % 64 != 0)
        return POPRT_E_INTERNAL;
    return host->kernel_scratch(c, 9) == NULL ? POPRT_E_PLUGIN : POPRT_OK;
}

typedef poprt_status (*lower_fn)(const poprt_host *host, poprt_lower *c);

static poprt_status run_leaky(lower_fn lower, const char *model_path, poprt_status compiles,
    const char *words, float *y)
{
    static const float x[] = { -4, -1, 0, 1, 2, -0.5f };
    static const poprt_plugin_kernel kernels[] = {
        { .struct_size = sizeof(kernels[0]), .name = "leak", .run = run },
        { .struct_size = sizeof(kernels[0]), .name = "fail", .run = run_and_fail },
        { .struct_size = sizeof(kernels[0]), .name = "ask", .run = run_and_ask },
    };
    static const poprt_plugin_kernel *const list[] = { &kernels[0], &kernels[1], &kernels[2] };
    static const poprt_attr attrs[] = { { .name = "alpha", .kind = POPRT_ATTR_FLOAT } };
    const poprt_plugin_op op = { .struct_size = sizeof(op),
        .domain = "custom.ops",
        .name = "LeakyRelu",
        .since = 1,
        .flags = POPRT_OP_PURE,
        .min_inputs = 1,
        .max_inputs = 1,
        .min_outputs = 1,
        .max_outputs = 1,
        .attrs = attrs,
        .n_attrs = 1,
        .infer = infer,
        .eval = eval,
        .lower = lower,
        .kernels = list,
        .n_kernels = 3 };
    const poprt_plugin_op *const ops[] = { &op };
    const poprt_plugin plugin = { .struct_size = sizeof(plugin),
        .abi = POPRT_PLUGIN_ABI,
        .name = "here",
        .version = "0",
        .ops = ops,
        .n_ops = 1 };
    poprt_env *env = env_with(&plugin, 3);
    poprt_model *model = load_model(env, model_path);
    poprt_executable *exec = NULL;
    poprt_status status = poprt_compile(model, NULL, &exec);
    if (compiles != POPRT_OK) {
        ck_assert_says(status, compiles, words);
        ck_assert_ptr_nonnull(
            strstr(poprt_last_error()->message, "plug-in here, custom.ops.LeakyRelu: "));
        ck_assert_str_eq(poprt_last_error()->subject, "leak");
    } else {
        ck_assert_ok(status);
        if (words != NULL)
            expect_text(exec, POPRT_FORMAT_STEPS, words, true);
        status = run_exec(exec, x, y);
    }
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_env_release(env);
    return status;
}

static void expect_refusal(lower_fn lower, poprt_status status, const char *words)
{
    (void)run_leaky(lower, MODEL("leaky"), status, words, NULL);
}

static poprt_status choose_nothing(const poprt_host *host, poprt_lower *c)
{
    (void)host;
    (void)c;
    return POPRT_OK;
}

static poprt_status choose(const poprt_host *host, poprt_lower *c)
{
    return host->lower_kernel(c, "leak");
}

static poprt_status choose_in_place(const poprt_host *host, poprt_lower *c)
{
    poprt_type x, y;
    poprt_attr alpha;
    ck_assert_uint_eq(host->lower_inputs(c), 1);
    ck_assert_uint_eq(host->lower_outputs(c), 1);
    ck_assert_int_eq(host->lower_has_input(c, 1), 0);
    ck_assert_int_eq(host->lower_has_output(c, 0), 1);
    ck_assert_ok(host->lower_attr(c, "alpha", &alpha));
    ck_assert_float_eq(alpha.real, 0.25f);
    ck_assert_ok(host->lower_input(c, 0, &x));
    ck_assert_ok(host->lower_output(c, 0, &y));
    ck_assert_mem_eq(&x, &y, sizeof(x));
    ck_assert_int_eq(x.rank, 2);
    ck_assert_ok(host->lower_items(c, 4));
    ck_assert_ok(host->lower_in_place(c, 0, 0));
    return host->lower_kernel(c, "leak");
}

START_TEST(lower_selects_the_kernel)
{
    static const float by_eval[] = { 1, 1, 1, 2, 3, 1 };
    static const float by_kernel[] = { 0, 0.75f, 1, 2, 3, 0.875f };
    static const float between[] = { -4, -1, 0, 0.25f, 0.5f, -0.5f };
    float y[6];
    ck_assert_ok(run_leaky(choose_nothing, MODEL("leaky"), POPRT_OK, NULL, y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], by_eval[i]);
    ck_assert_ok(run_leaky(choose, MODEL("leaky"), POPRT_OK, " leak\n", y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], by_kernel[i]);
    ck_assert_ok(run_leaky(choose_in_place, MODEL("between"), POPRT_OK, " in %", y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], between[i]);
}
END_TEST

/* ---- invalid requests */

static poprt_status fail_lower(const poprt_host *host, poprt_lower *c)
{
    (void)c;
    return (host->fail)(POPRT_E_UNSUPPORTED, NULL, "not on Sundays");
}

static poprt_status fail_silently(const poprt_host *host, poprt_lower *c)
{
    (void)host;
    (void)c;
    return -3;
}

static poprt_status wrong_kernel(const poprt_host *host, poprt_lower *c)
{
    return host->lower_kernel(c, "leek");
}

static poprt_status much_scratch(const poprt_host *host, poprt_lower *c)
{
    const poprt_status status = host->lower_kernel(c, "leak");
    return status == POPRT_OK ? host->lower_scratch(c, ((size_t)1 << 30) + 1) : status;
}

static poprt_status large_constant(const poprt_host *host, poprt_lower *c)
{
    void *memory = NULL;
    return host->lower_prepare(c, ((size_t)1 << 40) + 1, &memory);
}

static poprt_status empty_constant(const poprt_host *host, poprt_lower *c)
{
    void *memory = NULL;
    return host->lower_prepare(c, 0, &memory);
}

static poprt_status many_constants(const poprt_host *host, poprt_lower *c)
{
    void *memory = NULL;
    poprt_status status = host->lower_kernel(c, "leak");
    for (int i = 0; i < 17 && status == POPRT_OK; i++)
        status = host->lower_prepare(c, 1, &memory);
    return status;
}

static poprt_status no_items(const poprt_host *host, poprt_lower *c)
{
    return host->lower_items(c, 0);
}

static poprt_status many_items(const poprt_host *host, poprt_lower *c)
{
    return host->lower_items(c, ((uint64_t)1 << 30) + 1);
}

static poprt_status no_such_slots(const poprt_host *host, poprt_lower *c)
{
    poprt_type type;
    poprt_tensor t;
    poprt_attr attr;
    ck_assert_fails(host->lower_input(c, 1, &type), POPRT_E_ARG);
    ck_assert_fails(host->lower_output(c, 1, &type), POPRT_E_ARG);
    ck_assert_fails(host->lower_constant(c, 1, &t), POPRT_E_ARG);
    ck_assert_fails(host->lower_constant(c, 0, &t), POPRT_E_NOT_FOUND);
    ck_assert_fails(host->lower_attr(c, "beta", &attr), POPRT_E_NOT_FOUND);
    ck_assert_fails(host->lower_kernel(c, NULL), POPRT_E_NOT_FOUND);
    ck_assert_fails(host->lower_in_place(c, 0, 1), POPRT_E_ARG);
    ck_assert_fails(host->lower_in_place(c, 1, 0), POPRT_E_ARG);
    return host->lower_drop(c, 0);
}

static poprt_status ask_without_kernel(const poprt_host *host, poprt_lower *c)
{
    return host->lower_scratch(c, 64);
}

START_TEST(failures_of_lower_name_plugin_and_node)
{
    expect_refusal(fail_lower, POPRT_E_UNSUPPORTED, "not on Sundays");
    expect_refusal(fail_silently, POPRT_E_PLUGIN, "the plug-in gave no reason");
    expect_refusal(wrong_kernel, POPRT_E_NOT_FOUND,
        "the operator's record has no kernel leek; nearest: leak");
    expect_refusal(much_scratch, POPRT_E_LIMIT,
        "1073741825 bytes of scratch are too many: 1073741824 are allowed");
    expect_refusal(large_constant, POPRT_E_LIMIT, "a constant of 1099511627777 bytes");
    expect_refusal(empty_constant, POPRT_E_LIMIT, "a constant of 0 bytes");
    expect_refusal(many_constants, POPRT_E_LIMIT, "more than 16 constants");
    expect_refusal(no_items, POPRT_E_LIMIT, "0 items of work");
    expect_refusal(many_items, POPRT_E_LIMIT, "1073741825 items of work");
    expect_refusal(no_such_slots, POPRT_E_NOT_FOUND, "input 0 is not a constant");
    expect_refusal(ask_without_kernel, POPRT_E_PLUGIN,
        "lower describes the needs of a kernel, but chose no kernel");
}
END_TEST

static poprt_status choose_failing(const poprt_host *host, poprt_lower *c)
{
    const poprt_status status = host->lower_kernel(c, "fail");
    return status == POPRT_OK ? host->lower_items(c, 6) : status;
}

static poprt_status choose_asking(const poprt_host *host, poprt_lower *c)
{
    void *memory = NULL;
    poprt_status status = host->lower_kernel(c, "ask");
    if (status == POPRT_OK)
        status = host->lower_prepare(c, 5, &memory);
    if (status != POPRT_OK)
        return status;
    *(char *)memory = 1;
    return host->lower_scratch(c, 8);
}

START_TEST(failures_of_kernels_name_plugin_and_node)
{
    float y[6];
    ck_assert_says(run_leaky(choose_failing, MODEL("leaky"), POPRT_OK, NULL, y), POPRT_E_SHAPE,
        "plug-in here, custom.ops.LeakyRelu, kernel fail: nothing fits");
    ck_assert_str_eq(poprt_last_error()->subject, "leak");
    ck_assert_says(run_leaky(choose_asking, MODEL("leaky"), POPRT_OK, NULL, y), POPRT_E_PLUGIN,
        "kernel ask: there are 8 bytes of scratch, but the kernel needs 9");
}
END_TEST

static poprt_status prepare_much(const poprt_host *host, poprt_lower *c)
{
    void *memory = NULL;
    poprt_status status = host->lower_kernel(c, "panels");
    for (int i = 0; i < 4 && status == POPRT_OK; i++)
        status = host->lower_prepare(c, (size_t)6 << 20, &memory);
    return status;
}

static poprt_status run_and_abort(const poprt_host *host, poprt_kernel *c, uint64_t first,
    uint64_t count)
{
    (void)c;
    return first + count > 3 ? (host->fail)(POPRT_E_LIMIT, "panel", "too late") : POPRT_OK;
}

/* The failure is first recorded on another thread. */
START_TEST(failures_on_other_threads_are_reported)
{
    static float y[ROWS * COLUMNS];
    example e;
    copy_example(&e);
    e.kernel.run = run_and_abort;
    poprt_env *env = env_with(&e.plugin, 3);
    poprt_executable *exec = compile(env, MODEL("dense"));
    for (int i = 0; i < 20; i++) {
        ck_assert_says(try_dense(exec, ROWS, y), POPRT_E_LIMIT,
            "plug-in packed_dense, custom.ops.Dense, kernel panels: too late");
        ck_assert_str_eq(poprt_last_error()->subject, "panel");
    }
    poprt_executable_release(exec);
    poprt_env_release(env);
}
END_TEST

/* Constants count as memory of the compilation. */
START_TEST(constants_count_against_the_memory_limit)
{
    example e;
    copy_example(&e);
    e.op.lower = prepare_much;
    poprt_env *env = env_with(&e.plugin, 1);
    poprt_model *model = load_model(env, MODEL("dense"));
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_set(config, "memory_limit", "16777216"));
    ck_assert_says(poprt_compile(model, config, &exec), POPRT_E_LIMIT,
        "a constant of 6291456 bytes, with the 12582912 before it, is above memory_limit");
    poprt_config_release(config);
    poprt_model_release(model);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("plugin/lower", the_kernel_matches_eval, the_kernel_survives_popef,
    popef_needs_the_plugin_and_its_kernel, older_records_are_evaluated, lower_selects_the_kernel,
    failures_of_lower_name_plugin_and_node, failures_of_kernels_name_plugin_and_node,
    failures_on_other_threads_are_reported, constants_count_against_the_memory_limit)
