/* SPDX-License-Identifier: MIT */
/* text.c — StringConcat, StringSplit and StringNormalizer. */
#include "base/size.h"
#include "op/share/broadcast.h"
#include "op/share/letter_case.h"
#include "op/share/strings.h"

/* ---- StringConcat: element by element, with broadcasting ---- */

static poprt_status concat_eval(prt_eval *c)
{
    const poprt_string *x = c->in[0]->data, *y = c->in[1]->data;
    prt_rows r;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_rows_init(&r, c->out[0], 2, c->in);
    while (prt_rows_next(&r)) {
        PRT_TRY(c->host->check(c));
        for (size_t i = 0; i < r.count; i++) {
            const poprt_string a = x[r.from[0] + i * r.step[0]], b = y[r.from[1] + i * r.step[1]];
            size_t size;
            if (!prt_size_add(a.size, b.size, &size))
                return prt_eval_fail(c, POPRT_E_LIMIT, "a result is too long");
            char *text = prt_string_reserve(c, 0, r.to + i, size);
            if (text == NULL)
                return POPRT_E_NOMEM;
            prt_string_append(&text, a.data, a.size);
            prt_string_append(&text, b.data, b.size);
        }
    }
    return POPRT_OK;
}

/* ---- StringSplit ---- */

static poprt_status split_infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK] = { 0 };
    PRT_TRY(prt_infer_like(c, 1, 0, PRT_DTYPE_i64));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    if (x->rank == PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "the result would have rank %d; the limit is 8",
            x->rank + 1);
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank] = PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, PRT_DTYPE_string, x->rank + 1, dims);
}

typedef struct splitter {
    const char *at, *end; /* the remaining text; `at` is NULL at the end */
    prt_str delimiter;    /* empty: split at runs of white space */
    int64_t left;         /* number of splits still allowed */
} splitter;

static const char *find_delimiter(const splitter *s)
{
    const size_t n = s->delimiter.size;
    for (const char *p = s->at; (size_t)(s->end - p) >= n; p++)
        if (memcmp(p, s->delimiter.data, n) == 0)
            return p;
    return NULL;
}

/* Reads the next piece. Returns false at the end. */
static bool next_piece(splitter *s, poprt_string *piece)
{
    const bool spaces = s->delimiter.size == 0;
    while (spaces && s->at != NULL && s->at < s->end && prt_is_space(*s->at))
        s->at++;
    if (s->at == NULL || (spaces && s->at == s->end))
        return false;
    const char *stop = NULL;
    if (s->left > 0 && spaces)
        for (stop = s->at; stop < s->end && !prt_is_space(*stop);)
            stop++;
    else if (s->left > 0)
        stop = find_delimiter(s);
    if (s->left > 0)
        s->left--;
    const char *from = s->at;
    *piece = (poprt_string){ from, (size_t)((stop != NULL ? stop : s->end) - from) };
    s->at = stop != NULL ? stop + s->delimiter.size : NULL;
    return true;
}

static splitter split_text(const prt_string_split_attrs *a, poprt_string text)
{
    const char *from = text.data != NULL ? text.data : "";
    const bool bounded = prt_attr_given(a, 1) && a->maxsplit >= 0;
    return (splitter){ from, from + text.size, a->delimiter, bounded ? a->maxsplit : INT64_MAX };
}

static poprt_status split_eval(prt_eval *c)
{
    const prt_string_split_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const poprt_string *text = x->data;
    const size_t n = prt_tensor_count(x);
    size_t most = 0;
    poprt_string piece;
    for (size_t i = 0; i < n; i++) {
        splitter s = split_text(a, text[i]);
        size_t count = 0;
        while (next_piece(&s, &piece))
            count++;
        most = count > most ? count : most;
        if (prt_eval_wants(c, 1))
            ((int64_t *)c->out[1]->data)[i] = (int64_t)count;
    }
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    int64_t dims[PRT_MAX_RANK] = { 0 };
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank] = (int64_t)most;
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_string, x->rank + 1, dims));
    poprt_string *out = c->out[0]->data;
    for (size_t i = 0; i < n; i++) {
        splitter s = split_text(a, text[i]);
        for (size_t k = 0; k < most; k++) {
            out[i * most + k] = (poprt_string){ "", 0 };
            if (next_piece(&s, &piece))
                PRT_TRY(prt_string_write(c, 0, i * most + k, piece.data, piece.size));
        }
    }
    return POPRT_OK;
}

/* ---- StringNormalizer: [C] or [1, C]; removes stop words and changes case ---- */

typedef enum case_change { CASE_NONE, CASE_LOWER, CASE_UPPER } case_change;

