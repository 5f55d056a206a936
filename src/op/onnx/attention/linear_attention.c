/* SPDX-License-Identifier: MIT */
/*
 * linear_attention.c — LinearAttention: each head has a matrix S [key size, value size]; each
 * position updates it with its key and value, and its query reads it:
 *
 *     S = exp(decay) * S                     gated, gated_delta
 *     v = beta * (v - S' k)                  delta, gated_delta
 *     S = S + k v';  output = scale * S' q
 *
 * Tensors are [batch, positions, heads * size]; the state is [batch, heads, key size, value size].
 */
#include <math.h>

#include "op/share/heads.h"
#include "op/share/reals.h"

enum { IN_Q, IN_K, IN_V, IN_PAST, IN_DECAY, IN_BETA };
enum { OUT_Y, OUT_STATE };

/* The parts of an update rule that come before the sum. */
typedef struct rule {
    const char *name;
    bool gated, delta;
} rule;

static const rule *rule_of(const prt_linear_attention_attrs *a)
{
    static const rule rules[] = {
        { "linear", false, false },
        { "gated", true, false },
        { "delta", false, true },
        { "gated_delta", true, true },
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (prt_str_is(a->update_rule, rules[i].name))
            return &rules[i];
    return NULL;
}

static poprt_status check_attrs(const prt_infer *c)
{
    const prt_linear_attention_attrs *a = c->attrs;
    const rule *r = rule_of(a);
    if (r == NULL)
        return prt_infer_fail(c, POPRT_E_ARG,
            "update_rule is \"%.*s\"; accepted: linear, gated, delta, gated_delta",
            PRT_STR_ARG(a->update_rule));
    if (a->q_num_heads < 1 || a->kv_num_heads < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "q_num_heads and kv_num_heads must be at least 1");
    if (prt_infer_has(c, IN_DECAY) != r->gated)
        return prt_infer_fail(c, POPRT_E_ARG, "update_rule %s %s the input decay", r->name,
            r->gated ? "requires" : "does not use");
    if (prt_infer_has(c, IN_BETA) != r->delta)
        return prt_infer_fail(c, POPRT_E_ARG, "update_rule %s %s the input beta", r->name,
            r->delta ? "requires" : "does not use");
    return prt_infer_head_groups(c, a->q_num_heads, a->kv_num_heads);
}

/* Checks that the last dim of input `i` is `shared` or `many`, where they are known. */
static poprt_status check_gate(const prt_infer *c, uint32_t i, int64_t shared, int64_t many)
{
    const int64_t have = prt_infer_dim(c, i, 2);
    if (!prt_dim_is_number(have) || !prt_dim_is_number(shared) || !prt_dim_is_number(many) ||
        have == shared || have == many)
        return POPRT_OK;
    return prt_infer_fail(c, POPRT_E_SHAPE,
        "the last dim of input %u (%s) is %lld; %lld or %lld "
        "is needed",
        i, prt_slot_name(prt_op_in_slot(c->def, i)), (long long)have, (long long)shared,
        (long long)many);
}

static poprt_status infer(prt_infer *c)
{
    const prt_linear_attention_attrs *a = c->attrs;
    int64_t batch = PRT_DIM_UNKNOWN, rows = PRT_DIM_UNKNOWN;
    int64_t size = PRT_DIM_UNKNOWN, key_size = PRT_DIM_UNKNOWN, value_size = PRT_DIM_UNKNOWN;
    PRT_TRY(check_attrs(c));
    for (uint32_t i = IN_Q; i <= IN_BETA; i++) {
        PRT_TRY(prt_infer_rank(c, i, i == IN_PAST ? 4 : 3));
        PRT_TRY(prt_infer_merge(c, batch, prt_infer_dim(c, i, 0), "the batch", &batch));
        if (i != IN_PAST)
            PRT_TRY(
                prt_infer_merge(c, rows, prt_infer_dim(c, i, 1), "the number of positions", &rows));
    }
    PRT_TRY(prt_infer_head_size(c, prt_infer_dim(c, IN_Q, 2), a->q_num_heads, &size));
    PRT_TRY(prt_infer_head_size(c, prt_infer_dim(c, IN_K, 2), a->kv_num_heads, &key_size));
    PRT_TRY(prt_infer_head_size(c, prt_infer_dim(c, IN_V, 2), a->kv_num_heads, &value_size));
    PRT_TRY(prt_infer_merge(c, size, key_size, "the head size", &size));
    const int64_t past[4] = { batch, a->kv_num_heads, size, value_size };
    int64_t state[4] = { batch, a->kv_num_heads, size, value_size };
    for (uint32_t k = 1; k < 4; k++)
        PRT_TRY(prt_infer_merge(c, past[k], prt_infer_dim(c, IN_PAST, k), "a dim of the state",
            &state[k]));
    PRT_TRY(
        check_gate(c, IN_DECAY, a->kv_num_heads, prt_dim_mul(c->dims, a->kv_num_heads, state[2])));
    PRT_TRY(check_gate(c, IN_BETA, a->kv_num_heads, 1));
    const int64_t y[3] = { batch, rows, prt_dim_mul(c->dims, a->q_num_heads, state[3]) };
    PRT_TRY(prt_infer_exact(c, OUT_Y, c->in[IN_Q].dtype, 3, y));
    return prt_infer_exact(c, OUT_STATE,
        prt_infer_has(c, IN_PAST) ? c->in[IN_PAST].dtype : c->in[IN_Q].dtype, 4, state);
}

typedef struct attention {
    const rule *rule;
    size_t rows, q_heads, heads, size, width; /* size: of a key; width: of a value */
    size_t decays, betas;                     /* last dims of the inputs decay and beta */
    double scale;
    double *state, *query, *key, *value, *decay, *sums; /* sums has `width` elements */
} attention;

static void load(const prt_tensor *t, size_t first, size_t count, double *to)
{
    prt_reals_load(t->dtype, t->data, first, 1, count, to);
}

/* Computes sums = x' S. */
static void read_state(attention *s, const double *x)
{
    memset(s->sums, 0, s->width * sizeof(double));
    for (size_t i = 0; i < s->size; i++)
        for (size_t j = 0; j < s->width; j++)
            s->sums[j] += x[i] * s->state[i * s->width + j];
}

/* Runs position `at` (counted through all batches) for head `h`. */
static void step(prt_eval *c, attention *s, size_t at, size_t h)
{
    load(c->in[IN_K], (at * s->heads + h) * s->size, s->size, s->key);
    load(c->in[IN_V], (at * s->heads + h) * s->width, s->width, s->value);
    if (s->rule->gated) {
        const size_t count = s->decays / s->heads; /* decays per head: 1, or one per key element */
        load(c->in[IN_DECAY], at * s->decays + h * count, count, s->decay);
        for (size_t i = 0; i < s->size; i++) {
            const double keep = exp(s->decay[count == 1 ? 0 : i]);
            for (size_t j = 0; j < s->width; j++)
                s->state[i * s->width + j] *= keep;
        }
    }
    if (s->rule->delta) {
        double beta;
        load(c->in[IN_BETA], at * s->betas + (s->betas == 1 ? 0 : h), 1, &beta);
        read_state(s, s->key);
        for (size_t j = 0; j < s->width; j++)
            s->value[j] = beta * (s->value[j] - s->sums[j]);
    }
    for (size_t i = 0; i < s->size; i++)
        for (size_t j = 0; j < s->width; j++)
            s->state[i * s->width + j] += s->key[i] * s->value[j];
    const size_t group = s->q_heads / s->heads;
    for (size_t g = h * group; g < (h + 1) * group && prt_eval_wants(c, OUT_Y); g++) {
        load(c->in[IN_Q], (at * s->q_heads + g) * s->size, s->size, s->query);
        read_state(s, s->query);
        for (size_t j = 0; j < s->width; j++)
            s->sums[j] *= s->scale;
        prt_reals_store(c->out[OUT_Y]->dtype, c->out[OUT_Y]->data, (at * s->q_heads + g) * s->width,
            1, s->width, s->sums);
    }
}

static poprt_status begin(prt_eval *c, attention *s)
{
    const prt_linear_attention_attrs *a = c->attrs;
    s->rule = rule_of(a);
    s->rows = (size_t)c->in[IN_Q]->dims[1];
    s->q_heads = (size_t)a->q_num_heads;
    s->heads = (size_t)a->kv_num_heads;
    s->size = (size_t)c->in[IN_K]->dims[2] / s->heads;
    s->width = (size_t)c->in[IN_V]->dims[2] / s->heads;
    s->decays = s->rule->gated ? (size_t)c->in[IN_DECAY]->dims[2] : 0;
    s->betas = s->rule->delta ? (size_t)c->in[IN_BETA]->dims[2] : 0;
    s->scale = a->scale != 0 ? (double)a->scale : 1 / sqrt((double)s->size);
    s->state = prt_eval_scratch(c, s->size + 1, (s->width + 1) * sizeof(double));
    s->query = prt_eval_scratch(c, s->size + 1, 3 * sizeof(double));
    s->value = prt_eval_scratch(c, s->width + 1, 2 * sizeof(double));
    if (s->state == NULL || s->query == NULL || s->value == NULL)
        return POPRT_E_NOMEM;
    s->key = s->query + s->size;
    s->decay = s->key + s->size;
    s->sums = s->value + s->width;
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    attention s = { 0 };
    PRT_TRY(begin(c, &s));
    const size_t batch = (size_t)c->in[IN_Q]->dims[0], count = s.size * s.width;
    for (size_t b = 0; b < batch; b++)
        for (size_t h = 0; h < s.heads; h++) {
            const size_t first = (b * s.heads + h) * count;
            if (prt_eval_has(c, IN_PAST))
                load(c->in[IN_PAST], first, count, s.state);
            else
                memset(s.state, 0, count * sizeof(double));
            for (size_t t = 0; t < s.rows; t++) {
                PRT_TRY(c->host->check(c));
                step(c, &s, b * s.rows + t, h);
            }
            if (prt_eval_wants(c, OUT_STATE))
                prt_reals_store(c->out[OUT_STATE]->dtype, c->out[OUT_STATE]->data, first, 1, count,
                    s.state);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_linear_attention = { .infer = infer, .eval = eval };
