/* SPDX-License-Identifier: MIT */
/*
 * test_optimizer_in_place.c — updates in a training program: weights and states are variables that
 * the update writes in place, after gradients of micro-batches and replicas are accumulated.
 * Covers: optimizer_graph.c.
 */
#include <math.h>

#include "compiler/compile.h"
#include "runtime/session.h"
#include "runtime/stream.h"
#include "support/check_main.h"
#include "support/update_run.h"

enum { N = 5000, WEIGHTS = 2, STEPS = 4, A = 2, R = 2 };

static const char *const names[WEIGHTS] = { "w0", "w1" };
static const prt_optimizer_context context = { .accumulation = A,
    .replicas = R,
    .accumulates = true };

static void require_ok(poprt_status status)
{
    ck_assert_msg(status == POPRT_OK, "%s: %s", prt_error_last()->subject,
        prt_error_last()->message);
}

/* Multiples of 1/16, whose sums are exact. */
static float number(uint32_t seed, size_t i)
{
    return (float)((int)((i * 7 + seed * 13) % 61) - 30) / 16;
}

static prt_blob *blob_of(const prt_optimizer_state *s, const float *weight)
{
    const size_t n = s->is_scalar ? 1 : N;
    size_t size;
    prt_blob *blob = NULL;
    ck_assert(prt_dtype_size(s->dtype, n, &size));
    require_ok(prt_blob_create(&prt_mem_libc, size, &blob));
    for (size_t i = 0; i < n; i++)
        prt_store_f64(s->dtype, prt_blob_bytes(blob), i,
            s->init == PRT_OPTIMIZER_INIT_WEIGHT ? s->value * (double)weight[i] : s->value);
    return blob;
}

static prt_ir_variable *add_variable(prt_module *m, prt_str name, int32_t dtype, uint32_t rank,
    uint32_t role, prt_blob *init)
{
    const int64_t dim = N;
    prt_ir_variable *v = prt_module_add_variable(m, name,
        prt_type_tensor(m->types, dtype, (int32_t)rank, &dim), role);
    ck_assert_ptr_nonnull(v);
    if (init != NULL)
        require_ok(prt_module_keep(m, init));
    v->init = init;
    return v;
}

/* The variables of a weight. */
typedef struct weight_variables {
    prt_optimizer_plan plan;
    prt_ir_variable *weight, *accumulator;
    prt_ir_variable *states[PRT_OPTIMIZER_MAX_STATES];
} weight_variables;

/* Returns the values of the variables in a graph. */
static prt_optimizer_weight values_in(prt_graph *g, prt_build *b, const weight_variables *v)
{
    prt_optimizer_weight w = { .plan = &v->plan,
        .weight = prt_graph_variable(g, v->weight),
        .gradient = prt_graph_variable(g, v->accumulator) };
    for (uint32_t i = 0; i < v->plan.n_states; i++)
        w.states[i] = prt_graph_variable(g, v->states[i]);
    for (uint32_t i = 0; i < v->plan.n_scalars; i++)
        w.scalars[i] = prt_build_scalar(b, v->plan.scalar_type, v->plan.scalars[i].value);
    return w;
}

/* Adds a weight, and the accumulation of its gradient to the main graph; returns the new sum. */
static prt_value *add_weight(prt_module *m, prt_build *b, const prt_optimizer *o, uint32_t k,
    weight_variables *v)
{
    const prt_str name = prt_str_of(names[k]);
    const int64_t dim = N;
    prt_optimizer_state as_state = { .dtype = PRT_DTYPE_f32,
        .init = PRT_OPTIMIZER_INIT_WEIGHT,
        .value = 1 };
    float w[N];
    for (size_t i = 0; i < N; i++)
        w[i] = number(k, i);
    require_ok(prt_optimizer_plan_weight(o, name, PRT_DTYPE_f32, &context, m->arena, &v->plan));
    v->weight = add_variable(m, name, PRT_DTYPE_f32, 1, PRT_VARIABLE_weight, blob_of(&as_state, w));
    v->accumulator = add_variable(m, v->plan.accumulator, v->plan.accumulator_type, 1,
        PRT_VARIABLE_accumulator, NULL);
    for (uint32_t i = 0; i < v->plan.n_states; i++) {
        const prt_optimizer_state *s = &v->plan.states[i];
        v->states[i] = add_variable(m, s->name, s->dtype, s->is_scalar ? 0 : 1, PRT_VARIABLE_state,
            blob_of(s, w));
    }
    prt_value *g = prt_graph_add_input(m->main, k == 0 ? PRT_STR("g0") : PRT_STR("g1"),
        prt_type_tensor(m->types, PRT_DTYPE_f32, 1, &dim));
    return prt_build_binary(b, PRT_OP_accumulate, prt_graph_variable(m->main, v->accumulator), g);
}

