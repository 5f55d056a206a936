/* SPDX-License-Identifier: MIT */
/*
 * losses.h — search for the format and scale that suit numbers best. Every pair of a format (F143,
 * F152) and a scale (-10 ... 10) is tried on all numbers; the pair with the least loss wins. Of
 * equal losses the first candidate wins: F143 before F152, then the scale nearer to 0, then the
 * negative one.
 *
 * x are the numbers, q the decoded numbers:
 *
 *     mse       mean of (x - q)^2
 *     mae       mean of |x - q|
 *     snr       sum of (x - q)^2 / sum of x^2
 *     cos_dist  1 - x·q / (|x| |q|)
 *     kld       Kullback-Leibler divergence: sum of P ln(P / Q) over 2048 bins from 0 to max|x|,
 *               as in TensorRT's entropy calibration. P is the share of |x| in a bin; numbers
 *               beyond the largest number of the format count in the last bin below it. Q gives
 *               every non-empty bin the mean share of the non-empty bins with the same byte; bins
 *               beyond the range are excluded. 1e-3 is added to every count. If losses differ by
 *               less than 1e-6, which the bins cannot resolve, the smaller mean of (x - q)^2 wins.
 *     gptq      as mse; the rounding itself then considers the inputs (gptq.h)
 *
 * For every loss, a pair with a larger mean of (x - q)^2 than the default pair is rejected, and the
 * default pair stays if its loss is within a tenth of the least. Scales are powers of two, so
 * numbers inside the range round alike with all of them; small differences do not predict the
 * results of a model.
 */
#ifndef PRT_PASS_PRECISION_LOSSES_H
#define PRT_PASS_PRECISION_LOSSES_H

#include "pass/precision/fp8.h"
#include "pass/precision/stats.h"

typedef enum prt_loss {
    PRT_LOSS_mse,
    PRT_LOSS_mae,
    PRT_LOSS_snr,
    PRT_LOSS_kld,
    PRT_LOSS_cos_dist,
    PRT_LOSS_gptq,
    PRT_LOSS_COUNT
} prt_loss;

const char *prt_loss_name(prt_loss loss);
bool prt_loss_find(const char *name, prt_loss *out);

enum {
    PRT_SCALE_LEAST = -10,
    PRT_SCALE_MOST = 10,
    PRT_CANDIDATES = 42,
    PRT_USUAL = PRT_CANDIDATES, /* index of the default format and scale */
    PRT_TRIED,
    PRT_LOSS_BINS = 2048
};

prt_fp8_code prt_fp8_candidate(uint32_t index);

typedef struct prt_search {
    prt_loss loss;
    prt_fp8_code usual;
    double largest; /* max |x| */
    size_t step;    /* only every step-th number enters the moments of q and noise */
    /* kld only: |x| by bin, and two work arrays of the same size; else NULL */
    double *counts;
    prt_moments x, q[PRT_TRIED], noise[PRT_TRIED];
    prt_distance distance[PRT_TRIED];
} prt_search;

/* `usual` is the code used without calibration. Returns NULL, with the failure recorded, if memory
 * is short. */
prt_search *prt_search_create(prt_arena *arena, prt_loss loss, prt_fp8_code usual);

/* Returns the code at an index: a candidate or the default. */
prt_fp8_code prt_search_code(const prt_search *s, uint32_t index);

/* Returns whether prt_search_range must see all numbers before any is added (kld). */
static inline bool prt_search_needs_range(const prt_search *s)
{
    return s->loss == PRT_LOSS_kld;
}
/* prt_search_add samples every 16th number for the moments of q and noise if a tensor has more than
 * 65536. */
void prt_search_range(prt_search *s, const prt_tensor *t);
void prt_search_add(prt_search *s, const prt_tensor *t);

double prt_search_loss(const prt_search *s, uint32_t candidate);
uint32_t prt_search_best(const prt_search *s);

#endif
