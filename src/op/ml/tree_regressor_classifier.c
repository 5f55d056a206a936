/* SPDX-License-Identifier: MIT */
/*
 * tree_regressor_classifier.c — TreeEnsembleRegressor and TreeEnsembleClassifier, all versions.
 * Nodes are named by tree id and node id.
 */
#include "op/ml/tree.h"

/* Reads the base values of the scores: an empty list or n numbers; with `one`, also a single
   number, for the first score. */
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

poprt_status prt_tree_read_regressor(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j)
{
    const prt_ml_tree_ensemble_regressor_attrs *a = attrs;
    prt_tree_lists l = { NODE_LISTS(a), .vote_treeids = a->target_treeids,
        .vote_nodeids = a->target_nodeids, .vote_targets = a->target_ids, .vote_name = "target" };
    *f = (prt_forest){ .n_targets = a->n_targets };
    *j = (prt_tree_decision){ .targets = (size_t)a->n_targets,
        .transform = prt_ml_transform_of(a->post_transform) };
    (void)find_sum(a->aggregate_function, &f->sum);
    PRT_TRY(read_base(site, a->base_values, a->base_values_as_tensor, j->targets, false, &j->base));
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
    prt_tree_decision j;
    if (a->n_targets < 1 || a->n_targets > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "n_targets is %lld; at least 1 is needed",
            (long long)a->n_targets);
    if (!find_sum(a->aggregate_function, &sum))
        return prt_infer_fail(c, POPRT_E_ARG,
            "aggregate_function is not one of AVERAGE, SUM, MIN, MAX");
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (c->dims != NULL) /* only when compiling, not in every run */
        PRT_TRY(prt_tree_read_regressor(&site, a, &f, &j));
    const int64_t dims[2] = { rows, a->n_targets };
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

static poprt_status regressor_eval(prt_eval *c)
{
    const prt_ml_site site = { .eval = c };
    prt_forest f;
    prt_tree_decision j;
    PRT_TRY(prt_tree_read_regressor(&site, c->attrs, &f, &j));
    return prt_tree_eval(c, &f, &j, NULL, prt_eval_wants(c, 0) ? c->out[0] : NULL);
}

const prt_op_hooks prt_op_ml_tree_ensemble_regressor = { .infer = regressor_infer,
    .eval = regressor_eval };

/* ---- TreeEnsembleClassifier ---- */

static prt_ml_labels labels_of(const prt_ml_tree_ensemble_classifier_attrs *a)
{
    return (prt_ml_labels){ a->classlabels_strings, a->classlabels_int64s };
}

poprt_status prt_tree_read_classifier(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j)
{
    const prt_ml_tree_ensemble_classifier_attrs *a = attrs;
    prt_tree_lists l = { NODE_LISTS(a), .vote_treeids = a->class_treeids,
        .vote_nodeids = a->class_nodeids, .vote_targets = a->class_ids, .vote_name = "class" };
    *j = (prt_tree_decision){ .labels = labels_of(a),
        .positive = true,
        .one_set = a->class_ids.count != 0,
        .transform = prt_ml_transform_of(a->post_transform) };
    j->targets = prt_ml_label_count(&j->labels);
    *f = (prt_forest){ .n_targets = (int64_t)j->targets, .sum = PRT_TREE_SUM };
    PRT_TRY(read_base(site, a->base_values, a->base_values_as_tensor, j->targets, j->targets == 2,
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
    j->one_set = j->one_set && j->targets == 2 && j->base.count < 2;
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
    prt_tree_decision j;
    PRT_TRY(prt_ml_check_labels(c, &labels, "classlabels_*"));
    PRT_TRY(prt_ml_check_transform(c, a->post_transform));
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (c->dims != NULL) /* only when compiling, not in every run */
        PRT_TRY(prt_tree_read_classifier(&site, a, &f, &j));
    const int64_t dims[2] = { rows, prt_ml_label_count(&labels) };
    PRT_TRY(prt_infer_set(c, 0, prt_ml_label_dtype(&labels), 1, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_f32, 2, dims);
}

static poprt_status classifier_eval(prt_eval *c)
{
    const prt_ml_site site = { .eval = c };
    prt_forest f;
    prt_tree_decision j;
    PRT_TRY(prt_tree_read_classifier(&site, c->attrs, &f, &j));
    return prt_tree_eval(c, &f, &j, prt_eval_wants(c, 0) ? c->out[0] : NULL,
        prt_eval_wants(c, 1) ? c->out[1] : NULL);
}

const prt_op_hooks prt_op_ml_tree_ensemble_classifier = { .infer = classifier_infer,
    .eval = classifier_eval };
