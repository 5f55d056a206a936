/* SPDX-License-Identifier: MIT */
/*
 * test_training.c — training through the interface: losses of steps against a computation in
 * double, accumulation and replicas against one large batch, replaced optimizers, PopEF, errors.
 * Covers: train_session.c, training.c, form.c, graph.c, state.c, weights.c.
 */
#include <math.h>

#include "lesson.h"

enum { STEPS = 20 };

typedef struct reference {
    double w[IN][OUT], b[OUT];
} reference;

static reference first(void)
{
    reference r = { { { 0.5, -0.25 }, { 1.0, 0.75 }, { -0.5, 0.125 } }, { 0.1f, -0.2f } };
    return r;
}

/* Returns the loss of a micro-batch, and adds its gradient to `g`. */
static double differentiate(const reference *r, const float *x, const float *y, reference *g)
{
    double loss = 0;
    for (int i = 0; i < ROWS; i++)
        for (int o = 0; o < OUT; o++) {
            double e = r->b[o] - (double)y[i * OUT + o];
            for (int k = 0; k < IN; k++)
                e += (double)x[i * IN + k] * r->w[k][o];
            loss += e * e / (ROWS * OUT);
            for (int k = 0; k < IN; k++)
                g->w[k][o] += 2 * e * (double)x[i * IN + k] / (ROWS * OUT);
            g->b[o] += 2 * e / (ROWS * OUT);
        }
    return loss;
}

static void step_sgd(reference *r, const reference *g, double rate)
{
    for (int o = 0; o < OUT; o++) {
        for (int k = 0; k < IN; k++)
            r->w[k][o] -= rate * g->w[k][o];
        r->b[o] -= rate * g->b[o];
    }
}

static void compare(poprt_session *session, const reference *r)
{
    float w[IN * OUT], b[OUT];
    lesson_weights(session, w, b);
    for (int o = 0; o < OUT; o++) {
        for (int k = 0; k < IN; k++)
            ck_assert_double_eq_tol((double)w[k * OUT + o], r->w[k][o], 1e-6);
        ck_assert_double_eq_tol((double)b[o], r->b[o], 1e-6);
    }
}

START_TEST(losses_and_weights_are_those_of_double)
{
    lesson *l = lesson_begin("sgd", STEPS);
    reference r = first();
    poprt_tensor losses;
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "learning_rate", 0.3f, 1));
    ck_assert_ok(poprt_flow_anchor(l->flow, "loss", POPRT_ANCHOR_ALL, 0));
    poprt_session *session = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, session, STEPS);
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 2, &losses));
    for (int i = 0; i < STEPS; i++) {
        reference g = { 0 };
        const double loss = differentiate(&r, l->x[i], l->y[i], &g);
        ck_assert_double_eq_tol((double)((float *)losses.data)[i], loss, 1e-6);
        step_sgd(&r, &g, (double)0.3f);
    }
    compare(session, &r);
    poprt_stepio_release(io);
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

/* Every combination equals updates with the sum, or the mean, of the gradients. */
START_TEST(accumulation_and_replicas_add_gradients)
{
    static const char *const strategies[3][2] = { { "sum", "post" }, { "mean", "post" },
        { "mean", "running" } };
    for (int a = 1; a <= 3; a++)
        for (int n = 1; n <= 3; n++)
            for (int s = 0; s < 3; s++) {
                lesson *l = lesson_begin("sgd", 2);
                reference r = first();
                char text[16];
                ck_assert_ok(poprt_optimizer_set(l->optimizer, "learning_rate", 0.1f, 0));
                ck_assert_ok(poprt_config_set(l->config, "enable_gradient_accumulation", "true"));
                (void)snprintf(text, sizeof(text), "%d", a);
                ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", text));
                ck_assert_ok(poprt_config_set(l->config, "enable_replicated_graphs", "true"));
                (void)snprintf(text, sizeof(text), "%d", n);
                ck_assert_ok(poprt_config_set(l->config, "replicated_graph_count", text));
                ck_assert_ok(poprt_config_set(l->config,
                    "accumulation_and_replication_reduction_type", strategies[s][0]));
                ck_assert_ok(poprt_config_set(l->config,
                    "mean_accumulation_and_replication_reduction_strategy", strategies[s][1]));
                poprt_session *session = lesson_session(l);
                poprt_stepio *io = lesson_bind(l, session, 2 * a * n);
                ck_assert_ok(poprt_session_run(session, io));
                for (int b = 0, k = 0; b < 2; b++) {
                    reference g = { 0 };
                    for (int i = 0; i < a * n; i++, k++)
                        (void)differentiate(&r, l->x[k], l->y[k], &g);
                    step_sgd(&r, &g, (double)0.1f / (s == 0 ? 1 : a * n));
                }
                compare(session, &r);
                poprt_stepio_release(io);
                poprt_session_release(session);
                lesson_end(l);
            }
}
END_TEST

