/* SPDX-License-Identifier: MIT */
/* strings.c — helpers of operators on strings. */
#include "op/share/strings.h"

/* ---- results ---- */

char *prt_string_reserve(prt_eval *c, uint32_t out, size_t at, size_t size)
{
    poprt_string *to = (poprt_string *)c->out[out]->data + at;
    char *text = c->host->alloc(c, out, size != 0 ? size : 1);
    if (text != NULL)
        *to = (poprt_string){ text, size };
    return text;
}

poprt_status prt_string_write(prt_eval *c, uint32_t out, size_t at, const char *data, size_t size)
{
    if (size == 0) {
        ((poprt_string *)c->out[out]->data)[at] = (poprt_string){ "", 0 };
        return POPRT_OK;
    }
    char *text = prt_string_reserve(c, out, at, size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    memcpy(text, data, size);
    return POPRT_OK;
}

/* ---- inputs of one element ---- */

static poprt_status check_single(const prt_eval *c, uint32_t i)
{
    if (prt_tensor_count(c->in[i]) == 1)
        return POPRT_OK;
    return prt_eval_fail(c, POPRT_E_SHAPE, "input %s has %zu elements; it must have 1",
        prt_slot_name(prt_op_in_slot(c->def, i)), prt_tensor_count(c->in[i]));
}

poprt_status prt_eval_string(const prt_eval *c, uint32_t i, prt_str *out)
{
    PRT_TRY(check_single(c, i));
    const poprt_string s = *(const poprt_string *)c->in[i]->data;
    if (s.size > UINT32_MAX)
        return prt_eval_fail(c, POPRT_E_LIMIT, "input %s has %zu bytes; the limit is 4 GiB",
            prt_slot_name(prt_op_in_slot(c->def, i)), s.size);
    *out = (prt_str){ s.data != NULL ? s.data : "", (uint32_t)s.size };
    return POPRT_OK;
}

poprt_status prt_eval_integer(const prt_eval *c, uint32_t i, int64_t *out)
{
    PRT_TRY(check_single(c, i));
    *out = prt_load_i64(c->in[i]->dtype, c->in[i]->data, 0);
    return POPRT_OK;
}

poprt_status prt_infer_single(const prt_infer *c, uint32_t i)
{
    const prt_shape *x = &c->in[i];
    for (int32_t k = 0; k < x->rank; k++)
        if (prt_dim_is_number(x->dims[k]) && x->dims[k] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %s must have 1 element",
                prt_slot_name(prt_op_in_slot(c->def, i)));
    return POPRT_OK;
}

/* ---- characters ---- */

size_t prt_utf8_prefix(const char *text, size_t size, size_t *count)
{
    size_t at = 0, n = 0;
    for (; n < *count && at < size; n++) {
        at++;
        while (at < size && ((unsigned char)text[at] & 0xc0) == 0x80)
            at++;
    }
    *count = n;
    return at;
}

/* ---- regular expressions ---- */

enum { MOST_QUOTED = 100 }; /* bytes of a pattern that an error quotes */

#define QUOTED(s) (int)((s).size < MOST_QUOTED ? (s).size : MOST_QUOTED), (s).data

static void *eval_memory(void *c, size_t size)
{
    return prt_eval_scratch(c, size, 1);
}

static void *infer_memory(void *arena, size_t size)
{
    return prt_arena_alloc(arena, size);
}

poprt_status prt_eval_regex(prt_eval *c, prt_str pattern, uint32_t n_spans, prt_regex **out)
{
    const prt_regex_memory memory = { eval_memory, c };
    const char *why = "";
    if (pattern.data == NULL)
        pattern.data = "";
    const poprt_status status = prt_regex_create(pattern, n_spans, memory, out, &why);
    return status == POPRT_OK || status == POPRT_E_NOMEM
        ? status
        : prt_eval_fail(c, status, "pattern \"%.*s\": %s", QUOTED(pattern), why);
}

poprt_status prt_infer_regex(const prt_infer *c, prt_str pattern)
{
    const prt_regex_memory memory = { infer_memory, c->scratch };
    const char *why = "";
    prt_regex *regex;
    if (pattern.data == NULL)
        pattern.data = "";
    const poprt_status status = prt_regex_create(pattern, 0, memory, &regex, &why);
    return status == POPRT_OK || status == POPRT_E_NOMEM
        ? status
        : prt_infer_fail(c, status, "pattern \"%.*s\": %s", QUOTED(pattern), why);
}
