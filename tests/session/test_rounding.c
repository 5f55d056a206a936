/* SPDX-License-Identifier: MIT */
/*
 * test_rounding.c — stochastic rounding of float16 results, in inference and in training.
 * Covers: compiler/rounding.c, op/internal/stochastic_round.c,
 * fast/elementwise/stochastic_round.c.
 */
#include "session_test.h"

#include <math.h>

#include "poprt/train.h"

enum { N = 1 << 16, WEIGHTS = 4096 };

static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const double size = exponent == 31 ? (fraction != 0 ? (double)NAN : HUGE_VAL)
        : exponent == 0                ? ldexp(fraction, -24)
                                       : ldexp(1024 + fraction, exponent - 25);
    return (h & 0x8000) != 0 ? -size : size;
}

static poprt_env *env_of(uint32_t threads)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    options.threads = threads;
    ck_assert_ok(poprt_env_create(&options, &env));
    return env;
}

/* Runs a model of one input and one output twice, and copies both results. */
static void run_twice(const poprt_model *model, poprt_env *env, const char *options,
    const poprt_tensor *in, uint64_t seed, uint16_t *first, uint16_t *second, size_t n)
{
    poprt_config *config = options_of(env, options);
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_io_info input = { .struct_size = sizeof(input) };
    poprt_tensor out;
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_session_create(exec, config, &session));
    ck_assert_ok(poprt_session_set_random_seed(session, seed));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_INPUT, 0, &input));
    ck_assert_ok(poprt_stepio_bind(io, input.name, in));
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 1, &out));
        ck_assert_uint_eq(out.size, n * 2);
        memcpy(i == 0 ? first : second, out.data, n * 2);
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_config_release(config);
}

/* y = Cast(x) to float16. */
static poprt_model *cast_model(poprt_env *env)
{
    poprt_builder *b = NULL;
    ck_assert_ok(poprt_builder_create(env, 17, &b));
    const poprt_cast_attrs to_half = { .to = poprt_int(POPRT_DTYPE_FLOAT16) };
    ck_assert_ok(poprt_builder_output(b, poprt_op_cast(b, FLOATS(b, N), &to_half)));
    return finish(b);
}

/* Numbers of all sizes: subnormal and normal halves, exact ones, and beyond the largest. */
static void fill(float *x)
{
    static const float special[] = { 0.0f, -0.0f, 1.0f, -2.5f, 65504.0f, 65519.0f, 65520.0f, -1e9f,
        HUGE_VALF, -HUGE_VALF, 0x1p-24f, 0x1.8p-25f, 0x1p-30f, 0x1p-140f, 2047.75f, 2048.5f };
    uint32_t state = 5;
    for (int i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        const float fraction = 1.0f + (float)(state >> 9) * 0x1p-23f;
        x[i] = ldexpf(i % 3 == 0 ? -fraction : fraction, (int)(state % 45) - 29);
    }
    memcpy(x, special, sizeof(special));
}

START_TEST(results_are_neighbours_in_every_kernel_and_number_of_threads)
{
    static const struct {
        uint32_t threads;
        const char *options;
    } kinds[] = { { 1, "enableStochasticRounding = True" },
        { 3, "enableStochasticRounding = True" },
        { 1, "enableStochasticRounding = True\ncpu = reference" },
        { 1, "Precision.enableStochasticRounding = True\noptimize = false" } };
    static const int64_t dim = N;
    static float x[N];
    static uint16_t y[4][2][N], nearest[2][N];
    fill(x);
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), &dim, 1);
    for (int k = 0; k < 4; k++) {
        poprt_env *env = env_of(kinds[k].threads);
        poprt_model *model = cast_model(env);
        run_twice(model, env, kinds[k].options, &in, 3, y[k][0], y[k][1], N);
        if (k == 0)
            run_twice(model, env, "", &in, 3, nearest[0], nearest[1], N);
        poprt_model_release(model);
        poprt_env_release(env);
        ck_assert_mem_eq(y[k][0], y[0][0], sizeof(y[0][0]));
        ck_assert_mem_eq(y[k][1], y[0][1], sizeof(y[0][1]));
    }
    ck_assert_mem_eq(nearest[0], nearest[1], sizeof(nearest[0]));
    ck_assert_mem_ne(y[0][0], y[0][1], sizeof(y[0][0]));
    for (int i = 0; i < N; i++) {
        const double a = half_value(y[0][0][i]), b = half_value(nearest[0][i]), e = (double)x[i];
        if (b == e || fabs(e) >= 65504.0) {
            ck_assert_uint_eq(y[0][0][i], nearest[0][i]);
            continue;
        }
        /* `a` is the nearest number, or its neighbour on the other side of x. */
        ck_assert_int_le(abs((int)(y[0][0][i] & 0x7fff) - (int)(nearest[0][i] & 0x7fff)), 1);
        ck_assert_msg(a == b || (a < e) != (b < e), "x %g: %g, nearest %g", e, a, b);
    }
}
END_TEST

