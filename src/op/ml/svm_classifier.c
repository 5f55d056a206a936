/* SPDX-License-Identifier: MIT */
/*
 * svm_classifier.c — SVMClassifier: one binary classifier for each pair of classes, with majority
 * vote; or, without vectors_per_class, a weighted sum for each class.
 *
 * For a pair (i, j), i < j, a score above zero is a vote for i. Coefficients are
 * [classes - 1, vectors]: row j - 1 has the coefficients of class i's vectors against j, row i
 * those of class j's vectors against i.
 */
#include <math.h>

#include "base/size.h"
#include "op/share/elements.h"
#include "op/ml/svm.h"

enum { MAX_CLASSES = 65535 };

typedef struct machine {
    const prt_ml_svm_classifier_attrs *a;
    prt_ml_labels labels;
    prt_ml_transform transform;
    size_t classes, pairs, n_scores;
    bool linear, positive; /* positive: no coefficient is negative */
    prt_svm svm;
    /* buffers for one row */
    double *x, *kernels, *scores; /* sizes: features; vectors; pairs or classes */
    double *r, *p;                /* only with probabilities: [classes,classes] and [classes] */
    double *scratch;
    uint32_t *votes;
} machine;

static prt_ml_labels labels_of(const prt_ml_svm_classifier_attrs *a)
{
    return (prt_ml_labels){ a->classlabels_strings, a->classlabels_ints };
}

/* Checks vectors_per_class and returns its sum in `total`. */
static poprt_status count_vectors(const prt_infer *c, uint32_t classes, int64_t *total)
{
    const prt_ml_svm_classifier_attrs *a = c->attrs;
    const prt_i64s list = a->vectors_per_class;
    *total = 0;
    for (uint32_t i = 0; i < list.count; i++)
        if (list.data[i] < 0 || list.data[i] > INT32_MAX ||
            !prt_i64_add(*total, list.data[i], total))
            return prt_infer_fail(c, POPRT_E_ARG,
                "vectors_per_class[%u] is %lld; at least 0 is needed", i, (long long)list.data[i]);
    if (*total != 0 && list.count != classes)
        return prt_infer_fail(c, POPRT_E_ARG, "vectors_per_class has %u numbers for %u classes",
            list.count, classes);
    if (*total != 0 && classes < 2)
        return prt_infer_fail(c, POPRT_E_ARG,
            "has support vectors, but only one class; at least 2 are needed");
    return POPRT_OK;
}

static poprt_status check_lists(const prt_infer *c, int64_t classes, int64_t vectors,
    int64_t features)
{
    const prt_ml_svm_classifier_attrs *a = c->attrs;
    const int64_t pairs = classes * (classes - 1) / 2;
    if (a->prob_a.count != a->prob_b.count)
        return prt_infer_fail(c, POPRT_E_ARG, "prob_a has %u numbers, prob_b has %u",
            a->prob_a.count, a->prob_b.count);
    if (a->rho.count < (vectors != 0 ? pairs : 1))
        return prt_infer_fail(c, POPRT_E_ARG, "rho has %u numbers; %lld are needed", a->rho.count,
            (long long)(vectors != 0 ? pairs : 1));
    if (vectors == 0)
        return prt_svm_check_vectors(c, "coefficients", a->coefficients.count, classes, features);
    if (a->prob_a.count != 0 && a->prob_a.count < pairs)
        return prt_infer_fail(c, POPRT_E_ARG, "prob_a has %u numbers for %lld pairs of classes",
            a->prob_a.count, (long long)pairs);
    if (a->coefficients.count != (classes - 1) * vectors)
        return prt_infer_fail(c, POPRT_E_ARG,
            "has %u coefficients for %lld support vectors and %lld classes", a->coefficients.count,
            (long long)vectors, (long long)classes);
    return prt_svm_check_vectors(c, "support_vectors", a->support_vectors.count, vectors, features);
}

/* Returns the number of scores. Linear models, probabilities and two classes have one score for
   each class; others have one for each pair. */
static size_t count_scores(const prt_ml_svm_classifier_attrs *a, size_t classes, bool linear)
{
    return linear || a->prob_a.count != 0 || classes == 2 ? classes : classes * (classes - 1) / 2;
}

static poprt_status infer(prt_infer *c)
{
    const prt_ml_svm_classifier_attrs *a = c->attrs;
    const prt_ml_labels labels = labels_of(a);
    const uint32_t classes = prt_ml_label_count(&labels);
    int64_t rows, features, vectors;
    PRT_TRY(prt_ml_check_labels(c, &labels, "classlabels_*"));
    PRT_TRY(prt_svm_check(c, a->kernel_type, a->kernel_params));
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    if (classes > MAX_CLASSES)
        return prt_infer_fail(c, POPRT_E_LIMIT, "has %u classes; at most %d are possible", classes,
            MAX_CLASSES);
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    PRT_TRY(count_vectors(c, classes, &vectors));
    PRT_TRY(check_lists(c, classes, vectors, features));
    const int64_t dims[2] = { rows, (int64_t)count_scores(a, classes, vectors == 0) };
    PRT_TRY(prt_infer_set(c, 0, prt_ml_label_dtype(&labels), 1, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_f32, 2, dims);
}

/* ---- one row ---- */

/* Returns the dot product of `count` coefficients in row `row` and the kernels of their vectors,
   from vector `first` on. */
static double weighted_kernels(const machine *m, size_t row, size_t first, size_t count)
{
    const float *w = m->a->coefficients.data + row * m->svm.count;
    double sum;
    prt_ml_dots(count, 1, m->kernels + first, w + first, &sum);
    return sum;
}

static void score_pairs(machine *m)
{
    const int64_t *per_class = m->a->vectors_per_class.data;
    size_t pair = 0, from_i = 0;
    memset(m->votes, 0, m->classes * sizeof(*m->votes));
    for (size_t i = 0; i < m->classes; i++) {
        const size_t n_i = (size_t)per_class[i];
        size_t from_j = from_i + n_i;
        for (size_t j = i + 1; j < m->classes; j++, pair++) {
            const size_t n_j = (size_t)per_class[j];
            const double sum = (double)m->a->rho.data[pair] +
                weighted_kernels(m, j - 1, from_i, n_i) + weighted_kernels(m, i, from_j, n_j);
            m->scores[pair] = sum;
            m->votes[sum > 0.0 ? i : j]++;
            from_j += n_j;
        }
        from_i += n_i;
    }
}

/* Applies Platt's sigmoid to each pair's score, and couples the pairwise probabilities to class
   probabilities. */
static void score_classes(machine *m)
{
    const size_t n = m->classes;
    size_t pair = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++, pair++) {
            const double a = (double)m->a->prob_a.data[pair], b = (double)m->a->prob_b.data[pair];
            const double p = 1.0 - prt_ml_logistic(m->scores[pair] * a + b);
            const double kept = fmin(fmax(p, 1e-7), 1.0 - 1e-7);
            m->r[i * n + j] = kept;
            m->r[j * n + i] = 1.0 - kept;
        }
    prt_svm_couple(n, m->r, m->p, m->scratch);
}

