/* SPDX-License-Identifier: MIT */
/*
 * q_moe.c — QMoE, a mixture of quantised experts: the router selects k experts for each token, and
 * their results are added with the router's weights. Weights are integers of 2, 4 or 8 bits with a
 * scale by row or by block of a row, or float8e4m3fn with a scale by square block or by expert.
 */
#include "op/microsoft/q_moe.h"

#include <math.h>

#include "op/share/order.h"

enum { IN_X, IN_ROUTER, IN_ROUTER_WEIGHTS = 14 };

typedef struct route {
    size_t tokens, experts, hidden, inter, chosen; /* chosen: k */
    size_t *expert;                                /* [tokens, chosen] */
    double *weight;
    int64_t *order; /* scratch for sorting, 2 * experts */
} route;

static int larger_first(const void *user, int64_t a, int64_t b)
{
    return prt_order_compare(PRT_DTYPE_f64, user, (size_t)b, (size_t)a);
}

/* Chooses the k largest numbers of row t; ties go to the lower index. Weights come from `table` if
   given; otherwise they are the softmax over all experts or, with `normalise`, over these k. */
static void choose(const double *router, const double *table, bool normalise, route *r, size_t t)
{
    const double *row = router + t * r->experts;
    size_t *expert = r->expert + t * r->chosen;
    double *weight = r->weight + t * r->chosen, sum = 0;
    for (size_t e = 0; e < r->experts; e++)
        r->order[e] = (int64_t)e;
    prt_order_sort(r->order, r->order + r->experts, r->experts, larger_first, row);
    for (size_t i = 0; i < r->chosen; i++)
        expert[i] = (size_t)r->order[i];
    for (size_t i = 0; i < r->chosen; i++) {
        weight[i] = table != NULL ? table[t * r->experts + expert[i]]
                                  : exp(row[expert[i]] - row[expert[0]]);
        sum += weight[i];
    }
    if (table == NULL && !normalise) {
        sum = 0;
        for (size_t e = 0; e < r->experts; e++)
            sum += exp(row[e] - row[expert[0]]);
    }
    if (table != NULL && !normalise)
        sum = 1;
    for (size_t i = 0; i < r->chosen; i++)
        weight[i] = sum != 0 ? weight[i] / sum : 0;
}

static poprt_status choose_all(prt_eval *c, route *r)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const double *router, *table;
    r->expert = prt_eval_scratch(c, r->tokens, r->chosen * sizeof(size_t));
    r->weight = prt_eval_scratch(c, r->tokens, r->chosen * sizeof(double));
    r->order = prt_eval_scratch(c, r->experts, 2 * sizeof(int64_t));
    if (r->expert == NULL || r->weight == NULL || r->order == NULL ||
        !prt_load_reals(c, IN_ROUTER, &router) || !prt_load_reals(c, IN_ROUTER_WEIGHTS, &table))
        return POPRT_E_NOMEM;
    for (size_t t = 0; t < r->tokens; t++)
        choose(router, table, a->normalize_routing_weights != 0, r, t);
    return POPRT_OK;
}

/* ---- an expert ---- */

static const double PI = 3.14159265358979323846;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* gelu is the tanh approximation. */
static double activate(prt_str name, double x)
{
    if (prt_str_is(name, "relu"))
        return x < 0 ? 0 : x;
    if (prt_str_is(name, "gelu"))
        return 0.5 * x * (1 + tanh(sqrt(2 / PI) * (x + 0.044715 * x * x * x)));
    return prt_str_is(name, "silu") ? x * sigmoid(x) : x;
}

static double swiglu(const prt_ms_qmoe_attrs *a, double gate, double linear)
{
    const uint32_t attr = prt_op_attr(prt_op_of(PRT_OP_ms_qmoe), PRT_STR("swiglu_limit"));
    if (prt_attr_given(a, attr)) {
        const double limit = (double)a->swiglu_limit;
        gate = fmin(gate, limit);
        linear = fmax(fmin(linear, limit), -limit);
    }
    return gate * sigmoid((double)a->activation_alpha * gate) *
        (linear + (double)a->activation_beta);
}

