/* SPDX-License-Identifier: MIT */
/*
 * test_optimizer_updates.c — every optimizer, mode and setting for 20 steps, at every level of
 * kernels, against the equations of PopART's optimizers in double.
 * Covers: optimizer_plan.c, optimizer_graph.c, sgd.c, adam.c, adaptive.c, update.c, train.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/check_main.h"
#include "support/update_run.h"

enum { N = 4096 + 37, STEPS = 20 };

/* A reference computation: values as the user gave them, the weight, and up to three states. */
typedef struct model {
    double lr, wd, mm, dm, vs, b1, b2, eps, alpha, mwn, ls;
    bool nesterov, separate, l2, scaled, tf, bounded;
    double max_norm;  /* 0: no clipping */
    int32_t types[4]; /* element types of weight and states */
    double w[N], s[3][N];
    int t;
} model;

static double rounded(int32_t dtype, double x)
{
    unsigned char bytes[8];
    prt_store_f64(dtype, bytes, 0, x);
    return prt_load_f64(dtype, bytes, 0);
}

static void store(model *m, size_t i, double w, double a, double b, double c)
{
    m->w[i] = rounded(m->types[0], w);
    m->s[0][i] = rounded(m->types[1], a);
    m->s[1][i] = rounded(m->types[2], b);
    m->s[2][i] = rounded(m->types[3], c);
}

static double factor_of(const model *m, double squares)
{
    const double norm = sqrt(squares);
    return m->max_norm == 0 ? 1.0 : m->max_norm / fmax(m->max_norm, norm);
}

/* g' = g / ls + wd w; v = mm v + (1 - dm) g'; w -= lr u. The state of SGD2 is vs v. That of SGD1 is
 * vs v after the momentum of the next step and (1 - dm) wd vs w. */
static void step_sgd(model *m, const double *g)
{
    static double x[N], v[N];
    double squares = 0;
    for (size_t i = 0; i < N; i++) {
        const double real = g[i] / m->ls + m->wd * m->w[i];
        v[i] = m->separate ? m->mm * (m->s[0][i] / m->vs) + (1 - m->dm) * real
                           : m->s[0][i] / m->vs + (1 - m->dm) * g[i] / m->ls;
        x[i] = m->nesterov ? real + m->mm * v[i] : v[i];
        squares += m->vs * x[i] * m->vs * x[i];
    }
    for (size_t i = 0; i < N; i++) {
        const double w = m->w[i] - m->lr * factor_of(m, squares) * x[i];
        const double state = m->separate ? v[i] : m->mm * v[i] + (1 - m->dm) * m->wd * w;
        store(m, i, w, m->vs * state, 0, 0);
    }
}

/* Without momentum: w = w (1 - lr (1 - dm) wd) - lr (1 - dm) g / ls. Clipping sees g. */
static void step_sgd0(model *m, const double *g)
{
    double squares = 0;
    for (size_t i = 0; i < N; i++)
        squares += g[i] * g[i];
    for (size_t i = 0; i < N; i++)
        store(m, i,
            m->w[i] * (1 - m->lr * (1 - m->dm) * m->wd) -
                m->lr * (1 - m->dm) * factor_of(m, squares) * g[i] / m->ls,
            0, 0, 0);
}

typedef enum adam_mode { ADAM, NO_BIAS, ADAMAX, LAMB, LAMB_NO_BIAS } adam_mode;

