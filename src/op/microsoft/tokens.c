/* SPDX-License-Identifier: MIT */
/*
 * tokens.c — MurmurHash3, NGramRepeatBlock, BifurcationDetector, DynamicTimeWarping and
 * WordConvEmbedding.
 */
#include <math.h>

#include "op/share/reals.h"

/* ---- MurmurHash3, the x86 32-bit variant ---- */

static uint32_t rotate(uint32_t x, uint32_t by)
{
    return x << by | x >> (32 - by);
}

static uint32_t murmur(const unsigned char *data, size_t size, uint32_t hash)
{
    uint32_t k = 0;
    for (size_t i = 0; i < size; i++) {
        k |= (uint32_t)data[i] << 8 * (i % 4);
        if (i % 4 != 3 && i + 1 != size)
            continue;
        hash ^= rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u;
        if (i % 4 == 3)
            hash = rotate(hash, 13) * 5 + 0xe6546b64u;
        k = 0;
    }
    hash ^= (uint32_t)size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static poprt_status infer_murmur(prt_infer *c)
{
    const prt_ms_murmur_hash3_attrs *a = c->attrs;
    return prt_infer_like(c, 0, 0, a->positive != 0 ? PRT_DTYPE_u32 : PRT_DTYPE_i32);
}

static poprt_status eval_murmur(prt_eval *c)
{
    const prt_ms_murmur_hash3_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n && prt_eval_wants(c, 0); i++) {
        poprt_string text = { (const char *)x->data + i * (x->size / n), x->size / n };
        if (x->dtype == PRT_DTYPE_string)
            text = ((const poprt_string *)x->data)[i];
        ((uint32_t *)c->out[0]->data)[i] =
            murmur((const unsigned char *)text.data, text.size, (uint32_t)a->seed);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_murmur_hash3 = { .infer = infer_murmur, .eval = eval_murmur };

/* ---- NGramRepeatBlock ---- */

static poprt_status infer_block(prt_infer *c)
{
    const prt_ms_ngram_repeat_block_attrs *a = c->attrs;
    int64_t dim;
    if (a->ngram_size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "ngram_size is %lld; at least 1 is needed",
            (long long)a->ngram_size);
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 0), prt_infer_dim(c, 1, 0), "the batch", &dim));
    return prt_infer_like(c, 0, 1, c->in[1].dtype);
}

/* Gives the lowest score to each token that would repeat an n-gram. */
static poprt_status eval_block(prt_eval *c)
{
    const prt_ms_ngram_repeat_block_attrs *a = c->attrs;
    const int64_t length = c->in[0]->dims[1], words = c->in[1]->dims[1], n = a->ngram_size;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_copy(c, 0, c->in[1]));
    for (int64_t b = 0; b < c->in[0]->dims[0] && n <= length; b++) {
        const int64_t *ids = (const int64_t *)c->in[0]->data + b * length;
        float *scores = (float *)c->out[0]->data + b * words;
        for (int64_t i = 0; i + n <= length; i++) {
            const size_t same = (size_t)(n - 1) * sizeof(int64_t);
            const int64_t next = ids[i + n - 1];
            if (memcmp(ids + i, ids + length - n + 1, same) != 0)
                continue;
            if (next < 0 || next >= words)
                return prt_eval_fail(c, POPRT_E_ARG, "token %lld is outside [0, %lld)",
                    (long long)next, (long long)words);
            scores[next] = -INFINITY;
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_ngram_repeat_block = { .infer = infer_block, .eval = eval_block };

/* ---- BifurcationDetector ---- */

enum { IN_SOURCE, IN_CURRENT, IN_INDEX, IN_PREDICTED };

static poprt_status infer_bifurcation(prt_infer *c)
{
    const prt_ms_bifurcation_detector_attrs *a = c->attrs;
    const int64_t open = PRT_DIM_UNKNOWN;
    if (a->min_ngram_size < 1 || a->max_ngram_size < a->min_ngram_size)
        return prt_infer_fail(c, POPRT_E_ARG,
            "n-grams have %lld to %lld tokens; at least 1, in ascending order, is needed",
            (long long)a->min_ngram_size, (long long)a->max_ngram_size);
    PRT_TRY(prt_infer_rank(c, IN_SOURCE, 1));
    PRT_TRY(prt_infer_rank(c, IN_CURRENT, 1));
    PRT_TRY(prt_infer_rank(c, IN_PREDICTED, 1));
    for (int32_t k = 0; prt_infer_ranked(c, IN_INDEX) && k < c->in[IN_INDEX].rank; k++)
        if (prt_dim_is_number(c->in[IN_INDEX].dims[k]) && c->in[IN_INDEX].dims[k] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "prev_suffix_match_idx is not one number");
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_i64, 1, &open));
    return prt_infer_set(c, 1, PRT_DTYPE_i64, 0, NULL);
}

