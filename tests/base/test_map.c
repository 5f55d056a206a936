/* SPDX-License-Identifier: MIT */
/* test_map.c — the map from strings to pointers. */
#include <stdio.h>

#include "base/map.h"
#include "support/check_main.h"

START_TEST(finds_what_was_set_last)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    prt_map map = prt_map_in(arena);
    ck_assert_ptr_null(prt_map_find(&map, PRT_STR("a")));
    enum { COUNT = 3000 };
    static char names[COUNT][16];
    for (int i = 0; i < COUNT; i++) {
        const int n = snprintf(names[i], sizeof(names[i]), "k%d", i);
        const prt_str key = { names[i], (uint32_t)n };
        ck_assert_ptr_null(prt_map_find(&map, key));
        ck_assert_int_eq(prt_map_set(&map, key, names[i]), POPRT_OK);
    }
    ck_assert_uint_eq(map.count, COUNT);
    for (int i = 0; i < COUNT; i++)
        ck_assert_ptr_eq(prt_map_find(&map, prt_str_of(names[i])), names[i]);
    ck_assert_int_eq(prt_map_set(&map, PRT_STR("k7"), arena), POPRT_OK);
    ck_assert_uint_eq(map.count, COUNT);
    ck_assert_ptr_eq(prt_map_find(&map, PRT_STR("k7")), arena);
    ck_assert_ptr_null(prt_map_find(&map, PRT_STR("k")));
    ck_assert_ptr_null(prt_map_find(&map, (prt_str){ NULL, 0 }));
    prt_arena_release(arena);
}
END_TEST

START_TEST(empty_key_is_a_key)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    prt_map map = prt_map_in(arena);
    ck_assert_int_eq(prt_map_set(&map, PRT_STR(""), arena), POPRT_OK);
    ck_assert_ptr_eq(prt_map_find(&map, PRT_STR("")), arena);
    prt_arena_release(arena);
}
END_TEST

START_TEST(a_refused_set_leaves_the_map_unchanged)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 9000, &arena), POPRT_OK);
    prt_map map = prt_map_in(arena);
    static char names[1000][8];
    size_t set = 0;
    for (; set < 1000; set++) {
        (void)snprintf(names[set], sizeof(names[set]), "%zu", set);
        if (prt_map_set(&map, prt_str_of(names[set]), names[set]) != POPRT_OK)
            break;
    }
    ck_assert_uint_lt(set, 1000);
    ck_assert_uint_eq(map.count, set);
    for (size_t i = 0; i < set; i++)
        ck_assert_ptr_eq(prt_map_find(&map, prt_str_of(names[i])), names[i]);
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("base/map", finds_what_was_set_last, empty_key_is_a_key,
    a_refused_set_leaves_the_map_unchanged)
