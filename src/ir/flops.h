/* SPDX-License-Identifier: MIT */
/*
 * flops.h — operation counts of nodes, from their operators and shapes.
 *
 * Convention: a multiplication, an addition, a comparison, a division and a function such as exp
 * count one operation each for every element type; a multiply-add counts two. Products and
 * convolutions count every term of every sum, terms in the padding included. Reductions count one
 * operation for each element read, element-wise operators one for each element written. Operators
 * that only move, view, create or name elements (Reshape, Gather, Where, Shape, random numbers)
 * count zero. An operator without a formula of its own counts the larger of its elements read and
 * its elements written.
 */
#ifndef PRT_IR_FLOPS_H
#define PRT_IR_FLOPS_H

#include "ir/ir.h"

/* Sets `flops` to the operations of one run of a node, without its regions. Returns false if the
 * count depends on an unknown shape or the operator is not in the built-in table. */
bool prt_op_flops(const prt_op *op, uint64_t *flops);

/* Returns the operations of a node and of all nodes in its regions, each region counted once: trip
 * counts and branches are known only at run time. Adds to `*unknown` the number of nodes that
 * prt_op_flops cannot count. */
uint64_t prt_op_flops_within(const prt_op *op, uint64_t *unknown);

#endif
