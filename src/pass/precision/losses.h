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
 *     kld       sum of P ln(P / Q) over 2048 bins between -max|x| and max|x|; P and Q are the
 *               shares of x and q in a bin, 1e-3 added to each count
 *     gptq      as mse; the rounding itself then takes the inputs into account (gptq.h)
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

enum { PRT_SCALE_LEAST = -10, PRT_SCALE_MOST = 10, PRT_CANDIDATES = 42, PRT_LOSS_BINS = 2048 };

prt_fp8_code prt_candidate(uint32_t index);

typedef struct prt_search {
    prt_loss loss;
    double largest;   /* max |x| */
    size_t step;      /* moments of q and of the noise are those of every so many numbers */
    double *x_counts; /* of kld: by bin; those of candidates follow */
    prt_moments x, q[PRT_CANDIDATES], noise[PRT_CANDIDATES];
    prt_distance distance[PRT_CANDIDATES];
} prt_search;

/* NULL (failure recorded) without memory. */
prt_search *prt_search_create(prt_arena *arena, prt_loss loss);

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
