/* SPDX-License-Identifier: MIT */
/*
 * interp.h — the reference evaluator: runs one operator on given tensors and allocates its outputs.
 * Constant folding and checks use it; tests compare with it.
 */
#ifndef PRT_OP_INTERP_H
#define PRT_OP_INTERP_H

#include "op/op.h"

/* Callbacks that run and describe regions (prt_eval_host). Both find `user` through
 * prt_interp_user. */
typedef struct prt_interp_regions {
    poprt_status (*call)(prt_eval *c, uint32_t region, uint32_t n_in, const prt_tensor *const *in,
        uint32_t n_out, prt_tensor *out);
    poprt_status (*signature)(prt_eval *c, uint32_t region, uint32_t in, prt_region_signature *to);
} prt_interp_regions;

/* Infers shapes from the real inputs, allocates the outputs in `arena` and runs the hook.
 * `in[i]` may be NULL. Outputs with kind ABSENT on entry are not wanted. `regions` may be NULL. */
poprt_status prt_interp_run(const prt_op_def *def, const void *attrs, prt_str origin, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena,
    const prt_interp_regions *regions, void *user);

void *prt_interp_user(prt_eval *c);

#endif
