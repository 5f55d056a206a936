/* SPDX-License-Identifier: MIT */
/* regex_full_match.c — RegexFullMatch: tests whether a pattern matches each string as a whole. */
#include "op/op.h"
#include "op/share/regex.h"

static void *arena_memory(void *arena, size_t size)
{
    return prt_arena_alloc(arena, size);
}

static void *scratch_memory(void *c, size_t size)
{
    return prt_eval_scratch(c, size, 1);
}

static poprt_status infer(prt_infer *c)
{
    const prt_regex_full_match_attrs *a = c->attrs;
    const prt_regex_memory memory = { arena_memory, c->scratch };
    prt_regex *regex;
    const char *why;
    const poprt_status status = prt_regex_create(a->pattern, memory, &regex, &why);
    if (status == POPRT_E_NOMEM)
        return status;
    if (status != POPRT_OK)
        return prt_infer_fail(c, status, "pattern \"%.*s\": %s",
            a->pattern.size < 100 ? (int)a->pattern.size : 100,
            a->pattern.data != NULL ? a->pattern.data : "", why);
    return prt_infer_like(c, 0, 0, PRT_DTYPE_bool);
}

static poprt_status eval(prt_eval *c)
{
    const prt_regex_full_match_attrs *a = c->attrs;
    const prt_regex_memory memory = { scratch_memory, c };
    const poprt_string *x = c->in[0]->data;
    prt_regex *regex = NULL;
    const char *why;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_regex_create(a->pattern, memory, &regex, &why));
    unsigned char *y = c->out[0]->data;
    for (size_t i = 0; i < prt_tensor_count(c->in[0]); i++) {
        PRT_TRY(c->host->check(c));
        y[i] = prt_regex_matches(regex, x[i].data != NULL ? x[i].data : "", x[i].size);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_regex_full_match = { .infer = infer, .eval = eval };
