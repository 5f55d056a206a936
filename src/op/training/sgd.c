/* SPDX-License-Identifier: MIT */
/* sgd.c — SgdUpdate and SgdNorm: stochastic gradient descent without momentum, SGD1 and SGD2. */
#include "op/training/update.h"

/* In the order of prt_sgd_momentum. */
static const char *const kinds[] = { "none", "combined", "separate" };

/* sgd_norm has the attributes of sgd_update in the same order. */
_Static_assert(sizeof(prt_sgd_update_attrs) == sizeof(prt_sgd_norm_attrs), "equal attributes");

static poprt_status check_inputs(prt_infer *c)
{
    const prt_sgd_update_attrs *a = c->attrs;
    PRT_TRY(prt_update_word(c, "momentum", a->momentum, PRT_COUNT_OF(kinds), kinds));
    const bool has_velocity = !prt_str_is(a->momentum, "none"), nesterov = a->nesterov != 0;
    if (nesterov && !has_velocity)
        return prt_infer_fail(c, POPRT_E_ARG, "nesterov needs momentum combined or separate");
    if (a->replicas < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "replicas is %lld; it must be at least 1",
            (long long)a->replicas);
    PRT_TRY(prt_update_need(c, PRT_SGD_V, has_velocity));
    PRT_TRY(prt_update_need(c, PRT_SGD_DAMPENING, has_velocity));
    PRT_TRY(prt_update_need(c, PRT_SGD_MOMENTUM, has_velocity));
    for (uint32_t i = PRT_SGD_NESTEROV_MOMENTUM; i <= PRT_SGD_UNSCALE; i++)
        PRT_TRY(prt_update_need(c, i, nesterov));
    return prt_update_infer(c, 1u << PRT_SGD_W | 1u << PRT_SGD_V | 1u << PRT_SGD_G, 0);
}

prt_sgd_scalars prt_sgd_scalars_of(const prt_eval *c)
{
    const prt_sgd_update_attrs *a = c->attrs;
    prt_sgd_scalars s = {
        .kind = (int)prt_update_word_index(a->momentum, PRT_COUNT_OF(kinds), kinds),
        .nesterov = a->nesterov != 0,
        .learning_rate = prt_update_scalar(c, PRT_SGD_LEARNING_RATE, 0.0),
        .decay = prt_update_scalar(c, PRT_SGD_DECAY, 0.0),
        .dampening = prt_update_scalar(c, PRT_SGD_DAMPENING, 0.0),
        .momentum = prt_update_scalar(c, PRT_SGD_MOMENTUM, 0.0),
        .replicas = (double)a->replicas,
        .nesterov_momentum = prt_update_scalar(c, PRT_SGD_NESTEROV_MOMENTUM, 0.0),
        .weight_decay = prt_update_scalar(c, PRT_SGD_WEIGHT_DECAY, 0.0),
        .gradient_scale = prt_update_scalar(c, PRT_SGD_GRADIENT_SCALE, 0.0),
        .clip = c->def->id == PRT_OP_sgd_update ? prt_update_scalar(c, PRT_SGD_CLIP, 1.0) : 1.0,
    };
    s.gradient_factor = s.dampening * prt_update_scalar(c, PRT_SGD_UNSCALE, 0.0);
    return s;
}

/* Returns x, and sets `v` to the velocity before the momentum of the next step. */
static double direction(const prt_sgd_scalars *s, double g, double w, double *v)
{
    if (s->kind == PRT_SGD_MOMENTUM_none)
        return g;
    if (s->kind == PRT_SGD_MOMENTUM_combined)
        *v = *v * s->replicas + s->dampening * g;
    else
        *v = (s->momentum * *v + s->decay * w) + s->dampening * g;
    if (!s->nesterov)
        return *v;
    return s->gradient_scale * (s->gradient_factor * g + s->weight_decay * w) +
        s->nesterov_momentum * *v;
}

/* An element of the weight and of its velocity, 0 if there is none. */
typedef struct element {
    double g, w, v;
} element;

static element load_element(const prt_eval *c, size_t i)
{
    const prt_tensor *g = c->in[PRT_SGD_G], *w = c->in[PRT_SGD_W], *v = c->in[PRT_SGD_V];
    return (element){ .g = prt_load_f64(g->dtype, g->data, i),
        .w = prt_load_f64(w->dtype, w->data, i),
        .v = prt_eval_has(c, PRT_SGD_V) ? prt_load_f64(v->dtype, v->data, i) : 0.0 };
}

static poprt_status update_eval(prt_eval *c)
{
    const prt_sgd_scalars s = prt_sgd_scalars_of(c);
    const size_t n = prt_tensor_count(c->in[PRT_SGD_W]);
    for (size_t i = 0; i < n; i++) {
        element e = load_element(c, i);
        const double x = direction(&s, e.g, e.w, &e.v) * s.clip;
        const double kept = s.kind == PRT_SGD_MOMENTUM_none ? e.w * s.decay : e.w;
        const double w = kept - s.learning_rate * x;
        if (s.kind == PRT_SGD_MOMENTUM_combined)
            e.v = s.momentum * e.v + s.decay * w;
        if (prt_eval_wants(c, PRT_SGD_W))
            prt_store_f64(c->out[PRT_SGD_W]->dtype, c->out[PRT_SGD_W]->data, i, w);
        if (prt_eval_wants(c, PRT_SGD_V) && prt_eval_has(c, PRT_SGD_V))
            prt_store_f64(c->out[PRT_SGD_V]->dtype, c->out[PRT_SGD_V]->data, i, e.v);
    }
    return POPRT_OK;
}

static poprt_status norm_infer(prt_infer *c)
{
    PRT_TRY(check_inputs(c));
    return prt_update_infer_norm(c, 0, PRT_SGD_W);
}

static poprt_status norm_eval(prt_eval *c)
{
    const prt_sgd_scalars s = prt_sgd_scalars_of(c);
    const size_t n = prt_tensor_count(c->in[PRT_SGD_W]);
    double sum = 0.0;
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        element e = load_element(c, i);
        const double x = direction(&s, e.g, e.w, &e.v);
        sum += x * x;
        if ((i + 1) % PRT_NORM_BLOCK == 0 || i + 1 == n) {
            prt_store_f64(PRT_DTYPE_f64, c->out[0]->data, i / PRT_NORM_BLOCK, sum);
            sum = 0.0;
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_sgd_update = { .infer = check_inputs, .eval = update_eval };
const prt_op_hooks prt_op_sgd_norm = { .infer = norm_infer, .eval = norm_eval };
