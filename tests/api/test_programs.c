/* SPDX-License-Identifier: MIT */
/*
 * test_programs.c — named programs of one executable; sessions of a model, of a file and of another
 * session; functions for single streams; the data flow of an executable.
 * Covers: programs.c, programs_compile.c, stepio_connect.c.
 */
#include <unistd.h>

#include "poprt/data.h"
#include "typed.h"

/* y = f(x) over float32[1, 4], with f: 2x + b, or exp(x). */
static poprt_model *linear_in(poprt_env *env, double b)
{
    poprt_builder *builder = NULL;
    ck_assert_ok(poprt_builder_create(env, 11, &builder));
    const poprt_id x = add_floats_input(builder, "x", 1, 4);
    const poprt_id bias = add_numbers(builder, "b", true, POPRT_DTYPE_FLOAT32, &b, 1, NULL, 0);
    const char *const y[] = { "y" };
    const poprt_id sum = poprt_op_add(builder, x, x, NULL);
    const poprt_id in[] = { sum, bias };
    const poprt_builder_op_info info = { .struct_size = sizeof(info),
        .op_type = "Add",
        .inputs = in,
        .output_names = y,
        .n_inputs = 2,
        .n_outputs = 1 };
    return finish(builder, poprt_builder_op(builder, &info, NULL));
}

static poprt_model *linear(double b)
{
    return linear_in(NULL, b);
}

static poprt_model *exponential_in(poprt_env *env)
{
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_builder_create(env, 11, &b));
    const poprt_id x = add_floats_input(b, "x", 1, 4);
    const char *const y[] = { "y" };
    const poprt_builder_op_info info = { .struct_size = sizeof(info),
        .op_type = "Exp",
        .inputs = &x,
        .output_names = y,
        .n_inputs = 1,
        .n_outputs = 1 };
    return finish(b, poprt_builder_op(b, &info, NULL));
}

static poprt_tensor row_of(float *data, int64_t *dims)
{
    dims[0] = 1;
    dims[1] = 4;
    return (poprt_tensor){ .data = data,
        .size = 4 * sizeof(float),
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
}

static void bind_row(poprt_stepio *io, const char *name, float *data)
{
    int64_t dims[2];
    const poprt_tensor t = row_of(data, dims);
    ck_assert_ok(poprt_stepio_bind(io, name, &t));
}

/* ---- named programs */

static poprt_executable *two_programs(void)
{
    poprt_env *env = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    poprt_model *first = linear_in(env, 1), *second = exponential_in(env);
    const poprt_named_model list[] = { { "train.step", first }, { "eval", second } };
    ck_assert_ok(poprt_compile_programs(list, 2, NULL, &exec));
    poprt_model_release(second);
    poprt_model_release(first);
    poprt_env_release(env);
    return exec;
}

static void ck_programs(poprt_executable *exec)
{
    float x[4] = { 0, 1, -2, 0.5f }, z[4] = { 1, 1, 1, 1 }, y[4], w[4];
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_uint_eq(poprt_executable_program_count(exec), 2);
    ck_assert_str_eq(poprt_executable_program_at(exec, 0), "train.step");
    ck_assert_str_eq(poprt_executable_program_at(exec, 1), "eval");
    ck_assert_ptr_null(poprt_executable_program_at(exec, 2));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    bind_row(io, "train.step/x", x);
    bind_row(io, "eval/x", z);
    bind_row(io, "train.step/y", y);
    bind_row(io, "graph1/y", w);
    for (int round = 0; round < 2; round++) {
        memset(y, 0, sizeof(y));
        memset(w, 0, sizeof(w));
        ck_assert_ok(poprt_session_run_program(session, "train.step", io));
        ck_assert_float_eq(w[0], 0); /* the other program did not run */
        for (int i = 0; i < 4; i++)
            ck_assert_float_eq(y[i], 2 * x[i] + 1);
        ck_assert_ok(poprt_session_run_program(session, "eval", io));
        for (int i = 0; i < 4; i++)
            ck_assert_float_eq_tol(w[i], 2.7182818f, 1e-6f);
    }
    ck_assert_fails(poprt_session_run_program(session, "Eval", io), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "eval"));
    ck_assert_fails(poprt_session_run_program(session, NULL, io), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_bind(io, "other/x", NULL), POPRT_E_NOT_FOUND);
    poprt_stepio_release(io);
    poprt_session_release(session);
}

