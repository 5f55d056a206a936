/* SPDX-License-Identifier: MIT */
/*
 * op_check.h — operators tested through IR text, to the bit (op_text.h answers in text): graphs of
 * constants are run by the reference evaluator, graphs with inputs are only inferred.
 */
#ifndef PRT_TESTS_SUPPORT_OP_CHECK_H
#define PRT_TESTS_SUPPORT_OP_CHECK_H

#include "ir/ir.h"

/* The only output of a graph without inputs is `want` ("f32[2] {1,nan}"), to the bit; all NaNs are
 * alike. */
void ck_result(const char *graph, const char *want);

/* The same within `tolerance` times (1 + |want|), for floats. */
void ck_result_near(const char *graph, const char *want, double tolerance);

/* Inference or the run fails with this status, and the message has `part` in it. */
void ck_failure(const char *graph, poprt_status status, const char *part);

/* Type of output 0 after inference, as prt_type_print has it ("f32[n,4]"). */
void ck_type(const char *graph, const char *want);

/* What inference knows of the contents of output 0: dims as prt_dim_print has them, set apart by
 * blanks ("2 n ?"), or "" for nothing. */
void ck_content(const char *graph, const char *want);

#endif
