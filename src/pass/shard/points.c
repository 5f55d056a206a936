/* SPDX-License-Identifier: MIT */
/*
 * points.c — conversion of sharding points to marked nodes, and back.
 *
 * prt_shard_points_of is the inverse of prt_shard_apply. On every path from a node to a point of
 * another place, there is a last node with the node's own place before the path leaves that place.
 * That node is a point and precedes the other point in the list, so it took the node first, unless
 * an even earlier point of the same place did.
 */
#include "pass/shard/points.h"

#include "ir/extra.h"

/* ---- names */

/* The first node with a name, and whether there are more. */
typedef struct named {
    prt_op *op;
    bool twice;
} named;

poprt_status prt_shard_names(prt_arena *arena, const prt_graph *graph, prt_map *out)
{
    *out = prt_map_in(arena);
    prt_for_each_op (op, graph) {
        if (op->origin.size == 0)
            continue;
        named *node = prt_map_find(out, op->origin);
        if (node != NULL) {
            node->twice = true;
            continue;
        }
        node = PRT_NEW(arena, named);
        if (node == NULL)
            return POPRT_E_NOMEM;
        node->op = op;
        PRT_TRY(prt_map_set(out, op->origin, node));
    }
    return POPRT_OK;
}

poprt_status prt_shard_find(const prt_map *names, const char *name, prt_op **out)
{
    const named *node = prt_map_find(names, prt_str_of(name));
    if (node == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, name, "the main graph has no node of this name");
    if (node->twice)
        return prt_fail(POPRT_E_ARG, name,
            "two nodes have this name; the pass unique_name_for_nodes makes names unique");
    *out = node->op;
    return POPRT_OK;
}

/* ---- from points to marks */

typedef struct walk {
    prt_pass *p;
    prt_graph *graph;
    bool *assigned; /* by op id */
    PRT_VEC(prt_op *) list;
} walk;

static poprt_status assign(walk *w, prt_op *op, int64_t device, int64_t stage)
{
    w->assigned[op->id] = true;
    if (device >= 0)
        PRT_TRY(prt_op_set_mark_i64(op, PRT_MARK_DEVICE, device));
    return stage >= 0 ? prt_op_set_mark_i64(op, PRT_MARK_STAGE, stage) : POPRT_OK;
}

