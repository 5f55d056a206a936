/* SPDX-License-Identifier: MIT */
/*
 * tree_ensemble.c — TreeEnsemble: inner nodes and leaves in separate lists.
 *
 * They become one list, leaves after inner nodes. membership_values holds the members of the sets
 * in the order of their nodes, separated by NaN.
 */
#include <math.h>

#include "op/ml/tree.h"

/* Tensor attributes, and the number of nodes and leaves that all other lists must match. */
typedef struct lists {
    const prt_ml_tree_ensemble_attrs *a;
    prt_tree_reals splits, weights, members;
    size_t n_nodes, n_leaves;
} lists;

static poprt_status check_lists(const prt_ml_site *site, const prt_ml_tree_ensemble_attrs *a,
    lists *l)
{
    const prt_f32s none = { 0 };
    *l = (lists){ .a = a,
        .n_nodes = a->nodes_featureids.count,
        .n_leaves = a->leaf_targetids.count };
    const size_t n = l->n_nodes;
    PRT_TRY(prt_tree_reals_of(site, "nodes_splits", none, a->nodes_splits, &l->splits));
    PRT_TRY(prt_tree_reals_of(site, "leaf_weights", none, a->leaf_weights, &l->weights));
    PRT_TRY(prt_tree_reals_of(site, "membership_values", none, a->membership_values, &l->members));
    if (a->nodes_modes == NULL || a->nodes_modes->dtype != PRT_DTYPE_u8)
        return prt_ml_fail(site, POPRT_E_TYPE, "nodes_modes is not a tensor of uint8");
    PRT_TRY(prt_tree_check_count(site, "nodes_modes", prt_tensor_count(a->nodes_modes), n));
    PRT_TRY(prt_tree_check_count(site, "nodes_splits", l->splits.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_truenodeids", a->nodes_truenodeids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_falsenodeids", a->nodes_falsenodeids.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_trueleafs", a->nodes_trueleafs.count, n));
    PRT_TRY(prt_tree_check_count(site, "nodes_falseleafs", a->nodes_falseleafs.count, n));
    if (a->nodes_missing_value_tracks_true.count != 0)
        PRT_TRY(prt_tree_check_count(site, "nodes_missing_value_tracks_true",
            a->nodes_missing_value_tracks_true.count, n));
    return prt_tree_check_count(site, "leaf_weights", l->weights.count, l->n_leaves);
}

/* Returns the index of a child among all nodes, or -1 if it is outside its list. */
static int64_t child(const lists *l, int64_t leaf, int64_t id)
{
    const size_t most = leaf != 0 ? l->n_leaves : l->n_nodes;
    if (id < 0 || (uint64_t)id >= most)
        return -1;
    return leaf != 0 ? (int64_t)l->n_nodes + id : id;
}

static poprt_status read_inner(const prt_ml_site *site, const lists *l, size_t i, size_t *member,
    prt_tree_node *n)
{
    const prt_ml_tree_ensemble_attrs *a = l->a;
    const uint8_t mode = ((const uint8_t *)a->nodes_modes->data)[i];
    if (mode > PRT_TREE_MEMBER)
        return prt_ml_fail(site, POPRT_E_ARG, "node %zu has mode %u; modes are 0 to %d", i, mode,
            PRT_TREE_MEMBER);
    *n = (prt_tree_node){ .mode = (prt_tree_mode)mode,
        .feature = a->nodes_featureids.data[i],
        .value = prt_tree_real(&l->splits, i),
        .name = (int64_t)i,
        .yes = child(l, a->nodes_trueleafs.data[i], a->nodes_truenodeids.data[i]),
        .no = child(l, a->nodes_falseleafs.data[i], a->nodes_falsenodeids.data[i]) };
    if (n->yes < 0 || n->no < 0)
        return prt_ml_fail(site, POPRT_E_ARG, "node %zu branches to %s %lld, which does not exist",
            i,
            (n->yes < 0 ? a->nodes_trueleafs.data[i] : a->nodes_falseleafs.data[i]) != 0 ? "leaf"
                                                                                         : "node",
            (long long)(n->yes < 0 ? a->nodes_truenodeids.data[i] : a->nodes_falsenodeids.data[i]));
    if (a->nodes_missing_value_tracks_true.count != 0)
        n->missing_is_true = a->nodes_missing_value_tracks_true.data[i] != 0;
    if (mode != PRT_TREE_MEMBER)
        return POPRT_OK;
    if (*member >= l->members.count)
        return prt_ml_fail(site, POPRT_E_ARG, "membership_values has no set for node %zu", i);
    n->first = (uint32_t)*member;
    while (*member < l->members.count && !isnan(prt_tree_real(&l->members, *member)))
        (*member)++;
    n->count = (uint32_t)*member - n->first;
    (*member)++; /* skip the NaN */
    return POPRT_OK;
}

static poprt_status read_roots(const prt_ml_site *site, const lists *l, prt_forest *f)
{
    const prt_i64s roots = l->a->tree_roots;
    f->roots = prt_ml_alloc(site, (size_t)roots.count + 1, sizeof(*f->roots));
    if (f->roots == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < roots.count; i++) {
        if (roots.data[i] < 0 || (uint64_t)roots.data[i] >= l->n_nodes)
            return prt_ml_fail(site, POPRT_E_ARG, "tree_roots[%u] is node %lld of %zu", i,
                (long long)roots.data[i], l->n_nodes);
        f->roots[i] = (size_t)roots.data[i];
    }
    f->n_roots = roots.count;
    return POPRT_OK;
}

poprt_status prt_tree_read_ensemble(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j)
{
    const prt_ml_tree_ensemble_attrs *a = attrs;
    lists l;
    size_t member = 0;
    PRT_TRY(check_lists(site, a, &l));
    *j = (prt_tree_decision){ .targets = (size_t)a->n_targets,
        .transform = (prt_ml_transform)a->post_transform };
    *f = (prt_forest){ .n_nodes = l.n_nodes + l.n_leaves,
        .n_votes = l.n_leaves,
        .n_members = l.members.count,
        .n_targets = a->n_targets,
        .sum = (prt_tree_sum)a->aggregate_function };
    f->nodes = prt_ml_alloc(site, f->n_nodes + 1, sizeof(*f->nodes));
    f->votes = prt_ml_alloc(site, f->n_votes + 1, sizeof(*f->votes));
    f->members = prt_ml_alloc(site, f->n_members + 1, sizeof(*f->members));
    if (f->nodes == NULL || f->votes == NULL || f->members == NULL)
        return POPRT_E_NOMEM;
    if (f->n_members > UINT32_MAX)
        return prt_ml_fail(site, POPRT_E_LIMIT, "membership_values has %zu numbers", f->n_members);
    for (size_t i = 0; i < f->n_members; i++)
        f->members[i] = prt_tree_real(&l.members, i);
    for (size_t i = 0; i < l.n_nodes; i++)
        PRT_TRY(read_inner(site, &l, i, &member, &f->nodes[i]));
    for (size_t i = 0; i < l.n_leaves; i++) {
        f->nodes[l.n_nodes + i] = (prt_tree_node){ .mode = PRT_TREE_LEAF,
            .name = (int64_t)i,
            .first = (uint32_t)i,
            .count = 1 };
        f->votes[i] = (prt_tree_vote){ a->leaf_targetids.data[i], prt_tree_real(&l.weights, i) };
    }
    PRT_TRY(read_roots(site, &l, f));
    return prt_forest_check(site, f);
}

static poprt_status infer(prt_infer *c)
{
    const prt_ml_tree_ensemble_attrs *a = c->attrs;
    const prt_ml_site site = { .infer = c };
    int64_t rows, features;
    prt_forest f;
    prt_tree_decision j;
    PRT_TRY(prt_ml_infer_rows(c, &rows, &features));
    if (a->n_targets < 1 || a->n_targets > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "n_targets is %lld; at least 1 is needed",
            (long long)a->n_targets);
    if (a->aggregate_function < PRT_TREE_AVERAGE || a->aggregate_function > PRT_TREE_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "aggregate_function is %lld; it must be 0 to %d",
            (long long)a->aggregate_function, PRT_TREE_MAX);
    if (a->post_transform < 0 || a->post_transform >= PRT_ML_TRANSFORMS)
        return prt_infer_fail(c, POPRT_E_ARG, "post_transform is %lld; it must be 0 to %d",
            (long long)a->post_transform, PRT_ML_TRANSFORMS - 1);
    if (c->dims != NULL) /* only when compiling, not in every run */
        PRT_TRY(prt_tree_read_ensemble(&site, a, &f, &j));
    const int64_t dims[2] = { rows, a->n_targets };
    return prt_infer_set(c, 0, c->in[0].dtype, 2, dims);
}

static poprt_status eval(prt_eval *c)
{
    const prt_ml_site site = { .eval = c };
    prt_forest f;
    prt_tree_decision j;
    PRT_TRY(prt_tree_read_ensemble(&site, c->attrs, &f, &j));
    return prt_tree_eval(c, &f, &j, NULL, prt_eval_wants(c, 0) ? c->out[0] : NULL);
}

const prt_op_hooks prt_op_ml_tree_ensemble = { .infer = infer, .eval = eval };
