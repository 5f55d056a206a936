/* SPDX-License-Identifier: MIT */
/*
 * generate.c — the decoder of text generation: its inputs, states and scores.
 *
 * Signature of a decoder without encoder: (words i32[rows, new], positions i32[rows, new],
 * attention i32[rows, all], states [2, rows, heads, before, size] …) → (scores [rows, new, words],
 * states …).
 */
#include "op/microsoft/generate.h"

#include "op/share/reals.h"

enum { IN_PROMPT, IN_MOST };
enum { FEED_WORDS, FEED_POSITIONS, FEED_MASK, FEED_STATES };

/* ---- shapes ---- */

int64_t prt_gen_dim(const prt_infer *c, uint32_t i)
{
    int64_t value;
    uint32_t count;
    if (!prt_infer_ints(c, i, &value, 1, &count) || count != 1 || value < 0 ||
        value > PRT_GEN_MAX_TOKENS)
        return PRT_DIM_UNKNOWN;
    return value;
}

static poprt_status check_regions(prt_infer *c, const prt_gen_attrs *a)
{
    const struct {
        bool given;
        uint32_t region;
    } all[] = { { a->has_decoder, a->decoder }, { a->has_encoder, a->encoder },
        { a->has_init, a->init_decoder } };
    for (size_t i = 0; c->region != NULL && i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].given)
            PRT_TRY(c->region(c, all[i].region, &(prt_region){ .local_symbols = true }));
    return POPRT_OK;
}

poprt_status prt_gen_check(prt_infer *c, const prt_gen_attrs *a, const prt_gen_inputs *in)
{
    int64_t dim;
    if (!a->has_decoder)
        return prt_infer_fail(c, POPRT_E_PARSE, "needs a decoder");
    if (!a->has_ends)
        return prt_infer_fail(c, POPRT_E_ARG, "needs eos_token_id and pad_token_id");
    if (a->eos < INT32_MIN || a->eos > INT32_MAX || a->pad < INT32_MIN || a->pad > INT32_MAX ||
        a->start < INT32_MIN || a->start > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "a token's number does not fit 32 bits");
    if (a->vocab < -1 || a->vocab == 0 || a->vocab > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG,
            "vocab_size is %lld; accepted: a size, or "
            "-1 for the decoder's",
            (long long)a->vocab);
    PRT_TRY(prt_infer_rank(c, IN_PROMPT, 2));
    PRT_TRY(prt_infer_rank(c, in->words, 1));
    PRT_TRY(prt_infer_rank(c, in->first_words, 2));
    PRT_TRY(prt_infer_rank(c, in->attention, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_PROMPT, 0), prt_infer_dim(c, in->first_words, 0),
        "the batch", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_PROMPT, 0), prt_infer_dim(c, in->attention, 0),
        "the batch", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_PROMPT, 1), prt_infer_dim(c, in->attention, 1),
        "the prompt's length", &dim));
    return check_regions(c, a);
}

/* ---- parameters ---- */

static poprt_status read_sizes(prt_eval *c, prt_gen *g)
{
    int64_t most, least = 0;
    uint32_t count, none = 1;
    PRT_TRY(prt_eval_ints(c, IN_MOST, &most, 1, &count));
    if (prt_eval_has(c, g->in.least))
        PRT_TRY(prt_eval_ints(c, g->in.least, &least, 1, &none));
    if (count != 1 || none != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "a length is not one number");
    if (g->batch == 0 || prt_tensor_count(c->in[IN_PROMPT]) == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "the prompt is empty");
    if (most <= (int64_t)g->prompt || most > PRT_GEN_MAX_TOKENS)
        return prt_eval_fail(c, POPRT_E_ARG,
            "max_length is %lld; it must be more than the %zu tokens of "
            "the prompt and at most %d",
            (long long)most, g->prompt, PRT_GEN_MAX_TOKENS);
    if (least < 0)
        return prt_eval_fail(c, POPRT_E_ARG, "min_length is %lld; at least 0 is needed",
            (long long)least);
    g->most = (size_t)most;
    g->least = (size_t)least;
    return POPRT_OK;
}

static poprt_status read_repetition(prt_eval *c, prt_gen *g)
{
    g->repetition = 1;
    if (!prt_eval_has(c, g->in.repetition))
        return POPRT_OK;
    const prt_tensor *t = c->in[g->in.repetition];
    if (prt_tensor_count(t) != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "repetition_penalty is not one number");
    g->repetition = prt_real_at(t, 0);
    if (!(g->repetition > 0))
        return prt_eval_fail(c, POPRT_E_ARG, "repetition_penalty is %g; more than 0 is needed",
            g->repetition);
    return POPRT_OK;
}

