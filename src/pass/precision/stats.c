/* SPDX-License-Identifier: MIT */
/* stats.c — moments from sums of powers, distances from sums of products. */
#include "pass/precision/stats.h"

#include <math.h>

void prt_moments_add(prt_moments *m, double x)
{
    if (!isfinite(x))
        return;
    if (m->n == 0)
        m->around = m->least = m->most = x;
    m->n++;
    m->least = x < m->least ? x : m->least;
    m->most = x > m->most ? x : m->most;
    const double d = x - m->around;
    double power = 1;
    for (int i = 0; i < 4; i++)
        m->sums[i] += power *= d;
}

double prt_moments_mean(const prt_moments *m)
{
    return m->n != 0 ? m->around + m->sums[0] / m->n : 0;
}

double prt_moments_variance(const prt_moments *m)
{
    if (m->n == 0)
        return 0;
    const double mean = m->sums[0] / m->n, v = m->sums[1] / m->n - mean * mean;
    return v > 0 ? v : 0;
}

double prt_moments_skewness(const prt_moments *m)
{
    const double v = prt_moments_variance(m);
    if (v == 0)
        return 0;
    const double a = m->sums[0] / m->n,
                 third = m->sums[2] / m->n - 3 * a * m->sums[1] / m->n + 2 * a * a * a;
    return third / (v * sqrt(v));
}

double prt_moments_kurtosis(const prt_moments *m)
{
    const double v = prt_moments_variance(m);
    if (v == 0)
        return 0;
    const double a = m->sums[0] / m->n;
    const double fourth = m->sums[3] / m->n - 4 * a * m->sums[2] / m->n +
        6 * a * a * m->sums[1] / m->n - 3 * a * a * a * a;
    return fourth / (v * v) - 3;
}

void prt_distance_add(prt_distance *d, size_t count, const double *x, const double *q)
{
    double xx = 0, qq = 0, xq = 0, squares = 0, sizes = 0;
    for (size_t i = 0; i < count; i++) {
        const double e = x[i] - q[i];
        xx += x[i] * x[i];
        qq += q[i] * q[i];
        xq += x[i] * q[i];
        squares += e * e;
        sizes += fabs(e);
    }
    d->n += (double)count;
    d->xx += xx;
    d->qq += qq;
    d->xq += xq;
    d->squares += squares;
    d->sizes += sizes;
}

double prt_distance_mse(const prt_distance *d)
{
    return d->n != 0 ? d->squares / d->n : 0;
}

double prt_distance_mae(const prt_distance *d)
{
    return d->n != 0 ? d->sizes / d->n : 0;
}

double prt_distance_snr(const prt_distance *d)
{
    if (d->squares == 0)
        return 0;
    return d->xx != 0 ? d->squares / d->xx : HUGE_VAL;
}

double prt_distance_cos(const prt_distance *d)
{
    if (d->squares == 0)
        return 0;
    if (d->xx == 0 || d->qq == 0)
        return 1;
    const double c = 1 - d->xq / (sqrt(d->xx) * sqrt(d->qq));
    return c > 0 ? c : 0;
}
