/* SPDX-License-Identifier: MIT */
/*
 * generate_encode.c — text generation with an encoder of the prompt.
 *
 * Encoder: (prompt i32[batch, length], attention i32[batch, length], first words i32[batch, new])
 * → (scores [batch, new, words], encoded [batch, length, size], states …). The states are key and
 * value of the decoder's own words for each layer, then key and value of the prompt for each layer,
 * all [batch, heads, words, size]. Decoder: (words, attention, optionally encoded, states …) →
 * (scores, own states …).
 */
#include "op/microsoft/generate.h"

enum { IN_PROMPT };
enum { FEED_WORDS, FEED_MASK, FEED_ENCODED };
enum { GIVES_SCORES, GIVES_ENCODED, GIVES_STATES };

static poprt_status set_ints(prt_eval *c, prt_tensor *t, size_t rows, size_t n, void *data)
{
    const int64_t dims[2] = { (int64_t)rows, (int64_t)n };
    if (!prt_tensor_init(t, PRT_DTYPE_i32, 2, dims, data))
        return prt_eval_fail(c, POPRT_E_LIMIT, "the prompt is too long");
    return POPRT_OK;
}

/* Fills the attention mask of the prompt, `each` rows for each prompt. Without a mask input,
   leading padding is hidden. */
static poprt_status fill_mask(prt_eval *c, prt_gen *g, size_t each)
{
    const bool given = prt_eval_has(c, g->in.attention);
    const int32_t *from = c->in[given ? g->in.attention : IN_PROMPT]->data;
    for (size_t r = 0; r < g->batch * each; r++) {
        bool begun = false;
        for (size_t i = 0; i < g->encoded; i++) {
            const int32_t x = from[r / each * g->encoded + i];
            begun = begun || x != g->a.pad;
            g->mask[r * g->encoded + i] = given ? x : begun;
        }
    }
    return set_ints(c, &g->mask_tensor, g->batch * each, g->encoded, g->mask);
}

/* Checks the signatures of encoder and decoder. `own` gets the number of states that the decoder
   returns, `hidden` whether it takes the encoder's output. */
static poprt_status match_regions(prt_eval *c, const prt_gen *g, uint32_t *own, bool *hidden)
{
    prt_region_signature e, d;
    PRT_TRY(c->host->region_signature(c, g->a.encoder, UINT32_MAX, &e));
    PRT_TRY(c->host->region_signature(c, g->a.decoder, UINT32_MAX, &d));
    *own = d.n_out - 1;
    if (d.n_out < 3 || e.n_in != 3 || e.n_out < GIVES_STATES ||
        (e.n_out - GIVES_STATES) / 2 != *own || e.n_out % 2 != 0 ||
        (d.n_in != FEED_ENCODED + 2 * *own && d.n_in != FEED_ENCODED + 1 + 2 * *own))
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the encoder has %u inputs and %u outputs and the decoder %u and %u; needed for n "
            "layers: 3 "
            "and 2 + 4 * n, and 2 or 3 + 4 * n and 1 + 2 * n",
            e.n_in, e.n_out, d.n_in, d.n_out);
    *hidden = d.n_in % 2 != 0;
    return POPRT_OK;
}

poprt_status prt_gen_encode(prt_eval *c, prt_gen *g)
{
    uint32_t own = 0;
    bool hidden = false;
    PRT_TRY(c->host->check(c));
    PRT_TRY(match_regions(c, g, &own, &hidden));
    /* the encoder's output is a state that never changes; it is the last state */
    const uint32_t n_states = 2 * own, first = FEED_ENCODED + hidden;
    prt_tensor *out = prt_eval_scratch(c, GIVES_STATES + n_states, sizeof(prt_tensor));
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(fill_mask(c, g, 1));
    for (size_t b = 0; b < g->batch; b++)
        memcpy(g->next + b * g->prompt, g->tokens + b * g->beams * g->most,
            g->prompt * sizeof(int32_t));
    PRT_TRY(set_ints(c, &g->next_tensor, g->batch, g->prompt, g->next));
    const prt_tensor *in[3] = { c->in[IN_PROMPT], &g->mask_tensor, &g->next_tensor };
    PRT_TRY(c->host->call(c, g->a.encoder, 3, in, GIVES_STATES + n_states, out));
    g->step++;
    PRT_TRY(prt_gen_load_scores(c, g, &out[GIVES_SCORES], g->beams));
    PRT_TRY(prt_gen_alloc_feed(c, g, g->a.decoder, first, n_states, hidden));
    size_t *from = prt_eval_scratch(c, g->rows, sizeof(size_t));
    if (from == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < g->rows; r++)
        from[r] = r / g->beams;
    for (uint32_t i = 0; i < n_states; i++)
        PRT_TRY(prt_gen_set_state(c, g, i, &out[GIVES_STATES + i], from));
    if (hidden) {
        PRT_TRY(prt_gen_set_state(c, g, n_states, &out[GIVES_ENCODED], from));
        g->feed[FEED_ENCODED] = &g->state[n_states].value;
    }
    g->feed[FEED_WORDS] = &g->next_tensor;
    g->feed[FEED_MASK] = &g->mask_tensor;
    return fill_mask(c, g, g->beams);
}
