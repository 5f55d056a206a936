/* SPDX-License-Identifier: MIT */
/*
 * width.c — int64_to_int32 and double_to_float: numbers of half the width.
 *
 * int64_to_int32 converts tensors, inputs and outputs, Casts and attributes. An operator without an
 * int32 variant (the shape of Reshape, K of TopK) keeps int64. Differences from the reference:
 * chains of int64 between such operators stay int64; a computed int64 index is read as int64 if the
 * operator supports both; Casts are inserted elsewhere. Constants outside the new range are
 * clipped, with a warning (the largest int64 as the end of a Slice still means the end). Operators
 * for which other runtimes lack an int32 kernel (kernels.def) stay int64, and so do integers whose
 * bits a BitCast reads.
 *
 * double_to_float converts initializers only: inputs, outputs and Casts stay. Difference from the
 * reference: an operator with other double operands still computes in double, from a Cast of the
 * float32 initializer.
 */
#include <float.h>

#include "pass/precision/kernels.h"
#include "pass/precision/retype.h"

/* Keeps operators for which other runtimes have only a kernel of the wider type. */
static prt_retype_mode convert_all(const prt_retype *how, const prt_op *op)
{
    return prt_kernel_exists_with(op, how->from, how->to) || !prt_kernel_exists(op)
        ? PRT_RETYPE_CONVERT
        : PRT_RETYPE_KEEP;
}

static poprt_status run_integers(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_retype how = { .from = PRT_DTYPE_i64,
        .to = PRT_DTYPE_i32,
        .inputs = true,
        .outputs = true,
        .attrs = true,
        .bits = true,
        .exact = true,
        .mode = convert_all,
        .restricted = prt_kernel_is_listed };
    (void)graph;
    return prt_retype_run(p, &how, changed);
}

static prt_retype_mode follow_operands(const prt_retype *how, const prt_op *op)
{
    (void)how;
    return op->n_regions != 0 ? PRT_RETYPE_EDGES : PRT_RETYPE_FOLLOW;
}

static poprt_status run_doubles(prt_pass *p, prt_graph *graph, bool *changed)
{
    const prt_retype how = { .from = PRT_DTYPE_f64,
        .to = PRT_DTYPE_f32,
        .constants_as_to = true,
        .follow = true,
        .clip = true,
        .high = (double)FLT_MAX,
        .low = -(double)FLT_MAX,
        .mode = follow_operands };
    (void)graph;
    return prt_retype_run(p, &how, changed);
}

const prt_pass_hooks prt_pass_double_to_float = { .run = run_doubles };
const prt_pass_hooks prt_pass_int64_to_int32 = { .run = run_integers };
