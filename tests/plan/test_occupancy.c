/* SPDX-License-Identifier: MIT */
/* test_occupancy.c — queries of the occupancy, compared with a search through all items. */
#include "plan/occupancy.h"
#include "support/check_main.h"

enum { MOST = 600, LINES = 4000 };

typedef struct item {
    prt_run bytes;
    uint32_t first, last;
} item;

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % below);
}

static bool meet(const item *a, const item *b)
{
    return a->first <= b->last && b->first <= a->last && a->bytes.start < b->bytes.end &&
        b->bytes.start < a->bytes.end;
}

/* Adds random items that do not meet, and returns their number. */
static size_t fill(prt_occupancy *o, item *items, uint32_t steps, uint32_t longest, size_t tries)
{
    size_t n = 0;
    for (size_t i = 0; i < tries && n < MOST; i++) {
        item *x = &items[n];
        bool is_free = true;
        x->first = draw(steps);
        x->last = x->first + draw(longest);
        x->last = x->last < steps ? x->last : steps - 1;
        x->bytes.start = draw(LINES - 40);
        x->bytes.end = x->bytes.start + 1 + draw(39);
        for (size_t k = 0; k < n && is_free; k++)
            is_free = !meet(&items[k], x);
        if (!is_free)
            continue;
        ck_assert_int_eq(prt_occupancy_add(o, x->first, x->last, x->bytes), POPRT_OK);
        n++;
    }
    return n;
}

static void check_query(prt_occupancy *o, const item *items, size_t n, uint32_t first,
    uint32_t last)
{
    bool taken[LINES + 1] = { false }, found[LINES + 1] = { false };
    for (size_t i = 0; i < n; i++)
        for (size_t at = items[i].bytes.start;
             items[i].first <= last && first <= items[i].last && at < items[i].bytes.end; at++)
            taken[at] = true;
    ck_assert_int_eq(prt_occupancy_find(o, first, last), POPRT_OK);
    for (uint32_t i = 0; i < o->found.count; i++) {
        const prt_run *r = &o->found.data[i];
        ck_assert_uint_lt(r->start, r->end);
        ck_assert(i == 0 || r[-1].end < r->start); /* sorted, and joined where runs touch */
        for (size_t at = r->start; at < r->end; at++)
            found[at] = true;
    }
    ck_assert_mem_eq(taken, found, sizeof(taken));
}

START_TEST(queries_find_the_bytes_of_the_items_alive)
{
    static const uint32_t steps[] = { 1, 2, 3, 7, 64, 500 };
    static item items[MOST];
    state = 88172645463325252u;
    for (size_t s = 0; s < PRT_COUNT_OF(steps); s++)
        for (uint32_t longest = 1; longest <= steps[s]; longest = 3 * longest + 1) {
            prt_arena *arena = NULL;
            prt_occupancy o;
            ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
            ck_assert_int_eq(prt_occupancy_init(&o, arena, steps[s]), POPRT_OK);
            for (int round = 0; round < 2; round++) { /* the second one after it was cleared */
                prt_occupancy_clear(&o);
                const size_t n = fill(&o, items, steps[s], longest, 3 * MOST);
                ck_assert_uint_gt(n, 10);
                for (int q = 0; q < 40; q++) {
                    const uint32_t first = draw(steps[s]);
                    check_query(&o, items, n, first, first + draw(steps[s] - first));
                }
            }
            prt_arena_release(arena);
        }
}
END_TEST

START_TEST(buffers_that_touch_are_one_run)
{
    prt_arena *arena = NULL;
    prt_occupancy o;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_occupancy_init(&o, arena, 1000), POPRT_OK);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_int_eq(prt_occupancy_add(&o, i / 2, 999 - i / 2,
                             (prt_run){ i * 64, i * 64 + 64 }),
            POPRT_OK);
    ck_assert_int_eq(prt_occupancy_find(&o, 499, 500), POPRT_OK);
    ck_assert_uint_eq(o.found.count, 1);
    ck_assert_uint_eq(o.found.data[0].end, 64000);
    ck_assert_int_eq(prt_occupancy_find(&o, 0, 9), POPRT_OK);
    ck_assert_uint_eq(o.found.count, 1);
    ck_assert_uint_eq(o.found.data[0].end, 20 * 64);
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("plan/occupancy", queries_find_the_bytes_of_the_items_alive,
    buffers_that_touch_are_one_run)
