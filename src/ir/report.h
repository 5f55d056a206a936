/* SPDX-License-Identifier: MIT */
/*
 * report.h — the errors of a model, one line a node: operator, reason, domain and opset.
 *
 *     scores: MatMul: inner dim is 3 in one place and 2 in another (ai.onnx, opset 17)
 *     node_7: Foo: is not an operator of this library, here and in 1 more: node_9 (my.domain, opset
 * 3)
 */
#ifndef PRT_IR_REPORT_H
#define PRT_IR_REPORT_H

#include "base/report.h"
#include "ir/ir.h"

/* Adds this thread's last failure, which occurred in `op` or in an op of its regions. */
void prt_ir_report_failure(prt_report *report, const prt_op *op, poprt_status status);

/* Adds an entry that `op` is not supported, with the reason `why`. */
void prt_ir_report_refusal(prt_report *report, const prt_op *op, poprt_status status,
    const char *why);

/* Adds the ops of the graph and its regions that are not in the table, one line an operator. */
void prt_ir_report_unknown(prt_report *report, const prt_graph *graph);

#endif
