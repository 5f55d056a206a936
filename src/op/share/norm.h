/* SPDX-License-Identifier: MIT */
/* norm.h — normalisations shared by several operators. */
#ifndef PRT_OP_SHARE_NORM_H
#define PRT_OP_SHARE_NORM_H

#include "op/share/reals.h"

typedef struct prt_batch_norm {
    bool training; /* normalise by the statistics of the batch, which are outputs too */
    bool unbiased; /* scale the variance outputs to be unbiased */
    double epsilon, momentum;
} prt_batch_norm;

/* Runs BatchNormalization: inputs X, scale, bias, mean, variance; output Y and, in training, the
 * running mean and variance and the batch's own. */
poprt_status prt_batch_norm_run(prt_eval *c, const prt_batch_norm *params);

/* Checks inputs X [N, C, …], scale and bias (per channel) against `groups`. Output 0 is like X. */
poprt_status prt_group_norm_infer(prt_infer *c, int64_t groups);

/* Writes output Y and, if the operator has them, the mean and 1 / standard deviation of each
 * group. */
poprt_status prt_group_norm_run(prt_eval *c, size_t groups, double epsilon);

#endif
