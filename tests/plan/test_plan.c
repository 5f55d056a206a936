/* SPDX-License-Identifier: MIT */
/* test_plan.c — plans without overlap, no smaller than the peak, the same every time, and soon. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "support/check_main.h"

enum { ALIGN = 64, MOST = 2000, SPACES = 3 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static prt_plan_item items[MOST];
static size_t totals[SPACES], peaks[SPACES];

static poprt_status pack(size_t count)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    const poprt_status status = prt_plan_pack(arena, items, count, ALIGN, SPACES, totals, peaks);
    prt_arena_release(arena);
    return status;
}

static bool alive_together(const prt_plan_item *a, const prt_plan_item *b)
{
    return a->space == b->space && a->first <= b->last && b->first <= a->last;
}

static void check_plan(size_t count)
{
    size_t ends[SPACES] = { 0 }, highest[SPACES] = { 0 };
    for (size_t i = 0; i < count; i++) {
        const prt_plan_item *a = &items[i];
        ck_assert_uint_eq(a->offset % ALIGN, 0);
        if (a->size != 0 && a->offset + a->size > ends[a->space])
            ends[a->space] = a->offset + a->size;
        size_t live = 0; /* only at the first step of a, as the peak is at some first step */
        for (size_t k = 0; k < count; k++) {
            const prt_plan_item *b = &items[k];
            if (b->space == a->space && b->first <= a->first && a->first <= b->last)
                live += b->size;
            if (k == i || a->size == 0 || b->size == 0 || !alive_together(a, b))
                continue;
            ck_assert(a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
        }
        if (live > highest[a->space])
            highest[a->space] = live;
    }
    for (size_t s = 0; s < SPACES; s++) {
        ck_assert_uint_eq(totals[s], ends[s]);
        ck_assert_uint_eq(peaks[s], highest[s]);
        ck_assert_uint_ge(totals[s], peaks[s]);
    }
}

static void fill(size_t count, uint32_t steps, uint32_t longest)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t first = (uint32_t)(draw() % steps);
        items[i] = (prt_plan_item){ .size = draw() % 8 == 0 ? 0 : draw() % 5000,
            .first = first,
            .last = first + (uint32_t)(draw() % longest),
            .space = (uint32_t)(draw() % SPACES) };
    }
}

START_TEST(random_plans_do_not_overlap)
{
    for (int round = 0; round < 300; round++) {
        const size_t count = draw() % 120;
        fill(count, 1 + (uint32_t)(draw() % 60), 1 + (uint32_t)(draw() % 20));
        ck_assert_int_eq(pack(count), POPRT_OK);
        check_plan(count);
    }
    fill(MOST, 3000, 30);
    ck_assert_int_eq(pack(MOST), POPRT_OK);
    check_plan(MOST);
}
END_TEST

START_TEST(plans_are_deterministic)
{
    static prt_plan_item before[500];
    fill(500, 100, 20);
    ck_assert_int_eq(pack(500), POPRT_OK);
    memcpy(before, items, sizeof(before));
    ck_assert_int_eq(pack(500), POPRT_OK);
    ck_assert_int_eq(memcmp(before, items, sizeof(before)), 0);
}
END_TEST

START_TEST(a_chain_reuses_two_buffers)
{
    for (uint32_t i = 0; i < 100; i++)
        items[i] = (prt_plan_item){ .size = 4096, .first = i, .last = i + 1 };
    ck_assert_int_eq(pack(100), POPRT_OK);
    check_plan(100);
    ck_assert_uint_eq(totals[0], 8192);
    ck_assert_uint_eq(peaks[0], 8192);
    ck_assert_uint_eq(totals[1], 0);
}
END_TEST

START_TEST(the_tightest_gap_is_taken)
{
    /* Two long items leave a gap each where short ones end; the small item fits the smaller gap. */
    items[0] = (prt_plan_item){ .size = 640, .first = 0, .last = 0 };
    items[1] = (prt_plan_item){ .size = 600, .first = 0, .last = 9 };
    items[2] = (prt_plan_item){ .size = 256, .first = 0, .last = 0 };
    items[3] = (prt_plan_item){ .size = 250, .first = 0, .last = 9 };
    items[4] = (prt_plan_item){ .size = 200, .first = 5, .last = 6 };
    ck_assert_int_eq(pack(5), POPRT_OK);
    check_plan(5);
    ck_assert_uint_eq(items[4].offset, items[2].offset);
}
END_TEST

START_TEST(step_numbers_may_be_far_apart)
{
    items[0] = (prt_plan_item){ .size = 100, .first = 0, .last = UINT32_MAX };
    items[1] = (prt_plan_item){ .size = 100, .first = UINT32_MAX, .last = UINT32_MAX };
    items[2] = (prt_plan_item){ .size = 100, .first = 1u << 31, .last = UINT32_MAX - 1 };
    ck_assert_int_eq(pack(3), POPRT_OK);
    check_plan(3);
    ck_assert_uint_eq(items[1].offset, items[2].offset);
}
END_TEST

