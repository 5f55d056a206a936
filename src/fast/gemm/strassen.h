/* SPDX-License-Identifier: MIT */
/*
 * strassen.h — products of matrices by Strassen's algorithm, one level of it: 7 products of half
 * the size each way where there were 8.
 *
 * Errors: an element of C is as exact as the largest of its row and of one other row of A, its
 * column and one other of B let it be, a few times what a plain product of such has. Rows of A that
 * are not finite do not reach others; a column of B that is not makes that other one NaN, too.
 */
#ifndef PRT_FAST_GEMM_STRASSEN_H
#define PRT_FAST_GEMM_STRASSEN_H

#include "fast/fast.h"

/* C = end(A B), in batches of m rows that know nothing of each other. */
typedef struct prt_strassen {
    const prt_kern *kern;
    size_t batches, m, n, k;
    const float *a;
    size_t lda;
    const float *b; /* all panels */
    float *c;
    size_t ldc;
    prt_gemm_end end; /* pointers to row 0, column 0; no row bias */
} prt_strassen;

/* Sums cost less than the product that they save. */
bool prt_strassen_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k);

poprt_status prt_strassen_run(prt_eval *c, const prt_strassen *s);

#endif
