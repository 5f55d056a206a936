/* SPDX-License-Identifier: MIT */
/*
 * not_found.h — errors about names that the model does not contain: POPRT_E_NOT_FOUND with the
 * nearest existing names.
 */
#ifndef PRT_IR_NOT_FOUND_H
#define PRT_IR_NOT_FOUND_H

#include "ir/ir.h"

/* "the model has no input of this name; nearest: ...". `name` need not be terminated by a zero. */
poprt_status prt_fail_no_input(const prt_graph *graph, prt_str name);
poprt_status prt_fail_no_output(const prt_graph *graph, prt_str name);
/* Considers all values of the graph. */
poprt_status prt_fail_no_tensor(const prt_graph *graph, prt_str name);
/* Considers all nodes of the graph and its regions. */
poprt_status prt_fail_no_node(const prt_graph *graph, prt_str name);

#endif
