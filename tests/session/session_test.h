/* SPDX-License-Identifier: MIT */
/* session_test.h — short forms for tests that run a small model under options. */
#ifndef PRT_TESTS_SESSION_SESSION_TEST_H
#define PRT_TESTS_SESSION_SESSION_TEST_H

#include "../builder/build.h"

/* Options as a text of lines, see poprt_config_load_text. */
static inline poprt_config *options_of(poprt_env *env, const char *text)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    ck_assert_ok(poprt_config_load_text(config, "options", text, strlen(text)));
    return config;
}

static inline poprt_tensor tensor_of(int32_t dtype, const void *data, size_t size,
    const int64_t *dims, uint32_t rank)
{
    return (poprt_tensor){ .data = (void *)(uintptr_t)data,
        .size = size,
        .dims = dims,
        .rank = rank,
        .dtype = dtype };
}

/* Compiles a model of one input and one output under options, runs it once, and copies its output
 * to `to`, of `size` bytes. */
static inline poprt_status run_once(const poprt_model *model, const char *options,
    const poprt_tensor *in, void *to, size_t size)
{
    poprt_config *config = options_of(NULL, options);
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_tensor out;
    poprt_io_info input = { .struct_size = sizeof(input) },
                  output = { .struct_size = sizeof(output) };
    poprt_status status = poprt_compile(model, config, &exec);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, config, &session);
    if (status == POPRT_OK) {
        ck_assert_ok(poprt_executable_io_at(exec, POPRT_INPUT, 0, &input));
        ck_assert_ok(poprt_executable_io_at(exec, POPRT_OUTPUT, 0, &output));
        ck_assert_ok(poprt_stepio_create(session, &io));
        ck_assert_ok(poprt_stepio_bind(io, input.name, in));
        status = poprt_session_run(session, io);
    }
    if (status == POPRT_OK) {
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        ck_assert_uint_eq(out.size, size);
        memcpy(to, out.data, size);
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_config_release(config);
    return status;
}

#endif
