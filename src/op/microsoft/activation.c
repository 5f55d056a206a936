/* SPDX-License-Identifier: MIT */
/* activation.c — activations by name: the activations of recurrent operators and a few more. */
#include "op/microsoft/activation.h"

#include <math.h>

#include "op/share/gelu.h"

/* Clamps as Clip does; NaN stays NaN. */
static double clip(double x, double least, double most)
{
    const double raised = x < least ? least : x;
    return raised > most ? most : raised;
}
static double selu(double x, double alpha, double gamma)
{
    return gamma * (x > 0 ? x : alpha * expm1(x));
}
static double hard_swish(double x, double a, double b)
{
    (void)a;
    (void)b;
    return x * clip(x / 6 + 0.5, 0, 1);
}
static double gelu(double x, double a, double b)
{
    (void)a;
    (void)b;
    return prt_gelu(x);
}
static double swish(double x, double alpha, double b)
{
    (void)b;
    return x / (1 + exp(-alpha * x));
}
static double parametric_softplus(double x, double alpha, double beta)
{
    return alpha * (fmax(beta * x, 0) + log1p(exp(-fabs(beta * x))));
}
static double identity(double x, double a, double b)
{
    (void)a;
    (void)b;
    return x;
}

static const struct {
    const char *name;
    prt_activation is;
} more[] = {
    { "", { .fn = identity } },
    { "Identity", { .fn = identity } },
    { "Clip", { .fn = clip, .alpha = -HUGE_VAL, .beta = HUGE_VAL } },
    { "Selu",
        { .fn = selu, .alpha = 1.67326319217681884765625, .beta = 1.05070102214813232421875 } },
    { "HardSwish", { .fn = hard_swish } },
    { "Gelu", { .fn = gelu } },
    { "Swish", { .fn = swish, .alpha = 1 } },
    { "ParametricSoftplus", { .fn = parametric_softplus, .alpha = 1, .beta = 1 } },
    { "QuickGelu", { .fn = swish, .alpha = 1.7020000219345092 } },
};

static bool find(const prt_ms_activation *a, prt_activation *to)
{
    for (size_t i = 0; i < PRT_COUNT_OF(more); i++)
        if (prt_str_is(a->name, more[i].name)) {
            *to = more[i].is;
            return true;
        }
    return prt_activation_find(a->name, to);
}

poprt_status prt_ms_activation_check(const prt_infer *c, const prt_ms_activation *a)
{
    prt_activation is;
    if (!find(a, &is))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "activation \"%.*s\" is unknown; accepted: Relu, Sigmoid, Tanh, LeakyRelu, Clip, "
            "HardSigmoid and others",
            PRT_STR_ARG(a->name));
    return POPRT_OK;
}

poprt_status prt_ms_activation_run(prt_eval *c, const prt_ms_activation *a, const prt_tensor *add)
{
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(y), each = add != NULL ? prt_tensor_count(add) : 1;
    prt_activation is;
    if (!find(a, &is))
        return POPRT_E_INTERNAL;
    if (is.fn == identity && add == NULL)
        return POPRT_OK;
    is.alpha = a->n_params > 0 ? (double)a->params[0] : is.alpha;
    is.beta = a->n_params > 1 ? (double)a->params[1] : is.beta;
    for (size_t i = 0; i < n; i++) {
        const double x = prt_real_at(y, i) + (add != NULL ? prt_real_at(add, i % each) : 0);
        const double value = is.fn(x, is.alpha, is.beta);
        prt_reals_store(y->dtype, y->data, i, 1, 1, &value);
    }
    return POPRT_OK;
}
