/* SPDX-License-Identifier: MIT */
/*
 * flops.h — how much arithmetic a node is, by its operator and shapes.
 *
 * The convention: a multiplication, an addition, a comparison, a division and a function such as
 * exp are one operation each, whatever the element type; a multiply-add is two. Products and
 * convolutions count every term of every sum, those in the padding too; reductions count an
 * operation for each element read, element-wise operators one for each element made. What only
 * moves, views, makes or names elements (Reshape, Gather, Where, Shape, random numbers) counts
 * nothing. An operator without a formula of its own counts one for each element it reads or makes,
 * whichever are more.
 */
#ifndef PRT_IR_FLOPS_H
#define PRT_IR_FLOPS_H

#include "ir/ir.h"

/* Operations of one run of a node, without its regions. False: they depend on a shape that is not
 * known, or nothing here knows the operator. */
bool prt_op_flops(const prt_op *op, uint64_t *flops);

/* The same with all nodes of its regions, once each: how often a body runs, and which branch, only
 * a run knows. `*unknown` grows by the nodes that are left out because prt_op_flops says false. */
uint64_t prt_op_flops_within(const prt_op *op, uint64_t *unknown);

#endif
