/* SPDX-License-Identifier: MIT */
/* loss.c — L1, Nll and IdentityLoss of ai.graphcore, summed in double. */
#include <math.h>

#include "op/graphcore/onnx_hooks.h"

/* Infers output 0 as a scalar or, without reduction, with the shape of input `like`. */
static poprt_status infer_reduced(prt_infer *c, prt_str reduction, uint32_t like)
{
    prt_gc_reduction r;
    PRT_TRY(prt_gc_reduction_of(c, reduction, &r));
    const int32_t dtype = c->in[0].dtype;
    return r == PRT_GC_NONE ? prt_infer_like(c, 0, like, dtype)
                            : prt_infer_set(c, 0, dtype, 0, NULL);
}

/* Computes and reduces `n` losses; a mean divides the sum by `by`. */
static poprt_status reduce(prt_eval *c, prt_str reduction, size_t n,
    double (*value)(const prt_eval *c, size_t i), double by)
{
    const prt_gc_reduction r = prt_gc_reduction_again(reduction);
    double sum = 0.0;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    for (size_t i = 0; i < n; i++) {
        const double v = value(c, i);
        sum += v;
        if (r == PRT_GC_NONE)
            prt_store_f64(c->out[0]->dtype, c->out[0]->data, i, v);
    }
    if (r != PRT_GC_NONE)
        prt_store_f64(c->out[0]->dtype, c->out[0]->data, 0, r == PRT_GC_MEAN ? sum / by : sum);
    return POPRT_OK;
}

/* ---- IdentityLoss */

static double element(const prt_eval *c, size_t i)
{
    return prt_load_f64(c->in[0]->dtype, c->in[0]->data, i);
}

static poprt_status infer_identity(prt_infer *c)
{
    const prt_gc_identity_loss_attrs *a = c->attrs;
    return infer_reduced(c, a->reduction, 0);
}

static poprt_status eval_identity(prt_eval *c)
{
    const prt_gc_identity_loss_attrs *a = c->attrs;
    const size_t n = prt_tensor_count(c->in[0]);
    return reduce(c, a->reduction, n, element, (double)n);
}

const prt_op_hooks prt_op_gc_identity_loss = { .infer = infer_identity, .eval = eval_identity };

/* ---- L1 */

static double magnitude(const prt_eval *c, size_t i)
{
    const prt_gc_l1_attrs *a = c->attrs;
    return (double)a->lambda * fabs(element(c, i));
}

static poprt_status infer_l1(prt_infer *c)
{
    const prt_gc_l1_attrs *a = c->attrs;
    if (prt_infer_ranked(c, 0) && c->in[0].rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input is a scalar; at least rank 1 is needed");
    return infer_reduced(c, a->reduction, 0);
}

static poprt_status eval_l1(prt_eval *c)
{
    const prt_gc_l1_attrs *a = c->attrs;
    const size_t n = prt_tensor_count(c->in[0]);
    return reduce(c, a->reduction, n, magnitude, (double)n);
}

const prt_op_hooks prt_op_gc_l1 = { .infer = infer_l1, .eval = eval_l1 };

/* ---- Nll: -log of the probability of the label; a label outside the classes has probability 0 */

static poprt_status infer_nll(prt_infer *c)
{
    const prt_gc_nll_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *label = &c->in[1];
    int64_t merged;
    if (prt_infer_ranked(c, 0) && x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "probs is a scalar; at least rank 1 is needed");
    if (x->rank >= 0 && label->rank >= 0) {
        if (label->rank != x->rank - 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "probs has rank %d and label rank %d; label must have one dim less", x->rank,
                label->rank);
        for (int32_t i = 0; i < label->rank; i++)
            PRT_TRY(prt_infer_merge(c, x->dims[i], label->dims[i], "a dim of the label", &merged));
    }
    return infer_reduced(c, a->reduction, 1);
}

enum { IGNORE_INDEX = 1 }; /* index of the attribute */

static bool is_ignored(const prt_eval *c, size_t i)
{
    const prt_gc_nll_attrs *a = c->attrs;
    return prt_attr_given(a, IGNORE_INDEX) &&
        prt_load_i64(c->in[1]->dtype, c->in[1]->data, i) == a->ignoreIndex;
}

static double negative_log(const prt_eval *c, size_t i)
{
    const prt_gc_nll_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *label = c->in[1];
    const int64_t classes = x->dims[x->rank - 1], k = prt_load_i64(label->dtype, label->data, i);
    const double least = x->dtype == PRT_DTYPE_f16 ? 6.104e-5 : 1e-7;
    double p = 0.0;
    if (is_ignored(c, i))
        return 0.0;
    if (k >= 0 && k < classes)
        p = prt_load_f64(x->dtype, x->data, i * (size_t)classes + (size_t)k);
    if (a->inputIsLogProbability != 0)
        return 0.0 - p;
    return -log(p > least || p != p ? p : least);
}

static poprt_status eval_nll(prt_eval *c)
{
    const prt_gc_nll_attrs *a = c->attrs;
    const size_t n = prt_tensor_count(c->in[1]);
    size_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += !is_ignored(c, i);
    const bool all = !prt_attr_given(a, IGNORE_INDEX);
    return reduce(c, a->reduction, n, negative_log,
        all ? (double)n : (double)(counted != 0 ? counted : 1));
}

const prt_op_hooks prt_op_gc_nll = { .infer = infer_nll, .eval = eval_nll };
