/* SPDX-License-Identifier: MIT */
/*
 * test_graphcore_floats.c — operators of ai.graphcore that compute with real numbers: each by its
 * function of the builder, in every floating-point type, compared with its formula in double.
 */
#include "typed.h"

enum { N = 6, MOST = 12 };

static const double input[N] = { -2, -0.5, 0, 0.5, 1, 2 };

#define CONSTANT(values, dims) add_numbers(b, NULL, false, dtype, values, dims)
#define MAKE(id, expression)                                                                       \
    static poprt_id make_##id(poprt_builder *b, poprt_id x, int32_t dtype)                         \
    {                                                                                              \
        (void)dtype;                                                                               \
        return expression;                                                                         \
    }

static poprt_id reshaped(poprt_builder *b, poprt_id x, int64_t first, int64_t second, int64_t third)
{
    return poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(first, second, third)));
}

static poprt_id batch_norm(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id scale = CONSTANT(NUMBERS(2, 2, 2), SHAPE(3));
    const poprt_id bias = CONSTANT(NUMBERS(1, 1, 1), SHAPE(3));
    const poprt_id mean = CONSTANT(NUMBERS(0.5, 0.5, 0.5), SHAPE(3));
    const poprt_id var = CONSTANT(NUMBERS(4, 4, 4), SHAPE(3));
    return poprt_op_gc_batch_normalization(b, reshaped(b, x, 2, 3, 1), scale, bias, mean, var, NULL,
        1, NULL);
}

static poprt_id group_norm(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id scale = CONSTANT(NUMBERS(1, 1, 1), SHAPE(3));
    const poprt_id bias = CONSTANT(NUMBERS(0, 0, 0), SHAPE(3));
    return poprt_op_gc_group_normalization(b, reshaped(b, x, 2, 3, 1), scale, bias,
        ATTRS(gc_group_normalization, .num_groups = poprt_int(1)), 1, NULL);
}

/* Zero weights: every gate is 1/2, so the cell state, 2 at first, halves, and h = tanh(c) / 2. */
static poprt_id lstm(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id weights = CONSTANT(NUMBERS(0, 0, 0, 0, 0, 0, 0, 0), SHAPE(4, 2, 1));
    const poprt_id state = CONSTANT(NUMBERS(0, 0, 0, 2, 2, 2), SHAPE(2, 3, 1));
    return poprt_op_gc_lstm(b, reshaped(b, x, 2, 3, 1), weights, 0, state, 0, NULL, 1, NULL);
}

static poprt_id image(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id offsets = CONSTANT(NUMBERS(1, 2, 3), SHAPE(3));
    const poprt_id scales = CONSTANT(NUMBERS(1, 2, 4), SHAPE(3));
    return poprt_op_gc_normalize_image(b, x, offsets, scales,
        ATTRS(gc_normalize_image, .scale = poprt_float(0.5f)));
}

/* Pseudo coordinates |x| / 4 of an open spline of degree 1: the basis is 1 - p, p. */
static poprt_id spline_basis(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id size = add_numbers(b, NULL, false, POPRT_DTYPE_INT32, NUMBERS(2), SHAPE(1));
    const poprt_id open = add_numbers(b, NULL, false, POPRT_DTYPE_UINT8, NUMBERS(1), SHAPE(1));
    const poprt_id p = poprt_op_gc_scale(b, poprt_op_abs(b, x, NULL),
        ATTRS(gc_scale, .scale = poprt_float(0.25f)));
    (void)dtype;
    return poprt_op_gc_spline_basis(b,
        poprt_op_gc_reshape(b, p, ATTRS(gc_reshape, .shape = POPRT_INTS(6, 1))), size, open,
        ATTRS(gc_spline_basis, .degree = poprt_int(1)), 1, NULL);
}

static poprt_id spline_weighting(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id weight = CONSTANT(NUMBERS(1, 2, 4), SHAPE(1, 3, 1));
    const poprt_id basis = CONSTANT(NUMBERS(1, 0.5), SHAPE(2, 1));
    const poprt_id index =
        add_numbers(b, NULL, false, POPRT_DTYPE_INT32, NUMBERS(0, 0), SHAPE(2, 1));
    return poprt_op_gc_spline_weighting(b, x, weight, basis, index, NULL);
}

/* Log-probabilities of two frames, and the label 1: the alignments are 11, 01 and 10. */
static poprt_id ctc(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id target = add_numbers(b, NULL, false, POPRT_DTYPE_INT32, NUMBERS(1), SHAPE(1, 1));
    const poprt_id frames = add_numbers(b, NULL, false, POPRT_DTYPE_INT32, NUMBERS(2), SHAPE(1));
    const poprt_id count = add_numbers(b, NULL, false, POPRT_DTYPE_INT32, NUMBERS(1), SHAPE(1));
    (void)dtype;
    return poprt_op_gc_ctc(b, reshaped(b, x, 2, 1, 3), target, frames, count,
        ATTRS(gc_ctc, .reduction = "Sum"), 1, NULL);
}

