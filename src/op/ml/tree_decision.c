/* SPDX-License-Identifier: MIT */
/*
 * tree_decision.c — converts the scores of trees to results.
 *
 * If there are two classes and all weights are for one of them, its score alone decides: the class
 * wins if the score is above 0, or above one half where no weight is negative (a probability). In
 * all other cases the class with the largest score wins.
 */
#include "base/size.h"
#include "op/share/elements.h"
#include "op/ml/tree.h"

/* Returns the class with the largest score among the classes that have votes. */
static size_t top_class(const double *scores, const bool *seen, size_t n)
{
    size_t best = n;
    for (size_t k = 0; k < n; k++)
        if (seen[k] && (best == n || scores[k] > scores[best]))
            best = k;
    return best != n ? best : 0;
}

/* A single base value belongs to the first class. */
static void decide_class(const prt_tree_decision *j, double *scores, bool *seen, prt_tensor *y,
    size_t row)
{
    const bool adds_one = j->base.count == 1 && !(j->one_set && j->scored == 1);
    for (size_t k = 0; k < j->base.count && (adds_one || j->base.count > 1); k++) {
        scores[k] += prt_tree_real(&j->base, k);
        seen[k] = true;
    }
    if (j->one_set) {
        const double score = scores[j->scored];
        if (y != NULL)
            prt_ml_write_label(&j->labels, score > (j->positive ? 0.5 : 0.0), y, row);
        if (j->scored == 0)
            prt_ml_two_scores(j->transform, score, j->positive, scores);
        else
            prt_ml_transform_scores(j->transform, scores, 2);
        return;
    }
    if (y != NULL && j->targets == 1 && y->dtype == PRT_DTYPE_i64)
        prt_ml_write_sign(scores[0] > 0.0, y, row); /* there is no label for the negative class */
    else if (y != NULL)
        prt_ml_write_label(&j->labels, top_class(scores, seen, j->targets), y, row);
    prt_ml_transform_scores(j->transform, scores, j->targets);
}

void prt_tree_decide(const prt_tree_decision *j, double *scores, bool *seen, prt_tensor *labels,
    size_t row)
{
    if (prt_ml_label_count(&j->labels) != 0) {
        decide_class(j, scores, seen, labels, row);
        return;
    }
    for (size_t k = 0; k < j->targets && j->base.count == j->targets; k++)
        scores[k] += prt_tree_real(&j->base, k);
    prt_ml_transform_scores(j->transform, scores, j->targets);
}

poprt_status prt_tree_eval(prt_eval *c, const prt_forest *f, const prt_tree_decision *j,
    prt_tensor *labels, prt_tensor *scores)
{
    const prt_ml_site site = { .eval = c };
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    size_t total;
    PRT_TRY(prt_forest_check_features(&site, f, n));
    if (!prt_size_add(n, j->targets, &total))
        return prt_fail_nomem(SIZE_MAX);
    double *v = prt_eval_scratch(c, total + 2, sizeof(double)); /* at least two scores */
    bool *seen = prt_eval_scratch(c, j->targets, sizeof(bool));
    if (v == NULL || seen == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, v);
        prt_forest_score(f, v, v + n, seen);
        prt_tree_decide(j, v + n, seen, labels, r);
        if (scores != NULL)
            prt_write_f64(scores->dtype, scores->data, r * j->targets, j->targets, v + n);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}