static void step_adam(model *m, const double *given, adam_mode mode)
{
    static double g[N], u[N], first[N], second[N];
    const bool corrects = mode != NO_BIAS && mode != LAMB_NO_BIAS;
    const double ls = m->scaled ? 1 : m->ls, up = m->scaled ? m->ls : 1;
    double squares = 0, r1 = 0, r2 = 0;
    m->t++;
    for (size_t i = 0; i < N; i++) {
        g[i] = given[i] / ls + (m->l2 ? m->wd * up * m->w[i] : 0);
        squares += g[i] * g[i];
    }
    for (size_t i = 0; i < N; i++) {
        const double x = g[i] * factor_of(m, squares);
        first[i] = m->b1 * m->s[0][i] + (1 - m->b1) * x;
        second[i] = mode == ADAMAX ? fmax(m->b2 * m->s[1][i], fabs(x))
                                   : m->b2 * m->s[1][i] + (1 - m->b2) * x * x;
        const double mhat = corrects ? first[i] / (1 - pow(m->b1, m->t)) : first[i];
        const double vhat =
            corrects && mode != ADAMAX ? second[i] / (1 - pow(m->b2, m->t)) : second[i];
        u[i] = mhat / ((mode == ADAMAX ? vhat : sqrt(vhat)) + m->eps * up);
        u[i] += m->l2 ? 0 : m->wd * m->w[i];
        r1 += m->w[i] * m->w[i];
        r2 += u[i] * u[i];
    }
    r1 = sqrt(r1);
    r2 = sqrt(r2);
    double ratio = 1;
    if ((mode == LAMB || mode == LAMB_NO_BIAS) && r1 != 0 && r2 != 0 &&
        (m->mwn != 0 || !m->bounded))
        ratio = (m->bounded ? fmin(r1, m->mwn) : r1) / r2;
    for (size_t i = 0; i < N; i++)
        store(m, i, m->w[i] - m->lr * ratio * u[i], first[i], second[i], 0);
}

typedef enum adaptive_mode { ADAGRAD, RMSPROP, CENTERED, ADADELTA } adaptive_mode;

static void step_adaptive(model *m, const double *given, adaptive_mode mode, bool momentum)
{
    for (size_t i = 0; i < N; i++) {
        const double g = given[i] / m->ls + (m->l2 ? m->wd * m->w[i] : 0);
        double a1 = m->s[0][i], a2 = m->s[1][i], a3 = m->s[2][i], u;
        a1 = mode == ADAGRAD ? a1 + g * g : m->alpha * a1 + (1 - m->alpha) * g * g;
        if (mode == CENTERED)
            a2 = m->alpha * a2 + (1 - m->alpha) * g;
        const double r = mode == CENTERED ? a1 - a2 * a2 : a1;
        if (mode == ADADELTA) {
            u = g * sqrt(a2 + m->eps) / sqrt(a1 + m->eps);
            a2 = m->alpha * a2 + (1 - m->alpha) * u * u;
        } else {
            u = m->tf ? g / sqrt(r + m->eps) : g / (sqrt(r) + m->eps);
        }
        const double wd = m->l2 ? 0 : m->wd;
        if (momentum && m->tf) {
            a3 = m->mm * a3 + m->lr * u;
            store(m, i, (1 - wd) * m->w[i] - a3, a1, a2, a3);
        } else {
            if (momentum)
                u = a3 = m->mm * a3 + u;
            store(m, i, (1 - m->lr * wd) * m->w[i] - m->lr * u, a1, a2, a3);
        }
    }
}

static void step_model(model *m, const char *kind, const double *g)
{
    static const char *const adams[] = { "adam", "adam_no_bias", "adamax", "lamb", "lamb_no_bias" };
    static const char *const adaptives[] = { "adagrad", "rmsprop", "centered_rmsprop", "adadelta" };
    if (strcmp(kind, "sgd") == 0 || strcmp(kind, "const_sgd") == 0) {
        if (m->mm == 0)
            step_sgd0(m, g);
        else
            step_sgd(m, g);
    }
    if (strcmp(kind, "adamw") == 0)
        step_adam(m, g, ADAM);
    for (int i = 0; i < 5; i++)
        if (strcmp(kind, adams[i]) == 0)
            step_adam(m, g, (adam_mode)i);
    for (int i = 0; i < 4; i++)
        if (strcmp(kind, adaptives[i]) == 0)
            step_adaptive(m, g, (adaptive_mode)i, m->mm != 0);
}

static double value_of(const prt_optimizer *o, prt_optimizer_value_id id)
{
    return (double)prt_optimizer_value_of(o, PRT_STR("w"), id).value;
}

/* Returns which of the model's states a state of the plan is; 3: a scalar. */
static uint32_t slot_of(const prt_optimizer_state *s)
{
    return s->is_scalar ? 3 : s->input - 1;
}

