/* SPDX-License-Identifier: MIT */
/* stats.h — moments and distances of numbers added in parts. Numbers that are not finite are
 * ignored. */
#ifndef PRT_PASS_PRECISION_STATS_H
#define PRT_PASS_PRECISION_STATS_H

#include <stddef.h>
#include <stdint.h>

typedef struct prt_moments {
    double n, sums[4]; /* sums of powers 1 to 4 of x - around */
    double around;     /* the first number, which keeps the sums small */
    double least, most;
} prt_moments;

void prt_moments_add(prt_moments *m, double x);
double prt_moments_mean(const prt_moments *m);
double prt_moments_variance(const prt_moments *m); /* population variance: divided by n */
/* Excess kurtosis and skewness are 0 for a normal distribution, and if the variance is 0. */
double prt_moments_skewness(const prt_moments *m);
double prt_moments_kurtosis(const prt_moments *m);

/* Accumulates numbers x and their rounded values q. */
typedef struct prt_distance {
    double n, xx, qq, xq, squares, sizes; /* sums; squares: of (x - q)^2, sizes: of |x - q| */
} prt_distance;

/* Adds pairs of finite numbers. */
void prt_distance_add(prt_distance *d, size_t count, const double *x, const double *q);
double prt_distance_mse(const prt_distance *d);
double prt_distance_mae(const prt_distance *d);
double prt_distance_snr(const prt_distance *d); /* noise / signal: 0 is best */
double prt_distance_cos(const prt_distance *d); /* 1 - cos; 0 for two zero vectors */

#endif
