/* SPDX-License-Identifier: MIT */
/*
 * occupancy.c — see occupancy.h. A node holds the items alive at its middle step; items that end
 * earlier are in the left subtree, items that start later in the right one. The items of a node are
 * alive together, so that their bytes are disjoint and have an order. A query takes the runs of a
 * whole subtree or node where all of its items are alive during the query, and looks at the items
 * of at most one node on each level.
 */
#include "plan/occupancy.h"

#include <string.h>

enum { MOST_LEVELS = 33 }; /* of a tree over 32-bit steps */

typedef struct item {
    prt_run bytes;
    uint32_t first, last;
} item;

typedef struct prt_occupancy_node {
    item *items; /* in rising order of their bytes */
    uint32_t count, capacity;
    prt_runs own; /* union of `items` */
    prt_runs all; /* union of the items of the subtree */
} node;

static bool reserve(prt_arena *arena, prt_runs *runs, size_t more)
{
    if (runs->capacity - runs->count >= more)
        return true;
    const size_t capacity = 2 * ((size_t)runs->count + more) + 2;
    prt_run *data = prt_arena_alloc_raw(arena, capacity * sizeof(*data));
    if (data == NULL)
        return false;
    if (runs->count != 0)
        memcpy(data, runs->data, runs->count * sizeof(*data));
    runs->data = data;
    runs->capacity = (uint32_t)capacity;
    return true;
}

/* Adds bytes behind sorted runs, where they may overlap the last one. The caller has reserved the
 * memory. */
static inline void push(prt_runs *runs, prt_run bytes)
{
    if (runs->count == 0 || runs->data[runs->count - 1].end < bytes.start)
        runs->data[runs->count++] = bytes;
    else if (runs->data[runs->count - 1].end < bytes.end)
        runs->data[runs->count - 1].end = bytes.end;
}

/* Adds bytes to sorted runs and joins the runs that they touch. */
static bool insert_run(prt_arena *arena, prt_runs *runs, prt_run bytes)
{
    uint32_t at = 0, end = runs->count;
    while (at < end) {
        const uint32_t mid = at + (end - at) / 2;
        if (runs->data[mid].end < bytes.start)
            at = mid + 1;
        else
            end = mid;
    }
    for (; end < runs->count && runs->data[end].start <= bytes.end; end++) {
        const prt_run *r = &runs->data[end];
        bytes.start = r->start < bytes.start ? r->start : bytes.start;
        bytes.end = r->end > bytes.end ? r->end : bytes.end;
    }
    if (!reserve(arena, runs, 1))
        return false;
    memmove(runs->data + at + 1, runs->data + end, (runs->count - end) * sizeof(*runs->data));
    runs->data[at] = bytes;
    runs->count = runs->count - (end - at) + 1;
    return true;
}

static bool insert_item(prt_arena *arena, node *n, item x)
{
    uint32_t at = 0, end = n->count;
    if (n->count == n->capacity) {
        const size_t capacity = 2 * (size_t)n->capacity + 2;
        item *items = prt_arena_alloc_raw(arena, capacity * sizeof(*items));
        if (items == NULL)
            return false;
        if (n->count != 0)
            memcpy(items, n->items, n->count * sizeof(*items));
        n->items = items;
        n->capacity = (uint32_t)capacity;
    }
    while (at < end) {
        const uint32_t mid = at + (end - at) / 2;
        if (n->items[mid].bytes.start < x.bytes.start)
            at = mid + 1;
        else
            end = mid;
    }
    memmove(n->items + at + 1, n->items + at, (n->count - at) * sizeof(*n->items));
    n->items[at] = x;
    n->count++;
    return insert_run(arena, &n->own, x.bytes);
}

