/* SPDX-License-Identifier: MIT */
/* rewrite.c — makes values in other layouts, and operators with permuted operands. */
#include "pass/transpose/rewrite.h"

#include "ir/extra.h"

/* ---- values */

static void permute_dims(const prt_type *type, prt_perm p, int64_t *dims)
{
    for (uint32_t i = 0; i < (uint32_t)type->rank; i++)
        dims[i] = type->dims[prt_perm_at(p, i)];
}

/* Adds to the type of `v` what the type of another layout knows. */
static void refine(prt_build *b, prt_value *v, const prt_type *type, prt_perm p)
{
    int64_t dims[PRT_MAX_RANK];
    if (b->status != POPRT_OK)
        return;
    if (prt_type_is_tensor(type) && type->rank >= 0 && type->rank <= PRT_MAX_RANK) {
        permute_dims(type, p, dims);
        type = prt_type_tensor(b->graph->module->types, type->dtype, type->rank, dims);
    }
    b->status = type != NULL ? prt_value_refine_type(v, type) : POPRT_E_NOMEM;
}

/* Returns the Transpose of `x` by `p` that the graph has already, moved before the current op; NULL
 * if there is none. */
static prt_value *reuse(prt_plan_edit *e, const prt_value *x, prt_perm p)
{
    prt_perm other;
    prt_for_each_use (use, x) {
        prt_op *op = use->user;
        if (op->graph != e->plan->graph || !prt_op_is(op, PRT_OP_transpose) || op->id >= e->n_ops ||
            !prt_perm_of(op, &other) || other != p)
            continue;
        if (e->positions[op->id] > e->at)
            prt_op_move_before(op, e->b.before);
        return &op->out[0];
    }
    return NULL;
}

/* Makes a constant with permuted axes; NULL if the pass cannot. */
static prt_value *permute_constant(prt_plan_edit *e, prt_value *x, prt_perm p)
{
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    int64_t list[PRT_MAX_RANK];
    if (prt_perm_is_reshape(x->type, PRT_PERM_IDENTITY, p)) {
        permute_dims(x->type, p, list);
        return prt_match_reshape_constant(&e->b, x, (uint32_t)x->type->rank, list);
    }
    for (uint32_t i = 0; i < (uint32_t)x->type->rank; i++)
        list[i] = prt_perm_at(p, i);
    PRT_ATTR_SET(attrs, transpose, perm, ((prt_i64s){ list, (uint32_t)x->type->rank }));
    return prt_match_compute(e->plan->p, &e->b, x, PRT_OP_transpose, &attrs, 1, &x);
}

/* Makes `x` with permuted axes. */
static prt_value *permute(prt_plan_edit *e, prt_value *x, prt_perm p, bool free)
{
    const uint32_t rank = (uint32_t)x->type->rank;
    int64_t list[PRT_MAX_RANK];
    prt_value *y = free ? permute_constant(e, x, p) : NULL;
    if (y != NULL || (y = reuse(e, x, p)) != NULL || e->b.status != POPRT_OK)
        return y;
    e->changed = true;
    if (prt_perm_is_reshape(x->type, PRT_PERM_IDENTITY, p) &&
        prt_move_shape(x->type, PRT_PERM_IDENTITY, x->type, p, list))
        return prt_match_add_reshape(&e->b, x, rank, list);
    for (uint32_t i = 0; i < rank; i++)
        list[i] = prt_perm_at(p, i);
    return prt_match_add_transpose(&e->b, x, rank, list);
}

prt_value *prt_plan_in_layout(prt_plan_edit *e, uint32_t family, prt_perm layout)
{
    prt_family *f = &e->plan->families.data[family];
    for (size_t i = 0; i < f->values.count; i++)
        if (f->values.data[i].layout == layout)
            return f->values.data[i].value;
    const prt_plan_value from = f->values.data[0];
    const prt_perm p = prt_perm_then(prt_perm_inverse(from.layout), layout);
    const prt_plan_value to = { layout, permute(e, from.value, p, f->free) };
    if (to.value != NULL)
        refine(&e->b, to.value, f->root->type, layout);
    if (e->b.status == POPRT_OK && !PRT_VEC_PUSH(e->plan->arena, &f->values, to))
        e->b.status = POPRT_E_NOMEM;
    return e->b.status == POPRT_OK ? to.value : NULL;
}

