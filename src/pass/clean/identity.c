/* SPDX-License-Identifier: MIT */
/* identity.c — eliminate_identity: readers of an Identity read its input instead. */
#include "pass/engine/rewrite.h"

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

static const prt_rewrite rewrites[] = { { PRT_OP_identity, apply } };

const prt_pass_hooks prt_pass_eliminate_identity = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
