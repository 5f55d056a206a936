/* SPDX-License-Identifier: MIT */
/*
 * beam_search.c — BeamSearch: each prompt is continued by several beams at once. The likeliest
 * continuations go on; beams that end are kept, and the best of them are the result.
 *
 * The score of a beam is the sum of the logarithms of its words' probabilities, in float32.
 */
#include <math.h>

#include "op/microsoft/generate.h"
#include "op/share/reals.h"

typedef prt_ms_beam_search_attrs attrs;

enum {
    IN_PROMPT,
    IN_MOST,
    IN_LEAST,
    IN_BEAMS,
    IN_RETURNED,
    IN_LENGTH_PENALTY,
    IN_REPETITION,
    IN_WORDS,
    IN_FIRST_WORDS,
    IN_ATTENTION,
    IN_FIRST_TOKENS,
    IN_PROCESSOR
};
enum { OUT_TOKENS, OUT_LIKELIHOOD, OUT_SCORES };

static const prt_gen_inputs slots = { .least = IN_LEAST,
    .repetition = IN_REPETITION,
    .words = IN_WORDS,
    .first_words = IN_FIRST_WORDS,
    .attention = IN_ATTENTION };

/* ---- shapes ---- */

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_gen_attrs all = PRT_GEN_ATTRS(a);
    int64_t which;
    if (a->model_type != PRT_GEN_DECODER_ONLY && a->model_type != PRT_GEN_ENCODER_DECODER)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "model_type is %lld; accepted: 0, 1",
            (long long)a->model_type);
    if (a->model_type == PRT_GEN_ENCODER_DECODER && !all.has_encoder)
        return prt_infer_fail(c, POPRT_E_PARSE, "needs an encoder, as model_type is 1");
    if (c->in[IN_PROMPT].dtype != PRT_DTYPE_i32 && c->in[IN_PROMPT].dtype != PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "a prompt that is not int32 words is not supported");
    if (prt_infer_has(c, IN_FIRST_TOKENS))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "decoder_input_ids is not supported; use decoder_start_token_id");
    if (prt_infer_number(c, IN_PROCESSOR, &which) && prt_dim_is_number(which) && which != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "logits_processor is %lld; accepted: 0",
            (long long)which);
    PRT_TRY(prt_gen_check(c, &all, &slots));
    const int64_t batch = prt_infer_dim(c, IN_PROMPT, 0), most = prt_gen_dim(c, IN_MOST);
    const int64_t returned = prt_gen_dim(c, IN_RETURNED);
    const int64_t tokens[3] = { batch, returned, most };
    const int64_t scores[4] = { PRT_DIM_UNKNOWN, batch, prt_gen_dim(c, IN_BEAMS), PRT_DIM_UNKNOWN };
    PRT_TRY(prt_infer_set(c, OUT_TOKENS, PRT_DTYPE_i32, 3, tokens));
    const int32_t dtype = prt_infer_has(c, IN_LENGTH_PENALTY) ? c->in[IN_LENGTH_PENALTY].dtype
        : prt_infer_has(c, IN_REPETITION)                     ? c->in[IN_REPETITION].dtype
                                                              : PRT_DTYPE_f32;
    PRT_TRY(prt_infer_set(c, OUT_LIKELIHOOD, dtype, 2, tokens));
    return prt_infer_set(c, OUT_SCORES, dtype, 4, scores);
}

/* ---- evaluation ---- */

/* A finished beam. */
typedef struct finished_beam {
    float score;
    size_t length;
    int32_t *tokens;
} finished_beam;

typedef struct candidate {
    float score;
    uint32_t beam, token;
} candidate;

typedef struct search {
    prt_gen g;
    float penalty; /* exponent of the length */
    bool early;
    size_t returned;
    finished_beam *best; /* [batch, beams], best first */
    size_t *count;       /* by prompt: number of finished beams */
    bool *done;          /* by prompt */
    float *likelihood;   /* by row */
    float *summed;       /* likelihood of the next rows */
    int32_t *token;      /* next words */
    size_t *from;        /* the rows that they continue */
    candidate *top;      /* [2 * beams] */
    size_t n_top;
} search;

static poprt_status read_count(prt_eval *c, uint32_t i, const char *what, int64_t limit, size_t *to)
{
    int64_t value;
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, i, &value, 1, &count));
    if (count != 1 || value < 1 || value > limit)
        return prt_eval_fail(c, POPRT_E_ARG, "%s is not one number from 1 to %lld", what,
            (long long)limit);
    *to = (size_t)value;
    return POPRT_OK;
}