/* Returns the first position from `from` on where the source has the `n` tokens; -1 if there is
   none. */
static int64_t find(const prt_tensor *source, int64_t from, const int64_t *tokens, int64_t n)
{
    const int64_t *in = source->data;
    for (int64_t i = from; i + n <= source->dims[0]; i++)
        if (memcmp(in + i, tokens, (size_t)n * sizeof(int64_t)) == 0)
            return i;
    return -1;
}

/* Returns the position in the source after the shortest suffix n-gram that occurs in it once;
   otherwise -1. */
static int64_t match_suffix(const prt_ms_bifurcation_detector_attrs *a, const prt_tensor *source,
    const int64_t *tokens, int64_t count)
{
    int64_t after = -1;
    for (int64_t n = a->min_ngram_size; n <= a->max_ngram_size && n <= count; n++) {
        const int64_t *last = tokens + count - n, at = find(source, 0, last, n);
        if (at < 0)
            break;
        after = at + n;
        if (after >= source->dims[0] || find(source, at + 1, last, n) < 0)
            return after;
        after = -1;
    }
    return after;
}

static poprt_status eval_bifurcation(prt_eval *c)
{
    const prt_tensor *source = c->in[IN_SOURCE], *current = c->in[IN_CURRENT];
    const prt_tensor *predicted = prt_eval_has(c, IN_PREDICTED) ? c->in[IN_PREDICTED] : NULL;
    const int64_t at = *(const int64_t *)c->in[IN_INDEX]->data, *from = source->data;
    int64_t more = 0;
    if (predicted != NULL) {
        const int64_t *next = predicted->data;
        if (at < 0 || at > source->dims[0] || predicted->dims[0] != source->dims[0] + 1 - at)
            return prt_eval_fail(c, POPRT_E_ARG,
                "%lld tokens are predicted after position %lld of %lld",
                (long long)predicted->dims[0], (long long)at, (long long)source->dims[0]);
        while (more < source->dims[0] - at && next[more] == from[at + more])
            more++;
        more++; /* includes the first token that differs */
    }
    const int64_t count = current->dims[0] + more;
    int64_t *tokens = prt_eval_scratch(c, (size_t)count + 1, sizeof(int64_t));
    if (tokens == NULL)
        return POPRT_E_NOMEM;
    prt_element_copy(PRT_DTYPE_i64, tokens, 0, current->data, 0, (size_t)current->dims[0]);
    if (more != 0)
        prt_element_copy(PRT_DTYPE_i64, tokens, (size_t)current->dims[0], predicted->data, 0,
            (size_t)more);
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_i64, 1, &count));
    if (prt_eval_wants(c, 0))
        prt_element_copy(PRT_DTYPE_i64, c->out[0]->data, 0, tokens, 0, (size_t)count);
    if (prt_eval_wants(c, 1))
        *(int64_t *)c->out[1]->data = match_suffix(c->attrs, source, tokens, count);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_bifurcation_detector = { .infer = infer_bifurcation,
    .eval = eval_bifurcation };

/* ---- DynamicTimeWarping: the cheapest path through a matrix from corner to corner ---- */

static poprt_status infer_warping(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    const int64_t dims[2] = { 2, PRT_DIM_UNKNOWN };
    if (prt_infer_ranked(c, 0)) {
        if (x->rank != 2 && (x->rank != 3 || (prt_dim_is_number(x->dims[0]) && x->dims[0] != 1)))
            return prt_infer_fail(c, POPRT_E_SHAPE, "costs must be M × N, or 1 × M × N");
        for (int32_t k = x->rank - 2; k < x->rank; k++)
            if (prt_dim_is_number(x->dims[k]) && x->dims[k] < 1)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "the matrix is empty; at least 1 × 1 is needed");
    }
    return prt_infer_set(c, 0, PRT_DTYPE_i32, 2, dims);
}

enum { FROM_BOTH, FROM_ROW, FROM_COL }; /* the step that leads to an element */

/* Computes the costs of the cheapest paths row by row; `step` gets the last step to each
   element. */
static poprt_status warp(prt_eval *c, size_t m, size_t n, uint8_t *step)
{
    double *cost = prt_eval_scratch(c, n + 1, 2 * sizeof(double)), *last = cost + n + 1;
    if (cost == NULL)
        return POPRT_E_NOMEM;
    for (size_t j = 0; j <= n; j++)
        last[j] = j == 0 ? 0 : HUGE_VAL;
    for (size_t i = 0; i < m; i++) {
        PRT_TRY(c->host->check(c));
        cost[0] = HUGE_VAL;
        for (size_t j = 1; j <= n; j++) {
            const double both = last[j - 1], row = last[j], col = cost[j - 1];
            const bool diagonal = both < row && both < col, up = row < both && row < col;
            step[i * n + j - 1] = diagonal ? FROM_BOTH : up ? FROM_ROW : FROM_COL;
            cost[j] = prt_real_at(c->in[0], i * n + j - 1) + (diagonal ? both : up ? row : col);
        }
        memcpy(last, cost, (n + 1) * sizeof(double));
    }
    return POPRT_OK;
}

