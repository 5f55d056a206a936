/* SPDX-License-Identifier: MIT */
/* fused_attention.c — fused_attention: checks of its attributes, and its evaluation. */
#include "op/internal/fused_attention.h"

#include <math.h>

enum {
    VIEW = 4, /* entries of an attribute that locates an operand */
    KEY = 3   /* index of the stride between keys */
};
enum { ATTR_LEAST = 13 };

/* ---- shapes ---- */

static bool is_open(const prt_fused_attention_attrs *a)
{
    return a->sizes.data[PRT_MHA_past] == PRT_MHA_OPEN;
}

/* Returns the number of rows of the cache, as a dim. */
static int64_t past_rows(const prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    return is_open(a) ? prt_infer_dim(c, PRT_MHA_PAST_KEY, 2) : a->sizes.data[PRT_MHA_past];
}

static int64_t all_keys(const prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    return prt_dim_add(c->dims, past_rows(c), a->sizes.data[PRT_MHA_keys]);
}

static poprt_status check_counts(const prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    const prt_i64s lists[] = { a->query, a->key, a->value, a->bias, a->mask, a->keep };
    const bool needed[] = { true, true, true, prt_infer_has(c, PRT_MHA_BIAS),
        prt_infer_has(c, PRT_MHA_MASK), prt_infer_has(c, PRT_MHA_KEEP) };
    if (a->sizes.count != PRT_MHA_SIZES || a->order.count != 3 || a->shape.count > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_ARG,
            "sizes, order or shape has a wrong length; 8, 3 and at most %d elements are needed",
            PRT_MAX_RANK);
    for (uint32_t i = 0; i < a->sizes.count; i++)
        if ((a->sizes.data[i] < 0 && !(i == PRT_MHA_past && is_open(a))) ||
            a->sizes.data[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG, "sizes[%u] is %lld; accepted: 0 to 2^31 - 1", i,
                (long long)a->sizes.data[i]);
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (lists[i].count != (needed[i] ? VIEW : 0))
            return prt_infer_fail(c, POPRT_E_ARG,
                "the view of input %zu has %u numbers; %d are needed", i, lists[i].count,
                needed[i] ? VIEW : 0);
        for (uint32_t k = 0; k < lists[i].count; k++)
            if (lists[i].data[k] < 0 &&
                (lists[i].data[k] != PRT_MHA_OPEN || !is_open(a) || i < PRT_MHA_BIAS || k == KEY))
                return prt_infer_fail(c, POPRT_E_ARG, "the view of input %zu has a negative number",
                    i);
    }
    const int64_t heads = a->sizes.data[PRT_MHA_heads], groups = a->sizes.data[PRT_MHA_groups];
    if (groups == 0 ? heads != 0 : heads % groups != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "there are %lld query heads, which is not a multiple of %lld key heads",
            (long long)heads, (long long)groups);
    return POPRT_OK;
}

static poprt_status check_order(const prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    uint32_t seen = 0;
    size_t count = 1;
    for (uint32_t i = 0; i < a->order.count; i++)
        if (a->order.data[i] >= 0 && a->order.data[i] < 3)
            seen |= 1u << a->order.data[i];
    if (seen != 7)
        return prt_infer_fail(c, POPRT_E_ARG, "order is not a permutation of 0, 1, 2");
    static const int parts[] = { PRT_MHA_batch, PRT_MHA_heads, PRT_MHA_queries, PRT_MHA_wide };
    for (size_t i = 0; i < 4; i++)
        if (!prt_size_mul(count, (size_t)a->sizes.data[parts[i]], &count))
            return prt_infer_fail(c, POPRT_E_ARG, "sizes are too large");
    size_t have = 1;
    for (uint32_t i = 0; i < a->shape.count; i++)
        if (a->shape.data[i] < 0 || !prt_size_mul(have, (size_t)a->shape.data[i], &have))
            return prt_infer_fail(c, POPRT_E_ARG, "shape[%u] is %lld: negative or too large", i,
                (long long)a->shape.data[i]);
    if (have != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "shape has %zu elements, but the result has %zu",
            have, count);
    return POPRT_OK;
}

