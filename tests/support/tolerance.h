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

/* Finds a class by name ("exact", "round" …); false if it does not exist. */
bool prt_tolerance_find(prt_str name, uint32_t *index);

/* Returns whether `got` equals `want` within the class: kind, element type, shape and every
 * element. On false the first difference is in `why`. */
bool prt_tolerance_equal(uint32_t index, const prt_tensor *got, const prt_tensor *want, char *why,
    size_t size);

#endif
