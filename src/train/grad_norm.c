/* SPDX-License-Identifier: MIT */
/*
 * grad_norm.c — gradients of softmax and normalisations. Normalisations are rebuilt from simpler
 * operators, whose rules give the gradients.
 */
#include "train/rule.h"

/* dx = y (dy - sum(y dy)) */
poprt_status prt_grad_softmax(prt_grad *g)
{
    const prt_softmax_attrs *a = g->op->attrs;
    prt_value *y = prt_grad_y(g), *dy = g->out[0];
    prt_value *sum = prt_grad_sum(g, prt_grad_mul(g, y, dy), 1, &a->axis, true);
    return prt_grad_set(g, 0, prt_grad_mul(g, y, prt_grad_sub(g, dy, sum)));
}

/* dx = dy - exp(y) sum(dy) */
poprt_status prt_grad_log_softmax(prt_grad *g)
{
    const prt_log_softmax_attrs *a = g->op->attrs;
    prt_value *share = prt_grad_call(g, PRT_OP_exp, prt_grad_y(g)), *dy = g->out[0];
    prt_value *sum = prt_grad_sum(g, dy, 1, &a->axis, true);
    return prt_grad_set(g, 0, prt_grad_sub(g, dy, prt_grad_mul(g, share, sum)));
}

/* (x - mean) / sqrt(variance + epsilon) over axes; without `centred` the mean counts as 0. */
static prt_value *standardised(prt_grad *g, prt_value *x, uint32_t count, const int64_t *axes,
    float epsilon, bool centred)
{
    prt_value *d = centred ? prt_grad_sub(g, x, prt_grad_mean(g, x, count, axes)) : x;
    prt_value *variance = prt_grad_mean(g, prt_grad_mul(g, d, d), count, axes);
    prt_value *safe = prt_grad_add(g, variance, prt_grad_number(g, x, (double)epsilon));
    return prt_grad_div(g, d, prt_grad_call(g, PRT_OP_sqrt, safe));
}

static prt_value *scaled(prt_grad *g, prt_value *v, prt_value *scale, prt_value *bias)
{
    if (scale != NULL)
        v = prt_grad_mul(g, v, scale);
    return bias != NULL ? prt_grad_add(g, v, bias) : v;
}

/* Sets axes to [first, rank); returns their number. */
static uint32_t axes_from(int64_t first, int32_t rank, int64_t *axes)
{
    uint32_t count = 0;
    for (int64_t i = first < 0 ? first + rank : first; i < rank; i++)
        axes[count++] = i;
    return count;
}

static bool only_first_output(const prt_grad *g)
{
    for (uint32_t i = 1; i < g->op->n_out; i++)
        if (g->out[i] != NULL)
            return false;
    return g->out[0] != NULL;
}

static poprt_status last_axes_norm(prt_grad *g, int64_t axis, float epsilon, bool centred)
{
    int64_t axes[PRT_MAX_RANK];
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 1 || !only_first_output(g))
        return prt_grad_refuse(g,
            rank < 1 ? "needs an input of known rank" : "its statistics are used");
    const uint32_t count = axes_from(axis, rank, axes);
    prt_value *v = standardised(g, x, count, axes, epsilon, centred);
    return prt_grad_by(g, scaled(g, v, prt_grad_x(g, 1), centred ? prt_grad_x(g, 2) : NULL));
}

poprt_status prt_grad_layer_norm(prt_grad *g)
{
    const prt_layer_normalization_attrs *a = g->op->attrs;
    return last_axes_norm(g, a->axis, a->epsilon, true);
}

poprt_status prt_grad_rms_norm(prt_grad *g)
{
    const prt_rms_normalization_attrs *a = g->op->attrs;
    return last_axes_norm(g, a->axis, a->epsilon, false);
}

/* Reshapes [C] to [C, 1, 1, ...], which broadcasts over [N, C, ...]. */
static prt_value *per_channel(prt_grad *g, prt_value *v, int32_t rank)
{
    int64_t axes[PRT_MAX_RANK];
    const uint32_t count = axes_from(1, rank - 1, axes);
    if (v == NULL || count == 0)
        return v;
    return prt_build_binary(g->b, PRT_OP_unsqueeze, v, prt_build_i64s(g->b, count, axes));
}

poprt_status prt_grad_instance_norm(prt_grad *g)
{
    const prt_instance_normalization_attrs *a = g->op->attrs;
    int64_t axes[PRT_MAX_RANK];
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 3)
        return prt_grad_refuse(g, "needs an input of known rank");
    const uint32_t count = axes_from(2, rank, axes);
    return prt_grad_by(g,
        scaled(g, standardised(g, x, count, axes, a->epsilon, true),
            per_channel(g, prt_grad_x(g, 1), rank), per_channel(g, prt_grad_x(g, 2), rank)));
}

poprt_status prt_grad_group_norm(prt_grad *g)
{
    const prt_group_normalization_attrs *a = g->op->attrs;
    const int64_t groups[3] = { 0, a->num_groups, -1 }, last = 2;
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 2)
        return prt_grad_refuse(g, "needs an input of known rank");
    prt_value *v = prt_build_binary(g->b, PRT_OP_reshape, x, prt_build_i64s(g->b, 3, groups));
    v = prt_grad_reshape(g, standardised(g, v, 1, &last, a->epsilon, true), x);
    return prt_grad_by(g,
        scaled(g, v, per_channel(g, prt_grad_x(g, 1), rank),
            per_channel(g, prt_grad_x(g, 2), rank)));
}

/* Uses the statistics of the batch in training mode, else the statistics that are inputs. */
poprt_status prt_grad_batch_norm(prt_grad *g)
{
    const prt_batch_normalization_attrs *a = g->op->attrs;
    int64_t axes[PRT_MAX_RANK] = { 0 };
    prt_value *x = prt_grad_x(g, 0), *v;
    const int32_t rank = prt_grad_rank(x);
    if (rank < 2 || !only_first_output(g))
        return prt_grad_refuse(g,
            rank < 2 ? "needs an input of known rank" : "its statistics are used");
    if (a->training_mode != 0) {
        const uint32_t count = 1 + axes_from(2, rank, axes + 1);
        v = standardised(g, x, count, axes, a->epsilon, true);
    } else {
        prt_value *variance = per_channel(g, prt_grad_x(g, 4), rank);
        prt_value *safe =
            prt_grad_add(g, variance, prt_grad_number(g, variance, (double)a->epsilon));
        v = prt_grad_div(g, prt_grad_sub(g, x, per_channel(g, prt_grad_x(g, 3), rank)),
            prt_grad_call(g, PRT_OP_sqrt, safe));
    }
    return prt_grad_by(g,
        scaled(g, v, per_channel(g, prt_grad_x(g, 1), rank),
            per_channel(g, prt_grad_x(g, 2), rank)));
}
