/* SPDX-License-Identifier: MIT */
/*
 * test_optimizer_plan.c — scalars and states of updates: names, values, powers of the loss scale
 * factor; reductions over micro-batches and replicas; schedules; edge cases.
 * Covers: optimizer_plan.c.
 */
#include <math.h>
#include <stdio.h>

#include "support/check_main.h"
#include "support/update_run.h"

static prt_arena *arena;
static prt_optimizer_plan plan;

static void make_plan(const char *kind, const char *text, int32_t dtype,
    const prt_optimizer_context *context)
{
    prt_optimizer *o = optimizer_from_text(kind, text);
    if (arena == NULL)
        ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_msg(prt_optimizer_plan_weight(o, PRT_STR("w"), dtype, context, arena, &plan) ==
            POPRT_OK,
        "%s", prt_error_last()->message);
    prt_optimizer_release(o);
}

static const prt_optimizer_scalar *scalar(const char *name)
{
    for (uint32_t i = 0; i < plan.n_scalars; i++)
        if (prt_str_is(plan.scalars[i].name, name))
            return &plan.scalars[i];
    ck_abort_msg("there is no scalar %s", name);
    return NULL;
}

static void ck_scalar(const char *name, double value, int32_t power)
{
    const prt_optimizer_scalar *s = scalar(name);
    ck_assert_msg(fabs(s->value - value) <= 1e-7 * fabs(value), "%s is %.9g, not %.9g", name,
        s->value, value);
    ck_assert_msg(s->power == power, "%s has power %d", name, s->power);
}

static void ck_state(uint32_t i, const char *name, int32_t dtype, bool is_scalar, uint32_t init,
    double value)
{
    ck_assert_uint_lt(i, plan.n_states);
    const prt_optimizer_state *s = &plan.states[i];
    ck_assert_msg(prt_str_is(s->name, name), "state %u is %s, not %s", i, s->name.data, name);
    ck_assert_int_eq(s->dtype, dtype);
    ck_assert(s->is_scalar == is_scalar);
    ck_assert_uint_eq(s->init, init);
    ck_assert_double_eq_tol(s->value, value, 1e-7);
}

static const prt_optimizer_context plain = { .accumulation = 1, .replicas = 1 };
/* 4 micro-batches, 3 replicas. */
static const prt_optimizer_context sums = { .accumulation = 4, .replicas = 3, .accumulates = true };
static const prt_optimizer_context means = { .accumulation = 4,
    .replicas = 3,
    .accumulates = true,
    .mean = true };
static const prt_optimizer_context running = { .accumulation = 4,
    .replicas = 3,
    .accumulates = true,
    .mean = true,
    .running = true };
static const prt_optimizer_context replicas = { .accumulation = 1, .replicas = 3, .mean = true };

#define SGD "learning_rate=0.5 weight_decay=0.25 dampening=0.5 loss_scaling=8 velocity_scaling=4 "

START_TEST(sgd_without_momentum_has_two_scalars)
{
    make_plan("sgd", SGD, PRT_DTYPE_f32, &plain);
    ck_assert_uint_eq(plan.op, PRT_OP_sgd_update);
    ck_assert_uint_eq(plan.n_scalars, 2);
    ck_assert_uint_eq(plan.n_states, 0);
    ck_scalar("scaledLearningRate0___default___FLOAT", 0.25 / 8, -1);
    ck_scalar("weightDecayScaleFactor0___default___FLOAT", 1 - 0.25 * 0.25, 0);
    make_plan("sgd", SGD, PRT_DTYPE_f16, &means);
    ck_scalar("scaledLearningRate0___default___FLOAT16", 0.25 / (8 * 12), -1);
    make_plan("sgd", SGD, PRT_DTYPE_bf16, &sums);
    ck_scalar("scaledLearningRate0___default___BFLOAT16", 0.25 / 8, -1);
    make_plan("sgd", SGD, PRT_DTYPE_f64, &running);
    ck_scalar("scaledLearningRate0___default___DOUBLE", 0.25 / 8, -1);
    make_plan("sgd", SGD, PRT_DTYPE_f32, &replicas);
    ck_scalar("scaledLearningRate0___default___FLOAT", 0.25 / (8 * 3), -1);
}
END_TEST

