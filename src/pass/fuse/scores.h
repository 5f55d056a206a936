/* SPDX-License-Identifier: MIT */
/* scores.h — matches the operators between the product of queries and keys and the Softmax. */
#ifndef PRT_PASS_FUSE_SCORES_H
#define PRT_PASS_FUSE_SCORES_H

#include "pass/fuse/view.h"

enum { PRT_SCORES_BIAS, PRT_SCORES_MASK, PRT_SCORES_KEEP, PRT_SCORES_VIEWS };

typedef struct prt_scores {
    prt_op *product; /* MatMul of queries and keys */
    double scale;
    /* Up to two added masks (bias, mask) and a condition (keep), as views of rank 4: images, heads,
     * queries, keys. `value` is NULL for an absent one. */
    prt_view views[PRT_SCORES_VIEWS];
    double fill;  /* value of scores that `keep` hides */
    double least; /* lower bound of the scores; -inf: no bound */
    bool inverted, causal;
} prt_scores;

/* Matches softmax(max(scale * product + masks, least)) along the keys, where every value on the way
 * has one reader. */
bool prt_scores_match(const prt_op *softmax, prt_scores *out);

/* Reads the constant factor of a Mul or Div and the slot of its other input. */
bool prt_scores_factor(const prt_op *op, double *by, uint32_t *slot);

#endif
