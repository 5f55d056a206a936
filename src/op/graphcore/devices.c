/* SPDX-License-Identifier: MIT */
/*
 * devices.c — operators that exchange data with other devices, replicas, remote memory or the
 * host's streams. One CPU is the only device: it holds the tensors of all, a single replica is its
 * own group, and the host's memory is its own. Compiling replaces the operators of remote buffers.
 */
#include "op/graphcore/onnx_hooks.h"
#include "op/share/shape_values.h"

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

static poprt_status eval_none(prt_eval *c)
{
    (void)c;
    return POPRT_OK;
}

/* Every output is the sum of all inputs, which are those of different devices. */
static poprt_status eval_sum(prt_eval *c)
{
    const size_t count = prt_tensor_count(c->in[0]);
    const int32_t dtype = c->in[0]->dtype;
    for (uint32_t i = 1; i < c->n_in; i++)
        if (prt_tensor_count(c->in[i]) != count)
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "input %u has %zu elements, and input 0 %zu; equal shapes are needed", i,
                prt_tensor_count(c->in[i]), count);
    for (uint32_t o = 0; o < c->n_out; o++)
        for (size_t k = 0; prt_eval_wants(c, o) && k < count; k++) {
            double sum = 0;
            uint64_t wrapped = 0; /* of integers */
            for (uint32_t i = 0; i < c->n_in; i++) {
                sum += prt_load_f64(dtype, c->in[i]->data, k);
                wrapped += (uint64_t)prt_load_i64(dtype, c->in[i]->data, k);
            }
            if (prt_dtype_is_float(dtype))
                prt_store_f64(dtype, c->out[o]->data, k, sum);
            else
                prt_store_i64(dtype, c->out[o]->data, k,
                    dtype == PRT_DTYPE_i32 ? (int64_t)(int32_t)(uint32_t)wrapped
                                           : (int64_t)(uint32_t)wrapped);
        }
    return POPRT_OK;
}

static poprt_status eval_same(prt_eval *c)
{
    return prt_op_identity.eval(c);
}

/* A replica of a group of one has the whole tensor, flattened. */
static poprt_status eval_flat(prt_eval *c)
{
    const int64_t count = (int64_t)prt_tensor_count(c->in[0]);
    PRT_TRY(prt_shape_output(c, 0, c->in[0]->dtype, 1, &count));
    return prt_copy_flat(c);
}

const prt_op_hooks prt_op_gc_all_reduce = { .infer = infer_all, .eval = eval_sum };
const prt_op_hooks prt_op_gc_host_load = { .infer = infer_all, .eval = eval_same };
const prt_op_hooks prt_op_gc_host_store = { .infer = infer_none, .eval = eval_none };
const prt_op_hooks prt_op_gc_remote_code_load = { .infer = infer_none, .eval = eval_none };
const prt_op_hooks prt_op_gc_remote_load = { .infer = infer_all };
const prt_op_hooks prt_op_gc_remote_store = { .infer = infer_none };
const prt_op_hooks prt_op_gc_replicated_all_gather = { .infer = infer_open, .eval = eval_same };
const prt_op_hooks prt_op_gc_replicated_all_reduce = { .infer = infer_all, .eval = eval_same };
const prt_op_hooks prt_op_gc_replicated_reduce_scatter = { .infer = infer_flat, .eval = eval_flat };
