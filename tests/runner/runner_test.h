/* SPDX-License-Identifier: MIT */
/* runner_test.h — helpers of the tests of runners: configs, requests for the digits model. */
#ifndef PRT_TESTS_RUNNER_RUNNER_TEST_H
#define PRT_TESTS_RUNNER_RUNNER_TEST_H

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "api/api_test.h"
#include "poprt/runner.h"

/* Makes a config from pairs of keys and values, which NULL ends. */
static inline poprt_config *config_of(const char *const *pairs)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    for (; *pairs != NULL; pairs += 2)
        ck_assert_ok(poprt_config_set(config, pairs[0], pairs[1]));
    return config;
}

/* Creates a runner with options "key", "value", ... */
static inline poprt_runner *open_runner(poprt_executable *exec, const char *const *pairs)
{
    poprt_runner *runner = NULL;
    poprt_config *config = config_of(pairs);
    ck_assert_ok(poprt_runner_create(exec, config, &runner));
    poprt_config_release(config);
    return runner;
}
#define OPEN_RUNNER(exec, ...) open_runner(exec, (const char *const[]){ __VA_ARGS__, NULL })

/* Asserts that a runner with these options is refused. */
static inline void refuse_runner(poprt_executable *exec, const char *const *pairs,
    poprt_status expected, const char *part)
{
    poprt_runner *runner = NULL;
    poprt_config *config = config_of(pairs);
    ck_assert_fails(poprt_runner_create(exec, config, &runner), expected);
    ck_assert_ptr_null(runner);
    char text[4096];
    (void)snprintf(text, sizeof(text), "%s %s", poprt_last_error()->subject,
        poprt_last_error()->message);
    ck_assert_msg(strstr(text, part) != NULL, "no '%s' in: %s", part, text);
    poprt_config_release(config);
}
#define REFUSE_RUNNER(exec, expected, part, ...)                                                   \
    refuse_runner(exec, (const char *const[]){ __VA_ARGS__, NULL }, expected, part)

/* A request with float tensors. */
typedef struct float_request {
    poprt_named_tensor in[4], out[2];
    poprt_runner_call call;
} float_request;

static inline void add(poprt_named_tensor *list, size_t *n, const char *name, float *data,
    size_t count)
{
    list[(*n)++] = (poprt_named_tensor){ name,
        { .data = data, .size = 4 * count, .dtype = POPRT_DTYPE_FLOAT32 } };
}

static inline float_request *begin(float_request *r)
{
    memset(r, 0, sizeof(*r));
    r->call.struct_size = sizeof(r->call);
    r->call.inputs = r->in;
    r->call.outputs = r->out;
    return r;
}

static inline void add_in(float_request *r, const char *name, float *data, size_t count)
{
    add(r->in, &r->call.n_inputs, name, data, count);
}

static inline void add_out(float_request *r, const char *name, float *data, size_t count)
{
    add(r->out, &r->call.n_outputs, name, data, count);
}

static inline poprt_executable *compile_with(poprt_model *model, const char *const *pairs)
{
    poprt_executable *exec = NULL;
    poprt_config *config = config_of(pairs);
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_config_release(config);
    poprt_model_release(model);
    return exec;
}
#define COMPILE_WITH(model, ...) compile_with(model, (const char *const[]){ __VA_ARGS__, NULL })

enum { MOST_ROWS = 64 };

/* A request for the digits model: rows of 64 pixels and 10 scores. The shapes are left out. */
typedef struct digits_request {
    poprt_named_tensor in, out;
    poprt_runner_call call;
    float images[MOST_ROWS * 64], scores[MOST_ROWS * 10];
} digits_request;

static inline void fill_image(float *image, uint32_t seed)
{
    for (int i = 0; i < 64; i++) {
        seed = seed * 1664525u + 1013904223u;
        image[i] = (float)(seed >> 24) / 255.0f;
    }
}

