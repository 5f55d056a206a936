/* SPDX-License-Identifier: MIT */
/* net.c — the graph as arrays, and two walks over a device's nodes that compute its needs. */
#include "pass/shard/net.h"

#include "ir/flops.h"

enum { MAX_DEPTH = 256 };

/* Special values of prt_meter.last beside node indices: live until the end; already freed. */
#define TO_THE_END UINT32_MAX
#define FREED (UINT32_MAX - 1)

/* ---- building */

typedef struct builder {
    prt_arena *arena;
    const prt_graph *graph;
    prt_net *net;
    bool incomplete; /* a size of the current node is unknown */
} builder;

/* Returns the bytes of a value; 0 for values that are not tensors or are unused. */
static uint64_t size_of(builder *b, const prt_value *v)
{
    size_t size = 0;
    if (v->constant != NULL)
        return v->constant->size;
    if (v->def != NULL && v->name.size == 0 && v->uses == NULL)
        return 0;
    if (!prt_type_size(v->type, &size))
        b->incomplete = true;
    return size;
}

static poprt_status add_read(builder *b, prt_net_node *node, const prt_value *v, bool counts)
{
    if (v == NULL || v->graph != b->graph)
        return POPRT_OK;
    if (v->constant != NULL && counts)
        node->bytes = prt_saturating_add(node->bytes, v->constant->size);
    node->count++;
    return PRT_VEC_PUSH(b->arena, &b->net->reads, v->id) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Adds the values that a region reads from the graph, its constants, and the bytes of the values it
 * computes. */
static poprt_status add_region(builder *b, prt_net_node *node, const prt_graph *region,
    uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, node->op->origin.data, "regions are nested too deeply");
    for (size_t i = 0; i < region->constants.count; i++)
        node->own = prt_saturating_add(node->own, region->constants.data[i]->constant->size);
    prt_for_each_op (op, region) {
        for (uint32_t i = 0; i < op->n_in; i++)
            PRT_TRY(add_read(b, node, op->in[i].value, true));
        for (uint32_t i = 0; i < op->n_out; i++)
            node->inside = prt_saturating_add(node->inside, size_of(b, &op->out[i]));
        for (uint32_t r = 0; r < op->n_regions; r++)
            PRT_TRY(add_region(b, node, op->regions[r], depth + 1));
    }
    for (uint32_t i = 0; i < region->ret->n_in; i++)
        PRT_TRY(add_read(b, node, region->ret->in[i].value, true));
    return POPRT_OK;
}

static bool only_moves_weights(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_slice) ||
        prt_op_is(op, PRT_OP_tile) || prt_op_is(op, PRT_OP_expand);
}

static poprt_status add_node(builder *b, prt_op *op, uint32_t index)
{
    prt_net *net = b->net;
    prt_net_node *node = &net->nodes[index];
    uint32_t given = 0;
    uint64_t unknown = 0;
    *node = (prt_net_node){ .op = op, .first = (uint32_t)net->reads.count };
    b->incomplete = false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        given += v != NULL && v->constant == NULL;
        PRT_TRY(add_read(b, node, v, !only_moves_weights(op)));
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_net_value *made = &net->values[op->out[i].id];
        made->maker = index;
        made->size = size_of(b, &op->out[i]);
    }
    for (uint32_t r = 0; r < op->n_regions; r++)
        PRT_TRY(add_region(b, node, op->regions[r], 0));
    node->bytes = prt_saturating_add(node->bytes, node->own);
    node->joins = given > 1;
    node->flops = prt_op_flops_within(op, &unknown);
    if (unknown != 0 || b->incomplete) {
        if (net->unknown++ == 0)
            net->unknown_from = op;
    }
    return POPRT_OK;
}

static void add_value(builder *b, const prt_value *v, bool weight)
{
    prt_net_value *to = &b->net->values[v->id];
    to->weight = weight;
    to->size = size_of(b, v);
}

poprt_status prt_net_build(prt_arena *arena, const prt_graph *graph, prt_net *out)
{
    builder b = { .arena = arena, .graph = graph, .net = out };
    uint32_t n = 0;
    *out = (prt_net){ .n_values = graph->n_values };
    prt_for_each_op (op, graph)
        out->n_nodes++;
    out->nodes = PRT_NEW_N(arena, prt_net_node, out->n_nodes);
    out->values = PRT_NEW_N(arena, prt_net_value, out->n_values);
    if (out->nodes == NULL || out->values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < out->n_values; i++)
        out->values[i].maker = PRT_NET_NONE;
    for (size_t i = 0; i < graph->inputs.count; i++)
        add_value(&b, graph->inputs.data[i], graph->inputs.data[i]->constant != NULL);
    for (size_t i = 0; i < graph->constants.count; i++)
        add_value(&b, graph->constants.data[i], true);
    prt_for_each_op (op, graph)
        PRT_TRY(add_node(&b, op, n++));
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        const prt_value *v = graph->ret->in[i].value;
        if (v != NULL && v->graph == graph)
            out->values[v->id].output = true;
    }
    return POPRT_OK;
}

