/* SPDX-License-Identifier: MIT */
/*
 * retype_plan.c — selects the ops to keep before anything is changed.
 *
 * Modes come from the pass. Always kept are ops outside the table, BitCasts, ops of ai.onnx.ml
 * (their attributes have the type of the data), owners of regions with special rules, readers of a
 * value of unknown type, and operators that support the new type only from a later opset
 * (half_opset.h). Sequences cannot be cast, so a kept op keeps all ops that share such values with
 * it. Last, chains of numbers computed from sizes and read in full (a shape, the scales of a
 * Resize) are kept, so that no rounding affects them.
 */
#include "pass/precision/half_opset.h"
#include "pass/precision/retype_state.h"

enum { MAX_DEPTH = 256 };

/* Most operators support bfloat16 by this opset, and every runtime reads it. */
enum { BF16_OPSET = 17 };

typedef PRT_VEC(prt_op *) op_list;

static uint64_t set_of(const prt_op_def *def, const prt_slot_def *slot)
{
    for (uint32_t i = 0; slot != NULL && i < def->n_types; i++)
        if (strcmp(def->types[i].var, slot->var) == 0)
            return def->types[i].set;
    return 0;
}

bool prt_retype_allows(const prt_op *op, const prt_slot_def *slot, int32_t dtype)
{
    return op->def != NULL && (set_of(op->def, slot) >> dtype & 1) != 0;
}

bool prt_retype_is(const prt_value *v, int32_t dtype)
{
    return v != NULL && v->type->kind == PRT_VALUE_TENSOR && v->type->dtype == dtype;
}

bool prt_retype_wraps(const prt_type *type, int32_t dtype)
{
    if (type->kind != PRT_VALUE_SEQUENCE && type->kind != PRT_VALUE_OPTIONAL &&
        type->kind != PRT_VALUE_MAP)
        return false;
    for (const prt_type *t = type; t != NULL; t = t->elem)
        if (t->dtype == dtype)
            return true;
    return false;
}

static prt_str key_of(const prt_retype_graph *g)
{
    return (prt_str){ (const char *)&g->graph, sizeof(g->graph) };
}

prt_retype_graph *prt_retype_graph_of(const prt_retype_state *s, const prt_graph *graph)
{
    const prt_retype_graph g = { .graph = (prt_graph *)(uintptr_t)graph };
    return prt_map_find(&s->graphs, key_of(&g));
}

static uint8_t *mode_of(const prt_retype_state *s, const prt_op *op)
{
    return &prt_retype_graph_of(s, op->graph)->modes[op->id];
}

/* ---- modes */

/* Returns whether the regions of the op use the types of its operands and results. */
static bool has_own_regions(const prt_op *op)
{
    switch (op->def->id) {
    case PRT_OP_if:
    case PRT_OP_loop:
    case PRT_OP_scan:
    case PRT_OP_sequence_map:
    case PRT_OP_gc_call:
        return true;
    default:
        return op->n_regions == 0;
    }
}

static poprt_status find_opset(prt_retype_state *s, const prt_graph *graph, uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    prt_for_each_op (op, graph) {
        if (op->def != NULL && s->how->mode(s->how, op) == PRT_RETYPE_CONVERT)
            s->opset = prt_half_opset_of_layer(op, s->how->to, s->opset);
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(find_opset(s, op->regions[i], depth + 1));
    }
    return POPRT_OK;
}

static uint8_t first_mode(const prt_retype_state *s, const prt_op *op, bool kept)
{
    if (kept || prt_half_opset_of(op, s->how->to) > s->opset || op->def == NULL ||
        prt_op_is(op, PRT_OP_bit_cast) || strcmp(op->def->domain, "ai.onnx.ml") == 0 ||
        !has_own_regions(op) || prt_retype_may_be_from(s, op))
        return PRT_RETYPE_KEEP;
    return (uint8_t)s->how->mode(s->how, op);
}

static poprt_status plan_graph(prt_retype_state *s, prt_graph *graph, uint32_t depth, bool kept,
    bool edges)
{
    prt_arena *arena = s->p->arena;
    prt_retype_graph *g = PRT_NEW(arena, prt_retype_graph);
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    if (g == NULL)
        return POPRT_E_NOMEM;
    *g = (prt_retype_graph){ .graph = graph,
        .n_values = graph->n_values,
        .n_ops = graph->n_ops,
        .edges = edges };
    g->copies = PRT_NEW_N(arena, prt_retype_copies, (size_t)g->n_values + 1);
    g->modes = PRT_NEW_N(arena, uint8_t, (size_t)g->n_ops + 1);
    if (g->copies == NULL || g->modes == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_map_set(&s->graphs, key_of(g), g));
    prt_for_each_op (op, graph) {
        const uint8_t mode = first_mode(s, op, kept || graph->contradictory);
        g->modes[op->id] = mode;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(plan_graph(s, op->regions[i], depth + 1, mode == PRT_RETYPE_KEEP,
                mode == PRT_RETYPE_KEEP || mode == PRT_RETYPE_EDGES));
    }
    return prt_pass_check(s->p);
}

