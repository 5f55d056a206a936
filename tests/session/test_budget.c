/* SPDX-License-Identifier: MIT */
/*
 * test_budget.c — memory that products may use, and sessions that do not fit into memory_limit.
 * Covers: api/memory_check.c.
 */
#include "session_test.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 512, WIDTH = 32, INNER = 1024 };

/* Two products with a wide value between them. */
static poprt_model *wide(void)
{
    poprt_builder *b = new_builder(20);
    const poprt_id x = FLOATS(b, ROWS, WIDTH);
    poprt_id y = poprt_op_matmul(b, x, add_weight(b, "up", (const int64_t[]){ WIDTH, INNER }, 2),
        &(poprt_matmul_attrs){ .name = "widen" });
    y = poprt_op_tanh(b, y, NULL);
    y = poprt_op_matmul(b, y, add_weight(b, "down", (const int64_t[]){ INNER, WIDTH }, 2), NULL);
    ck_assert_ok(poprt_builder_output(b, y));
    return finish(b);
}

static size_t planned_bytes(const poprt_model *model, const char *options)
{
    poprt_config *config = options_of(NULL, options);
    poprt_executable *exec = NULL;
    size_t bytes = 0;
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_executable_session_memory(exec, NULL, &bytes));
    poprt_executable_release(exec);
    poprt_config_release(config);
    return bytes;
}

START_TEST(a_share_of_the_memory_is_kept)
{
    static const int64_t dims[] = { ROWS, WIDTH };
    static float x[ROWS * WIDTH], whole[ROWS * WIDTH], parts[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = sinf((float)i) * 0.1f;
    poprt_model *model = wide();
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), dims, 2);
    const size_t all = planned_bytes(model, "");
    const size_t half = planned_bytes(model, "available_memory_proportion = 0.5");
    const size_t eighth = planned_bytes(model, "setAvailableMemoryProportion({\"IPU0\": 0.125})");
    ck_assert_uint_gt(all, (size_t)ROWS * INNER * 4);
    ck_assert_uint_lt(half, all - (size_t)ROWS * INNER * 4 / 3);
    ck_assert_uint_lt(eighth, half - (size_t)ROWS * INNER * 4 / 4);
    ck_assert_ok(run_once(model, "", &in, whole, sizeof(whole)));
    ck_assert_ok(run_once(model, "available_memory_proportion = 0.125", &in, parts, sizeof(parts)));
    for (int i = 0; i < ROWS * WIDTH; i++)
        ck_assert_float_eq_tol(parts[i], whole[i], 2e-2f);
    poprt_model_release(model);
}
END_TEST

START_TEST(a_session_over_its_budget_names_the_largest_tensors)
{
    char folder[64], path[128], options[256], line[64];
    poprt_model *model = wide();
    poprt_config *none = options_of(NULL, "");
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    size_t bytes = 0;
    (void)snprintf(folder, sizeof(folder), "budget_%ld", (long)getpid());
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_ok(poprt_compile(model, none, &exec));
    ck_assert_ok(poprt_executable_session_memory(exec, NULL, &bytes));
    (void)snprintf(options, sizeof(options), "memory_limit = %zu\nlog_dir = %s", bytes - 1, folder);
    poprt_config *tight = options_of(NULL, options);
    ck_assert_fails(poprt_session_create(exec, tight, &session), POPRT_E_NOMEM);
    const char *message = poprt_last_error()->message;
    (void)snprintf(line, sizeof(line), "needs %zu bytes, and memory_limit is %zu", bytes,
        bytes - 1);
    ck_assert_msg(strstr(message, line) != NULL, "%s", message);
    (void)snprintf(line, sizeof(line), "of %d bytes", ROWS * INNER * 4);
    ck_assert_msg(strstr(message, line) != NULL, "%s", message);
    (void)snprintf(path, sizeof(path), "%s/out_of_memory.json", folder);
    ck_assert_msg(strstr(message, path) != NULL, "%s", message);
    ck_assert_int_eq(remove(path), 0);
    (void)snprintf(options, sizeof(options), "memory_limit = %zu", bytes - 1);
    poprt_config *plain = options_of(NULL, options);
    ck_assert_fails(poprt_session_create(exec, plain, &session), POPRT_E_NOMEM);
    ck_assert_ptr_null(strstr(poprt_last_error()->message, "report"));
    (void)snprintf(options, sizeof(options), "memory_limit = %zu", bytes + (1 << 16));
    poprt_config *fits = options_of(NULL, options);
    ck_assert_ok(poprt_session_create(exec, fits, &session));
    poprt_session_release(session);
    ck_assert_int_eq(rmdir(folder), 0);
    poprt_config_release(fits);
    poprt_config_release(plain);
    poprt_config_release(tight);
    poprt_config_release(none);
    poprt_executable_release(exec);
    poprt_model_release(model);
}
END_TEST

PRT_TEST_MAIN("session/budget", a_share_of_the_memory_is_kept,
    a_session_over_its_budget_names_the_largest_tensors)
