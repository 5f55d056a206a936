/* SPDX-License-Identifier: MIT */
/* regex_full_match.c — RegexFullMatch: tests whether a pattern matches each string as a whole. */
#include "op/share/strings.h"

static poprt_status infer(prt_infer *c)
{
    const prt_regex_full_match_attrs *a = c->attrs;
    PRT_TRY(prt_infer_regex(c, a->pattern));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_bool);
}

static poprt_status eval(prt_eval *c)
{
    const prt_regex_full_match_attrs *a = c->attrs;
    const poprt_string *x = c->in[0]->data;
    prt_regex *regex = NULL;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_regex(c, a->pattern, 0, &regex));
    unsigned char *y = c->out[0]->data;
    for (size_t i = 0; i < prt_tensor_count(c->in[0]); i++) {
        PRT_TRY(c->host->check(c));
        y[i] = prt_regex_matches(regex, x[i].data != NULL ? x[i].data : "", x[i].size);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_regex_full_match = { .infer = infer, .eval = eval };
