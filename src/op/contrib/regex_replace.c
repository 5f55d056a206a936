/* SPDX-License-Identifier: MIT */
/*
 * regex_replace.c — StringRegexReplace: replaces the matches of a regular expression in each
 * string. \1 to \9 in the replacement stand for the text of a group, \0 for that of the match,
 * \\ for a backslash.
 */
#include "base/size.h"
#include "op/share/broadcast.h"
#include "op/share/strings.h"

static poprt_status infer(prt_infer *c)
{
    const prt_tensor *pattern = c->value[1];
    PRT_TRY(prt_infer_single(c, 1));
    PRT_TRY(prt_infer_single(c, 2));
    if (pattern != NULL && prt_tensor_count(pattern) == 1) {
        const poprt_string *s = pattern->data;
        if (s->size < UINT32_MAX)
            PRT_TRY(prt_infer_regex(c, (prt_str){ s->data, (uint32_t)s->size }));
    }
    return prt_infer_unary(c);
}

/* The state of a replacement. Results grow in a buffer that all strings share. */
typedef struct replacer {
    prt_eval *c;
    prt_regex *regex;
    prt_str rewrite;
    bool global;
    char *buffer;
    size_t size, capacity;
} replacer;

/* Checks the references of the replacement. Returns the number of spans that they need. */
static poprt_status check_rewrite(const prt_eval *c, prt_str rewrite, uint32_t *n_spans)
{
    *n_spans = 1;
    for (uint32_t i = 0; i < rewrite.size; i++) {
        if (rewrite.data[i] != '\\')
            continue;
        const char next = i + 1 < rewrite.size ? rewrite.data[i + 1] : '\0';
        if (next != '\\' && (next < '0' || next > '9'))
            return prt_eval_fail(c, POPRT_E_ARG,
                "in rewrite, a backslash must stand before a digit or a backslash");
        if (next != '\\' && (uint32_t)(next - '0') >= *n_spans)
            *n_spans = (uint32_t)(next - '0') + 1;
        i++;
    }
    return POPRT_OK;
}

static poprt_status append(replacer *r, const char *text, size_t size)
{
    if (size > r->capacity - r->size) {
        size_t capacity;
        if (!prt_size_add(r->capacity, size, &capacity) ||
            !prt_size_add(capacity, r->capacity, &capacity))
            return prt_eval_fail(r->c, POPRT_E_LIMIT, "a result is too long");
        char *buffer = prt_eval_scratch_raw(r->c, capacity, 1);
        if (buffer == NULL)
            return POPRT_E_NOMEM;
        memcpy(buffer, r->buffer, r->size);
        r->buffer = buffer;
        r->capacity = capacity;
    }
    char *to = r->buffer + r->size;
    prt_string_append(&to, text, size);
    r->size += size;
    return POPRT_OK;
}

/* Appends the replacement of a match. */
static poprt_status append_rewrite(replacer *r, const char *text, const prt_regex_span *spans)
{
    const prt_str rewrite = r->rewrite;
    for (uint32_t i = 0, stop; i < rewrite.size; i = stop) {
        for (stop = i; stop < rewrite.size && rewrite.data[stop] != '\\';)
            stop++;
        PRT_TRY(append(r, rewrite.data + i, stop - i));
        if (stop == rewrite.size)
            break;
        const char which = rewrite.data[stop + 1];
        const prt_regex_span s = which == '\\' ? (prt_regex_span){ 0 } : spans[which - '0'];
        if (which == '\\')
            PRT_TRY(append(r, "\\", 1));
        else if (s.end != SIZE_MAX)
            PRT_TRY(append(r, text + s.first, s.end - s.first));
        stop += 2;
    }
    return POPRT_OK;
}

/* Replaces the matches in a text; the result is in the buffer. An empty match at the end of the
 * match before it does not count. */
static poprt_status replace(replacer *r, const char *text, size_t size)
{
    prt_regex_span spans[PRT_REGEX_MAX_SPANS];
    size_t at = 0, last = SIZE_MAX; /* `last`: the end of the match before */
    r->size = 0;
    while (at <= size) {
        PRT_TRY(r->c->host->check(r->c));
        if (!prt_regex_search(r->regex, text, size, at, spans))
            break;
        PRT_TRY(append(r, text + at, spans[0].first - at));
        if (spans[0].first == last && spans[0].end == last) {
            size_t one = 1;
            const size_t step = at < size ? prt_utf8_prefix(text + at, size - at, &one) : 1;
            if (at < size)
                PRT_TRY(append(r, text + at, step));
            at += step;
            continue;
        }
        PRT_TRY(append_rewrite(r, text, spans));
        at = last = spans[0].end;
        if (!r->global)
            break;
    }
    return at < size ? append(r, text + at, size - at) : POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    enum { FIRST_CAPACITY = 256 };
    const prt_contrib_string_regex_replace_attrs *a = c->attrs;
    const poprt_string *x = c->in[0]->data;
    replacer r = { .c = c, .global = a->global_replace != 0, .capacity = FIRST_CAPACITY };
    prt_str pattern;
    uint32_t n_spans;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_string(c, 1, &pattern));
    PRT_TRY(prt_eval_string(c, 2, &r.rewrite));
    PRT_TRY(check_rewrite(c, r.rewrite, &n_spans));
    PRT_TRY(prt_eval_regex(c, pattern, n_spans, &r.regex));
    if (n_spans > prt_regex_groups(r.regex) + 1)
        return prt_eval_fail(c, POPRT_E_ARG, "rewrite has \\%u, but the pattern has %u groups",
            n_spans - 1, prt_regex_groups(r.regex));
    r.buffer = prt_eval_scratch_raw(c, r.capacity, 1);
    if (r.buffer == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < prt_tensor_count(c->in[0]); i++) {
        PRT_TRY(replace(&r, x[i].data != NULL ? x[i].data : "", x[i].size));
        PRT_TRY(prt_string_write(c, 0, i, r.buffer, r.size));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_contrib_string_regex_replace = { .infer = infer, .eval = eval };
