/* SPDX-License-Identifier: MIT */
/*
 * nop_if.c — eliminate_nop_if: replaces an If with a constant condition by the ops and constants of
 * the branch that it takes. If a branch returns a value from outside that cannot become the graph's
 * output (rules in pass.h), the value goes through an Identity. Bitwise equal.
 */
#include "pass/engine/region.h"

static bool taken(const prt_op *op, prt_graph **branch)
{
    prt_graph *other;
    prt_tensor t;
    if (!prt_region_branches(op, branch, &other) || !prt_match_constant(op, 0, &t) ||
        prt_tensor_count(&t) != 1 || t.dtype != PRT_DTYPE_bool)
        return false;
    if (prt_load_i64(t.dtype, t.data, 0) == 0)
        *branch = other;
    return true;
}

static poprt_status inline_branch(prt_pass *p, prt_op *op, prt_graph *branch)
{
    prt_build b = prt_build_before(op);
    prt_value **results = PRT_NEW_N(p->arena, prt_value *, op->n_out);
    if (results == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_region_inline(branch, op->graph, op, results));
    for (uint32_t i = 0; i < op->n_out && b.status == POPRT_OK; i++) {
        prt_value *from = &op->out[i], *to = results[i];
        if (!prt_value_used(from))
            continue;
        if (!prt_pass_may_replace(from, to))
            to = prt_build_unary(&b, PRT_OP_identity, to);
        /* Not prt_pass_replace, which may erase the If, and ops that only the If reads, before all
         * results are handed over. */
        if (to == NULL || (b.status = prt_value_refine_type(to, from->type)) != POPRT_OK)
            break;
        if (prt_value_is_output(from) && from->name.size != 0)
            to->name = PRT_STR("");
        prt_build_replace_uses(&b, from, to);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op_erase(op);
    return POPRT_OK;
}

/* After inlining, the walk continues with the ops of the branch. */
static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->first; op != NULL;) {
        prt_op *before = op->prev;
        prt_graph *branch;
        PRT_TRY(prt_pass_check(p));
        if (!taken(op, &branch)) {
            op = op->next;
            continue;
        }
        PRT_TRY(inline_branch(p, op, branch));
        *changed = true;
        op = before != NULL ? before->next : graph->first;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eliminate_nop_if = { .run = run };
