/* SPDX-License-Identifier: MIT */
/*
 * parts.c — walks of the candidates, and the dependencies between parts.
 *
 * If the subgraph of a walk is too light, later walks visit its nodes again; many light candidates
 * in a row therefore cost quadratic time. After MAX_STEPS every subgraph is kept.
 */
#include "pass/shard/parts.h"

enum { MAX_STEPS = 50 * 1000 * 1000, TICK = 1024 };

typedef struct finder {
    const prt_pass *p;
    const prt_net *net;
    prt_parts *parts;
    uint32_t *stack, *taken; /* nodes of the current walk */
    uint32_t depth, n_taken;
    uint64_t steps, n_visits;
    double least_bytes, least_flops;
} finder;

/* Returns the node that makes the k-th read of a node; PRT_NET_NONE if no node does. */
static uint32_t producer_of(const prt_net *net, uint32_t node, uint32_t k)
{
    return net->values[net->reads.data[net->nodes[node].first + k]].maker;
}

static void visit(finder *f, uint32_t node, uint32_t part)
{
    if (f->parts->of_node[node] != PRT_NET_NONE)
        return;
    f->parts->of_node[node] = part;
    f->stack[f->depth++] = node;
    f->taken[f->n_taken++] = node;
}

/* Walks from one candidate. Its nodes form a new part unless the subgraph is too light. */
static poprt_status walk(finder *f, uint32_t candidate, bool keep)
{
    prt_parts *parts = f->parts;
    prt_part *part = &parts->part[parts->count];
    *part = (prt_part){ .bytes = 0 };
    f->depth = f->n_taken = 0;
    visit(f, candidate, parts->count);
    while (f->depth != 0) {
        const uint32_t node = f->stack[--f->depth];
        if (f->n_visits++ % TICK == 0)
            PRT_TRY(prt_pass_check(f->p));
        part->bytes = prt_saturating_add(part->bytes, f->net->nodes[node].bytes);
        part->flops = prt_saturating_add(part->flops, f->net->nodes[node].flops);
        f->steps += 1 + f->net->nodes[node].count;
        for (uint32_t k = 0; k < f->net->nodes[node].count; k++)
            if (producer_of(f->net, node, k) != PRT_NET_NONE)
                visit(f, producer_of(f->net, node, k), parts->count);
    }
    keep = keep || f->steps > MAX_STEPS ||
        ((double)part->bytes >= f->least_bytes && (double)part->flops >= f->least_flops);
    parts->count += keep && f->n_taken != 0;
    for (uint32_t i = 0; i < f->n_taken && !keep; i++)
        parts->of_node[f->taken[i]] = PRT_NET_NONE;
    return POPRT_OK;
}

static void add_rest(finder *f)
{
    prt_parts *parts = f->parts;
    prt_part *part = &parts->part[parts->count];
    bool any = false;
    *part = (prt_part){ .bytes = 0 };
    for (uint32_t i = 0; i < f->net->n_nodes; i++) {
        if (parts->of_node[i] != PRT_NET_NONE)
            continue;
        parts->of_node[i] = parts->count;
        part->bytes = prt_saturating_add(part->bytes, f->net->nodes[i].bytes);
        part->flops = prt_saturating_add(part->flops, f->net->nodes[i].flops);
        any = true;
    }
    parts->count += any;
}

/* ---- nodes and neighbours of the parts */

static poprt_status list_nodes(const prt_pass *p, const prt_net *net, prt_parts *parts)
{
    uint32_t at = 0;
    parts->node = PRT_NEW_N(p->arena, uint32_t, net->n_nodes);
    if (parts->node == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        parts->part[parts->of_node[i]].n_nodes++;
    for (uint32_t k = 0; k < parts->count; k++) {
        parts->part[k].first_node = at;
        at += parts->part[k].n_nodes;
        parts->part[k].n_nodes = 0;
    }
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        prt_part *part = &parts->part[parts->of_node[i]];
        parts->node[part->first_node + part->n_nodes++] = i;
    }
    return POPRT_OK;
}

/* Lists the parts that each part reads, once each: without `from` only counts them, with `from`
 * stores them. */
