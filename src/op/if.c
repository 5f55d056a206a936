/* SPDX-License-Identifier: MIT */
/* if.c — If: one of two regions runs, and its results are the outputs. */
#include "op/carry.h"
#include "op/nested.h"

static poprt_status infer(prt_infer *c)
{
    const prt_if_attrs *a = c->attrs;
    if (!prt_attr_given(a, 0) || !prt_attr_given(a, 1))
        return prt_infer_fail(c, POPRT_E_PARSE, "needs then_branch and else_branch");
    if (c->region == NULL)
        return POPRT_OK;
    prt_shape *then = prt_nested_shapes(c, c->n_out), *other = prt_nested_shapes(c, c->n_out);
    if (then == NULL || other == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(c->region(c, a->then_branch, 0, NULL, c->n_out, then));
    PRT_TRY(c->region(c, a->else_branch, 0, NULL, c->n_out, other));
    for (uint32_t i = 0; i < c->n_out; i++) {
        prt_nested_join(c, &then[i], &other[i]);
        prt_nested_give(c, i, &then[i]);
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_if_attrs *a = c->attrs;
    bool cond;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "regions cannot run here");
    PRT_TRY(prt_carry_flag(c, c->in[0], "the condition", &cond));
    prt_tensor *out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (out == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(c->host->call(c, cond ? a->then_branch : a->else_branch, 0, NULL, c->n_out, out));
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_eval_copy(c, i, &out[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_if = { .infer = infer, .eval = eval };
