/* SPDX-License-Identifier: MIT */
/* graph.c — building and editing graphs: values, uses, ops and their order. */
#include "ir/ir.h"

prt_graph *prt_graph_create(prt_module *module, prt_op *owner)
{
    prt_graph *g = PRT_NEW(module->arena, prt_graph);
    if (g == NULL)
        return NULL;
    g->module = module;
    g->owner = owner;
    g->variable_values = prt_map_in(module->arena);
    g->name = g->doc = prt_module_str(module, PRT_STR(""));
    g->ret = PRT_NEW(module->arena, prt_op);
    if (g->name.data == NULL || g->ret == NULL)
        return NULL;
    g->ret->graph = g;
    g->ret->origin = g->ret->domain = g->ret->name = g->name;
    return g;
}

static void init_value(prt_graph *graph, prt_value *value)
{
    value->id = graph->n_values++;
    value->graph = graph;
    value->type = prt_type_unknown(graph->module->types);
    value->name = value->doc = PRT_STR("");
}

/* Returns whether the value is the output of an erased op, or belongs to a region of one. */
static bool is_erased(const prt_value *value)
{
    if (value->def != NULL && value->def->dead)
        return true;
    for (const prt_op *o = value->graph->owner; o != NULL; o = o->graph->owner)
        if (o->dead)
            return true;
    return false;
}

poprt_status prt_value_set_name(prt_value *value, prt_str name)
{
    prt_module *m = value->graph->module;
    if (name.size == 0) {
        value->name = PRT_STR("");
        return POPRT_OK;
    }
    const prt_value *other = prt_map_find(&m->names, name);
    const prt_str mine = prt_module_str(m, name);
    if (mine.data == NULL)
        return POPRT_E_NOMEM;
    if (other != NULL && other != value && prt_str_equal(other->name, name) && !is_erased(other))
        return prt_fail(POPRT_E_PARSE, mine.data, "two values have the name '%.200s'", mine.data);
    PRT_TRY(prt_map_set(&m->names, mine, value));
    value->name = mine;
    return POPRT_OK;
}

static prt_value *add_value(prt_graph *graph, prt_str name, const prt_type *type)
{
    prt_value *v = PRT_NEW(graph->module->arena, prt_value);
    if (v == NULL)
        return NULL;
    init_value(graph, v);
    if (type != NULL)
        v->type = type;
    return prt_value_set_name(v, name) == POPRT_OK ? v : NULL;
}

prt_value *prt_graph_add_input(prt_graph *graph, prt_str name, const prt_type *type)
{
    prt_value *v = add_value(graph, name, type);
    if (v == NULL)
        return NULL;
    v->slot = (uint32_t)graph->inputs.count;
    return PRT_VEC_PUSH(graph->module->arena, &graph->inputs, v) ? v : NULL;
}

prt_value *prt_graph_add_constant(prt_graph *graph, prt_str name, const prt_type *type,
    prt_blob *blob)
{
    if (prt_module_keep(graph->module, blob) != POPRT_OK)
        return NULL;
    prt_value *v = add_value(graph, name, type);
    if (v == NULL)
        return NULL;
    v->constant = blob;
    return PRT_VEC_PUSH(graph->module->arena, &graph->constants, v) ? v : NULL;
}

static void link_op(prt_op *op, prt_op *before)
{
    prt_graph *g = op->graph;
    op->next = before;
    op->prev = before != NULL ? before->prev : g->last;
    if (op->prev != NULL)
        op->prev->next = op;
    else
        g->first = op;
    if (before != NULL)
        before->prev = op;
    else
        g->last = op;
}

static void unlink_op(prt_op *op)
{
    prt_graph *g = op->graph;
    if (op->prev != NULL)
        op->prev->next = op->next;
    else
        g->first = op->next;
    if (op->next != NULL)
        op->next->prev = op->prev;
    else
        g->last = op->prev;
}

static bool alloc_op(prt_op *op, uint32_t n_in, uint32_t n_out, uint32_t n_regions)
{
    prt_graph *g = op->graph;
    prt_arena *arena = g->module->arena;
    op->in = PRT_NEW_N(arena, prt_use, n_in);
    op->out = PRT_NEW_N(arena, prt_value, n_out);
    op->regions = PRT_NEW_N(arena, prt_graph *, n_regions);
    if (op->in == NULL || op->out == NULL || op->regions == NULL)
        return false;
    op->n_in = n_in;
    op->n_out = n_out;
    op->n_regions = n_regions;
    for (uint32_t i = 0; i < n_in; i++)
        op->in[i].user = op;
    for (uint32_t i = 0; i < n_out; i++) {
        init_value(g, &op->out[i]);
        op->out[i].slot = i;
        op->out[i].def = op;
    }
    for (uint32_t i = 0; i < n_regions; i++)
        if ((op->regions[i] = prt_graph_create(g->module, op)) == NULL)
            return false;
    return true;
}