static poprt_id eight_bits(poprt_builder *b, poprt_id x, int32_t dtype)
{
    const poprt_id up = add_numbers(b, NULL, false, POPRT_DTYPE_INT8, NUMBERS(1), NULL, 0);
    const poprt_id down = add_numbers(b, NULL, false, POPRT_DTYPE_INT8, NUMBERS(-1), NULL, 0);
    (void)dtype;
    return poprt_op_gc_cast_then_pow2_scale(b, poprt_op_gc_pow2_scale_then_cast(b, x, up, NULL),
        down, NULL);
}

MAKE(atan2, poprt_op_gc_atan2(b, x, CONSTANT(NUMBERS(-2), SHAPE(1)), NULL))
MAKE(expm1, poprt_op_gc_expm1(b, x, NULL))
MAKE(log1p, poprt_op_gc_log1p(b, poprt_op_abs(b, x, NULL), NULL))
MAKE(gelu, poprt_op_gc_gelu(b, x, NULL))
MAKE(gelu_erf, poprt_op_gc_gelu_erf(b, x, NULL))
MAKE(swish, poprt_op_gc_swish(b, x, NULL))
MAKE(erf, poprt_op_gc_erf_v2(b, x, NULL))
MAKE(leaky, poprt_op_gc_leaky_relu(b, x, ATTRS(gc_leaky_relu, .alpha = poprt_float(0.25f))))
MAKE(softmax, poprt_op_gc_softmax_v2(b, x, NULL))
MAKE(not_zero, poprt_op_gc_not_zero(b, x, NULL))
MAKE(fmod, poprt_op_gc_fmod(b, x, CONSTANT(NUMBERS(1.5), SHAPE(1)), NULL))
MAKE(square, poprt_op_gc_square(b, x, NULL))
MAKE(pow,
    poprt_op_gc_binary_const_scalar(b, poprt_op_abs(b, x, NULL),
        ATTRS(gc_binary_const_scalar, .op = "Pow", .value = poprt_float(1.5f))))

/* ---- formulas */

static void map(double (*f)(double x), double *out)
{
    for (int i = 0; i < N; i++)
        out[i] = f(input[i]);
}

static double atan2_of(double x)
{
    return atan2(x, -2);
}

static double log1p_of(double x)
{
    return log1p(fabs(x));
}