/* Writes the initial tokens: the prompt, or the decoder's start token. */
static void first_tokens(const prt_eval *c, prt_gen *g)
{
    const int32_t *prompt = c->in[IN_PROMPT]->data;
    for (size_t r = 0; r < g->rows; r++)
        for (size_t i = 0; i < g->prompt; i++)
            g->tokens[r * g->most + i] =
                g->encoded != 0 ? (int32_t)g->a.start : prompt[r / g->beams * g->prompt + i];
    g->length = g->prompt;
}

poprt_status prt_gen_begin(prt_eval *c, prt_gen *g, size_t beams)
{
    const prt_tensor *prompt = c->in[IN_PROMPT];
    if (c->host->call == NULL || c->host->region_signature == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "the caller cannot run regions");
    g->beams = beams;
    g->batch = (size_t)prompt->dims[0];
    g->prompt = (size_t)prompt->dims[1];
    if (g->a.model == PRT_GEN_ENCODER_DECODER) {
        g->encoded = g->prompt;
        g->prompt = 1;
    }
    if (!prt_size_mul(g->batch, beams, &g->rows) || g->rows > INT32_MAX)
        return prt_eval_fail(c, POPRT_E_LIMIT, "%zu prompts are too many", g->batch);
    PRT_TRY(read_sizes(c, g));
    PRT_TRY(read_repetition(c, g));
    g->tokens = prt_eval_scratch(c, g->rows, g->most * sizeof(int32_t));
    g->reordered = prt_eval_scratch(c, g->rows, g->most * sizeof(int32_t));
    const size_t mask = g->encoded > g->most ? g->encoded : g->most;
    g->mask = prt_eval_scratch(c, g->rows, mask * sizeof(int32_t));
    g->positions = prt_eval_scratch(c, g->rows, g->prompt * sizeof(int32_t));
    g->next = prt_eval_scratch(c, g->rows, g->prompt * sizeof(int32_t));
    if (g->tokens == NULL || g->reordered == NULL || g->mask == NULL || g->positions == NULL ||
        g->next == NULL)
        return POPRT_E_NOMEM;
    first_tokens(c, g);
    return POPRT_OK;
}

/* ---- scores ---- */

static poprt_status check_words(const prt_eval *c, const prt_gen *g, uint32_t input)
{
    if (!prt_eval_has(c, input))
        return POPRT_OK;
    const prt_tensor *t = c->in[input];
    if (t->rank == 0 || (uint64_t)t->dims[t->rank - 1] != g->vocab)
        return prt_eval_fail(c, POPRT_E_SHAPE, "a mask has %lld words; %zu are needed",
            t->rank == 0 ? 1 : (long long)t->dims[t->rank - 1], g->vocab);
    return POPRT_OK;
}

/* Learns the number of words from the first scores. */
static poprt_status begin_scores(prt_eval *c, prt_gen *g, size_t words)
{
    g->padded = words;
    g->vocab = g->a.vocab > 0 ? (size_t)g->a.vocab : words;
    if (g->vocab > words || words == 0 || words > INT32_MAX)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the decoder gives scores for %zu words; %zu are "
            "needed",
            words, g->vocab);
    PRT_TRY(check_words(c, g, g->in.words));
    PRT_TRY(check_words(c, g, g->in.first_words));
    g->scores = prt_eval_scratch(c, g->rows, g->vocab * sizeof(double));
    g->found = prt_eval_scratch(c, g->vocab, sizeof(bool));
    return g->scores != NULL && g->found != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_gen_load_scores(prt_eval *c, prt_gen *g, const prt_tensor *t, size_t each)
{
    if (t->kind != PRT_VALUE_TENSOR || !prt_dtype_is_float(t->dtype) || t->rank != 3)
        return prt_eval_fail(c, POPRT_E_TYPE, "scores must be floats of rank 3");
    const size_t rows = (size_t)t->dims[0], n = (size_t)t->dims[1], words = (size_t)t->dims[2];
    if (rows * each != g->rows || n == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "scores have %zu rows of %zu words; %zu rows are needed", rows, n, g->rows / each);
    if (g->scores == NULL)
        PRT_TRY(begin_scores(c, g, words));
    if (words != g->padded)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "there are scores for %zu words, but before there were %zu", words, g->padded);
    for (size_t r = 0; r < g->rows; r++)
        prt_reals_load(t->dtype, t->data, (r / each * n + n - 1) * words, 1, g->vocab,
            g->scores + r * g->vocab);
    return POPRT_OK;
}

/* ---- states ---- */

