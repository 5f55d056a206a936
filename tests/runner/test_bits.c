/* SPDX-License-Identifier: MIT */
/*
 * test_bits.c — a row has the same bits at each position of a batch, beside any other rows, for any
 * number of sessions and threads; padding.
 * Covers: padding.c.
 */
#include "poprt/builder_ops.h"
#include "runner_test.h"

/* Writes reproducible values of a type: numbers from -1 to 1, or integers 0 and 1. */
static void fill(int32_t dtype, void *data, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        if (dtype == POPRT_DTYPE_FLOAT32)
            ((float *)data)[i] = (float)(int32_t)(seed >> 8) / 8388608.0f - 1.0f;
        else
            ((int64_t *)data)[i] = (int64_t)(seed >> 24) % 2;
    }
}

enum { MOST_TENSORS = 4 };

/* The tensors of a request with some rows, by the runner's lists. */
typedef struct rows {
    poprt_named_tensor tensor[2][MOST_TENSORS];
    size_t n[2], row[2][MOST_TENSORS]; /* row: bytes */
    poprt_runner_call call;
} rows;

static void rows_init(rows *r, poprt_runner *runner, size_t count, uint32_t seed)
{
    *r = (rows){ .call = { .struct_size = sizeof(r->call) } };
    for (int32_t direction = POPRT_INPUT; direction <= POPRT_OUTPUT; direction++) {
        r->n[direction] = poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTE, direction);
        ck_assert_uint_le(r->n[direction], MOST_TENSORS);
        for (size_t i = 0; i < r->n[direction]; i++) {
            poprt_runner_io io = { .struct_size = sizeof(io) };
            ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, direction, i, &io));
            const size_t row = io.size / (size_t)io.dims[0];
            poprt_tensor *t = &r->tensor[direction][i].tensor;
            r->tensor[direction][i].name = io.name;
            r->row[direction][i] = row;
            t->dtype = io.dtype;
            t->size = count * row;
            t->data = calloc(1, t->size);
            ck_assert_ptr_nonnull(t->data);
            const size_t element = poprt_dtype_bits(io.dtype) / 8;
            for (size_t k = 0; k < count && direction == POPRT_INPUT; k++)
                fill(io.dtype, (char *)t->data + k * row, row / element,
                    seed + (uint32_t)(97 * k + 31 * i));
        }
    }
    r->call.inputs = r->tensor[POPRT_INPUT];
    r->call.n_inputs = r->n[POPRT_INPUT];
    r->call.outputs = r->tensor[POPRT_OUTPUT];
    r->call.n_outputs = r->n[POPRT_OUTPUT];
}

static void rows_free(rows *r)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < r->n[k]; i++)
            free(r->tensor[k][i].tensor.data);
}

/* Copies row 0 of `from` over row `at`. */
static void put_row(rows *to, size_t at, const rows *from)
{
    for (size_t i = 0; i < to->n[POPRT_INPUT]; i++)
        memcpy((char *)to->tensor[POPRT_INPUT][i].tensor.data + at * to->row[POPRT_INPUT][i],
            from->tensor[POPRT_INPUT][i].tensor.data, to->row[POPRT_INPUT][i]);
}

static bool same_result(const rows *a, size_t row, const rows *b)
{
    for (size_t i = 0; i < a->n[POPRT_OUTPUT]; i++)
        if (memcmp((char *)a->tensor[POPRT_OUTPUT][i].tensor.data + row * a->row[POPRT_OUTPUT][i],
                b->tensor[POPRT_OUTPUT][i].tensor.data, a->row[POPRT_OUTPUT][i]) != 0)
            return false;
    return true;
}

/* Runs one request alone, and then at each `step`-th position of a full batch of other rows. */
static void check_model(const poprt_model *model, const char *const *pairs, const char *name,
    size_t step)
{
    poprt_executable *exec = NULL;
    poprt_config *config = config_of(pairs);
    poprt_runner_io io = { .struct_size = sizeof(io) };
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_runner *runner = open_runner(exec, pairs);
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_INPUT, 0, &io));
    const size_t count = (size_t)io.dims[0];
    rows one, full;
    rows_init(&one, runner, 1, 12345);
    ck_assert_ok(poprt_runner_execute(runner, &one.call));
    for (size_t at = 0; at < count; at += step) {
        rows_init(&full, runner, count, (uint32_t)at * 1000);
        put_row(&full, at, &one);
        ck_assert_ok(poprt_runner_execute(runner, &full.call));
        ck_assert_msg(same_result(&full, at, &one), "%s: row %zu of %zu differs", name, at, count);
        rows_free(&full);
    }
    ck_assert_uint_eq(stats_of(runner).padding, count - 1);
    rows_free(&one);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    poprt_config_release(config);
}

