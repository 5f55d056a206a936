/* SPDX-License-Identifier: MIT */
/*
 * losses.h — which format and scale suit numbers best: every pair of F143, F152 and -10 … 10 is
 * tried on all of them, and the one with the least loss is taken. Of equals the first in the order
 * of the candidates: F143 before F152, then the scale nearer to 0, then the negative one.
 *
 * x are the numbers, q what their bytes stand for:
 *     mse       mean of (x - q)^2
 *     mae       mean of |x - q|
 *     snr       sum of (x - q)^2 by sum of x^2
 *     cos_dist  1 - x·q / (|x| |q|)
 *     kld       sum of P ln(P / Q) over 2048 bins between 0 and max|x|, as in TensorRT's entropy
 *               calibration. P are the shares of |x| in a bin, with those beyond the largest number
 *               of the format in the last bin below it. Q gives every bin that has numbers the mean
 *               share of such bins with the same byte, those beyond left out. 1e-3 is added to
 *               every count. Of pairs that differ by less than 1e-6, which bins cannot tell apart,
 *               the one with the smaller mean of (x - q)^2 is taken.
 *     gptq      as mse; the rounding itself then takes the inputs into account (gptq.h)
 *
 * Whatever the loss, a pair whose mean of (x - q)^2 is larger than that of the usual one, which is
 * in use without calibration, is not taken; and the usual one stays where its loss is within a
 * tenth of the least. Scales are powers of two: numbers between the ends of the range are rounded
 * alike with all of them, so small differences say nothing about the results of a model.
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
    PRT_USUAL = PRT_CANDIDATES, /* index of the format and scale without calibration */
    PRT_TRIED,
    PRT_LOSS_BINS = 2048
};

prt_fp8_code prt_fp8_candidate(uint32_t index);

typedef struct prt_search {
    prt_loss loss;
    prt_fp8_code usual;
    double largest; /* max |x| */
    size_t step;    /* moments of q and of the noise are those of every so many numbers */
    double *counts; /* of kld: |x| by bin, and room for as many twice; NULL for others */
    prt_moments x, q[PRT_TRIED], noise[PRT_TRIED];
    prt_distance distance[PRT_TRIED];
} prt_search;

/* `usual` is what the numbers are encoded with otherwise. NULL (failure recorded) without memory.
 */
prt_search *prt_search_create(prt_arena *arena, prt_loss loss, prt_fp8_code usual);

/* The format and scale at an index: a candidate, or the usual one. */
prt_fp8_code prt_search_code(const prt_search *s, uint32_t index);

/* kld needs to see all numbers once before any is added. */
static inline bool prt_search_needs_range(const prt_search *s)
{
    return s->loss == PRT_LOSS_kld;
}
/* Of more than 65536 numbers at once, every 16th goes into the moments of what became of them. */
void prt_search_range(prt_search *s, const prt_tensor *t);
void prt_search_add(prt_search *s, const prt_tensor *t);

double prt_search_loss(const prt_search *s, uint32_t candidate);
uint32_t prt_search_best(const prt_search *s);

#endif
