/* SPDX-License-Identifier: MIT */
/*
 * expand_if.c — expand_if: computes both branches of an If and selects the results by Where. Inner
 * Ifs are expanded first. Bitwise equal.
 *
 * Conditions (the reference documents only the name): branches are pure, both return tensors of one
 * static shape, and nothing in them may reject its data or take unbounded time if the branch would
 * not have been taken. So there are no loops, integer divisions, batches_passes or scatters, and
 * shapes do not depend on data.
 */
#include "pass/engine/region.h"

enum { MAX_DEPTH = 256 };

static bool is_indexed(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_gather, PRT_OP_gather_elements, PRT_OP_gather_nd,
        PRT_OP_scatter_elements, PRT_OP_scatter_nd, PRT_OP_tensor_scatter, PRT_OP_compress,
        PRT_OP_nonzero, PRT_OP_unique, PRT_OP_range };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

static bool is_harmless(const prt_op *op)
{
    if (!prt_region_is_pure(op) || op->n_regions != 0 || is_indexed(op) ||
        strcmp(op->def->domain, "") != 0)
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (!prt_type_is_static(op->out[i].type))
            return false;
    /* operands of unknown shape may turn out to be incompatible */
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && !prt_type_is_static(op->in[i].value->type))
            return false;
    if (prt_op_is(op, PRT_OP_div) || prt_op_is(op, PRT_OP_mod))
        return prt_dtype_is_float(op->out[0].type->dtype);
    if ((op->def->traits & PRT_ELEMENTWISE) != 0)
        return true;
    for (uint32_t i = 0; i < op->n_in; i++) { /* shapes, axes, bounds */
        const prt_value *in = op->in[i].value;
        if (in != NULL && !prt_value_is_fixed(in) &&
            (!prt_type_is_tensor(in->type) || !prt_dtype_is_float(in->type->dtype)))
            return false;
    }
    return true;
}

static bool is_branch(const prt_op *op, const prt_graph *branch)
{
    prt_for_each_op (in, branch)
        if (!is_harmless(in))
            return false;
    for (uint32_t i = 0; i < branch->ret->n_in; i++)
        if (prt_op_input(branch->ret, i) == NULL ||
            prt_op_input(branch->ret, i)->type != op->out[i].type)
            return false;
    return true;
}

static bool may_expand(const prt_op *op, prt_graph **then_branch, prt_graph **else_branch)
{
    if (!prt_region_branches(op, then_branch, else_branch))
        return false;
    const prt_type *cond = prt_op_input(op, 0)->type;
    if (!prt_type_is_static(cond) || cond->rank > 1 || (cond->rank == 1 && cond->dims[0] != 1))
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (!prt_type_is_static(op->out[i].type) || op->out[i].type->rank < cond->rank)
            return false;
    return is_branch(op, *then_branch) && is_branch(op, *else_branch);
}

static poprt_status expand(prt_pass *p, prt_op *op, prt_graph *then_branch, prt_graph *else_branch)
{
    prt_build b = prt_build_before(op);
    prt_value **one = PRT_NEW_N(p->arena, prt_value *, op->n_out);
    prt_value **other = PRT_NEW_N(p->arena, prt_value *, op->n_out);
    if (one == NULL || other == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_region_inline(then_branch, op->graph, op, one));
    PRT_TRY(prt_region_inline(else_branch, op->graph, op, other));
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *in[3] = { prt_op_input(op, 0), one[i], other[i] };
        if (!prt_value_used(&op->out[i]))
            continue;
        prt_op *where = prt_match_new(&b, op, PRT_OP_where, NULL, 3, in, 1);
        if (where != NULL)
            prt_build_replace_uses(&b, &op->out[i], &where->out[0]);
        PRT_TRY(prt_build_status(&b));
    }
    prt_op_erase(op);
    return POPRT_OK;
}

static poprt_status visit(prt_pass *p, prt_graph *graph, uint32_t depth, bool *changed)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        prt_graph *then_branch, *else_branch;
        next = op->next;
        PRT_TRY(prt_pass_check(p));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(visit(p, op->regions[i], depth + 1, changed));
        if (!may_expand(op, &then_branch, &else_branch))
            continue;
        PRT_TRY(expand(p, op, then_branch, else_branch));
        *changed = true;
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    return visit(p, graph, 0, changed);
}

const prt_pass_hooks prt_pass_expand_if = { .run = run };
