/* SPDX-License-Identifier: MIT */
/*
 * tree.h — ensembles of decision trees, in the one form that all three operators bring theirs to:
 * an array of nodes that name their children by index.
 *
 * prt_forest_check is run before any walk: children, votes and members lie within their arrays,
 * and no node is its own descendant, so a walk takes fewer steps than there are nodes.
 */
#ifndef PRT_OP_ML_TREE_H
#define PRT_OP_ML_TREE_H

#include "op/ml/ml.h"

/* Numbered as TreeEnsemble does; a leaf is what that has lists of its own for. */
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
    bool missing_is_true; /* where NaN goes, in addition to what it compares as */
    int64_t feature;
    double value;          /* what the feature is compared with */
    int64_t yes, no;       /* children */
    uint32_t first, count; /* of a leaf's votes, or of the members of a set */
    int64_t tree, name;    /* for errors: as the model has them */
} prt_tree_node;

typedef struct prt_tree_vote {
    int64_t target;
    double weight;
} prt_tree_vote;

/* Numbered as TreeEnsemble does. */
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

/* Numbers of an attribute: single floats, or a tensor of any float type. */
typedef struct prt_tree_reals {
    const char *name;
    prt_f32s floats;
    const prt_tensor *tensor;
    size_t count;
} prt_tree_reals;

/* Not more than one of the two may be given; none is a list without numbers. */
poprt_status prt_tree_reals_of(const prt_ml_site *site, const char *name, prt_f32s floats,
    const prt_tensor *tensor, prt_tree_reals *out);
double prt_tree_real(const prt_tree_reals *r, size_t i);

/* Fails unless list `name` has `want` entries. */
poprt_status prt_tree_check_count(const prt_ml_site *site, const char *name, size_t count,
    size_t want);

/* All that a walk relies on but the number of features, which prt_forest_check_features does. */
poprt_status prt_forest_check(const prt_ml_site *site, const prt_forest *f);
poprt_status prt_forest_check_features(const prt_ml_site *site, const prt_forest *f,
    size_t features);

/* Scores of one row x: what the leaves it comes to say of each target, added up or else. Targets
 * of which none says anything have score 0. `scratch` has room for n_targets. */
void prt_forest_score(const prt_forest *f, const double *x, double *scores, bool *scratch);

/* Whether a feature x goes to the true branch of a node with this value and mode, which is no set's
 * and no leaf's. */
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

/* A vote of weight w, and whether there was one before. */
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

/* ---- what becomes of the scores ---- */

typedef struct prt_tree_judge {
    prt_ml_labels labels; /* none: there are scores alone */
    prt_ml_transform transform;
    prt_tree_reals base; /* added to the scores */
    size_t targets;
    bool one_set;  /* of two classes, weights are for one only: */
    size_t scored; /* this one */
    bool positive; /* no weight is negative */
} prt_tree_judge;

/* Scores of one row in place, and its label into `labels`, if that is not NULL. */
void prt_tree_decide(const prt_tree_judge *j, double *scores, bool *seen, prt_tensor *labels,
    size_t row);

/* What one of the three operators has in its attributes, built and checked. */
poprt_status prt_tree_read_regressor(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_judge *j);
poprt_status prt_tree_read_classifier(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_judge *j);
poprt_status prt_tree_read_ensemble(const prt_ml_site *site, const void *attrs, prt_forest *f,
    prt_tree_judge *j);

/* All rows of input 0: results into `scores`, and labels; both may be NULL. */
poprt_status prt_tree_eval(prt_eval *c, const prt_forest *f, const prt_tree_judge *j,
    prt_tensor *labels, prt_tensor *scores);

/* ---- TreeEnsembleClassifier and TreeEnsembleRegressor: nodes by the ids of tree and node ---- */

typedef struct prt_tree_lists {
    prt_i64s treeids, nodeids, featureids, truenodeids, falsenodeids, missing;
    prt_strs modes;
    prt_tree_reals values;
    prt_i64s vote_treeids, vote_nodeids, vote_targets;
    prt_tree_reals weights;
    const char *vote_name; /* "class" or "target" */
} prt_tree_lists;

/* Builds and checks `out`, whose n_targets and sum are set. A tree's root is its first node. */
poprt_status prt_forest_build(const prt_ml_site *site, const prt_tree_lists *lists,
    prt_forest *out);

#endif