poprt_status prt_gen_alloc_feed(prt_eval *c, prt_gen *g, uint32_t region, uint32_t first_state,
    uint32_t n_states, uint32_t more)
{
    prt_region_signature signature;
    PRT_TRY(c->host->region_signature(c, region, UINT32_MAX, &signature));
    g->n_feed = signature.n_in;
    g->n_given = signature.n_out;
    g->first_state = first_state;
    g->n_states = n_states;
    g->feed = prt_eval_scratch(c, (size_t)signature.n_in + 1, sizeof(prt_tensor *));
    g->given = prt_eval_scratch(c, (size_t)signature.n_out + 1, sizeof(prt_tensor));
    g->state = prt_eval_scratch(c, (size_t)n_states + more + 1, sizeof(prt_gen_state));
    if (g->feed == NULL || g->given == NULL || g->state == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_states; i++)
        g->feed[first_state + i] = &g->state[i].value;
    return POPRT_OK;
}

/* Sets state i to rows of `t`: row r is row from[r]. The buffer of a state that grows is allocated
   with spare capacity, so that total memory stays linear in its size. */
poprt_status prt_gen_set_state(prt_eval *c, prt_gen *g, uint32_t i, const prt_tensor *t,
    const size_t *from)
{
    prt_gen_state *s = &g->state[i];
    const uint32_t axis = g->batch_axis;
    prt_tensor *to = &s->value;
    int64_t dims[PRT_MAX_RANK];
    if (t->kind != PRT_VALUE_TENSOR || !prt_dtype_is_float(t->dtype) || t->rank <= axis)
        return prt_eval_fail(c, POPRT_E_TYPE, "state %u is not a float tensor with an axis of rows",
            i);
    memcpy(dims, t->dims, sizeof(dims));
    const size_t had = (size_t)dims[axis], outer = prt_dims_product(dims, 0, axis);
    const size_t inner = prt_dims_product(dims, axis + 1, t->rank);
    dims[axis] = (int64_t)g->rows;
    if (!prt_tensor_init(to, t->dtype, t->rank, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "state %u is too large", i);
    const uint32_t current = s->current ^= 1;
    if (s->buffer[current] == NULL || s->capacity[current] < to->size) {
        const bool again = s->buffer[current] != NULL && to->size <= SIZE_MAX / 2;
        s->capacity[current] = again ? to->size * 2 : to->size;
        s->buffer[current] = prt_eval_scratch(c, s->capacity[current] + 1, 1);
        if (s->buffer[current] == NULL)
            return POPRT_E_NOMEM;
    }
    to->data = s->buffer[current];
    for (size_t o = 0; o < outer; o++)
        for (size_t r = 0; r < g->rows; r++) {
            const size_t row = from != NULL ? from[r] : r;
            if (row >= had)
                return prt_eval_fail(c, POPRT_E_SHAPE, "state %u has %zu rows; %zu are needed", i,
                    had, g->rows);
            prt_element_copy(t->dtype, to->data, (o * g->rows + r) * inner, t->data,
                (o * had + row) * inner, inner);
        }
    return POPRT_OK;
}

/* ---- the decoder alone ---- */

/* Makes states without tokens, with the dims that the region declares except for the batch. */
static poprt_status empty_states(prt_eval *c, prt_gen *g, uint32_t region)
{
    for (uint32_t i = 0; i < g->n_states; i++) {
        prt_region_signature signature;
        PRT_TRY(c->host->region_signature(c, region, FEED_STATES + i, &signature));
        const prt_tensor *t = &signature.in;
        if (t->kind != PRT_VALUE_TENSOR || !prt_dtype_is_float(t->dtype) || t->rank != 5 ||
            t->dims[0] != 2 || t->dims[2] < 0 || t->dims[4] < 0)
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "input %u of the decoder must be declared as "
                "floats [2, rows, heads, tokens, size] with numbers for heads and size",
                FEED_STATES + i);
        const int64_t dims[5] = { 2, (int64_t)g->rows, t->dims[2], 0, t->dims[4] };
        if (!prt_tensor_init(&g->state[i].value, t->dtype, 5, dims, NULL))
            return prt_eval_fail(c, POPRT_E_LIMIT, "a state is too large");
        g->state[i].value.data = g->mask; /* empty tensor: never read */
    }
    return POPRT_OK;
}

