/* SPDX-License-Identifier: MIT */
/*
 * devices.c — operators that exchange data with other devices, remote memory or the host's streams.
 * They have type inference, so that models with them can be loaded and rewritten. They have no
 * kernel: a compiler for one device rejects them.
 */
#include "op/op.h"

/* Infers each output as the input with the same index. */
static poprt_status infer_all(prt_infer *c)
{
    if (c->n_out > c->n_in)
        return prt_infer_fail(c, POPRT_E_PARSE,
            "has %u inputs and %u outputs; an input for each output is needed", c->n_in, c->n_out);
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_infer_like(c, i, i, c->in[0].dtype));
    return POPRT_OK;
}

/* The number of devices is unknown here: the result has rank 1 and any size. */
static poprt_status infer_flat(prt_infer *c)
{
    return prt_infer_unranked(c, 0, c->in[0].dtype, 1);
}

/* Gathered tensors of other devices may have any shape. */
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
