/* SPDX-License-Identifier: MIT */
/*
 * dropout.c — Dropout: a copy or, in training mode, each element kept with probability 1 - ratio
 * and scaled by 1 / (1 - ratio). BiasDropout of com.microsoft also adds a bias before and a
 * residual after the dropout; the Bitmask variants pack their mask into bits of 32-bit words.
 *
 * With a given seed the mask equals that of ONNX's published examples, which use numpy's legacy
 * generator: the 32-bit Mersenne Twister, two words per double.
 */
#include "op/alias.h"
#include "op/share/broadcast.h"

enum { WORDS = 624, MIDDLE = 397 };

typedef struct twister {
    uint32_t words[WORDS];
    uint32_t at;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    t->words[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++)
        t->words[i] = 1812433253u * (t->words[i - 1] ^ t->words[i - 1] >> 30) + i;
    t->at = WORDS;
}

static void twister_renew(twister *t)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t y = (t->words[i] & 0x80000000u) | (t->words[(i + 1) % WORDS] & 0x7fffffffu);
        t->words[i] = t->words[(i + MIDDLE) % WORDS] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
    }
    t->at = 0;
}

static uint32_t twister_next(twister *t)
{
    if (t->at == WORDS)
        twister_renew(t);
    uint32_t y = t->words[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* Returns a number in [0, 1) with 53 random bits. */
static double twister_double(twister *t)
{
    const uint32_t a = twister_next(t) >> 5, b = twister_next(t) >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

/* The inputs other than the data (UINT32_MAX: absent), and the attribute `seed`. */
typedef struct params {
    uint32_t bias, residual, ratio, mode;
    bool bits; /* the mask is packed; the first element is in the lowest bit */
    bool has_seed;
    uint64_t seed;
} params;

/* Checks that input `i` has exactly one element. */
static poprt_status check_one(const prt_infer *c, uint32_t i, const char *name)
{
    for (int32_t k = 0; prt_infer_ranked(c, i) && k < c->in[i].rank; k++)
        if (c->in[i].dims[k] != 1 && prt_dim_is_number(c->in[i].dims[k]))
            return prt_infer_fail(c, POPRT_E_SHAPE, "%s is not a scalar", name);
    return POPRT_OK;
}

/* Checks that input `i` has the dims of the data or, if `row`, only the last of them. */
static poprt_status check_added(const prt_infer *c, uint32_t i, bool row)
{
    int64_t dim;
    if (!prt_infer_ranked(c, i) || !prt_infer_ranked(c, 0))
        return POPRT_OK;
    const prt_shape *x = &c->in[0], *s = &c->in[i];
    if (s->rank != x->rank && !(row && s->rank == 1 && x->rank > 0))
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d where %d is needed", i,
            s->rank, x->rank);
    for (int32_t k = 1; k <= s->rank; k++)
        PRT_TRY(prt_infer_merge(c, x->dims[x->rank - k], s->dims[s->rank - k], "a dim", &dim));
    return POPRT_OK;
}

static poprt_status infer_with(prt_infer *c, const params *f)
{
    const int32_t dtype = c->in[0].dtype, mask = f->bits ? PRT_DTYPE_u32 : PRT_DTYPE_bool;
    PRT_TRY(check_one(c, f->ratio, "ratio"));
    PRT_TRY(check_one(c, f->mode, "training_mode"));
    PRT_TRY(check_added(c, f->bias, true));
    PRT_TRY(check_added(c, f->residual, false));
    if (!prt_infer_ranked(c, 0)) {
        PRT_TRY(prt_infer_unranked(c, 0, dtype, PRT_RANK_UNKNOWN));
        return prt_infer_unranked(c, 1, mask, f->bits ? 1 : PRT_RANK_UNKNOWN);
    }
    PRT_TRY(prt_infer_like(c, 0, 0, dtype));
    if (!f->bits)
        return prt_infer_like(c, 1, 0, mask);
    const int64_t count = prt_infer_product(c, c->in[0].dims, 0, (uint32_t)c->in[0].rank);
    const int64_t words = prt_dim_floordiv(c->dims, prt_dim_add(c->dims, count, 31), 32);
    return prt_infer_set(c, 1, mask, 1, &words);
}

static void set_mask(const prt_eval *c, const params *f, size_t i, bool keep)
{
    if (!prt_eval_wants(c, 1))
        return;
    if (!f->bits)
        ((uint8_t *)c->out[1]->data)[i] = keep;
    else if (keep)
        ((uint32_t *)c->out[1]->data)[i / 32] |= (uint32_t)1 << i % 32;
}

static const prt_tensor *input(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}

/* Computes the output. Kept elements are multiplied by `scale`. `t` generates the mask; NULL
 * keeps all elements. */
static void run(const prt_eval *c, const params *f, twister *t, double ratio, double scale)
{
    const prt_tensor *x = c->in[0], *bias = input(c, f->bias), *rest = input(c, f->residual);
    const size_t n = prt_tensor_count(x), biases = bias != NULL ? prt_tensor_count(bias) : 0;
    for (size_t i = 0; i < n; i++) {
        const bool keep = t == NULL || twister_double(t) >= ratio;
        double v = prt_load_f64(x->dtype, x->data, i);
        if (bias != NULL)
            v += prt_load_f64(bias->dtype, bias->data, i % biases);
        v = keep ? v * scale : 0.0;
        if (rest != NULL)
            v += prt_load_f64(rest->dtype, rest->data, i);
        if (prt_eval_wants(c, 0))
            prt_store_f64(x->dtype, c->out[0]->data, i, v);
        set_mask(c, f, i, keep);
    }
}

static poprt_status eval_with(prt_eval *c, const params *f)
{
    const prt_tensor *mode = input(c, f->mode), *given = input(c, f->ratio);
    const bool training = mode != NULL && prt_load_i64(mode->dtype, mode->data, 0) != 0;
    const double ratio = given != NULL ? prt_load_f64(given->dtype, given->data, 0) : 0.5;
    if (prt_eval_wants(c, 1) && f->bits && c->out[1]->size != 0)
        memset(c->out[1]->data, 0, c->out[1]->size);
    if (!training || ratio == 0.0) {
        run(c, f, NULL, 0.0, 1.0);
        return POPRT_OK;
    }
    if (!(ratio > 0.0 && ratio <= 1.0))
        return prt_eval_fail(c, POPRT_E_ARG, "ratio is %g; accepted: 0 to 1", ratio);
    twister *t = prt_eval_scratch(c, 1, sizeof(twister));
    if (t == NULL)
        return POPRT_E_NOMEM;
    const uint64_t seed = f->has_seed ? f->seed : c->host->seed(c);
    twister_seed(t, (uint32_t)(seed ^ seed >> 32));
    run(c, f, t, ratio, ratio < 1.0 ? 1.0 / (1.0 - ratio) : 0.0);
    return POPRT_OK;
}

/* The hook `view` of Dropout: it does not train, so it copies its input, and its mask is not
 * wanted. */
static bool is_view(const prt_view_query *q, size_t *element)
{
    *element = 0;
    return q->i == 0 && q->in[0]->size == q->y->size && !q->others && !prt_view_is_unknown(q, 2) &&
        prt_view_integer(q, 2, 0, 0) == 0;
}

#define MEMBER(id, bias, residual, ratio, mode, bits, view_hook)                                   \
    static params params_##id(const void *attrs)                                                   \
    {                                                                                              \
        const prt_##id##_attrs *a = attrs;                                                         \
        return (                                                                                   \
            params){ bias, residual, ratio, mode, bits, prt_attr_given(a, 0), (uint64_t)a->seed }; \
    }                                                                                              \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        const params f = params_##id(c->attrs);                                                    \
        return infer_with(c, &f);                                                                  \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const params f = params_##id(c->attrs);                                                    \
        return eval_with(c, &f);                                                                   \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id, .view = view_hook };

MEMBER(dropout, UINT32_MAX, UINT32_MAX, 1, 2, false, is_view)
#ifndef PRT_NO_MICROSOFT
MEMBER(ms_bitmask_dropout, UINT32_MAX, UINT32_MAX, 1, 2, true, NULL)
MEMBER(ms_bias_dropout, 1, 2, 3, 4, false, NULL)
MEMBER(ms_bitmask_bias_dropout, 1, 2, 3, 4, true, NULL)
#endif
