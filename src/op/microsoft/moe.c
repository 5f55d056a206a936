/* SPDX-License-Identifier: MIT */
/*
 * moe.c — MoE, a mixture of experts: a router selects k of the feed-forward networks ("experts")
 * for each token, and their outputs are added with the router's weights.
 *
 * An expert is fc2(activation(fc1(x)) * fc3(x)); fc3 is optional. For SwiGLU, gate and linear part
 * are fc1 and fc3, or both in fc1, interleaved or in two halves.
 */
#include <math.h>

#include "op/share/gelu.h"
#include "op/microsoft/attention_parts.h"

enum { IN_X, IN_ROUTER, IN_FC1, IN_BIAS1, IN_FC2, IN_BIAS2, IN_FC3, IN_BIAS3 };
enum { ATTR_LIMIT = 6 };
enum { FUSION_NONE, FUSION_MIXED, FUSION_HALVES };

typedef prt_ms_moe_attrs attrs;

static bool is_swiglu(const attrs *a)
{
    return prt_str_is(a->activation_type, "swiglu");
}

/* Returns the rows of fc1 for each output of the activation. */
static int64_t fused_rows(const attrs *a)
{
    return is_swiglu(a) && a->swiglu_fusion != FUSION_NONE ? 2 : 1;
}

static poprt_status check_attrs(const prt_infer *c, const attrs *a)
{
    static const char *const names[] = { "relu", "gelu", "silu", "swiglu", "identity" };
    bool known = false;
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++)
        known = known || prt_str_is(a->activation_type, names[i]);
    if (!known)
        return prt_infer_fail(c, POPRT_E_PARSE,
            "activation_type is \"%.*s\"; accepted: relu, "
            "gelu, silu, swiglu, identity",
            PRT_STR_ARG(a->activation_type));
    if (a->swiglu_fusion < FUSION_NONE || a->swiglu_fusion > FUSION_HALVES)
        return prt_infer_fail(c, POPRT_E_ARG, "swiglu_fusion is %lld; accepted: 0, 1, 2",
            (long long)a->swiglu_fusion);
    if (is_swiglu(a) && a->swiglu_fusion == FUSION_NONE && !prt_infer_has(c, IN_FC3))
        return prt_infer_fail(c, POPRT_E_ARG, "swiglu without swiglu_fusion needs fc3");
    if (a->k < 1 || (a->use_sparse_mixer != 0 && a->k != 2))
        return prt_infer_fail(c, POPRT_E_ARG,
            "k is %lld; at least 1 is needed, and 2 with use_sparse_mixer", (long long)a->k);
    return POPRT_OK;
}

/* Checks weights [experts, rows, cols] and the bias [experts, rows] in the next input. */
static poprt_status check_layer(const prt_infer *c, uint32_t i, int64_t experts, int64_t rows,
    int64_t cols)
{
    const int64_t want[3] = { experts, rows, cols };
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, i, 3));
    PRT_TRY(prt_infer_rank(c, i + 1, 2));
    for (uint32_t k = 0; k < 3; k++) {
        PRT_TRY(prt_infer_merge(c, want[k], prt_infer_dim(c, i, k), "a dim of the weights", &dim));
        if (k < 2)
            PRT_TRY(
                prt_infer_merge(c, want[k], prt_infer_dim(c, i + 1, k), "a dim of the bias", &dim));
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[IN_X];
    int64_t dim, tokens = PRT_DIM_UNKNOWN;
    PRT_TRY(check_attrs(c, a));
    const int64_t hidden =
        prt_infer_ranked(c, IN_X) && x->rank > 0 ? x->dims[x->rank - 1] : PRT_DIM_UNKNOWN;
    if (prt_infer_ranked(c, IN_X)) {
        if (x->rank != 2 && x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 2, 3",
                x->rank);
        tokens = prt_infer_product(c, x->dims, 0, (uint32_t)x->rank - 1);
    }
    PRT_TRY(prt_infer_rank(c, IN_ROUTER, 2));
    PRT_TRY(prt_infer_merge(c, tokens, prt_infer_dim(c, IN_ROUTER, 0), "the tokens", &dim));
    const int64_t experts = prt_infer_dim(c, IN_ROUTER, 1), inner = prt_infer_dim(c, IN_FC2, 2);
    if (prt_dim_is_number(experts) && a->k > experts)
        return prt_infer_fail(c, POPRT_E_ARG, "k is %lld, but there are %lld experts",
            (long long)a->k, (long long)experts);
    PRT_TRY(check_layer(c, IN_FC1, experts, prt_dim_mul(c->dims, inner, fused_rows(a)), hidden));
    PRT_TRY(check_layer(c, IN_FC2, experts, hidden, inner));
    PRT_TRY(check_layer(c, IN_FC3, experts, inner, hidden));
    return prt_infer_like(c, 0, IN_X, x->dtype);
}

/* ---- routing ---- */

/* Returns the expert with the highest rate that is not taken yet. */
static size_t find_best(const double *rate, const double *taken, size_t n)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        if (taken[i] == 0 && (best == SIZE_MAX || rate[i] > rate[best]))
            best = i;
    return best;
}

/* Computes the weights of the k highest-rated experts: their softmax over all experts, or with
   `normalize` over these k. */
static void route(const attrs *a, const double *rate, size_t n, double *weight)
{
    double sum = 0, chosen = 0;
    const size_t top = find_best(rate, weight, n);
    for (size_t i = 0; i < n; i++)
        sum += exp(rate[i] - rate[top]);
    for (int64_t k = 0; k < a->k; k++) {
        const size_t i = find_best(rate, weight, n);
        weight[i] = fmax(exp(rate[i] - rate[top]) / sum, 0x1p-1022);
        chosen += weight[i];
    }
    for (size_t i = 0; i < n && a->normalize_routing_weights != 0; i++)
        weight[i] /= chosen;
}

