/* SPDX-License-Identifier: MIT */
/*
 * interp.h — the reference evaluator over tensors: one operator on given inputs, with memory for
 * its outputs. Used by constant folding, by checks, and as the truth in tests.
 */
#ifndef PRT_OP_INTERP_H
#define PRT_OP_INTERP_H

#include "op/op.h"

/* How regions are run and described (prt_eval_host); both find `user` through prt_interp_user. */
typedef struct prt_interp_regions {
    poprt_status (*call)(prt_eval *c, uint32_t region, uint32_t n_in, const prt_tensor *const *in,
        uint32_t n_out, prt_tensor *out);
    poprt_status (*form)(prt_eval *c, uint32_t region, uint32_t in, prt_region_form *form);
} prt_interp_regions;

/*
 * Infers shapes from real inputs, allocates outputs in `arena` and runs the hook. `in[i]` may be
 * NULL. Outputs with kind ABSENT on entry are not wanted. `regions` is NULL where there are none.
 */
poprt_status prt_interp_run(const prt_op_def *def, const void *attrs, prt_str origin, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena,
    const prt_interp_regions *regions, void *user);

void *prt_interp_user(prt_eval *c);

#endif
