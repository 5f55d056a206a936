/* SPDX-License-Identifier: MIT */
/* noise.h — how far results move when the values behind them are rounded once more. */
#ifndef PRT_TESTS_FUZZ_NOISE_H
#define PRT_TESTS_FUZZ_NOISE_H

#include "ir/ir.h"

/*
 * Moves every real number in the module by a share of up to 4 units, in a way that `seed` chooses.
 * The unit is `unit` or the unit roundoff of the value's type, whichever is larger. Multiples of
 * 1/4 up to 64 stay, because every type holds them exactly, and so do infinities and NaN. Values
 * that an op moves without computing stay. Inputs and constants move where `unit` is larger than
 * the unit roundoff of float32.
 */
poprt_status fuzz_add_noise(prt_module *module, double unit, uint64_t seed);

/* The largest difference of two tensors as a share of the largest element of `b`. Infinite where
 * shapes differ, where elements without a number do, or where only one of two is finite. */
double fuzz_distance(const prt_tensor *a, const prt_tensor *b);

#endif