START_TEST(combined_momentum_is_scaled_for_replicas)
{
    make_plan("sgd", SGD "momentum=0.75", PRT_DTYPE_f32, &plain);
    ck_assert_str_eq(plan.attrs.sgd.momentum.data, "combined");
    ck_assert_int_eq(plan.attrs.sgd.replicas, 1);
    ck_scalar("scaledLearningRate1___default___FLOAT", 0.5 / 4, 0);
    ck_scalar("scaledWeightDecay1___default___FLOAT", 0.5 * 0.25 * 4, 0);
    ck_scalar("dampeningScaleFactor1___default___FLOAT", 0.5 * 4 / 8, -1);
    ck_scalar("scaledMomentum1___default___FLOAT", 0.75, 0);
    ck_state(0, "Accl___w", PRT_DTYPE_f32, false, PRT_OPTIMIZER_INIT_WEIGHT, 0.5 * 0.25 * 4);
    make_plan("sgd", SGD "momentum=0.75", PRT_DTYPE_f32, &sums);
    ck_assert_int_eq(plan.attrs.sgd.replicas, 3);
    ck_scalar("scaledLearningRate1___default___FLOAT", 0.5 / (4 * 3), 0);
    ck_scalar("scaledMomentum1___default___FLOAT", 0.75 / 3, 0);
    ck_scalar("dampeningScaleFactor1___default___FLOAT", 0.5 * 4 * 3 / 8, -1);
    make_plan("sgd", SGD "momentum=0.75", PRT_DTYPE_f32, &means);
    ck_scalar("dampeningScaleFactor1___default___FLOAT", 0.5 * 4 / (8 * 4), -1);
    make_plan("sgd", SGD "momentum=0.75", PRT_DTYPE_f32, &replicas);
    ck_assert_int_eq(plan.attrs.sgd.replicas, 1);
    ck_scalar("dampeningScaleFactor1___default___FLOAT", 0.5 * 4 / (8 * 3), -1);
    ck_scalar("scaledMomentum1___default___FLOAT", 0.75, 0);
}
END_TEST

START_TEST(separate_momentum_and_nesterov_have_their_scalars)
{
    make_plan("sgd", SGD "momentum=0.75 accumulator_and_momentum=Separate accl1_type=FLOAT",
        PRT_DTYPE_f16, &means);
    ck_scalar("scaledLearningRate2___default___FLOAT16", 0.5 / 4, 0);
    ck_scalar("scaledWeightDecay1___default___FLOAT16", 0.5 * 0.25 * 4, 0);
    ck_scalar("dampeningScaleFactor2___default___FLOAT16", 0.5 * 4 / (8 * 12), -1);
    ck_scalar("scaledMomentum2___default___FLOAT16", 0.75, 0);
    ck_state(0, "Accl1___w", PRT_DTYPE_f32, false, PRT_OPTIMIZER_INIT_VALUE, 0);
    ck_assert_int_eq(plan.accumulator_type, PRT_DTYPE_f16);
    ck_assert_str_eq(plan.accumulator.data, "Accum___w");
    make_plan("sgd",
        "momentum=0.75 weight_decay=0.25 nesterov=1 velocity_scaling=4 accum_type=FLOAT",
        PRT_DTYPE_f16, &sums);
    ck_assert_int_eq(plan.attrs.sgd.nesterov, 1);
    ck_assert_int_eq(plan.accumulator_type, PRT_DTYPE_f32);
    ck_scalar("sgdMomentum___default___FLOAT16", 0.75, 0);
    ck_scalar("sgdWeightDecay___default___FLOAT16", 0.25, 0);
    ck_scalar("nesterovGradScaleFactor1___default___FLOAT16", 4 * 3, 0);
    ck_scalar("nesterovDampeningScaleFactor1___default___FLOAT16", 1.0 / (4 * 3), 0);
}
END_TEST