/* Reads the values that the user gave, and gives the states their first contents. */
static void fill_model(model *m, const prt_optimizer *o, const update_run *r, int32_t dtype,
    double max_norm)
{
    const bool sgd = prt_optimizer_family_of(o) == PRT_OPTIMIZER_SGD;
    memset(m, 0, sizeof(*m));
#define SET(field, id) m->field = value_of(o, PRT_OPTIMIZER_VALUE_##id)
    SET(lr, learning_rate), SET(wd, weight_decay), SET(mm, momentum), SET(dm, dampening);
    SET(vs, velocity_scaling), SET(b1, beta1), SET(b2, beta2), SET(eps, eps), SET(alpha, alpha);
    SET(mwn, max_weight_norm), SET(ls, loss_scaling);
#undef SET
    m->nesterov = value_of(o, PRT_OPTIMIZER_VALUE_nesterov) != 0;
    m->separate = prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_accumulator_and_momentum) == 1;
    m->l2 = prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_weight_decay_mode) == 1;
    m->scaled = prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_scaled_optimizer_state) == 1;
    m->tf = prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_rmsprop_tf_variant) == 1;
    m->bounded = prt_optimizer_setting(o, PRT_OPTIMIZER_SETTING_use_max_weight_norm) == 1;
    m->max_norm = max_norm;
    for (uint32_t k = 0; k < 4; k++)
        m->types[k] = PRT_DTYPE_f64;
    m->types[0] = dtype;
    for (uint32_t k = 0; k < update_run_plan(r)->n_states; k++)
        if (slot_of(&update_run_plan(r)->states[k]) < 3)
            m->types[1 + slot_of(&update_run_plan(r)->states[k])] =
                update_run_plan(r)->states[k].dtype;
    for (size_t i = 0; i < N; i++) {
        m->w[i] = update_run_weight(r, i);
        m->s[0][i] = m->tf ? 1 : sgd && !m->separate ? (1 - m->dm) * m->wd * m->vs * m->w[i] : 0;
        m->s[0][i] = rounded(m->types[1], m->s[0][i]);
    }
}

