/* SPDX-License-Identifier: MIT */
/* greedy_search.c — GreedySearch: a decoder writes on, one likeliest word at a time. */
#include "op/microsoft/generate.h"
#include "op/nn.h"

typedef prt_ms_greedy_search_attrs attrs;

static const prt_gen_inputs slots = { .least = 2, .repetition = 3, .words = 4, .first_words = 5,
    .attention = 6 };

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_gen_attrs all = PRT_GEN_ATTRS(a);
    if (a->model_type != PRT_GEN_DECODER_ONLY)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "model_type is %lld; 0 is possible",
            (long long)a->model_type);
    PRT_TRY(prt_gen_check(c, &all, &slots));
    const int64_t dims[2] = { prt_infer_dim(c, 0, 0), prt_gen_dim(c, 1) };
    return prt_infer_set(c, 0, PRT_DTYPE_i32, 2, dims);
}

static int32_t likeliest(const double *scores, size_t n)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        if (scores[k] > scores[best])
            best = k;
    return (int32_t)best;
}

/* Chooses a word for each row. A row that has ended goes on with padding; tells whether all have. */
static bool choose(const prt_gen *g, bool *ended, int32_t *token)
{
    bool all = true;
    for (size_t r = 0; r < g->rows; r++) {
        token[r] = likeliest(g->scores + r * g->vocab, g->vocab);
        ended[r] = ended[r] || token[r] == g->a.eos;
        if (ended[r])
            token[r] = (int32_t)g->a.pad;
        all = all && ended[r];
    }
    return all;
}

static poprt_status eval(prt_eval *c)
{
    const attrs *a = c->attrs;
    prt_gen g = { .a = PRT_GEN_ATTRS(a), .in = slots };
    PRT_TRY(prt_gen_begin(c, &g, 1));
    int32_t *token = prt_eval_scratch(c, g.rows, sizeof(int32_t));
    bool *ended = prt_eval_scratch(c, g.rows, sizeof(bool)), all = false;
    if (token == NULL || ended == NULL)
        return POPRT_E_NOMEM;
    while (!all && g.length < g.most) {
        PRT_TRY(prt_gen_step(c, &g));
        prt_gen_rules(c, &g);
        all = choose(&g, ended, token);
        PRT_TRY(prt_gen_append(c, &g, token, NULL));
    }
    const int64_t dims[2] = { (int64_t)g.rows, (int64_t)g.most };
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_i32, 2, dims));
    int32_t *to = prt_eval_wants(c, 0) ? c->out[0]->data : NULL;
    for (size_t i = 0; to != NULL && i < g.rows * g.most; i++)
        to[i] = i % g.most < g.length ? g.tokens[i] : (int32_t)a->pad_token_id;
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_greedy_search = { .infer = infer, .eval = eval };
