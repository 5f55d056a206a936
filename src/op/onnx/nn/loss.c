/* SPDX-License-Identifier: MIT */
/*
 * loss.c — NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
 *
 * Scores are [N, C, d…], targets [N, d…]. The loss has the shape of the targets or is reduced to
 * one number. A target equal to ignore_index contributes nothing.
 */
#include <math.h>

#include "op/op.h"

enum { REDUCE_NONE, REDUCE_SUM, REDUCE_MEAN };

static bool reduction_of(prt_str text, int *out)
{
    if (prt_str_is(text, "none"))
        *out = REDUCE_NONE;
    else if (prt_str_is(text, "sum"))
        *out = REDUCE_SUM;
    else if (prt_str_is(text, "mean"))
        *out = REDUCE_MEAN;
    else
        return false;
    return true;
}

static poprt_status infer_loss(prt_infer *c, prt_str reduction_attr)
{
    const prt_shape *x = &c->in[0], *t = &c->in[1];
    int64_t dim, dims[PRT_MAX_RANK];
    int reduction;
    if (!reduction_of(reduction_attr, &reduction))
        return prt_infer_fail(c, POPRT_E_ARG, "reduction is not known; accepted: none, sum, mean");
    if (prt_infer_ranked(c, 0) && x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the scores have rank %d; a rank of at least 2 is required", x->rank);
    if (prt_infer_ranked(c, 2) && c->in[2].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the weights have rank %d; rank 1 is required",
            c->in[2].rank);
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 2))
        PRT_TRY(prt_infer_merge(c, x->dims[1], c->in[2].dims[0], "the number of classes", &dim));
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1)) {
        if (t->rank != x->rank - 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the scores have rank %d and the targets rank %d; one less is required", x->rank,
                t->rank);
        for (int32_t k = 0; k < t->rank; k++)
            PRT_TRY(prt_infer_merge(c, x->dims[k == 0 ? 0 : k + 1], t->dims[k], "a dim", &dims[k]));
    }
    if (reduction != REDUCE_NONE)
        return prt_infer_set(c, 0, x->dtype, 0, NULL);
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1))
        return prt_infer_set(c, 0, x->dtype, t->rank, dims);
    return prt_infer_like(c, 0, 1, x->dtype);
}

/* The scores as a block [outer, classes, inner], and the attributes. */
typedef struct loss {
    size_t outer, classes, inner;
    bool ignores;
    int64_t ignored;
    int reduction;
} loss;

static loss loss_of(const prt_tensor *x, bool ignores, int64_t ignored, prt_str reduction)
{
    loss l = { .outer = (size_t)x->dims[0],
        .classes = (size_t)x->dims[1],
        .inner = prt_dims_product(x->dims, 2, x->rank),
        .ignores = ignores,
        .ignored = ignored };
    (void)reduction_of(reduction, &l.reduction);
    return l;
}

/* Computes the sum of weighted losses from log-probabilities `lp`, or one loss for each target. */
static poprt_status reduce_loss(prt_eval *c, const loss *l, const prt_tensor *lp)
{
    const prt_tensor *t = c->in[1], *w = prt_eval_has(c, 2) ? c->in[2] : NULL;
    prt_tensor *y = prt_eval_wants(c, 0) ? c->out[0] : NULL;
    double sum = 0, weights = 0;
    const size_t n = prt_tensor_count(t);
    for (size_t i = 0; i < n; i++) {
        const int64_t target = prt_load_i64(t->dtype, t->data, i);
        double value = 0;
        if (!l->ignores || target != l->ignored) {
            if (target < 0 || target >= (int64_t)l->classes)
                return prt_eval_fail(c, POPRT_E_ARG,
                    "target %zu is class %lld, but there are %zu classes", i, (long long)target,
                    l->classes);
            const size_t row = i / l->inner * l->classes + (size_t)target;
            const size_t at = row * l->inner + i % l->inner;
            const double weight = w != NULL ? prt_load_f64(w->dtype, w->data, (size_t)target) : 1;
            value = -prt_load_f64(lp->dtype, lp->data, at) * weight;
            weights += weight;
        }
        sum += value;
        if (y != NULL && l->reduction == REDUCE_NONE)
            prt_store_f64(y->dtype, y->data, i, value);
    }
    if (y != NULL && l->reduction == REDUCE_SUM)
        prt_store_f64(y->dtype, y->data, 0, sum);
    if (y != NULL && l->reduction == REDUCE_MEAN)
        prt_store_f64(y->dtype, y->data, 0, sum / weights);
    return POPRT_OK;
}

static poprt_status nll_infer(prt_infer *c)
{
    const prt_negative_log_likelihood_loss_attrs *a = c->attrs;
    return infer_loss(c, a->reduction);
}

static poprt_status nll_eval(prt_eval *c)
{
    const prt_negative_log_likelihood_loss_attrs *a = c->attrs;
    const loss l = loss_of(c->in[0], prt_attr_given(a, 0), a->ignore_index, a->reduction);
    return reduce_loss(c, &l, c->in[0]);
}

static poprt_status cross_entropy_infer(prt_infer *c)
{
    const prt_softmax_cross_entropy_loss_attrs *a = c->attrs;
    PRT_TRY(infer_loss(c, a->reduction));
    return prt_infer_like(c, 1, 0, c->in[0].dtype);
}

/* Computes log-softmax over the classes, in double. */
static void log_softmax(const loss *l, const prt_tensor *x, double *out)
{
    for (size_t o = 0; o < l->outer && l->classes != 0; o++)
        for (size_t i = 0; i < l->inner; i++) {
            const size_t at = o * l->classes * l->inner + i;
            double most = -HUGE_VAL, sum = 0;
            for (size_t k = 0; k < l->classes; k++)
                most = fmax(most, prt_load_f64(x->dtype, x->data, at + k * l->inner));
            for (size_t k = 0; k < l->classes; k++)
                sum += exp(prt_load_f64(x->dtype, x->data, at + k * l->inner) - most);
            for (size_t k = 0; k < l->classes; k++)
                out[at + k * l->inner] =
                    prt_load_f64(x->dtype, x->data, at + k * l->inner) - most - log(sum);
        }
}

static poprt_status cross_entropy_eval(prt_eval *c)
{
    const prt_softmax_cross_entropy_loss_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const loss l = loss_of(x, prt_attr_given(a, 0), a->ignore_index, a->reduction);
    const size_t n = prt_tensor_count(x);
    double *values = prt_eval_scratch(c, n + 1, sizeof(double));
    if (values == NULL)
        return POPRT_E_NOMEM;
    if (n != 0)
        log_softmax(&l, x, values);
    prt_tensor lp = *x;
    lp.dtype = PRT_DTYPE_f64;
    lp.data = values;
    lp.size = n * sizeof(double);
    if (prt_eval_wants(c, 1))
        for (size_t i = 0; i < n; i++)
            prt_store_f64(x->dtype, c->out[1]->data, i, values[i]);
    return reduce_loss(c, &l, &lp);
}

const prt_op_hooks prt_op_negative_log_likelihood_loss = { .infer = nll_infer, .eval = nll_eval };
const prt_op_hooks prt_op_softmax_cross_entropy_loss = { .infer = cross_entropy_infer,
    .eval = cross_entropy_eval };
