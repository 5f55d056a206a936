/* SPDX-License-Identifier: MIT */
/*
 * deadend.c — eliminate_deadend: erases operators whose results are unused, from last to first, so
 * that whole chains disappear. Operators with an effect (printing, writing a weight, communication)
 * stay.
 */
#include "pass/engine/pass.h"

/* Returns whether the op has no effect other than its results, its regions included. */
static bool has_no_effect(const prt_op *op)
{
    const uint32_t effects = PRT_STATEFUL | PRT_COLLECTIVE;
    if (op->def == NULL || (op->def->traits & effects) != 0 ||
        (op->def->traits & (PRT_PURE | PRT_CONTROL | PRT_RANDOM)) == 0)
        return false;
    for (uint32_t i = 0; i < op->n_regions; i++)
        for (const prt_op *in = op->regions[i]->first; in != NULL; in = in->next)
            if (!has_no_effect(in))
                return false;
    return true;
}

static bool is_read(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return true;
    return false;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (prt_op *op = graph->last, *before; op != NULL; op = before) {
        before = op->prev;
        PRT_TRY(prt_pass_check(p));
        if (is_read(op) || !has_no_effect(op))
            continue;
        prt_op_erase(op);
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eliminate_deadend = { .run = run };