START_TEST(optimizers_are_replaced_between_steps)
{
    lesson *l = lesson_begin("sgd", 1);
    reference r = first();
    poprt_optimizer *next = NULL;
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "learning_rate", 0.1f, 0));
    poprt_session *session = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, session, 1);
    for (int i = 0; i < 3; i++) {
        const float rate = 0.1f / (float)(i + 1);
        reference g = { 0 };
        ck_assert_ok(poprt_optimizer_copy(l->optimizer, &next));
        ck_assert_ok(poprt_optimizer_set(next, "learning_rate", rate, 0));
        ck_assert_ok(poprt_session_update_optimizer(session, next));
        ck_assert_ok(poprt_session_run(session, io));
        (void)differentiate(&r, l->x[0], l->y[0], &g);
        step_sgd(&r, &g, (double)rate);
        poprt_optimizer_release(next);
    }
    compare(session, &r);
    ck_assert_ok(poprt_optimizer_copy(l->optimizer, &next));
    ck_assert_ok(poprt_optimizer_set(next, "learning_rate", 0.1f, 1));
    ck_assert_fails(poprt_session_update_optimizer(session, next), POPRT_E_ARG);
    poprt_optimizer_release(next);
    ck_assert_ok(poprt_optimizer_create(l->env, "adam", &next));
    ck_assert_fails(poprt_session_update_optimizer(session, next), POPRT_E_ARG);
    poprt_optimizer_release(next);
    poprt_stepio_release(io);
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

START_TEST(popef_files_train_the_same_weights)
{
    static const char *const kinds[] = { "sgd", "adam", "lamb", "rmsprop", "adadelta" };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        lesson *l = lesson_begin(kinds[k], 8);
        poprt_executable *exec = NULL, *loaded = NULL;
        float w[2][IN * OUT], b[2][OUT];
        buffer bytes = { 0 };
        if (k == 0)
            ck_assert_ok(poprt_optimizer_set(l->optimizer, "momentum", 0.9f, 1));
        if (k < 3)
            ck_assert_ok(poprt_optimizer_clip(l->optimizer, 0, NULL, 0.5f));
        ck_assert_ok(lesson_compile(l, l->model, &exec));
        ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
        ck_assert_ok(poprt_executable_load_bytes(l->env, bytes.data, bytes.size, NULL, &loaded));
        for (int i = 0; i < 2; i++) {
            poprt_session *session = NULL;
            ck_assert_ok(poprt_session_create(i == 0 ? exec : loaded, NULL, &session));
            poprt_stepio *io = lesson_bind(l, session, 8);
            for (int step = 0; step < 3; step++)
                ck_assert_ok(poprt_session_run(session, io));
            lesson_weights(session, w[i], b[i]);
            poprt_stepio_release(io);
            poprt_session_release(session);
        }
        ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
        ck_assert_mem_eq(b[0], b[1], sizeof(b[0]));
        ck_assert(fabsf(w[0][0] - 0.5f) > 1e-4f);
        poprt_executable_release(exec);
        poprt_executable_release(loaded);
        free(bytes.data);
        lesson_end(l);
    }
}
END_TEST

START_TEST(descriptions_name_variables)
{
    static const struct {
        int32_t format;
        const char *text;
    } expected[] = { { POPRT_FORMAT_TEXT, "f32[3,2] variable 0 steps" },
        { POPRT_FORMAT_STEPS, "f32[3,2], 24 bytes, variable" },
        { POPRT_FORMAT_STEPS_JSON, "\"space\": \"variable\"" } };
    lesson *l = lesson_begin("sgd", 1);
    poprt_executable *exec = NULL;
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        buffer text = { 0 };
        ck_assert_ok(poprt_executable_describe(exec, expected[i].format, buffer_write, &text));
        ck_assert_int_eq(buffer_write(&text, "", 1), 0);
        ck_assert_msg(strstr((const char *)text.data, expected[i].text) != NULL, "%s",
            (const char *)text.data);
        free(text.data);
    }
    poprt_executable_release(exec);
    lesson_end(l);
}
END_TEST

