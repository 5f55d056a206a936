/* SPDX-License-Identifier: MIT */
/*
 * plan.c — interval packing.
 *
 * The items are placed in some order. Each one goes into the tightest gap between the placed items
 * whose lifetimes overlap its own, or behind them. The occupancy of the steps finds their bytes.
 * Steps are first replaced by their rank among all first and last steps.
 *
 * The best order is not known in advance, so several are tried and the smallest plan is kept:
 * largest size first, largest product of size and lifetime, longest lifetime, earliest start. Each
 * order is repeated: the items that exceed the best total are placed before all others in the next
 * plan, until a plan reaches the lower bound or the allowed work is done. The result does not
 * depend on time.
 */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "plan/occupancy.h"

/* Bounds of the search: boxes placed in total; plans made from one order. */
enum { MOST_PLACEMENTS = 1 << 17, MAX_ROUNDS = 32 };

/* An item within the planner, whose steps are ranks. */
typedef struct box {
    size_t size, offset;
    uint32_t first, last;
    uint32_t index; /* index in the caller's array */
    uint32_t lift;  /* a box with a greater lift is placed first */
} box;

typedef struct plan {
    prt_arena *arena;
    box *boxes;
    size_t count;
    uint32_t *steps; /* sorted, without duplicates */
    uint32_t n_steps;
    size_t *change; /* scratch: bytes whose lifetimes begin, and end, at each rank */
    prt_occupancy occupancy;
} plan;

static int compare_steps(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Orders of boxes; lifted boxes come first in each. Ties: the longer lifetime, then the caller's
 * order. */
static int compare_rest(const box *x, const box *y)
{
    const uint32_t live_x = x->last - x->first, live_y = y->last - y->first;
    if (live_x != live_y)
        return live_x > live_y ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_size(const void *a, const void *b)
{
    const box *x = a, *y = b;
    if (x->lift != y->lift)
        return x->lift > y->lift ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return compare_rest(x, y);
}

static int by_area(const void *a, const void *b)
{
    const box *x = a, *y = b;
    const double area_x = (double)x->size * ((double)(x->last - x->first) + 1.0);
    const double area_y = (double)y->size * ((double)(y->last - y->first) + 1.0);
    if (x->lift != y->lift)
        return x->lift > y->lift ? -1 : 1;
    if (area_x < area_y || area_x > area_y)
        return area_x > area_y ? -1 : 1;
    return compare_rest(x, y);
}

static int by_lifetime(const void *a, const void *b)
{
    const box *x = a, *y = b;
    const uint32_t live_x = x->last - x->first, live_y = y->last - y->first;
    if (x->lift != y->lift)
        return x->lift > y->lift ? -1 : 1;
    if (live_x != live_y)
        return live_x > live_y ? -1 : 1;
    return by_size(a, b);
}

static int by_start(const void *a, const void *b)
{
    const box *x = a, *y = b;
    if (x->lift != y->lift)
        return x->lift > y->lift ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return by_size(a, b);
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

/* Copies the items of one space that have a size, and ranks their steps. */
static void select_items(plan *p, const prt_plan_item *items, size_t count, uint32_t space)
{
    p->count = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].space != space || items[i].size == 0)
            continue;
        p->boxes[p->count++] = (box){ .size = items[i].size,
            .first = items[i].first,
            .last = items[i].last,
            .index = (uint32_t)i };
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
}

/* Returns the offset of the tightest gap for `size` bytes between runs that end at multiples of the
 * alignment, else the first offset behind them; SIZE_MAX when it exceeds the address space. */
static size_t best_offset(const prt_runs *taken, size_t size)
{
    size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
    for (uint32_t i = 0; i < taken->count; i++) {
        const size_t gap = taken->data[i].start - end;
        if (gap >= size && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        end = taken->data[i].end;
    }
    return best != SIZE_MAX ? best : end;
}

/* Returns the largest sum of sizes alive at once; SIZE_MAX beyond the address space. The lifetimes
 * are walked in the order of steps; at a step, ending ones are subtracted before beginning ones are
 * added. */
static size_t peak_of(const plan *p)
{
    size_t live = 0, peak = 0;
    memset(p->change, 0, ((size_t)p->n_steps + 1) * 2 * sizeof(*p->change));
    for (size_t i = 0; i < p->count; i++) {
        size_t *begin = &p->change[2 * (size_t)p->boxes[i].first];
        size_t *end = &p->change[2 * ((size_t)p->boxes[i].last + 1) + 1];
        if (!prt_size_add(*begin, p->boxes[i].size, begin) ||
            !prt_size_add(*end, p->boxes[i].size, end))
            return SIZE_MAX;
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        live -= p->change[2 * (size_t)i + 1];
        if (!prt_size_add(live, p->change[2 * (size_t)i], &live))
            return SIZE_MAX;
        peak = live > peak ? live : peak;
    }
    return peak;
}

typedef int (*order)(const void *a, const void *b);

/* Finds the offset of a box and takes its bytes, up to the next aligned offset. Sets `fits` to
 * false when they exceed the address space. */
static poprt_status place_box(plan *p, box *b, size_t align, bool *fits)
{
    size_t end = 0;
    PRT_TRY(prt_occupancy_find(&p->occupancy, b->first, b->last));
    b->offset = best_offset(&p->occupancy.found, b->size);
    *fits = b->offset != SIZE_MAX && prt_size_add(b->offset, b->size, &end);
    const bool last = end > SIZE_MAX - (align - 1);
    return *fits ? prt_occupancy_add(&p->occupancy, b->first, b->last,
                       (prt_run){ b->offset, last ? SIZE_MAX : prt_size_align(end, align) })
                 : POPRT_OK;
}

/* Places all boxes in an order. Sets `fits` to false when they exceed the address space. */
static poprt_status place(plan *p, order by, size_t align, size_t *total, bool *fits)
{
    *total = 0;
    *fits = true;
    prt_occupancy_clear(&p->occupancy);
    qsort(p->boxes, p->count, sizeof(*p->boxes), by);
    for (size_t i = 0; i < p->count && *fits; i++) {
        PRT_TRY(place_box(p, &p->boxes[i], align, fits));
        const size_t end = p->boxes[i].offset + p->boxes[i].size;
        *total = end > *total ? end : *total;
    }
    return POPRT_OK;
}

/* Copies the offsets of the plan just made to the items. */
static void keep_offsets(const plan *p, prt_plan_item *items)
{
    for (size_t i = 0; i < p->count; i++)
        items[p->boxes[i].index].offset = p->boxes[i].offset;
}

/* Lifts the boxes that keep the plan just made from being smaller than `best`. */
static void lift(const plan *p, size_t best, uint32_t round)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->boxes[i].offset + p->boxes[i].size >= best)
            p->boxes[i].lift = round;
}

