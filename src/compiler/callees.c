/* SPDX-License-Identifier: MIT */
/*
 * callees.c — callees of nodes such as Call: equal graphs of one name become one block, which a
 * program stores and plans once however often it is called. A callee that captures values of its
 * parent is shared by nodes of this parent only; a callee without captures by nodes of all blocks.
 */
#include "compiler/draft.h"
#include "ir/equal.h"

static bool has_captures(const prt_draft_block *b)
{
    for (size_t i = 0; i < b->buffers.count; i++)
        if (b->buffers.data[i].space == PRT_SPACE_CAPTURE)
            return true;
    return false;
}

/* Returns whether a block is an enclosing one of `inner`, or `inner` itself. */
static bool encloses(const prt_draft *d, uint32_t block, uint32_t inner)
{
    for (; inner != block; inner = d->blocks.data[inner]->parent)
        if (d->blocks.data[inner]->parent == inner)
            return false;
    return true;
}

uint32_t prt_compile_find_callee(prt_draft *d, uint32_t caller, const prt_graph *region)
{
    const prt_draft_callee *c = prt_map_find(&d->callees, region->name);
    for (; c != NULL; c = c->next) {
        const prt_draft_block *b = d->blocks.data[c->block];
        if ((b->parent != caller && has_captures(b)) || encloses(d, c->block, caller) ||
            !prt_graphs_equal(b->graph, region, d->arena))
            continue;
        d->unordered = d->unordered || c->block < caller;
        return c->block;
    }
    return UINT32_MAX;
}

poprt_status prt_compile_add_callee(prt_draft *d, uint32_t block)
{
    const prt_str name = d->blocks.data[block]->graph->name;
    prt_draft_callee *c = PRT_NEW(d->arena, prt_draft_callee);
    if (c == NULL)
        return POPRT_E_NOMEM;
    *c = (prt_draft_callee){ block, prt_map_find(&d->callees, name) };
    return prt_map_set(&d->callees, name, c);
}

/* The blocks in their new order. */
typedef struct order {
    const prt_draft *d;
    uint32_t *callers; /* by block: steps that run it and whose blocks have no place yet */
    uint32_t *index;   /* by block: its place */
    uint32_t count;
} order;

/* Gives a block its place, and then every body whose callers all have one. The recursion is as deep
 * as blocks are nested. */
static void place_block(order *o, uint32_t block)
{
    const prt_draft_block *b = o->d->blocks.data[block];
    o->index[block] = o->count++;
    for (size_t k = 0; k < b->steps.count; k++)
        for (uint32_t r = 0; r < b->steps.data[k].op->n_regions; r++) {
            const uint32_t body = b->steps.data[k].regions[r];
            if (--o->callers[body] == 0)
                place_block(o, body);
        }
}

poprt_status prt_compile_order_blocks(prt_draft *d)
{
    const size_t n = d->blocks.count;
    order o = { .d = d,
        .callers = PRT_NEW_N(d->arena, uint32_t, n),
        .index = PRT_NEW_N(d->arena, uint32_t, n) };
    prt_draft_block **old = prt_arena_copy(d->arena, d->blocks.data, n * sizeof(*old));
    if (o.callers == NULL || o.index == NULL || old == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < old[i]->steps.count; k++)
            for (uint32_t r = 0; r < old[i]->steps.data[k].op->n_regions; r++)
                o.callers[old[i]->steps.data[k].regions[r]]++;
    for (uint32_t i = 0; i < n; i++)
        if (old[i]->parent == i)
            place_block(&o, i);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < old[i]->steps.count; k++)
            for (uint32_t r = 0; r < old[i]->steps.data[k].op->n_regions; r++)
                old[i]->steps.data[k].regions[r] = o.index[old[i]->steps.data[k].regions[r]];
        old[i]->index = o.index[i];
        old[i]->parent = o.index[old[i]->parent];
        d->blocks.data[o.index[i]] = old[i];
    }
    for (size_t i = 0; i < d->entries.count; i++)
        d->entries.data[i].block = o.index[d->entries.data[i].block];
    return POPRT_OK;
}
