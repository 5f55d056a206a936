/* SPDX-License-Identifier: MIT */
/*
 * grad_norm.c — gradients of softmax and normalisations. Normalisations are rebuilt from simpler
 * operators; the rules of these give the gradients if the statistics
 * are used too.
 */
#include "train/norm.h"
#include "train/terms.h"

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

prt_standardized prt_grad_standardize(prt_grad *g, prt_value *x, uint32_t count,
    const int64_t *axes, double epsilon, bool centred)
{
    prt_standardized s = { 0 };
    prt_value *d = x;
    if (centred) {
        s.mean = prt_grad_mean(g, x, count, axes);
        d = SUB(x, s.mean);
    }
    s.variance = prt_grad_mean(g, MUL(d, d), count, axes);
    prt_value *deviation = CALL(sqrt, ADD(s.variance, NUM(x, epsilon)));
    s.y = DIV(d, deviation);
    s.inverse = CALL(reciprocal, deviation);
    return s;
}

prt_value *prt_grad_scaled(prt_grad *g, prt_value *v, prt_value *scale, prt_value *bias)
{
    if (scale != NULL)
        v = MUL(v, prt_grad_cast_as(g, scale, v));
    return bias != NULL ? ADD(v, prt_grad_cast_as(g, bias, v)) : v;
}

/* Whether the results other than output 0 have no gradient. */
static bool only_first_output(const prt_grad *g)
{
    for (uint32_t i = 1; i < g->op->n_out; i++)
        if (g->out[i] != NULL)
            return false;
    return true;
}

/*
 * The gradient of x, of which `s` are the parts along the axes, from that of s.y, which is `d`:
 * inverse * (d - mean(d) - y * mean(d * y)); the mean of d counts as 0 if x was not centred.
 */
static prt_value *centred_gradient(prt_grad *g, const prt_standardized *s, prt_value *d,
    uint32_t count, const int64_t *axes)
{
    prt_value *dx = SUB(d, MUL(s->y, prt_grad_mean(g, MUL(d, s->y), count, axes)));
    if (s->mean != NULL)
        dx = SUB(dx, prt_grad_mean(g, d, count, axes));
    return MUL(dx, s->inverse);
}

/* Sets the gradients of y * scale + bias with respect to both, and returns that of y. */
static prt_value *factor_gradients(prt_grad *g, prt_value *y, prt_value *scale, prt_value *bias,
    poprt_status (*set)(prt_grad *g, uint32_t i, prt_value *v))
{
    prt_value *dy = g->out[0];
    if (scale != NULL && g->b->status == POPRT_OK && g->wanted[1])
        g->b->status =
            set(g, 1, prt_grad_cast_as(g, MUL(dy, prt_grad_cast_as(g, y, dy)), prt_grad_x(g, 1)));
    if (bias != NULL && g->b->status == POPRT_OK && g->wanted[2])
        g->b->status = set(g, 2, prt_grad_cast_as(g, dy, prt_grad_x(g, 2)));
    prt_value *d = prt_grad_cast_as(g, dy, y);
    return scale != NULL ? MUL(d, prt_grad_cast_as(g, scale, y)) : d;
}

uint32_t prt_grad_axes_from(int64_t first, int32_t rank, int64_t *axes)
{
    uint32_t count = 0;
    for (int64_t i = first < 0 ? first + rank : first; i < rank; i++)
        axes[count++] = i;
    return count;
}

prt_value *prt_grad_per_channel(prt_grad *g, prt_value *v, int32_t rank)
{
    int64_t axes[PRT_MAX_RANK];
    return prt_grad_unsqueeze(g, v, prt_grad_axes_from(1, rank - 1, axes), axes);
}

/* Output i in its own element type. */
static prt_value *as_output(prt_grad *g, uint32_t i, prt_value *v)
{
    return i < g->op->n_out && g->out[i] != NULL ? prt_grad_cast_as(g, v, &g->op->out[i]) : v;
}

poprt_status prt_grad_layer_norm_by(prt_grad *g, int64_t axis, double epsilon, bool centred)
{
    int64_t axes[PRT_MAX_RANK];
    prt_value *x = prt_grad_x(g, 0), *scale = prt_grad_x(g, 1);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 1)
        return prt_grad_refuse(g, "needs an input of known rank");
    const uint32_t count = prt_grad_axes_from(axis, rank, axes);
    const prt_standardized s = prt_grad_standardize(g, x, count, axes, epsilon, centred);
    prt_value *y = s.y;
    if (only_first_output(g)) {
        prt_value *d =
            factor_gradients(g, y, scale, centred ? prt_grad_x(g, 2) : NULL, prt_grad_set);
        return g->wanted[0] ? prt_grad_set(g, 0, centred_gradient(g, &s, d, count, axes))
                            : g->b->status;
    }
    if (!centred && scale != NULL) /* the result has the type of the scale */
        y = prt_grad_cast_as(g, y, scale);
    prt_value *const ys[3] = { prt_grad_scaled(g, y, scale, centred ? prt_grad_x(g, 2) : NULL),
        as_output(g, 1, s.mean), as_output(g, 2, s.inverse) };
    return prt_grad_by_outputs(g, ys);
}