prt_value *prt_plan_operand(prt_plan_edit *e, const prt_port *port)
{
    if (port->family == PRT_PLAN_NONE || !e->plan->families.data[port->family].touched)
        return port->use->value;
    return prt_plan_in_layout(e, port->family, prt_port_after(e->plan, port));
}

/* ---- operands */

/* Inserts axes of 1 into an operand of lower rank, so that its axes meet those of the output, which
 * is permuted by `p`. */
static prt_value *align(prt_plan_edit *e, prt_value *v, uint32_t rank, prt_perm p)
{
    const uint32_t own = (uint32_t)v->type->rank, shift = rank - own;
    int64_t axes[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t lead = 0, n = 0, at = 0;
    while (lead < rank && prt_perm_at(p, lead) < shift)
        lead++;
    for (uint32_t i = lead; i < rank; i++) {
        const bool inserted = prt_perm_at(p, i) < shift;
        dims[i - lead] = inserted ? 1 : v->type->dims[at++];
        if (inserted)
            axes[n++] = i - lead;
    }
    if (n == 0)
        return v;
    if (prt_value_is_fixed(v))
        return prt_match_reshape_constant(&e->b, v, rank - lead, dims);
    return prt_build_binary(&e->b, PRT_OP_unsqueeze, v, prt_build_i64s(&e->b, n, axes));
}

/* Permutes a list of one number, or two, for each axis. */
static prt_value *permute_list(prt_plan_edit *e, prt_value *v, uint32_t rank, prt_perm p)
{
    const int64_t dim = prt_match_dim(v, 0);
    int64_t index[2 * PRT_MAX_RANK];
    if (dim < rank)
        return v;
    for (uint32_t i = 0; i < (uint32_t)dim; i++)
        index[i] = (int64_t)(i - i % rank) + prt_perm_at(p, i % rank);
    prt_value *in[2] = { v, prt_build_i64s(&e->b, (uint32_t)dim, index) };
    prt_value *y = prt_match_compute(e->plan->p, &e->b, v, PRT_OP_gather, NULL, 2, in);
    return y != NULL ? y : prt_build_op(&e->b, PRT_OP_gather, NULL, 2, in);
}

/* Returns the axes of a constant operand of type `like` after the permutation; without a constant,
 * those of the first `count` axes. */
static prt_value *permute_axes(prt_plan_edit *e, const prt_op *op, uint32_t slot, uint32_t count,
    int32_t dtype, int32_t rank, prt_perm p)
{
    unsigned char bytes[PRT_MAX_RANK * sizeof(int64_t)] = { 0 };
    int64_t axes[PRT_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const prt_value *v = prt_op_input(op, slot);
    const int64_t n = count;
    uint32_t axis;
    if (v != NULL && !prt_match_i64s(op, slot, PRT_MAX_RANK, axes, &count))
        return NULL;
    for (uint32_t i = 0; i < count && i < PRT_MAX_RANK; i++)
        prt_store_i64(dtype, bytes, i,
            prt_match_axis(axes[i], rank, &axis) ? (int64_t)prt_perm_find(p, axis) : axes[i]);
    return v != NULL ? prt_build_tensor(&e->b, dtype, (uint32_t)v->type->rank, v->type->dims, bytes)
                     : prt_build_tensor(&e->b, dtype, 1, &n, bytes);
}

/* ---- operators */

typedef struct moved {
    uint32_t id;
    void *attrs;
    uint32_t n_in;
    prt_value **in;
} moved;

static void permute_attr(const prt_plan *plan, const prt_op *op, uint8_t kind, int32_t rank,
    prt_perm p, moved *to)
{
    const uint32_t index =
        prt_op_attr(op->def, kind == PRT_MOVE_axis ? PRT_STR("axis") : PRT_STR("axes"));
    void *field = (char *)to->attrs + op->def->attrs[index].offset;
    uint32_t axis;
    *(uint64_t *)to->attrs |= (uint64_t)1 << index;
    if (kind == PRT_MOVE_axis) {
        int64_t *value = field;
        if (prt_match_axis(*value, rank, &axis))
            *value = prt_perm_find(p, axis);
        return;
    }
    prt_i64s *list = field;
    int64_t *axes = PRT_NEW_N(plan->arena, int64_t, list->count);
    for (uint32_t i = 0; axes != NULL && i < list->count; i++)
        axes[i] = prt_match_axis(list->data[i], rank, &axis) ? (int64_t)prt_perm_find(p, axis)
                                                             : list->data[i];
    if (axes != NULL)
        list->data = axes;
}

/* A Transpose exchanges the same axes in their new places. */
static void permute_perm(prt_plan_edit *e, const prt_op *op, const prt_port *in, moved *to)
{
    const uint32_t rank = (uint32_t)op->in[0].value->type->rank;
    prt_transpose_attrs *attrs = to->attrs;
    int64_t *list = PRT_NEW_N(e->plan->arena, int64_t, rank);
    prt_perm p;
    if (list == NULL || !prt_perm_of(op, &p)) {
        e->b.status = POPRT_E_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < rank; i++)
        list[i] = prt_perm_find(in->moved, prt_perm_at(p, prt_perm_at(in[op->n_in].moved, i)));
    PRT_ATTR_SET(*attrs, transpose, perm, ((prt_i64s){ list, rank }));
}

/* Returns whether the numbers of the lists are those of all axes in order. */
static bool has_lists(const prt_op *op, const prt_move_rule *rule)
{
    if (rule->axes != 0 && prt_op_input(op, rule->axes) != NULL)
        return false;
    return !prt_op_is(op, PRT_OP_resize) || ((const prt_resize_attrs *)op->attrs)->axes.count == 0;
}

/* A global pool with permuted axes is a Reduce. */
static void become_reduce(prt_plan_edit *e, const prt_op *op, int32_t rank, prt_perm p, moved *to)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t n = 0;
    for (int32_t i = 2; i < rank; i++)
        axes[n++] = prt_perm_find(p, (uint32_t)i);
    to->id = prt_op_is(op, PRT_OP_global_max_pool) ? PRT_OP_reduce_max : PRT_OP_reduce_mean;
    to->attrs = NULL;
    to->in[1] = prt_build_i64s(&e->b, n, axes);
    to->n_in = 2;
}

static void become_reshape(prt_plan_edit *e, const prt_op *op, const prt_port *in, moved *to)
{
    const prt_port *out = in + op->n_in;
    int64_t shape[PRT_MAX_RANK];
    (void)prt_move_shape(to->in[0]->type, PRT_PERM_IDENTITY, op->out[0].type, out->moved, shape);
    to->id = PRT_OP_reshape;
    to->attrs = NULL;
    to->in[1] = prt_build_i64s(&e->b, (uint32_t)op->out[0].type->rank, shape);
    to->n_in = 2;
}

/* Sets the operands and attributes of the permuted operator. */
static void permute_op(prt_plan_edit *e, const prt_plan_node *node, moved *to)
{
    const prt_op *op = node->op;
    const prt_move_rule *rule = node->rule;
    const prt_port *in = &e->plan->ports.data[node->first], *out = in + op->n_in;
    const int32_t rank = op->in[0].value->type->rank, y_rank = op->out[0].type->rank;
    const bool broadcast = rule->kind == PRT_MOVE_elementwise;
    const bool inserts = prt_op_is(op, PRT_OP_unsqueeze);
    for (uint32_t i = 0; i < op->n_in; i++) {
        to->in[i] = op->in[i].value != NULL ? prt_plan_operand(e, &in[i]) : NULL;
        if (e->b.status == POPRT_OK && broadcast && to->in[i] != NULL &&
            prt_move_has(rule->inputs, i) && !prt_move_is_single(to->in[i]))
            to->in[i] = align(e, to->in[i], (uint32_t)y_rank, out->moved);
        if (e->b.status == POPRT_OK && to->in[i] != NULL && prt_move_has(rule->lists, i) &&
            has_lists(op, rule))
            to->in[i] = permute_list(e, to->in[i], (uint32_t)(broadcast ? y_rank : rank),
                broadcast ? out->moved : in->moved);
    }
    if (e->b.status != POPRT_OK)
        return;
    if (rule->attr != PRT_MOVE_no_attr)
        permute_attr(e->plan, op, rule->attr, rank, in->moved, to);
    if (rule->axes != 0 && prt_op_input(op, rule->axes) != NULL)
        to->in[rule->axes] =
            permute_axes(e, op, rule->axes, 0, op->in[rule->axes].value->type->dtype,
                inserts ? y_rank : rank, inserts ? out->moved : in->moved);
    if (prt_op_is(op, PRT_OP_slice) && prt_op_input(op, 3) == NULL) {
        to->n_in = op->n_in > 4 ? op->n_in : 4;
        to->in[3] = permute_axes(e, op, 3, (uint32_t)prt_match_dim(op->in[1].value, 0),
            op->in[1].value->type->dtype, rank, in->moved);
    }
    if (prt_op_is(op, PRT_OP_global_average_pool) || prt_op_is(op, PRT_OP_global_max_pool))
        become_reduce(e, op, rank, in->moved, to);
    if (prt_op_is(op, PRT_OP_transpose))
        permute_perm(e, op, in, to);
    if (rule->kind == PRT_MOVE_reshape)
        become_reshape(e, op, in, to);
}

/* Makes the outputs of `to` stand for those of the node. */
static void replace_outputs(prt_plan_edit *e, const prt_plan_node *node, prt_op *to)
{
    const prt_port *out = &e->plan->ports.data[node->first] + node->op->n_in;
    for (uint32_t i = 0; i < to->n_out; i++) {
        prt_value *old = &node->op->out[i];
        const prt_plan_value made = { out[i].moved, &to->out[i] };
        refine(&e->b, made.value, old->type, out[i].moved);
        if (made.layout == PRT_PERM_IDENTITY) {
            if (made.value->content == NULL)
                made.value->content = old->content;
            prt_build_replace_uses(&e->b, old, made.value);
        }
        if (out[i].family != PRT_PLAN_NONE)
            e->plan->families.data[out[i].family].values.data[0] = made;
    }
    if (e->b.status == POPRT_OK)
        e->b.status = prt_op_copy_notes(to, node->op);
}

void prt_plan_move(prt_plan_edit *e, const prt_plan_node *node)
{
    enum { MORE = 4 }; /* operands that a permuted operator may have in addition */
    prt_op *op = node->op;
    moved to = { .id = op->def->id, .n_in = op->n_in };
    to.attrs = prt_attrs_clone(op->def, e->plan->arena, op->attrs);
    to.in = PRT_NEW_N(e->plan->arena, prt_value *, (size_t)op->n_in + MORE);
    if (to.attrs == NULL || to.in == NULL) {
        e->b.status = POPRT_E_NOMEM;
        return;
    }
    permute_op(e, node, &to);
    prt_op *new_op = prt_match_new(&e->b, op, to.id, to.attrs, to.n_in, to.in, op->n_out);
    if (new_op != NULL)
        replace_outputs(e, node, new_op);
    e->replaced[op->id] = true;
    e->changed = true;
}

/* Replaces a Shape by a Shape of another layout and a Gather. */
static void gather_dims(prt_plan_edit *e, prt_op *op, prt_plan_value from, prt_perm layout)
{
    const prt_shape_attrs *a = op->attrs;
    const int64_t rank = from.value->type->rank;
    const bool ends = prt_attr_given(a, prt_op_attr(op->def, PRT_STR("end")));
    int64_t end = !ends ? rank : a->end < 0 ? a->end + rank : a->end, index[PRT_MAX_RANK];
    uint32_t n = 0;
    for (int64_t i = a->start < 0 ? a->start + rank : a->start; i < end && i < rank; i++)
        if (i >= 0)
            index[n++] = prt_perm_find(from.layout, prt_perm_at(layout, (uint32_t)i));
    prt_value *in[2] = { prt_build_unary(&e->b, PRT_OP_shape, from.value),
        prt_build_i64s(&e->b, n, index) };
    prt_op *gather = prt_match_new(&e->b, op, PRT_OP_gather, NULL, 2, in, 1);
    if (gather == NULL)
        return;
    if (gather->out[0].content == NULL)
        gather->out[0].content = op->out[0].content;
    refine(&e->b, &gather->out[0], op->out[0].type, PRT_PERM_IDENTITY);
    prt_build_replace_uses(&e->b, &op->out[0], &gather->out[0]);
    e->replaced[op->id] = true;
}

void prt_plan_read_dims(prt_plan_edit *e, const prt_plan_node *node)
{
    const prt_port *port = &e->plan->ports.data[node->first];
    const prt_family *f =
        port->family != PRT_PLAN_NONE ? &e->plan->families.data[port->family] : NULL;
    prt_value *v = NULL;
    if (f == NULL || !f->touched)
        return;
    bool exists = port->layout == f->values.data[0].layout;
    for (size_t i = 0; i < f->needs.count; i++)
        exists = exists || f->needs.data[i] == port->layout;
    if (exists)
        v = prt_plan_in_layout(e, port->family, port->layout);
    else if (prt_op_is(node->op, PRT_OP_size))
        v = f->values.data[0].value;
    else
        gather_dims(e, node->op, f->values.data[0], port->layout);
    e->changed = e->changed || v != port->use->value;
    if (v != NULL)
        prt_op_set_input(node->op, 0, v);
}
