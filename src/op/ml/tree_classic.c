/* SPDX-License-Identifier: MIT */
/*
 * tree_classic.c — TreeEnsembleRegressor and TreeEnsembleClassifier, of all their versions: nodes
 * are named by the ids of their tree and their own.
 *
 * Of two classes the weights may all be for one: then the one score decides, by being above 0, or
 * above one half if no weight is negative (it is a probability). In all other cases the top class
 * is the one with the largest score.
 */
#include "base/size.h"
#include "op/elements.h"
#include "op/ml/tree.h"

/* Numbers to be added to the scores: none, or one for each; with `one`, one alone for the first. */
static poprt_status read_base(const prt_ml_site *site, prt_f32s floats, const prt_tensor *tensor,
    size_t n, bool one, prt_tree_reals *base)
{
    PRT_TRY(prt_tree_reals_of(site, "base_values", floats, tensor, base));
    if (base->count == 0 || base->count == n || (base->count == 1 && one))
        return POPRT_OK;
    return prt_ml_fail(site, POPRT_E_ARG, "base_values has %zu numbers for %zu targets",
        base->count, n);
}

#define NODE_LISTS(a)                                                                              \
    .treeids = (a)->nodes_treeids, .nodeids = (a)->nodes_nodeids,                                  \
    .featureids = (a)->nodes_featureids, .truenodeids = (a)->nodes_truenodeids,                    \
    .falsenodeids = (a)->nodes_falsenodeids, .missing = (a)->nodes_missing_value_tracks_true,      \
    .modes = (a)->nodes_modes

/* One row's features and scores. */
typedef struct room {
    double *x, *scores;
    bool *seen;
} room;

static poprt_status make_room(prt_eval *c, size_t features, size_t targets, room *to)
{
    size_t total;
    if (!prt_size_add(features, targets, &total))
        return prt_fail_nomem(SIZE_MAX);
    to->x = prt_eval_scratch(c, total + 2, sizeof(double)); /* two scores at least */
    to->seen = prt_eval_scratch(c, targets, sizeof(bool));
    if (to->x == NULL || to->seen == NULL)
        return POPRT_E_NOMEM;
    to->scores = to->x + features;
    return POPRT_OK;
}

/* ---- TreeEnsembleRegressor ---- */

static bool find_sum(prt_str text, prt_tree_sum *out)
{
    static const char *const names[] = { "AVERAGE", "SUM", "MIN", "MAX" };
    for (uint32_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(text, names[i])) {
            *out = (prt_tree_sum)i;
            return true;
        }
    return false;
}

static poprt_status build_regressor(const prt_ml_site *site,
    const prt_ml_tree_ensemble_regressor_attrs *a, prt_forest *f, prt_tree_reals *base)
{
    prt_tree_lists l = { NODE_LISTS(a), .vote_treeids = a->target_treeids,
        .vote_nodeids = a->target_nodeids, .vote_targets = a->target_ids, .vote_name = "target" };
    *f = (prt_forest){ .n_targets = a->n_targets };
    (void)find_sum(a->aggregate_function, &f->sum);
    PRT_TRY(read_base(site, a->base_values, a->base_values_as_tensor, (size_t)a->n_targets, false,
        base));
    PRT_TRY(prt_tree_reals_of(site, "nodes_values", a->nodes_values, a->nodes_values_as_tensor,
        &l.values));
    PRT_TRY(prt_tree_reals_of(site, "target_weights", a->target_weights,
        a->target_weights_as_tensor, &l.weights));
    return prt_forest_build(site, &l, f);
}

static poprt_status regressor_infer(prt_infer *c)
{
    const prt_ml_tree_ensemble_regressor_attrs *a = c->attrs;
    const prt_ml_site site = { .infer = c };
    int64_t rows, features;
    prt_tree_sum sum;
    prt_forest f;
    prt_tree_reals base;
    if (a->n_targets < 1 || a->n_targets > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "n_targets is %lld", (long long)a->n_targets);
    if (!find_sum(a->aggregate_function, &sum))
        return prt_infer_fail(c, POPRT_E_ARG,
            "aggregate_function is none of AVERAGE, SUM, MIN and MAX");
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (c->dims != NULL) /* not at every run */
        PRT_TRY(build_regressor(&site, a, &f, &base));
    const int64_t dims[2] = { rows, a->n_targets };
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

static poprt_status regressor_eval(prt_eval *c)
{
    const prt_ml_tree_ensemble_regressor_attrs *a = c->attrs;
    const prt_ml_site site = { .eval = c };
    const prt_ml_transform t = prt_ml_transform_of(a->post_transform);
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x), targets = (size_t)a->n_targets;
    prt_forest f;
    prt_tree_reals base;
    room m = { 0 };
    PRT_TRY(build_regressor(&site, a, &f, &base));
    PRT_TRY(prt_forest_check_features(&site, &f, n));
    if (!prt_eval_wants(c, 0) || rows == 0)
        return POPRT_OK;
    PRT_TRY(make_room(c, n, targets, &m));
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, m.x);
        prt_forest_score(&f, m.x, m.scores, m.seen);
        for (size_t k = 0; k < targets && base.count == targets; k++)
            m.scores[k] += prt_tree_real(&base, k);
        prt_ml_transform_scores(t, m.scores, targets);
        prt_write_f64(PRT_DTYPE_f32, c->out[0]->data, r * targets, targets, m.scores);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_tree_ensemble_regressor = {
    .infer = regressor_infer, .eval = regressor_eval
};

/* ---- TreeEnsembleClassifier ---- */

