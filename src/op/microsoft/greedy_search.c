/* SPDX-License-Identifier: MIT */
/*
 * greedy_search.c — GreedySearch and Sampling: a decoder generates one word at a time, the
 * likeliest word or a random one of the words with enough probability (top p).
 *
 * The random generator is x * 16807 modulo 2^31 - 1, two numbers for each word: a seed gives the
 * same words as in other runtimes.
 */
#include <math.h>
#include <stdlib.h>

#include "op/microsoft/generate.h"
#include "op/share/reals.h"

enum { IN_LEAST = 2, IN_REPETITION, IN_WORDS, IN_FIRST_WORDS, IN_ATTENTION, IN_PRESENCE, IN_SEED };
enum { OUT_TOKENS, OUT_FILTERED };

static const prt_gen_inputs slots = { .least = IN_LEAST,
    .repetition = IN_REPETITION,
    .words = IN_WORDS,
    .first_words = IN_FIRST_WORDS,
    .attention = IN_ATTENTION };

/* ---- shared by both operators ---- */

static poprt_status infer(prt_infer *c, const prt_gen_attrs *a)
{
    if (a->model != PRT_GEN_DECODER_ONLY)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "model_type is %lld; accepted: 0",
            (long long)a->model);
    PRT_TRY(prt_gen_check(c, a, &slots));
    const int64_t dims[2] = { prt_infer_dim(c, 0, 0), prt_gen_dim(c, 1) };
    return prt_infer_set(c, OUT_TOKENS, PRT_DTYPE_i32, 2, dims);
}

/* Chooses a word by its scores, which it may change. */
typedef struct picker {
    /* Initialises the picker; called after the first step. NULL: not needed. */
    poprt_status (*begin)(prt_eval *c, struct picker *p, const prt_gen *g);
    int32_t (*pick)(prt_eval *c, struct picker *p, const prt_gen *g, size_t row);
    uint32_t state;  /* of the random generator */
    uint32_t *order; /* words, likeliest first */
} picker;

/* Chooses a word for each row; a row that has ended is continued with padding. Returns whether all
   rows have ended. */
static bool choose(prt_eval *c, picker *p, const prt_gen *g, bool *ended, int32_t *token)
{
    bool all = true;
    for (size_t r = 0; r < g->rows; r++) {
        token[r] = p->pick(c, p, g, r);
        ended[r] = ended[r] || token[r] == g->a.eos;
        if (ended[r])
            token[r] = (int32_t)g->a.pad;
        all = all && ended[r];
    }
    return all;
}

static poprt_status write_on(prt_eval *c, prt_gen *g, picker *p)
{
    PRT_TRY(prt_gen_begin(c, g, 1));
    int32_t *token = prt_eval_scratch(c, g->rows, sizeof(int32_t));
    bool *ended = prt_eval_scratch(c, g->rows, sizeof(bool)), all = false;
    if (token == NULL || ended == NULL)
        return POPRT_E_NOMEM;
    while (!all && g->length < g->most) {
        PRT_TRY(prt_gen_step(c, g));
        if (g->step == 1 && p->begin != NULL)
            PRT_TRY(p->begin(c, p, g));
        prt_gen_rules(c, g);
        all = choose(c, p, g, ended, token);
        PRT_TRY(prt_gen_append(c, g, token, NULL));
    }
    const int64_t dims[2] = { (int64_t)g->rows, (int64_t)g->most };
    PRT_TRY(prt_eval_shape(c, OUT_TOKENS, PRT_DTYPE_i32, 2, dims));
    int32_t *to = prt_eval_wants(c, OUT_TOKENS) ? c->out[OUT_TOKENS]->data : NULL;
    for (size_t i = 0; to != NULL && i < g->rows * g->most; i++)
        to[i] = i % g->most < g->length ? g->tokens[i] : (int32_t)g->a.pad;
    return POPRT_OK;
}

/* ---- GreedySearch ---- */

static int32_t likeliest(prt_eval *c, picker *p, const prt_gen *g, size_t row)
{
    const double *scores = g->scores + row * g->vocab;
    size_t best = 0;
    (void)c;
    (void)p;
    for (size_t k = 1; k < g->vocab; k++)
        if (scores[k] > scores[best])
            best = k;
    return (int32_t)best;
}

static poprt_status greedy_infer(prt_infer *c)
{
    const prt_ms_greedy_search_attrs *a = c->attrs;
    const prt_gen_attrs all = PRT_GEN_ATTRS(a);
    return infer(c, &all);
}

static poprt_status greedy_eval(prt_eval *c)
{
    const prt_ms_greedy_search_attrs *a = c->attrs;
    prt_gen g = { .a = PRT_GEN_ATTRS(a), .in = slots };
    picker p = { .pick = likeliest };
    return write_on(c, &g, &p);
}

/* ---- Sampling ---- */

