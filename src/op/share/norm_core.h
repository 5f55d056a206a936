/* SPDX-License-Identifier: MIT */
/* norm_core.h — the statistics of a row that normalisations divide by. */
#ifndef PRT_OP_SHARE_NORM_CORE_H
#define PRT_OP_SHARE_NORM_CORE_H

#include "op/share/reals.h"

/* Subtracts the mean of `n` values; gives it and the population variance. */
double prt_norm_centre(double *x, size_t n, double *mean);

/* The mean of the squares of `n` values. */
double prt_norm_square(const double *x, size_t n);

#endif