START_TEST(adam_has_moments_and_a_step_counter)
{
    make_plan("adam", "loss_scaling=8 accl2_type=FLOAT16", PRT_DTYPE_f16, &means);
    ck_assert_uint_eq(plan.op, PRT_OP_adam_update);
    ck_scalar("learningRate___default___FLOAT16", 0.1, 0);
    ck_scalar("weightDecay___default___FLOAT16", 0, 0);
    ck_scalar("adamBeta1___default___FLOAT16", 0.9, 0);
    ck_scalar("adamBeta2___default___FLOAT16", 0.999, 0);
    ck_scalar("adamEps___default___FLOAT16", 1e-6, 0);
    ck_scalar("adamGradientScaling___default___FLOAT16", 1.0 / (8 * 12), -1);
    ck_assert_uint_eq(plan.n_states, 3);
    ck_state(0, "Accl1___w", PRT_DTYPE_f32, false, PRT_OPTIMIZER_INIT_VALUE, 0);
    ck_state(1, "Accl2___w", PRT_DTYPE_f16, false, PRT_OPTIMIZER_INIT_VALUE, 0);
    ck_state(2, "Step___w", PRT_DTYPE_f32, true, PRT_OPTIMIZER_INIT_VALUE, 0);
    make_plan("lamb_no_bias", "", PRT_DTYPE_f64, &plain);
    ck_assert_str_eq(plan.attrs.adam.mode.data, "lamb_no_bias");
    ck_scalar("maxWeightNorm___default___DOUBLE", 10, 0);
    ck_assert_uint_eq(plan.n_states, 2);
    ck_state(0, "Accl1___w", PRT_DTYPE_f64, false, PRT_OPTIMIZER_INIT_VALUE, 0);
}
END_TEST

START_TEST(scaled_states_carry_the_loss_scaling)
{
    make_plan("adam",
        "loss_scaling=8? eps=0.5 weight_decay=0.25 scaled_optimizer_state=true "
        "weight_decay_mode=L2Regularization",
        PRT_DTYPE_f32, &plain);
    ck_scalar("adamGradientScaling___default___FLOAT", 1, 0);
    ck_scalar("adamEps___default___FLOAT", 4, 1);
    ck_scalar("weightDecay___default___FLOAT", 2, 1);
    ck_scalar("lossScaling_FLOAT", 8, 1);
    ck_assert(!scalar("adamEps___default___FLOAT")->is_constant);
    ck_assert(scalar("adamGradientScaling___default___FLOAT")->is_constant);
    ck_state(3, "PreviousLossScaling___w", PRT_DTYPE_f32, true, PRT_OPTIMIZER_INIT_VALUE, 8);
    make_plan("adam_no_bias", "loss_scaling=8 scaled_optimizer_state=true", PRT_DTYPE_f32, &plain);
    ck_assert_uint_eq(plan.n_states, 2);
}
END_TEST

START_TEST(adaptive_optimizers_have_up_to_three_states)
{
    make_plan("rmsprop", "loss_scaling=8 rmsprop_tf_variant=true", PRT_DTYPE_f16, &sums);
    ck_assert_uint_eq(plan.op, PRT_OP_adaptive_update);
    ck_assert_uint_eq(plan.n_states, 1);
    ck_state(0, "Accl1___w", PRT_DTYPE_f32, false, PRT_OPTIMIZER_INIT_VALUE, 1);
    ck_scalar("adaptiveAlpha___default___FLOAT16", 0.99, 0);
    ck_scalar("adaptiveEps___default___FLOAT16", 1e-6, 0);
    ck_scalar("adaptiveGradientScaling___default___FLOAT16", 1.0 / 8, -1);
    make_plan("centered_rmsprop", "momentum=0?", PRT_DTYPE_f16, &sums);
    ck_state(1, "Accl2___w", PRT_DTYPE_f32, false, PRT_OPTIMIZER_INIT_VALUE, 0);
    ck_state(2, "Accl3___w", PRT_DTYPE_f16, false, PRT_OPTIMIZER_INIT_VALUE, 0);
    ck_scalar("adaptiveMomentum___default___FLOAT16", 0, 0);
    make_plan("adagrad", "", PRT_DTYPE_f32, &plain);
    ck_assert_uint_eq(plan.n_states, 1);
    ck_assert_uint_eq(plan.n_scalars, 4);
}
END_TEST