poprt_status prt_grad_layer_norm(prt_grad *g)
{
    const prt_layer_normalization_attrs *a = g->op->attrs;
    return prt_grad_layer_norm_by(g, a->axis, (double)a->epsilon, true);
}

poprt_status prt_grad_rms_norm(prt_grad *g)
{
    const prt_rms_normalization_attrs *a = g->op->attrs;
    return prt_grad_layer_norm_by(g, a->axis, (double)a->epsilon, false);
}

poprt_status prt_grad_instance_norm(prt_grad *g)
{
    const prt_instance_normalization_attrs *a = g->op->attrs;
    int64_t axes[PRT_MAX_RANK];
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 3)
        return prt_grad_refuse(g, "needs an input of known rank");
    const uint32_t count = prt_grad_axes_from(2, rank, axes);
    const prt_standardized s = prt_grad_standardize(g, x, count, axes, (double)a->epsilon, true);
    prt_value *d = factor_gradients(g, s.y, prt_grad_per_channel(g, prt_grad_x(g, 1), rank),
        prt_grad_x(g, 2), prt_grad_set_bias);
    return g->wanted[0] ? prt_grad_set(g, 0, centred_gradient(g, &s, d, count, axes))
                        : g->b->status;
}

poprt_status prt_grad_group_norm_by(prt_grad *g, int64_t groups, double epsilon)
{
    static const int64_t last[1] = { 2 }, row[1] = { -1 };
    const int64_t dims[3] = { 0, groups, -1 };
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 2)
        return prt_grad_refuse(g, "needs an input of known rank");
    const prt_standardized s =
        prt_grad_standardize(g, prt_grad_reshape_to(g, x, 3, dims), 1, last, epsilon, true);
    if (only_first_output(g)) {
        prt_value *d = factor_gradients(g, prt_grad_reshape(g, s.y, x),
            prt_grad_per_channel(g, prt_grad_x(g, 1), rank), prt_grad_x(g, 2), prt_grad_set_bias);
        d = prt_grad_reshape_to(g, d, 3, dims);
        return g->wanted[0]
            ? prt_grad_set(g, 0, prt_grad_reshape(g, centred_gradient(g, &s, d, 1, last), x))
            : g->b->status;
    }
    prt_value *ys[3] = { prt_grad_scaled(g, prt_grad_reshape(g, s.y, x),
                             prt_grad_per_channel(g, prt_grad_x(g, 1), rank),
                             prt_grad_per_channel(g, prt_grad_x(g, 2), rank)),
        prt_grad_reshape_to(g, s.mean, 1, row), prt_grad_reshape_to(g, s.inverse, 1, row) };
    return prt_grad_by_outputs(g, ys);
}

poprt_status prt_grad_group_norm(prt_grad *g)
{
    const prt_group_normalization_attrs *a = g->op->attrs;
    return prt_grad_group_norm_by(g, a->num_groups, (double)a->epsilon);
}

/* momentum * old + (1 - momentum) * now */
static prt_value *running(prt_grad *g, const prt_batch_norm_grad *n, uint32_t input, prt_value *now)
{
    prt_value *old = prt_grad_x(g, input);
    now = prt_grad_cast_as(g, now, old);
    return ADD(MUL(NUM(old, n->momentum), old), MUL(NUM(old, 1.0 - n->momentum), now));
}

/* The variance without bias, as the operator of ai.graphcore defines it. */
static prt_value *without_bias(prt_grad *g, const prt_batch_norm_grad *n, prt_value *x,
    prt_value *variance)
{
    prt_value *count = prt_grad_ratio(g, x, variance, variance), *epsilon = NUM(x, n->epsilon);
    prt_value *factor = DIV(count, SUB(count, NUM(x, 1.0)));
    return SUB(MUL(ADD(variance, epsilon), factor), epsilon);
}

static poprt_status batch_norm_of_batch(prt_grad *g, const prt_batch_norm_grad *n, int32_t rank)
{
    int64_t axes[PRT_MAX_RANK] = { 0 };
    prt_value *x = prt_grad_x(g, 0), *ys[5];
    const uint32_t count = 1 + prt_grad_axes_from(2, rank, axes + 1);
    const prt_standardized s = prt_grad_standardize(g, x, count, axes, n->epsilon, true);
    if (only_first_output(g)) {
        prt_value *d = factor_gradients(g, s.y, prt_grad_per_channel(g, prt_grad_x(g, 1), rank),
            prt_grad_x(g, 2), prt_grad_set_bias);
        return g->wanted[0] ? prt_grad_set(g, 0, centred_gradient(g, &s, d, count, axes))
                            : g->b->status;
    }
    ys[0] = prt_grad_scaled(g, s.y, prt_grad_per_channel(g, prt_grad_x(g, 1), rank),
        prt_grad_per_channel(g, prt_grad_x(g, 2), rank));
    ys[3] = prt_grad_squeeze(g, s.mean, count, axes);
    ys[4] = prt_grad_squeeze(g, s.variance, count, axes);
    if (n->unbiased)
        ys[4] = without_bias(g, n, x, ys[4]);
    ys[1] = running(g, n, 3, ys[3]);
    ys[2] = running(g, n, 4, ys[4]);
    ys[3] = as_output(g, 3, ys[3]);
    ys[4] = as_output(g, 4, ys[4]);
    return prt_grad_by_outputs(g, ys);
}

