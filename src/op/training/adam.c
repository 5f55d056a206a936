/* SPDX-License-Identifier: MIT */
/* adam.c — AdamUpdate, AdamNorm and LambNorm: Adam with and without bias correction, AdaMax and
   Lamb. */
#include <math.h>

#include "op/training/update.h"

static const char *const modes[] = { "adam", "adam_no_bias", "adamax", "lamb", "lamb_no_bias" };
static const char *const decays[] = { "decay", "l2" };

/* lamb_norm has the attributes of adam_update in the same order. */
_Static_assert(sizeof(prt_adam_update_attrs) == sizeof(prt_lamb_norm_attrs), "equal attributes");

static bool is_lamb(prt_str mode)
{
    return prt_str_is(mode, "lamb") || prt_str_is(mode, "lamb_no_bias");
}

static bool corrects_bias(prt_str mode)
{
    return !prt_str_is(mode, "adam_no_bias") && !prt_str_is(mode, "lamb_no_bias");
}

static poprt_status check_inputs(prt_infer *c)
{
    const prt_adam_update_attrs *a = c->attrs;
    PRT_TRY(prt_update_word(c, "mode", a->mode, PRT_COUNT_OF(modes), modes));
    PRT_TRY(prt_update_word(c, "weight_decay_mode", a->weight_decay_mode, PRT_COUNT_OF(decays),
        decays));
    PRT_TRY(prt_update_need(c, PRT_ADAM_STEP, corrects_bias(a->mode)));
    PRT_TRY(prt_update_need(c, PRT_ADAM_LOSS_SCALING, prt_infer_has(c, PRT_ADAM_SCALE)));
    const uint32_t tensors =
        1u << PRT_ADAM_W | 1u << PRT_ADAM_M | 1u << PRT_ADAM_V | 1u << PRT_ADAM_G;
    return prt_update_infer(c, tensors,
        1u << PRT_ADAM_WEIGHT_SQUARES | 1u << PRT_ADAM_UPDATE_SQUARES);
}

static poprt_status update_infer(prt_infer *c)
{
    const prt_adam_update_attrs *a = c->attrs;
    const bool lamb = is_lamb(a->mode);
    PRT_TRY(check_inputs(c));
    PRT_TRY(prt_update_need(c, PRT_ADAM_WEIGHT_SQUARES, lamb));
    PRT_TRY(prt_update_need(c, PRT_ADAM_UPDATE_SQUARES, lamb));
    return lamb ? POPRT_OK : prt_update_need(c, PRT_ADAM_MAX_WEIGHT_NORM, false);
}

/* Returns the ratio of norms that scales the learning rate. */
static double trust_ratio(const prt_eval *c, prt_str mode)
{
    if (c->def->id != PRT_OP_adam_update || !is_lamb(mode))
        return 1.0;
    const double r1 = sqrt(prt_norm_sum(c->in[PRT_ADAM_WEIGHT_SQUARES]));
    const double r2 = sqrt(prt_norm_sum(c->in[PRT_ADAM_UPDATE_SQUARES]));
    const double most = prt_update_scalar(c, PRT_ADAM_MAX_WEIGHT_NORM, (double)INFINITY);
    if (r1 == 0.0 || r2 == 0.0 || most == 0.0)
        return 1.0;
    return (r1 > most ? most : r1) / r2;
}

prt_adam_scalars prt_adam_scalars_of(const prt_eval *c)
{
    const prt_adam_update_attrs *a = c->attrs;
    const double beta1 = prt_update_scalar(c, PRT_ADAM_BETA1, 0.0);
    const double beta2 = prt_update_scalar(c, PRT_ADAM_BETA2, 0.0);
    const double t = prt_update_scalar(c, PRT_ADAM_STEP, 0.0) + 1.0;
    const bool adamax = prt_str_is(a->mode, "adamax"), corrects = corrects_bias(a->mode);
    const double k = prt_eval_has(c, PRT_ADAM_SCALE)
        ? prt_update_scalar(c, PRT_ADAM_LOSS_SCALING, 1.0) /
            prt_update_scalar(c, PRT_ADAM_SCALE, 1.0)
        : 1.0;
    return (prt_adam_scalars){ .adamax = adamax,
        .l2 = prt_str_is(a->weight_decay_mode, "l2"),
        .gradient_scaling = prt_update_scalar(c, PRT_ADAM_GRADIENT_SCALING, 1.0),
        .clip = prt_update_scalar(c, PRT_ADAM_CLIP, 1.0),
        .weight_decay = prt_update_scalar(c, PRT_ADAM_WEIGHT_DECAY, 0.0),
        .keep1 = beta1 * k,
        .add1 = 1.0 - beta1,
        .keep2 = adamax ? beta2 * k : beta2 * k * k,
        .add2 = 1.0 - beta2,
        .bias1 = corrects ? 1.0 / (1.0 - pow(beta1, t)) : 1.0,
        .bias2 = corrects && !adamax ? 1.0 / (1.0 - pow(beta2, t)) : 1.0,
        .eps = prt_update_scalar(c, PRT_ADAM_EPS, 0.0),
        .rate = prt_update_scalar(c, PRT_ADAM_LEARNING_RATE, 0.0) * trust_ratio(c, a->mode) };
}