START_TEST(probabilities_are_distances)
{
    static const struct {
        float x;
        double lower, step;
    } rows[] = { { 1.0f + 0x1p-12f, 1, 0x1p-10 }, { -3.0f - 0x1.8p-10f, -3 - 0x1p-9, 0x1p-9 },
        { 0x1.2p-24f, 0x1p-24, 0x1p-24 }, { 1000.125f, 1000, 0.5 } };
    static const int64_t dim = N;
    static float x[N];
    static uint16_t y[2][N];
    poprt_model *model = cast_model(NULL);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            x[i] = rows[k].x;
        const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, x, sizeof(x), &dim, 1);
        run_twice(model, NULL, "enable_stochastic_rounding = true", &in, k, y[0], y[1], N);
        for (int i = 0; i < N; i++)
            sum += half_value(y[0][i]);
        /* The deviation of the mean of N draws is at most step / 2 / 256; six of them. */
        ck_assert_double_eq_tol(sum / N, (double)rows[k].x, rows[k].step * 6 / 512);
        ck_assert(rows[k].lower < (double)rows[k].x);
    }
    poprt_model_release(model);
}
END_TEST

/* y = Transpose(x) * x of float16, whose exact product has 22 bits. */
START_TEST(arithmetic_rounds_and_moves_do_not)
{
    static const int64_t dims[] = { 256, N / 256 };
    static const float factors[] = { 1.0f + 0x1p-10f, 1.0f - 0x1p-11f };
    static uint16_t x[N], y[2][N], moved[2][N];
    for (int computes = 0; computes < 2; computes++) {
        poprt_builder *b = new_builder(17);
        poprt_id id = INPUT(b, POPRT_DTYPE_FLOAT16, 256, N / 256);
        id = poprt_op_transpose(b, id, NULL);
        if (computes)
            id = poprt_op_mul(b, id, id, NULL);
        ck_assert_ok(poprt_builder_output(b, id));
        poprt_model *model = finish(b);
        for (int i = 0; i < N; i++)
            x[i] = i % 2 == 0 ? 0x3c01 : 0x3bff; /* the factors */
        const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT16, x, sizeof(x), dims, 2);
        run_twice(model, NULL, "enableStochasticRounding = True", &in, 1, y[0], y[1], N);
        if (!computes) {
            run_twice(model, NULL, "", &in, 1, moved[0], moved[1], N);
            ck_assert_mem_eq(y[0], moved[0], sizeof(y[0]));
        } else {
            double sums[2] = { 0, 0 };
            for (int i = 0; i < N; i++)
                sums[half_value(y[0][i]) < 1] += half_value(y[0][i]);
            for (int k = 0; k < 2; k++)
                ck_assert_double_eq_tol(sums[k] / (N / 2.0),
                    (double)factors[k] * (double)factors[k], 0x1p-10 * 6 / 362);
        }
        poprt_model_release(model);
    }
}
END_TEST

/* ---- training */

/* loss = sum(x * w) of float16, so that the gradient of w is x. */
static poprt_model *product_model(void)
{
    static const int64_t dim = WEIGHTS;
    static uint16_t ones[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++)
        ones[i] = 0x3c00;
    poprt_builder *b = new_builder(17);
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT16, .rank = 1, .dims = { WEIGHTS } };
    const poprt_tensor t = tensor_of(POPRT_DTYPE_FLOAT16, ones, sizeof(ones), &dim, 1);
    const poprt_id x = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id p = poprt_op_mul(b, x, poprt_builder_weight(b, "w", &t, 0), NULL);
    const char *loss = "loss";
    const poprt_attr keep = { .name = "keepdims", .kind = POPRT_ATTR_INT, .integer = 0 };
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "ReduceSum",
        .inputs = &p,
        .n_inputs = 1,
        .output_names = &loss,
        .n_outputs = 1,
        .attrs = &keep,
        .n_attrs = 1 };
    ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &op, NULL)));
    return finish(b);
}

typedef struct schooling {
    const char *kind, *key, *word; /* optimizer, and a setting of it */
    float rate, momentum;
    const char *options;
    uint16_t x; /* every element of the gradient */
    int steps, batches;
    uint64_t seed;
} schooling;

