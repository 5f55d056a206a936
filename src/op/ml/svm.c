/* SPDX-License-Identifier: MIT */
/* svm.c — SVM kernels, pairwise coupling of probabilities, and SVMRegressor. */
#include "op/ml/svm.h"

#include <math.h>

#include "base/size.h"
#include "op/share/elements.h"

static bool find_kernel(prt_str type, prt_svm_kernel *out)
{
    static const char *const names[] = { "LINEAR", "POLY", "RBF", "SIGMOID" };
    for (uint32_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(type, names[i])) {
            *out = (prt_svm_kernel)i;
            return true;
        }
    return false;
}

poprt_status prt_svm_check(const prt_infer *c, prt_str type, prt_f32s params)
{
    prt_svm_kernel kernel;
    if (!find_kernel(type, &kernel))
        return prt_infer_fail(c, POPRT_E_ARG,
            "kernel_type is not one of LINEAR, POLY, RBF, SIGMOID");
    if (params.count != 0 && params.count != 3)
        return prt_infer_fail(c, POPRT_E_ARG, "kernel_params has %u numbers; 3 are needed",
            params.count);
    return POPRT_OK;
}

prt_svm prt_svm_of(prt_str type, prt_f32s params)
{
    prt_svm s = { .kernel = PRT_SVM_LINEAR };
    (void)find_kernel(type, &s.kernel);
    if (params.count == 3) {
        s.gamma = (double)params.data[0];
        s.coef0 = (double)params.data[1];
        s.degree = (double)params.data[2];
    }
    return s;
}

poprt_status prt_svm_check_vectors(const prt_infer *c, const char *name, uint32_t vectors,
    int64_t count, int64_t features)
{
    int64_t want;
    if (!prt_dim_is_number(features))
        return POPRT_OK;
    if (!prt_i64_mul(count, features, &want) || want != (int64_t)vectors)
        return prt_infer_fail(c, POPRT_E_ARG, "%s has %u numbers for %lld vectors of %lld features",
            name, vectors, (long long)count, (long long)features);
    return POPRT_OK;
}

/* Returns x to the power of degree. Integer degrees from 1 to 8 are computed by multiplication. */
static double power(double x, double degree)
{
    double y = x;
    if (!(degree >= 1.0 && degree <= 8.0 && degree == floor(degree)))
        return pow(x, degree);
    for (int i = 1; i < (int)degree; i++)
        y *= x;
    return y;
}

static double kernel_of(const prt_svm *s, double sum)
{
    switch (s->kernel) {
    case PRT_SVM_POLY:
        return power(s->gamma * sum + s->coef0, s->degree);
    case PRT_SVM_RBF:
        return exp(-s->gamma * sum);
    case PRT_SVM_SIGMOID:
        return tanh(s->gamma * sum + s->coef0);
    default:
        return sum;
    }
}

