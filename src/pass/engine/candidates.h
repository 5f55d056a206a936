/* SPDX-License-Identifier: MIT */
/*
 * candidates.h — several ways to compute the same: what a pass offers to whoever can time them. A
 * way is one to three steps; each but the first takes the result of the one before as its input 0.
 */
#ifndef PRT_PASS_ENGINE_CANDIDATES_H
#define PRT_PASS_ENGINE_CANDIDATES_H

#include "op/op.h"

enum { PRT_WAY_STEPS = 3, PRT_WAY_INPUTS = 8, PRT_CANDIDATES_MAX = 4, PRT_CHOICE_KEY = 320 };

typedef struct prt_candidate_step {
    uint32_t op; /* prt_op_id; one output */
    const void *attrs;
    uint32_t n_in;
    prt_tensor in[PRT_WAY_INPUTS]; /* types without data; ABSENT: none */
} prt_candidate_step;

typedef struct prt_candidate {
    const char *name; /* without blanks */
    uint32_t n_steps;
    prt_candidate_step steps[PRT_WAY_STEPS];
} prt_candidate;

typedef struct prt_candidates {
    char key[PRT_CHOICE_KEY]; /* all that time depends on but for the machine; without blanks */
    prt_str label;            /* the node */
    uint32_t n_candidates;
    prt_candidate ways[PRT_CANDIDATES_MAX];
    uint32_t rule; /* the way that is taken where nobody times */
    bool close;    /* the rule is near its border here */
    double work;   /* multiplications of the plainest way */
} prt_candidates;

typedef struct prt_chooser {
    void *user;
    uint32_t (*choose)(void *user, const prt_candidates *c); /* index of a way */
} prt_chooser;

#endif
