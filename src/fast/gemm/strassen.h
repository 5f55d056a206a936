/* SPDX-License-Identifier: MIT */
/*
 * strassen.h — matrix products by one level of Strassen's algorithm: 7 products of half the size in
 * each dimension instead of 8.
 *
 * Errors: an element of C is as exact as the largest element of its row and one other row of A, and
 * of its column and one other column of B, allows; that is a few times the error of a plain product
 * of these. Rows of A that are not finite do not affect other rows. A column of B that is not
 * finite makes the other column NaN, too.
 */
#ifndef PRT_FAST_GEMM_STRASSEN_H
#define PRT_FAST_GEMM_STRASSEN_H

#include "fast/fast.h"

/* C = end(A B), in independent batches of m rows. */
typedef struct prt_strassen {
    const prt_kern *kern;
    size_t batches, m, n, k;
    const float *a;
    size_t lda;
    const float *b; /* all panels */
    float *c;
    size_t ldc;
    prt_gemm_end end; /* pointers to row 0, column 0; without a row bias */
} prt_strassen;

/* Returns whether the saved product takes longer than the additions. */
bool prt_strassen_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k);

/* Fails if memory is refused or the host cancels. */
poprt_status prt_strassen_run(prt_eval *c, const prt_strassen *s);

#endif