/* Sparse mixer: in each of two rounds the best expert gets its softmax weight among the experts
   whose rate is within a relative 2 % of the best. */
static void mix_sparsely(const double *rate, size_t n, double *weight)
{
    const double tolerance = 0.02;
    size_t first = SIZE_MAX;
    for (size_t round = 0; round < 2; round++) {
        const size_t best = find_best(rate, weight, n);
        double sum = 0;
        for (size_t i = 0; i < n && best != SIZE_MAX; i++) {
            const double factor = fmax(fabs(rate[i]), rate[best]);
            if (i != first && !((rate[best] - rate[i]) / factor > tolerance))
                sum += exp(rate[i] - rate[best]);
        }
        if (best != SIZE_MAX)
            weight[best] = 1 / sum;
        first = best;
    }
}

/* ---- experts ---- */

/* Computes y = w x + bias for one expert. */
static void layer(const prt_eval *c, uint32_t i, size_t expert, const double *x, double *y)
{
    const prt_tensor *w = c->in[i], *bias = prt_ms_in(c, i + 1);
    const size_t rows = (size_t)w->dims[1], cols = (size_t)w->dims[2];
    for (size_t r = 0; r < rows; r++) {
        double sum = bias != NULL ? prt_real_at(bias, expert * rows + r) : 0;
        for (size_t k = 0; k < cols; k++)
            sum += prt_real_at(w, (expert * rows + r) * cols + k) * x[k];
        y[r] = sum;
    }
}

static double activate(const attrs *a, double x)
{
    if (prt_str_is(a->activation_type, "gelu"))
        return prt_gelu_tanh(x);
    if (prt_str_is(a->activation_type, "silu"))
        return prt_silu(x);
    return prt_str_is(a->activation_type, "relu") ? (x > 0 ? x : 0) : x;
}

static double swiglu(const attrs *a, double gate, double linear)
{
    if (prt_attr_given(a, ATTR_LIMIT)) {
        const double limit = (double)a->swiglu_limit;
        gate = fmin(gate, limit);
        linear = fmax(fmin(linear, limit), -limit);
    }
    return gate / (1 + exp(-(double)a->activation_alpha * gate)) *
        (linear + (double)a->activation_beta);
}

/* Applies activation and gate to fc1's output `h` in place; `other` is fc3's output, or NULL. */
static void apply_gate(const attrs *a, size_t n, const double *other, double *h)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_swiglu(a))
            h[i] = activate(a, h[i]) * (other != NULL ? other[i] : 1);
        else if (a->swiglu_fusion == FUSION_MIXED)
            h[i] = swiglu(a, h[2 * i], h[2 * i + 1]);
        else
            h[i] = swiglu(a, h[i], other != NULL ? other[i] : h[n + i]);
    }
}

typedef struct token_scratch {
    double *x, *rate, *weight, *inner, *other, *part, *sum;
} token_scratch;

static poprt_status run_token(prt_eval *c, const token_scratch *m, size_t token)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X];
    const size_t hidden = (size_t)x->dims[x->rank - 1], n = (size_t)c->in[IN_FC2]->dims[2];
    const size_t experts = (size_t)c->in[IN_ROUTER]->dims[1];
    const bool third = prt_eval_has(c, IN_FC3);
    PRT_TRY(c->host->check(c));
    prt_reals_load(x->dtype, x->data, token * hidden, 1, hidden, m->x);
    prt_reals_load(c->in[IN_ROUTER]->dtype, c->in[IN_ROUTER]->data, token * experts, 1, experts,
        m->rate);
    memset(m->weight, 0, experts * sizeof(double));
    memset(m->sum, 0, hidden * sizeof(double));
    if (a->use_sparse_mixer != 0)
        mix_sparsely(m->rate, experts, m->weight);
    else
        route(a, m->rate, experts, m->weight);
    for (size_t e = 0; e < experts; e++) {
        if (m->weight[e] == 0)
            continue;
        layer(c, IN_FC1, e, m->x, m->inner);
        if (third)
            layer(c, IN_FC3, e, m->x, m->other);
        apply_gate(a, n, third ? m->other : NULL, m->inner);
        layer(c, IN_FC2, e, m->inner, m->part);
        for (size_t i = 0; i < hidden; i++)
            m->sum[i] += m->weight[e] * m->part[i];
    }
    prt_reals_store(x->dtype, c->out[0]->data, token * hidden, 1, hidden, m->sum);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[IN_X];
    const size_t hidden = (size_t)x->dims[x->rank - 1], inner = (size_t)c->in[IN_FC1]->dims[1];
    const size_t experts = (size_t)c->in[IN_ROUTER]->dims[1];
    token_scratch m = { .x = prt_eval_scratch(c, hidden + 1, 3 * sizeof(double)),
        .rate = prt_eval_scratch(c, experts + 1, 2 * sizeof(double)),
        .inner = prt_eval_scratch(c, inner + 1, 2 * sizeof(double)) };
    if (m.x == NULL || m.rate == NULL || m.inner == NULL)
        return POPRT_E_NOMEM;
    m.part = m.x + hidden;
    m.sum = m.part + hidden;
    m.weight = m.rate + experts;
    m.other = m.inner + inner;
    if (!prt_eval_wants(c, 0) || prt_tensor_count(x) == 0 || experts == 0)
        return POPRT_OK;
    for (size_t t = 0; t < prt_tensor_count(x) / hidden; t++)
        PRT_TRY(run_token(c, &m, t));
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_moe = { .infer = infer, .eval = eval };
