/* SPDX-License-Identifier: MIT */
/* norm.h — gradients of normalisations that operators of several domains share. All rebuild the
 * operator from simpler ones. */
#ifndef PRT_TRAIN_NORM_H
#define PRT_TRAIN_NORM_H

#include "train/rule.h"

typedef struct prt_batch_norm_grad {
    bool training, unbiased; /* unbiased: of the variances that are outputs */
    double epsilon, momentum;
} prt_batch_norm_grad;

/* Inputs X, scale, bias, mean, variance; outputs Y, running mean and variance, and those of the
 * batch. */
poprt_status prt_grad_batch_norm_by(prt_grad *g, const prt_batch_norm_grad *n);

/* Inputs X, scale, bias; outputs Y, and mean and inverse deviation of each group as one vector. */
poprt_status prt_grad_group_norm_by(prt_grad *g, int64_t groups, double epsilon);

/* Inputs X, scale, bias; outputs Y, mean, inverse deviation. Normalises along the axes from `axis`
 * on; without `centred` the mean counts as 0. */
poprt_status prt_grad_layer_norm_by(prt_grad *g, int64_t axis, double epsilon, bool centred);

/* The parts: x less its mean and divided by its deviation along axes, and both. */
typedef struct prt_standardized {
    prt_value *y, *mean, *variance, *inverse;
} prt_standardized;

prt_standardized prt_grad_standardize(prt_grad *g, prt_value *x, uint32_t count,
    const int64_t *axes, double epsilon, bool centred);

/* v * scale + bias; both may be NULL, and have the element type of the result. */
prt_value *prt_grad_scaled(prt_grad *g, prt_value *v, prt_value *scale, prt_value *bias);

/* Sets axes to [first, rank); returns their number. */
uint32_t prt_grad_axes_from(int64_t first, int32_t rank, int64_t *axes);

/* Reshapes [C] to [C, 1, 1, ...], which broadcasts over [N, C, ...] of rank `rank`. */
prt_value *prt_grad_per_channel(prt_grad *g, prt_value *v, int32_t rank);

#endif