static poprt_status sampling_infer(prt_infer *c)
{
    const prt_ms_sampling_attrs *a = c->attrs;
    const prt_gen_attrs all = PRT_GEN_ATTRS(a);
    if (a->min_tokens_to_keep < 0)
        return prt_infer_fail(c, POPRT_E_ARG, "min_tokens_to_keep is %lld; at least 0 is needed",
            (long long)a->min_tokens_to_keep);
    if (!(a->temperature >= 0) || !(a->top_p >= 0 && a->top_p <= 1) || isnan(a->filter_value))
        return prt_infer_fail(c, POPRT_E_ARG,
            "temperature is %g and top_p %g; accepted: at least 0, and "
            "from 0 to 1",
            (double)a->temperature, (double)a->top_p);
    if (prt_infer_has(c, IN_PRESENCE))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "presence_mask is not supported");
    if (prt_infer_wants(c, OUT_FILTERED))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "filtered_logits, a debugging output, is not supported");
    return infer(c, &all);
}

static poprt_status sampling_begin(prt_eval *c, picker *p, const prt_gen *g)
{
    int64_t seed;
    uint32_t count;
    if (prt_eval_has(c, IN_SEED)) {
        PRT_TRY(prt_eval_ints(c, IN_SEED, &seed, 1, &count));
        if (count != 1 || seed < 0)
            return prt_eval_fail(c, POPRT_E_ARG, "the seed must be one number of at least 0");
        p->state = (uint32_t)seed % INT32_MAX;
    } else {
        p->state = (uint32_t)(c->host->seed(c) % INT32_MAX);
    }
    p->state += p->state == 0;
    p->order = prt_eval_scratch(c, g->vocab, 2 * sizeof(uint32_t));
    return p->order != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static double draw(picker *p)
{
    const double range = 2147483646;
    double x[2];
    for (int i = 0; i < 2; i++) {
        p->state = (uint32_t)((uint64_t)p->state * 16807 % INT32_MAX);
        x[i] = (double)(p->state - 1);
    }
    return (x[0] + x[1] * range) / (range * range);
}

/* Returns whether word `a` sorts before `b`: by score, then by index. */
static bool before(const double *scores, uint32_t a, uint32_t b)
{
    return scores[a] > scores[b] || (!(scores[a] < scores[b]) && a < b);
}

/* Sorts words by score, with a stable merge sort. */
static void sort_words(picker *p, const double *scores, size_t n)
{
    uint32_t *from = p->order, *to = p->order + n;
    for (size_t k = 0; k < n; k++)
        from[k] = (uint32_t)k;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t at = 0; at < n; at += 2 * width) {
            const size_t middle = at + width < n ? at + width : n;
            const size_t end = middle + width < n ? middle + width : n;
            size_t i = at, j = middle;
            for (size_t k = at; k < end; k++)
                to[k] = j >= end || (i < middle && !before(scores, from[j], from[i])) ? from[i++]
                                                                                      : from[j++];
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != p->order)
        memcpy(p->order, from, n * sizeof(*from));
}

static double sum_of_exp(const double *scores, size_t n, double *most)
{
    double sum = 0;
    *most = -HUGE_VAL;
    for (size_t k = 0; k < n; k++)
        *most = fmax(*most, scores[k]);
    for (size_t k = 0; k < n; k++)
        sum += exp(scores[k] - *most);
    return sum;
}

/* Masks words outside top p. The default walks up from the least likely word and masks while the
   sum is at most 1 - top_p; `custom` walks down and masks the words after top_p is reached. */
static void filter(picker *p, const prt_ms_sampling_attrs *a, double *scores, size_t n)
{
    const uint64_t keep = (uint64_t)a->min_tokens_to_keep;
    const double top = (double)a->top_p, value = (double)a->filter_value;
    double most, part = 0;
    sort_words(p, scores, n);
    const double all = sum_of_exp(scores, n, &most);
    for (size_t j = 0; j < n; j++) {
        const uint32_t word = p->order[a->custom != 0 ? j : n - 1 - j];
        part = (double)(float)(part + (double)(float)(exp(scores[word] - most) / all));
        if (a->custom != 0) {
            if (part > top && j + 1 < n)
                scores[p->order[j + 1]] = value;
            continue;
        }
        if (j != 0 && (keep >= n || j >= n - keep))
            break;
        if (part <= (double)(1 - a->top_p))
            scores[word] = value;
    }
}

static int32_t sample(prt_eval *c, picker *p, const prt_gen *g, size_t row)
{
    const prt_ms_sampling_attrs *a = c->attrs;
    double *scores = g->scores + row * g->vocab, most, sum = 0;
    for (size_t k = 0; k < g->vocab; k++) {
        if (a->temperature > 0)
            scores[k] /= (double)a->temperature;
        if (isnan(scores[k]))
            scores[k] = -HUGE_VAL;
    }
    filter(p, a, scores, g->vocab);
    const double find = draw(p) * sum_of_exp(scores, g->vocab, &most);
    for (size_t k = 0; k < g->vocab; k++) {
        sum += exp(scores[k] - most);
        if (sum > find)
            return (int32_t)k;
    }
    return (int32_t)p->order[0];
}

static poprt_status sampling_eval(prt_eval *c)
{
    const prt_ms_sampling_attrs *a = c->attrs;
    prt_gen g = { .a = PRT_GEN_ATTRS(a), .in = slots };
    picker p = { .begin = sampling_begin, .pick = sample };
    return write_on(c, &g, &p);
}

const prt_op_hooks prt_op_ms_greedy_search = { .infer = greedy_infer, .eval = greedy_eval };
const prt_op_hooks prt_op_ms_sampling = { .infer = sampling_infer, .eval = sampling_eval };
