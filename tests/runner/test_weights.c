/* SPDX-License-Identifier: MIT */
/*
 * test_weights.c — weights that change for all sessions of a runner; stop and reload; executables
 * of other versions.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "api/models.h"
#include "runner_test.h"

static poprt_model *load_dense(void)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_bytes(NULL, dense_model, sizeof(dense_model), NULL, &model));
    return model;
}

static float run_dense(poprt_runner *runner)
{
    float x[2] = { 1, 1 }, y[3] = { 0 };
    float_request r;
    begin(&r);
    add_in(&r, "x", x, 2);
    add_out(&r, "y", y, 3);
    ck_assert_ok(poprt_runner_execute(runner, &r.call));
    return y[0];
}

static void check_weights(poprt_executable *exec, const char *type, const char *sessions)
{
    static const int64_t dims[] = { 2, 3 };
    float weight[6] = { 7, 0, 0, 8, 0, 0 };
    poprt_tensor w = { weight, sizeof(weight), dims, 2, POPRT_DTYPE_FLOAT32 };
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "1", "runner_type", type, "runner_sessions", sessions);
    ck_assert_float_eq(run_dense(runner), 5.5f);
    ck_assert_ok(poprt_runner_set_weight(runner, "weight", &w));
    weight[0] = 100; /* the data was copied */
    ck_assert_float_eq(run_dense(runner), 5.5f);
    ck_assert_ok(poprt_runner_update_weights(runner));
    for (int i = 0; i < 8; i++)
        ck_assert_float_eq(run_dense(runner), 15.5f);
    ck_assert_ok(poprt_runner_set_weight(runner, "weight", &w)); /* not updated: not kept */
    ck_assert_ok(poprt_runner_stop(runner));
    ck_assert_ok(poprt_runner_stop(runner));
    ck_assert_fails(poprt_runner_set_weight(runner, "weight", &w), POPRT_E_STATE);
    ck_assert_ok(poprt_runner_reload(runner));
    ck_assert_ok(poprt_runner_reload(runner));
    ck_assert_float_eq(run_dense(runner), 15.5f);
    ck_assert_ok(poprt_runner_update_weights(runner));
    ck_assert_float_eq(run_dense(runner), 108.5f);
    ck_assert_fails(poprt_runner_set_weight(runner, "wait", &w), POPRT_E_NOT_FOUND);
    w.rank = 1;
    ck_assert_fails(poprt_runner_set_weight(runner, "weight", &w), POPRT_E_SHAPE);
    w.rank = 2;
    w.dtype = POPRT_DTYPE_INT32;
    ck_assert_fails(poprt_runner_set_weight(runner, "weight", &w), POPRT_E_TYPE);
    w.dtype = POPRT_DTYPE_FLOAT32;
    w.size = 20;
    ck_assert_fails(poprt_runner_set_weight(runner, "weight", &w), POPRT_E_ARG);
    poprt_runner_release(runner);
}

START_TEST(weights_change_for_all_sessions_at_once)
{
    poprt_executable *exec = COMPILE_WITH(load_dense(), "constant_weights", "false");
    check_weights(exec, "model", "3");
    check_weights(exec, "light", "1");
    poprt_runner *runner = OPEN_RUNNER(exec, "dim.batch", "1");
    bool found = false;
    poprt_runner_io io = { .struct_size = sizeof(io) };
    const size_t n = poprt_runner_io_count(runner, POPRT_RUNNER_EXECUTABLE, POPRT_INPUT);
    for (size_t i = 0; i < n; i++) {
        ck_assert_ok(poprt_runner_io_at(runner, POPRT_RUNNER_EXECUTABLE, POPRT_INPUT, i, &io));
        ck_assert_int_eq(io.has_data, strcmp(io.name, "x") != 0);
        found |= strcmp(io.name, "weight") == 0 && io.size == 24 && io.rank == 2;
    }
    ck_assert(found);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
    exec = COMPILE_WITH(load_dense(), "seed", "0");
    runner = OPEN_RUNNER(exec, "dim.batch", "1");
    static const int64_t three = 3;
    float bias[3] = { 0 };
    const poprt_tensor b = { bias, sizeof(bias), &three, 1, POPRT_DTYPE_FLOAT32 };
    ck_assert_fails(poprt_runner_set_weight(runner, "bias", &b), POPRT_E_STATE);
    poprt_runner_release(runner);
    poprt_executable_release(exec);
}
END_TEST

typedef struct reader {
    poprt_runner *runner;
    pthread_t thread;
    uint32_t runs, mixed, failed;
    _Atomic bool *ends;
} reader;

/* Runs x = (1, 1) until told to end. With all weights and biases k, all results are 3 k. */
static void *read_results(void *user)
{
    reader *r = user;
    float x[2] = { 1, 1 }, y[3];
    float_request request;
    begin(&request);
    add_in(&request, "x", x, 2);
    add_out(&request, "y", y, 3);
    while (!atomic_load(r->ends)) {
        const poprt_status status = poprt_runner_execute(r->runner, &request.call);
        r->failed += status != POPRT_OK && status != POPRT_E_STATE && status != POPRT_E_CANCELLED;
        if (status != POPRT_OK)
            continue;
        r->runs++;
        r->mixed += y[0] != y[1] || y[0] != y[2] || (int)y[0] % 3 != 0;
    }
    return NULL;
}

