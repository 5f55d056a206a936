/* SPDX-License-Identifier: MIT */
/*
 * candidates.h — alternative implementations of the same computation, which a pass offers to an
 * autotuner. A candidate has one to three steps; each step but the first takes the result of the
 * previous step as its input 0.
 */
#ifndef PRT_PASS_ENGINE_CANDIDATES_H
#define PRT_PASS_ENGINE_CANDIDATES_H

#include "op/op.h"

enum {
    PRT_CANDIDATE_STEPS = 3,  /* most steps of a candidate */
    PRT_CANDIDATE_INPUTS = 8, /* most inputs of a step */
    PRT_CANDIDATES_MAX = 6,   /* most candidates of a choice: the algorithms of a convolution */
    PRT_CANDIDATES_KEY = 320  /* bytes of a key */
};

typedef struct prt_candidate_step {
    uint32_t op; /* prt_op_id; one output */
    const void *attrs;
    uint32_t n_in;
    prt_tensor in[PRT_CANDIDATE_INPUTS]; /* types without data; ABSENT: no input */
} prt_candidate_step;

typedef struct prt_candidate {
    const char *name; /* without blanks */
    uint32_t n_steps;
    prt_candidate_step steps[PRT_CANDIDATE_STEPS];
} prt_candidate;

typedef struct prt_candidates {
    /* Identifies the case by all that affects its time except the machine; without blanks. */
    char key[PRT_CANDIDATES_KEY];
    prt_str label; /* the node */
    uint32_t n_candidates;
    prt_candidate list[PRT_CANDIDATES_MAX];
    uint32_t rule; /* index of the candidate that is used without an autotuner */
    bool close;    /* the rule is close to its threshold for this case */
    double work;   /* multiplications of the simplest candidate */
} prt_candidates;

typedef struct prt_chooser {
    void *user;
    uint32_t (*choose)(void *user, const prt_candidates *c); /* returns an index into list */
} prt_chooser;

#endif
