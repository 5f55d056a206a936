/* SPDX-License-Identifier: MIT */
/*
 * tree.h — the representation of tree ensembles that all three operators are converted to: an array
 * of nodes that refer to their children by index.
 *
 * prt_forest_check runs before any evaluation. It ensures that children, votes and members are
 * within their arrays and that no node is its own descendant: a walk takes fewer steps than there
 * are nodes.
 */
#ifndef PRT_OP_ML_TREE_H
#define PRT_OP_ML_TREE_H

#include "op/ml/ml.h"

/* Numbered as in TreeEnsemble, which has separate lists for leaves: LEAF is an addition. */
typedef enum prt_tree_mode {
    PRT_TREE_LEQ,
    PRT_TREE_LT,
    PRT_TREE_GTE,
    PRT_TREE_GT,
    PRT_TREE_EQ,
    PRT_TREE_NEQ,
    PRT_TREE_MEMBER,
    PRT_TREE_LEAF
} prt_tree_mode;

typedef struct prt_tree_node {
    prt_tree_mode mode;
    bool missing_is_true; /* NaN goes to the true branch, regardless of the comparison */
    int64_t feature;
    double value;          /* threshold that the feature is compared with */
    int64_t yes, no;       /* children */
    uint32_t first, count; /* range of a leaf's votes, or of the members of a set */
    int64_t tree, name;    /* ids of the model, for messages */
} prt_tree_node;

typedef struct prt_tree_vote {
    int64_t target;
    double weight;
} prt_tree_vote;

/* Numbered as in TreeEnsemble. */
typedef enum prt_tree_sum {
    PRT_TREE_AVERAGE,
    PRT_TREE_SUM,
    PRT_TREE_MIN,
    PRT_TREE_MAX
} prt_tree_sum;

typedef struct prt_forest {
    prt_tree_node *nodes;
    size_t n_nodes;
    size_t *roots;
    size_t n_roots;
    prt_tree_vote *votes;
    size_t n_votes;
    double *members;
    size_t n_members;
    int64_t n_targets;
    prt_tree_sum sum;
} prt_forest;

/* The numbers of an attribute: a list of floats, or a tensor of any float type. */
typedef struct prt_tree_reals {
    const char *name;
    prt_f32s floats;
    const prt_tensor *tensor;
    size_t count;
} prt_tree_reals;

/* Reads an attribute that is given as floats or as a tensor. If both are absent the list is empty.
   Fails with POPRT_E_ARG if both are given. */
poprt_status prt_tree_reals_of(const prt_ml_site *site, const char *name, prt_f32s floats,
    const prt_tensor *tensor, prt_tree_reals *out);
double prt_tree_real(const prt_tree_reals *r, size_t i);

/* Fails with POPRT_E_ARG unless list `name` has `want` entries. */
poprt_status prt_tree_check_count(const prt_ml_site *site, const char *name, size_t count,
    size_t want);

/* Checks everything that a walk relies on except the number of features, which
   prt_forest_check_features checks. */
poprt_status prt_forest_check(const prt_ml_site *site, const prt_forest *f);
poprt_status prt_forest_check_features(const prt_ml_site *site, const prt_forest *f,
    size_t features);

/* Computes the scores of row x: the votes of the leaves that the walks reach, aggregated for each
   target. A target without votes has score 0. `scratch` holds n_targets booleans. */
void prt_forest_score(const prt_forest *f, const double *x, double *scores, bool *scratch);

/* Returns whether feature value x goes to the true branch of a node with this threshold and mode.
   The mode is neither MEMBER nor LEAF. */
static inline bool prt_tree_compares(prt_tree_mode mode, double x, double value)
{
    switch (mode) {
    case PRT_TREE_LEQ:
        return x <= value;
    case PRT_TREE_LT:
        return x < value;
    case PRT_TREE_GTE:
        return x >= value;
    case PRT_TREE_GT:
        return x > value;
    case PRT_TREE_EQ:
        return x == value;
    default:
        return x != value;
    }
}

/* Aggregates a vote of weight w; `seen` says whether there was a vote before. */
static inline void prt_tree_count(prt_tree_sum sum, double w, double *score, bool *seen)
{
    if (!*seen)
        *score = w;
    else if (sum == PRT_TREE_MIN)
        *score = w < *score ? w : *score;
    else if (sum == PRT_TREE_MAX)
        *score = w > *score ? w : *score;
    else
        *score += w;
    *seen = true;
}

/* ---- results ---- */

typedef struct prt_tree_decision {
    prt_ml_labels labels; /* empty: the result is scores only */
    prt_ml_transform transform;
    prt_tree_reals base; /* base values, added to the scores */
    size_t targets;
    bool one_set;  /* two classes, but all weights are for one class */
    size_t scored; /* that class, if one_set */
    bool positive; /* no weight is negative */
} prt_tree_decision;

/* Computes the result of one row: transforms its scores in place and writes its label into `labels`
   if that is not NULL. */
void prt_tree_decide(const prt_tree_decision *j, double *scores, bool *seen, prt_tensor *labels,
    size_t row);

/* Build and check the forest and the decision rule from the attributes of one of the three
   operators. Memory comes from `site`. */
poprt_status prt_tree_read_regressor(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j);
poprt_status prt_tree_read_classifier(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j);
poprt_status prt_tree_read_ensemble(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_decision *j);

/* Evaluates all rows of input 0. `labels` and `scores` may be NULL. */
poprt_status prt_tree_eval(prt_eval *c, const prt_forest *f, const prt_tree_decision *j,
    prt_tensor *labels, prt_tensor *scores);

/* ---- TreeEnsembleClassifier and TreeEnsembleRegressor: nodes named by ids of tree and node
   ---- */

typedef struct prt_tree_lists {
    prt_i64s treeids, nodeids, featureids, truenodeids, falsenodeids, missing;
    prt_strs modes;
    prt_tree_reals values;
    prt_i64s vote_treeids, vote_nodeids, vote_targets;
    prt_tree_reals weights;
    const char *vote_name; /* "class" or "target" */
} prt_tree_lists;

/* Builds and checks `out`, whose n_targets and sum are set. The root of a tree is its first
   node. */
poprt_status prt_forest_build(const prt_ml_site *site, const prt_tree_lists *lists,
    prt_forest *out);

#endif
