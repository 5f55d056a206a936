/* SPDX-License-Identifier: MIT */
/*
 * test_errors.c — wrong arguments and wrong files give a status and a message, and leave all
 * objects usable.
 */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api_test.h"
#include "models.h"

START_TEST(null_arguments_are_refused)
{
    poprt_model *model = NULL;
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor tensor = { 0 };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_env_create(NULL, NULL), POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "out");
    ck_assert_fails(poprt_config_create(NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(NULL, "seed", "1"), POPRT_E_ARG);
    ck_assert_fails(poprt_model_load_file(NULL, NULL, NULL, &model), POPRT_E_ARG);
    ck_assert_fails(poprt_model_load_file(NULL, DIGITS, NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_model_load_bytes(NULL, NULL, 1, NULL, &model), POPRT_E_ARG);
    ck_assert_fails(poprt_model_clone(NULL, &model), POPRT_E_ARG);
    ck_assert_fails(poprt_model_save_file(NULL, "x"), POPRT_E_ARG);
    ck_assert_fails(poprt_model_save_file_as(NULL, "x", NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_model_describe(NULL, 0, buffer_write, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_pass_manager_add(NULL, "x", NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_pass_manager_run(NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_compile(NULL, NULL, &exec), POPRT_E_ARG);
    ck_assert_fails(poprt_executable_save(exec, NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_executable_describe(exec, 77, buffer_write, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_session_create(NULL, NULL, &session), POPRT_E_ARG);
    ck_assert_fails(poprt_session_run(session, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_session_submit(NULL, io, NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_session_drain(NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_bind(io, NULL, &tensor), POPRT_E_ARG);
    ck_assert_fails(poprt_stepio_output(io, 1, NULL), POPRT_E_ARG);
    ck_assert_ptr_null(model);
    poprt_session_cancel(NULL);
    ck_assert_uint_eq(poprt_session_memory(NULL), 0);
    ck_assert_uint_eq(poprt_model_io_count(NULL, POPRT_INPUT), 0);
    ck_assert_uint_eq(poprt_env_width(NULL), 1);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_env_release(NULL);
    poprt_config_release(NULL);
    poprt_model_release(NULL);
    poprt_pass_manager_release(NULL);
    poprt_executable_release(NULL);
    poprt_session_release(NULL);
    poprt_stepio_release(NULL);
}
END_TEST

START_TEST(wrong_bindings_are_refused)
{
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float x[4] = { 0 }, y[3] = { 0 };
    int64_t wide[] = { 2, 3 }, good[] = { 2, 2 }, negative[] = { -1, 2 };
    poprt_tensor t = { .data = x,
        .size = sizeof(x),
        .dims = wide,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor out = { .data = y, .size = sizeof(y), .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_SHAPE);
    ck_assert_fails(poprt_stepio_bind(io, "z", &t), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_stepio_bind_at(io, 2, &t), POPRT_E_NOT_FOUND);
    t.dims = negative;
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_ARG);
    t.dims = good;
    t.rank = 1;
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_SHAPE);
    t.rank = 9;
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_LIMIT);
    t.rank = 2;
    t.dtype = POPRT_DTYPE_INT32;
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_TYPE);
    t.dtype = POPRT_DTYPE_FLOAT32;
    t.size = 15;
    ck_assert_fails(poprt_stepio_bind(io, "x", &t), POPRT_E_ARG);
    t.size = sizeof(x);
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    ck_assert_fails(poprt_stepio_output(io, 1, &out), POPRT_E_STATE);
    ck_assert_ok(poprt_stepio_bind(io, "x", &t));
    ck_assert_ok(poprt_stepio_bind(io, "y", &out));
    /* Two rows do not fit a buffer of one row. The session still works after the failed run. */
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_ARG);
    ck_assert_ok(poprt_stepio_bind(io, "y", NULL));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 1, &out));
    ck_assert_int_eq(out.dims[0], 2);
    ck_assert_float_eq(((float *)out.data)[0], 0.5f);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(missing_and_foreign_files_are_refused)
{
    char path[] = "/tmp/poprt-api-XXXXXX";
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_fails(poprt_model_load_file(NULL, "/nonexistent/m.onnx", NULL, &model),
        POPRT_E_NOT_FOUND);
    ck_assert_str_eq(poprt_last_error()->file, "/nonexistent/m.onnx");
    ck_assert_str_eq(poprt_last_error()->stage, "read");
    ck_assert_int_ne(poprt_model_load_file(NULL, path, NULL, &model), POPRT_OK);
    ck_assert_int_ne(poprt_executable_load_file(NULL, path, NULL, &exec), POPRT_OK);
    ck_assert_int_eq(write(fd, "PNG and nothing else, over and over again", 41), 41);
    ck_assert_int_ne(poprt_model_load_file(NULL, path, NULL, &model), POPRT_OK);
    ck_assert_int_ne(poprt_executable_load_file(NULL, path, NULL, &exec), POPRT_OK);
    ck_assert_str_eq(poprt_last_error()->file, path);
    ck_assert_int_ne(poprt_executable_load_file(NULL, DIGITS, NULL, &exec), POPRT_OK);
    ck_assert_ptr_null(model);
    ck_assert_ptr_null(exec);
    (void)close(fd);
    (void)unlink(path);
}
END_TEST

START_TEST(every_prefix_of_a_model_is_refused_or_a_model)
{
    for (size_t n = 0; n < sizeof(loop_model); n++) {
        poprt_model *model = NULL;
        unsigned char *copy = malloc(n + 1);
        memcpy(copy, loop_model, n);
        if (poprt_model_load_bytes(NULL, copy, n, NULL, &model) != POPRT_OK)
            ck_assert_ptr_null(model);
        poprt_model_release(model);
        free(copy);
    }
}
END_TEST

START_TEST(popef_prefixes_and_flips_are_handled)
{
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    poprt_config *config = NULL;
    buffer b = { 0 };
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &b));
    poprt_executable_release(exec);
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "verify", "full"));
    for (size_t n = 0; n < b.size; n++) {
        poprt_executable *again = NULL;
        ck_assert_int_ne(poprt_executable_load_bytes(NULL, b.data, n, config, &again), POPRT_OK);
        ck_assert_ptr_null(again);
    }
    for (size_t bit = 0; bit < 8 * b.size; bit++) {
        poprt_executable *again = NULL;
        b.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (poprt_executable_load_bytes(NULL, b.data, b.size, config, &again) == POPRT_OK)
            poprt_executable_release(again);
        b.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    poprt_config_release(config);
    free(b.data);
}
END_TEST

/* A file with one flipped bit is opened without checksum verification and saved again. The
 * result has the bytes of the undamaged file, or saving fails. */
START_TEST(damaged_weights_are_not_saved)
{
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    buffer b = { 0 };
    size_t refused = 0;
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &b));
    poprt_executable_release(exec);
    for (size_t bit = 0; bit < 8 * b.size; bit++) {
        poprt_executable *again = NULL;
        buffer copy = { 0 };
        unsigned char *flipped = &b.data[bit / 8];
        *flipped ^= (unsigned char)(1u << bit % 8);
        const poprt_status opened = poprt_executable_load_bytes(NULL, b.data, b.size, NULL, &again);
        const poprt_status saved =
            opened == POPRT_OK ? poprt_executable_save(again, buffer_write, &copy) : opened;
        poprt_executable_release(again);
        *flipped ^= (unsigned char)(1u << bit % 8);
        if (opened == POPRT_OK && saved != POPRT_OK) {
            ck_assert_int_eq(saved, POPRT_E_PARSE);
            ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "fails the checksum"));
            ck_assert_str_ne(poprt_last_error()->subject, "");
            refused++;
        } else if (saved == POPRT_OK) {
            ck_assert_uint_eq(copy.size, b.size);
            ck_assert_int_eq(memcmp(copy.data, b.data, b.size), 0);
        }
        free(copy.data);
    }
    ck_assert_uint_ge(refused, 8 * 16); /* every bit of the weights */
    free(b.data);
}
END_TEST