static poprt_status begin(prt_eval *c, search *s)
{
    prt_gen *g = &s->g;
    const prt_tensor *penalty =
        prt_eval_has(c, IN_LENGTH_PENALTY) ? c->in[IN_LENGTH_PENALTY] : NULL;
    size_t beams = 0;
    PRT_TRY(read_count(c, IN_BEAMS, "num_beams", PRT_GEN_MAX_BEAMS, &beams));
    PRT_TRY(read_count(c, IN_RETURNED, "num_return_sequences", (int64_t)beams, &s->returned));
    if (penalty != NULL && prt_tensor_count(penalty) != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "length_penalty is not one number");
    s->penalty = penalty != NULL ? (float)prt_real_at(penalty, 0) : 1;
    PRT_TRY(prt_gen_begin(c, g, beams));
    s->best = prt_eval_scratch(c, g->rows, sizeof(finished_beam));
    s->count = prt_eval_scratch(c, g->batch, sizeof(size_t));
    s->done = prt_eval_scratch(c, g->batch, sizeof(bool));
    s->likelihood = prt_eval_scratch(c, g->rows, 2 * sizeof(float));
    s->token = prt_eval_scratch(c, g->rows, sizeof(int32_t));
    s->from = prt_eval_scratch(c, g->rows, sizeof(size_t));
    s->top = prt_eval_scratch(c, 2 * beams, sizeof(candidate));
    int32_t *tokens = prt_eval_scratch(c, g->rows, g->most * sizeof(int32_t));
    if (s->best == NULL || s->count == NULL || s->done == NULL || s->likelihood == NULL ||
        s->token == NULL || s->from == NULL || s->top == NULL || tokens == NULL)
        return POPRT_E_NOMEM;
    s->summed = s->likelihood + g->rows;
    for (size_t r = 0; r < g->rows; r++) {
        s->best[r].tokens = tokens + r * g->most;
        /* all beams start equal: only the first may win, as the others would repeat it */
        s->likelihood[r] = r % beams == 0 ? 0 : -1e9f;
    }
    return POPRT_OK;
}

/* Converts scores to logarithms of probabilities. */
static void log_softmax(double *x, size_t n)
{
    double most = -HUGE_VAL, sum = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, x[k]);
    for (size_t k = 0; k < n; k++)
        sum += exp(x[k] - most);
    for (size_t k = 0; k < n; k++) {
        const double y = (double)(float)(x[k] - most - log(sum));
        x[k] = isnan(y) ? -HUGE_VAL : y;
    }
}

static poprt_status keep_scores(prt_eval *c, const search *s)
{
    const prt_gen *g = &s->g;
    if (!prt_eval_wants(c, OUT_SCORES))
        return POPRT_OK;
    const int64_t dims[4] = { (int64_t)(g->most - g->prompt), (int64_t)g->batch, (int64_t)g->beams,
        (int64_t)g->vocab };
    if (g->step == 1)
        PRT_TRY(prt_eval_shape(c, OUT_SCORES, c->out[OUT_SCORES]->dtype, 4, dims));
    const size_t each = g->rows * g->vocab;
    prt_reals_store(c->out[OUT_SCORES]->dtype, c->out[OUT_SCORES]->data, (g->step - 1) * each, 1,
        each, g->scores);
    return POPRT_OK;
}

/* Finds the likeliest continuations of all beams of a prompt; ties are in order of beam and
   word. */
static void find_top(search *s, size_t prompt)
{
    const prt_gen *g = &s->g;
    const size_t most = 2 * g->beams;
    s->n_top = 0;
    for (size_t b = 0; b < g->beams; b++)
        for (size_t k = 0; k < g->vocab; k++) {
            const float score = (float)g->scores[(prompt * g->beams + b) * g->vocab + k];
            if (s->n_top == most && score <= s->top[most - 1].score)
                continue;
            size_t at = s->n_top < most ? s->n_top++ : most - 1;
            for (; at > 0 && score > s->top[at - 1].score; at--)
                s->top[at] = s->top[at - 1];
            s->top[at] = (candidate){ score, (uint32_t)b, (uint32_t)k };
        }
}

static float by_length(const search *s, float sum, size_t length)
{
    return sum / powf((float)length, s->penalty);
}

/* Adds row `row` to the finished beams of its prompt if it is among the best. */
static void finish_beam(search *s, size_t row, float sum)
{
    const prt_gen *g = &s->g;
    const size_t prompt = row / g->beams;
    finished_beam *best = s->best + prompt * g->beams;
    const float score = by_length(s, sum, g->length);
    size_t at = s->count[prompt];
    if (at == g->beams && !(score > best[--at].score))
        return;
    finished_beam e = best[at];
    e.score = score;
    e.length = g->length;
    memcpy(e.tokens, g->tokens + row * g->most, g->length * sizeof(int32_t));
    for (; at > 0 && score > best[at - 1].score; at--)
        best[at] = best[at - 1];
    best[at] = e;
    s->count[prompt] += s->count[prompt] < g->beams;
}