/* Fails where input i is smaller than the last element that the offset `first` and n strides
   reach. */
static poprt_status check_reach(const prt_infer *c, uint32_t i, size_t first, uint32_t n,
    const int64_t *distance, const int64_t *dims)
{
    size_t last = first, reach;
    uint64_t count = 1;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    for (int32_t k = 0; k < c->in[i].rank; k++) {
        if (!prt_dim_is_number(c->in[i].dims[k]))
            return POPRT_OK;
        if (!prt_size_mul(count, (size_t)c->in[i].dims[k], &count))
            return POPRT_OK;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (dims[k] == 0)
            return POPRT_OK;
        if (!prt_size_mul((size_t)distance[k], (size_t)dims[k] - 1, &reach) ||
            !prt_size_add(last, reach, &last))
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has strides that are too large", i);
    }
    if (last >= count)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "input %u has %llu elements; element %zu would be read", i, (unsigned long long)count,
            last);
    return POPRT_OK;
}

static poprt_status check_places(const prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    const int64_t *s = a->sizes.data, heads = s[PRT_MHA_heads], groups = s[PRT_MHA_groups];
    const int64_t total = all_keys(c);
    const int64_t dims[][4] = {
        { s[PRT_MHA_batch], heads, s[PRT_MHA_queries], s[PRT_MHA_size] },
        { s[PRT_MHA_batch], groups, s[PRT_MHA_keys], s[PRT_MHA_size] },
        { s[PRT_MHA_batch], groups, s[PRT_MHA_keys], s[PRT_MHA_wide] },
        { s[PRT_MHA_batch], heads, s[PRT_MHA_queries], total },
    };
    const prt_i64s lists[] = { a->query, a->key, a->value, a->bias, a->mask, a->keep };
    for (uint32_t i = 0; i <= PRT_MHA_V; i++) {
        const int64_t *v = lists[i].data, distance[4] = { v[1], v[2], v[3], 1 };
        PRT_TRY(check_reach(c, i, (size_t)v[0], 4, distance, dims[i]));
    }
    for (uint32_t i = PRT_MHA_BIAS; i <= PRT_MHA_KEEP; i++) {
        if (!prt_infer_has(c, i) || !prt_dim_is_number(total))
            continue;
        int64_t distance[VIEW];
        for (uint32_t k = 0; k < VIEW; k++)
            distance[k] = lists[i].data[k] < 0 ? total : lists[i].data[k];
        PRT_TRY(check_reach(c, i, 0, 4, distance, dims[3]));
    }
    return POPRT_OK;
}