/* Adds entry update: norms and the clip factor if weights are clipped, then the updates. */
static void add_update(prt_module *m, const prt_optimizer *o, const weight_variables *v)
{
    prt_graph *g = prt_module_entry(m, PRT_ENTRY_update);
    prt_build b = prt_build_at_end(g);
    prt_optimizer_weight w[WEIGHTS];
    prt_optimizer_result result;
    prt_value *norms[WEIGHTS], *clip = NULL;
    const bool clips = prt_optimizer_clip_groups(o) != 0;
    for (uint32_t k = 0; k < WEIGHTS; k++) {
        w[k] = values_in(g, &b, &v[k]);
        norms[k] = clips ? prt_optimizer_add_norm(&b, &w[k]) : NULL;
    }
    if (clips)
        clip = prt_optimizer_add_clip(&b, o, 0, PRT_DTYPE_f32, WEIGHTS, norms, NULL);
    for (uint32_t k = 0; k < WEIGHTS; k++)
        prt_optimizer_add(&b, &w[k], clip, &result);
    require_ok(prt_build_status(&b));
}

static prt_program *compile(const prt_optimizer *o)
{
    prt_module *m = NULL;
    prt_program *p = NULL;
    weight_variables v[WEIGHTS];
    prt_value *sums[WEIGHTS];
    const prt_str outs[WEIGHTS] = { PRT_STR("s0"), PRT_STR("s1") };
    require_ok(prt_module_create(&prt_mem_libc, 0, &m));
    m->main = m->main != NULL ? m->main : prt_graph_create(m, NULL);
    prt_build b = prt_build_at_end(m->main);
    for (uint32_t k = 0; k < WEIGHTS; k++)
        sums[k] = add_weight(m, &b, o, k, &v[k]);
    require_ok(prt_build_status(&b));
    require_ok(prt_graph_set_outputs(m->main, WEIGHTS, sums, outs));
    add_update(m, o, v);
    require_ok(prt_ir_verify(m));
    const prt_compile_flow flow = { .flow = { STEPS, A, R, 1, PRT_GROUPING_consecutive,
                                        PRT_REDUCTION_sum },
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 } };
    const prt_compile_options options = { .flow = &flow };
    require_ok(prt_compile(m, &options, &p));
    prt_module_release(m);
    return p;
}

/* Micro-batch gradients; all replicas have the same. */
static float gradient(uint32_t k, int64_t step, size_t i)
{
    return number(3 + k + 2 * (uint32_t)step, i);
}

static float blocks[WEIGHTS][STEPS * A][N];

static poprt_status next_input(void *user, const prt_stream_block *b, bool prefetch,
    prt_tensor *out)
{
    const int64_t dim = N;
    (void)user;
    (void)prefetch;
    ck_assert(prt_tensor_init(out, PRT_DTYPE_f32, 1, &dim, blocks[b->index][b->step]));
    return POPRT_OK;
}

static void input_done(void *user, const prt_stream_block *b)
{
    (void)user;
    (void)b;
}

static poprt_status next_output(void *user, const prt_stream_block *b, prt_tensor *out)
{
    (void)user;
    (void)b;
    (void)out;
    return POPRT_OK;
}

static poprt_status output_done(void *user, const prt_stream_block *b, const prt_tensor *value)
{
    (void)user;
    (void)b;
    (void)value;
    return POPRT_OK;
}

/* Runs all steps; the session has the weights then. */
static prt_session *train(prt_program *p, const prt_kern *kern, const prt_par *par)
{
    const prt_stream io = { NULL, next_input, input_done, next_output, output_done };
    const prt_session_options options = { .kern = kern, .par = par };
    prt_session *s = NULL;
    for (uint32_t k = 0; k < WEIGHTS; k++)
        for (int64_t step = 0; step < STEPS * A; step++)
            for (size_t i = 0; i < N; i++)
                blocks[k][step][i] = gradient(k, step, i);
    require_ok(prt_session_create(p, &options, &s));
    require_ok(prt_session_run_flow(s, &io));
    return s;
}

static const float *contents(prt_session *s, const char *name)
{
    prt_tensor t;
    require_ok(prt_session_weight(s, prt_str_of(name), &t));
    return t.data;
}