/* Trains from ones, by a stored program, and returns the weights. */
static void train(const schooling *s, uint16_t w[WEIGHTS])
{
    const int64_t dims[] = { s->batches, WEIGHTS };
    poprt_config *config = options_of(NULL, s->options);
    poprt_model *model = product_model();
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL, *loaded = NULL;
    buffer bytes = { 0 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const size_t n = (size_t)s->batches * WEIGHTS;
    uint16_t *x = malloc(n * 2);
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < n; i++)
        x[i] = s->x;
    ck_assert_ok(poprt_optimizer_create(NULL, s->kind, &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "learning_rate", s->rate, 1));
    if (s->momentum > 0)
        ck_assert_ok(poprt_optimizer_set(optimizer, "momentum", s->momentum, 1));
    if (s->key != NULL)
        ck_assert_ok(poprt_optimizer_set_text(optimizer, s->key, s->word));
    const poprt_training t = { .struct_size = sizeof(t), .loss = "loss", .optimizer = optimizer };
    ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_load_bytes(NULL, bytes.data, bytes.size, NULL, &loaded));
    ck_assert_ok(poprt_session_create(loaded, config, &session));
    ck_assert_ok(poprt_session_set_random_seed(session, s->seed));
    ck_assert_ok(poprt_stepio_create(session, &io));
    const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT16, x, n * 2, dims, 2);
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    for (int i = 0; i < s->steps; i++)
        ck_assert_ok(poprt_session_run(session, io));
    poprt_tensor out = { .data = w, .size = WEIGHTS * 2 };
    ck_assert_ok(poprt_session_read_weight(session, "w", &out));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    free(bytes.data);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(config);
    free(x);
}

static double mean_of(const uint16_t *w)
{
    double sum = 0;
    for (int i = 0; i < WEIGHTS; i++)
        sum += half_value(w[i]);
    return sum / WEIGHTS;
}

/* A step of 2^-14 is less than half a unit in the last place of 1, 2^-11 below it: rounding to the
 * nearest keeps the weight. */
START_TEST(small_updates_have_the_right_mean)
{
    static const struct {
        schooling s;
        double after; /* the weight after the steps, without rounding */
    } rows[] = {
        { { .kind = "sgd",
              .rate = 0x1p-14f,
              .options = "",
              .x = 0x3c00,
              .steps = 64,
              .batches = 1 },
            1 - 64 * 0x1p-14 },
        { { .kind = "sgd",
              .rate = 0x1p-15f,
              .momentum = 0.5f,
              .options = "",
              .x = 0x3c00,
              .steps = 64,
              .batches = 1 },
            1 - 63 * 0x1p-14 },
        { { .kind = "adam",
              .rate = 0x1p-14f,
              .options = "",
              .x = 0x3c00,
              .steps = 64,
              .batches = 1 },
            1 - 64 * 0x1p-14 },
        { { .kind = "rmsprop",
              .rate = 0x1p-16f,
              .options = "",
              .x = 0x3c00,
              .steps = 16,
              .batches = 1 },
            1 - 0x1p-16 * 67.59 },
    };
    static uint16_t w[WEIGHTS], again[WEIGHTS];
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        schooling s = rows[k].s;
        train(&s, w);
        if (k != 3)
            ck_assert_double_eq(mean_of(w), 1.0);
        s.options = "enableStochasticRounding = True";
        s.seed = 5;
        train(&s, w);
        ck_assert_msg(fabs(mean_of(w) - rows[k].after) < 1e-4, "%s: mean %g, not %g", s.kind,
            mean_of(w), rows[k].after);
        train(&s, again);
        ck_assert_mem_eq(w, again, sizeof(w));
        s.seed = 1000003;
        train(&s, again);
        ck_assert_mem_ne(w, again, sizeof(w));
    }
}
END_TEST

/* The sum of 64 gradients of 32.25 is 2,064. Rounding to the nearest loses a quarter or more of
 * each of the last ones, as the units of float16 are 1 from 1,024 on. */
START_TEST(accumulators_round_too)
{
    static const char on[] = "enableGradientAccumulation = True\naccumulationFactor = 64\n"
                             "enableStochasticRounding = True";
    static uint16_t w[WEIGHTS];
    schooling s = { .kind = "sgd",
        .key = "accumType",
        .word = "FLOAT16",
        .rate = 0x1p-10f,
        .options = "enableGradientAccumulation = True\naccumulationFactor = 64",
        .x = 0x5008, /* 32.25 */
        .steps = 1,
        .batches = 64,
        .seed = 1 };
    train(&s, w);
    ck_assert_double_gt(mean_of(w), 1 - 2060 * 0x1p-10);
    s.options = on;
    train(&s, w);
    ck_assert_double_eq_tol(mean_of(w), 1 - 2064 * 0x1p-10, 2e-4);
}
END_TEST

PRT_TEST_MAIN("session/rounding", results_are_neighbours_in_every_kernel_and_number_of_threads,
    probabilities_are_distances, arithmetic_rounds_and_moves_do_not,
    small_updates_have_the_right_mean, accumulators_round_too)
