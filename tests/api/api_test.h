/* SPDX-License-Identifier: MIT */
/*
 * api_test.h — helpers shared by the tests of the public interface. They use public headers only,
 * the shared object, and the digits model. PRT_TEST_DATA is the folder of test data.
 */
#ifndef PRT_TESTS_API_API_TEST_H
#define PRT_TESTS_API_API_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poprt/poprt.h"
#include "support/check_main.h"

#define DIGITS PRT_TEST_DATA "/digits/model.onnx"

/* Fails the test with the library's error message. */
#define ck_assert_ok(expr)                                                                         \
    do {                                                                                           \
        const poprt_status got_ = (expr);                                                          \
        const poprt_error *e_ = poprt_last_error();                                                \
        ck_assert_msg(got_ == POPRT_OK, "%s: %s %s: %s", #expr, poprt_status_name(got_),           \
            e_->subject, e_->message);                                                             \
    } while (0)

/* Fails the test unless the call failed with this status and set a message. */
#define ck_assert_fails(expr, expected)                                                            \
    do {                                                                                           \
        const poprt_status got_ = (expr);                                                          \
        ck_assert_str_eq(poprt_status_name(got_), poprt_status_name(expected));                    \
        ck_assert_int_eq(poprt_last_error()->status, got_);                                        \
        ck_assert_str_ne(poprt_last_error()->message, "");                                         \
    } while (0)

static inline poprt_executable *compile_bytes(poprt_env *env, const void *bytes, size_t size)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_bytes(env, bytes, size, NULL, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    return exec;
}

static inline poprt_executable *compile_digits(poprt_env *env)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_file(env, DIGITS, NULL, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    poprt_model_release(model);
    return exec;
}

/* A StepIO of the digits model: one image is the input, ten scores are the output. */
typedef struct digit {
    float image[64], scores[10];
    int64_t image_dims[4], score_dims[2];
    poprt_tensor in, out;
} digit;

static inline void digit_init(digit *d, uint32_t seed)
{
    *d = (digit){ .image_dims = { 1, 1, 8, 8 }, .score_dims = { 1, 10 } };
    for (int i = 0; i < 64; i++) {
        seed = seed * 1664525u + 1013904223u;
        d->image[i] = (float)(seed >> 24) / 255.0f;
    }
    d->in = (poprt_tensor){ .data = d->image,
        .size = sizeof(d->image),
        .dims = d->image_dims,
        .rank = 4,
        .dtype = POPRT_DTYPE_FLOAT32 };
    d->out = (poprt_tensor){ .data = d->scores,
        .size = sizeof(d->scores),
        .dims = d->score_dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
}

static inline poprt_stepio *digit_bind(digit *d, poprt_session *session)
{
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "image", &d->in));
    ck_assert_ok(poprt_stepio_bind(io, "logits", &d->out));
    return io;
}

/* Computes the expected scores in a new session. */
static inline void digit_expect(poprt_executable *exec, uint32_t seed, float scores[10])
{
    digit d;
    poprt_session *session = NULL;
    digit_init(&d, seed);
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_run(session, io));
    memcpy(scores, d.scores, sizeof(d.scores));
    poprt_stepio_release(io);
    poprt_session_release(session);
}

/* Bytes that the library wrote. */
typedef struct buffer {
    unsigned char *data;
    size_t size;
} buffer;

static inline int32_t buffer_write(void *user, const void *bytes, size_t size)
{
    buffer *b = user;
    unsigned char *data = realloc(b->data, b->size + size + 1);
    if (data == NULL)
        return 1;
    memcpy(data + b->size, bytes, size);
    b->data = data;
    b->size += size;
    b->data[b->size] = 0;
    return 0;
}

#endif
