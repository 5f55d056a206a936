/* SPDX-License-Identifier: MIT */
/* test_remote.c — RemoteLoad and RemoteStore of ai.graphcore: rows of a buffer that later runs see.
 * Covers: compiler/remote.c. */
#include "session_test.h"

#include "poprt/train.h"

enum { ROWS = 3, WIDTH = 2, BUFFER = 7 };

static const float start[ROWS * WIDTH] = { 0, 1, 2, 3, 4, 5 };

typedef struct net {
    poprt_builder *b;
    poprt_id x, i;
} net;

/* Inputs x, f32[2], and i, i32[1], and the buffer {0, 1}, {2, 3}, {4, 5}. */
static net begin(void)
{
    static const int64_t dims[] = { ROWS, WIDTH }, one = 1;
    const poprt_tensor rows = tensor_of(POPRT_DTYPE_FLOAT32, start, sizeof(start), dims, 2);
    net n = { .b = new_builder(20) };
    n.x = FLOATS(n.b, WIDTH);
    n.i = add_input(n.b, POPRT_DTYPE_INT32, &one, 1);
    (void)poprt_builder_weight(n.b, "RemoteBuffer___7", &rows, 0);
    return n;
}

static poprt_id load(net *n, poprt_id like, poprt_id row)
{
    return poprt_op_gc_remote_load(n->b, like, row,
        &(poprt_gc_remote_load_attrs){ .name = "load", .bufferid = poprt_int(BUFFER) });
}

static void store(net *n, poprt_id x, poprt_id row)
{
    (void)poprt_op_gc_remote_store(n->b, x, row,
        &(poprt_gc_remote_store_attrs){ .name = "store", .bufferid = poprt_int(BUFFER) });
}

static poprt_session *session_of(const poprt_model *model, const char *options)
{
    poprt_config *config = options_of(NULL, options);
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    poprt_executable_release(exec);
    poprt_config_release(config);
    return session;
}

/* Runs once; `out` receives the outputs one after another. */
static void run(poprt_session *session, float x0, float x1, int32_t row, float *out, size_t outputs)
{
    static const int64_t two = 2, one = 1;
    const float x[] = { x0, x1 };
    const poprt_tensor in[] = { tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), &two, 1),
        tensor_of(POPRT_DTYPE_INT32, &row, sizeof(row), &one, 1) };
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (size_t i = 0; i < 2; i++)
        ck_assert_ok(poprt_stepio_bind_at(io, i, &in[i]));
    ck_assert_ok(poprt_session_run(session, io));
    for (size_t i = 0; i < outputs; i++) {
        poprt_tensor t;
        ck_assert_ok(poprt_stepio_output(io, 2 + i, &t));
        memcpy(out + i * WIDTH, t.data, t.size);
    }
    poprt_stepio_release(io);
}

static void check_buffer(poprt_session *session, const float *wanted)
{
    float rows[ROWS * WIDTH];
    poprt_tensor t = { .data = rows, .size = sizeof(rows) };
    ck_assert_ok(poprt_session_read_weight(session, "RemoteBuffer___7", &t));
    ck_assert_mem_eq(rows, wanted, sizeof(rows));
}

/* a: the row i, then x is stored there; b: the row again; then a is stored in row 0. */
START_TEST(rows_are_read_and_written_in_the_order_of_the_nodes)
{
    static const char *const options[] = { "", "optimize = false", "constant_weights = false" };
    static const float second[] = { 4, 5, 10, 20, 30, 40 };
    net n = begin();
    const poprt_id a = load(&n, n.x, n.i);
    store(&n, n.x, n.i);
    const poprt_id b = load(&n, n.x, n.i);
    store(&n, a, 0);
    ck_assert_ok(poprt_builder_output(n.b, a));
    ck_assert_ok(poprt_builder_output(n.b, b));
    poprt_model *model = finish(n.b);
    for (size_t i = 0; i < 3; i++) {
        poprt_session *session = session_of(model, options[i]);
        float out[4];
        run(session, 10, 20, 1, out, 2);
        ck_assert_mem_eq(out, ((const float[]){ 2, 3, 10, 20 }), sizeof(out));
        check_buffer(session, (const float[]){ 2, 3, 10, 20, 4, 5 });
        run(session, 30, 40, 2, out, 2);
        ck_assert_mem_eq(out, ((const float[]){ 4, 5, 30, 40 }), sizeof(out));
        check_buffer(session, second);
        poprt_session_release(session);
    }
    poprt_model_release(model);
}
END_TEST

