/* SPDX-License-Identifier: MIT */
/* apply.c — walks the nodes in order, makes their operands in the layouts that they need, and
 * removes the Transposes that nothing reads then. */
#include "pass/transpose/rewrite.h"

/* ---- which families change */

static bool is_moved(const prt_plan *plan, const prt_port *port)
{
    return plan->nodes.data[port->node].moves && port->moved != PRT_PERM_IDENTITY;
}

static bool exists(const prt_family *f, prt_perm made, prt_perm layout)
{
    if (f->maker != PRT_PLAN_NONE)
        return layout == made;
    for (size_t i = 0; i < f->values.count; i++)
        if (f->values.data[i].layout == layout)
            return true;
    return false;
}

/* Collects the layouts that are read, and decides whether the family is touched: a port moves, or
 * the Transposes cost more than they need to. */
static poprt_status examine(prt_plan *plan, prt_family *f)
{
    const prt_port *maker = f->maker != PRT_PLAN_NONE ? &plan->ports.data[f->maker] : NULL;
    const prt_perm made = maker != NULL ? prt_port_after(plan, maker) : PRT_PERM_IDENTITY;
    int64_t cost = 0;
    f->touched = maker != NULL && is_moved(plan, maker);
    for (uint32_t i = 0; i < f->count; i++) {
        const prt_port *port = &plan->ports.data[plan->readers[f->first + i]];
        const prt_perm layout = prt_port_after(plan, port);
        bool known = f->fixed;
        f->touched = f->touched || is_moved(plan, port);
        for (size_t k = 0; k < f->needs.count && !known; k++)
            known = f->needs.data[k] == layout;
        if (known)
            continue;
        if (!PRT_VEC_PUSH(plan->arena, &f->needs, layout))
            return POPRT_E_NOMEM;
        if (!exists(f, made, layout) && !f->free &&
            !prt_perm_is_reshape(f->root->type, made, layout))
            cost += f->cost;
    }
    f->touched = f->touched || (!f->fixed && cost < f->transposes);
    return POPRT_OK;
}

/* ---- the walk */

/* Replaces a value in all outputs of the graph that it is. An output must not be an input, a
 * constant or another output. */
static void set_output(prt_plan_edit *e, prt_value *old, prt_value *v)
{
    prt_op *ret = e->plan->graph->ret;
    const bool named = old->name.size != 0 && old->def != NULL && old->graph == e->plan->graph;
    if (v->def == NULL || v->graph != e->plan->graph || prt_value_is_output(v))
        v = prt_build_unary(&e->b, PRT_OP_identity, v);
    if (v == NULL)
        return;
    if (named)
        v->name = PRT_STR("");
    for (uint32_t i = 0; i < ret->n_in; i++) {
        if (ret->in[i].value != old)
            continue;
        prt_op_set_input(ret, i, v);
        e->output_set[i] = true;
    }
    if (named) {
        const prt_str name = old->name;
        old->name = PRT_STR("");
        e->b.status = prt_value_set_name(v, name);
    }
    e->changed = true;
}

static void visit(prt_plan_edit *e, prt_plan_node *node)
{
    prt_op *op = node->op, *ret = e->plan->graph->ret;
    e->b = op != ret ? prt_build_before(op) : prt_build_at_end(e->plan->graph);
    e->at = op != ret ? e->positions[op->id] : UINT32_MAX;
    if (prt_move_reads_dims(node)) {
        prt_plan_read_dims(e, node);
        return;
    }
    if (node->moves) {
        prt_plan_move(e, node);
        return;
    }
    for (uint32_t i = 0; i < node->n_ports && e->b.status == POPRT_OK; i++) {
        prt_port *port = &e->plan->ports.data[node->first + i];
        if (port->use == NULL || port->use->value == NULL || (op == ret && e->output_set[i]))
            continue;
        prt_value *v = prt_plan_operand(e, port);
        if (v == NULL || v == port->use->value)
            continue;
        if (op == ret) {
            set_output(e, port->use->value, v);
            continue;
        }
        prt_op_set_input(port->use->user, (uint32_t)(port->use - port->use->user->in), v);
        e->changed = true;
    }
}

/* Erases replaced ops, and Transposes that nothing reads. */
static void sweep(prt_plan_edit *e)
{
    const bool keeps = e->plan->graph->module->keeps_unread;
    for (prt_op *op = e->plan->graph->last, *before; op != NULL; op = before) {
        before = op->prev;
        if (op->id >= e->n_ops || !prt_match_outputs_unused(op, 0))
            continue;
        const uint32_t family = op->n_out != 0 && op->out[0].id < e->plan->n_values
            ? e->plan->family_of[op->out[0].id]
            : PRT_PLAN_NONE;
        const bool touched = family != PRT_PLAN_NONE && e->plan->families.data[family].touched;
        if (!e->replaced[op->id] && (!prt_op_is(op, PRT_OP_transpose) || (keeps && !touched)))
            continue;
        prt_op_erase(op);
        e->changed = true;
    }
}

/* Replaces Transposes that move only dims of 1 by Reshapes. */
static poprt_status reshape_ones(prt_plan_edit *e)
{
    int64_t shape[PRT_MAX_RANK];
    prt_perm p;
    for (prt_op *op = e->plan->graph->first, *next; op != NULL; op = next) {
        next = op->next;
        if (!prt_op_is(op, PRT_OP_transpose) || !prt_perm_of(op, &p) ||
            !prt_value_used(&op->out[0]))
            continue;
        prt_value *x = prt_op_input(op, 0);
        if (!prt_perm_is_reshape(x->type, PRT_PERM_IDENTITY, p) ||
            !prt_move_shape(x->type, PRT_PERM_IDENTITY, x->type, p, shape))
            continue;
        prt_build b = prt_build_before(op);
        prt_value *in[2] = { x, prt_build_i64s(&b, (uint32_t)x->type->rank, shape) };
        (void)prt_match_replace_named(&b, op, PRT_OP_reshape, NULL, 2, in);
        PRT_TRY(prt_build_status(&b));
        e->changed = true;
    }
    return POPRT_OK;
}

poprt_status prt_plan_apply(prt_plan *plan, bool *changed)
{
    prt_plan_edit e = { .plan = plan, .n_ops = plan->graph->n_ops };
    e.positions = prt_match_positions(plan->arena, plan->graph);
    e.replaced = PRT_NEW_N(plan->arena, bool, plan->graph->n_ops);
    e.output_set = PRT_NEW_N(plan->arena, bool, plan->graph->ret->n_in);
    if (e.positions == NULL || e.replaced == NULL || e.output_set == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < plan->families.count; i++)
        PRT_TRY(examine(plan, &plan->families.data[i]));
    for (size_t i = 0; i < plan->nodes.count; i++) {
        PRT_TRY(prt_pass_check(plan->p));
        visit(&e, &plan->nodes.data[i]);
        PRT_TRY(prt_build_status(&e.b));
    }
    sweep(&e);
    PRT_TRY(reshape_ones(&e));
    *changed = *changed || e.changed;
    return POPRT_OK;
}
