/* SPDX-License-Identifier: MIT */
/* update_groups.c — joins the updates of several weights to one node. */
#include "train/update_groups.h"

#include "ir/build.h"
#include "op/training/update.h"

/* Updates that become one node, in the order of the graph. */
typedef struct group {
    PRT_VEC(prt_op *) members;
    uint64_t bytes; /* of their weights */
    bool is_full;
} group;

typedef PRT_VEC(group) groups;

/* Returns whether two updates have the same attributes, inputs and types, so that one kernel with
 * one set of attributes computes both. */
static bool are_alike(const prt_op *a, const prt_op *b)
{
    if (a->def != b->def || a->n_in != b->n_in || a->n_out != b->n_out ||
        !prt_attrs_equal(a->def, a->attrs, b->attrs))
        return false;
    for (uint32_t i = 0; i < a->n_in; i++) {
        const prt_value *x = a->in[i].value, *y = b->in[i].value;
        if ((x == NULL) != (y == NULL) || (x != NULL && x->type->dtype != y->type->dtype))
            return false;
    }
    return true;
}

static poprt_status add_to(groups *all, prt_op *op, prt_update_grouping grouping, uint64_t bytes,
    prt_arena *arena)
{
    size_t size;
    group *to = NULL;
    if (!prt_type_size(op->in[0].value->type, &size))
        return prt_fail(POPRT_E_LIMIT, op->in[0].value->name.data, "the weight is too large");
    for (size_t i = 0; i < all->count && to == NULL; i++) {
        group *g = &all->data[i];
        const bool fits = grouping != PRT_UPDATE_GROUPING_auto_loose ||
            (g->bytes <= bytes && size <= bytes - g->bytes);
        if (!g->is_full && fits && are_alike(g->members.data[0], op))
            to = g;
    }
    if (to == NULL) {
        const group empty = { .bytes = 0 };
        if (!PRT_VEC_PUSH(arena, all, empty))
            return POPRT_E_NOMEM;
        to = &all->data[all->count - 1];
    }
    to->bytes += size;
    to->is_full = grouping == PRT_UPDATE_GROUPING_auto_tight && to->bytes >= bytes;
    return PRT_VEC_PUSH(arena, &to->members, op) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Returns the attributes of a group: those of its members and the bits of their inputs. */
static void *attrs_of(const prt_op *first, const prt_op_def *def, prt_arena *arena)
{
    int64_t mask = 0;
    unsigned char *attrs = prt_arena_copy(arena, def->defaults, def->attrs_size);
    if (attrs == NULL)
        return NULL;
    for (uint32_t i = 0; i < first->n_in; i++)
        if (first->in[i].value != NULL)
            mask |= (int64_t)1 << i;
    memcpy(attrs, first->attrs, first->def->attrs_size);
    const uint32_t row = prt_op_attr(def, PRT_STR("inputs"));
    memcpy(attrs + def->attrs[row].offset, &mask, sizeof(mask));
    uint64_t present;
    memcpy(&present, attrs, sizeof(present));
    present |= (uint64_t)1 << row;
    memcpy(attrs, &present, sizeof(present));
    return attrs;
}

static poprt_status join(const group *g, prt_arena *arena)
{
    const prt_op *first = g->members.data[0];
    const prt_op_def *def = prt_op_of(prt_group_of_update(first->def->id));
    const uint32_t n = (uint32_t)g->members.count;
    void *attrs = attrs_of(first, def, arena);
    if (attrs == NULL)
        return POPRT_E_NOMEM;
    prt_update_group whole;
    if (!prt_update_group_layout(first->def->id, prt_update_group_mask(attrs, def->id), n, &whole))
        return prt_fail(POPRT_E_INTERNAL, prt_op_label(first), "the update has unknown inputs");
    const uint32_t n_in = n * whole.inputs, n_out = n * whole.outputs;
    prt_value **in = PRT_NEW_N(arena, prt_value *, n_in);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t i = 0; i < whole.inputs; i++)
            in[prt_update_group_argument(&whole, m, i)] =
                g->members.data[m]->in[whole.slots[i]].value;
    prt_build b = prt_build_at_end(first->graph);
    b.origin = first->origin;
    (void)prt_build_op_n(&b, def->id, attrs, n_in, in, n_out);
    for (uint32_t m = 0; m < n; m++)
        prt_op_erase(g->members.data[m]);
    return prt_build_status(&b);
}

poprt_status prt_training_group_updates(prt_graph *update, prt_update_grouping grouping,
    uint64_t bytes, prt_arena *arena)
{
    groups all = { 0 };
    if (grouping == PRT_UPDATE_GROUPING_none)
        return POPRT_OK;
    prt_for_each_op (op, update)
        if (op->def != NULL && prt_group_of_update(op->def->id) != PRT_OP_NONE)
            PRT_TRY(add_to(&all, op, grouping, bytes, arena));
    for (size_t i = 0; i < all.count; i++)
        if (all.data[i].members.count > 1)
            PRT_TRY(join(&all.data[i], arena));
    return POPRT_OK;
}
