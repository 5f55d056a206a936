/* SPDX-License-Identifier: MIT */
/* kernels.h — for which element types other runtimes have kernels of an operator. */
#ifndef PRT_PASS_PRECISION_KERNELS_H
#define PRT_PASS_PRECISION_KERNELS_H

#include "ir/ir.h"

/* Does kernels.def list the operator? */
bool prt_kernel_is_listed(const prt_op *op);

/* Is there a kernel for the op with the element types that its operands and results have? True for
 * operators that kernels.def does not list. */
bool prt_kernel_exists(const prt_op *op);

/* The same for an operator whose first type variable is an element type. */
bool prt_kernel_exists_of(uint32_t id, int32_t dtype);

/* The same where every element type `from`, as far as the operator's row lets it, is `to`. */
bool prt_kernel_exists_with(const prt_op *op, int32_t from, int32_t to);

/* The same where type variable `var` of the row, by its place, is an element type. */
bool prt_kernel_exists_for(const prt_op *op, uint32_t var, int32_t dtype);

#endif
