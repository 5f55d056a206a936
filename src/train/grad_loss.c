/* SPDX-License-Identifier: MIT */
/* grad_loss.c — gradients of the losses of ONNX. They are rebuilt from simpler operators. */
#include "train/terms.h"

/* The attributes of both losses. */
typedef struct loss {
    bool ignores;
    int64_t ignored;
    prt_str reduction;
} loss;

/* -weight[target] log_prob[target] of each target, 0 for ignored ones; and the sum or the weighted
 * mean over all. */
static prt_value *nll(prt_grad *g, const loss *l, prt_value *log_prob)
{
    static const int64_t classes[1] = { 1 };
    prt_value *target = prt_grad_x(g, 1), *weight = prt_grad_x(g, 2), *counted = NULL;
    if (l->ignores) {
        prt_value *ignored = BINARY(equal, target, prt_grad_integer(g, target, l->ignored));
        target = WHERE(ignored, prt_grad_integer(g, target, 0), target);
        counted = prt_grad_cast_as(g, CALL(not, ignored), log_prob);
    }
    prt_value *picked =
        prt_grad_gather_at(g, log_prob, prt_grad_unsqueeze(g, target, 1, classes), 1);
    prt_value *losses = CALL(neg, prt_grad_squeeze(g, picked, 1, classes));
    weight = weight != NULL ? BINARY(gather, weight, target) : NULL;
    if (weight != NULL && counted != NULL)
        weight = MUL(weight, counted);
    else if (weight == NULL)
        weight = counted;
    if (weight != NULL)
        losses = MUL(losses, weight);
    if (prt_str_is(l->reduction, "none"))
        return losses;
    prt_reduce_sum_attrs sum = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(sum, reduce_sum, keepdims, 0);
    prt_value *all = prt_build_op(g->b, PRT_OP_reduce_sum, &sum, 1, &losses);
    if (prt_str_is(l->reduction, "sum"))
        return all;
    if (weight == NULL)
        return DIV(all, prt_grad_ratio(g, losses, all, all));
    return DIV(all, prt_build_op(g->b, PRT_OP_reduce_sum, &sum, 1, &weight));
}

poprt_status prt_grad_negative_log_likelihood_loss(prt_grad *g)
{
    const prt_negative_log_likelihood_loss_attrs *a = g->op->attrs;
    const loss l = { prt_attr_given(a, 0), a->ignore_index, a->reduction };
    return prt_grad_by(g, nll(g, &l, prt_grad_x(g, 0)));
}

poprt_status prt_grad_softmax_cross_entropy_loss(prt_grad *g)
{
    const prt_softmax_cross_entropy_loss_attrs *a = g->op->attrs;
    const loss l = { prt_attr_given(a, 0), a->ignore_index, a->reduction };
    prt_log_softmax_attrs attrs = PRT_ATTRS_OF(log_softmax);
    prt_value *x = prt_grad_x(g, 0);
    PRT_ATTR_SET(attrs, log_softmax, axis, 1);
    prt_value *ys[2];
    ys[1] = prt_build_op(g->b, PRT_OP_log_softmax, &attrs, 1, &x);
    ys[0] = nll(g, &l, ys[1]);
    return prt_grad_by_outputs(g, ys);
}
