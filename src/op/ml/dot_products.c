/* SPDX-License-Identifier: MIT */
/* dot_products.c — dot products and squared distances of a row of features with rows of weights.
   Four independent sums hide the latency of the additions. */
#include "op/ml/ml.h"

enum { SUMS = 4 };

/* Defines a function that sums `term` of feature p and weight q. */
#define PRODUCTS(name, term)                                                                       \
    void name(size_t n, size_t count, const double *x, const float *v, double *to)                 \
    {                                                                                              \
        size_t k = 0;                                                                              \
        for (; k + SUMS <= count; k += SUMS, v += SUMS * n) {                                      \
            double sum[SUMS] = { 0 };                                                              \
            for (size_t i = 0; i < n; i++) {                                                       \
                const double p = x[i];                                                             \
                for (size_t s = 0; s < SUMS; s++) {                                                \
                    const double q = (double)v[s * n + i];                                         \
                    sum[s] += (term);                                                              \
                }                                                                                  \
            }                                                                                      \
            memcpy(to + k, sum, sizeof(sum));                                                      \
        }                                                                                          \
        for (; k < count; k++, v += n) {                                                           \
            double sum[SUMS] = { 0 };                                                              \
            for (size_t i = 0; i < n; i += SUMS)                                                   \
                for (size_t s = 0; s < SUMS && i + s < n; s++) {                                   \
                    const double p = x[i + s], q = (double)v[i + s];                               \
                    sum[s] += (term);                                                              \
                }                                                                                  \
            to[k] = sum[0] + sum[1] + (sum[2] + sum[3]);                                           \
        }                                                                                          \
    }

PRODUCTS(prt_ml_dots, p *q)
PRODUCTS(prt_ml_distances, (p - q) * (p - q))