static double largest_of(const double *x)
{
    double most = 0;
    for (size_t i = 0; i < N; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* What is compared: an update and its model, for messages too. */
typedef struct comparison {
    const update_run *run;
    const model *model;
    const char *kind, *text, *level;
    double bound; /* of the largest element */
} comparison;

/* Compares state k, or, if `k` is UINT32_MAX, the weight. */
static void compare_tensor(const comparison *c, uint32_t k)
{
    const prt_optimizer_plan *plan = update_run_plan(c->run);
    const bool is_weight = k == UINT32_MAX;
    const double *want = is_weight ? c->model->w : c->model->s[slot_of(&plan->states[k])];
    const int32_t dtype = is_weight ? c->model->types[0] : plan->states[k].dtype;
    const double least = dtype == PRT_DTYPE_f16 ? 2e-3 : dtype == PRT_DTYPE_bf16 ? 1.6e-2 : 0.0;
    const double by = fmax(c->bound, least) * largest_of(want) + 1e-30;
    for (size_t i = 0; i < N; i++) {
        const double got =
            is_weight ? update_run_weight(c->run, i) : update_run_state(c->run, k, i);
        if (!(fabs(got - want[i]) <= by))
            ck_abort_msg("%s %s, %s: %s[%zu] is %.9g, not %.9g (bound %g)", c->kind, c->text,
                c->level, is_weight ? "w" : plan->states[k].name.data, i, got, want[i], by);
    }
}

static void compare(const comparison *c)
{
    const prt_optimizer_plan *plan = update_run_plan(c->run);
    compare_tensor(c, UINT32_MAX);
    for (uint32_t k = 0; k < plan->n_states; k++)
        if (!plan->states[k].is_scalar)
            compare_tensor(c, k);
        else if (prt_str_is(plan->states[k].name, "Step___w"))
            ck_assert_double_eq(update_run_state(c->run, k, 0), STEPS);
}

static double random_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

/* Runs STEPS updates with random gradients, times the loss scaling, and compares with the model. */
static void check_level(const char *kind, const char *text, int32_t dtype, double max_norm,
    double bound, const char *name, const prt_par *par)
{
    static model m;
    static double weight[N], g[N];
    const prt_kern *kern = name != NULL ? update_run_level(name) : NULL;
    uint32_t state = 7;
    if (name != NULL && kern == NULL)
        return;
    prt_optimizer *o = optimizer_from_text(kind, text);
    if (max_norm != 0)
        ck_assert_int_eq(prt_optimizer_clip(o, 0, NULL, (float)max_norm), POPRT_OK);
    for (size_t i = 0; i < N; i++)
        weight[i] = rounded(dtype, random_number(&state));
    update_run *r = update_run_create(o, dtype, N, &update_run_plain, weight, kern, par);
    fill_model(&m, o, r, dtype, max_norm);
    for (size_t t = 0; t < STEPS; t++) {
        for (size_t i = 0; i < N; i++)
            g[i] = rounded(dtype, m.ls * (random_number(&state) + 0.3));
        step_model(&m, kind, g);
        update_run_step(r, o, g);
    }
    const comparison c = { r, &m, kind, text, name != NULL ? name : "reference", bound };
    compare(&c);
    update_run_release(r);
    prt_optimizer_release(o);
}

/* Runs STEPS updates with random gradients, times the loss scaling, and compares with the model at
 * every level. */
static void check_update(const char *kind, const char *text, int32_t dtype, double max_norm,
    double bound)
{
    static const char *const levels[] = { NULL, "portable", "avx2", "avx512" };
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(&prt_mem_libc, 3, 1000, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    for (size_t l = 0; l < PRT_COUNT_OF(levels); l++)
        check_level(kind, text, dtype, max_norm, bound, levels[l], l % 2 != 0 ? &par : NULL);
    prt_pool_release(pool);
}

static const double F32 = 1e-6;

START_TEST(sgd_equals_the_equations)
{
    check_update("sgd", "learning_rate=0.05 weight_decay=0.1", PRT_DTYPE_f32, 0, F32);
    check_update("const_sgd", "learning_rate=0.05 weight_decay=0.1 loss_scaling=8", PRT_DTYPE_f32,
        0, F32);
    check_update("sgd", "learning_rate=0.05 dampening=0.25 loss_scaling=4?", PRT_DTYPE_f32, 0, F32);
    for (int separate = 0; separate < 2; separate++)
        for (int nesterov = 0; nesterov < 2; nesterov++)
            for (int vs = 0; vs < 2; vs++) {
                char text[256];
                (void)snprintf(text, sizeof(text),
                    "learning_rate=0.05? momentum=0.9? weight_decay=0.1? loss_scaling=16 "
                    "velocity_scaling=%d %s accumulator_and_momentum=%s",
                    vs == 0 ? 1 : 32, nesterov != 0 ? "nesterov=1" : "dampening=0.25",
                    separate != 0 ? "Separate" : "Combined");
                check_update("sgd", text, PRT_DTYPE_f32, 0, F32);
            }
}
END_TEST

START_TEST(adam_equals_the_equations)
{
    static const char *const kinds[] = { "adam", "adam_no_bias", "adamax", "lamb", "lamb_no_bias" };
    for (size_t k = 0; k < PRT_COUNT_OF(kinds); k++) {
        check_update(kinds[k], "learning_rate=0.01 weight_decay=0.1", PRT_DTYPE_f32, 0, F32);
        check_update(kinds[k],
            "learning_rate=0.01? beta1=0.8? beta2=0.99? eps=1e-3? weight_decay=0.1? "
            "loss_scaling=64? "
            "max_weight_norm=2? weight_decay_mode=L2Regularization",
            PRT_DTYPE_f32, 0, F32);
        check_update(kinds[k],
            "learning_rate=0.01 loss_scaling=16 scaled_optimizer_state=true "
            "weight_decay=0.05",
            PRT_DTYPE_f32, 0, F32);
        check_update(kinds[k],
            "learning_rate=0.01 loss_scaling=16 scaled_optimizer_state=true "
            "weight_decay=0.05 weight_decay_mode=L2Regularization",
            PRT_DTYPE_f32, 0, F32);
    }
    check_update("adamw", "weight_decay=0.01 learning_rate=0.001", PRT_DTYPE_f32, 0, F32);
    check_update("lamb", "use_max_weight_norm=false learning_rate=0.01", PRT_DTYPE_f32, 0, F32);
    check_update("lamb", "max_weight_norm=0 learning_rate=0.01", PRT_DTYPE_f32, 0, F32);
}
END_TEST

START_TEST(adaptive_optimizers_equal_the_equations)
{
    static const char *const kinds[] = { "adagrad", "rmsprop", "centered_rmsprop", "adadelta" };
    static const char *const values[] = { "learning_rate=0.01",
        "learning_rate=0.01? weight_decay=0.1? momentum=0.9? alpha=0.9? eps=1e-3? loss_scaling=32?",
        "learning_rate=0.01 weight_decay=0.1 momentum=0.9 weight_decay_mode=L2Regularization" };
    char text[256];
    for (size_t k = 0; k < PRT_COUNT_OF(kinds); k++)
        for (size_t v = 0; v < PRT_COUNT_OF(values); v++) {
            check_update(kinds[k], values[v], PRT_DTYPE_f32, 0, F32);
            if (k != 1 && k != 2)
                continue;
            (void)snprintf(text, sizeof(text), "%s rmsprop_tf_variant=true", values[v]);
            check_update(kinds[k], text, PRT_DTYPE_f32, 0, F32);
        }
}
END_TEST

START_TEST(clipped_updates_equal_the_equations)
{
    static const char *const scales[] = { "loss_scaling=1", "loss_scaling=8" };
    char text[256];
    for (size_t i = 0; i < 2; i++) {
        check_update("sgd", scales[i], PRT_DTYPE_f32, 3, F32);
        for (int nesterov = 0; nesterov < 2; nesterov++)
            for (int separate = 0; separate < 2; separate++) {
                (void)snprintf(text, sizeof(text),
                    "%s momentum=0.9 nesterov=%d weight_decay=0.1 accumulator_and_momentum=%s",
                    scales[i], nesterov, separate != 0 ? "Separate" : "Combined");
                check_update("sgd", text, PRT_DTYPE_f32, 3, F32);
            }
        for (int lamb = 0; lamb < 2; lamb++)
            for (int l2 = 0; l2 < 2; l2++) {
                (void)snprintf(text, sizeof(text), "%s weight_decay=0.1 weight_decay_mode=%s",
                    scales[i], l2 != 0 ? "L2Regularization" : "Decay");
                check_update(lamb != 0 ? "lamb" : "adam", text, PRT_DTYPE_f32, 3, F32);
            }
    }
}
END_TEST

START_TEST(other_types_round_when_they_store)
{
    static const int32_t types[] = { PRT_DTYPE_f16, PRT_DTYPE_bf16, PRT_DTYPE_f64 };
    static const double bounds[] = { 2e-3, 1.6e-2, 1e-12 };
    for (size_t i = 0; i < PRT_COUNT_OF(types); i++) {
        check_update("sgd", "learning_rate=0.05 weight_decay=0.1", types[i], 0, bounds[i]);
        check_update("sgd", "momentum=0.9 accl1_type=FLOAT loss_scaling=16", types[i], 0,
            bounds[i]);
        check_update("sgd", "momentum=0.9 accumulator_and_momentum=Separate", types[i], 0,
            bounds[i]);
        check_update("adam", "weight_decay=0.1", types[i], 0, bounds[i]);
        check_update("lamb", "weight_decay=0.1", types[i], 5, bounds[i]);
        check_update("rmsprop", "momentum=0.9", types[i], 0, bounds[i]);
    }
    check_update("adam", "accl1_type=FLOAT16 learning_rate=0.01", PRT_DTYPE_f32, 0, 2e-4);
    check_update("adam", "accl1_type=FLOAT16 accl2_type=FLOAT16 learning_rate=0.01 eps=1e-3",
        PRT_DTYPE_f32, 0, 2e-4);
    check_update("adadelta",
        "accl1_type=FLOAT16 accl2_type=FLOAT16 momentum=0.5 accl3_type=FLOAT16", PRT_DTYPE_f32, 0,
        2e-4);
}
END_TEST

PRT_TEST_MAIN("train/optimizer_updates", sgd_equals_the_equations, adam_equals_the_equations,
    adaptive_optimizers_equal_the_equations, clipped_updates_equal_the_equations,
    other_types_round_when_they_store)
