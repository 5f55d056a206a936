/* SPDX-License-Identifier: MIT */
/* weights.c — which initializers of a model are trained; see graph.h. */
#include "base/nearest.h"
#include "train/graph.h"
#include "train/state.h"

static bool is_float_initializer(const prt_value *v)
{
    return prt_value_is_constant(v) && v->initializer != PRT_INITIALIZER_none &&
        prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype) &&
        prt_dtype_bits(v->type->dtype) >= 16 && prt_type_is_static(v->type) && v->name.size != 0;
}

/* Fails for a name of a list that is no weight, with the nearest names. */
static poprt_status check_names(const prt_graph *g, uint32_t n, const prt_str *list)
{
    enum { MOST_NAMES = 512 };
    const char *names[MOST_NAMES];
    size_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const prt_value *v = prt_map_find(&g->module->names, list[i]);
        if (v != NULL && v->graph == g && is_float_initializer(v))
            continue;
        for (size_t k = 0; k < g->constants.count && count < MOST_NAMES; k++)
            if (is_float_initializer(g->constants.data[k]))
                names[count++] = g->constants.data[k]->name.data;
        return prt_fail_nearest(list[i].data, names, count,
            "the model has no floating-point weight of this name");
    }
    return POPRT_OK;
}

/* Marks the values that `v` is computed from, without recursion over long chains: `stack` holds
 * values whose op was not looked at yet. */
typedef struct reach {
    prt_arena *arena;
    bool *seen; /* by value id of the main graph */
    const prt_graph *graph;
    PRT_VEC(const prt_value *) stack;
} reach;

static poprt_status see(reach *r, const prt_value *v)
{
    if (v == NULL || v->graph != r->graph || r->seen[v->id])
        return POPRT_OK;
    r->seen[v->id] = true;
    return PRT_VEC_PUSH(r->arena, &r->stack, v) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status see_op(reach *r, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        PRT_TRY(see(r, op->in[i].value));
    for (uint32_t k = 0; k < op->n_regions; k++) {
        prt_for_each_op (inner, op->regions[k])
            PRT_TRY(see_op(r, inner));
        PRT_TRY(see_op(r, op->regions[k]->ret));
    }
    return POPRT_OK;
}

/* Marks `v` and the values that it is computed from. */
static poprt_status find_reachable(reach *r, const prt_value *v)
{
    if (r->seen == NULL)
        r->seen = PRT_NEW_N(r->arena, bool, r->graph->n_values);
    if (r->seen == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(see(r, v));
    while (r->stack.count != 0) {
        const prt_value *next = r->stack.data[--r->stack.count];
        if (next->def != NULL)
            PRT_TRY(see_op(r, next->def));
    }
    return POPRT_OK;
}

/* Makes the set of the names of a list. */
static poprt_status make_set(uint32_t n, const prt_str *list, prt_map *set)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].size != 0)
            PRT_TRY(prt_map_set(set, list[i], set));
    return POPRT_OK;
}

/* Returns whether a weight is to be trained; `listed` are the names of `weights` or `frozen`. */
static bool is_chosen(const prt_training *t, const prt_map *listed, const prt_value *v,
    bool inputs_only)
{
    const bool in_list = prt_map_find(listed, v->name) != NULL;
    if (!t->all_weights || in_list)
        return in_list && !t->all_weights;
    return inputs_only ? v->initializer == PRT_INITIALIZER_input : v->type->rank > 0;
}

poprt_status prt_training_weights(prt_module *module, const prt_training *t, const prt_value *loss,
    prt_arena *arena, prt_training_unchanged *unchanged, prt_value ***out, uint32_t *count)
{
    const prt_graph *g = module->main;
    reach r = { .arena = arena, .graph = g };
    prt_map listed = prt_map_in(arena);
    bool inputs_only = false;
    PRT_TRY(check_names(g, t->n_weights, t->weights));
    PRT_TRY(check_names(g, t->n_frozen, t->frozen));
    PRT_TRY(make_set(t->all_weights ? t->n_frozen : t->n_weights,
        t->all_weights ? t->frozen : t->weights, &listed));
    PRT_TRY(find_reachable(&r, loss));
    *count = 0;
    *out = PRT_NEW_N(arena, prt_value *, g->constants.count);
    if (*out == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < g->constants.count; i++)
        inputs_only = inputs_only ||
            (is_float_initializer(g->constants.data[i]) &&
                g->constants.data[i]->initializer == PRT_INITIALIZER_input);
    for (size_t i = 0; i < g->constants.count; i++) {
        prt_value *v = g->constants.data[i];
        if (!is_float_initializer(v) || !is_chosen(t, &listed, v, inputs_only))
            continue;
        if (r.seen[v->id])
            (*out)[(*count)++] = v;
        else if (prt_training_reserved_prefix(v->name) == NULL &&
            !PRT_VEC_PUSH(unchanged->arena, &unchanged->weights, v->name))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Whether the caller asked for the gradient of a leaf: of a value that no op computes. */
static bool is_leaf(const prt_value *v)
{
    return v->def == NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

poprt_status prt_training_leaves(prt_module *module, const prt_training *t, prt_arena *arena,
    uint32_t n_weights, prt_value *const *weights, prt_value ***out, uint32_t *count)
{
    const prt_graph *g = module->main;
    reach r = { .arena = arena, .graph = g };
    prt_map listed = prt_map_in(arena);
    PRT_VEC(prt_value *) leaves = { 0 };
    for (uint32_t i = 0; i < n_weights; i++) {
        PRT_TRY(prt_map_set(&listed, weights[i]->name, weights[i]));
        if (!PRT_VEC_PUSH(arena, &leaves, weights[i]))
            return POPRT_E_NOMEM;
    }
    for (uint32_t i = 0; i < t->n_anchors; i++) {
        prt_str of = { 0 };
        const bool is_gradient = prt_training_gradient_of(t->anchors[i], &of);
        prt_value *v = is_gradient ? prt_map_find(&module->names, of) : NULL;
        if (v == NULL || v->graph != g)
            continue;
        PRT_TRY(find_reachable(&r, v));
        if (prt_value_is_constant(v) && is_leaf(v) && prt_map_find(&listed, v->name) == NULL) {
            PRT_TRY(prt_map_set(&listed, v->name, v));
            if (!PRT_VEC_PUSH(arena, &leaves, v))
                return POPRT_E_NOMEM;
        }
    }
    for (size_t i = 0; r.seen != NULL && i < g->inputs.count; i++)
        if (r.seen[g->inputs.data[i]->id] && is_leaf(g->inputs.data[i]) &&
            !PRT_VEC_PUSH(arena, &leaves, g->inputs.data[i]))
            return POPRT_E_NOMEM;
    *out = leaves.data;
    *count = (uint32_t)leaves.count;
    return POPRT_OK;
}

poprt_status prt_training_reached(const prt_value *loss, prt_arena *arena, const bool **out)
{
    reach r = { .arena = arena, .graph = loss->graph };
    PRT_TRY(find_reachable(&r, loss));
    *out = r.seen;
    return POPRT_OK;
}
