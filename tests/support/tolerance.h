/* SPDX-License-Identifier: MIT */
/*
 * tolerance.h — how far a result may be from the expected one: one table, by the way the result
 * is computed. The reference evaluator computes in double and rounds once, and so do the expected
 * values; where both sides are one rounding of almost the same double, they are at most one unit
 * in the last place of their own type apart.
 */
#ifndef PRT_TESTS_SUPPORT_TOLERANCE_H
#define PRT_TESTS_SUPPORT_TOLERANCE_H

#include "tensor/tensor.h"

/*
 * ulps    units in the last place of the result's type
 * ulps64  the same for f64, where both sides have only the precision of their intermediates
 * share   of the largest expected element, for sums in double whose terms cancel
 * mixed   of 1 + |expected|
 * steps   of integers
 */
typedef struct tolerance_class {
    const char *name;
    double ulps, ulps64, share, mixed;
    int64_t steps;
} tolerance_class;

/* Sets `found` to the class of a name ("exact", "round" …), or to the class of a positive number,
 * which is its `mixed`. Returns false for other words. */
bool prt_tolerance_find(prt_str name, tolerance_class *found);

/* Returns whether `got` equals `want` within the class: kind, element type, shape and every
 * element. On false the first difference is in `why`. */
bool prt_tolerance_equal(const tolerance_class *by, const prt_tensor *got, const prt_tensor *want,
    char *why, size_t size);

#endif
