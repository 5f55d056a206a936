/* SPDX-License-Identifier: MIT */
/* linear.c — LinearClassifier and LinearRegressor. */
#include "base/size.h"
#include "op/share/elements.h"
#include "op/ml/ml.h"

/* Weights [sets, features], one set for each score, and the intercepts added to the scores. */
typedef struct weights {
    prt_f32s coefficients, intercepts;
    size_t sets;
} weights;

static void score_row(const weights *w, const double *x, size_t n, double *scores)
{
    prt_ml_dots(n, w->sets, x, w->coefficients.data, scores);
    for (size_t k = 0; k < w->sets && w->intercepts.count != 0; k++)
        scores[k] += (double)w->intercepts.data[k];
}

/* Fails unless there are sets * features coefficients. Either may still be unknown. */
static poprt_status check_coefficients(const prt_infer *c, uint32_t count, int64_t sets,
    int64_t features)
{
    int64_t want = 0;
    if (!prt_dim_is_number(sets) || !prt_dim_is_number(features))
        return POPRT_OK;
    if (!prt_i64_mul(sets, features, &want) || want != (int64_t)count)
        return prt_infer_fail(c, POPRT_E_ARG,
            "has %u coefficients for %lld sets of weights and %lld features", count,
            (long long)sets, (long long)features);
    return POPRT_OK;
}

/* Allocates scratch for one row: its features, then its scores. */
static double *row_memory(prt_eval *c, size_t features, size_t sets)
{
    size_t total;
    if (!prt_size_add(features, sets, &total)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    return prt_eval_scratch(c, total + 2, sizeof(double));
}

/* ---- LinearClassifier ---- */

static prt_ml_labels labels_of(const prt_ml_linear_classifier_attrs *a)
{
    return (prt_ml_labels){ a->classlabels_strings, a->classlabels_ints };
}

/* Returns the number of sets of weights. One set may decide between two labels. Without intercepts,
   the number of coefficients gives the number of sets. */
static int64_t count_sets(const prt_ml_linear_classifier_attrs *a, int64_t features)
{
    if (a->intercepts.count != 0)
        return a->intercepts.count;
    if (!prt_dim_is_number(features))
        return PRT_DIM_UNKNOWN;
    return features != 0 ? (int64_t)a->coefficients.count / features : 0;
}

static poprt_status classify_infer(prt_infer *c)
{
    const prt_ml_linear_classifier_attrs *a = c->attrs;
    const prt_ml_labels labels = labels_of(a);
    const int64_t n_labels = prt_ml_label_count(&labels);
    int64_t rows, features;
    PRT_TRY(prt_ml_check_labels(c, &labels, "classlabels_*"));
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    const int64_t sets = count_sets(a, features);
    if (prt_dim_is_number(sets) && sets != n_labels && (sets != 1 || n_labels != 2))
        return prt_infer_fail(c, POPRT_E_ARG, "has %lld sets of weights for %lld labels",
            (long long)sets, (long long)n_labels);
    PRT_TRY(check_coefficients(c, a->coefficients.count, sets, features));
    const int64_t dims[2] = { rows, n_labels };
    PRT_TRY(prt_infer_set(c, 0, prt_ml_label_dtype(&labels), 1, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_f32, 2, dims);
}

/* Writes the label of a row and transforms its scores, which have at least two elements. */
static void choose_class(const prt_ml_labels *labels, prt_ml_transform t, size_t sets,
    double *scores, prt_tensor *y, size_t row)
{
    const bool two = sets == 1 && prt_ml_label_count(labels) == 2;
    size_t best = two && scores[0] > 0.0;
    for (size_t k = 1; k < sets; k++)
        best = scores[k] > scores[best] ? k : best;
    if (y != NULL && (sets > 1 || two))
        prt_ml_write_label(labels, best, y, row);
    else if (y != NULL)
        prt_ml_write_sign(scores[0] > 0.0, y, row);
    if (two)
        prt_ml_two_scores(t, scores[0], true, scores);
    else
        prt_ml_transform_scores(t, scores, sets);
}

static poprt_status classify_eval(prt_eval *c)
{
    const prt_ml_linear_classifier_attrs *a = c->attrs;
    const prt_ml_labels labels = labels_of(a);
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x), wide = prt_ml_label_count(&labels);
    const weights w = { a->coefficients, a->intercepts, (size_t)count_sets(a, (int64_t)n) };
    double *v = row_memory(c, n, w.sets);
    if (v == NULL)
        return POPRT_E_NOMEM;
    double *scores = v + n;
    const prt_ml_transform t = prt_ml_transform_of(a->post_transform);
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, v);
        score_row(&w, v, n, scores);
        choose_class(&labels, t, w.sets, scores, c->out[0], r);
        if (prt_eval_wants(c, 1))
            prt_write_f64(PRT_DTYPE_f32, c->out[1]->data, r * wide, wide, scores);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_linear_classifier = { .infer = classify_infer, .eval = classify_eval };

/* ---- LinearRegressor ---- */

static poprt_status regress_infer(prt_infer *c)
{
    const prt_ml_linear_regressor_attrs *a = c->attrs;
    int64_t rows, features;
    if (a->targets < 1 || a->targets > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "targets is %lld", (long long)a->targets);
    if (a->intercepts.count != 0 && a->intercepts.count != a->targets)
        return prt_infer_fail(c, POPRT_E_ARG, "has %u intercepts for %lld targets",
            a->intercepts.count, (long long)a->targets);
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    PRT_TRY(check_coefficients(c, a->coefficients.count, a->targets, features));
    const int64_t dims[2] = { rows, a->targets };
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

static poprt_status regress_eval(prt_eval *c)
{
    const prt_ml_linear_regressor_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    const weights w = { a->coefficients, a->intercepts, (size_t)a->targets };
    if (!prt_eval_wants(c, 0) || rows == 0)
        return POPRT_OK;
    double *v = row_memory(c, n, w.sets);
    if (v == NULL)
        return POPRT_E_NOMEM;
    double *scores = v + n;
    const prt_ml_transform t = prt_ml_transform_of(a->post_transform);
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, v);
        score_row(&w, v, n, scores);
        prt_ml_transform_scores(t, scores, w.sets);
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, r * w.sets, w.sets, scores);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_linear_regressor = { .infer = regress_infer, .eval = regress_eval };