START_TEST(scalars_of_constant_values_are_constant)
{
    make_plan("sgd", "learning_rate=0.5?", PRT_DTYPE_f32, &plain);
    ck_assert(!scalar("scaledLearningRate0___default___FLOAT")->is_constant);
    ck_assert(!scalar("weightDecayScaleFactor0___default___FLOAT")->is_constant);
    make_plan("sgd", "weight_decay=0.5?", PRT_DTYPE_f32, &plain);
    ck_assert(scalar("scaledLearningRate0___default___FLOAT")->is_constant);
    make_plan("sgd", "momentum=0?", PRT_DTYPE_f32, &plain);
    ck_assert_uint_eq(plan.n_states, 1);
    ck_assert(!scalar("scaledMomentum1___default___FLOAT")->is_constant);
    ck_assert(scalar("scaledLearningRate1___default___FLOAT")->is_constant);
    make_plan("sgd", "momentum=0.5 loss_scaling=2?", PRT_DTYPE_f32, &plain);
    ck_assert(!scalar("dampeningScaleFactor1___default___FLOAT")->is_constant);
}
END_TEST

START_TEST(scalars_of_one_weight_have_its_name)
{
    const prt_optimizer_specific rate = { "learning_rate", { 0.5f, false } };
    prt_optimizer *o = optimizer_from_text("sgd", "");
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_insert_specific(o, "layer/w:0", 1, &rate), POPRT_OK);
    ck_assert_int_eq(prt_optimizer_plan_weight(o, PRT_STR("layer/w:0"), PRT_DTYPE_f32, &plain,
                         arena, &plan),
        POPRT_OK);
    ck_scalar("scaledLearningRate0___specific___layer/w:0", 0.5, -1);
    ck_scalar("weightDecayScaleFactor0___specific___layer/w:0", 1, 0);
    ck_assert_int_eq(prt_optimizer_plan_weight(o, PRT_STR("w"), PRT_DTYPE_i32, &plain, arena,
                         &plan),
        POPRT_E_TYPE);
    prt_optimizer_release(o);
}
END_TEST

/* ---- whole updates */

enum { N = 40 };

static void fill(double *x, uint32_t seed)
{
    for (size_t i = 0; i < N; i++)
        x[i] = (double)((int)((i * 7 + seed * 13) % 29) - 14) / 16;
}

/* Runs 5 updates; the gradient of each is `factor` times a given one. */
static void train(const char *kind, const char *text, const prt_optimizer_context *context,
    double factor, double *weight)
{
    double g[N];
    prt_optimizer *o = optimizer_from_text(kind, text);
    fill(weight, 1);
    update_run *r = update_run_create(o, PRT_DTYPE_f64, N, context, weight, NULL, NULL);
    for (uint32_t t = 0; t < 5; t++) {
        fill(g, 2 + t);
        for (size_t i = 0; i < N; i++)
            g[i] *= factor;
        update_run_step(r, o, g);
    }
    for (size_t i = 0; i < N; i++)
        weight[i] = update_run_weight(r, i);
    update_run_release(r);
    prt_optimizer_release(o);
}

static void ck_equal(const char *kind, const char *text, const double *a, const double *b,
    double bound)
{
    for (size_t i = 0; i < N; i++)
        if (!(fabs(a[i] - b[i]) <= bound))
            ck_abort_msg("%s %s: element %zu is %.9g, not %.9g", kind, text, i, a[i], b[i]);
}

