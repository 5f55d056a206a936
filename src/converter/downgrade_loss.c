/* SPDX-License-Identifier: MIT */
/* downgrade_loss.c — losses as GatherElements over the targets, with weights and a reduction. */
#include "converter/downgrade.h"
#include "converter/conversions.h"

#define BINARY(id, x, y) prt_build_binary(b, PRT_OP_##id, x, y)

static prt_value *select_where(prt_build *b, prt_value *test, prt_value *x, prt_value *y)
{
    return prt_build_op(b, PRT_OP_where, NULL, 3, (prt_value *[]){ test, x, y });
}

/* Returns the negated log-probability of each target, in the shape of the targets. */
static prt_value *target_losses(prt_build *b, prt_value *x, prt_value *target)
{
    const int64_t channels = 1;
    const prt_gather_elements_attrs attrs = { .axis = 1 };
    prt_value *axes = prt_build_i64s(b, 1, &channels);
    prt_value *in[2] = { x, BINARY(unsqueeze, target, axes) };
    prt_value *y = prt_build_op(b, PRT_OP_gather_elements, &attrs, 2, in);
    return prt_build_unary(b, PRT_OP_neg, BINARY(squeeze, y, axes));
}

poprt_status prt_down_nll_loss(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_negative_log_likelihood_loss_attrs *a = op->attrs;
    const bool ignores = prt_attr_given(a, prt_op_attr(op->def, PRT_STR("ignore_index")));
    prt_value *x = prt_op_input(op, 0), *target = prt_op_input(op, 1), *ignored = NULL;
    prt_value *weight = prt_op_input(op, 2);
    prt_build builder = prt_build_before(op), *b = &builder;
    if (ignores) {
        ignored = BINARY(equal, target, prt_down_scalar(b, (double)a->ignore_index, target));
        target = select_where(b, ignored, prt_down_scalar(b, 0, target), target);
    }
    prt_value *y = target_losses(b, x, target), *zero = prt_down_scalar(b, 0, x);
    if (weight != NULL)
        weight = BINARY(gather, weight, target);
    else if (ignores && prt_str_is(a->reduction, "mean"))
        weight = select_where(b, ignored, zero, prt_down_scalar(b, 1, x));
    if (weight != NULL && ignores)
        weight = select_where(b, ignored, zero, weight);
    if (prt_op_input(op, 2) != NULL)
        y = BINARY(mul, y, weight);
    if (ignores)
        y = select_where(b, ignored, zero, y);
    if (prt_str_is(a->reduction, "sum"))
        y = prt_down_reduce(b, PRT_OP_reduce_sum, y, NULL, false);
    else if (prt_str_is(a->reduction, "mean") && weight == NULL)
        y = prt_down_reduce(b, PRT_OP_reduce_mean, y, NULL, false);
    else if (prt_str_is(a->reduction, "mean"))
        y = BINARY(div, prt_down_reduce(b, PRT_OP_reduce_sum, y, NULL, false),
            prt_down_reduce(b, PRT_OP_reduce_sum, weight, NULL, false));
    return prt_down_replace(d, b, y);
}

/* NegativeLogLikelihoodLoss of LogSoftmax, which is an output of its own. */
poprt_status prt_down_cross_entropy(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_softmax_cross_entropy_loss_attrs *a = op->attrs;
    const prt_log_softmax_attrs channels = { .axis = 1 };
    prt_negative_log_likelihood_loss_attrs loss = { .reduction = a->reduction };
    if (prt_attr_given(a, prt_op_attr(op->def, PRT_STR("ignore_index")))) {
        const prt_op_def *def = prt_op_of(PRT_OP_negative_log_likelihood_loss);
        loss.present = (uint64_t)1 << prt_op_attr(def, PRT_STR("ignore_index"));
        loss.ignore_index = a->ignore_index;
    }
    prt_build builder = prt_build_before(op), *b = &builder;
    prt_value *x = prt_op_input(op, 0);
    prt_value *in[3] = { prt_build_op(b, PRT_OP_log_softmax, &channels, 1, &x), prt_op_input(op, 1),
        prt_op_input(op, 2) };
    prt_value *y =
        prt_build_op(b, PRT_OP_negative_log_likelihood_loss, &loss, in[2] != NULL ? 3 : 2, in);
    if (op->n_out > 1)
        prt_build_replace_uses(b, &op->out[1], in[0]);
    return prt_down_replace(d, b, y);
}
