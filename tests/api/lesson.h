/* SPDX-License-Identifier: MIT */
/* lesson.h — a small model in training, for the tests of training sessions. */
#ifndef PRT_TESTS_API_LESSON_H
#define PRT_TESTS_API_LESSON_H

#include "api_test.h"
#include "training_model.h"

#include "poprt/train.h"

/* The model of training_model.h: loss = mean((x w + b - y)^2) over [4, 3] -> [4, 2]. */
enum { ROWS = 4, IN = 3, OUT = 2 };

typedef struct lesson {
    poprt_env *env;
    poprt_model *model;
    poprt_optimizer *optimizer;
    poprt_flow *flow;
    poprt_config *config;
    float x[64][ROWS * IN], y[64][ROWS * OUT];
} lesson;

static inline lesson *lesson_begin(const char *kind, int64_t batches)
{
    lesson *l = calloc(1, sizeof(*l));
    uint32_t seed = 7;
    ck_assert_ptr_nonnull(l);
    ck_assert_ok(poprt_env_create(NULL, &l->env));
    ck_assert_ok(
        poprt_model_load_bytes(l->env, linear_model, sizeof(linear_model), NULL, &l->model));
    ck_assert_ok(poprt_optimizer_create(l->env, kind, &l->optimizer));
    ck_assert_ok(poprt_flow_create(l->env, batches, &l->flow));
    ck_assert_ok(poprt_config_create(l->env, &l->config));
    for (size_t i = 0; i < 64; i++)
        for (size_t k = 0; k < ROWS * (IN + OUT); k++) {
            seed = seed * 1664525u + 1013904223u;
            const float v = (float)(seed >> 16) / 65536.0f - 0.5f;
            if (k < ROWS * IN)
                l->x[i][k] = v;
            else
                l->y[i][k - ROWS * IN] = v;
        }
    return l;
}

static inline void lesson_end(lesson *l)
{
    poprt_config_release(l->config);
    poprt_flow_release(l->flow);
    poprt_optimizer_release(l->optimizer);
    poprt_model_release(l->model);
    poprt_env_release(l->env);
    free(l);
}

static inline poprt_status lesson_compile(lesson *l, poprt_model *model, poprt_executable **out)
{
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = l->optimizer,
        .flow = l->flow };
    return poprt_compile_training(model, &training, l->config, out);
}

static inline poprt_session *lesson_session(lesson *l)
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    ck_assert_ok(poprt_session_create(exec, l->config, &session));
    poprt_executable_release(exec);
    return session;
}

static inline poprt_stepio *lesson_bind(lesson *l, poprt_session *session, int64_t blocks)
{
    poprt_stepio *io = NULL;
    const int64_t nx = blocks * ROWS * IN, ny = blocks * ROWS * OUT;
    const poprt_tensor x = { l->x, (size_t)nx * 4, &nx, 1, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor y = { l->y, (size_t)ny * 4, &ny, 1, POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &x));
    ck_assert_ok(poprt_stepio_bind(io, "y", &y));
    return io;
}

static inline void lesson_run(lesson *l, poprt_session *session, int steps)
{
    poprt_stepio *io = lesson_bind(l, session, 4);
    for (int i = 0; i < steps; i++)
        ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
}

static inline void lesson_weights(poprt_session *session, float w[IN * OUT], float b[OUT])
{
    poprt_tensor tensor = { .data = w, .size = sizeof(float) * IN * OUT };
    ck_assert_ok(poprt_session_read_weight(session, "w", &tensor));
    tensor = (poprt_tensor){ .data = b, .size = sizeof(float) * OUT };
    ck_assert_ok(poprt_session_read_weight(session, "b", &tensor));
}

#endif
