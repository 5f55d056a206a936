/* SPDX-License-Identifier: MIT */
/* attend.h — what attention does with a row of scores, and with a cache of keys and values. */
#ifndef PRT_KERN_ROWS_ATTEND_H
#define PRT_KERN_ROWS_ATTEND_H

#include <stddef.h>

typedef struct prt_kern_attend {
    /* x = exp(x - the largest x); gives 1 / their sum. What is NaN, or infinite throughout, makes
     * all of it NaN. */
    float (*weigh)(size_t n, float *x);
    /* y = x, which is not read again soon: caches keep what they have. */
    void (*put_away)(size_t n, const float *x, float *y);
} prt_kern_attend;

#endif