START_TEST(sums_that_overflow_are_refused)
{
    items[0] = (prt_plan_item){ .size = SIZE_MAX / 2 + 1, .first = 0, .last = 1 };
    items[1] = items[0];
    ck_assert_int_eq(pack(2), POPRT_E_LIMIT);
    items[0].size = SIZE_MAX;
    ck_assert_int_eq(pack(2), POPRT_E_LIMIT);
    items[1] = (prt_plan_item){ .size = SIZE_MAX, .first = 2, .last = 2 };
    ck_assert_int_eq(pack(2), POPRT_OK);
    ck_assert_uint_eq(totals[0], SIZE_MAX);
}
END_TEST

/* The buffers of two attention blocks. Two pairs must be adjacent for later buffers, which no
 * order by size or time finds. */
START_TEST(attention_blocks_reach_the_lower_bound)
{
    static const uint32_t block[][3] = { /* size, first, last */
        { 1, 0, 17 }, { 1, 1, 3 }, { 1, 3, 10 }, { 1, 4, 9 }, { 1, 6, 8 }, { 1, 8, 14 },
        { 1, 9, 10 }, { 2, 10, 13 }, { 2, 13, 14 }, { 1, 14, 15 }, { 1, 15, 17 }, { 1, 17, 18 },
        { 1, 18, 20 }, { 4, 19, 20 }, { 1, 20, 21 }
    };
    size_t count = 0;
    for (uint32_t k = 0; k < 6; k++)
        for (size_t i = 0; i < sizeof(block) / sizeof(block[0]); i++)
            items[count++] = (prt_plan_item){ .size = block[i][0] * 6400,
                .first = block[i][1] + 21 * k,
                .last = block[i][2] + 21 * k };
    ck_assert_int_eq(pack(count), POPRT_OK);
    check_plan(count);
    ck_assert_uint_eq(totals[0], peaks[0]);
}
END_TEST

START_TEST(empty_plans_take_no_memory)
{
    ck_assert_int_eq(pack(0), POPRT_OK);
    ck_assert_uint_eq(totals[0] + totals[1] + totals[2], 0);
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    items[0] = (prt_plan_item){ .size = 10 };
    ck_assert_int_eq(prt_plan_pack(arena, items, 1, 1, 1, totals, NULL), POPRT_OK);
    ck_assert_uint_eq(totals[0], 10);
    prt_arena_release(arena);
    ck_assert_int_eq(prt_arena_create(NULL, 4500, &arena), POPRT_OK);
    fill(1000, 10, 10);
    ck_assert_int_eq(prt_plan_pack(arena, items, 1000, 1, SPACES, totals, NULL), POPRT_E_NOMEM);
    prt_arena_release(arena);
}
END_TEST

static uint64_t hash_of(const prt_plan_item *plan, size_t count)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < count; i++) {
        h ^= plan[i].offset;
        h *= 1099511628211u;
    }
    return h;
}

/* PopEF files have offsets, so that plans stay the same: the hashes are those of a planner that
 * looks at every pair of items. */
START_TEST(plans_stay_as_they_are)
{
    enum { COUNT = 1000 };
    static const uint64_t hashes[] = { 0x653d5ec1b8ea49a3u, 0xa156a1213ebfaaa3u };
    for (size_t kind = 0; kind < 2; kind++) {
        state = 88172645463325252u;
        for (size_t i = 0; i < COUNT; i++) {
            const size_t size = 64 + draw() % 100000;
            const uint32_t first = kind == 0 ? (uint32_t)(draw() % COUNT) : (uint32_t)i;
            const uint32_t live = (uint32_t)(draw() % (kind == 0 ? COUNT : COUNT / 10 + 1));
            items[i] = (prt_plan_item){ .size = size, .first = first, .last = first + live };
        }
        ck_assert_int_eq(pack(COUNT), POPRT_OK);
        ck_assert_uint_eq(hash_of(items, COUNT), hashes[kind]);
    }
}
END_TEST

/* Lifetimes that lie in each other, as in training, where every pair of items is alive together:
 * looking at every pair takes minutes. */
START_TEST(many_live_items_are_planned_soon)
{
    enum { COUNT = 100000 };
    prt_plan_item *many = calloc(COUNT, sizeof(*many));
    prt_arena *arena = NULL;
    size_t total = 0, peak = 0;
    ck_assert_ptr_nonnull(many);
    for (uint32_t i = 0; i < COUNT; i++)
        many[i] = (prt_plan_item){ .size = 64 * (1 + i % 50), .first = i, .last = 2 * COUNT - i };
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_plan_pack(arena, many, COUNT, ALIGN, 1, &total, &peak), POPRT_OK);
    ck_assert_uint_eq(total, peak);
    prt_arena_release(arena);
    free(many);
}
END_TEST

PRT_TEST_MAIN("plan", plans_stay_as_they_are, many_live_items_are_planned_soon,
    random_plans_do_not_overlap, plans_are_deterministic, a_chain_reuses_two_buffers,
    the_tightest_gap_is_taken, step_numbers_may_be_far_apart, sums_that_overflow_are_refused,
    attention_blocks_reach_the_lower_bound, empty_plans_take_no_memory)