static poprt_status push_producer(walk *w, const prt_value *v)
{
    if (v == NULL || v->def == NULL || v->graph != w->graph || w->assigned[v->def->id])
        return POPRT_OK;
    return PRT_VEC_PUSH(w->p->arena, &w->list, v->def) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Adds the producers of everything an op reads, in its regions too. */
static poprt_status push_producers(walk *w, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        PRT_TRY(push_producer(w, op->in[i].value));
    for (uint32_t r = 0; r < op->n_regions; r++) {
        prt_for_each_op (inner, op->regions[r])
            PRT_TRY(push_producers(w, inner));
        PRT_TRY(push_producers(w, op->regions[r]->ret));
    }
    return POPRT_OK;
}

static poprt_status assign_inputs(walk *w, const prt_shard_point *at)
{
    w->list.count = 0;
    if (w->assigned[at->op->id])
        return POPRT_OK;
    if (!PRT_VEC_PUSH(w->p->arena, &w->list, at->op))
        return POPRT_E_NOMEM;
    while (w->list.count != 0) {
        prt_op *op = w->list.data[--w->list.count];
        PRT_TRY(prt_pass_check(w->p));
        if (w->assigned[op->id])
            continue;
        PRT_TRY(assign(w, op, at->device, at->stage));
        PRT_TRY(push_producers(w, op));
    }
    return POPRT_OK;
}

poprt_status prt_shard_apply(prt_pass *p, prt_graph *graph, const prt_shard_point *points)
{
    walk w = { .p = p, .graph = graph };
    int64_t device = -1, stage = -1;
    bool any = false;
    w.assigned = PRT_NEW_N(p->arena, bool, graph->n_ops);
    if (w.assigned == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, graph) {
        const prt_shard_point *at = &points[op->id];
        if (at->op == NULL)
            continue;
        PRT_TRY(assign_inputs(&w, at));
        device = at->device > device ? at->device : device;
        stage = at->stage > stage ? at->stage : stage;
        any = true;
    }
    if (!any)
        return prt_fail(POPRT_E_ARG, "sharding_info",
            "no node is named at which to shard the model");
    prt_for_each_op (op, graph)
        if (!w.assigned[op->id])
            PRT_TRY(assign(&w, op, device >= 0 ? device + 1 : -1, stage >= 0 ? stage + 1 : -1));
    return POPRT_OK;
}

/* ---- and back */

static bool same_place(const prt_shard_point *a, const prt_shard_point *b)
{
    return a->device == b->device && a->stage == b->stage;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Marks the nodes that a node of another place reads, and the nodes that no node reads. */
static bool *find_borders(prt_arena *arena, const prt_net *net, const prt_shard_point *places)
{
    bool *read = PRT_NEW_N(arena, bool, net->n_nodes),
         *border = PRT_NEW_N(arena, bool, net->n_nodes);
    if (read == NULL || border == NULL)
        return NULL;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        for (uint32_t k = 0; k < net->nodes[i].count; k++) {
            const uint32_t maker = net->values[net->reads.data[net->nodes[i].first + k]].maker;
            if (maker == PRT_NET_NONE)
                continue;
            read[maker] = true;
            border[maker] = border[maker] || !same_place(&places[i], &places[maker]);
        }
    for (uint32_t i = 0; i < net->n_nodes; i++)
        border[i] = border[i] || !read[i];
    return border;
}

/* Returns whether `last` is the place of the remaining nodes: it has the next numbers, and no other
 * place reads it. */
static bool is_rest(const prt_net *net, const prt_shard_point *places, const prt_shard_point *last)
{
    int64_t device = -1, stage = -1;
    bool others = false;
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        if (same_place(&places[i], last))
            continue;
        others = true;
        device = larger(device, places[i].device);
        stage = larger(stage, places[i].stage);
        for (uint32_t k = 0; k < net->nodes[i].count; k++) {
            const uint32_t maker = net->values[net->reads.data[net->nodes[i].first + k]].maker;
            if (maker != PRT_NET_NONE && same_place(&places[maker], last))
                return false;
        }
    }
    return others && last->device == (device >= 0 ? device + 1 : -1) &&
        last->stage == (stage >= 0 ? stage + 1 : -1);
}

static poprt_status check_names(prt_arena *arena, const prt_net *net,
    const prt_shard_points *points)
{
    prt_map names;
    prt_op *op;
    if (net->n_nodes == 0)
        return POPRT_OK;
    PRT_TRY(prt_shard_names(arena, net->nodes[0].op->graph, &names));
    for (size_t i = 0; i < points->count; i++) {
        op = points->data[i].op;
        if (op->origin.size == 0)
            return prt_fail(POPRT_E_ARG, prt_op_label(op),
                "the node has no name; the pass unique_name_for_nodes gives one");
        PRT_TRY(prt_shard_find(&names, op->origin.data, &op));
    }
    return POPRT_OK;
}

poprt_status prt_shard_points_of(prt_arena *arena, const prt_net *net,
    const prt_shard_point *places, prt_shard_points *out)
{
    prt_shard_point last = { NULL, -1, -1 };
    const bool *border = find_borders(arena, net, places);
    if (border == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        last.device = larger(last.device, places[i].device);
        last.stage = larger(last.stage, places[i].stage);
    }
    const bool rest = is_rest(net, places, &last);
    for (uint32_t i = 0; i < net->n_nodes; i++)
        if (border[i] && !(rest && same_place(&places[i], &last)) &&
            !PRT_VEC_PUSH(arena, out, places[i]))
            return POPRT_E_NOMEM;
    return check_names(arena, net, out);
}
