/* SPDX-License-Identifier: MIT */
/* norm_core.h — statistics of a row for normalisations. */
#ifndef PRT_OP_SHARE_NORM_CORE_H
#define PRT_OP_SHARE_NORM_CORE_H

#include "op/share/reals.h"

/* Subtracts the mean from `n` values and stores it in `*mean`. Returns the population variance. */
double prt_norm_centre(double *x, size_t n, double *mean);

/* Returns the mean of the squares of `n` values. */
double prt_norm_square(const double *x, size_t n);

#endif
