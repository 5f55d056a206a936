/* SPDX-License-Identifier: MIT */
/* adaptive.c — AdaptiveUpdate: AdaGrad, RMSProp with and without centering, AdaDelta. */
#include <math.h>

#include "op/training/update.h"

/* In the order of prt_adaptive_mode. */
static const char *const modes[] = { "adagrad", "rmsprop", "centered_rmsprop", "adadelta" };
static const char *const decays[] = { "decay", "l2" };

static poprt_status infer(prt_infer *c)
{
    const prt_adaptive_update_attrs *a = c->attrs;
    PRT_TRY(prt_update_word(c, "mode", a->mode, PRT_COUNT_OF(modes), modes));
    PRT_TRY(prt_update_word(c, "weight_decay_mode", a->weight_decay_mode, PRT_COUNT_OF(decays),
        decays));
    const uint32_t mode = prt_update_word_index(a->mode, PRT_COUNT_OF(modes), modes);
    const bool centered = mode == PRT_ADAPTIVE_centered_rmsprop;
    if (a->tf_variant != 0 && !centered && mode != PRT_ADAPTIVE_rmsprop)
        return prt_infer_fail(c, POPRT_E_ARG, "tf_variant needs mode rmsprop or centered_rmsprop");
    PRT_TRY(prt_update_need(c, PRT_ADAPTIVE_A2, centered || mode == PRT_ADAPTIVE_adadelta));
    PRT_TRY(prt_update_need(c, PRT_ADAPTIVE_ALPHA, mode != PRT_ADAPTIVE_adagrad));
    PRT_TRY(prt_update_need(c, PRT_ADAPTIVE_MOMENTUM, prt_infer_has(c, PRT_ADAPTIVE_A3)));
    const uint32_t states = 1u << PRT_ADAPTIVE_A1 | 1u << PRT_ADAPTIVE_A2 | 1u << PRT_ADAPTIVE_A3;
    return prt_update_infer(c, 1u << PRT_ADAPTIVE_W | states | 1u << PRT_ADAPTIVE_G, 0);
}

prt_adaptive_scalars prt_adaptive_scalars_of(const prt_eval *c)
{
    const prt_adaptive_update_attrs *a = c->attrs;
    prt_adaptive_scalars s = {
        .mode = (int)prt_update_word_index(a->mode, PRT_COUNT_OF(modes), modes),
        .l2 = prt_str_is(a->weight_decay_mode, "l2"),
        .tf_variant = a->tf_variant != 0,
        .has_momentum = prt_eval_has(c, PRT_ADAPTIVE_A3),
        .gradient_scaling = prt_update_scalar(c, PRT_ADAPTIVE_GRADIENT_SCALING, 1.0),
        .weight_decay = prt_update_scalar(c, PRT_ADAPTIVE_WEIGHT_DECAY, 0.0),
        .alpha = prt_update_scalar(c, PRT_ADAPTIVE_ALPHA, 1.0),
        .momentum = prt_update_scalar(c, PRT_ADAPTIVE_MOMENTUM, 0.0),
        .eps = prt_update_scalar(c, PRT_ADAPTIVE_EPS, 0.0),
        .learning_rate = prt_update_scalar(c, PRT_ADAPTIVE_LEARNING_RATE, 0.0),
    };
    const bool rate_is_inside = s.tf_variant && s.has_momentum;
    s.rest = s.mode == PRT_ADAPTIVE_adagrad ? 1.0 : 1.0 - s.alpha;
    s.keep = s.l2 ? 1.0 : 1.0 - s.weight_decay * (rate_is_inside ? 1.0 : s.learning_rate);
    return s;
}

/* An element of the weight and of its states, 0 for states that are absent. */
typedef struct element {
    double w, a[3];
} element;

/* Updates the states a1 and a2 with the gradient and returns u. */
static double direction(const prt_adaptive_scalars *s, double g, element *e)
{
    const double old = e->a[1];
    e->a[0] = s->alpha * e->a[0] + s->rest * (g * g);
    double r = e->a[0];
    if (s->mode == PRT_ADAPTIVE_centered_rmsprop) {
        e->a[1] = s->alpha * e->a[1] + s->rest * g;
        r -= e->a[1] * e->a[1];
        r = r < 0.0 ? 0.0 : r;
    }
    if (s->mode == PRT_ADAPTIVE_adadelta) {
        const double u = g * sqrt(old + s->eps) / sqrt(r + s->eps);
        e->a[1] = s->alpha * old + s->rest * (u * u);
        return u;
    }
    return s->tf_variant ? g / sqrt(r + s->eps) : g / (sqrt(r) + s->eps);
}

static void update_element(const prt_adaptive_scalars *s, double g, element *e)
{
    g *= s->gradient_scaling;
    if (s->l2)
        g += s->weight_decay * e->w;
    double u = direction(s, g, e);
    if (s->has_momentum && s->tf_variant) {
        e->a[2] = s->momentum * e->a[2] + s->learning_rate * u;
        e->w = s->keep * e->w - e->a[2];
        return;
    }
    if (s->has_momentum)
        u = e->a[2] = s->momentum * e->a[2] + u;
    e->w = s->keep * e->w - s->learning_rate * u;
}

static poprt_status eval(prt_eval *c)
{
    const prt_adaptive_scalars s = prt_adaptive_scalars_of(c);
    const prt_tensor *w = c->in[PRT_ADAPTIVE_W], *g = c->in[PRT_ADAPTIVE_G];
    const size_t n = prt_tensor_count(w);
    for (size_t i = 0; i < n; i++) {
        element e = { .w = prt_load_f64(w->dtype, w->data, i) };
        for (uint32_t k = 0; k < 3; k++)
            if (prt_eval_has(c, PRT_ADAPTIVE_A1 + k))
                e.a[k] = prt_load_f64(c->in[PRT_ADAPTIVE_A1 + k]->dtype,
                    c->in[PRT_ADAPTIVE_A1 + k]->data, i);
        update_element(&s, prt_load_f64(g->dtype, g->data, i), &e);
        if (prt_eval_wants(c, PRT_ADAPTIVE_W))
            prt_store_f64(w->dtype, c->out[PRT_ADAPTIVE_W]->data, i, e.w);
        for (uint32_t k = PRT_ADAPTIVE_A1; k <= PRT_ADAPTIVE_A3; k++)
            if (prt_eval_has(c, k) && prt_eval_wants(c, k))
                prt_store_f64(c->out[k]->dtype, c->out[k]->data, i, e.a[k - PRT_ADAPTIVE_A1]);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_adaptive_update = { .infer = infer, .eval = eval };
