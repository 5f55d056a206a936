/* SPDX-License-Identifier: MIT */
/*
 * compare.h — is a result what was expected?
 *
 * Floats a (found) and b (expected) agree when |a - b| <= atol + rtol * |b|; infinities and NaN
 * agree with themselves. Complex numbers are compared part by part. The two tolerances are raised
 * for narrow types to what one rounding of theirs may change: float16 to 1e-2 and 1e-3, bfloat16 to
 * 4e-2 and 1e-2, 8 bits and fewer to 0.13 and 0.02. Everything else is exact: types, shapes,
 * integers, bools, strings, counts of sequences, keys of maps (in any order).
 */
#ifndef PRT_TOOLS_COMMON_COMPARE_H
#define PRT_TOOLS_COMMON_COMPARE_H

#include "tensor/tensor.h"

typedef struct prt_tolerance {
    double rtol, atol;
    bool by_share; /* |a - b| <= share * the largest |b|, whatever the type */
    double share;
} prt_tolerance;

/* What differs, in words, with the largest error; false when they agree. */
bool prt_compare_differs(const prt_tensor *found, const prt_tensor *expected, prt_tolerance t,
    char *why, size_t size);

#endif