START_TEST(gradients_and_weights_are_anchors)
{
    lesson *l = lesson_begin("sgd", 1);
    const reference r = first();
    reference g = { 0 };
    poprt_tensor out;
    ck_assert_ok(poprt_flow_anchor(l->flow, "Gradient___w", POPRT_ANCHOR_FINAL, 0));
    ck_assert_ok(poprt_flow_anchor(l->flow, "w", POPRT_ANCHOR_FINAL, 0));
    ck_assert_ok(poprt_flow_anchor(l->flow, "Gradient___s", POPRT_ANCHOR_FINAL, 0));
    ck_assert_ok(poprt_optimizer_set(l->optimizer, "lossScaling", 4, 1));
    poprt_session *session = lesson_session(l);
    poprt_stepio *io = lesson_bind(l, session, 1);
    ck_assert_ok(poprt_session_run(session, io));
    (void)differentiate(&r, l->x[0], l->y[0], &g);
    ck_assert_ok(poprt_stepio_output(io, 2, &out));
    for (int i = 0; i < IN * OUT; i++)
        ck_assert_double_eq_tol((double)((float *)out.data)[i], 4 * g.w[i / OUT][i % OUT], 1e-5);
    ck_assert_ok(poprt_stepio_output(io, 3, &out));
    for (int i = 0; i < IN * OUT; i++) /* before the update */
        ck_assert_double_eq((double)((float *)out.data)[i], r.w[i / OUT][i % OUT]);
    ck_assert_ok(poprt_stepio_output(io, 4, &out));
    ck_assert_uint_eq(out.size, ROWS * OUT * 4);
    poprt_stepio_release(io);
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

/* loss = mean((x w + b - y)^2), so that the gradients of x and y are products of the error; also
 * if no weight is trained. */
START_TEST(inputs_have_gradients)
{
    static const char *const both[] = { "w", "b" };
    for (int frozen = 0; frozen < 2; frozen++) {
        lesson *l = lesson_begin("sgd", 1);
        poprt_executable *exec = NULL;
        poprt_session *session = NULL;
        poprt_tensor dx, dy, s;
        const poprt_training t = { .struct_size = sizeof(t),
            .loss = "loss",
            .optimizer = l->optimizer,
            .flow = l->flow,
            .frozen = both,
            .frozen_count = frozen ? 2 : 0 };
        ck_assert_ok(poprt_flow_anchor(l->flow, "Gradient___x", POPRT_ANCHOR_FINAL, 0));
        ck_assert_ok(poprt_flow_anchor(l->flow, "Gradient___y", POPRT_ANCHOR_FINAL, 0));
        ck_assert_ok(poprt_flow_anchor(l->flow, "Gradient___s", POPRT_ANCHOR_FINAL, 0));
        ck_assert_ok(poprt_compile_training(l->model, &t, l->config, &exec));
        ck_assert_ok(poprt_session_create(exec, NULL, &session));
        poprt_stepio *io = lesson_bind(l, session, 1);
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 2, &dx));
        ck_assert_ok(poprt_stepio_output(io, 3, &dy));
        ck_assert_ok(poprt_stepio_output(io, 4, &s));
        const reference r = first();
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < IN; k++) {
                double sum = 0;
                for (int j = 0; j < OUT; j++)
                    sum += (double)((float *)s.data)[i * OUT + j] * r.w[k][j];
                ck_assert_double_eq_tol((double)((float *)dx.data)[i * IN + k], sum, 1e-6);
            }
        for (int i = 0; i < ROWS * OUT; i++)
            ck_assert(((float *)dy.data)[i] == -((float *)s.data)[i]);
        poprt_stepio_release(io);
        poprt_session_release(session);
        poprt_executable_release(exec);
        lesson_end(l);
    }
}
END_TEST

static void refused(lesson *l, const poprt_training *training, poprt_status status, const char *why)
{
    poprt_executable *exec = NULL;
    ck_assert_fails(poprt_compile_training(l->model, training, l->config, &exec), status);
    ck_assert_msg(strstr(poprt_last_error()->message, why) != NULL, "%s",
        poprt_last_error()->message);
}

