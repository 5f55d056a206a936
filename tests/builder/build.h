/* SPDX-License-Identifier: MIT */
/* build.h — short forms for the tests of poprt/builder.h. */
#ifndef PRT_TESTS_BUILDER_BUILD_H
#define PRT_TESTS_BUILDER_BUILD_H

#include "api_test.h"
#include "poprt/builder_ops.h"

#define DIMS(...)                                                                                  \
    (const int64_t[]){ __VA_ARGS__ },                                                              \
        (int32_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* Inputs and constants of a type with given dims. */
#define INPUT(b, dtype, ...) add_input(b, dtype, DIMS(__VA_ARGS__))
#define FLOATS(b, ...) INPUT(b, POPRT_DTYPE_FLOAT32, __VA_ARGS__)
#define INTEGERS(b, ...) add_integers(b, DIMS(__VA_ARGS__))

static inline poprt_builder *new_builder(int64_t opset)
{
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_builder_create(NULL, opset, &b));
    return b;
}

static inline poprt_id add_input(poprt_builder *b, int32_t dtype, const int64_t *dims, int32_t rank)
{
    poprt_type type = { .dtype = dtype, .rank = rank };
    for (int32_t i = 0; i < rank; i++)
        type.dims[i] = dims[i];
    return poprt_builder_input(b, NULL, &type, NULL);
}

/* A constant of int64 integers, of rank 1. */
static inline poprt_id add_integers(poprt_builder *b, const int64_t *values, int32_t count)
{
    const int64_t dim = count;
    const poprt_tensor t = { .data = (void *)(uintptr_t)values,
        .size = (size_t)count * sizeof(int64_t),
        .dims = &dim,
        .rank = 1,
        .dtype = POPRT_DTYPE_INT64 };
    return poprt_builder_constant(b, NULL, &t, 0);
}

static inline poprt_id add_scalar(poprt_builder *b, int32_t dtype, const void *value, size_t size)
{
    const poprt_tensor t = { .data = (void *)(uintptr_t)value, .size = size, .dtype = dtype };
    return poprt_builder_constant(b, NULL, &t, 0);
}

/* A weight of ones. */
static inline poprt_id add_weight(poprt_builder *b, const char *name, const int64_t *dims,
    int32_t rank)
{
    size_t count = 1;
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    float *data = malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        data[i] = 1.0f;
    const poprt_tensor t = { .data = data,
        .size = count * sizeof(float),
        .dims = dims,
        .rank = (uint32_t)rank,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_id id = poprt_builder_weight(b, name, &t, 0);
    free(data);
    return id;
}

static inline void assert_type(const poprt_builder *b, poprt_id id, int32_t dtype,
    const int64_t *dims, int32_t rank)
{
    poprt_type type;
    ck_assert_ok(poprt_builder_type(b, id, &type));
    ck_assert_int_eq(type.dtype, dtype);
    ck_assert_int_eq(type.rank, rank);
    for (int32_t i = 0; i < rank; i++)
        ck_assert_int_eq(type.dims[i], dims[i]);
}

/* Fails the test unless the builder's first failure has this status, and words in its message. */
static inline void assert_failed(poprt_builder *b, poprt_status expected, const char *words)
{
    poprt_model *model = NULL;
    const poprt_status status = poprt_builder_finish(b, &model);
    const poprt_error *e = poprt_last_error();
    ck_assert_msg(status == expected, "status %d: %s: %s", status, e->subject, e->message);
    ck_assert_msg(strstr(e->message, words) != NULL || strstr(e->subject, words) != NULL,
        "'%s: %s' does not contain '%s'", e->subject, e->message, words);
    ck_assert_ptr_null(model);
    poprt_builder_release(b);
}

static inline poprt_model *finish(poprt_builder *b)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    return model;
}

/* Compiles and runs a model with every input element set to 1, and calls `look` with the output 0.
 * Releases the model. */
static inline void run_model(poprt_model *model, void (*look)(const poprt_tensor *out))
{
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    void *data[16] = { NULL };
    const size_t count = poprt_model_io_count(model, POPRT_INPUT);
    ck_assert_uint_le(count, 16);
    for (size_t i = 0; i < count; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        ck_assert_ok(poprt_model_io_at(model, POPRT_INPUT, i, &info));
        size_t n = 1;
        for (int32_t d = 0; d < info.rank; d++)
            n *= (size_t)info.dims[d];
        const size_t bytes = poprt_dtype_bits(info.dtype) / 8;
        data[i] = calloc(n + 1, bytes);
        for (size_t k = 0; k < n; k++)
            if (info.dtype == POPRT_DTYPE_FLOAT32)
                ((float *)data[i])[k] = 1.0f;
            else if (info.dtype == POPRT_DTYPE_FLOAT16)
                ((uint16_t *)data[i])[k] = 0x3c00;
            else
                ((unsigned char *)data[i])[k * bytes] = 1; /* little-endian */
        const poprt_tensor t = { .data = data[i],
            .size = n * bytes,
            .dims = info.dims,
            .rank = (uint32_t)info.rank,
            .dtype = info.dtype };
        ck_assert_ok(poprt_stepio_bind(io, info.name, &t));
    }
    ck_assert_ok(poprt_session_run(session, io));
    if (look != NULL) {
        poprt_tensor out = { 0 };
        ck_assert_ok(poprt_stepio_output(io, count, &out));
        look(&out);
    }
    for (size_t i = 0; i < count; i++)
        free(data[i]);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
}

#endif
