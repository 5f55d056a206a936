/* SPDX-License-Identifier: MIT */
/* kernels.h — element types for which other runtimes have kernels of an operator. */
#ifndef PRT_PASS_PRECISION_KERNELS_H
#define PRT_PASS_PRECISION_KERNELS_H

#include "ir/ir.h"

/* Returns whether kernels.def lists the operator. */
bool prt_kernel_is_listed(const prt_op *op);

/* Returns whether there is a kernel for the present element types of the op; true for operators
 * that kernels.def does not list. */
bool prt_kernel_exists(const prt_op *op);

/* Like prt_kernel_exists, for an operator whose first type variable is `dtype`. */
bool prt_kernel_exists_of(uint32_t id, int32_t dtype);

/* Like prt_kernel_exists, with element type `from` replaced by `to` where the operator's row allows
 * it. */
bool prt_kernel_exists_with(const prt_op *op, int32_t from, int32_t to);

/* Like prt_kernel_exists, with type variable number `var` of the row replaced by `dtype`. */
bool prt_kernel_exists_for(const prt_op *op, uint32_t var, int32_t dtype);

#endif
