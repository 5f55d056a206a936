/* SPDX-License-Identifier: MIT */
/*
 * interp.h — runs a graph op by op with the reference kernels, regions included. Used by checks
 * that need values before anything is compiled, and as the reference in tests.
 */
#ifndef PRT_IR_INTERP_H
#define PRT_IR_INTERP_H

#include "ir/ir.h"

/*
 * Runs `graph`. `in[i]` is the value of graph input i; `out` receives one view for each graph
 * output. All memory comes from `arena` and stays valid until it is released or reset.
 */
poprt_status prt_ir_run(const prt_graph *graph, uint32_t n_in, const prt_tensor *const *in,
    uint32_t n_out, prt_tensor *out, prt_arena *arena);

#endif
