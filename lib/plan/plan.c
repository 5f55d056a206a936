/* SPDX-License-Identifier: MIT */
/*
 * plan.c — interval packing.
 *
 * Largest first, each item goes into the tightest gap that the items alive with it leave, or
 * behind them. Which items those are is asked of an interval tree over the steps: a node has a
 * step in its middle and holds the items alive then; items that end before are below to the left,
 * items that start after are below to the right. Steps are first replaced by their rank among all
 * first and last steps, so the tree has one node per step that matters.
 */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* An item as the planner sees it: steps are ranks. */
typedef struct box {
    size_t size, offset;
    uint32_t first, last;
    uint32_t index; /* in the caller's array */
    uint32_t next;  /* in the list of a tree node */
} box;

typedef struct node {
    uint32_t boxes; /* first of a list, or NONE */
    uint32_t below; /* boxes in the whole subtree */
} node;

typedef struct range {
    size_t start, end;
} range;

typedef struct plan {
    prt_arena *arena;
    box *boxes;
    size_t count;
    uint32_t *steps; /* sorted, distinct */
    uint32_t n_steps;
    node *tree;     /* by the rank in a node's middle */
    range *taken;   /* scratch: where the neighbours of one box lie */
    size_t *change; /* scratch: bytes that begin or end to live at a rank, modulo 2^64 */
} plan;

static int compare_steps(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Larger first; of equals the longer-lived, then the caller's order. */
static int compare_boxes(const void *a, const void *b)
{
    const box *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    const uint32_t live_x = x->last - x->first, live_y = y->last - y->first;
    if (live_x != live_y)
        return live_x > live_y ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int compare_ranges(const void *a, const void *b)
{
    const range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static uint32_t rank_of(const plan *p, uint32_t step)
{
    uint32_t low = 0, high = p->n_steps - 1;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (p->steps[mid] < step)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Copies the items of one space that take room and ranks their steps. */
static void gather(plan *p, const prt_plan_item *items, size_t count, uint32_t space)
{
    p->count = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].space != space || items[i].size == 0)
            continue;
        p->boxes[p->count++] = (box){ .size = items[i].size,
            .first = items[i].first,
            .last = items[i].last,
            .index = (uint32_t)i,
            .next = NONE };
        p->steps[n++] = items[i].first;
        p->steps[n++] = items[i].last;
    }
    qsort(p->steps, n, sizeof(*p->steps), compare_steps);
    p->n_steps = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || p->steps[i] != p->steps[i - 1])
            p->steps[p->n_steps++] = p->steps[i];
    for (size_t i = 0; i < p->count; i++) {
        p->boxes[i].first = rank_of(p, p->boxes[i].first);
        p->boxes[i].last = rank_of(p, p->boxes[i].last);
    }
    for (uint32_t i = 0; i < p->n_steps; i++)
        p->tree[i] = (node){ .boxes = NONE };
}

/* Puts a placed box at the highest node whose middle it is alive at. */
static void insert(plan *p, uint32_t index)
{
    box *b = &p->boxes[index];
    uint32_t low = 0, high = p->n_steps;
    for (;;) {
        const uint32_t mid = low + (high - low) / 2;
        p->tree[mid].below++;
        if (b->last < mid) {
            high = mid;
        } else if (b->first > mid) {
            low = mid + 1;
        } else {
            b->next = p->tree[mid].boxes;
            p->tree[mid].boxes = index;
            return;
        }
    }
}

/* Collects where the placed boxes lie that are alive with `b`, from the subtree over [low, high);
 * as deep as the logarithm of the steps. */
static size_t collect(const plan *p, const box *b, uint32_t low, uint32_t high, size_t n)
{
    if (low >= high)
        return n;
    const uint32_t mid = low + (high - low) / 2;
    if (p->tree[mid].below == 0)
        return n;
    for (uint32_t i = p->tree[mid].boxes; i != NONE; i = p->boxes[i].next) {
        const box *other = &p->boxes[i];
        if (other->first <= b->last && b->first <= other->last)
            p->taken[n++] = (range){ other->offset, other->offset + other->size };
    }
    if (b->first < mid)
        n = collect(p, b, low, mid, n);
    if (b->last > mid)
        n = collect(p, b, mid + 1, high, n);
    return n;
}

/* The offset of the tightest gap for `size` bytes, else the first behind all; SIZE_MAX when that is
 * outside of the address space. */
static size_t best_offset(range *taken, size_t n, size_t size, size_t align)
{
    qsort(taken, n, sizeof(*taken), compare_ranges);
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t gap = taken[i].start > end ? taken[i].start - end : 0;
        if (gap >= size && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        if (taken[i].end > SIZE_MAX - (align - 1))
            return best;
        const size_t behind = prt_size_align(taken[i].end, align);
        end = behind > end ? behind : end;
    }
    return best != SIZE_MAX ? best : end;
}

static poprt_status place(plan *p, size_t align, prt_plan_item *items, size_t *total)
{
    qsort(p->boxes, p->count, sizeof(*p->boxes), compare_boxes);
    *total = 0;
    for (size_t i = 0; i < p->count; i++) {
        box *b = &p->boxes[i];
        const size_t n = collect(p, b, 0, p->n_steps, 0);
        b->offset = best_offset(p->taken, n, b->size, align);
        size_t end;
        if (b->offset == SIZE_MAX || !prt_size_add(b->offset, b->size, &end))
            return prt_fail(POPRT_E_LIMIT, NULL, "the buffers need more than the address space");
        *total = end > *total ? end : *total;
        items[b->index].offset = b->offset;
        insert(p, (uint32_t)i);
    }
    return POPRT_OK;
}

/* Largest sum of sizes alive at once. Comes after placing, which has shown that sums fit. */
static size_t peak_of(const plan *p)
{
    memset(p->change, 0, ((size_t)p->n_steps + 1) * sizeof(*p->change));
    for (size_t i = 0; i < p->count; i++) {
        p->change[p->boxes[i].first] += p->boxes[i].size;
        p->change[p->boxes[i].last + 1] -= p->boxes[i].size;
    }
    size_t live = 0, peak = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        live += p->change[i];
        peak = live > peak ? live : peak;
    }
    return peak;
}

poprt_status prt_plan_pack(prt_arena *arena, prt_plan_item *items, size_t count, size_t align,
    uint32_t n_spaces, size_t *totals, size_t *peaks)
{
    PRT_ASSERT(align != 0 && (align & (align - 1)) == 0);
    if (count >= NONE / 2)
        return prt_fail(POPRT_E_LIMIT, NULL, "%zu buffers are too many to plan", count);
    plan p = { .arena = arena };
    p.boxes = PRT_NEW_N(arena, box, count);
    p.steps = PRT_NEW_N(arena, uint32_t, count * 2);
    p.tree = PRT_NEW_N(arena, node, count * 2);
    p.taken = PRT_NEW_N(arena, range, count);
    p.change = PRT_NEW_N(arena, size_t, count * 2 + 1);
    if (p.boxes == NULL || p.steps == NULL || p.tree == NULL || p.taken == NULL || p.change == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        PRT_ASSERT(items[i].first <= items[i].last && items[i].space < n_spaces);
        items[i].offset = 0;
    }
    for (uint32_t space = 0; space < n_spaces; space++) {
        gather(&p, items, count, space);
        PRT_TRY(place(&p, align, items, &totals[space]));
        if (peaks != NULL)
            peaks[space] = peak_of(&p);
    }
    return POPRT_OK;
}
