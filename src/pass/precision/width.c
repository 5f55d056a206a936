/* SPDX-License-Identifier: MIT */
/*
 * width.c — int64_to_int32 and double_to_float: numbers of half the width.
 *
 * int64_to_int32 takes tensors, inputs and outputs included, Casts and attributes. Where an
 * operator has no int32 form (the shape of a Reshape, the K of a TopK) it reads and gives int64;
 * ours: chains of int64 between such operators stay int64, an index that is computed as int64 is
 * read so where the operator takes both, elsewhere Casts stand between. Constants outside the new
 * range become its ends, which is said as a warning ("to the end" in a Slice stays that). Operators
 * for which other runtimes have no kernel of int32 (kernels.def) stay int64, and so do integers of
 * which a BitCast takes the bits.
 *
 * double_to_float takes initializers only: inputs, outputs and Casts stay. ours: an operator whose
 * other operands are double goes on computing in double, from a Cast of the smaller initializer.
 */
#include <float.h>

#include "pass/precision/kernels.h"
#include "pass/precision/retype.h"

/* An operator stays where other runtimes have a kernel of the wider type only. */
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
        .picky = prt_kernel_is_listed };
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
        .narrow = true,
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