prt_op *prt_graph_add_op(prt_graph *graph, prt_op *before, const prt_op_def *def, uint32_t n_in,
    uint32_t n_out, uint32_t n_regions)
{
    prt_module *m = graph->module;
    prt_op *op = PRT_NEW(m->arena, prt_op);
    if (op == NULL)
        return NULL;
    op->graph = graph;
    op->def = def;
    op->id = graph->n_ops++;
    op->origin = op->merged = op->domain = op->name = PRT_STR("");
    if (!alloc_op(op, n_in, n_out, n_regions))
        return NULL;
    if (def != NULL) {
        op->domain = prt_str_of(def->domain);
        op->name = prt_str_of(def->name);
        op->attrs = prt_arena_copy(m->arena, def->defaults, def->attrs_size);
        if (op->attrs == NULL)
            return NULL;
        m->has_state = m->has_state || (def->traits & PRT_STATEFUL) != 0;
    }
    link_op(op, before);
    return op;
}

bool prt_use_writes(const prt_use *use)
{
    const prt_op *op = use->user;
    const uint32_t in = (uint32_t)(use - op->in);
    return op->def != NULL &&
        ((in == 0 && (op->def->traits & PRT_STATEFUL) != 0) ||
            prt_op_changes_input(op->def, op->attrs, in));
}

bool prt_value_is_fixed(const prt_value *value)
{
    if (!prt_value_is_constant(value))
        return false;
    for (const prt_use *u = value->graph->module->has_state ? value->uses : NULL; u != NULL;
         u = u->next)
        if (prt_use_writes(u))
            return false;
    return true;
}

static void drop_use(prt_use *use)
{
    if (use->value == NULL)
        return;
    if (use->prev != NULL)
        use->prev->next = use->next;
    else
        use->value->uses = use->next;
    if (use->next != NULL)
        use->next->prev = use->prev;
    use->value = NULL;
    use->next = use->prev = NULL;
}

static void take_use(prt_use *use, prt_value *value)
{
    use->value = value;
    if (value == NULL)
        return;
    use->prev = NULL;
    use->next = value->uses;
    if (value->uses != NULL)
        value->uses->prev = use;
    value->uses = use;
}

void prt_op_set_input(prt_op *op, uint32_t slot, prt_value *value)
{
    PRT_ASSERT(slot < op->n_in);
    if (op->in[slot].value == value)
        return;
    drop_use(&op->in[slot]);
    take_use(&op->in[slot], value);
    prt_op_touch(op);
}

poprt_status prt_op_add_input(prt_op *op, prt_value *value)
{
    prt_use *grown = PRT_NEW_N(op->graph->module->arena, prt_use, (size_t)op->n_in + 1);
    if (grown == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++) {
        prt_value *moved = op->in[i].value;
        drop_use(&op->in[i]);
        grown[i].user = op;
        take_use(&grown[i], moved);
    }
    grown[op->n_in].user = op;
    take_use(&grown[op->n_in], value);
    op->in = grown;
    op->n_in++;
    prt_op_touch(op);
    return POPRT_OK;
}

poprt_status prt_graph_claim_name(prt_map *names, prt_str name, const prt_value *value, bool *clash)
{
    const prt_value *other = name.size != 0 ? prt_map_find(names, name) : NULL;
    *clash = other != NULL && other != value;
    return *clash || name.size == 0 || value == NULL
        ? POPRT_OK
        : prt_map_set(names, name, (void *)(uintptr_t)value);
}

poprt_status prt_graph_set_outputs(prt_graph *graph, uint32_t count, prt_value *const *values,
    const prt_str *names)
{
    prt_arena *arena = graph->module->arena;
    prt_op *ret = graph->ret;
    for (uint32_t i = 0; i < ret->n_in; i++)
        drop_use(&ret->in[i]);
    prt_use *in = PRT_NEW_N(arena, prt_use, count);
    prt_str *copy = prt_arena_copy(arena, names, count * sizeof(prt_str));
    if (in == NULL || copy == NULL)
        return POPRT_E_NOMEM;
    ret->in = in;
    ret->n_in = count;
    for (uint32_t i = 0; i < count; i++) {
        in[i].user = ret;
        take_use(&in[i], values[i]);
    }
    graph->output_names = (prt_strs){ copy, count };
    return POPRT_OK;
}

