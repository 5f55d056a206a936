/* SPDX-License-Identifier: MIT */
/* attend.h — attention kernels: softmax of a row of scores, and writing of a key/value cache. */
#ifndef PRT_KERN_ROWS_ATTEND_H
#define PRT_KERN_ROWS_ATTEND_H

#include <stddef.h>

typedef struct prt_kern_attend {
    /* x = exp(x - max(x)); returns 1 / the sum of the results. If an element is NaN, or all are
     * infinite, all results are NaN. */
    float (*unscaled_softmax)(size_t n, float *x);
    /* y = x with non-temporal stores: y is not read soon, so it does not displace data in the
     * caches. */
    void (*copy_nontemporal)(size_t n, const float *x, float *y);
} prt_kern_attend;

#endif
