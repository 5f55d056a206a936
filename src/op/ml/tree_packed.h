/* SPDX-License-Identifier: MIT */
/*
 * tree_packed.h — forests in the layout of the pass pack_weights, and their evaluation.
 *
 * The nodes of a tree are contiguous in preorder: an inner node is followed by its whole true
 * branch, then by its false branch. So a walk only moves forwards, and terminates. Nodes and votes
 * are stored in int64 tensors, two elements each. The tensors may come from any source: the walk
 * checks all other indices as it reads them.
 */
#ifndef PRT_OP_ML_TREE_PACKED_H
#define PRT_OP_ML_TREE_PACKED_H

#include "op/ml/tree.h"

enum {
    PRT_PACKED_MODE = 7,    /* bits of `what`: prt_tree_mode */
    PRT_PACKED_MISSING = 8, /* bit of `what`: missing_is_true */
    PRT_PACKED_SHIFT = 4    /* the bits above: the feature, or the number of a leaf's votes */
};

typedef struct prt_packed_node {
    double value; /* threshold that the feature is compared with */
    uint32_t what;
    uint32_t next; /* number of nodes of the true branch; a leaf's first vote */
} prt_packed_node;

typedef struct prt_packed_vote {
    double weight;
    int64_t target;
} prt_packed_vote;

/* Computes the number of nodes of all trees. Returns false where the forest cannot be packed: trees
   share nodes or roots, a node tests set membership, or a number is too large. */
bool prt_packed_count(const prt_ml_site *site, const prt_forest *f, size_t *count);

/* Writes the nodes, and the index of each tree's root. Returns false on allocation failure. */
bool prt_packed_write(const prt_ml_site *site, const prt_forest *f, prt_packed_node *nodes,
    int64_t *roots);

typedef struct prt_packed_forest {
    const prt_packed_node *nodes;
    const prt_packed_vote *votes;
    const int64_t *roots;
    size_t n_nodes, n_votes, n_roots, features;
    prt_tree_sum sum;
    prt_tree_decision decision;
    const prt_tensor *x;
    prt_tensor *scores, *labels; /* NULL: not wanted */
    size_t rows, most;           /* most: rows of one call of prt_packed_run */
} prt_packed_forest;

/* Reads the forest of a PackedTrees. It borrows the tensors of `c`. */
poprt_status prt_packed_read(prt_eval *c, prt_packed_forest *f);

/* Computes the size, in doubles, of the scratch for `most` rows. Returns false on overflow. */
bool prt_packed_scratch_size(const prt_packed_forest *f, size_t *count);

/* Evaluates up to `most` rows from `first` on. `scratch` has the size that prt_packed_scratch_size
   computes. Returns false if the tensors are not a valid forest. */
bool prt_packed_run(const prt_packed_forest *f, size_t first, double *scratch);

/* Records the failure for an invalid forest. */
poprt_status prt_packed_fail(const prt_eval *c);

#endif