void prt_value_replace(prt_value *from, prt_value *to)
{
    if (from == to)
        return;
    while (from->uses != NULL) {
        prt_use *use = from->uses;
        drop_use(use);
        take_use(use, to);
        prt_op_touch(use->user);
        /* A change in a region invalidates the source bytes of all ops that own it. */
        for (prt_op *o = use->user->graph->owner; o != NULL; o = o->graph->owner)
            prt_op_touch(o);
    }
}

static void erase_graph(prt_graph *graph)
{
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        drop_use(&graph->ret->in[i]);
    while (graph->last != NULL)
        prt_op_erase(graph->last);
}

void prt_op_erase(prt_op *op)
{
    PRT_ASSERT(!op->dead);
    for (uint32_t i = 0; i < op->n_in; i++)
        drop_use(&op->in[i]);
    for (uint32_t i = 0; i < op->n_regions; i++)
        erase_graph(op->regions[i]);
    for (uint32_t i = 0; i < op->n_out; i++)
        PRT_ASSERT(op->out[i].uses == NULL);
    unlink_op(op);
    op->dead = true;
    for (prt_op *o = op->graph->owner; o != NULL; o = o->graph->owner)
        prt_op_touch(o);
}

void prt_op_move_before(prt_op *op, prt_op *before)
{
    if (op == before)
        return;
    unlink_op(op);
    link_op(op, before);
}

static void adopt_value(prt_graph *graph, prt_value *value)
{
    value->graph = graph;
    value->id = graph->n_values++;
}

poprt_status prt_graph_inline(prt_graph *region, prt_graph *to, prt_op *before)
{
    PRT_ASSERT(region->inputs.count == 0);
    for (size_t i = 0; i < region->constants.count; i++) {
        if (!PRT_VEC_PUSH(to->module->arena, &to->constants, region->constants.data[i])) {
            region->constants.count -= i;
            memmove(region->constants.data, region->constants.data + i,
                region->constants.count * sizeof(prt_value *));
            return POPRT_E_NOMEM;
        }
        adopt_value(to, region->constants.data[i]);
    }
    region->constants.count = 0;
    while (region->first != NULL) {
        prt_op *op = region->first;
        unlink_op(op);
        op->graph = to;
        op->id = to->n_ops++;
        link_op(op, before);
        for (uint32_t i = 0; i < op->n_out; i++)
            adopt_value(to, &op->out[i]);
    }
    for (prt_op *o = to->owner; o != NULL; o = o->graph->owner)
        prt_op_touch(o);
    return POPRT_OK;
}

bool prt_value_tensor(const prt_value *value, prt_tensor *out)
{
    if (value == NULL || value->constant == NULL || !prt_type_is_static(value->type) ||
        value->type->rank > PRT_MAX_RANK)
        return false;
    return prt_tensor_init(out, value->type->dtype, (uint32_t)value->type->rank, value->type->dims,
        (void *)(uintptr_t)value->constant->data);
}

bool prt_value_aligned(const prt_value *value, prt_arena *arena, prt_tensor *out)
{
    if (!prt_value_tensor(value, out))
        return false;
    const size_t unit =
        out->dtype == PRT_DTYPE_string ? sizeof(void *) : (size_t)prt_dtype_bits(out->dtype) / 8;
    if (unit <= 1 || (uintptr_t)out->data % unit == 0)
        return true;
    out->data = prt_arena_copy(arena, out->data, out->size);
    return out->data != NULL;
}

/* Releases the module's reference to a blob. Searches from the end, because the blob is most likely
 * a recent one. */
static void forget_blob(prt_module *m, const prt_blob *blob)
{
    for (size_t i = m->blobs.count; i-- > 0;)
        if (m->blobs.data[i] == blob) {
            prt_blob_release(m->blobs.data[i]);
            memmove(&m->blobs.data[i], &m->blobs.data[i + 1],
                (m->blobs.count - i - 1) * sizeof(prt_blob *));
            m->blobs.count--;
            return;
        }
}

size_t prt_graph_drop_constants(prt_graph *graph, bool unnamed_only)
{
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < graph->constants.count; i++) {
        prt_value *v = graph->constants.data[i];
        if (prt_value_used(v) || (unnamed_only && v->name.size != 0)) {
            graph->constants.data[kept++] = v;
            continue;
        }
        forget_blob(graph->module, v->constant);
        v->constant = NULL;
        v->name = PRT_STR("");
        dropped++;
    }
    graph->constants.count = kept;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            dropped += prt_graph_drop_constants(op->regions[i], unnamed_only);
    return dropped;
}

const char *prt_op_label(const prt_op *op)
{
    if (op->origin.size != 0)
        return op->origin.data;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].name.size != 0)
            return op->out[i].name.data;
    return op->name.data;
}
