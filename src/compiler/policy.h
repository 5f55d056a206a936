/* SPDX-License-Identifier: MIT */
/*
 * policy.h — which algorithms and number types the passes for compiling may choose, as the options
 * of compiling and the processor's kernels decide it.
 */
#ifndef PRT_COMPILER_POLICY_H
#define PRT_COMPILER_POLICY_H

#include "kern/kern.h"
#include "pass/engine/choices.h"
#include "pass/engine/manager.h"

typedef struct prt_policy {
    prt_tiles tiles;
    int64_t winograd_growth; /* percent by which transformed weights may enlarge all weights */
    prt_products products;
    prt_weight_type weights;
    prt_compute compute;
    bool exact_half; /* every result of half precision is rounded to the type in the model */
} prt_policy;

/* The options of compiling. The words are those of the options of the same names. */
typedef struct prt_policy_options {
    const char *winograd, *weights, *compute;
    int64_t winograd_growth;
    bool exact_half;
    bool bf16x3; /* float32 products may run in bf16x3 where the kernels have it */
} prt_policy_options;

/* Chooses the policy for a level of kernels; `kern` is NULL for the reference kernels. Fails with
 * POPRT_E_ARG where the storage type does not go with the arithmetic. */
poprt_status prt_policy_choose(const prt_policy_options *options, const prt_kern *kern,
    prt_policy *out);

/* Sets the options of the passes in the list. */
poprt_status prt_policy_apply(const prt_policy *policy, prt_pass_manager *manager);

#endif
