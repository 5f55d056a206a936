/* SPDX-License-Identifier: MIT */
/*
 * interp.h — runs a graph with the reference kernels, op by op: for checks that need values
 * before anything is compiled, and as the truth in tests. Regions included.
 */
#ifndef PRT_IR_INTERP_H
#define PRT_IR_INTERP_H

#include "ir/ir.h"

/*
 * `in[i]` is the value of graph input i; `out` gets one view for each graph output. All memory
 * comes from `arena` and stays until it is released or reset.
 */
poprt_status prt_ir_run(const prt_graph *graph, uint32_t n_in, const prt_tensor *const *in,
    uint32_t n_out, prt_tensor *out, prt_arena *arena);

#endif
