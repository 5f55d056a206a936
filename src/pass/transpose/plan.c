/* SPDX-License-Identifier: MIT */
/* plan.c — finds the families, nodes and ports of a graph. */
#include "pass/transpose/plan.h"

#include "base/size.h"
#include "pass/transpose/rules.h"

static const int64_t most_cost = (int64_t)1 << 40; /* of one Transpose, in elements */

enum {
    MAX_DEPTH = 256,
    MAX_LAYOUTS = 16,      /* layouts of a family; families with more of them stay as they are */
    FREE_BYTES = 16 << 10, /* a larger constant is stored in one layout only */
    SYMBOL = 32            /* estimate of an unknown dim */
};

/* ---- permutations of values */

bool prt_perm_is_reshape(const prt_type *type, prt_perm a, prt_perm b)
{
    const uint32_t rank = (uint32_t)type->rank;
    for (uint32_t i = 0, k = 0;;) {
        while (i < rank && type->dims[prt_perm_at(a, i)] == 1)
            i++;
        while (k < rank && type->dims[prt_perm_at(b, k)] == 1)
            k++;
        if (i == rank || k == rank)
            return i == k;
        if (prt_perm_at(a, i++) != prt_perm_at(b, k++))
            return false;
    }
}

bool prt_perm_of(const prt_op *op, prt_perm *out)
{
    const prt_i64s perm = ((const prt_transpose_attrs *)op->attrs)->perm;
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    prt_perm p = PRT_PERM_IDENTITY;
    uint32_t seen = 0, axis;
    if (x == NULL || x->rank < 1 || x->rank > PRT_MAX_RANK ||
        (perm.count != 0 && perm.count != (uint32_t)x->rank))
        return false;
    for (uint32_t i = 0; i < (uint32_t)x->rank; i++) {
        if (!prt_match_axis(perm.count != 0 ? perm.data[i] : x->rank - 1 - (int64_t)i, x->rank,
                &axis))
            return false;
        p = prt_perm_set(p, i, axis);
        seen |= 1u << axis;
    }
    *out = p;
    return seen == (1u << x->rank) - 1;
}

/* ---- costs */

/* Returns an estimate of a dim. */
static int64_t estimate(const prt_plan *plan, int64_t dim)
{
    if (prt_dim_is_number(dim))
        return dim;
    return prt_dim_is_expr(dim) ? plan->dims.data[prt_dim_index(dim)] : SYMBOL;
}