static poprt_status begin_decoder(prt_eval *c, prt_gen *g)
{
    prt_region_signature signature;
    PRT_TRY(c->host->region_signature(c, g->a.decoder, UINT32_MAX, &signature));
    if (signature.n_in < FEED_STATES || signature.n_out < 1 ||
        signature.n_in - FEED_STATES != signature.n_out - 1)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "the decoder has %u inputs and %u outputs; it needs 3 and 1, "
            "and the same number of states in both",
            signature.n_in, signature.n_out);
    PRT_TRY(prt_gen_alloc_feed(c, g, g->a.decoder, FEED_STATES, signature.n_in - FEED_STATES, 0));
    g->batch_axis = 1;
    g->feed[FEED_WORDS] = &g->next_tensor;
    g->feed[FEED_POSITIONS] = &g->positions_tensor;
    g->feed[FEED_MASK] = &g->mask_tensor;
    return empty_states(c, g, g->a.has_init ? g->a.init_decoder : g->a.decoder);
}

/* Returns whether token i of row r has a position: padding of the prompt does not. */
static bool has_position(const prt_gen *g, size_t r, size_t i)
{
    return i >= g->prompt || g->tokens[r * g->most + i] != g->a.pad;
}

/* Returns the attention mask of token i. For a prompt without a mask it hides the padding. */
static int32_t attention_at(const prt_eval *c, const prt_gen *g, size_t r, size_t i)
{
    if (i >= g->prompt || !prt_eval_has(c, g->in.attention))
        return has_position(g, r, i);
    return ((const int32_t *)c->in[g->in.attention]->data)[r / g->beams * g->prompt + i];
}

static poprt_status set_tensor(prt_eval *c, prt_tensor *t, size_t rows, size_t n, void *data)
{
    const int64_t dims[2] = { (int64_t)rows, (int64_t)n };
    if (!prt_tensor_init(t, PRT_DTYPE_i32, 2, dims, data))
        return prt_eval_fail(c, POPRT_E_LIMIT, "there are too many tokens");
    return POPRT_OK;
}

/* Fills the inputs of the decoder: words, their positions, and the attention mask. */
static poprt_status fill_feed(prt_eval *c, prt_gen *g)
{
    const bool first = g->step == 0;
    const size_t n = first ? g->prompt : 1;
    for (size_t r = 0; r < g->rows; r++) {
        int32_t *position = g->positions + r * n;
        int32_t at = 0;
        for (size_t i = 0; i < g->length; i++) {
            const bool own = has_position(g, r, i);
            if (i >= g->length - n)
                position[i - (g->length - n)] = own ? at : 0;
            at += own;
            g->mask[r * g->length + i] = attention_at(c, g, r, i);
        }
        memcpy(g->next + r * n, g->tokens + r * g->most + g->length - n, n * sizeof(int32_t));
    }
    PRT_TRY(set_tensor(c, &g->next_tensor, g->rows, n, g->next));
    PRT_TRY(set_tensor(c, &g->positions_tensor, g->rows, n, g->positions));
    return set_tensor(c, &g->mask_tensor, g->rows, g->length, g->mask);
}

poprt_status prt_gen_step(prt_eval *c, prt_gen *g)
{
    PRT_TRY(c->host->check(c));
    if (g->encoded != 0) {
        const size_t n = g->step == 0 ? g->prompt : 1;
        for (size_t r = 0; r < g->rows; r++)
            memcpy(g->next + r * n, g->tokens + r * g->most + g->length - n, n * sizeof(int32_t));
        PRT_TRY(set_tensor(c, &g->next_tensor, g->rows, n, g->next));
    } else {
        if (g->step == 0)
            PRT_TRY(begin_decoder(c, g));
        PRT_TRY(fill_feed(c, g));
    }
    const bool init = g->step == 0 && g->a.has_init && g->encoded == 0;
    PRT_TRY(c->host->call(c, init ? g->a.init_decoder : g->a.decoder, g->n_feed, g->feed,
        g->n_given, g->given));
    g->step++;
    return prt_gen_load_scores(c, g, &g->given[0], 1);
}

poprt_status prt_gen_append(prt_eval *c, prt_gen *g, const int32_t *token, const size_t *from)
{
    for (size_t r = 0; r < g->rows; r++) {
        const size_t row = from != NULL ? from[r] : r;
        memcpy(g->reordered + r * g->most, g->tokens + row * g->most, g->length * sizeof(int32_t));
        g->reordered[r * g->most + g->length] = token[r];
    }
    int32_t *other = g->tokens;
    g->tokens = g->reordered;
    g->reordered = other;
    g->length++;
    const bool fresh = g->encoded != 0 && g->step == 1; /* the encoder has set the states already */
    for (uint32_t i = 0; !fresh && g->length < g->most && i < g->n_given - 1; i++)
        PRT_TRY(prt_gen_set_state(c, g, i, &g->given[1 + i], from));
    return POPRT_OK;
}
