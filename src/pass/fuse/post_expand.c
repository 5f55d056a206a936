/* SPDX-License-Identifier: MIT */
/*
 * post_expand.c — post_expand: moves an Expand behind element-wise operators, which then compute
 * only the elements before the repetition. Results are bitwise equal.
 *
 * The reference defines only the name; the conditions are our own. The operator reads the Expand
 * and constants that do not enlarge the small tensor; the Expand has no other reader. So the Expand
 * moves behind Neg, Cast, Clip, Pow or a bias per channel, one after the other.
 */
#include "pass/engine/match.h"

/* Finds an Expand that only this op reads, at input `*at`. The other inputs must be constants that
 * broadcast to the Expand's own input. NULL: there is none. */
static prt_op *find_expand(const prt_op *op, uint32_t *at)
{
    prt_op *expand = NULL;
    prt_tensor t;
    for (uint32_t i = 0; i < op->n_in && expand == NULL; i++) {
        expand = prt_match_interior(op, i, PRT_OP_expand);
        *at = i;
    }
    for (uint32_t i = 0; expand != NULL && i < op->n_in; i++)
        if (i != *at && prt_op_input(op, i) != NULL &&
            (!prt_match_constant(op, i, &t) ||
                !prt_match_broadcasts(prt_op_input(op, i)->type, prt_op_input(expand, 0)->type)))
            return NULL;
    return expand;
}

static poprt_status move(prt_op *op, prt_op *expand, uint32_t at)
{
    prt_build b = prt_build_before(op);
    prt_value *in[PRT_MAX_RANK], *shape = prt_op_input(expand, 1);
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = i == at ? prt_op_input(expand, 0) : prt_op_input(op, i);
    prt_op *small = prt_match_new(&b, op, op->def->id, op->attrs, op->n_in, in, 1);
    prt_value *wide[2] = { small != NULL ? &small->out[0] : NULL, shape };
    prt_op *large =
        small != NULL ? prt_match_new(&b, expand, PRT_OP_expand, NULL, 2, wide, 1) : NULL;
    if (large != NULL)
        (void)prt_pass_replace(&b, &op->out[0], &large->out[0]);
    return prt_build_status(&b);
}

/* Walks in order, so that one walk moves an Expand behind all operators it can pass. */
static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        uint32_t at;
        next = op->next;
        PRT_TRY(prt_pass_check(p));
        if (op->def == NULL || (op->def->traits & PRT_ELEMENTWISE) == 0 ||
            (op->def->traits & PRT_PURE) == 0 || op->n_regions != 0 || op->n_out != 1 ||
            op->n_in > PRT_MAX_RANK)
            continue;
        prt_op *expand = find_expand(op, &at);
        if (expand == NULL)
            continue;
        PRT_TRY(move(op, expand, at));
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_post_expand = { .run = run };