/* How scores become labels. */
typedef struct judge {
    prt_ml_labels labels;
    prt_ml_transform transform;
    prt_tree_reals base;
    size_t classes;
    bool one_set;  /* of two classes, weights are for one only: */
    size_t scored; /* this one */
    bool positive; /* no weight is negative */
} judge;

static prt_ml_labels labels_of(const prt_ml_tree_ensemble_classifier_attrs *a)
{
    return (prt_ml_labels){ a->classlabels_strings, a->classlabels_int64s };
}

static poprt_status build_classifier(const prt_ml_site *site,
    const prt_ml_tree_ensemble_classifier_attrs *a, prt_forest *f, judge *j)
{
    prt_tree_lists l = { NODE_LISTS(a), .vote_treeids = a->class_treeids,
        .vote_nodeids = a->class_nodeids, .vote_targets = a->class_ids, .vote_name = "class" };
    *j = (judge){ .labels = labels_of(a), .positive = true, .one_set = a->class_ids.count != 0,
        .transform = prt_ml_transform_of(a->post_transform) };
    j->classes = prt_ml_label_count(&j->labels);
    *f = (prt_forest){ .n_targets = (int64_t)j->classes, .sum = PRT_TREE_SUM };
    PRT_TRY(read_base(site, a->base_values, a->base_values_as_tensor, j->classes, j->classes == 2,
        &j->base));
    PRT_TRY(prt_tree_reals_of(site, "nodes_values", a->nodes_values, a->nodes_values_as_tensor,
        &l.values));
    PRT_TRY(prt_tree_reals_of(site, "class_weights", a->class_weights, a->class_weights_as_tensor,
        &l.weights));
    PRT_TRY(prt_forest_build(site, &l, f));
    for (uint32_t i = 0; i < a->class_ids.count; i++) {
        j->one_set = j->one_set && a->class_ids.data[i] == a->class_ids.data[0];
        j->positive = j->positive && !(prt_tree_real(&l.weights, i) < 0.0);
    }
    j->one_set = j->one_set && j->classes == 2 && j->base.count < 2;
    j->scored = j->one_set ? (size_t)a->class_ids.data[0] : 0;
    return POPRT_OK;
}

static poprt_status classifier_infer(prt_infer *c)
{
    const prt_ml_tree_ensemble_classifier_attrs *a = c->attrs;
    const prt_ml_site site = { .infer = c };
    const prt_ml_labels labels = labels_of(a);
    int64_t rows, features;
    prt_forest f;
    judge j;
    PRT_TRY(prt_ml_check_labels(c, &labels, "classlabels_*"));
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (c->dims != NULL) /* not at every run */
        PRT_TRY(build_classifier(&site, a, &f, &j));
    const int64_t dims[2] = { rows, prt_ml_label_count(&labels) };
    PRT_TRY(prt_infer_set(c, 0, prt_ml_label_dtype(&labels), 1, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_f32, 2, dims);
}

/* The class that has the largest score of those that have any. */
static size_t top_class(const double *scores, const bool *seen, size_t n)
{
    size_t best = n;
    for (size_t k = 0; k < n; k++)
        if (seen[k] && (best == n || scores[k] > scores[best]))
            best = k;
    return best != n ? best : 0;
}

/* Label and scores of one row. A single base value is that of the first class. */
static void decide(const judge *j, double *scores, bool *seen, prt_tensor *y, size_t row)
{
    const bool adds_one = j->base.count == 1 && !(j->one_set && j->scored == 1);
    for (size_t k = 0; k < j->base.count && (adds_one || j->base.count > 1); k++) {
        scores[k] += prt_tree_real(&j->base, k);
        seen[k] = true;
    }
    if (j->one_set) {
        const double score = scores[j->scored];
        if (y != NULL)
            prt_ml_put_label(&j->labels, score > (j->positive ? 0.5 : 0.0), y, row);
        if (j->scored == 0)
            prt_ml_two_scores(j->transform, score, j->positive, scores);
        else
            prt_ml_transform_scores(j->transform, scores, 2);
        return;
    }
    if (y != NULL && j->classes == 1 && y->dtype == PRT_DTYPE_i64)
        prt_ml_put_sign(scores[0] > 0.0, y, row); /* there is no label for "not this class" */
    else if (y != NULL)
        prt_ml_put_label(&j->labels, top_class(scores, seen, j->classes), y, row);
    prt_ml_transform_scores(j->transform, scores, j->classes);
}

static poprt_status classifier_eval(prt_eval *c)
{
    const prt_ml_site site = { .eval = c };
    const prt_tensor *x = c->in[0];
    const size_t rows = prt_ml_rows(x), n = prt_ml_features(x);
    prt_forest f;
    judge j;
    room m = { 0 };
    PRT_TRY(build_classifier(&site, c->attrs, &f, &j));
    PRT_TRY(prt_forest_check_features(&site, &f, n));
    PRT_TRY(make_room(c, n, j.classes, &m));
    for (size_t r = 0; r < rows; r++) {
        prt_read_f64(x->dtype, x->data, r * n, 1, n, m.x);
        prt_forest_score(&f, m.x, m.scores, m.seen);
        decide(&j, m.scores, m.seen, c->out[0], r);
        if (prt_eval_wants(c, 1))
            prt_write_f64(PRT_DTYPE_f32, c->out[1]->data, r * j.classes, j.classes, m.scores);
        PRT_TRY(c->host->check(c));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ml_tree_ensemble_classifier = {
    .infer = classifier_infer, .eval = classifier_eval
};
