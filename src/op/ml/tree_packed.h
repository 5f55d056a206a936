/* SPDX-License-Identifier: MIT */
/*
 * tree_packed.h — forests laid out for walking (pass pack_weights), and the walk.
 *
 * A tree's nodes follow each other, the root first; behind an inner node comes its true branch as a
 * whole, and then the false one. So a walk only goes forwards, and ends. Nodes and votes lie in
 * tensors of int64, two for each. What a walk relies on beyond that it checks as it goes: the
 * tensors may come from anywhere.
 */
#ifndef PRT_OP_ML_TREE_PACKED_H
#define PRT_OP_ML_TREE_PACKED_H

#include "op/ml/tree.h"

enum {
    PRT_PACKED_MODE = 7,    /* bits of `what`: prt_tree_mode, */
    PRT_PACKED_MISSING = 8, /* missing_is_true, */
    PRT_PACKED_SHIFT = 4    /* and the feature, or how many votes a leaf has */
};

typedef struct prt_packed_node {
    double value; /* what the feature is compared with */
    uint32_t what;
    uint32_t next; /* nodes of the true branch; a leaf's first vote */
} prt_packed_node;

typedef struct prt_packed_vote {
    double weight;
    int64_t target;
} prt_packed_vote;

/* Nodes that the trees of a forest have; false where it cannot be laid out: trees that share nodes
 * or roots, sets of members, numbers that are too large. */
bool prt_packed_count(const prt_ml_site *site, const prt_forest *f, size_t *count);

/* The nodes, so many, and where the trees begin among them; false for no memory. */
bool prt_packed_lay(const prt_ml_site *site, const prt_forest *f, prt_packed_node *nodes,
    int64_t *roots);

typedef struct prt_packed_forest {
    const prt_packed_node *nodes;
    const prt_packed_vote *votes;
    const int64_t *roots;
    size_t n_nodes, n_votes, n_roots, features;
    prt_tree_sum sum;
    prt_tree_judge judge;
    const prt_tensor *x;
    prt_tensor *scores, *labels; /* or NULL */
    size_t rows, most;           /* at a time */
} prt_packed_forest;

/* The forest of a PackedTrees. */
poprt_status prt_packed_read(prt_eval *c, prt_packed_forest *f);

/* Doubles that the results of `most` rows take. */
bool prt_packed_room(const prt_packed_forest *f, size_t *count);

/* Results of up to `most` rows from `first` on; false: the tensors are no forest. */
bool prt_packed_run(const prt_packed_forest *f, size_t first, double *room);

/* What to say then. */
poprt_status prt_packed_fail(const prt_eval *c);

#endif