static inline void digits_init(digits_request *r, uint32_t seed, size_t rows)
{
    ck_assert_uint_le(rows, MOST_ROWS);
    for (size_t i = 0; i < rows; i++)
        fill_image(r->images + 64 * i, seed + (uint32_t)i);
    memset(r->scores, 0, sizeof(r->scores));
    r->in = (poprt_named_tensor){ "image",
        { .data = r->images, .size = rows * 256, .dtype = POPRT_DTYPE_FLOAT32 } };
    r->out = (poprt_named_tensor){ "logits",
        { .data = r->scores, .size = rows * 40, .dtype = POPRT_DTYPE_FLOAT32 } };
    r->call = (poprt_runner_call){ .struct_size = sizeof(r->call),
        .inputs = &r->in,
        .n_inputs = 1,
        .outputs = &r->out,
        .n_outputs = 1 };
}

/* Computes scores in a session of the same executable: each image is the first row of a batch of
 * `batch` rows whose others are zeros, without Strassen's algorithm. */
static inline void expect_scores(poprt_executable *exec, uint32_t seed, size_t rows, int64_t batch,
    float *scores)
{
    const char *const pairs[] = { "strassen", "false", NULL };
    const int64_t in_dims[] = { batch, 1, 8, 8 }, out_dims[] = { batch, 10 };
    poprt_config *config = config_of(pairs);
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float *images = calloc((size_t)batch * 64, sizeof(float));
    float *all = calloc((size_t)batch * 10, sizeof(float));
    ck_assert_ptr_nonnull(images);
    ck_assert_ptr_nonnull(all);
    const poprt_tensor in = { images, (size_t)batch * 256, in_dims, 4, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { all, (size_t)batch * 40, out_dims, 2, POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "image", &in));
    ck_assert_ok(poprt_stepio_bind(io, "logits", &out));
    for (size_t i = 0; i < rows; i++) {
        fill_image(images, seed + (uint32_t)i);
        ck_assert_ok(poprt_session_run(session, io));
        memcpy(scores + 10 * i, all, 40);
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_config_release(config);
    free(images);
    free(all);
}

static inline uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline poprt_runner_stats stats_of(poprt_runner *runner)
{
    poprt_runner_stats stats = { .struct_size = sizeof(stats) };
    ck_assert_ok(poprt_runner_get_stats(runner, &stats));
    return stats;
}

#define MS 1000000u
#define SECOND 1000000000u

/* ---- gates, which keep a thread of a runner */

typedef struct gate {
    sem_t inside, open;
    poprt_status status;
    _Atomic uint32_t calls;
} gate;

/* A callback that keeps its thread until the gate is opened. */
static inline void wait_at_gate(void *user, poprt_status status, const poprt_error *error)
{
    gate *g = user;
    (void)error;
    g->status = status;
    (void)sem_post(&g->inside);
    (void)sem_wait(&g->open);
}

/* An executor of a host that keeps a run until a gate is opened. */
static inline void run_at_gate(void *user, uint32_t n, poprt_parallel_body body, void *arg)
{
    gate *g = user;
    if (g->calls++ == 0) {
        (void)sem_post(&g->inside);
        (void)sem_wait(&g->open);
    }
    for (uint32_t i = 0; i < n; i++)
        body(arg, i);
}

/* Compiles digits in an environment whose first parallel work waits at a gate. */
static inline poprt_executable *compile_at_gate(gate *g)
{
    const poprt_parallel parallel = { .user = g, .run = run_at_gate, .width = 2 };
    const poprt_env_options options = { .struct_size = sizeof(options), .parallel = &parallel };
    poprt_env *env = NULL;
    memset(g, 0, sizeof(*g));
    g->calls = 1; /* compiling does not wait */
    (void)sem_init(&g->inside, 0, 0);
    (void)sem_init(&g->open, 0, 0);
    ck_assert_ok(poprt_env_create(&options, &env));
    poprt_executable *exec = compile_digits(env);
    poprt_env_release(env);
    return exec;
}

#endif
