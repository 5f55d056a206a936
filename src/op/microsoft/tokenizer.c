/* SPDX-License-Identifier: MIT */
/*
 * tokenizer.c — Tokenizer: splits texts into tokens at a list of separators, by matches of a
 * regular expression, or into characters; rows are padded with pad_value.
 */
#include "op/share/strings.h"

enum { MOST_SEPARATORS = 64 };

typedef prt_ms_tokenizer_attrs attrs;

/* Returns whether every character is a token. */
static bool is_by_character(const attrs *a)
{
    return prt_str_is(a->tokenexp, ".") ||
        (a->separators.count == 1 && a->separators.data[0].size == 0);
}

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    if ((a->tokenexp.size != 0) == (a->separators.count != 0))
        return prt_infer_fail(c, POPRT_E_ARG,
            "exactly one of tokenexp and separators must be given");
    if (a->separators.count > MOST_SEPARATORS)
        return prt_infer_fail(c, POPRT_E_LIMIT, "%u separators; at most %d are possible",
            a->separators.count, MOST_SEPARATORS);
    if (a->mincharnum < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "mincharnum is %lld; at least 1 is needed",
            (long long)a->mincharnum);
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    if (x->rank != 1 && x->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 1, 2", x->rank);
    memcpy(dims, x->dims, sizeof(dims));
    if (dims[x->rank - 1] == 0) /* no texts: the shape is unchanged */
        return prt_infer_set(c, 0, PRT_DTYPE_string, x->rank, dims);
    if (c->dims != NULL && !prt_dim_is_number(dims[x->rank - 1]))
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    dims[x->rank] = PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, PRT_DTYPE_string, x->rank + 1, dims);
}

typedef struct tokens {
    prt_str *list;
    size_t count;
} tokens;

typedef struct splitter {
    prt_eval *c;
    const attrs *a;
    prt_regex *regex[MOST_SEPARATORS];
    uint32_t count;
    tokens now, next; /* each has capacity for one token a byte of the longest text */
} splitter;

/* Returns the number of bytes of the first character of a text. */
static size_t character(const char *text, size_t size)
{
    size_t n = 1;
    while (n < size && ((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Appends a token if it has at least mincharnum characters. */
static void add_token(const splitter *k, tokens *to, const char *text, size_t size)
{
    int64_t characters = 0;
    for (size_t at = 0; at < size; at += character(text + at, size - at))
        characters++;
    if (size != 0 && characters >= k->a->mincharnum)
        to->list[to->count++] = (prt_str){ text, (uint32_t)size };
}

/* Finds the first match from `from` on. `end` is SIZE_MAX if there is no match. */
static poprt_status find(splitter *k, prt_regex *regex, prt_str text, size_t from, size_t *begin,
    size_t *end)
{
    for (*begin = from;; *begin += character(text.data + *begin, text.size - *begin)) {
        PRT_TRY(k->c->host->check(k->c));
        *end = prt_regex_longest(regex, text.data, text.size, *begin);
        if (*end != SIZE_MAX || *begin >= text.size)
            return POPRT_OK;
    }
}

/* Splits a text at all matches and adds the matches or, with `between`, the text between them. */
static poprt_status split_text(splitter *k, prt_regex *regex, prt_str text, bool between,
    tokens *to)
{
    size_t from = 0, begin, end;
    for (;;) {
        PRT_TRY(find(k, regex, text, from, &begin, &end));
        if (end == SIZE_MAX)
            break;
        if (between)
            add_token(k, to, text.data + from, begin - from);
        else
            add_token(k, to, text.data + begin, end - begin);
        if (begin >= text.size)
            return POPRT_OK;
        from = end > begin ? end : begin + character(text.data + begin, text.size - begin);
    }
    if (between && from < text.size)
        add_token(k, to, text.data + from, text.size - from);
    return POPRT_OK;
}

/* Computes the tokens of one text, in k->now. */
static poprt_status tokenize(splitter *k, poprt_string text)
{
    k->now.count = 0;
    if (is_by_character(k->a)) {
        for (size_t at = 0, n; at < text.size; at += n) {
            n = character(text.data + at, text.size - at);
            add_token(k, &k->now, text.data + at, n);
        }
        return POPRT_OK;
    }
    const prt_str whole = { text.data, (uint32_t)text.size };
    if (text.size == 0)
        return POPRT_OK;
    if (k->a->tokenexp.size != 0)
        return split_text(k, k->regex[0], whole, false, &k->now);
    k->now.list[k->now.count++] = whole;
    for (uint32_t i = 0; i < k->count; i++) {
        k->next.count = 0;
        for (size_t j = 0; j < k->now.count; j++)
            PRT_TRY(split_text(k, k->regex[i], k->now.list[j], true, &k->next));
        const tokens swap = k->now;
        k->now = k->next;
        k->next = swap;
    }
    return POPRT_OK;
}

static poprt_status begin(prt_eval *c, splitter *k)
{
    const prt_tensor *x = c->in[0];
    const poprt_string *text = x->data;
    size_t most = 0;
    k->c = c;
    k->a = c->attrs;
    k->count = is_by_character(k->a) ? 0 : k->a->tokenexp.size != 0 ? 1 : k->a->separators.count;
    for (uint32_t i = 0; i < k->count; i++) {
        const prt_str pattern =
            k->a->tokenexp.size != 0 ? k->a->tokenexp : k->a->separators.data[i];
        PRT_TRY(prt_eval_regex(c, pattern, 0, &k->regex[i]));
    }
    for (size_t i = 0; i < prt_tensor_count(x); i++) {
        if (text[i].size > UINT32_MAX)
            return prt_eval_fail(c, POPRT_E_LIMIT, "a text of %zu bytes is too long", text[i].size);
        most = text[i].size > most ? text[i].size : most;
    }
    k->now.list = prt_eval_scratch(c, most + 1, sizeof(prt_str));
    k->next.list = prt_eval_scratch(c, most + 1, sizeof(prt_str));
    return k->now.list != NULL && k->next.list != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status write_row(prt_eval *c, const splitter *k, size_t first, size_t width)
{
    const attrs *a = k->a;
    size_t at = first;
    if (a->mark != 0)
        PRT_TRY(prt_string_write(c, 0, at++, "\x02", 1));
    for (size_t i = 0; i < k->now.count; i++)
        PRT_TRY(prt_string_write(c, 0, at++, k->now.list[i].data, k->now.list[i].size));
    if (a->mark != 0)
        PRT_TRY(prt_string_write(c, 0, at++, "\x03", 1));
    while (at < first + width)
        PRT_TRY(prt_string_write(c, 0, at++, a->pad_value.data, a->pad_value.size));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const poprt_string *text = x->data;
    const size_t n = prt_tensor_count(x);
    int64_t dims[PRT_MAX_RANK];
    splitter *k = prt_eval_scratch(c, 1, sizeof(splitter));
    if (x->dims[x->rank - 1] == 0)
        return prt_eval_shape(c, 0, PRT_DTYPE_string, x->rank, x->dims);
    if (k == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(begin(c, k));
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        PRT_TRY(tokenize(k, text[i]));
        width = k->now.count > width ? k->now.count : width;
    }
    if (width != 0 && k->a->mark != 0) /* a batch without any token has no marks */
        width += 2;
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank] = (int64_t)width;
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_string, x->rank + 1, dims));
    for (size_t i = 0; i < n && width != 0 && prt_eval_wants(c, 0); i++) {
        PRT_TRY(tokenize(k, text[i]));
        PRT_TRY(write_row(c, k, i * width, width));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_tokenizer = { .infer = infer, .eval = eval };