/* Finds the best of several plans; `peak` is their lower bound. In each order, the boxes that
 * exceed the best total are lifted from plan to plan. */
static poprt_status search(plan *p, size_t align, prt_plan_item *items, size_t peak, size_t *total)
{
    static const order orders[] = { by_size, by_area, by_lifetime, by_start };
    size_t left = p->count != 0 ? MOST_PLACEMENTS / p->count : 0;
    bool found = false;
    *total = 0;
    for (size_t i = 0; i < PRT_COUNT_OF(orders); i++) {
        for (size_t k = 0; k < p->count; k++)
            p->boxes[k].lift = 0;
        for (uint32_t round = 1; round <= MAX_ROUNDS && (!found || (*total > peak && left > 0));
             round++) {
            size_t size;
            bool fits;
            left -= left > 0;
            PRT_TRY(place(p, orders[i], align, &size, &fits));
            if (!fits)
                break;
            if (!found || size < *total) {
                keep_offsets(p, items);
                *total = size;
                found = true;
            }
            lift(p, *total, round);
        }
    }
    return found ? POPRT_OK
                 : prt_fail(POPRT_E_LIMIT, NULL, "the buffers need more than the address space");
}

poprt_status prt_plan_pack(prt_arena *arena, prt_plan_item *items, size_t count, size_t align,
    uint32_t n_spaces, size_t *totals, size_t *peaks)
{
    PRT_ASSERT(align != 0 && (align & (align - 1)) == 0);
    if (count >= UINT32_MAX / 2)
        return prt_fail(POPRT_E_LIMIT, NULL, "%zu buffers are too many to plan", count);
    plan p = { .arena = arena };
    p.boxes = PRT_NEW_N(arena, box, count);
    p.steps = PRT_NEW_N(arena, uint32_t, count * 2);
    p.change = PRT_NEW_N(arena, size_t, count * 4 + 2);
    if (p.boxes == NULL || p.steps == NULL || p.change == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        PRT_ASSERT(items[i].first <= items[i].last && items[i].space < n_spaces);
        items[i].offset = 0;
    }
    for (uint32_t space = 0; space < n_spaces; space++) {
        select_items(&p, items, count, space);
        const size_t peak = peak_of(&p);
        PRT_TRY(prt_occupancy_init(&p.occupancy, arena, p.n_steps));
        PRT_TRY(search(&p, align, items, peak, &totals[space]));
        if (peaks != NULL)
            peaks[space] = peak;
    }
    return POPRT_OK;
}
