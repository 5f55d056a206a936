/* SPDX-License-Identifier: MIT */
/*
 * if.c — If: runs one of two regions; its results are the outputs. If the shapes in one branch
 * contradict each other (for instance in a model for two sampling rates with the frame size of one
 * of them), that branch fails only when it is taken, and the outputs have the shapes of the other
 * branch.
 */
#include "op/share/loop_carry.h"
#include "op/content.h"
#include "op/share/type_wrap.h"

/* Infers the outputs of a branch; they live until the call ends. */
static poprt_status run_branch(prt_infer *c, uint32_t branch, prt_region *r)
{
    r->out = prt_type_wrap_shapes(c, c->n_out);
    r->out_content = PRT_NEW_N(c->scratch, prt_content, (size_t)c->n_out + 1);
    if (r->out == NULL || r->out_content == NULL)
        return POPRT_E_NOMEM;
    return c->region(c, branch, r);
}

/* Finds the branch that is taken, if that is known: the condition is known from sizes, or the
 * other branch cannot run. Fails with the error of the branch that is taken, or if both branches
 * fail. */
static poprt_status find_taken(prt_infer *c, prt_region *then, prt_region *other,
    prt_region **taken)
{
    const prt_if_attrs *a = c->attrs;
    prt_known condition;
    const poprt_status first = run_branch(c, a->then_branch, then);
    if (first != POPRT_OK && first != POPRT_E_SHAPE)
        return first;
    const poprt_status second = run_branch(c, a->else_branch, other);
    if (second != POPRT_OK && second != POPRT_E_SHAPE)
        return second;
    *taken = first != POPRT_OK ? other : second != POPRT_OK ? then : NULL;
    if (prt_known_of(c, 0, &condition) && prt_dim_is_number(condition.values[0]))
        *taken = condition.values[0] != 0 ? then : other;
    if (*taken == then && first != POPRT_OK)
        return run_branch(c, a->then_branch, then); /* records its error once more */
    return *taken == other ? second : POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_if_attrs *a = c->attrs;
    if (!prt_attr_given(a, 0) || !prt_attr_given(a, 1))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "the attribute then_branch or else_branch is missing");
    if (c->region == NULL)
        return POPRT_OK;
    prt_region then = { .n_out = c->n_out }, other = { .n_out = c->n_out }, *taken = NULL;
    PRT_TRY(find_taken(c, &then, &other, &taken));
    for (uint32_t i = 0; i < c->n_out; i++) {
        if (taken == NULL) {
            prt_type_wrap_merge(c, &then.out[i], &other.out[i]);
            prt_type_wrap_copy(c, i, &then.out[i]);
            continue;
        }
        prt_type_wrap_copy(c, i, &taken->out[i]);
        PRT_TRY(
            prt_infer_set_content(c, i, taken->out_content[i].count, taken->out_content[i].values));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_if_attrs *a = c->attrs;
    bool cond;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has regions, which cannot run in this context");
    PRT_TRY(prt_loop_carry_flag(c, c->in[0], "the condition", &cond));
    prt_tensor *out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (out == NULL)
        return POPRT_E_NOMEM;
    if (c->is_measuring)
        (void)c->host->call(c, cond ? a->else_branch : a->then_branch, 0, NULL, c->n_out, out);
    PRT_TRY(c->host->call(c, cond ? a->then_branch : a->else_branch, 0, NULL, c->n_out, out));
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_eval_copy(c, i, &out[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_if = { .infer = infer, .eval = eval };
