/* SPDX-License-Identifier: MIT */
/* onnx_data.h — test data in ONNX's layout: running a graph on stored inputs by the reference
 * evaluator, and comparing with the stored outputs. */
#ifndef PRT_TESTS_SUPPORT_ONNX_DATA_H
#define PRT_TESTS_SUPPORT_ONNX_DATA_H

#include "ir/ir.h"
#include "support/onnx_case.h"

/* Runs the main graph on every test_data_set_K of a folder; false with the reason in `why`. `sets`
 * counts them. */
bool onnx_data_run(const prt_module *m, const char *folder, tolerance within, uint32_t *sets,
    char *why, size_t size);

/* Writes `what` and the last failure to `why`. */
void onnx_data_error(const char *what, char *why, size_t size);

#endif
