/* SPDX-License-Identifier: MIT */
/* losses.c — losses of all candidates, accumulated over the numbers. */
#include "pass/precision/losses.h"

#include <math.h>

enum { PART = 512, MANY = 1 << 16, STEP = 16 };

static const double smoothing = 1e-3, alike = 1e-6, gain = 0.1;

static const char *const names[PRT_LOSS_COUNT] = { "mse", "mae", "snr", "kld", "cos_dist", "gptq" };

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

prt_fp8_code prt_fp8_candidate(uint32_t index)
{
    const uint32_t each = PRT_CANDIDATES / 2, k = index % each;
    const int32_t size = (int32_t)(k + 1) / 2;
    return (prt_fp8_code){ index < each ? PRT_DTYPE_f8e4m3fnuz : PRT_DTYPE_f8e5m2fnuz,
        k % 2 == 1 ? -size : size };
}

prt_fp8_code prt_search_code(const prt_search *s, uint32_t index)
{
    return index < PRT_CANDIDATES ? prt_fp8_candidate(index) : s->usual;
}

prt_search *prt_search_create(prt_arena *arena, prt_loss loss, prt_fp8_code usual)
{
    prt_search *s = PRT_NEW(arena, prt_search);
    if (s == NULL)
        return NULL;
    s->loss = loss;
    s->usual = usual;
    if (loss == PRT_LOSS_kld)
        s->counts = PRT_NEW_N(arena, double, 3 * (size_t)PRT_LOSS_BINS);
    return loss != PRT_LOSS_kld || s->counts != NULL ? s : NULL;
}

void prt_search_range(prt_search *s, const prt_tensor *t)
{
    for (size_t i = 0; i < prt_tensor_count(t); i++) {
        const double x = fabs(prt_load_f64(t->dtype, t->data, i));
        if (isfinite(x) && x > s->largest)
            s->largest = x;
    }
}

static void count(const prt_search *s, double x)
{
    const double at = fabs(x) / s->largest * PRT_LOSS_BINS;
    s->counts[at < PRT_LOSS_BINS ? (uint32_t)at : PRT_LOSS_BINS - 1]++;
}

/* Adds up to PART finite numbers for all candidates. */
static void add_part(prt_search *s, size_t n, const double *x)
{
    double q[PART];
    for (uint32_t k = 0; k < PRT_TRIED; k++) {
        prt_fp8_round(prt_search_code(s, k), n, x, q);
        prt_distance_add(&s->distance[k], n, x, q);
        for (size_t i = 0; s->loss != PRT_LOSS_kld && i < n; i += s->step) {
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
        if (s->counts != NULL && s->largest > 0)
            count(s, x[n]);
        if (++n == PART) {
            add_part(s, n, x);
            n = 0;
        }
    }
    add_part(s, n, x);
}

/* ---- kld */

/* Copies the histogram bins within the range of the code to `p`; adds the counts of the other bins
 * to the last one. Returns the number of bins. */
static uint32_t clip_bins(const prt_search *s, prt_fp8_code code, double *p)
{
    double largest;
    uint32_t n = 0;
    prt_fp8_round(code, 1, &(double){ HUGE_VAL }, &largest);
    while (n < PRT_LOSS_BINS && (n + 0.5) / PRT_LOSS_BINS * s->largest <= largest) {
        p[n] = s->counts[n];
        n++;
    }
    for (uint32_t i = n; n > 0 && i < PRT_LOSS_BINS; i++)
        p[n - 1] += s->counts[i];
    return n;
}

/* Bins that encode to the same byte share their counts equally, except for empty bins. */
static void share_bins(const prt_search *s, prt_fp8_code code, uint32_t n, double *q)
{
    for (uint32_t first = 0, next; first < n; first = next) {
        double byte, other, sum = 0, full = 0;
        const double width = s->largest / PRT_LOSS_BINS;
        prt_fp8_round(code, 1, &(double){ (first + 0.5) * width }, &byte);
        for (next = first; next < n; next++) {
            prt_fp8_round(code, 1, &(double){ (next + 0.5) * width }, &other);
            if (other > byte)
                break;
            sum += s->counts[next];
            full += s->counts[next] > 0;
        }
        for (uint32_t i = first; i < next; i++)
            q[i] = s->counts[i] > 0 ? sum / full : 0;
    }
}

static double divergence(const prt_search *s, uint32_t candidate)
{
    double *p = s->counts + PRT_LOSS_BINS, *q = p + PRT_LOSS_BINS;
    const prt_fp8_code code = prt_search_code(s, candidate);
    double sum = 0, of_p = 0, of_q = 0;
    if (!(s->largest > 0))
        return 0;
    const uint32_t n = clip_bins(s, code, p);
    if (n == 0)
        return HUGE_VAL;
    share_bins(s, code, n, q);
    for (uint32_t i = 0; i < n; i++) {
        of_p += p[i] + smoothing;
        of_q += q[i] + smoothing;
    }
    for (uint32_t i = 0; i < n; i++)
        sum += (p[i] + smoothing) / of_p *
            log((p[i] + smoothing) / of_p / ((q[i] + smoothing) / of_q));
    return sum > 0 ? sum : 0;
}

/* ---- choosing */

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

/* Returns whether the default code is kept. Candidates that are only slightly better than the
 * default do not predict the results of a whole model, so another code must be clearly better. */
static bool keeps_default(const prt_search *s, uint32_t best)
{
    const double margin = s->loss == PRT_LOSS_kld ? alike : 0;
    return prt_search_loss(s, PRT_USUAL) <= prt_search_loss(s, best) * (1 + gain) + margin;
}

/* Returns whether candidate `i` is better than `best`. */
static bool is_better(const prt_search *s, uint32_t i, uint32_t best)
{
    const double a = prt_search_loss(s, i), b = prt_search_loss(s, best);
    if (s->loss == PRT_LOSS_kld && fabs(a - b) < alike)
        return prt_distance_mse(&s->distance[i]) < prt_distance_mse(&s->distance[best]);
    return a < b;
}

uint32_t prt_search_best(const prt_search *s)
{
    const double most = prt_distance_mse(&s->distance[PRT_USUAL]);
    uint32_t best = PRT_USUAL;
    for (uint32_t i = 0; i < PRT_CANDIDATES; i++)
        if (prt_distance_mse(&s->distance[i]) <= most &&
            (best == PRT_USUAL || is_better(s, i, best)))
            best = i;
    return keeps_default(s, best) ? PRT_USUAL : best;
}