static const struct {
    const char *kind, *text;
} trained[] = {
    { "sgd", "weight_decay=0.1 loss_scaling=2" },
    { "sgd", "weight_decay=0.1 momentum=0.9 dampening=0.5" },
    { "sgd", "weight_decay=0.1 momentum=0.9 velocity_scaling=8" },
    { "sgd", "weight_decay=0.1 momentum=0.9 nesterov=1" },
    { "sgd", "weight_decay=0.1 momentum=0.9 accumulator_and_momentum=Separate dampening=0.5" },
    { "sgd", "weight_decay=0.1 momentum=0.9 accumulator_and_momentum=Separate nesterov=1" },
    { "adam", "weight_decay=0.1 eps=0.01 loss_scaling=2" },
    { "lamb", "weight_decay=0.1 weight_decay_mode=L2Regularization" },
    { "adamax", "weight_decay=0.1 scaled_optimizer_state=true" },
    { "rmsprop", "weight_decay=0.1 momentum=0.9" },
    { "adadelta", "weight_decay=0.1" },
};

START_TEST(reductions_equal_one_large_batch)
{
    double one[N], other[N];
    for (size_t k = 0; k < PRT_COUNT_OF(trained); k++) {
        const char *kind = trained[k].kind, *text = trained[k].text;
        train(kind, text, &plain, 1, one);
        /* The gradient of an update is a sum over micro-batches and replicas, or a mean. */
        train(kind, text, &sums, 1, other);
        ck_equal(kind, text, other, one, 1e-12);
        train(kind, text, &means, 12, other);
        ck_equal(kind, text, other, one, 1e-12);
        train(kind, text, &running, 1, other);
        ck_equal(kind, text, other, one, 1e-12);
        train(kind, text, &replicas, 3, other);
        ck_equal(kind, text, other, one, 1e-12);
    }
}
END_TEST

START_TEST(velocity_scaling_changes_no_result)
{
    double one[N], other[N];
    for (int separate = 0; separate < 2; separate++)
        for (int nesterov = 0; nesterov < 2; nesterov++) {
            char text[2][160];
            for (int k = 0; k < 2; k++) {
                (void)snprintf(text[k], sizeof(text[k]),
                    "momentum=0.9 weight_decay=0.1 nesterov=%d velocity_scaling=%d "
                    "accumulator_and_momentum=%s",
                    nesterov, k == 0 ? 1 : 64, separate != 0 ? "Separate" : "Combined");
                train("sgd", text[k], &plain, 1, k == 0 ? one : other);
            }
            ck_equal("sgd", text[1], other, one, 1e-12);
        }
}
END_TEST

/* Values of update t. */
typedef struct schedule {
    double lr[6], mm[6], wd[6];
} schedule;

/* Runs SGD1 or SGD2 with a schedule. */
static void train_schedule(const char *form, const schedule *s, double *weight)
{
    char text[200];
    double g[N];
    update_run *r = NULL;
    fill(weight, 1);
    for (uint32_t t = 0; t < 6; t++) {
        (void)snprintf(text, sizeof(text),
            "accumulator_and_momentum=%s learning_rate=%g? momentum=%g? weight_decay=%g?", form,
            s->lr[t], s->mm[t], s->wd[t]);
        prt_optimizer *o = optimizer_from_text("sgd", text);
        if (r == NULL)
            r = update_run_create(o, PRT_DTYPE_f64, N, &plain, weight, NULL, NULL);
        fill(g, 2 + t);
        update_run_step(r, o, g);
        prt_optimizer_release(o);
    }
    for (size_t i = 0; i < N; i++)
        weight[i] = update_run_weight(r, i);
    update_run_release(r);
}

