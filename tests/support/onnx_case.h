/* SPDX-License-Identifier: MIT */
/* onnx_case.h — comparing run-time values, for tests that have expected outputs. */
#ifndef PRT_TESTS_SUPPORT_ONNX_CASE_H
#define PRT_TESTS_SUPPORT_ONNX_CASE_H

#include "tensor/tensor.h"

typedef struct tolerance {
    double rtol, atol;
} tolerance;

/* Returns whether `got` equals `want` within the tolerance of floats (wider for types narrower
 * than f32). All other types are compared exactly, and NaN equals NaN. On false the reason is in
 * `why`. */
bool values_equal(const prt_tensor *got, const prt_tensor *want, tolerance within, char *why,
    size_t size);

#endif