START_TEST(programs_run_by_name)
{
    poprt_executable *exec = two_programs(), *loaded = NULL;
    buffer bytes = { NULL, 0 };
    ck_programs(exec);
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    poprt_executable_release(exec);
    ck_assert_ok(poprt_executable_load_bytes(NULL, bytes.data, bytes.size, NULL, &loaded));
    ck_programs(loaded);
    poprt_executable_release(loaded);
    free(bytes.data);
}
END_TEST

START_TEST(names_of_programs_are_checked)
{
    poprt_model *m = linear(1);
    poprt_executable *exec = NULL;
    const poprt_named_model twice[] = { { "a", m }, { "a", m } };
    const poprt_named_model slash[] = { { "a", m }, { "b/c", m } };
    const poprt_named_model empty[] = { { "", m }, { "b", m } };
    const poprt_named_model none[] = { { "a", m }, { "b", NULL } };
    ck_assert_fails(poprt_compile_programs(twice, 2, NULL, &exec), POPRT_E_ARG);
    ck_assert_fails(poprt_compile_programs(slash, 2, NULL, &exec), POPRT_E_ARG);
    ck_assert_fails(poprt_compile_programs(empty, 2, NULL, &exec), POPRT_E_ARG);
    ck_assert_fails(poprt_compile_programs(none, 2, NULL, &exec), POPRT_E_ARG);
    ck_assert_fails(poprt_compile_programs(twice, 1, NULL, &exec), POPRT_E_ARG);
    ck_assert_ok(poprt_compile(m, NULL, &exec));
    ck_assert_uint_eq(poprt_executable_program_count(exec), 0);
    ck_assert_ptr_null(poprt_executable_program_at(exec, 0));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_session_run_program(session, "main", io), POPRT_E_NOT_FOUND);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(m);
}
END_TEST

/* ---- sessions */

static void ck_linear(poprt_session *session, float b)
{
    float x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_stepio_create(session, &io));
    bind_row(io, "x", x);
    bind_row(io, "y", y);
    ck_assert_ok(poprt_session_run(session, io));
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(y[i], 2 * x[i] + b);
    poprt_stepio_release(io);
}

START_TEST(sessions_are_made_of_models_and_sessions)
{
    poprt_model *model = linear(3);
    poprt_config *config = NULL;
    poprt_session *session = NULL, *other = NULL;
    float nine = 9;
    const poprt_tensor b = { .data = &nine, .size = 4, .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "constant_weights", "false"));
    ck_assert_ok(poprt_session_create_from_model(model, config, &session));
    poprt_model_release(model);
    ck_linear(session, 3);
    ck_assert_ok(poprt_session_write_weight(session, "b", &b));
    ck_linear(session, 9);
    ck_assert_ok(poprt_session_create_from_session(session, NULL, &other));
    ck_linear(session, 9);
    poprt_session_release(session);
    ck_linear(other, 3); /* the weights of the executable */
    poprt_session_release(other);
    ck_assert_fails(poprt_session_create_from_model(NULL, NULL, &session), POPRT_E_ARG);
    ck_assert_fails(poprt_session_create_from_session(NULL, NULL, &session), POPRT_E_ARG);
    poprt_config_release(config);
}
END_TEST

START_TEST(sessions_are_made_of_files)
{
    char onnx[] = "/tmp/poprt-programs-XXXXXX", popef[64];
    const int file = mkstemp(onnx);
    ck_assert_int_ge(file, 0);
    close(file);
    (void)snprintf(popef, sizeof(popef), "%s.popef", onnx);
    poprt_model *model = linear(5);
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(poprt_model_save_file(model, onnx));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_save_file(exec, popef));
    poprt_executable_release(exec);
    poprt_model_release(model);
    const char *const paths[] = { onnx, popef };
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_session_create_from_file(NULL, paths[i], NULL, &session));
        ck_linear(session, 5);
        poprt_session_release(session);
    }
    (void)unlink(onnx);
    (void)unlink(popef);
    ck_assert_fails(poprt_session_create_from_file(NULL, onnx, NULL, &session), POPRT_E_NOT_FOUND);
}
END_TEST

