/* SPDX-License-Identifier: MIT */
/*
 * unknown.h — failures for names that a model does not have: POPRT_E_NOT_FOUND with the nearest
 * names that it has.
 */
#ifndef PRT_IR_UNKNOWN_H
#define PRT_IR_UNKNOWN_H

#include "ir/ir.h"

/* "the model has no input of this name; nearest: ...". `name` need not end with a zero byte. */
poprt_status prt_fail_no_input(const prt_graph *graph, prt_str name);
poprt_status prt_fail_no_output(const prt_graph *graph, prt_str name);
/* Of any value of the graph. */
poprt_status prt_fail_no_tensor(const prt_graph *graph, prt_str name);
/* Of any node of the graph and its sub-graphs. */
poprt_status prt_fail_no_node(const prt_graph *graph, prt_str name);

#endif
