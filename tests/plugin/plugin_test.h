/* SPDX-License-Identifier: MIT */
/*
 * plugin_test.h — helpers shared by the tests of plug-ins. They use public headers and the shared
 * object only. PRT_TEST_DATA is the folder of their models.
 */
#ifndef PRT_TESTS_PLUGIN_PLUGIN_TEST_H
#define PRT_TESTS_PLUGIN_PLUGIN_TEST_H

#include <stdlib.h>

#include "api/api_test.h"
#include "poprt/plugin.h"

#define MODEL(name) PRT_TEST_DATA "/" name "/model.onnx"

/* The same; the message must contain `words`. */
#define ck_assert_says(expr, expected, words)                                                      \
    do {                                                                                           \
        ck_assert_fails(expr, expected);                                                           \
        ck_assert_msg(strstr(poprt_last_error()->message, words) != NULL, "'%s' not in '%s'",      \
            words, poprt_last_error()->message);                                                   \
    } while (0)

static inline poprt_env *make_env(void)
{
    poprt_env *env = NULL;
    ck_assert_ok(poprt_env_create(NULL, &env));
    return env;
}

static inline poprt_model *load_model(poprt_env *env, const char *path)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_file(env, path, NULL, &model));
    return model;
}

/* Runs one pass and returns its status. */
static inline poprt_status run_pass(poprt_env *env, poprt_model *model, const char *pass)
{
    poprt_pass_manager *manager = NULL;
    ck_assert_ok(poprt_pass_manager_create(env, &manager));
    poprt_status status = poprt_pass_manager_add(manager, pass, NULL);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    return status;
}

/* Runs a model with one input x and one output, both float32[2,3]. */
static inline poprt_status run_exec(poprt_executable *exec, const float *x, float *y)
{
    const int64_t dims[] = { 2, 3 };
    const poprt_tensor in = { .data = (void *)(uintptr_t)x,
        .size = 24,
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { .data = y,
        .size = 24,
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "y", &out));
    const poprt_status status = poprt_session_run(session, io);
    poprt_stepio_release(io);
    poprt_session_release(session);
    return status;
}

static inline void expect_result(poprt_model *model, const float *x, const float *expected)
{
    poprt_executable *exec = NULL;
    float y[6] = { 0 };
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(run_exec(exec, x, y));
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(y[i], expected[i]);
    poprt_executable_release(exec);
}

/* Returns the graph as text; the caller frees it. */
static inline char *text_of(const poprt_model *model)
{
    buffer b = { NULL, 0 };
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_TEXT, buffer_write, &b));
    return (char *)b.data;
}

/* A plug-in whose pass is one function. */
typedef poprt_status (
    *run_fn)(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph, int32_t *changed);

typedef struct one_pass {
    poprt_plugin_pass pass;
    const poprt_plugin_pass *passes[1];
    poprt_plugin plugin;
} one_pass;

static inline void make_pass(one_pass *p, run_fn run)
{
    p->pass = (poprt_plugin_pass){ .struct_size = sizeof(p->pass),
        .name = "try_it",
        .doc = "Of a test.",
        .run = run };
    p->passes[0] = &p->pass;
    p->plugin = (poprt_plugin){ .struct_size = sizeof(p->plugin),
        .abi = POPRT_PLUGIN_ABI,
        .name = "here",
        .version = "0",
        .passes = p->passes,
        .n_passes = 1 };
}

/* Adds a plug-in with one operator. */
static inline poprt_status add_op(poprt_env *env, const poprt_plugin_op *op)
{
    const poprt_plugin_op *const ops[] = { op };
    const poprt_plugin plugin = { .struct_size = sizeof(plugin),
        .abi = POPRT_PLUGIN_ABI,
        .name = "here",
        .version = "0",
        .ops = ops,
        .n_ops = 1 };
    return poprt_env_add_plugin(env, &plugin);
}

#endif