poprt_status prt_svm_alloc_row(prt_eval *c, prt_svm *s)
{
    s->row =
        s->fast != NULL ? prt_eval_scratch(c, s->features + s->count + 1, sizeof(float)) : NULL;
    return s->fast == NULL || s->row != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void sum_fast(const prt_svm *s, const double *x, double *to)
{
    float *row = s->row, *sums = row + s->features;
    for (size_t i = 0; i < s->features; i++)
        row[i] = (float)x[i];
    if (s->kernel == PRT_SVM_RBF)
        s->fast->distances(s->features, s->count, row, s->vectors, sums);
    else
        s->fast->dots(s->features, s->count, row, s->vectors, s->features, NULL, sums);
    int kind = -1; /* kind of PRT_UNARY_* that remains to be applied to the row */
    if (s->kernel == PRT_SVM_RBF)
        kind = PRT_UNARY_exp;
    else if (s->kernel == PRT_SVM_POLY)
        kind = s->degree == 3.0 ? PRT_UNARY_cube : s->degree == 2.0 ? PRT_UNARY_square : -1;
    if (kind >= 0) {
        const bool rbf = kind == PRT_UNARY_exp;
        s->fast->scale(s->count, sums, (float)(rbf ? -s->gamma : s->gamma),
            rbf ? 0.0f : (float)s->coef0, sums);
        s->fast->unary(kind, s->count, sums, sums);
    }
    for (size_t k = 0; k < s->count; k++)
        to[k] = kind >= 0 ? (double)sums[k] : kernel_of(s, (double)sums[k]);
}

void prt_svm_row(const prt_svm *s, const double *x, double *to)
{
    if (s->fast != NULL) {
        sum_fast(s, x, to);
        return;
    }
    if (s->kernel == PRT_SVM_RBF)
        prt_ml_distances(s->features, s->count, x, s->vectors, to);
    else
        prt_ml_dots(s->features, s->count, x, s->vectors, to);
    for (size_t k = 0; k < s->count && s->kernel != PRT_SVM_LINEAR; k++)
        to[k] = kernel_of(s, to[k]);
}

/*
 * The second method of Wu, Lin and Weng, "Probability estimates for multi-class classification by
 * pairwise coupling" (2004): minimises p'Qp subject to sum(p) = 1, by coordinate descent.
 */
void prt_svm_couple(size_t n, const double *r, double *p, double *scratch)
{
    enum { ROUNDS = 100 };
    double *q = scratch, *qp = scratch + n * n;
    for (size_t i = 0; i < n; i++) {
        p[i] = 1.0 / (double)n;
        q[i * n + i] = 0.0;
        for (size_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            q[i * n + i] += r[j * n + i] * r[j * n + i];
            q[i * n + j] = -r[j * n + i] * r[i * n + j];
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        double pqp = 0.0, error = 0.0;
        for (size_t i = 0; i < n; i++) {
            qp[i] = 0.0;
            for (size_t j = 0; j < n; j++)
                qp[i] += q[i * n + j] * p[j];
            pqp += p[i] * qp[i];
        }
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs(qp[i] - pqp));
        if (error < 0.005 / (double)n)
            return;
        for (size_t i = 0; i < n; i++) {
            const double step = (pqp - qp[i]) / q[i * n + i], whole = 1.0 + step;
            p[i] += step;
            pqp = (pqp + step * (step * q[i * n + i] + 2.0 * qp[i])) / (whole * whole);
            for (size_t j = 0; j < n; j++) {
                qp[j] = (qp[j] + step * q[i * n + j]) / whole;
                p[j] /= whole;
            }
        }
    }
}

/* ---- SVMRegressor ---- */

/* Without support vectors (n_supports 0) the coefficients are the weights of the features. */
static poprt_status infer(prt_infer *c)
{
    const prt_ml_svm_regressor_attrs *a = c->attrs;
    int64_t rows, features;
    PRT_TRY(prt_svm_check(c, a->kernel_type, a->kernel_params));
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (a->n_supports < 0 || a->rho.count == 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "n_supports is %lld and rho has %u numbers; at least 0 and 1 are needed",
            (long long)a->n_supports, a->rho.count);
    if (a->n_supports == 0) {
        PRT_TRY(prt_svm_check_vectors(c, "coefficients", a->coefficients.count, 1, features));
    } else {
        if (a->coefficients.count != a->n_supports)
            return prt_infer_fail(c, POPRT_E_ARG, "has %u coefficients for %lld support vectors",
                a->coefficients.count, (long long)a->n_supports);
        PRT_TRY(prt_svm_check_vectors(c, "support_vectors", a->support_vectors.count, a->n_supports,
            features));
    }
    const int64_t dims[2] = { rows, 1 };
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

static double predict(const prt_ml_svm_regressor_attrs *a, const prt_svm *s, const double *x,
    double *kernels)
{
    double sum = 0.0;
    prt_svm_row(s, x, kernels);
    if (a->n_supports != 0)
        prt_ml_dots(s->count, 1, kernels, a->coefficients.data, &sum);
    else
        sum = kernels[0];
    sum += (double)a->rho.data[0];
    if (a->one_class != 0)
        sum = sum > 0.0 ? 1.0 : -1.0;
    prt_ml_transform_scores(prt_ml_transform_of(a->post_transform), &sum, 1);
    return sum;
}

poprt_status prt_svm_regress(prt_eval *c, const prt_kern_rows *fast)
{
    const prt_ml_svm_regressor_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    const bool linear = a->n_supports == 0;
    prt_svm s = prt_svm_of(linear ? PRT_STR("LINEAR") : a->kernel_type, a->kernel_params);
    s.vectors = linear ? a->coefficients.data : a->support_vectors.data;
    s.count = linear ? 1 : (size_t)a->n_supports;
    s.features = n;
    s.fast = fast;
    PRT_TRY(prt_svm_alloc_row(c, &s));
    double *v = prt_eval_scratch(c, n + s.count, sizeof(*v));
    if (v == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; prt_eval_wants(c, 0) && r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, v);
        const double y = predict(a, &s, v, v + n);
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, r, 1, &y);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    return prt_svm_regress(c, NULL);
}

const prt_op_hooks prt_op_ml_svm_regressor = { .infer = infer, .eval = eval };
