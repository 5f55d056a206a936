/* SPDX-License-Identifier: MIT */
/* test_str.c — counted strings, their hash and their interning. */
#include <stdio.h>

#include "base/str.h"
#include "support/check_main.h"

START_TEST(equality_compares_bytes)
{
    ck_assert(prt_str_equal(PRT_STR("abc"), prt_str_of("abc")));
    ck_assert(!prt_str_equal(PRT_STR("abc"), PRT_STR("abd")));
    ck_assert(!prt_str_equal(PRT_STR("abc"), PRT_STR("ab")));
    ck_assert(prt_str_equal((prt_str){ NULL, 0 }, (prt_str){ NULL, 0 }));
    ck_assert(prt_str_is(PRT_STR("x"), "x"));
    ck_assert(prt_str_is((prt_str){ NULL, 0 }, ""));
    ck_assert(!prt_str_is(PRT_STR("x"), "xy"));
}
END_TEST

START_TEST(hash_depends_on_every_byte_and_on_size)
{
    unsigned char bytes[40] = { 0 };
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        const uint64_t before = prt_hash(bytes, size, 0);
        ck_assert(size == 0 || before != prt_hash(bytes, size - 1, 0));
        ck_assert(before != prt_hash(bytes, size, 1));
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 0x10;
            ck_assert(prt_hash(bytes, size, 0) != before);
            bytes[i] ^= 0x10;
        }
    }
}
END_TEST

START_TEST(interned_strings_are_equal_by_pointer)
{
    prt_arena *arena = NULL;
    prt_strings *pool = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_strings_create(arena, &pool), POPRT_OK);
    enum { COUNT = 5000 };
    static const char *first[COUNT];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            char name[32];
            const int n = snprintf(name, sizeof(name), "node_%d", i);
            const prt_str s = prt_strings_intern(pool, (prt_str){ name, (uint32_t)n });
            ck_assert_ptr_nonnull(s.data);
            ck_assert_ptr_ne(s.data, name);
            ck_assert_str_eq(s.data, name);
            if (round == 0)
                first[i] = s.data;
            ck_assert_ptr_eq(s.data, first[i]);
        }
    }
    prt_arena_release(arena);
}
END_TEST

START_TEST(absent_and_empty_strings_intern_alike)
{
    prt_arena *arena = NULL;
    prt_strings *pool = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_strings_create(arena, &pool), POPRT_OK);
    const prt_str a = prt_strings_intern(pool, (prt_str){ NULL, 0 });
    const prt_str b = prt_strings_intern(pool, PRT_STR(""));
    ck_assert_ptr_nonnull(a.data);
    ck_assert_ptr_eq(a.data, b.data);
    ck_assert_uint_eq(a.size, 0);
    prt_arena_release(arena);
}
END_TEST

START_TEST(words_differ_by_letters_alone)
{
    ck_assert(prt_str_same_word(PRT_STR("PreAlias"), PRT_STR("pre_alias")));
    ck_assert(prt_str_same_word(PRT_STR("__a_"), PRT_STR("A")));
    ck_assert(prt_str_same_word(PRT_STR(""), PRT_STR("_")));
    ck_assert(!prt_str_same_word(PRT_STR("Fwd0"), PRT_STR("Fwd1")));
    ck_assert(!prt_str_same_word(PRT_STR("Fwd"), PRT_STR("Fwd1")));
    ck_assert(!prt_str_same_word(PRT_STR("Fwd1"), PRT_STR("Fwd")));
    ck_assert(!prt_str_same_word((prt_str){ NULL, 0 }, PRT_STR("a")));
}
END_TEST

PRT_TEST_MAIN("base/str", equality_compares_bytes, hash_depends_on_every_byte_and_on_size,
    interned_strings_are_equal_by_pointer, absent_and_empty_strings_intern_alike,
    words_differ_by_letters_alone)
