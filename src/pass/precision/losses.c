/* SPDX-License-Identifier: MIT */
/* losses.c — losses of all candidates, number by number. */
#include "pass/precision/losses.h"

#include <math.h>

enum { PART = 512, MANY = 1 << 16, STEP = 16 };

static const double smoothing = 1e-3;

static const char *const names[PRT_LOSS_COUNT] = { "mse", "mae", "snr", "kld", "cos_dist",
    "gptq" };

const char *prt_loss_name(prt_loss loss)
{
    return names[loss];
}

bool prt_loss_find(const char *name, prt_loss *out)
{
    for (uint32_t i = 0; i < PRT_LOSS_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (prt_loss)i;
            return true;
        }
    return false;
}

prt_fp8_code prt_candidate(uint32_t index)
{
    const uint32_t each = PRT_CANDIDATES / 2, k = index % each;
    const int32_t size = (int32_t)(k + 1) / 2;
    return (prt_fp8_code){ index < each ? PRT_DTYPE_f8e4m3fnuz : PRT_DTYPE_f8e5m2fnuz,
        k % 2 == 1 ? -size : size };
}

prt_search *prt_search_create(prt_arena *arena, prt_loss loss)
{
    prt_search *s = PRT_NEW(arena, prt_search);
    if (s == NULL)
        return NULL;
    s->loss = loss;
    if (loss == PRT_LOSS_kld)
        s->x_counts = PRT_NEW_N(arena, double, (PRT_CANDIDATES + 1) * (size_t)PRT_LOSS_BINS);
    return loss != PRT_LOSS_kld || s->x_counts != NULL ? s : NULL;
}

void prt_search_range(prt_search *s, const prt_tensor *t)
{
    for (size_t i = 0; i < prt_tensor_count(t); i++) {
        const double x = fabs(prt_load_f64(t->dtype, t->data, i));
        if (isfinite(x) && x > s->largest)
            s->largest = x;
    }
}

static void count(double *counts, double largest, double x)
{
    const double at = (x / largest + 1) * (PRT_LOSS_BINS / 2);
    const int32_t bin = at > 0 ? at < PRT_LOSS_BINS ? (int32_t)at : PRT_LOSS_BINS - 1 : 0;
    counts[bin]++;
}

/* Up to PART finite numbers, and what all candidates make of them. */
static void add_part(prt_search *s, size_t n, const double *x)
{
    double q[PART];
    for (uint32_t k = 0; k < PRT_CANDIDATES; k++) {
        double *counts =
            s->x_counts != NULL ? s->x_counts + (k + 1) * (size_t)PRT_LOSS_BINS : NULL;
        prt_fp8_round(prt_candidate(k), n, x, q);
        prt_distance_add(&s->distance[k], n, x, q);
        for (size_t i = 0; counts != NULL && s->largest > 0 && i < n; i++)
            count(counts, s->largest, q[i]);
        for (size_t i = 0; counts == NULL && i < n; i += s->step) {
            prt_moments_add(&s->q[k], q[i]);
            prt_moments_add(&s->noise[k], x[i] - q[i]);
        }
    }
}

void prt_search_add(prt_search *s, const prt_tensor *t)
{
    const size_t all = prt_tensor_count(t);
    double x[PART];
    size_t n = 0;
    s->step = all > MANY ? STEP : 1;
    for (size_t i = 0; i < all; i++) {
        x[n] = prt_load_f64(t->dtype, t->data, i);
        if (!isfinite(x[n]))
            continue;
        prt_moments_add(&s->x, x[n]);
        if (s->x_counts != NULL && s->largest > 0)
            count(s->x_counts, s->largest, x[n]);
        if (++n == PART) {
            add_part(s, n, x);
            n = 0;
        }
    }
    add_part(s, n, x);
}

static double divergence(const prt_search *s, uint32_t candidate)
{
    const double *p = s->x_counts, *q = p + (candidate + 1) * (size_t)PRT_LOSS_BINS;
    const double all = s->x.n + PRT_LOSS_BINS * smoothing;
    double sum = 0;
    if (!(s->largest > 0))
        return 0;
    for (uint32_t i = 0; i < PRT_LOSS_BINS; i++)
        sum += (p[i] + smoothing) / all * log((p[i] + smoothing) / (q[i] + smoothing));
    return sum;
}

double prt_search_loss(const prt_search *s, uint32_t candidate)
{
    const prt_distance *d = &s->distance[candidate];
    switch (s->loss) {
    case PRT_LOSS_mae:
        return prt_distance_mae(d);
    case PRT_LOSS_snr:
        return prt_distance_snr(d);
    case PRT_LOSS_kld:
        return divergence(s, candidate);
    case PRT_LOSS_cos_dist:
        return prt_distance_cos(d);
    default:
        return prt_distance_mse(d);
    }
}

uint32_t prt_search_best(const prt_search *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < PRT_CANDIDATES; i++)
        if (prt_search_loss(s, i) < prt_search_loss(s, best))
            best = i;
    return best;
}
