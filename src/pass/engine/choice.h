/* SPDX-License-Identifier: MIT */
/*
 * choice.h — several ways to compute the same: what a pass offers to whoever can time them. A way
 * is one to three steps; each but the first takes the result of the one before as its input 0.
 */
#ifndef PRT_PASS_ENGINE_CHOICE_H
#define PRT_PASS_ENGINE_CHOICE_H

#include "op/op.h"

enum { PRT_WAY_STEPS = 3, PRT_WAY_INPUTS = 8, PRT_CHOICE_WAYS = 4, PRT_CHOICE_KEY = 320 };

typedef struct prt_way_step {
    uint32_t op; /* prt_op_id; one output */
    const void *attrs;
    uint32_t n_in;
    prt_tensor in[PRT_WAY_INPUTS]; /* types without data; ABSENT: none */
} prt_way_step;

typedef struct prt_way {
    const char *name; /* without blanks */
    uint32_t n_steps;
    prt_way_step steps[PRT_WAY_STEPS];
} prt_way;

typedef struct prt_choice {
    char key[PRT_CHOICE_KEY]; /* all that time depends on but for the machine; without blanks */
    prt_str label;            /* the node */
    uint32_t n_ways;
    prt_way ways[PRT_CHOICE_WAYS];
    uint32_t rule; /* the way that is taken where nobody times */
    bool close;    /* the rule is near its border here */
    double work;   /* multiplications of the plainest way */
} prt_choice;

typedef struct prt_chooser {
    void *user;
    uint32_t (*choose)(void *user, const prt_choice *c); /* index of a way */
} prt_chooser;

#endif