void prt_adam_finish(prt_eval *c)
{
    const double t = prt_update_scalar(c, PRT_ADAM_STEP, 0.0) + 1.0;
    if (c->is_measuring)
        return;
    if (prt_eval_has(c, PRT_ADAM_STEP) && prt_eval_wants(c, PRT_ADAM_STEP))
        prt_store_f64(c->out[PRT_ADAM_STEP]->dtype, c->out[PRT_ADAM_STEP]->data, 0, t);
    if (prt_eval_has(c, PRT_ADAM_SCALE) && prt_eval_wants(c, PRT_ADAM_SCALE))
        prt_store_f64(c->out[PRT_ADAM_SCALE]->dtype, c->out[PRT_ADAM_SCALE]->data, 0,
            prt_update_scalar(c, PRT_ADAM_LOSS_SCALING, 1.0));
}

/* An element of the weight and of its states. */
typedef struct element {
    double w, m, v;
} element;

static element load_element(const prt_eval *c, size_t i)
{
    const prt_tensor *w = c->in[PRT_ADAM_W], *m = c->in[PRT_ADAM_M], *v = c->in[PRT_ADAM_V];
    return (element){ .w = prt_load_f64(w->dtype, w->data, i),
        .m = prt_load_f64(m->dtype, m->data, i),
        .v = prt_load_f64(v->dtype, v->data, i) };
}

/* Updates the moments with gradient element i and returns u. */
static double direction(const prt_eval *c, const prt_adam_scalars *s, size_t i, element *e)
{
    double g = prt_load_f64(c->in[PRT_ADAM_G]->dtype, c->in[PRT_ADAM_G]->data, i);
    g *= s->gradient_scaling;
    if (s->l2)
        g += s->weight_decay * e->w;
    g *= s->clip;
    e->m = s->keep1 * e->m + s->add1 * g;
    if (s->adamax) {
        const double kept = s->keep2 * e->v, size = fabs(g);
        e->v = kept > size || kept != kept ? kept : size;
    } else {
        e->v = s->keep2 * e->v + s->add2 * (g * g);
    }
    const double root = s->adamax ? e->v : sqrt(s->bias2 * e->v);
    const double u = s->bias1 * e->m / (root + s->eps);
    return s->l2 ? u : u + s->weight_decay * e->w;
}

static void store_element(prt_eval *c, uint32_t slot, size_t i, double value)
{
    if (prt_eval_wants(c, slot))
        prt_store_f64(c->out[slot]->dtype, c->out[slot]->data, i, value);
}

static poprt_status update_eval(prt_eval *c)
{
    const prt_adam_scalars s = prt_adam_scalars_of(c);
    const size_t n = prt_tensor_count(c->in[PRT_ADAM_W]);
    for (size_t i = 0; i < n; i++) {
        element e = load_element(c, i);
        e.w -= s.rate * direction(c, &s, i, &e);
        store_element(c, PRT_ADAM_W, i, e.w);
        store_element(c, PRT_ADAM_M, i, e.m);
        store_element(c, PRT_ADAM_V, i, e.v);
    }
    prt_adam_finish(c);
    return POPRT_OK;
}

static poprt_status lamb_norm_infer(prt_infer *c)
{
    PRT_TRY(check_inputs(c));
    PRT_TRY(prt_update_infer_norm(c, 0, PRT_ADAM_W));
    return prt_update_infer_norm(c, 1, PRT_ADAM_W);
}

static poprt_status lamb_norm_eval(prt_eval *c)
{
    const prt_adam_scalars s = prt_adam_scalars_of(c);
    const size_t n = prt_tensor_count(c->in[PRT_ADAM_W]);
    double sums[2] = { 0.0, 0.0 };
    for (size_t i = 0; i < n; i++) {
        element e = load_element(c, i);
        const double w = e.w, u = direction(c, &s, i, &e);
        sums[0] += w * w;
        sums[1] += u * u;
        if ((i + 1) % PRT_NORM_BLOCK != 0 && i + 1 != n)
            continue;
        for (uint32_t k = 0; k < 2; k++) {
            store_element(c, k, i / PRT_NORM_BLOCK, sums[k]);
            sums[k] = 0.0;
        }
    }
    return POPRT_OK;
}

static poprt_status adam_norm_infer(prt_infer *c)
{
    PRT_TRY(prt_update_need(c, PRT_ADAM_NORM_WEIGHT_DECAY, prt_infer_has(c, PRT_ADAM_NORM_W)));
    PRT_TRY(prt_update_infer(c, 1u << PRT_ADAM_NORM_G | 1u << PRT_ADAM_NORM_W, 0));
    return prt_update_infer_norm(c, 0, PRT_ADAM_NORM_G);
}

static poprt_status adam_norm_eval(prt_eval *c)
{
    const double scale = prt_update_scalar(c, PRT_ADAM_NORM_GRADIENT_SCALING, 1.0);
    const double decay = prt_update_scalar(c, PRT_ADAM_NORM_WEIGHT_DECAY, 0.0);
    const prt_tensor *g = c->in[PRT_ADAM_NORM_G];
    const prt_tensor *w = prt_eval_has(c, PRT_ADAM_NORM_W) ? c->in[PRT_ADAM_NORM_W] : NULL;
    const size_t n = prt_tensor_count(g);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double x = scale * prt_load_f64(g->dtype, g->data, i);
        if (w != NULL)
            x += decay * prt_load_f64(w->dtype, w->data, i);
        sum += x * x;
        if ((i + 1) % PRT_NORM_BLOCK == 0 || i + 1 == n) {
            store_element(c, 0, i / PRT_NORM_BLOCK, sum);
            sum = 0.0;
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_adam_update = { .infer = update_infer, .eval = update_eval };
const prt_op_hooks prt_op_lamb_norm = { .infer = lamb_norm_infer, .eval = lamb_norm_eval };
const prt_op_hooks prt_op_adam_norm = { .infer = adam_norm_infer, .eval = adam_norm_eval };
