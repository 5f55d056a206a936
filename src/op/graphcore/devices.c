/* SPDX-License-Identifier: MIT */
/*
 * devices.c — operators that exchange data with other devices, with remote memory or with the
 * host's streams. They have types, so that models with them load and are rewritten; there is no
 * kernel, and a compiler for one device refuses them.
 */
#include "op/op.h"

/* As many outputs as inputs, alike. */
static poprt_status infer_all(prt_infer *c)
{
    if (c->n_out > c->n_in)
        return prt_infer_fail(c, POPRT_E_PARSE, "has %u inputs and %u outputs", c->n_in, c->n_out);
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_infer_like(c, i, i, c->in[0].dtype));
    return POPRT_OK;
}

/* How many members there are is not known here: the result is flat, of any size. */
static poprt_status infer_flat(prt_infer *c)
{
    return prt_infer_unranked(c, 0, c->in[0].dtype, 1);
}

/* What other members hold is not known either: gathered tensors may have any shape. */
static poprt_status infer_open(prt_infer *c)
{
    return prt_infer_unranked(c, 0, c->in[0].dtype, PRT_RANK_UNKNOWN);
}

static poprt_status infer_none(prt_infer *c)
{
    (void)c;
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_all_reduce = { .infer = infer_all };
const prt_op_hooks prt_op_gc_host_load = { .infer = infer_all };
const prt_op_hooks prt_op_gc_host_store = { .infer = infer_none };
const prt_op_hooks prt_op_gc_remote_code_load = { .infer = infer_none };
const prt_op_hooks prt_op_gc_remote_load = { .infer = infer_all };
const prt_op_hooks prt_op_gc_remote_store = { .infer = infer_none };
const prt_op_hooks prt_op_gc_replicated_all_gather = { .infer = infer_open };
const prt_op_hooks prt_op_gc_replicated_all_reduce = { .infer = infer_all };
const prt_op_hooks prt_op_gc_replicated_reduce_scatter = { .infer = infer_flat };