static void check_positions(const char *model, const char *cpu, const char *batch,
    const char *const *dims)
{
    poprt_model *m = NULL;
    poprt_env *env = NULL;
    char name[256];
    const poprt_env_options threads = { .struct_size = sizeof(threads), .threads = 2 };
    const char *pairs[16] = { "dim.batch", batch, "batching_dim", "0", "timeout_ns", "100000",
        "cpu", cpu, "runner_sessions", "2" };
    for (size_t n = 10; *dims != NULL; dims++)
        pairs[n++] = *dims;
    (void)snprintf(name, sizeof(name), "%s, cpu %s", model, cpu);
    ck_assert_ok(poprt_env_create(&threads, &env));
    ck_assert_ok(poprt_model_load_file(env, model, NULL, &m));
    check_model(m, pairs, name, 1);
    poprt_model_release(m);
    poprt_env_release(env);
}

static void check_levels(const char *model, const char *batch, const char *const *dims)
{
    static const char *const levels[] = { "native", "avx512", "avx2", "portable" };
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        check_positions(model, levels[i], batch, dims);
}

static const char *const no_dims[] = { NULL };

START_TEST(images_of_a_convolutional_network)
{
    check_levels(DIGITS, "8", no_dims);
    check_levels(DIGITS, "13", no_dims);
    check_positions(DIGITS, "native", "64", no_dims);
}
END_TEST

START_TEST(sequences_of_a_transformer)
{
    static const char *const dims[] = { "dim.seq", "8", NULL };
    check_levels(PRT_TEST_DATA "/encoder/model.onnx", "7", dims);
    check_positions(PRT_TEST_DATA "/encoder/model.onnx", "native", "32", dims);
}
END_TEST

START_TEST(answers_of_a_transformer)
{
    static const char *const dims[] = { "dim.length", "16", NULL };
    check_levels(PRT_TEST_DATA "/qa/model.onnx", "5", dims);
}
END_TEST

START_TEST(images_of_a_quantised_network)
{
    check_levels(PRT_TEST_DATA "/quantised/digits_qop_u8s8_channel/model.onnx", "6", no_dims);
}
END_TEST

/* y = x [256,512] * weight [512,512]: a session uses Strassen's algorithm, which adds rows. */
START_TEST(rows_of_a_large_product)
{
    enum { SIZE = 512 };
    static const int64_t dims[] = { SIZE, SIZE };
    static const char *const pairs[] = { "batching_dim", "0", "timeout_ns", "100000", "bf16x3",
        "false", NULL };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    float *weight = malloc(SIZE * SIZE * sizeof(float));
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 2, { 256, SIZE } };
    ck_assert_ptr_nonnull(weight);
    fill(POPRT_DTYPE_FLOAT32, weight, SIZE * SIZE, 1);
    const poprt_tensor w = { weight, SIZE * SIZE * sizeof(float), dims, 2, POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id x = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id y = poprt_op_matmul(b, x, poprt_builder_weight(b, "weight", &w, 0), NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    ck_assert_ok(poprt_builder_finish(b, &model));
    check_model(model, pairs, "product", 17);
    poprt_model_release(model);
    poprt_builder_release(b);
    free(weight);
}
END_TEST

/* y = -x with x [2,4,3]: the rows of a request are along dimension 1. */
START_TEST(rows_along_the_second_dimension)
{
    enum { BLOCKS = 2, BATCH = 4, SIZE = 3, MOST = 11 };
    static const char *const pairs[] = { "batching_dim", "1", "timeout_ns", "100000", NULL };
    static float x[BLOCKS * MOST * SIZE], y[BLOCKS * MOST * SIZE];
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 3, { BLOCKS, BATCH, SIZE } };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    ck_assert_ok(
        poprt_builder_output(b, poprt_op_neg(b, poprt_builder_input(b, "x", &type, NULL), NULL)));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_runner *runner = open_runner(exec, pairs);
    poprt_runner_io out = { .struct_size = sizeof(out) };
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_OUTPUT, 0, &out));
    ck_assert_int_eq(out.open_dim, 1);
    for (int64_t n = 1; n <= MOST; n++) {
        const int64_t dims[] = { BLOCKS, n, SIZE };
        const size_t count = (size_t)(BLOCKS * n * SIZE);
        const poprt_named_tensor in = { "x", { x, 4 * count, dims, 3, POPRT_DTYPE_FLOAT32 } };
        const poprt_named_tensor to = { out.name, { y, 4 * count, dims, 3, POPRT_DTYPE_FLOAT32 } };
        const poprt_runner_call call = { sizeof(call), &in, 1, &to, 1, NULL, NULL, 0, 0 };
        for (size_t i = 0; i < count; i++)
            x[i] = (float)(n * 1000 + (int64_t)i);
        ck_assert_ok(poprt_runner_execute(runner, &call));
        for (size_t i = 0; i < count; i++)
            ck_assert_float_eq(y[i], -x[i]);
    }
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(b);
}
END_TEST