/* Uses the statistics of the batch in training mode, else the statistics that are inputs. */
poprt_status prt_grad_batch_norm_by(prt_grad *g, const prt_batch_norm_grad *n)
{
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    if (rank < 2)
        return prt_grad_refuse(g, "needs an input of known rank");
    if (n->training)
        return batch_norm_of_batch(g, n, rank);
    prt_value *mean = prt_grad_cast_as(g, prt_grad_per_channel(g, prt_grad_x(g, 3), rank), x);
    prt_value *variance = prt_grad_cast_as(g, prt_grad_per_channel(g, prt_grad_x(g, 4), rank), x);
    prt_value *deviation = CALL(sqrt, ADD(variance, NUM(x, n->epsilon)));
    return prt_grad_by(g,
        prt_grad_scaled(g, DIV(SUB(x, mean), deviation),
            prt_grad_per_channel(g, prt_grad_x(g, 1), rank),
            prt_grad_per_channel(g, prt_grad_x(g, 2), rank)));
}

poprt_status prt_grad_batch_norm(prt_grad *g)
{
    const prt_batch_normalization_attrs *a = g->op->attrs;
    return prt_grad_batch_norm_by(g,
        &(prt_batch_norm_grad){ .training = a->training_mode != 0,
            .epsilon = (double)a->epsilon,
            .momentum = (double)a->momentum });
}

/* (x - mean) / (deviation + 1e-9) over the axes. */
poprt_status prt_grad_mean_variance_norm(prt_grad *g)
{
    static const int64_t usual[3] = { 0, 2, 3 };
    const prt_mean_variance_normalization_attrs *a = g->op->attrs;
    const prt_i64s axes = prt_attr_given(a, 0) ? a->axes : (prt_i64s){ usual, 3 };
    prt_value *x = prt_grad_x(g, 0), *d = SUB(x, prt_grad_mean(g, x, axes.count, axes.data));
    prt_value *variance = prt_grad_mean(g, MUL(d, d), axes.count, axes.data);
    return prt_grad_by(g, DIV(d, ADD(CALL(sqrt, variance), NUM(x, 1e-9))));
}

/* x divided by its norm along the axis. */
poprt_status prt_grad_lp_norm(prt_grad *g)
{
    const prt_lp_normalization_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *in[2] = { x, prt_build_i64s(g->b, 1, &a->axis) };
    prt_value *norm =
        prt_build_op(g->b, a->p == 1 ? PRT_OP_reduce_l1 : PRT_OP_reduce_l2, NULL, 2, in);
    prt_value *is_zero = BINARY(equal, norm, NUM(x, 0.0));
    return prt_grad_by(g, DIV(x, WHERE(is_zero, NUM(x, 1.0), norm)));
}

/* x / (bias + alpha / size * sum of the squares of neighbouring channels) ^ beta. The sums are
 * those of an average pool along the channels. */
poprt_status prt_grad_lrn(prt_grad *g)
{
    const prt_lrn_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0);
    const int32_t rank = prt_grad_rank(x);
    static const int64_t image[4] = { 0, 1, -1, 0 };
    int64_t dims[4];
    if (rank < 2 || !prt_dim_is_number(x->type->dims[1]))
        return prt_grad_refuse(g, "needs a known number of channels");
    memcpy(dims, image, sizeof(dims));
    dims[2] = x->type->dims[1];
    dims[3] = -1;
    const int64_t kernel[2] = { a->size, 1 };
    const int64_t pads[4] = { (a->size - 1) / 2, 0, a->size / 2, 0 };
    prt_average_pool_attrs pool = PRT_ATTRS_OF(average_pool);
    const prt_i64s kernel_shape = { kernel, 2 }, padding = { pads, 4 };
    PRT_ATTR_SET(pool, average_pool, kernel_shape, kernel_shape);
    PRT_ATTR_SET(pool, average_pool, pads, padding);
    PRT_ATTR_SET(pool, average_pool, count_include_pad, 1);
    prt_value *squares = prt_grad_reshape_to(g, MUL(x, x), 4, dims);
    prt_value *mean =
        prt_grad_reshape(g, prt_build_op(g->b, PRT_OP_average_pool, &pool, 1, &squares), x);
    prt_value *base = ADD(NUM(x, (double)a->bias), MUL(NUM(x, (double)a->alpha), mean));
    return prt_grad_by(g, DIV(x, BINARY(pow, base, NUM(x, (double)a->beta))));
}