/* Applies activation and gate: from the results of FC1 (and FC3) of a token to the input of FC2. */
static void gate_row(const prt_ms_qmoe_attrs *a, size_t inter, const double *first,
    const double *third, double *to)
{
    const bool is_swiglu = prt_str_is(a->activation_type, "swiglu");
    for (size_t i = 0; i < inter; i++) {
        if (is_swiglu && a->swiglu_fusion == 1)
            to[i] = swiglu(a, first[2 * i], first[2 * i + 1]);
        else if (is_swiglu)
            to[i] = swiglu(a, first[i], third != NULL ? third[i] : first[inter + i]);
        else
            to[i] = activate(a->activation_type, first[i]) * (third != NULL ? third[i] : 1);
    }
}

/* Multiplies rows by one of an expert's three matrices; y is doubles [tokens, n]. */
static poprt_status multiply(prt_eval *c, uint32_t which, size_t expert, const prt_tensor *x,
    prt_tensor *y)
{
    prt_moe_weights w;
    const double *bias;
    PRT_TRY(prt_moe_weights_init(c, which, expert, &w, &bias));
    const int64_t dims[] = { x->dims[0], (int64_t)w.n };
    const prt_unpacked_matmul weights = { .n = w.n, .k = w.k, .column = w.column, .user = &w };
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 2, dims, y));
    return prt_unpacked_matmul_run(c, &weights, x, bias, y);
}

/* Adds the weighted results of expert `e` for the tokens that chose it. */
static poprt_status run_expert(prt_eval *c, const route *r, const double *x, size_t e, double *sums)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const bool gated = prt_eval_has(c, prt_moe_slot(2));
    prt_tensor rows, first, third = { 0 }, middle, last;
    size_t n = 0;
    for (size_t i = 0; i < r->tokens * r->chosen; i++)
        n += r->expert[i] == e;
    if (n == 0)
        return POPRT_OK;
    const int64_t in[] = { (int64_t)n, (int64_t)r->hidden };
    const int64_t between[] = { (int64_t)n, (int64_t)r->inter };
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 2, in, &rows));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 2, between, &middle));
    n = 0;
    for (size_t i = 0; i < r->tokens * r->chosen; i++)
        if (r->expert[i] == e)
            memcpy((double *)rows.data + n++ * r->hidden, x + i / r->chosen * r->hidden,
                r->hidden * sizeof(double));
    PRT_TRY(multiply(c, 0, e, &rows, &first));
    if (gated)
        PRT_TRY(multiply(c, 2, e, &rows, &third));
    for (size_t t = 0; t < n; t++)
        gate_row(a, r->inter, (double *)first.data + t * (size_t)first.dims[1],
            gated ? (double *)third.data + t * r->inter : NULL,
            (double *)middle.data + t * r->inter);
    PRT_TRY(multiply(c, 1, e, &middle, &last));
    const double *from = last.data;
    for (size_t i = 0; i < r->tokens * r->chosen; i++) {
        if (r->expert[i] != e)
            continue;
        double *to = sums + i / r->chosen * r->hidden;
        for (size_t k = 0; k < r->hidden; k++)
            to[k] += r->weight[i] * from[k];
        from += r->hidden;
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_qmoe_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X], *fc2 = c->in[prt_moe_slot(1)];
    prt_tensor *y = c->out[0];
    route r = { .hidden = (size_t)x->dims[x->rank - 1],
        .experts = (size_t)c->in[IN_ROUTER]->dims[1],
        .tokens = (size_t)c->in[IN_ROUTER]->dims[0],
        .chosen = (size_t)a->k,
        .inter = (size_t)fc2->dims[2] * prt_moe_packing(c, 1) };
    if (prt_tensor_count(y) == 0)
        return POPRT_OK;
    const double *rows = prt_eval_reals(c, x);
    double *sums = prt_eval_scratch(c, r.tokens, r.hidden * sizeof(double));
    if (rows == NULL || sums == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(choose_all(c, &r));
    for (size_t e = 0; e < r.experts; e++) {
        PRT_TRY(c->host->check(c));
        PRT_TRY(run_expert(c, &r, rows, e, sums));
    }
    prt_reals_store(y->dtype, y->data, 0, 1, prt_tensor_count(y), sums);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qmoe = { .infer = prt_moe_infer, .eval = eval };
