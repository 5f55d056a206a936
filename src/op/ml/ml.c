/* SPDX-License-Identifier: MIT */
/* ml.c — rows, labels and scores of the operators of ai.onnx.ml. */
#include "op/ml/ml.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

poprt_status prt_ml_fail(const prt_ml_site *site, poprt_status status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    return site->infer != NULL ? prt_infer_fail(site->infer, status, "%s", text)
                               : prt_eval_fail(site->eval, status, "%s", text);
}

void *prt_ml_alloc(const prt_ml_site *site, size_t count, size_t size)
{
    return site->infer != NULL ? prt_arena_alloc_n(site->infer->scratch, count, size)
                               : prt_eval_scratch(site->eval, count, size);
}

poprt_status prt_ml_infer_rows(prt_infer *c, int64_t *rows, int64_t *features)
{
    *rows = *features = PRT_DIM_UNKNOWN;
    if (!prt_infer_ranked(c, 0))
        return POPRT_OK;
    const prt_shape *x = &c->in[0];
    if (x->rank != 1 && x->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input 0 has rank %d; it must be [N,C] or [C]",
            x->rank);
    *rows = x->rank == 2 ? x->dims[0] : 1;
    *features = x->dims[x->rank - 1];
    return POPRT_OK;
}

/* ---- labels ---- */

poprt_status prt_ml_check_labels(const prt_infer *c, const prt_ml_labels *labels, const char *what)
{
    if ((labels->strings.count != 0) == (labels->ints.count != 0))
        return prt_infer_fail(c, POPRT_E_ARG,
            "has %u strings and %u integers in %s; exactly one of the lists must be given",
            labels->strings.count, labels->ints.count, what);
    return POPRT_OK;
}

void prt_ml_write_label(const prt_ml_labels *labels, size_t k, prt_tensor *y, size_t row)
{
    if (labels->strings.count != 0)
        ((poprt_string *)y->data)[row] =
            (poprt_string){ labels->strings.data[k].data, labels->strings.data[k].size };
    else
        ((int64_t *)y->data)[row] = labels->ints.data[k];
}

void prt_ml_write_sign(bool positive, prt_tensor *y, size_t row)
{
    if (y->dtype == PRT_DTYPE_string)
        ((poprt_string *)y->data)[row] = (poprt_string){ positive ? "1" : "0", 1 };
    else
        ((int64_t *)y->data)[row] = positive;
}

/* ---- scores ---- */

bool prt_ml_transform_find(prt_str name, prt_ml_transform *out)
{
    static const char *const names[PRT_ML_TRANSFORMS] = { "NONE", "SOFTMAX", "LOGISTIC",
        "SOFTMAX_ZERO", "PROBIT" };
    for (int i = 0; i < PRT_ML_TRANSFORMS; i++)
        if (prt_str_is(name, names[i])) {
            *out = (prt_ml_transform)i;
            return true;
        }
    return false;
}

poprt_status prt_ml_check_transform(const prt_infer *c, prt_str name)
{
    prt_ml_transform t;
    if (!prt_ml_transform_find(name, &t))
        return prt_infer_fail(c, POPRT_E_ARG,
            "post_transform is \"%.*s\"; accepted: NONE, "
            "SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT",
            (int)(name.size < 40 ? name.size : 40), name.data != NULL ? name.data : "");
    return POPRT_OK;
}

double prt_ml_logistic(double x)
{
    const double e = exp(-fabs(x));
    return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

/*
 * The quantile of the normal distribution, by Winitzki's approximation of the inverse error
 * function. It is good to about 0.002, and it is what converters and other runtimes mean by PROBIT.
 */
static double probit(double p)
{
    const double a = 0.147, pi = 3.14159, x = 2.0 * p - 1.0;
    const double l = log((1.0 - x) * (1.0 + x));
    const double v = 2.0 / (pi * a) + 0.5 * l;
    const double root = sqrt(sqrt(v * v - l / a) - v);
    return 1.41421356 * (x < 0.0 ? -root : root);
}

/* With `skip`, scores of zero stay zero. */
static void softmax(double *scores, size_t n, bool skip)
{
    double most = -(double)INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    for (size_t i = 0; i < n; i++) {
        scores[i] = skip && fabs(scores[i]) <= 1e-7 ? 0.0 : exp(scores[i] - most);
        sum += scores[i];
    }
    for (size_t i = 0; i < n && sum != 0.0; i++)
        scores[i] /= sum;
}

void prt_ml_transform_scores(prt_ml_transform t, double *scores, size_t n)
{
    if (t == PRT_ML_PROBIT) {
        for (size_t i = 0; i < n; i++)
            scores[i] = probit(scores[i]);
        return;
    }
    if (n < 2)
        return;
    if (t == PRT_ML_SOFTMAX || t == PRT_ML_SOFTMAX_ZERO)
        softmax(scores, n, t == PRT_ML_SOFTMAX_ZERO);
    for (size_t i = 0; i < n && t == PRT_ML_LOGISTIC; i++)
        scores[i] = prt_ml_logistic(scores[i]);
}

void prt_ml_two_scores(prt_ml_transform t, double score, bool probability, double *pair)
{
    if (t == PRT_ML_LOGISTIC) {
        pair[0] = prt_ml_logistic(-score);
        pair[1] = prt_ml_logistic(score);
    } else if (t == PRT_ML_PROBIT) {
        pair[0] = probit(1.0 - score);
        pair[1] = probit(score);
    } else {
        pair[0] = probability ? 1.0 - score : -score;
        pair[1] = score;
    }
}