/* Returns the class with the most votes or, in linear models, with the largest score. Of two linear
   classes the second wins if the largest score is positive (if no weight is negative: at least one
   half). */
static size_t choose_class(const machine *m)
{
    size_t best = 0;
    if (!m->linear) {
        for (size_t k = 1; k < m->classes; k++)
            best = m->votes[k] > m->votes[best] ? k : best;
        return best;
    }
    for (size_t k = 1; k < m->classes; k++)
        best = m->scores[k] > m->scores[best] ? k : best;
    if (m->classes == 2 && m->a->prob_a.count == 0 &&
        (m->positive ? m->scores[best] >= 0.5 : m->scores[best] > 0.0))
        return 1;
    return best;
}

static void run_row(machine *m, prt_tensor *y, prt_tensor *z, size_t row)
{
    prt_svm_row(&m->svm, m->x, m->linear ? m->scores : m->kernels);
    for (size_t k = 0; m->linear && k < m->classes; k++)
        m->scores[k] += (double)m->a->rho.data[0];
    if (!m->linear)
        score_pairs(m);
    if (y != NULL)
        prt_ml_write_label(&m->labels, choose_class(m), y, row);
    if (z == NULL)
        return;
    const bool probabilities = !m->linear && m->a->prob_a.count != 0;
    double *scores = probabilities ? m->p : m->scores;
    if (probabilities)
        score_classes(m);
    if (!m->linear && !probabilities && m->classes == 2)
        prt_ml_two_scores(m->transform, scores[0], m->transform != PRT_ML_NONE, scores);
    else
        prt_ml_transform_scores(m->transform, scores, m->n_scores);
    prt_write_f64(PRT_DTYPE_f32, z->data, row * m->n_scores, m->n_scores, scores);
}

/* Allocates the buffers of a row. The sums of sizes cannot overflow, because the corresponding
   lists are in memory. */
static poprt_status alloc_row(prt_eval *c, machine *m)
{
    const size_t n = m->classes, scores = m->pairs > n ? m->pairs : n;
    const bool probabilities = !m->linear && m->a->prob_a.count != 0;
    m->x = prt_eval_scratch(c, m->svm.features + m->svm.count + scores + 2, sizeof(double));
    m->votes = prt_eval_scratch(c, n, sizeof(*m->votes));
    if (m->x == NULL || m->votes == NULL)
        return POPRT_E_NOMEM;
    m->kernels = m->x + m->svm.features;
    m->scores = m->kernels + m->svm.count;
    if (!probabilities)
        return POPRT_OK;
    m->r = prt_eval_scratch(c, 2 * (n * n + n), sizeof(double));
    if (m->r == NULL)
        return POPRT_E_NOMEM;
    m->p = m->r + n * n;
    m->scratch = m->p + n;
    return POPRT_OK;
}

poprt_status prt_svm_classify(prt_eval *c, const prt_kern_rows *fast)
{
    const prt_ml_svm_classifier_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    machine m = { .a = a, .labels = labels_of(a), .positive = true };
    m.transform = prt_ml_transform_of(a->post_transform);
    m.classes = prt_ml_label_count(&m.labels);
    size_t vectors = 0;
    for (uint32_t i = 0; i < a->vectors_per_class.count; i++)
        vectors += (size_t)a->vectors_per_class.data[i];
    m.linear = vectors == 0;
    m.pairs = m.linear ? 0 : m.classes * (m.classes - 1) / 2;
    m.n_scores = count_scores(a, m.classes, m.linear);
    m.svm = prt_svm_of(m.linear ? PRT_STR("LINEAR") : a->kernel_type, a->kernel_params);
    m.svm.features = n;
    m.svm.count = m.linear ? m.classes : vectors;
    m.svm.vectors = m.linear ? a->coefficients.data : a->support_vectors.data;
    for (uint32_t i = 0; i < a->coefficients.count; i++)
        m.positive = m.positive && a->coefficients.data[i] >= 0.0F;
    m.svm.fast = fast;
    PRT_TRY(prt_svm_alloc_row(c, &m.svm));
    PRT_TRY(alloc_row(c, &m));
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, m.x);
        run_row(&m, c->out[0], c->out[1], r);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    return prt_svm_classify(c, NULL);
}

const prt_op_hooks prt_op_ml_svm_classifier = { .infer = infer, .eval = eval };
