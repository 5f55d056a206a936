/* SPDX-License-Identifier: MIT */
/* norm.h — normalisations that several operators are forms of. */
#ifndef PRT_OP_SHARE_NORM_H
#define PRT_OP_SHARE_NORM_H

#include "op/share/reals.h"

typedef struct prt_batch_norm {
    bool training; /* by the batch's own statistics, which are outputs then */
    bool unbiased; /* variances that are given out are scaled to be unbiased */
    double epsilon, momentum;
} prt_batch_norm;

/* Inputs X, scale, bias, mean, variance; output Y and, in training, running mean and variance and
 * the batch's. */
poprt_status prt_batch_norm_run(prt_eval *c, const prt_batch_norm *form);

/* Inputs X [N, C, …], scale, bias by channel; checks them against `groups`; output 0 like X. */
poprt_status prt_group_norm_infer(prt_infer *c, int64_t groups);

/* Output Y and, where an operator has them, the mean and 1 / standard deviation of each group. */
poprt_status prt_group_norm_run(prt_eval *c, size_t groups, double epsilon);

#endif