static bool case_of(prt_str text, case_change *out)
{
    if (prt_str_is(text, "NONE"))
        *out = CASE_NONE;
    else if (prt_str_is(text, "LOWER"))
        *out = CASE_LOWER;
    else if (prt_str_is(text, "UPPER"))
        *out = CASE_UPPER;
    else
        return false;
    return true;
}

static uint32_t change_code(uint32_t code, case_change to)
{
    return to == CASE_LOWER ? prt_lower_case(code) : prt_upper_case(code);
}

/* Changes the case in place. Bytes that do not form a code point below 0x800 are not changed. */
static void change_case(char *text, size_t size, case_change to)
{
    for (size_t i = 0; to != CASE_NONE && i < size; i++) {
        const unsigned char a = (unsigned char)text[i];
        const unsigned char b = i + 1 < size ? (unsigned char)text[i + 1] : 0;
        if (a < 0x80) {
            text[i] = (char)change_code(a, to);
        } else if (a >= 0xc2 && a < 0xe0 && (b & 0xc0) == 0x80) {
            const uint32_t code = (a & 0x1fu) << 6 | (b & 0x3fu);
            const uint32_t changed = change_code(code, to);
            text[i++] = (char)(0xc0 | changed >> 6);
            text[i] = (char)(0x80 | (changed & 0x3f));
        }
    }
}

static poprt_status normalizer_infer(prt_infer *c)
{
    const prt_string_normalizer_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    const int64_t dims[2] = { 1, PRT_DIM_UNKNOWN };
    case_change change;
    int64_t one;
    if (!case_of(a->case_change_action, &change))
        return prt_infer_fail(c, POPRT_E_ARG,
            "case_change_action is not known; accepted: NONE, LOWER, UPPER");
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    if (x->rank != 1 && x->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 1, 2", x->rank);
    if (x->rank == 2)
        PRT_TRY(prt_infer_merge(c, x->dims[0], 1, "the first dim", &one));
    return prt_infer_set(c, 0, PRT_DTYPE_string, x->rank, dims + (2 - x->rank));
}

/* Makes a copy with changed case, in the memory of output `out` or, for UINT32_MAX, of this
 * call. */
static poprt_status changed_copy(prt_eval *c, uint32_t out, const char *data, size_t size,
    case_change to, poprt_string *copy)
{
    char *text = c->host->alloc(c, out, size + 1);
    if (text == NULL)
        return POPRT_E_NOMEM;
    if (size != 0)
        memcpy(text, data, size);
    change_case(text, size, to);
    *copy = (poprt_string){ text, size };
    return POPRT_OK;
}

static bool is_listed(const poprt_string *list, uint32_t count, poprt_string text)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].size == text.size && memcmp(list[i].data, text.data, text.size) == 0)
            return true;
    return false;
}

static poprt_status normalizer_eval(prt_eval *c)
{
    const prt_string_normalizer_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const poprt_string *in = x->data;
    const case_change fold = a->is_case_sensitive != 0 ? CASE_NONE : CASE_LOWER;
    const size_t n = prt_tensor_count(x);
    case_change change = CASE_NONE;
    size_t kept = 0;
    (void)case_of(a->case_change_action, &change);
    poprt_string *stops = prt_eval_scratch(c, (size_t)a->stopwords.count + 1, sizeof(poprt_string));
    poprt_string *words = prt_eval_scratch(c, n + 1, sizeof(poprt_string));
    if (stops == NULL || words == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < a->stopwords.count; i++) {
        const prt_str stop = a->stopwords.data[i];
        PRT_TRY(changed_copy(c, UINT32_MAX, stop.data, stop.size, fold, &stops[i]));
    }
    for (size_t i = 0; i < n; i++) {
        poprt_string folded;
        PRT_TRY(changed_copy(c, UINT32_MAX, in[i].data, in[i].size, fold, &folded));
        if (!is_listed(stops, a->stopwords.count, folded))
            words[kept++] = in[i];
    }
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    /* If no words are left, the result is one empty string. */
    if (kept == 0)
        words[kept++] = (poprt_string){ "", 0 };
    const int64_t dims[2] = { 1, (int64_t)kept };
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_string, x->rank, dims + (2 - x->rank)));
    poprt_string *out = c->out[0]->data;
    for (size_t i = 0; i < kept; i++)
        PRT_TRY(changed_copy(c, 0, words[i].data, words[i].size, change, &out[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_string_concat = { .infer = prt_infer_nary, .eval = concat_eval };
#ifndef PRT_NO_CONTRIB
const prt_op_hooks prt_op_contrib_string_concat = { .infer = prt_infer_nary, .eval = concat_eval };
#endif
const prt_op_hooks prt_op_string_split = { .infer = split_infer, .eval = split_eval };
const prt_op_hooks prt_op_string_normalizer = { .infer = normalizer_infer,
    .eval = normalizer_eval };