START_TEST(the_host_writes_the_buffer)
{
    static const int64_t dims[] = { ROWS, WIDTH };
    static const float rows[] = { 9, 8, 7, 6, 5, 4 };
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, rows, sizeof(rows), dims, 2);
    net n = begin();
    ck_assert_ok(poprt_builder_output(n.b, load(&n, n.x, n.i)));
    poprt_model *model = finish(n.b);
    float out[2];
    /* Without a store the buffer is a constant, unless it may be written. */
    poprt_session *fixed = session_of(model, "");
    ck_assert_fails(poprt_session_write_weight(fixed, "RemoteBuffer___7", &in), POPRT_E_STATE);
    run(fixed, 0, 0, 2, out, 1);
    ck_assert_mem_eq(out, &start[4], sizeof(out));
    poprt_session_release(fixed);
    poprt_session *session = session_of(model, "updatable_named_buffers = RemoteBuffer___7");
    ck_assert_ok(poprt_session_write_weight(session, "RemoteBuffer___7", &in));
    run(session, 0, 0, 2, out, 1);
    ck_assert_mem_eq(out, &rows[4], sizeof(out));
    run(session, 0, 0, 4, out, 1); /* modulo the number of rows, as DynamicSlice */
    ck_assert_mem_eq(out, &rows[2], sizeof(out));
    poprt_session_release(session);
    poprt_model_release(model);
}
END_TEST

/* loss = sum((x w)^2) + sum(row i), then x is stored in row i. */
START_TEST(training_writes_rows_too)
{
    static const char *const frozen[] = { "RemoteBuffer___7" };
    static const int64_t width = WIDTH;
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    net n = begin();
    poprt_id y = poprt_op_mul(n.b, n.x, add_weight(n.b, "w", &width, 1), NULL);
    y = poprt_op_add(n.b, poprt_op_mul(n.b, y, y, NULL), load(&n, n.x, n.i), NULL);
    store(&n, n.x, n.i);
    const poprt_id loss =
        poprt_op_reduce_sum(n.b, y, 0, &(poprt_reduce_sum_attrs){ .keepdims = poprt_int(0) });
    ck_assert_ok(poprt_builder_output(n.b, loss));
    const char *name = poprt_builder_name(n.b, loss);
    char copy[64];
    (void)snprintf(copy, sizeof(copy), "%s", name);
    poprt_model *model = finish(n.b);
    ck_assert_ok(poprt_optimizer_create(NULL, "sgd", &optimizer));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = copy,
        .optimizer = optimizer,
        .frozen = frozen,
        .frozen_count = 1 };
    ck_assert_ok(poprt_compile_training(model, &training, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    float out[WIDTH];
    run(session, 10, 20, 1, out, 1);
    ck_assert_float_eq(out[0], 10.0f * 10 + 20.0f * 20 + 2 + 3);
    check_buffer(session, (const float[]){ 0, 1, 10, 20, 4, 5 });
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
}
END_TEST

static void check_refused(poprt_builder *b, poprt_status status, const char *word)
{
    poprt_executable *exec = NULL;
    poprt_model *model = finish(b);
    ck_assert_fails(poprt_compile(model, NULL, &exec), status);
    const poprt_error *e = poprt_last_error();
    ck_assert_msg(strstr(e->message, word) != NULL, "%s", e->message);
    poprt_model_release(model);
}

START_TEST(wrong_nodes_are_refused)
{
    net n = begin();
    ck_assert_ok(poprt_builder_output(n.b,
        poprt_op_gc_remote_load(n.b, n.x, n.i,
            &(poprt_gc_remote_load_attrs){ .bufferid = poprt_int(8) })));
    check_refused(n.b, POPRT_E_DEVICE, "RemoteBuffer___<bufferid>");
    n = begin();
    ck_assert_ok(poprt_builder_output(n.b, load(&n, FLOATS(n.b, 5), n.i)));
    check_refused(n.b, POPRT_E_SHAPE, "not a row");
}
END_TEST

PRT_TEST_MAIN("session/remote", rows_are_read_and_written_in_the_order_of_the_nodes,
    the_host_writes_the_buffer, training_writes_rows_too, wrong_nodes_are_refused)