static double gelu_of(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

static double gelu_erf_of(double x)
{
    return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double swish_of(double x)
{
    return x / (1 + exp(-x));
}

static double leaky_of(double x)
{
    return x < 0 ? 0.25 * x : x;
}

static double is_not_zero(double x)
{
    return x != 0;
}

static double fmod_of(double x)
{
    return fmod(x, 1.5);
}

static double square_of(double x)
{
    return x * x;
}

static double pow_of(double x)
{
    return pow(fabs(x), 1.5);
}

static double batch_norm_of(double x)
{
    return 2 * (x - 0.5) / sqrt(4 + 1e-5) + 1;
}

static double same(double x)
{
    return x;
}

static void softmax_rows(double *out)
{
    for (int row = 0; row < 2; row++) {
        double sum = 0;
        for (int i = 0; i < 3; i++)
            sum += exp(input[3 * row + i]);
        for (int i = 0; i < 3; i++)
            out[3 * row + i] = exp(input[3 * row + i]) / sum;
    }
}

static void normalize_rows(double *out)
{
    for (int row = 0; row < 2; row++) {
        const double *x = input + 3 * row;
        const double mean = (x[0] + x[1] + x[2]) / 3;
        double var = 0;
        for (int i = 0; i < 3; i++)
            var += (x[i] - mean) * (x[i] - mean) / 3;
        for (int i = 0; i < 3; i++)
            out[3 * row + i] = (x[i] - mean) / sqrt(var + 1e-5);
    }
}

static void lstm_states(double *out)
{
    for (int i = 0; i < N; i++)
        out[i] = 0.5 * tanh(i < 3 ? 1 : 0.5);
}

static void normalize_pixels(double *out)
{
    for (int i = 0; i < 8; i++)
        out[i] =
            i % 4 == 3 ? 0 : (0.5 * input[i / 4 * 3 + i % 4] - (i % 4 + 1)) * (double)(1 << i % 4);
}

static void linear_basis(double *out)
{
    for (int i = 0; i < N; i++) {
        out[2 * i] = 1 - fabs(input[i]) / 4;
        out[2 * i + 1] = fabs(input[i]) / 4;
    }
}

static void weighted_sums(double *out)
{
    out[0] = input[0] + 2 * input[1] + 4 * input[2];
    out[1] = 0.5 * (input[3] + 2 * input[4] + 4 * input[5]);
}

static void ctc_loss(double *out)
{
    out[0] = -log(exp(input[1] + input[4]) + exp(input[0] + input[4]) + exp(input[1] + input[3]));
}

typedef struct row {
    const char *name;
    poprt_id (*make)(poprt_builder *b, poprt_id x, int32_t dtype);
    double (*each)(double x); /* NULL: see `all` */
    void (*all)(double *out);
    size_t count;
} row;

static const row rows[] = { { "Atan2", make_atan2, atan2_of, NULL, N },
    { "Expm1", make_expm1, expm1, NULL, N }, { "Log1p", make_log1p, log1p_of, NULL, N },
    { "Gelu", make_gelu, gelu_of, NULL, N }, { "GeluErf", make_gelu_erf, gelu_erf_of, NULL, N },
    { "Swish", make_swish, swish_of, NULL, N }, { "ErfV2", make_erf, erf, NULL, N },
    { "LeakyRelu", make_leaky, leaky_of, NULL, N },
    { "SoftmaxV2", make_softmax, NULL, softmax_rows, N },
    { "NotZero", make_not_zero, is_not_zero, NULL, N }, { "Fmod", make_fmod, fmod_of, NULL, N },
    { "Square", make_square, square_of, NULL, N },
    { "BinaryConstScalar", make_pow, pow_of, NULL, N },
    { "BatchNormalization", batch_norm, batch_norm_of, NULL, N },
    { "GroupNormalization", group_norm, NULL, normalize_rows, N },
    { "LSTM", lstm, NULL, lstm_states, N }, { "NormalizeImage", image, NULL, normalize_pixels, 8 },
    { "SplineBasis", spline_basis, NULL, linear_basis, 12 },
    { "SplineWeighting", spline_weighting, NULL, weighted_sums, 2 },
    { "Ctc", ctc, NULL, ctc_loss, 1 }, { "Pow2ScaleThenCast", eight_bits, same, NULL, N } };

static double tolerance_of(int32_t dtype)
{
    switch (dtype) {
    case POPRT_DTYPE_FLOAT64:
        return 1e-7; /* constants of attributes are float32 */
    case POPRT_DTYPE_FLOAT32:
        return 2e-6;
    case POPRT_DTYPE_FLOAT16:
        return 2e-3;
    default:
        return 1.6e-2;
    }
}

static void run_row(const row *r, int32_t dtype)
{
    const poprt_type type = { .dtype = dtype, .rank = 2, .dims = { 2, 3 } };
    const int64_t dims[] = { 2, 3 };
    unsigned char data[N * 8];
    double want[MOST];
    poprt_builder *b = NULL;
    typed_run run;
    ck_assert_ok(poprt_builder_create(NULL, 13, &b));
    const poprt_id y = r->make(b, poprt_builder_input(b, "x", &type, NULL), dtype);
    ck_assert_msg(y != 0, "%s of type %d: %s", r->name, dtype, poprt_last_error()->message);
    start_run(&run, finish(b, y), NULL);
    for (size_t i = 0; i < N; i++)
        store(dtype, data, i, input[i]);
    const poprt_tensor in = { .data = data,
        .size = N * (size_t)poprt_dtype_bits(dtype) / 8,
        .dims = dims,
        .rank = 2,
        .dtype = dtype };
    ck_assert_ok(poprt_stepio_bind(run.io, "x", &in));
    ck_assert_ok(poprt_session_run(run.session, run.io));
    const poprt_tensor out = output_of(&run, 0);
    ck_assert_uint_eq(out.size * 8 / (size_t)poprt_dtype_bits(out.dtype), r->count);
    if (r->each != NULL)
        map(r->each, want);
    else
        r->all(want);
    for (size_t i = 0; i < r->count; i++) {
        const double got = load(out.dtype, out.data, i);
        ck_assert_msg(fabs(got - want[i]) <= tolerance_of(dtype) * (1 + fabs(want[i])),
            "%s of type %d: element %zu is %.9g, not %.9g", r->name, dtype, i, got, want[i]);
    }
    end_run(&run);
}

START_TEST(operators_follow_their_formulas)
{
    static const int32_t types[] = { POPRT_DTYPE_FLOAT16, POPRT_DTYPE_BFLOAT16, POPRT_DTYPE_FLOAT32,
        POPRT_DTYPE_FLOAT64 };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
            run_row(&rows[i], types[k]);
}
END_TEST

PRT_TEST_MAIN("api/graphcore_floats", operators_follow_their_formulas)
