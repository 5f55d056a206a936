/* SPDX-License-Identifier: MIT */
/*
 * tokenizer.c — Tokenizer: texts cut into tokens, between matches of separators one after another,
 * or at matches of an expression, or character by character; rows are filled up with a pad value.
 */
#include "op/op.h"
#include "op/share/regex.h"

enum { MOST_SEPARATORS = 64 };

typedef prt_ms_tokenizer_attrs attrs;

/* Every character is a token. */
static bool by_character(const attrs *a)
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
        return prt_infer_fail(c, POPRT_E_ARG, "one of tokenexp and separators must be given");
    if (a->separators.count > MOST_SEPARATORS)
        return prt_infer_fail(c, POPRT_E_LIMIT, "%u separators; at most %d are possible",
            a->separators.count, MOST_SEPARATORS);
    if (a->mincharnum < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "mincharnum is %lld", (long long)a->mincharnum);
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    if (x->rank != 1 && x->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; 1 or 2 is possible",
            x->rank);
    memcpy(dims, x->dims, sizeof(dims));
    if (dims[x->rank - 1] == 0) /* no texts: the shape stays */
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

typedef struct cutter {
    prt_eval *c;
    const attrs *a;
    prt_regex *regex[MOST_SEPARATORS];
    uint32_t count;
    tokens now, next; /* room for a token each byte of the longest text */
} cutter;

/* Bytes of the character that text begins with. */
static size_t character(const char *text, size_t size)
{
    size_t n = 1;
    while (n < size && ((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Takes up a token that is long enough. */
static void add(const cutter *k, tokens *to, const char *text, size_t size)
{
    int64_t characters = 0;
    for (size_t at = 0; at < size; at += character(text + at, size - at))
        characters++;
    if (size != 0 && characters >= k->a->mincharnum)
        to->list[to->count++] = (prt_str){ text, (uint32_t)size };
}

/* The first match from `from` on: where it begins and ends; false for none. */
static poprt_status find(cutter *k, prt_regex *regex, prt_str text, size_t from, size_t *begin,
    size_t *end)
{
    for (*begin = from;; *begin += character(text.data + *begin, text.size - *begin)) {
        PRT_TRY(k->c->host->check(k->c));
        *end = prt_regex_longest(regex, text.data, text.size, *begin);
        if (*end != SIZE_MAX || *begin >= text.size)
            return POPRT_OK;
    }
}

/* Cuts a text at all matches: takes what matches, or with `between` what does not. */
static poprt_status cut(cutter *k, prt_regex *regex, prt_str text, bool between, tokens *to)
{
    size_t from = 0, begin, end;
    for (;;) {
        PRT_TRY(find(k, regex, text, from, &begin, &end));
        if (end == SIZE_MAX)
            break;
        if (between)
            add(k, to, text.data + from, begin - from);
        else
            add(k, to, text.data + begin, end - begin);
        if (begin >= text.size)
            return POPRT_OK;
        from = end > begin ? end : begin + character(text.data + begin, text.size - begin);
    }
    if (between && from < text.size)
        add(k, to, text.data + from, text.size - from);
    return POPRT_OK;
}

/* Tokens of one text, in k->now. */
static poprt_status tokenize(cutter *k, poprt_string text)
{
    k->now.count = 0;
    if (by_character(k->a)) {
        for (size_t at = 0, n; at < text.size; at += n) {
            n = character(text.data + at, text.size - at);
            add(k, &k->now, text.data + at, n);
        }
        return POPRT_OK;
    }
    const prt_str whole = { text.data, (uint32_t)text.size };
    if (text.size == 0)
        return POPRT_OK;
    if (k->a->tokenexp.size != 0)
        return cut(k, k->regex[0], whole, false, &k->now);
    k->now.list[k->now.count++] = whole;
    for (uint32_t i = 0; i < k->count; i++) {
        k->next.count = 0;
        for (size_t j = 0; j < k->now.count; j++)
            PRT_TRY(cut(k, k->regex[i], k->now.list[j], true, &k->next));
        const tokens swap = k->now;
        k->now = k->next;
        k->next = swap;
    }
    return POPRT_OK;
}

static void *regex_room(void *user, size_t size)
{
    return prt_eval_scratch(user, 1, size);
}

static poprt_status begin(prt_eval *c, cutter *k)
{
    const prt_tensor *x = c->in[0];
    const poprt_string *text = x->data;
    const prt_regex_memory memory = { regex_room, c };
    size_t most = 0;
    const char *why = "";
    k->c = c;
    k->a = c->attrs;
    k->count = by_character(k->a) ? 0 : k->a->tokenexp.size != 0 ? 1 : k->a->separators.count;
    for (uint32_t i = 0; i < k->count; i++) {
        const prt_str pattern =
            k->a->tokenexp.size != 0 ? k->a->tokenexp : k->a->separators.data[i];
        const poprt_status status = prt_regex_create(pattern, memory, &k->regex[i], &why);
        if (status != POPRT_OK)
            return status == POPRT_E_NOMEM
                ? status
                : prt_eval_fail(c, status, "\"%.*s\": %s", PRT_STR_ARG(pattern), why);
    }
    for (size_t i = 0; i < prt_tensor_count(x); i++) {
        if (text[i].size > UINT32_MAX)
            return prt_eval_fail(c, POPRT_E_LIMIT, "a text of %zu bytes", text[i].size);
        most = text[i].size > most ? text[i].size : most;
    }
    k->now.list = prt_eval_scratch(c, most + 1, sizeof(prt_str));
    k->next.list = prt_eval_scratch(c, most + 1, sizeof(prt_str));
    return k->now.list != NULL && k->next.list != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* A string of the output's own. */
static poprt_status give(prt_eval *c, size_t at, const char *text, size_t size)
{
    poprt_string *to = (poprt_string *)c->out[0]->data + at;
    *to = (poprt_string){ "", 0 };
    if (size == 0)
        return POPRT_OK;
    char *copy = c->host->alloc(c, 0, size);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    memcpy(copy, text, size);
    *to = (poprt_string){ copy, size };
    return POPRT_OK;
}

static poprt_status give_row(prt_eval *c, const cutter *k, size_t first, size_t width)
{
    const attrs *a = k->a;
    size_t at = first;
    if (a->mark != 0)
        PRT_TRY(give(c, at++, "\x02", 1));
    for (size_t i = 0; i < k->now.count; i++)
        PRT_TRY(give(c, at++, k->now.list[i].data, k->now.list[i].size));
    if (a->mark != 0)
        PRT_TRY(give(c, at++, "\x03", 1));
    while (at < first + width)
        PRT_TRY(give(c, at++, a->pad_value.data, a->pad_value.size));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const poprt_string *text = x->data;
    const size_t n = prt_tensor_count(x);
    int64_t dims[PRT_MAX_RANK];
    cutter *k = prt_eval_scratch(c, 1, sizeof(cutter));
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
    if (width != 0 && k->a->mark != 0) /* a batch without any token has no marks either */
        width += 2;
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank] = (int64_t)width;
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_string, x->rank + 1, dims));
    for (size_t i = 0; i < n && width != 0 && prt_eval_wants(c, 0); i++) {
        PRT_TRY(tokenize(k, text[i]));
        PRT_TRY(give_row(c, k, i * width, width));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_tokenizer = { .infer = infer, .eval = eval };
