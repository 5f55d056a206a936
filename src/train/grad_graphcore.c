/* SPDX-License-Identifier: MIT */
/* grad_graphcore.c — gradients of losses, normalisations and Call of ai.graphcore. */
#include "train/norm.h"
#include "train/region.h"
#include "train/terms.h"

typedef enum reduction { SUM, MEAN, NONE } reduction;

/* Inference has accepted the word. */
static reduction reduction_of(prt_str word)
{
    if (prt_str_is(word, "Sum"))
        return SUM;
    return prt_str_is(word, "Mean") ? MEAN : NONE;
}

/* The gradient of each of the losses that the op has reduced, which are as many as the elements of
 * `each`. */
static prt_value *unreduced(prt_grad *g, prt_str word, prt_value *each)
{
    if (reduction_of(word) != MEAN)
        return g->out[0];
    return DIV(g->out[0], prt_grad_ratio(g, each, prt_grad_y(g), g->out[0]));
}

poprt_status prt_grad_gc_identity_loss(prt_grad *g)
{
    const prt_gc_identity_loss_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0);
    return prt_grad_set(g, 0, prt_grad_expand(g, unreduced(g, a->reduction, x), x));
}

poprt_status prt_grad_gc_l1(prt_grad *g)
{
    const prt_gc_l1_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0);
    prt_value *scale = MUL(unreduced(g, a->reduction, x), NUM(x, (double)a->lambda));
    return prt_grad_set(g, 0, MUL(CALL(sign, x), scale));
}

/* Only the probability of the label has a gradient, and none if the label is ignored or is not a
 * class. Like in PopART, the bound below which a probability is not divided by is lower than that
 * of the forward operator. */
poprt_status prt_grad_gc_nll(prt_grad *g)
{
    const prt_gc_nll_attrs *a = g->op->attrs;
    static const int64_t last[1] = { -1 };
    prt_value *x = prt_grad_x(g, 0), *label = prt_grad_cast_to(g, prt_grad_x(g, 1), PRT_DTYPE_i64);
    prt_value *zero = prt_build_i64(g->b, 0);
    prt_value *classes = prt_grad_squeeze(g, prt_grad_dim(g, x, -1), 1, (int64_t[1]){ 0 });
    prt_value *valid =
        BINARY(and, BINARY(greater_or_equal, label, zero), BINARY(less, label, classes));
    prt_value *each = g->out[0], *counted = NULL;
    if (prt_attr_given(a, 1)) {
        prt_value *ignored = BINARY(equal, label, prt_build_i64(g->b, a->ignoreIndex));
        valid = BINARY(and, valid, CALL(not, ignored));
        counted = prt_grad_cast_as(g, CALL(not, ignored), x);
    }
    if (reduction_of(a->reduction) == MEAN && counted == NULL)
        each = DIV(each, prt_grad_ratio(g, label, prt_grad_y(g), x));
    if (reduction_of(a->reduction) == MEAN && counted != NULL) {
        prt_reduce_sum_attrs sum = PRT_ATTRS_OF(reduce_sum);
        PRT_ATTR_SET(sum, reduce_sum, keepdims, 0);
        counted = prt_build_op(g->b, PRT_OP_reduce_sum, &sum, 1, &counted);
        each = DIV(each, BINARY(max, counted, NUM(x, 1.0)));
    }
    prt_value *at = prt_grad_unsqueeze(g, WHERE(valid, label, zero), 1, last);
    prt_value *d = WHERE(valid, CALL(neg, each), NUM(x, 0.0));
    d = prt_grad_unsqueeze(g, d, 1, last);
    if (a->inputIsLogProbability == 0) {
        const double least = x->type->dtype == PRT_DTYPE_f16 ? 6.104e-5 : 1e-10;
        d = DIV(d, BINARY(max, prt_grad_gather_at(g, x, at, -1), NUM(x, least)));
    }
    return prt_grad_set(g, 0, prt_grad_scatter_at(g, d, at, -1, x));
}

/* Output 1 is the gradient of the loss of each entry. */
poprt_status prt_grad_gc_ctc(prt_grad *g)
{
    const prt_gc_ctc_attrs *a = g->op->attrs;
    static const int64_t classes[1] = { -1 };
    if (g->op->n_out > 1 && g->out[1] != NULL)
        return prt_grad_refuse(g, "its gradient is differentiated again");
    PRT_TRY(prt_grad_widen(g, 2));
    prt_value *x = prt_grad_x(g, 0), *each = g->out[0];
    if (reduction_of(a->reduction) == MEAN) {
        prt_value *lengths = prt_grad_cast_to(g, prt_grad_x(g, 3), PRT_DTYPE_i64);
        lengths = prt_grad_cast_as(g, BINARY(max, lengths, prt_build_i64(g->b, 1)), each);
        each = DIV(each, MUL(lengths, prt_grad_ratio(g, lengths, prt_grad_y(g), each)));
    }
    if (reduction_of(a->reduction) != SUM)
        each = prt_grad_unsqueeze(g, each, 1, classes);
    return prt_grad_set(g, 0, prt_grad_cast_as(g, MUL(&g->op->out[1], each), x));
}

/* The callee's ops are copied to the place of the op. */
poprt_status prt_grad_gc_call(prt_grad *g)
{
    const prt_gc_call_attrs *a = g->op->attrs;
    prt_arena *arena = g->b->graph->module->arena;
    const prt_graph *callee = g->op->regions[a->callee];
    prt_value **in = PRT_NEW_N(arena, prt_value *, g->op->n_in);
    prt_value **ys = PRT_NEW_N(arena, prt_value *, callee->ret->n_in);
    if (in == NULL || ys == NULL)
        return POPRT_E_NOMEM;
    if (a->modifiedInputs.count != 0)
        return prt_grad_refuse(g, "the called graph modifies inputs");
    /* Through Identity, so that outputs of the callee that are its inputs are values of new ops. */
    for (uint32_t i = 0; i < g->op->n_in; i++)
        in[i] = prt_grad_x(g, i) != NULL ? CALL(identity, prt_grad_x(g, i)) : NULL;
    const prt_region_copy copy = { .region = callee, .inputs = in };
    PRT_TRY(prt_region_copy_ops(g->b, &copy, ys));
    return prt_grad_by_outputs(g, ys);
}

poprt_status prt_grad_gc_batch_norm(prt_grad *g)
{
    const prt_gc_batch_normalization_attrs *a = g->op->attrs;
    return prt_grad_batch_norm_by(g,
        &(prt_batch_norm_grad){ .training = g->op->n_out > 1,
            .unbiased = true,
            .epsilon = (double)a->epsilon,
            .momentum = (double)a->momentum });
}

poprt_status prt_grad_gc_group_norm(prt_grad *g)
{
    const prt_gc_group_normalization_attrs *a = g->op->attrs;
    return prt_grad_group_norm_by(g, a->num_groups, (double)a->epsilon);
}

poprt_status prt_grad_gc_fast_norm(prt_grad *g)
{
    const prt_gc_fast_norm_attrs *a = g->op->attrs;
    return prt_grad_layer_norm_by(g, -1, (double)a->epsilon, true);
}