/* Estimates all expressions, the symbols being SYMBOL. */
static poprt_status estimate_dims(prt_plan *plan)
{
    const prt_dims *dims = plan->graph->module->dims;
    for (size_t i = 0; i < prt_dims_count(dims); i++) {
        const prt_dim_node *n = prt_dims_at(dims, i);
        int64_t value = SYMBOL;
        if (n->op != PRT_DIM_SYMBOL)
            value = prt_dim_apply((prt_dim_op)n->op, estimate(plan, n->a), estimate(plan, n->b));
        if (!prt_dim_is_number(value) || value < 1)
            value = SYMBOL;
        if (!PRT_VEC_PUSH(plan->arena, &plan->dims, value))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* ---- families */

static bool is_permutable(const prt_value *v)
{
    const prt_type *type = v != NULL ? prt_match_ranked(v) : NULL;
    return type != NULL && type->rank >= 2 && type->rank <= PRT_MAX_RANK;
}

static poprt_status add_family(prt_plan *plan, prt_value *root, uint32_t *out)
{
    prt_family f = { .root = root, .cost = 1 };
    f.free = prt_value_is_fixed(root) && root->type->dtype != PRT_DTYPE_string &&
        (prt_value_used_once(root) || root->constant->size <= FREE_BYTES);
    f.maker = PRT_PLAN_NONE;
    for (int32_t i = 0; i < root->type->rank; i++)
        if (!prt_i64_mul(f.cost, estimate(plan, root->type->dims[i]), &f.cost) ||
            f.cost > most_cost)
            f.cost = most_cost;
    f.cost = f.cost < 1 ? 1 : f.cost;
    *out = (uint32_t)plan->families.count;
    if (!PRT_VEC_PUSH(plan->arena, &plan->families, f))
        return POPRT_E_NOMEM;
    return POPRT_OK;
}

static void set_family(prt_plan *plan, const prt_value *v, uint32_t family, prt_perm layout)
{
    plan->family_of[v->id] = family;
    plan->layout_of[v->id] = layout;
}

static poprt_status add_value(prt_plan *plan, uint32_t family, prt_perm layout, prt_value *v)
{
    const prt_plan_value value = { layout, v };
    return PRT_VEC_PUSH(plan->arena, &plan->families.data[family].values, value) ? POPRT_OK
                                                                                 : POPRT_E_NOMEM;
}

/* Records that the family has a layout beside that of its root. */
static poprt_status add_layout(prt_plan *plan, uint32_t family, prt_perm layout)
{
    prt_family *f = &plan->families.data[family];
    for (size_t i = 0; i < f->perms.count; i++)
        if (f->perms.data[i] == layout)
            return POPRT_OK;
    f->fixed = f->fixed || f->perms.count == MAX_LAYOUTS;
    if (layout == PRT_PERM_IDENTITY || f->fixed)
        return POPRT_OK;
    return PRT_VEC_PUSH(plan->arena, &f->perms, layout) ? POPRT_OK : POPRT_E_NOMEM;
}

static prt_plan_outer *find_outer(const prt_plan *plan, const prt_value *v)
{
    const prt_str key = { (const char *)&v, sizeof(v) };
    return plan->outer.capacity != 0 ? prt_map_find(&plan->outer, key) : NULL;
}

static poprt_status add_outer(prt_plan *plan, const prt_value *v, uint32_t family, prt_perm layout)
{
    prt_plan_outer *o = PRT_NEW(plan->arena, prt_plan_outer);
    if (o == NULL)
        return POPRT_E_NOMEM;
    *o = (prt_plan_outer){ v, family, layout };
    return prt_map_set(&plan->outer, (prt_str){ (const char *)&o->value, sizeof(v) }, o);
}

/* Finds the family of a value of an outer graph: Transposes there belong to it, and both their
 * operands and their results exist without cost. */
static poprt_status place_outer(prt_plan *plan, prt_value *v, uint32_t *family, prt_perm *layout)
{
    const prt_plan_outer *known = find_outer(plan, v);
    prt_value *root = v;
    prt_perm p;
    *layout = PRT_PERM_IDENTITY;
    for (uint32_t i = 0; known == NULL && i < MAX_LAYOUTS && root->def != NULL &&
         prt_op_is(root->def, PRT_OP_transpose) && prt_perm_of(root->def, &p);
         i++) {
        *layout = prt_perm_then(p, *layout);
        root = prt_op_input(root->def, 0);
    }
    if (known != NULL) {
        *family = known->family;
        *layout = known->layout;
        return POPRT_OK;
    }
    const prt_plan_outer *first = find_outer(plan, root);
    if (first != NULL) {
        *family = first->family;
    } else {
        PRT_TRY(add_family(plan, root, family));
        PRT_TRY(add_value(plan, *family, PRT_PERM_IDENTITY, root));
        PRT_TRY(add_outer(plan, root, *family, PRT_PERM_IDENTITY));
    }
    if (v == root)
        return POPRT_OK;
    PRT_TRY(add_layout(plan, *family, *layout));
    PRT_TRY(add_value(plan, *family, *layout, v));
    return add_outer(plan, v, *family, *layout);
}

/* Finds the family of a value that is read. */
static poprt_status place(prt_plan *plan, prt_value *v, uint32_t *family, prt_perm *layout)
{
    *family = PRT_PLAN_NONE;
    *layout = PRT_PERM_IDENTITY;
    if (!is_permutable(v))
        return POPRT_OK;
    if (v->graph != plan->graph)
        return place_outer(plan, v, family, layout);
    if (plan->family_of[v->id] == PRT_PLAN_NONE) {
        PRT_TRY(add_family(plan, v, family));
        PRT_TRY(add_value(plan, *family, PRT_PERM_IDENTITY, v));
        set_family(plan, v, *family, PRT_PERM_IDENTITY);
    }
    *family = plan->family_of[v->id];
    *layout = plan->layout_of[v->id];
    return POPRT_OK;
}

/* Returns whether a Transpose exchanges groups of elements between two Reshapes, such as groups of
 * channels: another layout of the tensor does not make it needless. */
static bool is_shuffle(const prt_op *op)
{
    const prt_value *x = prt_op_input(op, 0);
    return x->type->rank > 4 && x->def != NULL && prt_op_is(x->def, PRT_OP_reshape) &&
        prt_value_used_once(x) && prt_match_reader(&op->out[0], PRT_OP_reshape) != NULL;
}

/* Adds the result of a Transpose to the family of its operand. Sets *done to false if it is a
 * node. */
static poprt_status add_transpose(prt_plan *plan, prt_op *op, bool *done)
{
    prt_value *x = prt_op_input(op, 0), *y = &op->out[0];
    uint32_t family;
    prt_perm layout, p;
    *done = is_permutable(x) && is_permutable(y) && y->type->rank == x->type->rank &&
        prt_perm_of(op, &p) && !is_shuffle(op);
    if (!*done)
        return POPRT_OK;
    PRT_TRY(place(plan, x, &family, &layout));
    layout = prt_perm_then(layout, p);
    set_family(plan, y, family, layout);
    PRT_TRY(add_layout(plan, family, layout));
    prt_family *f = &plan->families.data[family];
    if (prt_value_used(y) && !f->free && p != PRT_PERM_IDENTITY &&
        prt_perm_is_reshape(x->type, PRT_PERM_IDENTITY, p))
        return POPRT_OK;
    if (prt_value_used(y) && f->transposes < most_cost * MAX_LAYOUTS)
        f->transposes += f->cost;
    return POPRT_OK;
}

/* ---- nodes */

static poprt_status add_port(prt_plan *plan, prt_use *use, prt_value *v)
{
    prt_port port = { .node = (uint32_t)plan->nodes.count - 1,
        .moved = PRT_PERM_IDENTITY,
        .use = use };
    PRT_TRY(place(plan, v, &port.family, &port.layout));
    if (use == NULL && port.family != PRT_PLAN_NONE)
        plan->families.data[port.family].maker = (uint32_t)plan->ports.count;
    if (use != NULL && port.family != PRT_PLAN_NONE)
        plan->families.data[port.family].count++;
    return PRT_VEC_PUSH(plan->arena, &plan->ports, port) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Adds the reads of a region as ports of the node that holds it. */
static poprt_status add_reads(prt_plan *plan, prt_op *op, uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, prt_op_label(op), "regions are nested too deeply");
    for (uint32_t i = 0; depth != 0 && i < op->n_in; i++)
        if (op->in[i].value != NULL && op->in[i].value->graph == plan->graph)
            PRT_TRY(add_port(plan, &op->in[i], op->in[i].value));
    for (uint32_t r = 0; r < op->n_regions; r++) {
        prt_for_each_op (inner, op->regions[r])
            PRT_TRY(add_reads(plan, inner, depth + 1));
        PRT_TRY(add_reads(plan, op->regions[r]->ret, depth + 1));
    }
    return POPRT_OK;
}

static poprt_status add_node(prt_plan *plan, prt_op *op)
{
    const prt_plan_node node = { .op = op,
        .first = (uint32_t)plan->ports.count,
        .rule = prt_move_rule_of(op) };
    if (!PRT_VEC_PUSH(plan->arena, &plan->nodes, node))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        PRT_TRY(add_port(plan, &op->in[i], op->in[i].value));
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_TRY(add_port(plan, NULL, &op->out[i]));
    PRT_TRY(add_reads(plan, op, 0));
    prt_plan_node *to = &plan->nodes.data[plan->nodes.count - 1];
    to->n_ports = (uint32_t)plan->ports.count - to->first;
    return POPRT_OK;
}

/* Groups the ports that read by family. Shape reads dims, which every layout has. */
static poprt_status group_readers(prt_plan *plan)
{
    uint32_t at = 0;
    plan->readers = PRT_NEW_N(plan->arena, uint32_t, plan->ports.count);
    if (plan->readers == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < plan->families.count; i++) {
        prt_family *f = &plan->families.data[i];
        f->first = at;
        at += f->count;
        f->count = 0;
    }
    for (uint32_t i = 0; i < plan->ports.count; i++) {
        const prt_port *port = &plan->ports.data[i];
        if (port->use == NULL || port->family == PRT_PLAN_NONE ||
            prt_move_reads_dims(&plan->nodes.data[port->node]))
            continue;
        prt_family *f = &plan->families.data[port->family];
        plan->readers[f->first + f->count++] = i;
    }
    return POPRT_OK;
}

poprt_status prt_plan_build(prt_pass *p, prt_graph *graph, prt_plan *out)
{
    prt_plan *plan = out;
    bool transpose = false;
    *plan = (prt_plan){ .p = p, .graph = graph, .arena = p->arena, .n_values = graph->n_values };
    plan->outer = prt_map_in(p->arena);
    plan->family_of = PRT_NEW_N(p->arena, uint32_t, graph->n_values);
    plan->layout_of = PRT_NEW_N(p->arena, prt_perm, graph->n_values);
    if (plan->family_of == NULL || plan->layout_of == NULL)
        return POPRT_E_NOMEM;
    memset(plan->family_of, 0xff, graph->n_values * sizeof(uint32_t));
    PRT_TRY(estimate_dims(plan));
    prt_for_each_op (op, graph) {
        PRT_TRY(prt_pass_check(p));
        if (prt_op_is(op, PRT_OP_transpose))
            PRT_TRY(add_transpose(plan, op, &transpose));
        if (!prt_op_is(op, PRT_OP_transpose) || !transpose)
            PRT_TRY(add_node(plan, op));
    }
    PRT_TRY(add_node(plan, graph->ret));
    return group_readers(plan);
}
