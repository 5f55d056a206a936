/* SPDX-License-Identifier: MIT */
/*
 * typed.h — tensors of any element type for tests: small whole numbers and simple fractions are
 * stored and loaded as double. Also runs of a built model with bound constants.
 */
#ifndef PRT_TESTS_API_TYPED_H
#define PRT_TESTS_API_TYPED_H

#include <math.h>
#include <stdint.h>

#include "api_test.h"
#include "poprt/builder_ops.h"

/* Exponent bits, mantissa bits and bias of a floating-point type of 8 or 16 bits. */
typedef struct float_format {
    int32_t dtype, exponent, mantissa, bias;
} float_format;

static inline const float_format *format_of(int32_t dtype)
{
    static const float_format formats[] = { { POPRT_DTYPE_FLOAT16, 5, 10, 15 },
        { POPRT_DTYPE_BFLOAT16, 8, 7, 127 }, { POPRT_DTYPE_FLOAT8E4M3FN, 4, 3, 7 },
        { POPRT_DTYPE_FLOAT8E4M3FNUZ, 4, 3, 8 }, { POPRT_DTYPE_FLOAT8E5M2, 5, 2, 15 },
        { POPRT_DTYPE_FLOAT8E5M2FNUZ, 5, 2, 16 } };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].dtype == dtype)
            return &formats[i];
    return NULL;
}

/* Stores a finite number that the type has exactly, and that is not subnormal. */
static inline void store(int32_t dtype, void *data, size_t i, double value)
{
    const float_format *f = format_of(dtype);
    const size_t bytes = poprt_dtype_bits(dtype) / 8;
    unsigned char *to = (unsigned char *)data + i * bytes;
    if (f != NULL) {
        int exponent = 0;
        const double m = frexp(fabs(value), &exponent);
        uint32_t bits = value == 0.0 ? 0
                                     : (uint32_t)(exponent - 1 + f->bias) << f->mantissa |
                (uint32_t)((2.0 * m - 1.0) * (double)(1u << f->mantissa));
        bits |= value < 0.0 ? 1u << (8 * bytes - 1) : 0u;
        memcpy(to, &bits, bytes); /* little-endian */
    } else if (dtype == POPRT_DTYPE_FLOAT32) {
        ((float *)data)[i] = (float)value;
    } else if (dtype == POPRT_DTYPE_FLOAT64) {
        ((double *)data)[i] = value;
    } else {
        const int64_t whole = dtype == POPRT_DTYPE_BOOL ? value != 0.0 : (int64_t)value;
        memcpy(to, &whole, bytes);
    }
}

static inline double load(int32_t dtype, const void *data, size_t i)
{
    const float_format *f = format_of(dtype);
    const size_t bytes = poprt_dtype_bits(dtype) / 8;
    const unsigned char *from = (const unsigned char *)data + i * bytes;
    if (dtype == POPRT_DTYPE_FLOAT32)
        return (double)((const float *)data)[i];
    if (dtype == POPRT_DTYPE_FLOAT64)
        return ((const double *)data)[i];
    uint64_t bits = 0;
    memcpy(&bits, from, bytes);
    if (f != NULL) {
        const uint64_t most = ((uint64_t)1 << f->mantissa) - 1;
        const int exponent =
            (int)(bits >> f->mantissa & (((uint64_t)1 << f->exponent) - 1)) - f->bias;
        const double part = (double)(bits & most) / (double)(most + 1);
        const double size =
            exponent == -f->bias ? ldexp(part, exponent + 1) : ldexp(1.0 + part, exponent);
        return (bits >> (8 * bytes - 1) & 1) != 0 ? -size : size;
    }
    const bool is_signed = dtype == POPRT_DTYPE_INT8 || dtype == POPRT_DTYPE_INT16 ||
        dtype == POPRT_DTYPE_INT32 || dtype == POPRT_DTYPE_INT64;
    if (is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0)
        return (double)((int64_t)bits - ((int64_t)1 << (8 * bytes)));
    return is_signed ? (double)(int64_t)bits : (double)bits;
}

/* What a number becomes when the type stores it: bool has 0 and 1. */
static inline double stored(int32_t dtype, double value)
{
    return dtype == POPRT_DTYPE_BOOL ? (double)(value != 0.0) : value;
}

#define NUMBERS(...)                                                                               \
    (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)
#define SHAPE(...)                                                                                 \
    (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)

/* Adds a constant, or, with `weight`, an initializer that is an input too. */
static inline poprt_id add_numbers(poprt_builder *b, const char *name, bool weight, int32_t dtype,
    const double *values, size_t count, const int64_t *dims, size_t rank)
{
    const size_t bytes = poprt_dtype_bits(dtype) / 8;
    void *data = calloc(count + 1, bytes);
    for (size_t i = 0; i < count; i++)
        store(dtype, data, i, values[i]);
    const poprt_tensor t = { .data = data,
        .size = count * bytes,
        .dims = dims,
        .rank = (uint32_t)rank,
        .dtype = dtype };
    const poprt_id id =
        weight ? poprt_builder_weight(b, name, &t, 0) : poprt_builder_constant(b, name, &t, 0);
    free(data);
    return id;
}

/* Compiles, creates a session with an unbound StepIO, and runs it once. */
typedef struct typed_run {
    poprt_executable *exec;
    poprt_session *session;
    poprt_stepio *io;
} typed_run;

static inline void start_run(typed_run *r, poprt_model *model, const poprt_config *config)
{
    ck_assert_ok(poprt_compile(model, config, &r->exec));
    poprt_model_release(model);
    ck_assert_ok(poprt_session_create(r->exec, NULL, &r->session));
    ck_assert_ok(poprt_stepio_create(r->session, &r->io));
}

static inline void end_run(typed_run *r)
{
    poprt_stepio_release(r->io);
    poprt_session_release(r->session);
    poprt_executable_release(r->exec);
}

/* Returns output `index` of the last run, with its inputs behind it in the slots. */
static inline poprt_tensor output_of(const typed_run *r, size_t index)
{
    poprt_tensor t;
    const size_t inputs = poprt_executable_io_count(r->exec, POPRT_INPUT);
    ck_assert_ok(poprt_stepio_output(r->io, inputs + index, &t));
    return t;
}

#define ATTRS(op, ...) (&(poprt_##op##_attrs){ __VA_ARGS__ })

static inline poprt_builder *new_builder(void)
{
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_builder_create(NULL, 11, &b));
    return b;
}

static inline poprt_builder *new_subgraph(poprt_builder *b, const char *name)
{
    poprt_builder *child = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, name, &child));
    return child;
}

static inline poprt_id add_floats_input(poprt_builder *b, const char *name, int64_t rows,
    int64_t columns)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { rows, columns } };
    return poprt_builder_input(b, name, &type, NULL);
}

/* Makes a model with the output `y`, and releases the builder. */
static inline poprt_model *finish(poprt_builder *b, poprt_id y)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_builder_output(b, y));
    ck_assert_ok(poprt_builder_finish(b, &model));
    poprt_builder_release(b);
    return model;
}

#endif