START_TEST(wrong_trainings_are_refused)
{
    lesson *l = lesson_begin("sgd", 1);
    static const char *const unknown[] = { "ww" }, *const both[] = { "w", "b" };
    poprt_training t = { .struct_size = sizeof(t), .loss = "lost", .optimizer = l->optimizer };
    refused(l, &t, POPRT_E_NOT_FOUND, "no tensor of this name");
    t.loss = "s";
    refused(l, &t, POPRT_E_SHAPE, "must be a scalar");
    t.loss = "loss";
    t.weights = unknown;
    t.weight_count = 1;
    refused(l, &t, POPRT_E_NOT_FOUND, "nearest: w");
    t.weights = NULL;
    t.weight_count = 0;
    t.frozen = both;
    t.frozen_count = 2;
    refused(l, &t, POPRT_E_ARG, "no weight that is trained");
    ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", "2"));
    t.frozen_count = 0;
    refused(l, &t, POPRT_E_ARG, "enable_gradient_accumulation");
    ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", "1"));
    ck_assert_ok(poprt_config_set(l->config, "automatic_loss_scaling", "true"));
    refused(l, &t, POPRT_E_ARG, "not constant");
    lesson_end(l);
}
END_TEST

START_TEST(frozen_weights_stay)
{
    lesson *l = lesson_begin("sgd", 1);
    static const char *const frozen[] = { "b" };
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    float w[IN * OUT], b[OUT];
    const poprt_training t = { .struct_size = sizeof(t),
        .loss = "loss",
        .optimizer = l->optimizer,
        .frozen = frozen,
        .frozen_count = 1 };
    ck_assert_ok(poprt_compile_training(l->model, &t, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_stepio *io = lesson_bind(l, session, 1);
    ck_assert_ok(poprt_session_run(session, io));
    poprt_tensor tensor = { .data = w, .size = sizeof(w) };
    ck_assert_ok(poprt_session_read_weight(session, "w", &tensor));
    ck_assert(w[0] != 0.5f);
    tensor = (poprt_tensor){ .data = b, .size = sizeof(b) };
    ck_assert_ok(poprt_session_read_weight(session, "b", &tensor));
    ck_assert(b[0] == 0.1f && b[1] == -0.2f);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    lesson_end(l);
}
END_TEST

static float read_scalar(poprt_session *session, const char *name)
{
    float value = 0;
    poprt_tensor t = { .data = &value, .size = sizeof(value) };
    ck_assert_ok(poprt_session_read_weight(session, name, &t));
    return value;
}

/* Returns a float16 scalar, a power of two. */
static float read_half(poprt_session *session, const char *name)
{
    uint16_t value = 0;
    poprt_tensor t = { .data = &value, .size = sizeof(value) };
    ck_assert_ok(poprt_session_read_weight(session, name, &t));
    ck_assert_int_eq(t.dtype, POPRT_DTYPE_FLOAT16);
    ck_assert_int_eq(value & 0x3ff, 0);
    return ldexpf(1.0f, (value >> 10) - 15);
}

typedef struct half_lesson {
    poprt_env *env;
    poprt_model *model;
    poprt_optimizer *optimizer;
    poprt_config *config;
    poprt_session *session;
    poprt_stepio *io;
    uint16_t x[2];
} half_lesson;

/* Trains half_model, whose gradient is x = {100, 50}, with a loss scaling of 4. */
static void begin_half(half_lesson *h, const char *option, const char *value, const char *option2,
    const char *value2)
{
    static const int64_t two = 2;
    poprt_executable *exec = NULL;
    *h = (half_lesson){ .x = { 0x5640, 0x5240 } };
    ck_assert_ok(poprt_env_create(NULL, &h->env));
    ck_assert_ok(poprt_config_create(h->env, &h->config));
    ck_assert_ok(poprt_config_set(h->config, option, value));
    ck_assert_ok(poprt_config_set(h->config, option2, value2));
    ck_assert_ok(poprt_model_load_bytes(h->env, half_model, sizeof(half_model), NULL, &h->model));
    ck_assert_ok(poprt_optimizer_create(h->env, "sgd", &h->optimizer));
    ck_assert_ok(poprt_optimizer_set(h->optimizer, "learning_rate", 0.001f, 0));
    ck_assert_ok(poprt_optimizer_set(h->optimizer, "lossScaling", 4, 0));
    const poprt_training t = { .struct_size = sizeof(t),
        .loss = "loss",
        .optimizer = h->optimizer };
    ck_assert_ok(poprt_compile_training(h->model, &t, h->config, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &h->session));
    ck_assert_ok(poprt_stepio_create(h->session, &h->io));
    const poprt_tensor x = { h->x, sizeof(h->x), &two, 1, POPRT_DTYPE_FLOAT16 };
    ck_assert_ok(poprt_stepio_bind(h->io, "x", &x));
    poprt_executable_release(exec);
}

static void end_half(half_lesson *h)
{
    poprt_stepio_release(h->io);
    poprt_session_release(h->session);
    poprt_optimizer_release(h->optimizer);
    poprt_model_release(h->model);
    poprt_config_release(h->config);
    poprt_env_release(h->env);
}

/* Gradients of 400 times the factor, with an edge of 8188: the factor doubles to 32 and then moves
 * between 32 and 16; every second update with a period of 2. */
START_TEST(loss_scaling_follows_the_gradients)
{
    static const float factors[2][12] = { { 2, 4, 8, 16, 32, 16, 32, 16, 32, 16, 32, 16 },
        { 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 16, 16 } };
    for (int period = 1; period <= 2; period++) {
        half_lesson h;
        begin_half(&h, "automatic_loss_scaling", "true", "automatic_loss_scaling_update_period",
            period == 1 ? "1" : "2");
        for (int i = 0; i < 12; i++) {
            ck_assert_ok(poprt_session_run(h.session, h.io));
            const float factor = factors[period - 1][i];
            ck_assert_float_eq(read_scalar(h.session, "lossScaleUpdateFactor"), factor);
            ck_assert_float_eq(read_half(h.session, "lossScaling_FLOAT16"), 4 * factor);
            ck_assert_float_eq_tol(read_scalar(h.session,
                                       "scaledLearningRate0___default___FLOAT16"),
                0.001f / (4 * factor), 1e-9f);
        }
        /* The steps are those of the learning rate, whatever the factor: 1 - 12 * 0.1. */
        uint16_t w[2];
        poprt_tensor t = { .data = w, .size = sizeof(w) };
        ck_assert_ok(poprt_session_read_weight(h.session, "w", &t));
        ck_assert_msg(w[0] >= 0xb240 && w[0] <= 0xb280, "%x", w[0]); /* about -0.2 */
        end_half(&h);
    }
}
END_TEST

/* With an edge of 32752 the factor moves between 64 and 128. The two elements of the gradient
 * differ by a factor of 2: if more than 0.6 of them have to be above the edge of 8188, both have.
 */
START_TEST(loss_scaling_has_an_edge_and_a_share)
{
    static const struct {
        const char *option, *value;
        float factors[12];
    } rows[] = { { "automatic_loss_scaling_bin_edge_location", "0.5",
                     { 2, 4, 8, 16, 32, 64, 128, 64, 128, 64, 128, 64 } },
        { "automatic_loss_scaling_threshold", "0.6",
            { 2, 4, 8, 16, 32, 64, 32, 64, 32, 64, 32, 64 } } };
    for (size_t k = 0; k < 2; k++) {
        half_lesson h;
        begin_half(&h, "automatic_loss_scaling", "true", rows[k].option, rows[k].value);
        for (int i = 0; i < 12; i++) {
            ck_assert_ok(poprt_session_run(h.session, h.io));
            ck_assert_float_eq(read_scalar(h.session, "lossScaleUpdateFactor"), rows[k].factors[i]);
        }
        end_half(&h);
    }
}
END_TEST

/* Gradients that never come close to the edge: the factor doubles until the loss scale is the
 * largest power of two of float16, and stays. Twice that would be infinite. */
START_TEST(loss_scaling_stays_finite_in_float16)
{
    half_lesson h;
    uint16_t w[2];
    poprt_tensor loss, t = { .data = w, .size = sizeof(w) };
    begin_half(&h, "automatic_loss_scaling", "true", "seed", "0");
    h.x[0] = h.x[1] = 0x1400; /* 2^-10 */
    for (int i = 0; i < 60; i++) {
        ck_assert_ok(poprt_session_run(h.session, h.io));
        const float scale = ldexpf(4.0f, i + 1 < 13 ? i + 1 : 13);
        ck_assert_float_eq(read_half(h.session, "lossScaling_FLOAT16"), scale);
        ck_assert_float_eq_tol(read_scalar(h.session, "scaledLearningRate0___default___FLOAT16") *
                scale,
            0.001f, 1e-9f);
    }
    ck_assert_ok(poprt_stepio_output(h.io, 1, &loss));
    ck_assert_int_eq(*(uint16_t *)loss.data, 0x1a00); /* (1 + 2) / 1024 */
    /* Each of the 60 updates subtracts 1e-6, which is less than the distance of float16. */
    ck_assert_ok(poprt_session_read_weight(h.session, "w", &t));
    ck_assert_int_eq(w[0], 0x3c00);
    ck_assert_int_eq(w[1], 0x4000);
    end_half(&h);
}
END_TEST

START_TEST(master_weights_keep_small_updates)
{
    half_lesson h;
    poprt_optimizer *small = NULL;
    poprt_model *saved = NULL;
    poprt_executable *exec = NULL;
    poprt_session *again = NULL;
    begin_half(&h, "master_weights", "true", "seed", "0");
    ck_assert_ok(poprt_optimizer_copy(h.optimizer, &small));
    ck_assert_ok(poprt_optimizer_set(small, "learning_rate", 1e-6f, 0));
    ck_assert_ok(poprt_session_update_optimizer(h.session, small));
    for (int i = 0; i < 100; i++) /* 1e-4 each: float16 around 1 has steps of 1e-3 */
        ck_assert_ok(poprt_session_run(h.session, h.io));
    float w[2][2];
    poprt_tensor t = { .data = w[0], .size = sizeof(w[0]) };
    ck_assert_ok(poprt_session_read_weight(h.session, "w", &t));
    ck_assert_int_eq(t.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_float_eq_tol(w[0][0], 0.99f, 1e-5f);
    /* The exported model has all bits. */
    ck_assert_ok(poprt_session_export_model(h.session, h.model, 1, &saved));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = h.optimizer };
    ck_assert_ok(poprt_compile_training(saved, &training, h.config, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &again));
    t = (poprt_tensor){ .data = w[1], .size = sizeof(w[1]) };
    ck_assert_ok(poprt_session_read_weight(again, "w", &t));
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    poprt_session_release(again);
    poprt_executable_release(exec);
    poprt_model_release(saved);
    poprt_optimizer_release(small);
    end_half(&h);
}
END_TEST

/* States have a shape though no constant has their contents. A sum that the caller wrote is not
 * part of the next one. */
START_TEST(states_are_read_with_their_shape)
{
    lesson *l = lesson_begin("adam", 1);
    float state[IN * OUT] = { 1, 1, 1, 1, 1, 1 }, w[2][IN * OUT], b[OUT];
    static const int64_t dims[] = { IN, OUT };
    ck_assert_ok(poprt_config_set(l->config, "enable_gradient_accumulation", "true"));
    ck_assert_ok(poprt_config_set(l->config, "accumulation_factor", "4"));
    for (int writes = 0; writes < 2; writes++) {
        poprt_session *session = lesson_session(l);
        poprt_tensor t = { .data = state,
            .size = sizeof(state),
            .dims = dims,
            .rank = 2,
            .dtype = POPRT_DTYPE_FLOAT32 };
        lesson_run(l, session, 1);
        if (writes)
            ck_assert_ok(poprt_session_write_weight(session, "Accum___w", &t));
        lesson_run(l, session, 1);
        lesson_weights(session, w[writes], b);
        t = (poprt_tensor){ .data = state, .size = sizeof(state) };
        ck_assert_ok(poprt_session_read_weight(session, "Accl1___w", &t));
        ck_assert_uint_eq(t.rank, 2);
        ck_assert_ptr_nonnull(t.dims);
        ck_assert_int_eq(t.dims[0], IN);
        ck_assert_int_eq(t.dims[1], OUT);
        ck_assert_ok(poprt_session_read_weight(session, "Accum___w", &t));
        for (int i = 0; i < IN * OUT; i++)
            ck_assert_float_eq(state[i], 0.0f);
        for (int i = 0; i < IN * OUT; i++)
            state[i] = 1.0f;
        poprt_session_release(session);
    }
    ck_assert_mem_eq(w[0], w[1], sizeof(w[0]));
    lesson_end(l);
}
END_TEST

PRT_TEST_MAIN("api/training", loss_scaling_follows_the_gradients,
    loss_scaling_has_an_edge_and_a_share, master_weights_keep_small_updates,
    losses_and_weights_are_those_of_double, accumulation_and_replicas_add_gradients,
    optimizers_are_replaced_between_steps, popef_files_train_the_same_weights,
    descriptions_name_variables, gradients_and_weights_are_anchors, inputs_have_gradients,
    wrong_trainings_are_refused, frozen_weights_stay, loss_scaling_stays_finite_in_float16,
    states_are_read_with_their_shape)
