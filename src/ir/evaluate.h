/* SPDX-License-Identifier: MIT */
/* evaluate.h — the result of an op whose inputs are constants, by its reference kernel. */
#ifndef PRT_IR_EVALUATE_H
#define PRT_IR_EVALUATE_H

#include "ir/ir.h"

/* Returns whether the results of an op depend on its inputs alone, and it has a reference kernel
 * that runs without regions. */
bool prt_op_is_evaluable(const prt_op *op);

/* Runs an op on its inputs, which are constants or absent. `out` has room for all outputs; those
 * that nothing reads are left out unless `all` is set. All memory comes from `scratch`, whose limit
 * bounds the run. */
poprt_status prt_op_evaluate(const prt_op *op, bool all, prt_arena *scratch, prt_tensor *out);

/* Adds a constant without a name to a graph, with a copy of the tensor's elements; NULL on
 * failure. The characters of strings follow the elements. */
prt_value *prt_graph_add_tensor(prt_graph *graph, const prt_tensor *t);

#endif
