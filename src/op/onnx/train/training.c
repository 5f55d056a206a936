/* SPDX-License-Identifier: MIT */
/*
 * training.c — Adagrad, Adam and Momentum: one optimiser step for any number of tensors.
 *
 * Inputs: rate R, step T, then groups of n tensors each: the tensors, their gradients, and one or
 * two groups of state. Outputs: the updated tensors and states, in groups.
 */
#include <math.h>

#include "op/check.h"
#include "op/op.h"

/* Checks the `groups` of inputs after R and T; the outputs are all groups except the gradients. */
static poprt_status infer_step(prt_infer *c, uint32_t groups)
{
    int64_t dim;
    if (c->n_in < 2 || (c->n_in - 2) % groups != 0 ||
        c->n_out != (c->n_in - 2) / groups * (groups - 1))
        return prt_infer_fail(c, POPRT_E_ARG,
            "%u inputs and %u outputs do not form groups of equal size", c->n_in, c->n_out);
    PRT_TRY(prt_infer_scalar(c, 0, &dim));
    PRT_TRY(prt_infer_scalar(c, 1, &dim));
    const uint32_t n = (c->n_in - 2) / groups;
    for (uint32_t i = 2; i < c->n_in; i++) {
        const prt_shape *x = &c->in[2 + (i - 2) % n], *s = &c->in[i];
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
        if (x->dtype != s->dtype && x->dtype != 0 && s->dtype != 0)
            return prt_infer_fail(c, POPRT_E_TYPE,
                "input %u has a type other than that of its tensor", i);
        if (x->rank < 0 || s->rank < 0)
            continue;
        if (x->rank != s->rank)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "input %u has a rank other than that of its tensor", i);
        for (int32_t k = 0; k < x->rank; k++)
            PRT_TRY(prt_infer_merge(c, x->dims[k], s->dims[k], "a dim", &dim));
    }
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_infer_like(c, i, i < n ? i + 2 : i + 2 + n, c->in[2 + i % n].dtype));
    return POPRT_OK;
}

/* `apply` updates one element: it reads the gradient, and changes the tensor and the states. */
typedef struct step {
    double rate, decay, post, epsilon, alpha, beta;
    bool nesterov;
    void (*apply)(const struct step *s, double g, double *x, double *v, double *h);
} step;

static poprt_status run_step(prt_eval *c, const step *s, uint32_t groups)
{
    const uint32_t n = (c->n_in - 2) / groups;
    for (uint32_t i = 0; i < n; i++) {
        const prt_tensor *x = c->in[2 + i], *g = c->in[2 + n + i], *v = c->in[2 + 2 * n + i];
        const prt_tensor *h = groups > 3 ? c->in[2 + 3 * n + i] : NULL;
        const size_t count = prt_tensor_count(x);
        for (size_t k = 0; k < count; k++) {
            double to[3] = { prt_load_f64(x->dtype, x->data, k), prt_load_f64(v->dtype, v->data, k),
                h != NULL ? prt_load_f64(h->dtype, h->data, k) : 0 };
            const double grad = s->decay * to[0] + prt_load_f64(g->dtype, g->data, k);
            s->apply(s, grad, &to[0], &to[1], &to[2]);
            for (uint32_t o = 0; o + 1 < groups; o++)
                if (prt_eval_wants(c, i + o * n))
                    prt_store_f64(x->dtype, c->out[i + o * n]->data, k, to[o]);
        }
    }
    return POPRT_OK;
}

static double rate_of(const prt_eval *c)
{
    return prt_load_f64(c->in[0]->dtype, c->in[0]->data, 0);
}

static double count_of(const prt_eval *c)
{
    return (double)prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
}

/* ---- Adagrad ---- */

static void apply_adagrad(const step *s, double g, double *x, double *v, double *h)
{
    (void)h;
    *v += g * g;
    *x -= s->rate * g / (sqrt(*v) + s->epsilon);
}

static poprt_status adagrad_infer(prt_infer *c)
{
    return infer_step(c, 3);
}

static poprt_status adagrad_eval(prt_eval *c)
{
    const prt_adagrad_attrs *a = c->attrs;
    const step s = { .rate = rate_of(c) / (1 + count_of(c) * (double)a->decay_factor),
        .decay = (double)a->norm_coefficient,
        .epsilon = (double)a->epsilon,
        .apply = apply_adagrad };
    return run_step(c, &s, 3);
}

/* ---- Adam ---- */

static void apply_adam(const step *s, double g, double *x, double *v, double *h)
{
    *v = s->alpha * *v + (1 - s->alpha) * g;
    *h = s->beta * *h + (1 - s->beta) * g * g;
    *x = (1 - s->post) * (*x - s->rate * *v / (sqrt(*h) + s->epsilon));
}

static poprt_status adam_infer(prt_infer *c)
{
    return infer_step(c, 4);
}

static poprt_status adam_eval(prt_eval *c)
{
    const prt_adam_attrs *a = c->attrs;
    const double t = count_of(c);
    step s = { .rate = rate_of(c),
        .decay = (double)a->norm_coefficient,
        .post = (double)a->norm_coefficient_post,
        .epsilon = (double)a->epsilon,
        .alpha = (double)a->alpha,
        .beta = (double)a->beta,
        .apply = apply_adam };
    if (t > 0)
        s.rate = s.rate * sqrt(1 - pow(s.beta, t)) / (1 - pow(s.alpha, t));
    return run_step(c, &s, 4);
}

/* ---- Momentum ---- */

static void apply_momentum(const step *s, double g, double *x, double *v, double *h)
{
    (void)h;
    *v = s->alpha * *v + s->beta * g;
    *x -= s->rate * (s->nesterov ? g + s->alpha * *v : *v);
}

static poprt_status momentum_infer(prt_infer *c)
{
    const prt_momentum_attrs *a = c->attrs;
    if (!prt_str_is(a->mode, "standard") && !prt_str_is(a->mode, "nesterov"))
        return prt_infer_fail(c, POPRT_E_ARG, "mode is not known; accepted: standard, nesterov");
    return infer_step(c, 3);
}

static poprt_status momentum_eval(prt_eval *c)
{
    const prt_momentum_attrs *a = c->attrs;
    const step s = { .rate = rate_of(c),
        .decay = (double)a->norm_coefficient,
        .alpha = (double)a->alpha,
        .beta = count_of(c) > 0 ? (double)a->beta : 1,
        .nesterov = prt_str_is(a->mode, "nesterov"),
        .apply = apply_momentum };
    return run_step(c, &s, 3);
}

const prt_op_hooks prt_op_adagrad = { .infer = adagrad_infer, .eval = adagrad_eval };
const prt_op_hooks prt_op_adam = { .infer = adam_infer, .eval = adam_eval };
const prt_op_hooks prt_op_momentum = { .infer = momentum_infer, .eval = momentum_eval };
