/* SPDX-License-Identifier: MIT */
/*
 * tfidf.c — TfIdfVectorizer: counts the n-grams of a pool in each row; n-grams may skip items.
 *
 * The n-grams of the pool are in a hash table. N-grams of a row are hashed incrementally, item by
 * item.
 */
#include "op/op.h"

static poprt_status check_pool(const prt_infer *c, uint32_t total, uint64_t *grams)
{
    const prt_tf_idf_vectorizer_attrs *a = c->attrs;
    *grams = 0;
    for (uint32_t i = 0; i < a->ngram_counts.count; i++) {
        const int64_t from = a->ngram_counts.data[i];
        const int64_t to = i + 1 < a->ngram_counts.count ? a->ngram_counts.data[i + 1] : total;
        if (from < 0 || to < from || to > (int64_t)total || (to - from) % (i + 1) != 0)
            return prt_infer_fail(c, POPRT_E_ARG,
                "ngram_counts[%u] is %lld, which does not match a pool of %u items", i,
                (long long)from, total);
        *grams += (uint64_t)(to - from) / (i + 1);
    }
    return POPRT_OK;
}

/* Computes the size of an output row: the largest index plus 1. */
static poprt_status check_indexes(const prt_infer *c, int64_t *size)
{
    const prt_tf_idf_vectorizer_attrs *a = c->attrs;
    *size = 0;
    for (uint32_t i = 0; i < a->ngram_indexes.count; i++) {
        const int64_t at = a->ngram_indexes.data[i];
        if (at < 0 || at >= INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG,
                "ngram_indexes[%u] is %lld; accepted: 0 to 2147483646", i, (long long)at);
        *size = at >= *size ? at + 1 : *size;
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_tf_idf_vectorizer_attrs *a = c->attrs;
    const bool strings = c->in[0].dtype == PRT_DTYPE_string;
    int64_t dims[2] = { PRT_DIM_UNKNOWN, 0 };
    uint64_t grams;
    if (!prt_str_is(a->mode, "TF") && !prt_str_is(a->mode, "IDF") && !prt_str_is(a->mode, "TFIDF"))
        return prt_infer_fail(c, POPRT_E_ARG, "mode is not known; accepted: TF, IDF, TFIDF");
    if (a->min_gram_length < 1 || a->max_gram_length < a->min_gram_length ||
        a->max_gram_length > (int64_t)a->ngram_counts.count || a->max_skip_count < 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "min_gram_length %lld, max_gram_length %lld (limit %u) or max_skip_count %lld is out "
            "of range",
            (long long)a->min_gram_length, (long long)a->max_gram_length, a->ngram_counts.count,
            (long long)a->max_skip_count);
    const uint32_t total = strings ? a->pool_strings.count : a->pool_int64s.count;
    PRT_TRY(check_pool(c, total, &grams));
    PRT_TRY(check_indexes(c, &dims[1]));
    if (grams > a->ngram_indexes.count || dims[1] == 0)
        return prt_infer_fail(c, POPRT_E_ARG, "the pool has %llu n-grams, but there are %u indexes",
            (unsigned long long)grams, a->ngram_indexes.count);
    if (a->weights.count != 0 && a->weights.count < grams)
        return prt_infer_fail(c, POPRT_E_ARG, "there are %u weights, but %llu n-grams",
            a->weights.count, (unsigned long long)grams);
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_f32, PRT_RANK_UNKNOWN);
    if (c->in[0].rank > 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; the limit is 2",
            c->in[0].rank);
    if (c->in[0].rank < 2)
        return prt_infer_set(c, 0, PRT_DTYPE_f32, 1, &dims[1]);
    dims[0] = c->in[0].dims[0];
    return prt_infer_set(c, 0, PRT_DTYPE_f32, 2, dims);
}

typedef struct slot {
    uint32_t length; /* number of items; 0: free slot */
    uint32_t gram;   /* index of the n-gram in the pool */
    size_t first;    /* index of its first item in the pool */
} slot;

typedef struct table {
    const prt_tf_idf_vectorizer_attrs *a;
    const prt_tensor *x;
    bool strings;
    slot *slots;
    size_t mask;
    uint32_t grams;
    float *counts; /* count of each n-gram in the current row */
} table;

static poprt_string pool_text(const table *t, size_t i)
{
    const prt_str s = t->a->pool_strings.data[i];
    return (poprt_string){ s.data, s.size };
}

static uint64_t hash_text(poprt_string s, uint64_t h)
{
    return prt_hash(s.data != NULL ? s.data : "", s.size, h + 1);
}

static uint64_t hash_number(int64_t v, uint64_t h)
{
    return prt_hash(&v, sizeof(v), h + 1);
}