static poprt_status check_cache(prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    const int64_t *s = a->sizes.data;
    const bool has = prt_infer_has(c, PRT_MHA_PAST_KEY);
    if (has != prt_infer_has(c, PRT_MHA_PAST_VALUE) || (!has && s[PRT_MHA_past] != 0))
        return prt_infer_fail(c, POPRT_E_ARG, "past_key and past_value must be given together");
    for (uint32_t i = PRT_MHA_PAST_KEY; has && i <= PRT_MHA_PAST_VALUE; i++) {
        const int64_t size = s[i == PRT_MHA_PAST_KEY ? PRT_MHA_size : PRT_MHA_wide];
        const int64_t dims[4] = { s[PRT_MHA_batch], s[PRT_MHA_groups], past_rows(c), size };
        int64_t dim;
        PRT_TRY(prt_infer_rank(c, i, 4));
        for (uint32_t k = 0; k < 4; k++)
            PRT_TRY(
                prt_infer_merge(c, dims[k], prt_infer_dim(c, i, k), "a dim of the cache", &dim));
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    PRT_TRY(check_counts(c));
    PRT_TRY(check_order(c));
    PRT_TRY(check_places(c));
    PRT_TRY(check_cache(c));
    const int64_t *s = a->sizes.data, total = all_keys(c);
    const int64_t key[4] = { s[PRT_MHA_batch], s[PRT_MHA_groups], total, s[PRT_MHA_size] };
    const int64_t value[4] = { s[PRT_MHA_batch], s[PRT_MHA_groups], total, s[PRT_MHA_wide] };
    PRT_TRY(prt_infer_exact(c, PRT_MHA_Y, PRT_DTYPE_f32, (int32_t)a->shape.count, a->shape.data));
    PRT_TRY(prt_infer_exact(c, PRT_MHA_PRESENT_KEY, PRT_DTYPE_f32, 4, key));
    return prt_infer_exact(c, PRT_MHA_PRESENT_VALUE, PRT_DTYPE_f32, 4, value);
}

/* ---- values ---- */

static prt_heads heads_of(const prt_tensor *t, const int64_t *view, size_t heads, size_t rows,
    size_t size)
{
    return (prt_heads){ .dtype = PRT_DTYPE_f32,
        .data = t->data,
        .first = (size_t)view[0],
        .batch = (size_t)view[1],
        .head = (size_t)view[2],
        .row = (size_t)view[3],
        .heads = heads,
        .rows = rows,
        .size = size };
}

static prt_scores_view scores_of(const prt_eval *c, uint32_t i, prt_i64s list, size_t keys)
{
    size_t d[VIEW];
    if (!prt_eval_has(c, i))
        return (prt_scores_view){ NULL, 0, 0, 0, 0 };
    for (uint32_t k = 0; k < VIEW; k++)
        d[k] = list.data[k] == PRT_MHA_OPEN ? keys : (size_t)list.data[k];
    return (prt_scores_view){ c->in[i]->data, d[0], d[1], d[2], d[KEY] };
}

/* Returns Y with the strides that `order` gives. */
static prt_heads result_of(const prt_eval *c, const prt_mha *m)
{
    const prt_fused_attention_attrs *a = c->attrs;
    const size_t *s = m->sizes;
    const size_t dims[3] = { s[PRT_MHA_batch], s[PRT_MHA_heads], s[PRT_MHA_queries] };
    size_t distance[3], step = s[PRT_MHA_wide];
    if (!prt_eval_wants(c, PRT_MHA_Y))
        return (prt_heads){ 0 };
    for (uint32_t i = 3; i-- > 0; step *= dims[a->order.data[i]])
        distance[a->order.data[i]] = step;
    return (prt_heads){ .dtype = PRT_DTYPE_f32,
        .data = c->out[PRT_MHA_Y]->data,
        .batch = distance[0],
        .head = distance[1],
        .row = distance[2],
        .heads = dims[1],
        .rows = dims[2],
        .size = s[PRT_MHA_wide] };
}

static const prt_tensor *output(const prt_eval *c, uint32_t i)
{
    return prt_eval_wants(c, i) ? c->out[i] : NULL;
}

prt_mha prt_mha_of(const prt_eval *c)
{
    const prt_fused_attention_attrs *a = c->attrs;
    prt_mha m = { .scale = a->scale,
        .fill = a->fill,
        .least = prt_attr_given(a, ATTR_LEAST) ? a->least : -HUGE_VALF,
        .inverted = a->inverted != 0,
        .causal = a->causal != 0,
        .guarded = a->guarded != 0 };
    size_t *s = m.sizes;
    for (uint32_t i = 0; i < PRT_MHA_SIZES; i++)
        s[i] = (size_t)a->sizes.data[i];
    if (is_open(a))
        s[PRT_MHA_past] = (size_t)c->in[PRT_MHA_PAST_KEY]->dims[2];
    const size_t keys = s[PRT_MHA_past] + s[PRT_MHA_keys];
    m.q = heads_of(c->in[PRT_MHA_Q], a->query.data, s[PRT_MHA_heads], s[PRT_MHA_queries],
        s[PRT_MHA_size]);
    m.k = heads_of(c->in[PRT_MHA_K], a->key.data, s[PRT_MHA_groups], s[PRT_MHA_keys],
        s[PRT_MHA_size]);
    m.v = heads_of(c->in[PRT_MHA_V], a->value.data, s[PRT_MHA_groups], s[PRT_MHA_keys],
        s[PRT_MHA_wide]);
    m.y = result_of(c, &m);
    m.bias = scores_of(c, PRT_MHA_BIAS, a->bias, keys);
    m.mask = scores_of(c, PRT_MHA_MASK, a->mask, keys);
    m.keep = scores_of(c, PRT_MHA_KEEP, a->keep, keys);
    const bool past = prt_eval_has(c, PRT_MHA_PAST_KEY);
    m.past_k = prt_heads_of_rank4(past ? c->in[PRT_MHA_PAST_KEY] : NULL);
    m.past_v = prt_heads_of_rank4(past ? c->in[PRT_MHA_PAST_VALUE] : NULL);
    m.present_k = prt_heads_of_rank4(output(c, PRT_MHA_PRESENT_KEY));
    m.present_v = prt_heads_of_rank4(output(c, PRT_MHA_PRESENT_VALUE));
    return m;
}

/* Returns the value to add to the score of key j, so that the sum is the score after bias, mask,
   keep and least. */
static double bias_of(const prt_mha *m, size_t batch, size_t head, size_t i, size_t j, double score)
{
    const prt_scores_view *const views[] = { &m->bias, &m->mask };
    const size_t total = m->sizes[PRT_MHA_past] + m->sizes[PRT_MHA_keys];
    const size_t at = prt_scores_at(&m->keep, batch, head, i) + j * m->keep.key;
    double sum = 0;
    if (m->causal && j + m->sizes[PRT_MHA_queries] > i + total)
        return -HUGE_VAL;
    for (size_t k = 0; k < 2; k++)
        if (views[k]->data != NULL)
            sum +=
                (double)((const float *)views[k]
                             ->data)[prt_scores_at(views[k], batch, head, i) + j * views[k]->key];
    bool as_is = true;
    double x = score + sum;
    if (m->keep.data != NULL && (((const unsigned char *)m->keep.data)[at] != 0) == m->inverted) {
        x = (double)m->fill;
        as_is = false;
    }
    if (x < (double)m->least) {
        x = (double)m->least;
        as_is = false;
    }
    return as_is ? sum : isinf(x) ? x : x - score;
}

/* Fills the additive bias of query i. If the query sees no key, an infinite weight makes the result
   NaN, as 0 / 0 would. With `guarded` such a query gives zeros, and so does a query with a score of
   NaN or infinity: all of its keys are masked. */
static void fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const prt_mha *m = s->user;
    bool none = s->total != 0, broken = false;
    for (size_t j = 0; j < s->total; j++) {
        to[j] = bias_of(m, batch, head, i, j, s->row[j]);
        none = none && to[j] == -HUGE_VAL;
        broken = broken || isnan(s->row[j] + to[j]) || s->row[j] + to[j] == HUGE_VAL;
    }
    for (size_t j = 0; m->guarded && broken && j < s->total; j++)
        to[j] = -HUGE_VAL;
    if (none && !m->guarded)
        to[0] = HUGE_VAL;
}

static poprt_status eval(prt_eval *c)
{
    const prt_mha m = prt_mha_of(c);
    prt_attention s = { .q = m.q,
        .k = m.k,
        .v = m.v,
        .past_k = m.past_k,
        .past_v = m.past_v,
        .y = m.y,
        .present_k = m.present_k,
        .present_v = m.present_v,
        .batch = m.sizes[PRT_MHA_batch],
        .scale = (double)m.scale,
        .bias = fill_bias,
        .user = &m };
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_fused_attention = { .infer = infer, .eval = eval };
