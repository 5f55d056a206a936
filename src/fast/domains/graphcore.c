/* SPDX-License-Identifier: MIT */
/*
 * graphcore.c — operators of ai.graphcore that equal a standard operator: they run its
 * implementation, with the attributes converted.
 */
#include "fast/fast.h"

static poprt_status run_as(prt_eval *c, uint32_t op, const void *attrs, prt_fast_fn run,
    const prt_kern *k, bool *done)
{
    prt_eval other = *c;
    other.def = prt_op_of(op);
    other.attrs = attrs;
    return run(&other, k, done);
}

poprt_status prt_fast_gc_unary(prt_eval *c, const prt_kern *k, bool *done)
{
    const uint32_t op = c->def->id == PRT_OP_gc_erf_v2 ? PRT_OP_erf : PRT_OP_round;
    return run_as(c, op, NULL, prt_fast_unary, k, done);
}

poprt_status prt_fast_gc_act(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_swish_attrs swish = { .alpha = 1.0f };
    prt_gelu_attrs gelu = { .approximate = PRT_STR("none") };
    prt_leaky_relu_attrs leaky = { .alpha = 0.0f };
    switch (c->def->id) {
    case PRT_OP_gc_swish:
        return run_as(c, PRT_OP_swish, &swish, prt_fast_act, k, done);
    case PRT_OP_gc_leaky_relu:
        leaky.alpha = ((const prt_gc_leaky_relu_attrs *)c->attrs)->alpha;
        return run_as(c, PRT_OP_leaky_relu, &leaky, prt_fast_act, k, done);
    default:
        if (c->def->id == PRT_OP_gc_gelu)
            gelu.approximate = PRT_STR("tanh");
        return run_as(c, PRT_OP_gelu, &gelu, prt_fast_act, k, done);
    }
}

poprt_status prt_fast_gc_softmax(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_gc_softmax_v2_attrs *a = c->attrs;
    const prt_softmax_attrs softmax = { .axis = a->axis };
    return run_as(c, PRT_OP_softmax, &softmax, prt_fast_softmax, k, done);
}

poprt_status prt_fast_gc_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    if (c->def->id == PRT_OP_gc_fast_norm) {
        const prt_gc_fast_norm_attrs *a = c->attrs;
        const prt_layer_normalization_attrs layer = { .axis = -1, .epsilon = a->epsilon };
        return run_as(c, PRT_OP_layer_normalization, &layer, prt_fast_layer_norm, k, done);
    }
    const prt_gc_group_normalization_attrs *a = c->attrs;
    const prt_group_normalization_attrs group = { .num_groups = a->num_groups,
        .epsilon = a->epsilon };
    return run_as(c, PRT_OP_group_normalization, &group, prt_fast_group_norm, k, done);
}