static uint32_t list_sources(const prt_net *net, prt_parts *parts, uint32_t *seen, uint32_t *from)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < parts->count; k++)
        seen[k] = PRT_NET_NONE;
    for (uint32_t k = 0; k < parts->count; k++) {
        prt_part *part = &parts->part[k];
        part->first_from = at;
        for (uint32_t i = 0; i < part->n_nodes; i++) {
            const uint32_t node = parts->node[part->first_node + i];
            for (uint32_t r = 0; r < net->nodes[node].count; r++) {
                const uint32_t maker = producer_of(net, node, r);
                const uint32_t source = maker != PRT_NET_NONE ? parts->of_node[maker] : k;
                if (source == k || seen[source] == k)
                    continue;
                seen[source] = k;
                if (from != NULL)
                    from[at] = source;
                at++;
            }
        }
        part->n_from = at - part->first_from;
    }
    return at;
}

static poprt_status list_neighbours(const prt_pass *p, const prt_net *net, prt_parts *parts)
{
    uint32_t *seen = PRT_NEW_N(p->arena, uint32_t, parts->count), at = 0;
    if (seen == NULL)
        return POPRT_E_NOMEM;
    const uint32_t count = list_sources(net, parts, seen, NULL);
    parts->from = PRT_NEW_N(p->arena, uint32_t, count);
    parts->to = PRT_NEW_N(p->arena, uint32_t, count);
    if (parts->from == NULL || parts->to == NULL)
        return POPRT_E_NOMEM;
    (void)list_sources(net, parts, seen, parts->from);
    for (uint32_t i = 0; i < count; i++)
        parts->part[parts->from[i]].n_to++;
    for (uint32_t k = 0; k < parts->count; k++) {
        parts->part[k].first_to = at;
        at += parts->part[k].n_to;
        parts->part[k].n_to = 0;
    }
    for (uint32_t k = 0; k < parts->count; k++)
        for (uint32_t i = 0; i < parts->part[k].n_from; i++) {
            prt_part *source = &parts->part[parts->from[parts->part[k].first_from + i]];
            parts->to[source->first_to + source->n_to++] = k;
        }
    return POPRT_OK;
}

/* ---- all parts */

static poprt_status walk_all(finder *f, prt_parts_by by)
{
    uint32_t candidates = 0;
    double bytes = 0, flops = 0;
    for (uint32_t i = 0; i < f->net->n_nodes; i++) {
        candidates += f->net->nodes[i].joins;
        bytes += (double)f->net->nodes[i].bytes;
        flops += (double)f->net->nodes[i].flops;
        f->parts->bytes = prt_saturating_add(f->parts->bytes, f->net->nodes[i].bytes);
    }
    const bool all = by != PRT_PARTS_JOINS || candidates == 0;
    candidates = all ? f->net->n_nodes : candidates;
    f->least_bytes = bytes / candidates;
    f->least_flops = flops / candidates;
    for (uint32_t i = 0; i < f->net->n_nodes; i++)
        if ((all || f->net->nodes[i].joins) && f->parts->of_node[i] == PRT_NET_NONE)
            PRT_TRY(walk(f, i, by == PRT_PARTS_SINGLE));
    add_rest(f);
    return POPRT_OK;
}

poprt_status prt_parts_find(const prt_pass *p, const prt_net *net, prt_parts_by by, prt_parts *out)
{
    finder f = { .p = p, .net = net, .parts = out };
    *out = (prt_parts){ .count = 0 };
    out->part = PRT_NEW_N(p->arena, prt_part, (size_t)net->n_nodes + 1);
    out->of_node = PRT_NEW_N(p->arena, uint32_t, net->n_nodes);
    f.stack = PRT_NEW_N(p->arena, uint32_t, net->n_nodes);
    f.taken = PRT_NEW_N(p->arena, uint32_t, net->n_nodes);
    if (out->part == NULL || out->of_node == NULL || f.stack == NULL || f.taken == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < net->n_nodes; i++)
        out->of_node[i] = PRT_NET_NONE;
    if (net->n_nodes != 0)
        PRT_TRY(walk_all(&f, by));
    PRT_TRY(list_nodes(p, net, out));
    return list_neighbours(p, net, out);
}
