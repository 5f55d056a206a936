/* SPDX-License-Identifier: MIT */
/* scores.h — what stands between the product of queries and keys and the Softmax. */
#ifndef PRT_PASS_FUSE_SCORES_H
#define PRT_PASS_FUSE_SCORES_H

#include "pass/fuse/view.h"

enum { PRT_SCORES_BIAS, PRT_SCORES_MASK, PRT_SCORES_KEEP, PRT_SCORES_VIEWS };

typedef struct prt_scores {
    prt_op *product; /* MatMul of queries and keys */
    double scale;
    /* What is added, twice at most, and what is asked: by images, heads, queries and keys. The
     * value is NULL where there is none. */
    prt_view views[PRT_SCORES_VIEWS];
    double fill;  /* in place of scores that `keep` does not keep */
    double least; /* no score is below this in the end; -inf: any may be */
    bool inverted, causal;
} prt_scores;

/* softmax(max(scale * product + masks, least)) along the keys, read by nobody else on the way. */
bool prt_scores_match(const prt_op *softmax, prt_scores *out);

/* The factor of Mul and Div, and the input that it is for. */
bool prt_scores_factor(const prt_op *op, double *by, uint32_t *slot);

#endif