poprt_status prt_occupancy_init(prt_occupancy *o, prt_arena *arena, uint32_t n_steps)
{
    *o = (prt_occupancy){ .arena = arena, .n_steps = n_steps };
    o->nodes = PRT_NEW_N(arena, node, n_steps);
    o->starts = PRT_NEW_N(arena, uint32_t, 4 * MOST_LEVELS);
    return o->nodes != NULL && o->starts != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

void prt_occupancy_clear(prt_occupancy *o)
{
    for (uint32_t i = 0; i < o->n_steps; i++)
        o->nodes[i].count = o->nodes[i].own.count = o->nodes[i].all.count = 0;
}

poprt_status prt_occupancy_add(prt_occupancy *o, uint32_t first, uint32_t last, prt_run bytes)
{
    uint32_t low = 0, high = o->n_steps;
    for (;;) {
        const uint32_t mid = low + (high - low) / 2;
        node *n = &o->nodes[mid];
        if (!insert_run(o->arena, &n->all, bytes))
            return POPRT_E_NOMEM;
        if (first <= mid && mid <= last)
            return insert_item(o->arena, n, (item){ bytes, first, last }) ? POPRT_OK
                                                                          : POPRT_E_NOMEM;
        if (last < mid)
            high = mid;
        else
            low = mid + 1;
    }
}

/* Appends a sorted list to the result. */
static bool append(prt_occupancy *o, const prt_runs *runs)
{
    if (runs->count == 0)
        return true;
    if (!reserve(o->arena, &o->found, runs->count))
        return false;
    o->starts[o->n_starts++] = o->found.count;
    memcpy(o->found.data + o->found.count, runs->data, runs->count * sizeof(*runs->data));
    o->found.count += runs->count;
    return true;
}

/* Appends the items of a node that are alive during some step of first to last. */
static bool append_alive(prt_occupancy *o, const node *n, uint32_t first, uint32_t last)
{
    if (!reserve(o->arena, &o->found, n->count))
        return false;
    prt_runs list = { .data = o->found.data + o->found.count };
    for (uint32_t i = 0; i < n->count; i++)
        if (n->items[i].first <= last && first <= n->items[i].last)
            push(&list, n->items[i].bytes);
    if (list.count != 0)
        o->starts[o->n_starts++] = o->found.count;
    o->found.count += list.count;
    return true;
}

/* The recursion is as deep as the tree. Two nodes of a level are looked at, one at each end of the
 * query, and two subtrees are taken as a whole. */
static bool find(prt_occupancy *o, uint32_t low, uint32_t high, uint32_t first, uint32_t last)
{
    if (low >= high)
        return true;
    const uint32_t mid = low + (high - low) / 2;
    const node *n = &o->nodes[mid];
    if (n->all.count == 0)
        return true;
    if (first <= low && high - 1 <= last)
        return append(o, &n->all);
    if (first <= mid && mid <= last ? !append(o, &n->own) : !append_alive(o, n, first, last))
        return false;
    return (first >= mid || find(o, low, mid, first, last)) &&
        (last <= mid || find(o, mid + 1, high, first, last));
}

/* Merges two sorted lists, and joins runs that touch. */
static void merge(const prt_run *a, const prt_run *a_end, const prt_run *b, const prt_run *b_end,
    prt_runs *to)
{
    while (a < a_end && b < b_end)
        push(to, a->start <= b->start ? *a++ : *b++);
    while (a < a_end)
        push(to, *a++);
    while (b < b_end)
        push(to, *b++);
}

/* Merges pairs of neighbouring lists until one is left. */
static bool merge_lists(prt_occupancy *o)
{
    while (o->n_starts > 1) {
        const prt_runs from = o->found;
        uint32_t lists = 0;
        o->scratch.count = 0;
        if (!reserve(o->arena, &o->scratch, from.count))
            return false;
        for (uint32_t i = 0; i < o->n_starts; i += 2) {
            const uint32_t a = o->starts[i];
            const uint32_t b = i + 1 < o->n_starts ? o->starts[i + 1] : from.count;
            const uint32_t end = i + 2 < o->n_starts ? o->starts[i + 2] : from.count;
            prt_runs list = { .data = o->scratch.data + o->scratch.count };
            merge(from.data + a, from.data + b, from.data + b, from.data + end, &list);
            o->starts[lists++] = o->scratch.count;
            o->scratch.count += list.count;
        }
        o->n_starts = lists;
        o->found = o->scratch;
        o->scratch = from;
    }
    return true;
}

poprt_status prt_occupancy_find(prt_occupancy *o, uint32_t first, uint32_t last)
{
    o->found.count = o->n_starts = 0;
    return find(o, 0, o->n_steps, first, last) && merge_lists(o) ? POPRT_OK : POPRT_E_NOMEM;
}