/* Continues the beams of a prompt that is not done. Returns their number. */
static size_t continue_beams(search *s, size_t prompt)
{
    const prt_gen *g = &s->g;
    const size_t first = prompt * g->beams;
    size_t n = 0;
    for (size_t j = 0; j < s->n_top && n < g->beams; j++) {
        const candidate *t = &s->top[j];
        if ((int64_t)t->token == g->a.eos) {
            if (j < g->beams)
                finish_beam(s, first + t->beam, t->score);
            continue;
        }
        s->summed[first + n] = t->score;
        s->token[first + n] = (int32_t)t->token;
        s->from[first + n++] = first + t->beam;
    }
    return n;
}

/* Chooses the next beams. `all` is set to whether all prompts are done. */
static poprt_status choose_beams(prt_eval *c, search *s, bool *all)
{
    const prt_gen *g = &s->g;
    *all = true;
    for (size_t p = 0; p < g->batch; p++) {
        const size_t first = p * g->beams;
        for (size_t r = first; s->done[p] && r < first + g->beams; r++) {
            s->summed[r] = 0;
            s->token[r] = (int32_t)g->a.pad;
            s->from[r] = 0; /* any row: only the scores output can show it */
        }
        if (s->done[p])
            continue;
        find_top(s, p);
        if (continue_beams(s, p) != g->beams)
            return prt_eval_fail(c, POPRT_E_ARG, "there are %zu beams, but only %zu words",
                g->beams, g->vocab);
        s->done[p] = s->count[p] == g->beams &&
            (s->early ||
                !(s->best[first + g->beams - 1].score < by_length(s, s->top[0].score, g->length)));
        *all = *all && s->done[p];
    }
    memcpy(s->likelihood, s->summed, g->rows * sizeof(float));
    return POPRT_OK;
}

static poprt_status next(prt_eval *c, search *s, bool *all)
{
    prt_gen *g = &s->g;
    if (g->step == 0 && g->a.model == PRT_GEN_ENCODER_DECODER)
        PRT_TRY(prt_gen_encode(c, g));
    else
        PRT_TRY(prt_gen_step(c, g));
    for (size_t r = 0; r < g->rows; r++)
        log_softmax(g->scores + r * g->vocab, g->vocab);
    prt_gen_rules(c, g);
    for (size_t i = 0; i < g->rows * g->vocab; i++)
        g->scores[i] = (double)((float)g->scores[i] + s->likelihood[i / g->vocab]);
    PRT_TRY(keep_scores(c, s));
    PRT_TRY(choose_beams(c, s, all));
    return prt_gen_append(c, g, s->token, s->from);
}

static poprt_status write_outputs(prt_eval *c, const search *s)
{
    const prt_gen *g = &s->g;
    const int64_t dims[3] = { (int64_t)g->batch, (int64_t)s->returned, (int64_t)g->most };
    PRT_TRY(prt_eval_shape(c, OUT_TOKENS, PRT_DTYPE_i32, 3, dims));
    if (prt_eval_wants(c, OUT_LIKELIHOOD))
        PRT_TRY(prt_eval_shape(c, OUT_LIKELIHOOD, c->out[OUT_LIKELIHOOD]->dtype, 2, dims));
    for (size_t i = 0; i < g->batch * s->returned; i++) {
        const finished_beam *e = &s->best[i / s->returned * g->beams + i % s->returned];
        int32_t *to = prt_eval_wants(c, OUT_TOKENS) ? c->out[OUT_TOKENS]->data : NULL;
        for (size_t k = 0; to != NULL && k < g->most; k++)
            to[i * g->most + k] = k < e->length ? e->tokens[k] : (int32_t)g->a.pad;
        if (prt_eval_wants(c, OUT_LIKELIHOOD))
            prt_store_f64(c->out[OUT_LIKELIHOOD]->dtype, c->out[OUT_LIKELIHOOD]->data, i,
                (double)e->score);
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const attrs *a = c->attrs;
    search s = { .g = { .a = PRT_GEN_ATTRS(a), .in = slots }, .early = a->early_stopping != 0 };
    bool all = false;
    PRT_TRY(begin(c, &s));
    while (!all && s.g.length < s.g.most)
        PRT_TRY(next(c, &s, &all));
    for (size_t r = 0; r < s.g.rows; r++)
        if (!s.done[r / s.g.beams])
            finish_beam(&s, r, s.likelihood[r]);
    return write_outputs(c, &s);
}

const prt_op_hooks prt_op_ms_beam_search = { .infer = infer, .eval = eval };