/* ---- streams */

typedef struct stream {
    int calls, replica;
    float next; /* of inputs: the value of all elements of the next block */
    float seen[16][4];
    poprt_status status;
} stream;

static poprt_status pull(void *user, const char *name, int32_t replica, poprt_tensor *tensor)
{
    static float block[4];
    stream *s = user;
    ck_assert_str_eq(name, "x");
    ck_assert_int_eq(tensor->dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_uint_eq(tensor->rank, 2);
    for (int i = 0; i < 4; i++)
        block[i] = s->next;
    s->next += 1;
    s->calls++;
    s->replica = replica;
    tensor->data = block;
    tensor->size = sizeof(block);
    return s->status;
}

static poprt_status push(void *user, const char *name, int32_t replica, poprt_tensor *tensor)
{
    stream *s = user;
    ck_assert_str_eq(name, "y");
    ck_assert_uint_eq(tensor->size, 4 * sizeof(float));
    memcpy(s->seen[s->calls++], tensor->data, tensor->size);
    s->replica = replica;
    return s->status;
}

START_TEST(streams_replace_bindings)
{
    poprt_model *model = linear(1);
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    stream in = { .next = 10 }, to = { 0 };
    ck_assert_ok(poprt_session_create_from_model(model, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_connect(io, "x", 0, pull, &in));
    ck_assert_ok(poprt_stepio_connect(io, "y", 0, push, &to));
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_int_eq(to.calls, i + 1);
        ck_assert_float_eq(to.seen[i][3], 2.0f * (10.0f + (float)i) + 1);
    }
    ck_assert_fails(poprt_stepio_output(io, 1, &out), POPRT_E_STATE);
    in.status = POPRT_E_IO;
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_IO);
    in.status = POPRT_OK;
    to.status = POPRT_E_LIMIT;
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_LIMIT);
    to.status = POPRT_OK;
    ck_assert_fails(poprt_stepio_connect(io, "x", 1, pull, &in), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_connect(io, "x", -1, pull, &in), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_connect(io, "z", 0, pull, &in), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_stepio_connect(io, "y", 0, NULL, NULL));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 1, &out));
    ck_assert_int_eq(to.calls, 4);
    ck_assert_ok(poprt_stepio_connect(io, "x", 0, NULL, NULL));
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_model_release(model);
}
END_TEST

static poprt_status in_callback(void *user, const char *name, poprt_tensor *tensor)
{
    static int64_t dims[] = { 1, 4 };
    tensor->rank = 2;
    tensor->dims = dims;
    return pull(user, name, 0, tensor);
}

static poprt_status out_callback(void *user, const char *name, poprt_tensor *tensor)
{
    static float block[4];
    (void)user;
    (void)name;
    tensor->data = block;
    tensor->size = sizeof(block);
    return POPRT_OK;
}

