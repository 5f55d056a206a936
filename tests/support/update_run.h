/* SPDX-License-Identifier: MIT */
/*
 * update_run.h — runs the updates that an optimizer gives one weight: the graph of its plan as a
 * program, whose results are the inputs of the next step.
 */
#ifndef PRT_TESTS_SUPPORT_UPDATE_RUN_H
#define PRT_TESTS_SUPPORT_UPDATE_RUN_H

#include "kern/kern.h"
#include "par/pool.h"
#include "train/optimizer_graph.h"

typedef struct update_run update_run;

/* The weight "w" has `n` elements of type `dtype`, first `weight`. `kern` NULL: reference
 * kernels. A failure fails the test. */
update_run *update_run_create(const prt_optimizer *o, int32_t dtype, size_t n,
    const prt_optimizer_context *context, const double *weight, const prt_kern *kern,
    const prt_par *par);
void update_run_release(update_run *r);

/* Runs one update with the values of `o`; `gradient` is what the accumulator holds. */
void update_run_step(update_run *r, const prt_optimizer *o, const double *gradient);

/* Return element i of the weight, of state k of the plan, and the plan. */
double update_run_weight(const update_run *r, size_t i);
double update_run_state(const update_run *r, uint32_t k, size_t i);
const prt_optimizer_plan *update_run_plan(const update_run *r);

/* Returns the level of that name, or NULL if the processor lacks it. */
const prt_kern *update_run_level(const char *name);

/* Returns an optimizer with settings "key=word" and values "key=number", separated by blanks; a
 * value that ends in '?' is not constant. */
prt_optimizer *optimizer_from_text(const char *kind, const char *text);

/* A context without accumulation, replicas and means. */
extern const prt_optimizer_context update_run_plain;

#endif