/* Compares item `i` of the pool with item `at` of the input or, if `in_pool`, of the pool. */
static bool same_item(const table *t, size_t i, size_t at, bool in_pool)
{
    if (t->strings) {
        const poprt_string p = pool_text(t, i);
        const poprt_string q = in_pool ? pool_text(t, at) : ((const poprt_string *)t->x->data)[at];
        return p.size == q.size && (p.size == 0 || memcmp(p.data, q.data, p.size) == 0);
    }
    const int64_t q =
        in_pool ? t->a->pool_int64s.data[at] : prt_load_i64(t->x->dtype, t->x->data, at);
    return t->a->pool_int64s.data[i] == q;
}

/* Returns the slot of an n-gram, or the free slot to insert it. */
static slot *find(const table *t, uint64_t hash, uint32_t length, size_t at, size_t step,
    bool in_pool)
{
    for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        slot *s = &t->slots[i];
        if (s->length == 0)
            return s;
        bool same = s->length == length;
        for (uint32_t k = 0; same && k < length; k++)
            same = same_item(t, s->first + k, at + k * step, in_pool);
        if (same)
            return s;
    }
}

/* Inserts the n-grams of the requested lengths. The last of equal n-grams counts. */
static poprt_status fill_table(prt_eval *c, table *t)
{
    const prt_tf_idf_vectorizer_attrs *a = t->a;
    const size_t total = t->strings ? a->pool_strings.count : a->pool_int64s.count;
    size_t capacity = 16;
    while (capacity < total * 2)
        capacity *= 2;
    t->slots = prt_eval_scratch(c, capacity, sizeof(slot));
    if (t->slots == NULL)
        return POPRT_E_NOMEM;
    t->mask = capacity - 1;
    uint32_t gram = 0;
    t->counts = prt_eval_scratch(c, a->ngram_indexes.count, sizeof(float));
    if (t->counts == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t n = 1; n <= a->ngram_counts.count; n++) {
        const size_t from = (size_t)a->ngram_counts.data[n - 1];
        const size_t to = n < a->ngram_counts.count ? (size_t)a->ngram_counts.data[n] : total;
        for (size_t at = from; at < to; at += n, gram++) {
            uint64_t h = 0;
            if (n < a->min_gram_length || n > a->max_gram_length)
                continue;
            for (size_t k = at; k < at + n; k++)
                h = t->strings ? hash_text(pool_text(t, k), h)
                               : hash_number(a->pool_int64s.data[k], h);
            *find(t, h, n, at, 1, true) = (slot){ n, gram, at };
        }
    }
    t->grams = gram;
    return POPRT_OK;
}

/* Counts the n-grams that start at item `at` and use every `step`-th item before `end`. */
static void count_from(const table *t, size_t at, size_t end, size_t step)
{
    const prt_tf_idf_vectorizer_attrs *a = t->a;
    uint64_t h = 0;
    size_t item = at;
    for (uint32_t n = 1; n <= a->max_gram_length; n++) {
        h = t->strings ? hash_text(((const poprt_string *)t->x->data)[item], h)
                       : hash_number(prt_load_i64(t->x->dtype, t->x->data, item), h);
        if (n >= a->min_gram_length && (n > 1 || step == 1)) {
            const slot *s = find(t, h, n, at, step, false);
            if (s->length != 0)
                t->counts[s->gram] += 1;
        }
        if (end - item <= step)
            return;
        item += step;
    }
}

/* Writes the counts of a row, weighted or limited to 1 as the mode says, to the indices of their
 * n-grams. */
static void write_row(const table *t, float *row)
{
    const prt_tf_idf_vectorizer_attrs *a = t->a;
    const bool once = prt_str_is(a->mode, "IDF"), plain = prt_str_is(a->mode, "TF");
    for (uint32_t i = 0; i < t->grams; i++) {
        float count = t->counts[i];
        if (once && count > 1)
            count = 1;
        if (!plain && a->weights.count != 0)
            count *= a->weights.data[i];
        row[a->ngram_indexes.data[i]] += count;
        t->counts[i] = 0;
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_tf_idf_vectorizer_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    table t = { .a = a, .x = x, .strings = x->dtype == PRT_DTYPE_string };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(fill_table(c, &t));
    prt_tensor *y = c->out[0];
    const size_t rows = x->rank == 2 ? (size_t)x->dims[0] : 1;
    const size_t items = x->rank == 0 ? 1 : (size_t)x->dims[x->rank - 1];
    const size_t size = (size_t)y->dims[y->rank - 1];
    memset(y->data, 0, y->size);
    for (size_t r = 0; r < rows; r++) {
        PRT_TRY(c->host->check(c));
        for (size_t step = 1; step <= items && step - 1 <= (size_t)a->max_skip_count; step++)
            for (size_t i = 0; i < items; i++)
                count_from(&t, r * items + i, (r + 1) * items, step);
        write_row(&t, (float *)y->data + r * size);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_tf_idf_vectorizer = { .infer = infer, .eval = eval };