/* y = the sum over the batch of x [4,1]: padding is visible in it. */
START_TEST(padding_replaces_zeros)
{
    static const int64_t axis[] = { 0 };
    static const char *const pairs[] = { "batching_dim", "0", "timeout_ns", "100000", NULL };
    poprt_builder *b = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    float x[2] = { 1, 2 }, y[2], row[2] = { 100, 7 };
    const poprt_type type = { POPRT_DTYPE_FLOAT32, 2, { 4, 1 } };
    const poprt_reduce_sum_attrs keep = { .keepdims = poprt_int(1) };
    static const int64_t one = 1;
    const poprt_tensor axes = { (void *)(uintptr_t)axis, 8, &one, 1, POPRT_DTYPE_INT64 };
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id in = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id sum =
        poprt_op_reduce_sum(b, in, poprt_builder_constant(b, "axes", &axes, 0), &keep);
    ck_assert_ok(poprt_builder_output(b, poprt_op_add(b, in, sum, NULL)));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_runner *runner = open_runner(exec, pairs);
    poprt_runner_io out = { .struct_size = sizeof(out) };
    ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTE, POPRT_OUTPUT, 0, &out));
    const poprt_named_tensor from = { "x", { x, 8, NULL, 0, POPRT_DTYPE_FLOAT32 } };
    const poprt_named_tensor to = { out.name, { y, 8, NULL, 0, POPRT_DTYPE_FLOAT32 } };
    const poprt_runner_call call = { sizeof(call), &from, 1, &to, 1, NULL, NULL, 0, 0 };
    poprt_named_tensor padding = { "x", { row, 4, NULL, 0, POPRT_DTYPE_FLOAT32 } };
    ck_assert_ok(poprt_runner_set_padding(runner, &padding, 1));
    padding.tensor.size = 8;
    ck_assert_fails(poprt_runner_set_padding(runner, &padding, 1), POPRT_E_SHAPE);
    padding.name = "z";
    ck_assert_fails(poprt_runner_set_padding(runner, &padding, 1), POPRT_E_NOT_FOUND);
    row[0] = 0; /* the data was copied */
    ck_assert_ok(poprt_runner_execute(runner, &call));
    ck_assert_float_eq(y[0], 1 + 203);
    ck_assert_float_eq(y[1], 2 + 203);
    ck_assert_fails(poprt_runner_set_padding(runner, NULL, 0), POPRT_E_STATE);
    ck_assert_ok(poprt_runner_stop(runner));
    padding.name = "x";
    padding.tensor.size = 4;
    ck_assert_ok(poprt_runner_set_padding(runner, &padding, 1));
    ck_assert_ok(poprt_runner_reload(runner));
    ck_assert_ok(poprt_runner_execute(runner, &call));
    ck_assert_float_eq(y[0], 1 + 3);
    poprt_runner_release(runner);
    runner = OPEN_RUNNER(exec, "seed", "0");
    ck_assert_fails(poprt_runner_set_padding(runner, &padding, 1), POPRT_E_STATE);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(b);
}
END_TEST

PRT_TEST_MAIN("runner/bits", images_of_a_convolutional_network, sequences_of_a_transformer,
    answers_of_a_transformer, images_of_a_quantised_network, rows_of_a_large_product,
    rows_along_the_second_dimension, padding_replaces_zeros)