/* ---- values that cannot be cast */

static poprt_status push(prt_retype_state *s, op_list *list, prt_op *op)
{
    return PRT_VEC_PUSH(s->p->arena, list, op) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status keep(prt_retype_state *s, op_list *list, prt_op *op)
{
    uint8_t *mode = mode_of(s, op);
    if (*mode == PRT_RETYPE_KEEP)
        return POPRT_OK;
    *mode = PRT_RETYPE_KEEP;
    return push(s, list, op);
}

/* Keeps the producer and all readers of the value. For results and inputs of a region this is its
 * owner. */
static poprt_status keep_around(prt_retype_state *s, op_list *list, const prt_value *v)
{
    if (v == NULL || !prt_retype_wraps(v->type, s->how->from))
        return POPRT_OK;
    prt_op *maker = v->def != NULL ? v->def : v->graph->owner;
    if (maker != NULL)
        PRT_TRY(keep(s, list, maker));
    prt_for_each_use (use, v) {
        prt_op *user = use->user == use->user->graph->ret ? use->user->graph->owner : use->user;
        if (user != NULL)
            PRT_TRY(keep(s, list, user));
    }
    return POPRT_OK;
}

static poprt_status keep_within(prt_retype_state *s, op_list *list, prt_graph *graph)
{
    prt_retype_graph_of(s, graph)->edges = true;
    for (size_t i = 0; i < graph->inputs.count; i++)
        PRT_TRY(keep_around(s, list, graph->inputs.data[i]));
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        PRT_TRY(keep_around(s, list, graph->ret->in[i].value));
    return POPRT_OK;
}

static poprt_status propagate_keep(prt_retype_state *s, op_list *list)
{
    while (list->count != 0) {
        const prt_op *op = list->data[--list->count];
        const uint8_t mode = *mode_of(s, op);
        for (uint32_t i = 0; i < op->n_in; i++)
            PRT_TRY(keep_around(s, list, op->in[i].value));
        for (uint32_t i = 0; i < op->n_out; i++)
            PRT_TRY(keep_around(s, list, &op->out[i]));
        for (uint32_t i = 0; i < op->n_regions; i++) {
            PRT_TRY(keep_within(s, list, op->regions[i]));
            for (prt_op *inner = op->regions[i]->first; inner != NULL && mode == PRT_RETYPE_KEEP;
                 inner = inner->next)
                PRT_TRY(keep(s, list, inner));
        }
    }
    return POPRT_OK;
}

static bool has_map(const prt_type *type)
{
    for (const prt_type *t = type; t != NULL; t = t->elem)
        if (t->kind == PRT_VALUE_MAP)
            return true;
    return false;
}

/* Collects the ops whose sequences must stay. */
static poprt_status seed(prt_retype_state *s, op_list *list, prt_graph *graph)
{
    const prt_retype *how = s->how;
    const bool fixed = graph->owner == NULL;
    for (size_t i = 0; fixed && !how->inputs && i < graph->inputs.count; i++)
        PRT_TRY(keep_around(s, list, graph->inputs.data[i]));
    for (uint32_t i = 0; fixed && !how->outputs && i < graph->ret->n_in; i++)
        PRT_TRY(keep_around(s, list, graph->ret->in[i].value));
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (has_map(graph->inputs.data[i]->type))
            PRT_TRY(keep_around(s, list, graph->inputs.data[i]));
    prt_for_each_op (op, graph) {
        const uint8_t mode = *mode_of(s, op);
        bool stays = mode == PRT_RETYPE_KEEP || mode == PRT_RETYPE_EDGES;
        for (uint32_t i = 0; i < op->n_out; i++)
            stays = stays || has_map(op->out[i].type);
        if (stays)
            PRT_TRY(push(s, list, op));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(seed(s, list, op->regions[i]));
    }
    return POPRT_OK;
}

/* ---- numbers computed from sizes */

static bool is_integer_cast(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_cast) &&
        prt_dtype_is_integer((int32_t)((const prt_cast_attrs *)op->attrs)->to);
}