static const struct {
    const char *kind, *text;
} trained[] = { { "sgd", "learning_rate=0.125" }, { "sgd", "momentum=0.9 weight_decay=0.1" },
    { "sgd", "momentum=0.9 weight_decay=0.1 nesterov=1 accumulator_and_momentum=Separate" },
    { "adam", "weight_decay=0.1 learning_rate=0.01" }, { "lamb", "weight_decay=0.1" },
    { "adamax", "accum_type=FLOAT accl1_type=FLOAT16" }, { "rmsprop", "momentum=0.9" },
    { "centered_rmsprop", "" }, { "adadelta", "momentum=0.5" }, { "adagrad", "" } };

START_TEST(updates_in_place_equal_updates_of_copies)
{
    static double start[N], g[N];
    prt_pool *pool = NULL;
    require_ok(prt_pool_create(&prt_mem_libc, 3, 1000, &pool));
    const prt_par par = prt_pool_par(pool);
    static const char *const levels[] = { NULL, "portable", "avx2", "avx512" };
    for (size_t row = 0; row < PRT_COUNT_OF(trained); row++)
        for (size_t l = 0; l < PRT_COUNT_OF(levels); l++) {
            const prt_kern *kern = levels[l] != NULL ? update_run_level(levels[l]) : NULL;
            if (levels[l] != NULL && kern == NULL)
                continue;
            prt_optimizer *o = optimizer_from_text(trained[row].kind, trained[row].text);
            prt_program *p = compile(o);
            prt_session *s = train(p, kern, &par);
            for (size_t i = 0; i < N; i++)
                start[i] = (double)number(1, i);
            update_run *r = update_run_create(o, PRT_DTYPE_f32, N, &context, start, kern, NULL);
            for (int64_t t = 0; t < STEPS; t++) {
                for (size_t i = 0; i < N; i++)
                    g[i] = R * (double)(gradient(1, 2 * t, i) + gradient(1, 2 * t + 1, i));
                update_run_step(r, o, g);
            }
            const float *w = contents(s, "w1");
            for (size_t i = 0; i < N; i++)
                if ((double)w[i] != update_run_weight(r, i))
                    ck_abort_msg("%s %s: w[%zu] is %.9g, not %.9g", trained[row].kind,
                        trained[row].text, i, (double)w[i], update_run_weight(r, i));
            update_run_release(r);
            prt_session_release(s);
            prt_program_release(p);
            prt_optimizer_release(o);
        }
    prt_pool_release(pool);
}
END_TEST

START_TEST(weights_of_a_group_share_one_norm)
{
    static double w[WEIGHTS][N];
    prt_optimizer *o = optimizer_from_text("sgd", "learning_rate=0.125 loss_scaling=8");
    require_ok(prt_optimizer_clip(o, WEIGHTS, names, 100));
    prt_program *p = compile(o);
    prt_session *s = train(p, update_run_level("portable"), NULL);
    for (uint32_t k = 0; k < WEIGHTS; k++)
        for (size_t i = 0; i < N; i++)
            w[k][i] = (double)number(k, i);
    for (int64_t t = 0; t < STEPS; t++) {
        double squares = 0;
        for (uint32_t k = 0; k < WEIGHTS; k++)
            for (size_t i = 0; i < N; i++)
                squares += pow(R * (double)(gradient(k, 2 * t, i) + gradient(k, 2 * t + 1, i)), 2);
        ck_assert_double_gt(squares, 100 * 100);
        for (uint32_t k = 0; k < WEIGHTS; k++)
            for (size_t i = 0; i < N; i++)
                w[k][i] -= 0.125 / 8 * (100 / sqrt(squares)) * R *
                    (double)(gradient(k, 2 * t, i) + gradient(k, 2 * t + 1, i));
    }
    for (uint32_t k = 0; k < WEIGHTS; k++) {
        const float *got = contents(s, names[k]);
        for (size_t i = 0; i < N; i++)
            if (!(fabs((double)got[i] - w[k][i]) <= 1e-6))
                ck_abort_msg("w%u[%zu] is %.9g, not %.9g", k, i, (double)got[i], w[k][i]);
    }
    prt_session_release(s);
    prt_program_release(p);
    prt_optimizer_release(o);
}
END_TEST

PRT_TEST_MAIN("train/optimizer_in_place", updates_in_place_equal_updates_of_copies,
    weights_of_a_group_share_one_norm)