/* Sets weights and biases to 1, 2, 3, ... while requests run; sometimes reloads. */
static void update_under_load(poprt_executable *exec, const char *type)
{
    static const int64_t dims[] = { 2, 3 }, three = 3;
    float numbers[6];
    const poprt_tensor w = { numbers, 24, dims, 2, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor b = { numbers, 12, &three, 1, POPRT_DTYPE_FLOAT32 };
    static reader readers[6];
    _Atomic bool ends = false;
    poprt_runner *runner =
        OPEN_RUNNER(exec, "dim.batch", "1", "runner_type", type, "runner_sessions", "2");
    for (int k = 1; k <= 100; k++) {
        for (int i = 0; i < 6; i++)
            numbers[i] = (float)k;
        ck_assert_ok(poprt_runner_set_weight(runner, "weight", &w));
        ck_assert_ok(poprt_runner_set_weight(runner, "bias", &b));
        ck_assert_ok(poprt_runner_update_weights(runner));
        for (int i = 0; i < 6 && k == 1; i++) {
            readers[i] = (reader){ .runner = runner, .ends = &ends };
            ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, read_results, &readers[i]),
                0);
        }
        if (k % 25 == 0) {
            ck_assert_ok(poprt_runner_stop(runner));
            ck_assert_ok(poprt_runner_reload(runner));
        }
    }
    atomic_store(&ends, true);
    for (int i = 0; i < 6; i++) {
        (void)pthread_join(readers[i].thread, NULL);
        ck_assert_uint_eq(readers[i].mixed, 0);
        ck_assert_uint_eq(readers[i].failed, 0);
    }
    ck_assert_float_eq(run_dense(runner), 300);
    poprt_runner_release(runner);
}

START_TEST(no_run_sees_half_of_an_update)
{
    poprt_executable *exec = COMPILE_WITH(load_dense(), "constant_weights", "false");
    update_under_load(exec, "model");
    update_under_load(exec, "light");
    poprt_executable_release(exec);
}
END_TEST

START_TEST(a_stopped_runner_refuses_requests)
{
    poprt_executable *exec = compile_digits(NULL);
    for (int light = 0; light < 2; light++) {
        poprt_runner *runner =
            OPEN_RUNNER(exec, "dim.batch", "1", "runner_type", light ? "light" : "model");
        digits_request r;
        digits_init(&r, 1, 1);
        ck_assert_ok(poprt_runner_execute(runner, &r.call));
        ck_assert_ok(poprt_runner_stop(runner));
        ck_assert_fails(poprt_runner_execute(runner, &r.call), POPRT_E_STATE);
        ck_assert_ok(poprt_runner_drain(runner));
        ck_assert_ok(poprt_runner_reload(runner));
        ck_assert_ok(poprt_runner_execute(runner, &r.call));
        ck_assert_ok(poprt_runner_stop(runner));
        poprt_runner_release(runner);
    }
    poprt_executable_release(exec);
}
END_TEST

static uint64_t load_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Changes the version in a PopEF file: the texts in the payload of its second blob, the program,
 * whose checksum is switched off. Fields of a blob: total size at byte 32, content size at 40,
 * flags at 48. */
static void change_version(buffer *file)
{
    static const char version[] = POPRT_VERSION_STRING;
    const size_t length = sizeof(version) - 1;
    unsigned char *blob = file->data + load_u64(file->data + 32);
    const size_t size = (size_t)load_u64(blob + 40);
    int changed = 0;
    blob[48] |= 2;
    for (unsigned char *at = blob + 68 + load_u64(blob + 64) % 65536;
         at + length <= blob + 64 + size; at++)
        if (memcmp(at, version, length) == 0) {
            at[length - 1]++;
            changed++;
        }
    ck_assert_int_gt(changed, 0);
}

START_TEST(an_executable_of_another_version_is_refused)
{
    poprt_executable *exec = compile_digits(NULL), *other = NULL;
    buffer file = { NULL, 0 };
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &file));
    change_version(&file);
    ck_assert_ok(poprt_executable_load_bytes(NULL, file.data, file.size, NULL, &other));
    REFUSE_RUNNER(other, POPRT_E_VERSION, "check_package_hash", "dim.batch", "1");
    poprt_runner *runner = OPEN_RUNNER(other, "dim.batch", "1", "check_package_hash", "false");
    poprt_runner_release(runner);
    poprt_executable_release(other);
    poprt_executable_release(exec);
    free(file.data);
}
END_TEST

PRT_TEST_MAIN("runner/weights", weights_change_for_all_sessions_at_once,
    no_run_sees_half_of_an_update, a_stopped_runner_refuses_requests,
    an_executable_of_another_version_is_refused)