/* Returns whether this use reads the full copy because of its op. */
static bool reads_full(const prt_retype_state *s, const prt_use *use)
{
    const prt_op *op = use->user;
    if (op == op->graph->ret)
        return false;
    const uint32_t slot = (uint32_t)(use - op->in);
    return *mode_of(s, op) == PRT_RETYPE_KEEP ||
        !prt_retype_allows(op, prt_op_in_slot(op->def, slot), s->how->to) ||
        (is_integer_cast(op) && prt_dtype_is_float(s->how->from));
}

/* Returns whether the full copy of the value is available without a Cast: it is a constant, or its
 * op gives it. */
static bool is_given_full(const prt_retype_state *s, const prt_graph *graph, const bool *chain,
    const prt_value *v)
{
    if (prt_value_is_fixed(v))
        return true;
    if (v->def == NULL || v->graph != graph)
        return false;
    return chain[v->def->id] || *mode_of(s, v->def) == PRT_RETYPE_KEEP ||
        !prt_retype_allows(v->def, prt_op_out_slot(v->def->def, v->slot), s->how->to);
}

static bool may_chain(const prt_retype_state *s, const prt_op *op, const bool *chain)
{
    bool gives = false;
    if (*mode_of(s, op) != PRT_RETYPE_CONVERT || op->n_regions != 0 ||
        (op->def->traits & PRT_PURE) == 0)
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        gives = gives || prt_retype_is(&op->out[i], s->how->from);
    for (uint32_t i = 0; gives && i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (v != NULL && prt_retype_wraps(v->type, s->how->from))
            return false; /* a converted sequence has no full copy */
        if (prt_retype_is(v, s->how->from) && !is_given_full(s, op->graph, chain, v))
            return false;
    }
    return gives;
}

/* Returns whether a result is read in full, by an op outside or by a later member of the chain,
 * whose mode is already known. */
static bool is_needed_full(const prt_retype_state *s, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        prt_for_each_use (use, &op->out[i])
            if (prt_retype_is(&op->out[i], s->how->from) && reads_full(s, use))
                return true;
    return false;
}

/* Returns whether the value becomes `to` whatever the chain members do. */
static bool is_converted(const prt_retype_state *s, const prt_graph *graph, const bool *chain,
    const prt_value *v)
{
    if (v->def == NULL)
        return s->how->inputs && graph->owner == NULL && v->graph == graph &&
            !prt_retype_has_bits(s, v);
    return v->graph == graph && !chain[v->def->id] && *mode_of(s, v->def) == PRT_RETYPE_CONVERT &&
        v->def->n_regions == 0 &&
        prt_retype_allows(v->def, prt_op_out_slot(v->def->def, v->slot), s->how->to);
}

/* Returns whether an op that supports only some combinations of types may get a full operand; it is
 * kept then, since combinations of one type are supported. */
static bool is_mixed(const prt_retype_state *s, const prt_op *op, const bool *chain)
{
    if (s->how->restricted == NULL || *mode_of(s, op) != PRT_RETYPE_CONVERT ||
        !s->how->restricted(op))
        return false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        if (prt_retype_is(v, s->how->from) && !prt_value_is_fixed(v) &&
            !is_converted(s, op->graph, chain, v))
            return true;
    }
    return false;
}

static poprt_status keep_chains(prt_retype_state *s, prt_graph *graph)
{
    bool *chain = PRT_NEW_N(s->p->arena, bool, (size_t)graph->n_ops + 1);
    if (chain == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(keep_chains(s, op->regions[i]));
    prt_for_each_op (op, graph) {
        chain[op->id] = may_chain(s, op, chain);
        if (is_mixed(s, op, chain))
            *mode_of(s, op) = PRT_RETYPE_KEEP;
    }
    for (prt_op *op = graph->last; op != NULL; op = op->prev)
        if (chain[op->id] && is_needed_full(s, op))
            *mode_of(s, op) = PRT_RETYPE_KEEP;
    return POPRT_OK;
}

poprt_status prt_retype_plan(prt_retype_state *s)
{
    op_list list = { 0 };
    s->graphs = prt_map_in(s->p->arena);
    s->opset = s->how->to == PRT_DTYPE_bf16 ? BF16_OPSET : 0;
    PRT_TRY(find_opset(s, s->p->module->main, 0));
    PRT_TRY(prt_retype_infer_unknown(s));
    PRT_TRY(plan_graph(s, s->p->module->main, 0, false, false));
    PRT_TRY(seed(s, &list, s->p->module->main));
    PRT_TRY(propagate_keep(s, &list));
    if (s->how->bits)
        PRT_TRY(prt_retype_keep_bits(s));
    return s->how->exact ? keep_chains(s, s->p->module->main) : POPRT_OK;
}
