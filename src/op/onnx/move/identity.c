/* SPDX-License-Identifier: MIT */
/* identity.c — Identity: copies its input, of any kind. */
#include "op/op.h"

static poprt_status infer(prt_infer *c)
{
    return prt_infer_same(c);
}

static poprt_status eval(prt_eval *c)
{
    return prt_eval_copy(c, 0, c->in[0]);
}

const prt_op_hooks prt_op_identity = { .infer = infer, .eval = eval };
