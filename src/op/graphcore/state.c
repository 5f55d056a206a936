/* SPDX-License-Identifier: MIT */
/*
 * state.c — operators of ai.graphcore that return their input, with side effects: Nop, Detach,
 * TensorRemap, Remap, PrintTileMapping, AutoLossScaleProxy, ShapedDropout; CopyVarUpdate, which
 * changes a weight; and Abort, which stops the run.
 */
#include "op/graphcore/onnx_hooks.h"

#define SAME(id)                                                                                   \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        return prt_infer_same(c);                                                                  \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return prt_op_identity.eval(c);                                                            \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id }

SAME(gc_auto_loss_scale_proxy);
SAME(gc_detach);
SAME(gc_nop);
SAME(gc_print_tile_mapping);
SAME(gc_remap);

/* remap_type FwdBwdReverse, FwdBwd or Fwd selects where layouts change; row-major tensors never
   change. */
static poprt_status infer_remap(prt_infer *c)
{
    const prt_gc_tensor_remap_attrs *a = c->attrs;
    if (a->remap_type < 0 || a->remap_type > 2)
        return prt_infer_fail(c, POPRT_E_ARG, "remap_type is %lld; accepted: 0, 1, 2",
            (long long)a->remap_type);
    return prt_infer_same(c);
}

static poprt_status eval_same(prt_eval *c)
{
    return prt_op_identity.eval(c);
}

const prt_op_hooks prt_op_gc_tensor_remap = { .infer = infer_remap, .eval = eval_same };

/* ShapedDropout keeps all elements, since models run for inference; `shape` is the shape of the
   mask. */
static poprt_status infer_dropout(prt_infer *c)
{
    const prt_gc_shaped_dropout_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    if (!(a->ratio >= 0.0f && a->ratio < 1.0f))
        return prt_infer_fail(c, POPRT_E_ARG, "ratio is %g; accepted: from 0 to below 1",
            (double)a->ratio);
    if (x->rank >= 0 && a->shape.count > (uint32_t)x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "shape has %u dims, but the input has only %d",
            a->shape.count, x->rank);
    for (uint32_t i = 1; x->rank >= 0 && i <= a->shape.count; i++) {
        const int64_t mask = a->shape.data[a->shape.count - i], dim = x->dims[x->rank - (int32_t)i];
        if (mask != 1 && prt_dim_is_number(dim) && mask != dim)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "shape has %lld; the input's dim %lld or 1 is needed", (long long)mask,
                (long long)dim);
    }
    return prt_infer_same(c);
}

const prt_op_hooks prt_op_gc_shaped_dropout = { .infer = infer_dropout, .eval = eval_same };

/* ---- CopyVarUpdate */

static poprt_status infer_update(prt_infer *c)
{
    int64_t merged;
    if (c->in[0].rank >= 0 && c->in[1].rank >= 0) {
        if (c->in[0].rank != c->in[1].rank)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "variable has rank %d and updater rank %d; equal ranks are needed", c->in[0].rank,
                c->in[1].rank);
        for (int32_t i = 0; i < c->in[0].rank; i++)
            PRT_TRY(prt_infer_merge(c, c->in[0].dims[i], c->in[1].dims[i], "a dim", &merged));
    }
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_update(prt_eval *c)
{
    PRT_TRY(prt_eval_copy(c, 0, c->in[1]));
    return c->host->update != NULL ? c->host->update(c, 0, c->in[1]) : POPRT_OK;
}

const prt_op_hooks prt_op_gc_copy_var_update = { .infer = infer_update, .eval = eval_update };

/* ---- Abort: unconditional if there is no condition */

static poprt_status infer_abort(prt_infer *c)
{
    for (int32_t i = 0; prt_infer_ranked(c, 0) && i < c->in[0].rank; i++)
        if (prt_dim_is_number(c->in[0].dims[i]) && c->in[0].dims[i] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the condition is not one element");
    return POPRT_OK;
}

static poprt_status eval_abort(prt_eval *c)
{
    const prt_tensor *cond = prt_eval_has(c, 0) ? c->in[0] : NULL;
    if (cond != NULL && prt_load_f64(cond->dtype, cond->data, 0) == 0.0)
        return POPRT_OK;
    return prt_eval_fail(c, POPRT_E_STATE, "the model stops the run%s",
        cond != NULL ? ": its condition is true" : "");
}

const prt_op_hooks prt_op_gc_abort = { .infer = infer_abort, .eval = eval_abort };
