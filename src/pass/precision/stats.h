/* SPDX-License-Identifier: MIT */
/* stats.h — moments and distances of numbers that come in parts. What is not finite is left out. */
#ifndef PRT_PASS_PRECISION_STATS_H
#define PRT_PASS_PRECISION_STATS_H

#include <stddef.h>
#include <stdint.h>

typedef struct prt_moments {
    double n, sums[4]; /* of powers 1 to 4, less `around` */
    double around;     /* the first number: sums stay small */
    double least, most;
} prt_moments;

void prt_moments_add(prt_moments *m, double x);
double prt_moments_mean(const prt_moments *m);
double prt_moments_variance(const prt_moments *m); /* of the whole: by n */
/* 0 for a normal distribution, and where there is no variance. */
double prt_moments_skewness(const prt_moments *m);
double prt_moments_kurtosis(const prt_moments *m);

/* Numbers x and what became of them, q. */
typedef struct prt_distance {
    double n, xx, qq, xq, squares, sizes; /* sums; the last two of (x - q)^2 and |x - q| */
} prt_distance;

/* Pairs of finite numbers. */
void prt_distance_add(prt_distance *d, size_t count, const double *x, const double *q);
double prt_distance_mse(const prt_distance *d);
double prt_distance_mae(const prt_distance *d);
double prt_distance_snr(const prt_distance *d); /* noise by signal: 0 is best */
double prt_distance_cos(const prt_distance *d); /* 1 - cos; of two zero vectors 0 */

#endif