START_TEST(a_failing_writer_is_reported)
{
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    ck_assert_fails(poprt_executable_save_file(exec, "/nonexistent/x.popef"), POPRT_E_NOT_FOUND);
    poprt_executable_release(exec);
}
END_TEST

/* ONNX and PopEF files, on a disk that is full from the first byte. */
START_TEST(a_full_disk_is_reported)
{
    poprt_model *model = NULL;
    poprt_executable *exec = compile_digits(NULL);
    char path[64];
    ck_assert_ok(poprt_model_load_file(NULL, DIGITS, NULL, &model));
    (void)snprintf(path, sizeof(path), "/tmp/poprt-test-full-%d", (int)getpid());
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = { 0, 0 };
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            ck_assert_fails(poprt_model_save_file(model, path), POPRT_E_IO);
        else
            ck_assert_fails(poprt_executable_save_file(exec, path), POPRT_E_IO);
        ck_assert_str_eq(poprt_last_error()->file, path);
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "File too large"));
    }
    ck_assert_int_ne(access(path, F_OK), 0);
    poprt_model_release(model);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("api/errors", null_arguments_are_refused, wrong_bindings_are_refused,
    missing_and_foreign_files_are_refused, every_prefix_of_a_model_is_refused_or_a_model,
    popef_prefixes_and_flips_are_handled, damaged_weights_are_not_saved,
    a_failing_writer_is_reported, a_full_disk_is_reported)
