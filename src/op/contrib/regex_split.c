/* SPDX-License-Identifier: MIT */
/*
 * regex_split.c — StringRegexSplitWithOffsets: splits each string of a vector at the matches of a
 * regular expression. The separator is the first group of a match. Separators that the second
 * pattern matches are tokens too.
 */
#include "op/share/strings.h"

static poprt_status infer(prt_infer *c)
{
    const int64_t unknown = PRT_DIM_UNKNOWN;
    int64_t rows = PRT_DIM_UNKNOWN;
    PRT_TRY(prt_infer_single(c, 1));
    if (prt_infer_ranked(c, 0) && c->in[0].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 1",
            c->in[0].rank);
    if (prt_infer_ranked(c, 0))
        rows = prt_dim_add(c->dims, c->in[0].dims[0], 1);
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_string, 1, &unknown));
    PRT_TRY(prt_infer_set(c, 1, PRT_DTYPE_i64, 1, &unknown));
    PRT_TRY(prt_infer_set(c, 2, PRT_DTYPE_i64, 1, &unknown));
    return prt_infer_set(c, 3, PRT_DTYPE_i64, 1, &rows);
}

typedef struct splitter {
    prt_eval *c;
    prt_regex *pattern, *keep; /* `keep` is NULL where no separator is a token */
    size_t count;              /* number of tokens so far */
    bool write;
} splitter;

/* Adds the token [first, end), unless it is empty. */
static poprt_status add_token(splitter *s, const char *text, size_t first, size_t end)
{
    prt_eval *c = s->c;
    const size_t at = s->count;
    if (end == first)
        return POPRT_OK;
    s->count++;
    if (!s->write)
        return POPRT_OK;
    if (prt_eval_wants(c, 1))
        ((int64_t *)c->out[1]->data)[at] = (int64_t)first;
    if (prt_eval_wants(c, 2))
        ((int64_t *)c->out[2]->data)[at] = (int64_t)end;
    return prt_eval_wants(c, 0) ? prt_string_write(c, 0, at, text + first, end - first) : POPRT_OK;
}

static poprt_status split(splitter *s, const char *text, size_t size)
{
    prt_regex_span spans[2];
    size_t from = 0, search = 0; /* starts of the next token and of the next search */
    while (search <= size) {
        PRT_TRY(s->c->host->check(s->c));
        if (!prt_regex_search(s->pattern, text, size, search, spans))
            break;
        const prt_regex_span *separator = &spans[1];
        if (spans[0].end == spans[0].first || separator->end == SIZE_MAX) {
            size_t one = 1; /* a match without a separator does not split */
            search = spans[0].end;
            search += search < size ? prt_utf8_prefix(text + search, size - search, &one) : 1;
            continue;
        }
        PRT_TRY(add_token(s, text, from, separator->first));
        if (s->keep != NULL &&
            prt_regex_matches(s->keep, text + separator->first, separator->end - separator->first))
            PRT_TRY(add_token(s, text, separator->first, separator->end));
        from = search = spans[0].end;
    }
    return add_token(s, text, from, size);
}

static poprt_status split_all(splitter *s)
{
    const poprt_string *x = s->c->in[0]->data;
    const size_t n = prt_tensor_count(s->c->in[0]);
    int64_t *rows = s->write && prt_eval_wants(s->c, 3) ? s->c->out[3]->data : NULL;
    s->count = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows != NULL)
            rows[i] = (int64_t)s->count;
        PRT_TRY(split(s, x[i].data != NULL ? x[i].data : "", x[i].size));
    }
    if (rows != NULL)
        rows[n] = (int64_t)s->count;
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    splitter s = { .c = c };
    prt_str pattern, keep = { 0 };
    PRT_TRY(prt_eval_string(c, 1, &pattern));
    PRT_TRY(prt_eval_regex(c, pattern, 2, &s.pattern));
    if (prt_regex_groups(s.pattern) == 0)
        return prt_eval_fail(c, POPRT_E_ARG, "the pattern has no group for the separator");
    if (prt_tensor_count(c->in[2]) != 0)
        PRT_TRY(prt_eval_string(c, 2, &keep));
    if (keep.size != 0)
        PRT_TRY(prt_eval_regex(c, keep, 0, &s.keep));
    PRT_TRY(split_all(&s));
    const int64_t count = (int64_t)s.count;
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_string, 1, &count));
    PRT_TRY(prt_eval_shape(c, 1, PRT_DTYPE_i64, 1, &count));
    PRT_TRY(prt_eval_shape(c, 2, PRT_DTYPE_i64, 1, &count));
    s.write = true;
    return split_all(&s);
}

const prt_op_hooks prt_op_contrib_string_regex_split_with_offsets = { .infer = infer,
    .eval = eval };