/* ---- measuring */

poprt_status prt_meter_init(prt_arena *arena, const prt_net *net, prt_meter *out)
{
    *out = (prt_meter){ .net = net };
    out->seen = PRT_NEW_N(arena, uint32_t, net->n_values);
    out->root = PRT_NEW_N(arena, uint32_t, net->n_values);
    out->last = PRT_NEW_N(arena, uint32_t, net->n_values);
    return out->seen != NULL && out->root != NULL && out->last != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void touch(prt_meter *m, uint32_t value, uint32_t at)
{
    uint32_t *last = &m->last[m->root[value]];
    *last = *last == TO_THE_END ? TO_THE_END : at;
}

static void mark_seen(prt_meter *m, uint32_t value, uint32_t root)
{
    m->seen[value] = m->round;
    m->root[value] = root;
    if (root == value)
        m->last[value] = 0;
}

/* Returns the value whose memory an output uses: itself, or the value that a view refers to. */
static uint32_t root_of(const prt_meter *m, const prt_op *op, uint32_t slot)
{
    const prt_value *of = prt_op_input(op, 0);
    const bool view = op->def != NULL && (op->def->traits & PRT_VIEW) != 0 && slot == 0 &&
        of != NULL && of->graph == op->graph;
    return view ? m->root[of->id] : op->out[slot].id;
}

/* Records the values that a node reads and computes, and where each is last needed. */
static void follow(prt_meter *m, uint32_t index, prt_shard_need *need)
{
    const prt_net *net = m->net;
    const prt_net_node *node = &net->nodes[index];
    for (uint32_t k = 0; k < node->count; k++) {
        const uint32_t v = net->reads.data[node->first + k];
        if (m->seen[v] != m->round) {
            uint64_t *to = net->values[v].weight ? &need->weights : &need->received;
            *to = prt_saturating_add(*to, net->values[v].size);
            mark_seen(m, v, v);
        }
        touch(m, v, index);
    }
    for (uint32_t k = 0; k < node->op->n_out; k++) {
        const uint32_t v = node->op->out[k].id;
        mark_seen(m, v, root_of(m, node->op, k));
        touch(m, v, net->values[v].output ? TO_THE_END : index);
    }
    need->nodes++;
    need->weights = prt_saturating_add(need->weights, node->own);
    need->flops = prt_saturating_add(need->flops, node->flops);
}

/* Frees a value computed on the device if nothing needs it after the node. */
static void free_value(prt_meter *m, const uint32_t *device_of, uint32_t device, uint32_t value,
    uint32_t at, uint64_t *live)
{
    const uint32_t root = m->root[value], maker = m->net->values[root].maker;
    if (m->last[root] != at || maker == PRT_NET_NONE || device_of[maker] != device)
        return;
    const uint64_t size = m->net->values[root].size;
    *live = *live > size ? *live - size : 0;
    m->last[root] = FREED;
}

void prt_meter_read(prt_meter *m, const uint32_t *device_of, uint32_t device, prt_shard_need *out)
{
    const prt_net *net = m->net;
    uint64_t live = 0;
    *out = (prt_shard_need){ .nodes = 0 };
    m->round++;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        if (device_of[i] == device)
            follow(m, i, out);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        const prt_net_node *node = &net->nodes[i];
        if (device_of[i] != device)
            continue;
        for (uint32_t k = 0; k < node->op->n_out; k++)
            if (m->root[node->op->out[k].id] == node->op->out[k].id)
                live = prt_saturating_add(live, net->values[node->op->out[k].id].size);
        const uint64_t now = prt_saturating_add(live, node->inside);
        out->activations = now > out->activations ? now : out->activations;
        for (uint32_t k = 0; k < node->count; k++)
            free_value(m, device_of, device, net->reads.data[node->first + k], i, &live);
        for (uint32_t k = 0; k < node->op->n_out; k++)
            free_value(m, device_of, device, node->op->out[k].id, i, &live);
    }
    out->bytes =
        prt_saturating_add(out->weights, prt_saturating_add(out->activations, out->received));
}
