/* SPDX-License-Identifier: MIT */
/* generate_rules.c — rules that change the scores of the next words before one is chosen. */
#include <float.h>

#include "op/microsoft/generate.h"

/* Score of a forbidden word: lowest, but the word still comes if all words have it. */
static const double forbidden = -(double)FLT_MAX;

static bool is_word(const prt_gen *g, int64_t token)
{
    return token >= 0 && (uint64_t)token < g->vocab;
}

/* Applies the repetition penalty once to each word that occurred before. */
static void repetition(const prt_gen *g, const int32_t *tokens, double *scores)
{
    for (size_t i = 0; i < g->length; i++) {
        if (!is_word(g, tokens[i]) || g->found[tokens[i]])
            continue;
        double *s = &scores[tokens[i]];
        *s = *s < 0 ? *s * g->repetition : *s / g->repetition;
        g->found[tokens[i]] = true;
    }
    for (size_t i = 0; i < g->length; i++)
        if (is_word(g, tokens[i]))
            g->found[tokens[i]] = false;
}

/* Forbids words that would repeat an n-gram. */
static void repeated_runs(const prt_gen *g, size_t n, const int32_t *tokens, double *scores)
{
    const int32_t *last = tokens + g->length - (n - 1);
    for (size_t i = 0; i + n <= g->length; i++)
        if (is_word(g, tokens[i + n - 1]) && memcmp(tokens + i, last, (n - 1) * sizeof(*last)) == 0)
            scores[tokens[i + n - 1]] = forbidden;
}

static void words(const prt_gen *g, const int32_t *allowed, double *scores)
{
    for (size_t k = 0; k < g->vocab; k++)
        if (allowed[k] == 0)
            scores[k] = forbidden;
}

static const int32_t *ints(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i]->data : NULL;
}

void prt_gen_rules(const prt_eval *c, const prt_gen *g)
{
    const int32_t *allowed = ints(c, g->in.words), *first = ints(c, g->in.first_words);
    for (size_t r = 0; r < g->rows; r++) {
        const int32_t *tokens = g->tokens + r * g->most;
        double *scores = g->scores + r * g->vocab;
        if (g->repetition != 1)
            repetition(g, tokens, scores);
        if (g->a.ngram > 0 && (uint64_t)g->a.ngram <= g->length)
            repeated_runs(g, (size_t)g->a.ngram, tokens, scores);
        if (allowed != NULL)
            words(g, allowed, scores);
        if (first != NULL && g->step == 1)
            words(g, first + r / g->beams * g->vocab, scores);
        if (g->length < g->least && is_word(g, g->a.eos))
            scores[g->a.eos] = forbidden;
    }
}
