/* SPDX-License-Identifier: MIT */
/*
 * nop_if.c — eliminate_nop_if: of an If whose condition is a constant, the branch that it takes
 * stands in its place, with the branch's constants; the other one goes. A branch may give a value
 * from outside of it; where that cannot become the output of the graph (rules in pass.h), it goes
 * through an Identity. Bitwise equal.
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
        /* By hand: what only the If read goes with it, but not before its branch is safe. */
        if (to == NULL || (b.status = prt_value_refine_type(to, from->type)) != POPRT_OK)
            break;
        if (prt_value_is_output(from) && from->name.size != 0)
            to->name = PRT_STR("");
        prt_build_hand_over(&b, from, to);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op_erase(op);
    return POPRT_OK;
}

/* What was in the branch is looked at next. */
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