/* Three batches on two replicas; replica 1 has streams, replica 0 a buffer or callbacks. */
START_TEST(one_replica_has_streams)
{
    enum { BATCHES = 3, REPLICAS = 2 };
    for (int with_callbacks = 0; with_callbacks < 2; with_callbacks++) {
        float x[BATCHES * REPLICAS * 4], y[BATCHES * REPLICAS * 4] = { 0 };
        poprt_model *model = linear(1);
        poprt_config *config = NULL;
        poprt_flow *flow = NULL;
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        poprt_stepio *io = NULL;
        stream rest = { .next = 500 }, in = { .next = 100 }, to = { 0 };
        const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
            .user = &rest,
            .in = in_callback,
            .out = out_callback };
        ck_assert_ok(poprt_config_create(NULL, &config));
        ck_assert_ok(poprt_config_set(config, "enable_replicated_graphs", "true"));
        ck_assert_ok(poprt_config_set(config, "replicated_graph_count", "2"));
        ck_assert_ok(poprt_flow_create(NULL, BATCHES, &flow));
        ck_assert_ok(poprt_compile_flow(model, flow, config, &exec));
        ck_assert_ok(poprt_session_create(exec, NULL, &session));
        if (with_callbacks != 0) {
            ck_assert_ok(poprt_stepio_create_callbacks(session, &callbacks, &io));
        } else {
            ck_assert_ok(poprt_stepio_create(session, &io));
            for (int i = 0; i < BATCHES * REPLICAS * 4; i++)
                x[i] = (float)(i / 4);
            const int64_t dims[] = { BATCHES, REPLICAS, 1, 4 };
            const poprt_tensor tx = { x, sizeof(x), dims, 4, POPRT_DTYPE_FLOAT32 };
            const poprt_tensor ty = { y, sizeof(y), dims, 4, POPRT_DTYPE_FLOAT32 };
            ck_assert_ok(poprt_stepio_bind(io, "x", &tx));
            ck_assert_ok(poprt_stepio_bind(io, "y", &ty));
        }
        ck_assert_ok(poprt_stepio_connect(io, "x", 1, pull, &in));
        ck_assert_ok(poprt_stepio_connect(io, "y", 1, push, &to));
        ck_assert_fails(poprt_stepio_connect(io, "y", 2, push, &to), POPRT_E_ARG);
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_int_eq(in.calls, BATCHES);
        ck_assert_int_eq(in.replica, 1);
        ck_assert_int_eq(to.calls, BATCHES);
        ck_assert_int_eq(to.replica, 1);
        ck_assert_int_eq(rest.calls, with_callbacks != 0 ? BATCHES : 0);
        for (int b = 0; b < BATCHES; b++) {
            ck_assert_float_eq(to.seen[b][0], 2.0f * (100.0f + (float)b) + 1);
            if (with_callbacks != 0)
                continue;
            ck_assert_float_eq(y[b * 8], 2.0f * (float)(2 * b) + 1);
            ck_assert_float_eq(y[b * 8 + 4], 0); /* of replica 1: passed to the stream */
        }
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_executable_release(exec);
        poprt_flow_release(flow);
        poprt_config_release(config);
        poprt_model_release(model);
    }
}
END_TEST

/* ---- data flow of an executable */

START_TEST(executables_tell_their_data_flow)
{
    poprt_model *model = linear(1);
    poprt_flow *flow = NULL;
    poprt_executable *exec = NULL;
    poprt_batching b = { .struct_size = sizeof(b) };
    int64_t dims[] = { 1, 4 }, out[3], blocks;
    uint32_t rank;
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_get_batching(exec, POPRT_INPUT, 0, &b));
    ck_assert_int_eq(b.batches_per_step, 1);
    poprt_executable_release(exec);
    ck_assert_ok(poprt_flow_create(NULL, 6, &flow));
    ck_assert_ok(poprt_flow_anchor(flow, "y", POPRT_ANCHOR_EVERY_N, 2));
    ck_assert_ok(poprt_compile_flow(model, flow, NULL, &exec));
    ck_assert_ok(poprt_executable_get_batching(exec, POPRT_INPUT, 0, &b));
    ck_assert_ok(poprt_batching_shape(&b, 2, dims, &rank, out, &blocks));
    ck_assert_int_eq(blocks, 6);
    ck_assert_ok(poprt_executable_get_batching(exec, POPRT_OUTPUT, 0, &b));
    ck_assert_int_eq(b.type, POPRT_ANCHOR_EVERY_N);
    ck_assert_ok(poprt_batching_shape(&b, 2, dims, &rank, out, &blocks));
    ck_assert_int_eq(blocks, 3);
    ck_assert_fails(poprt_executable_get_batching(exec, POPRT_OUTPUT, 1, &b), POPRT_E_NOT_FOUND);
    poprt_executable_release(exec);
    poprt_flow_release(flow);
    poprt_model_release(model);
}
END_TEST

PRT_TEST_MAIN("api/programs", programs_run_by_name, names_of_programs_are_checked,
    sessions_are_made_of_models_and_sessions, sessions_are_made_of_files, streams_replace_bindings,
    one_replica_has_streams, executables_tell_their_data_flow)