static poprt_status eval_warping(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t m = (size_t)x->dims[x->rank - 2], n = (size_t)x->dims[x->rank - 1];
    uint8_t *step = prt_eval_scratch(c, m, n);
    int64_t dims[2] = { 2, 0 };
    if (step == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(warp(c, m, n, step));
    for (int round = 0; round < 2; round++) { /* counts the elements, then lists them */
        size_t i = m - 1, j = n - 1;
        for (int64_t at = 0;; at++) {
            if (round == 0) {
                dims[1] = at + 1;
            } else if (prt_eval_wants(c, 0)) {
                int32_t *to = c->out[0]->data;
                to[dims[1] - 1 - at] = (int32_t)i;
                to[2 * dims[1] - 1 - at] = (int32_t)j;
            }
            if (i == 0 && j == 0)
                break;
            const uint8_t by = i == 0 ? FROM_COL : j == 0 ? FROM_ROW : step[i * n + j];
            i -= by != FROM_COL;
            j -= by != FROM_ROW;
        }
        if (round == 0)
            PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_i32, 2, dims));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_dynamic_time_warping = { .infer = infer_warping,
    .eval = eval_warping };

/* ---- WordConvEmbedding: convolution over the characters of a word, tanh, maximum ---- */

enum { IN_WORDS, IN_W, IN_B, IN_CHARS };

static poprt_status infer_words(prt_infer *c)
{
    int64_t dims[PRT_MAX_RANK], dim;
    const prt_shape *x = &c->in[IN_WORDS];
    const int64_t filters = prt_infer_dim(c, IN_W, 0);
    PRT_TRY(prt_infer_rank(c, IN_W, 4));
    PRT_TRY(prt_infer_rank(c, IN_CHARS, 2));
    PRT_TRY(prt_infer_vector(c, IN_B, filters));
    PRT_TRY(prt_infer_merge(c, 1, prt_infer_dim(c, IN_W, 1), "the channel", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_W, 3), prt_infer_dim(c, IN_CHARS, 1),
        "the size of a character", &dim));
    if (!prt_infer_ranked(c, IN_WORDS))
        return prt_infer_unranked(c, 0, PRT_DTYPE_f32, PRT_RANK_UNKNOWN);
    if (x->rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input is a scalar; at least rank 1 is needed");
    const int64_t window = prt_infer_dim(c, IN_W, 2), length = x->dims[x->rank - 1];
    if (prt_dim_is_number(window) && prt_dim_is_number(length) && (window < 1 || window > length))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the window has %lld characters, but words have %lld", (long long)window,
            (long long)length);
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank - 1] = filters;
    return prt_infer_exact(c, 0, PRT_DTYPE_f32, x->rank, dims);
}

/* Returns the number of characters before the first 0, at least a window; 0 for an empty word. */
static size_t word_length(const int32_t *word, size_t most, size_t window)
{
    size_t n = 0;
    while (n < most && word[n] > 0)
        n++;
    return n == 0 || n > window ? n : window;
}

static poprt_status eval_words(prt_eval *c)
{
    const prt_tensor *x = c->in[IN_WORDS], *w = c->in[IN_W], *chars = c->in[IN_CHARS];
    const size_t most = (size_t)x->dims[x->rank - 1], filters = (size_t)w->dims[0];
    const size_t window = (size_t)w->dims[2], size = (size_t)w->dims[3];
    const float *weight = w->data, *bias = c->in[IN_B]->data, *table = chars->data;
    if (!prt_eval_wants(c, 0) || prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    for (size_t k = 0; k < prt_tensor_count(x) / most; k++) {
        const int32_t *word = (const int32_t *)x->data + k * most;
        const size_t length = word_length(word, most, window);
        PRT_TRY(c->host->check(c));
        for (size_t i = 0; i < length; i++)
            if (word[i] < 0 || word[i] >= chars->dims[0])
                return prt_eval_fail(c, POPRT_E_ARG, "character %d is outside [0, %lld)",
                    (int)word[i], (long long)chars->dims[0]);
        for (size_t f = 0; f < filters; f++) {
            double best = length == 0 ? 0 : -HUGE_VAL;
            for (size_t i = 0; i + window <= length; i++) {
                double sum = (double)bias[f];
                for (size_t d = 0; d < window * size; d++)
                    sum += (double)weight[f * window * size + d] *
                        (double)table[(size_t)word[i + d / size] * size + d % size];
                best = fmax(best, tanh(sum));
            }
            ((float *)c->out[0]->data)[k * filters + f] = (float)best;
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_word_conv_embedding = { .infer = infer_words, .eval = eval_words };