/* v = mm v + g + wd w; w -= lr v, where SGD1 takes mm and wd of the update before. */
static void train_equations(const schedule *s, bool lags, double *weight)
{
    double g[N], v[N] = { 0 };
    fill(weight, 1);
    for (uint32_t t = 0; t < 6; t++) {
        const uint32_t from = lags && t != 0 ? t - 1 : t;
        fill(g, 2 + t);
        for (size_t i = 0; i < N; i++) {
            v[i] =
                (double)(float)s->mm[from] * v[i] + g[i] + (double)(float)s->wd[from] * weight[i];
            weight[i] -= (double)(float)s->lr[t] * v[i];
        }
    }
}

START_TEST(sgd1_uses_momentum_and_decay_of_the_step_before)
{
    const schedule constant = { { .1, .1, .1, .1, .1, .1 }, { .9, .9, .9, .9, .9, .9 },
        { .2, .2, .2, .2, .2, .2 } };
    const schedule varied = { { .1, .2, .1, .05, .3, .1 }, { .9, .5, .8, .1, .7, .6 },
        { .2, .1, .3, .05, .4, .1 } };
    const schedule rates = { { .1, .2, .1, .05, .3, .1 }, { .9, .9, .9, .9, .9, .9 },
        { .2, .2, .2, .2, .2, .2 } };
    double combined[N], separate[N], want[N], most = 0;
    train_schedule("Combined", &constant, combined);
    train_schedule("Separate", &constant, separate);
    ck_equal("sgd", "constant", combined, separate, 1e-12);
    train_schedule("Combined", &rates, combined);
    train_schedule("Separate", &rates, separate);
    ck_equal("sgd", "rates", combined, separate, 1e-12);
    train_schedule("Combined", &varied, combined);
    train_schedule("Separate", &varied, separate);
    train_equations(&varied, true, want);
    ck_equal("sgd", "combined", combined, want, 1e-12);
    train_equations(&varied, false, want);
    ck_equal("sgd", "separate", separate, want, 1e-12);
    for (size_t i = 0; i < N; i++)
        most = fmax(most, fabs(combined[i] - separate[i]));
    ck_assert_double_gt(most, 0.01);
}
END_TEST

START_TEST(first_step_of_adam_is_the_learning_rate)
{
    double w[N], g[N];
    prt_optimizer *o = optimizer_from_text("adam", "learning_rate=0.5");
    fill(w, 1);
    fill(g, 2);
    update_run *r = update_run_create(o, PRT_DTYPE_f64, N, &plain, w, NULL, NULL);
    update_run_step(r, o, g);
    for (size_t i = 0; i < N; i++) {
        const double eps = (double)1e-6f, by = 0.5 * g[i] / (fabs(g[i]) + eps);
        ck_assert_double_eq_tol(update_run_weight(r, i), w[i] - by, 1e-9);
    }
    ck_assert_double_eq(update_run_state(r, 2, 0), 1);
    update_run_release(r);
    prt_optimizer_release(o);
}
END_TEST

/* One update of Lamb with a weight of ones or zeros and a gradient of `g`; returns an element. */
static double lamb(const char *text, double w, double g)
{
    double weight[N], gradient[N];
    prt_optimizer *o = optimizer_from_text("lamb", text);
    for (size_t i = 0; i < N; i++) {
        weight[i] = w;
        gradient[i] = g;
    }
    update_run *r = update_run_create(o, PRT_DTYPE_f64, N, &plain, weight, NULL, NULL);
    update_run_step(r, o, gradient);
    const double got = update_run_weight(r, 0);
    update_run_release(r);
    prt_optimizer_release(o);
    return got;
}

START_TEST(ratio_of_lamb_is_one_where_a_norm_is_zero)
{
    const double norm = sqrt((double)N);
    /* u is 1 up to eps, so that r2 is the norm of ones. */
    ck_assert_double_eq_tol(lamb("learning_rate=0.5", 0, 1), -0.5, 1e-5);
    ck_assert_double_eq_tol(lamb("learning_rate=0.5", 1, 0), 1, 1e-12);
    ck_assert_double_eq_tol(lamb("learning_rate=0.5 max_weight_norm=0", 4, 1), 3.5, 1e-5);
    ck_assert_double_eq_tol(lamb("learning_rate=0.5 max_weight_norm=3", 4, 1), 4 - 0.5 * 3 / norm,
        1e-5);
    ck_assert_double_eq_tol(lamb("learning_rate=0.5 max_weight_norm=100", 4, 1), 4 - 0.5 * 4, 1e-5);
    ck_assert_double_eq_tol(lamb("learning_rate=0.5 use_max_weight_norm=false", 4, 1), 2, 1e-5);
}
END_TEST

