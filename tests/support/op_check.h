/* SPDX-License-Identifier: MIT */
/*
 * op_check.h — operators tested through IR text, to the bit (op_text.h answers in text): graphs of
 * constants are run by the reference evaluator, graphs with inputs are only inferred.
 */
#ifndef PRT_TESTS_SUPPORT_OP_CHECK_H
#define PRT_TESTS_SUPPORT_OP_CHECK_H

#include "ir/ir.h"

/* The only output of a graph without inputs equals `want` ("f32[2] {1,nan}") to the bit; all
 * NaNs are equal. */
void ck_result(const char *graph, const char *want);

/* The same within `tolerance` times (1 + |want|), for floats. */
void ck_result_within(const char *graph, const char *want, double tolerance);

/* Inference or the run fails with this status and a message that contains `part`. */
void ck_failure(const char *graph, poprt_status status, const char *part);

/* Type of output 0 after inference, as prt_type_print writes it ("f32[n,4]"). */
void ck_type(const char *graph, const char *want);

/* The contents of output 0 that inference knows: dims as prt_dim_print writes them, separated by
 * blanks ("2 n ?"), or "" if the contents are unknown. */
void ck_content(const char *graph, const char *want);

#endif
