/* SPDX-License-Identifier: MIT */
/* matmul.h — one product with whole operands: rows of A, one matrix B on the right. */
#ifndef PRT_FAST_GEMM_MATMUL_H
#define PRT_FAST_GEMM_MATMUL_H

#include "fast/fast.h"

typedef struct prt_linear {
    const prt_kern *kern;
    size_t m, n, k, pieces; /* pieces: set where the work is cut, as is `near` */
    const float *a, *b;
    bool turned;   /* columns of B lie side by side */
    bool packed;   /* B is panels, see kern/gemm/gemm.h */
    bool in_order; /* not by Strassen's algorithm */
    bool near;     /* as prt_eval has it */
    int narrow;    /* of elements of this kind, at `panels`; else PRT_NARROW_COUNT */
    const void *panels;
    prt_low_precision_scales by;
    const float *sums; /* of A by those blocks, set where there are offsets */
    const float *bias, *residual;
    float *y;
    prt_act act;
} prt_linear;

/* Few rows of A: B is read once as it lies, and not packed. Widening B by panels, where it is
 * narrow, pays after PRT_LINEAR_NARROW. */
enum { PRT_LINEAR_FEW = 4, PRT_LINEAR_NARROW = 32 };

/* By the way that fits the rows; sets what is set where the work is cut. */
poprt_status prt_linear_run(prt_eval *c, prt_linear *f);

/* Products as matmul pairs them; with `turned`, the last two dims of b are so already. */
poprt_status prt_matmul_run(prt_eval *c, const prt_kern *k, const prt_tensor *a,
    const prt_tensor *b, bool turned, bool *done);

/* With A rounded to bfloat16 on the way. */
poprt_status prt_linear_rounded(prt_eval *c, const prt_linear *f);

/* With A rounded to bytes by blocks; of panels of 4 bits with blocks. */
poprt_status prt_linear_blocks(prt_eval *c, const prt_linear *f);

#endif