START_TEST(scaled_states_follow_changes_of_the_loss_scaling)
{
    static const double scales[6] = { 8, 8, 64, 64, 0.5, 2 };
    static const char *const kinds[] = { "adam", "adamax", "adam_no_bias", "lamb_no_bias" };
    double start[N], g[N];
    fill(start, 1);
    for (size_t k = 0; k < PRT_COUNT_OF(kinds); k++) {
        char text[160];
        prt_optimizer *plain_one = optimizer_from_text(kinds[k], "weight_decay=0.1 eps=0.01");
        update_run *a = update_run_create(plain_one, PRT_DTYPE_f64, N, &plain, start, NULL, NULL);
        update_run *b = NULL;
        for (uint32_t t = 0; t < 6; t++) {
            (void)snprintf(text, sizeof(text),
                "weight_decay=0.1 eps=0.01 scaled_optimizer_state=true loss_scaling=%g?",
                scales[t]);
            prt_optimizer *o = optimizer_from_text(kinds[k], text);
            if (b == NULL)
                b = update_run_create(o, PRT_DTYPE_f64, N, &plain, start, NULL, NULL);
            fill(g, 2 + t);
            update_run_step(a, plain_one, g);
            for (size_t i = 0; i < N; i++)
                g[i] *= scales[t];
            update_run_step(b, o, g);
            prt_optimizer_release(o);
        }
        for (size_t i = 0; i < N; i++)
            ck_assert_double_eq_tol(update_run_weight(b, i), update_run_weight(a, i), 1e-12);
        update_run_release(a);
        update_run_release(b);
        prt_optimizer_release(plain_one);
    }
}
END_TEST

START_TEST(step_counters_change_the_bias_correction)
{
    double w[N], g[N];
    prt_optimizer *o = optimizer_from_text("adam", "learning_rate=0.5 beta1=0.5 beta2=0.75");
    ck_assert_int_eq(prt_optimizer_set_step(o, "w", 6), POPRT_OK);
    fill(w, 1);
    fill(g, 2);
    update_run *r = update_run_create(o, PRT_DTYPE_f64, N, &plain, w, NULL, NULL);
    update_run_step(r, o, g);
    ck_assert_double_eq(update_run_state(r, 2, 0), 7);
    for (size_t i = 0; i < N; i++) {
        const double m = 0.5 * g[i] / (1 - pow(0.5, 7));
        const double v = 0.25 * g[i] * g[i] / (1 - pow(0.75, 7));
        ck_assert_double_eq_tol(update_run_weight(r, i), w[i] - 0.5 * m / (sqrt(v) + (double)1e-6f),
            1e-12);
    }
    update_run_release(r);
    prt_optimizer_release(o);
}
END_TEST

PRT_TEST_MAIN("train/optimizer_plan", sgd_without_momentum_has_two_scalars,
    combined_momentum_is_scaled_for_replicas, separate_momentum_and_nesterov_have_their_scalars,
    adam_has_moments_and_a_step_counter, scaled_states_carry_the_loss_scaling,
    adaptive_optimizers_have_up_to_three_states, scalars_of_constant_values_are_constant,
    scalars_of_one_weight_have_its_name, reductions_equal_one_large_batch,
    velocity_scaling_changes_no_result, sgd1_uses_momentum_and_decay_of_the_step_before,
    first_step_of_adam_is_the_learning_rate, ratio_of_lamb_is_one_where_a_norm_is_zero,
    scaled_states_follow_changes_of_the_loss_scaling, step_counters_change_the_bias_correction)
