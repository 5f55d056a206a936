/* SPDX-License-Identifier: MIT */
/* equal.h — comparison of regions. */
#ifndef PRT_IR_EQUAL_H
#define PRT_IR_EQUAL_H

#include "ir/ir.h"

/* Returns whether two regions of one module compute the same, so that one program can stand for
 * both. `scratch` holds tables for the call; without memory the regions count as different. */
bool prt_graphs_equal(const prt_graph *a, const prt_graph *b, prt_arena *scratch);

#endif
