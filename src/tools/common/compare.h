/* SPDX-License-Identifier: MIT */
/*
 * compare.h — compares a result with the expected value.
 *
 * Floats a (found) and b (expected) agree if |a - b| <= atol + rtol * |b|. Infinities agree with
 * equal infinities, NaN with NaN. Complex numbers are compared part by part. For types of low
 * precision the two tolerances are raised to the effect of one rounding: float16 to 1e-2 and 1e-3,
 * bfloat16 to 4e-2 and 1e-2, 8 bits and fewer to 0.13 and 0.02. Everything else must be equal:
 * types, shapes, integers, bools, strings, counts of sequences, keys of maps (in any order).
 */
#ifndef PRT_TOOLS_COMMON_COMPARE_H
#define PRT_TOOLS_COMMON_COMPARE_H

#include "tensor/tensor.h"

typedef struct prt_tolerance {
    double rtol, atol;
    bool by_share; /* true: the condition is |a - b| <= share * the largest |b|, for every type */
    double share;
} prt_tolerance;

/* Returns true if the values differ, and describes the difference with the largest error. */
bool prt_compare_differs(const prt_tensor *found, const prt_tensor *expected, prt_tolerance t,
    char *why, size_t size);

#endif
