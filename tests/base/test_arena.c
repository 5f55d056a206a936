/* SPDX-License-Identifier: MIT */
/*
 * test_arena.c — arena memory: released all at once, within a limit; growing arrays.
 * Covers: mem_libc.c, vec.c.
 */
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "support/check_main.h"

/* An allocator that counts live allocations and refuses the n-th request (0: no request). */
typedef struct counter {
    size_t live, requests, refuse_at;
} counter;

static void *counted_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    if (++c->requests == c->refuse_at)
        return NULL;
    void *ptr = prt_mem_libc.alloc(NULL, size, align);
    c->live += ptr != NULL;
    return ptr;
}

static void counted_release(void *user, void *ptr)
{
    counter *c = user;
    c->live--;
    prt_mem_libc.release(NULL, ptr);
}

START_TEST(memory_is_zeroed_aligned_and_disjoint)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = prt_arena_alloc(arena, i);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_eq(blocks[i][k], 0);
        memset(blocks[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_eq(blocks[i][k], i & 0xff);
    prt_arena_release(arena);
}
END_TEST

START_TEST(limit_and_overflow_are_refused)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 10000, &arena), POPRT_OK);
    ck_assert_ptr_nonnull(prt_arena_alloc(arena, 100));
    ck_assert_ptr_null(prt_arena_alloc(arena, 20000));
    ck_assert_int_eq(prt_error_last()->status, POPRT_E_NOMEM);
    ck_assert_ptr_null(prt_arena_alloc_n(arena, SIZE_MAX / 2, 4));
    ck_assert_ptr_null(prt_arena_alloc(arena, SIZE_MAX));
    ck_assert_ptr_null(prt_arena_text(arena, NULL, SIZE_MAX));
    ck_assert_uint_le(prt_arena_size(arena), 10000);
    prt_arena_release(arena);
}
END_TEST

START_TEST(reset_keeps_one_block)
{
    counter c = { 0 };
    const prt_allocator allocator = { .user = &c,
        .alloc = counted_alloc,
        .release = counted_release };
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(&allocator, 0, &arena), POPRT_OK);
    ck_assert_ptr_eq(prt_arena_allocator(arena), &allocator);
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_nonnull(prt_arena_alloc(arena, 1000));
    prt_arena_reset(arena);
    ck_assert_uint_eq(c.live, 2);
    const size_t requests = c.requests;
    const unsigned char *again = prt_arena_alloc(arena, 1000);
    ck_assert_uint_eq(c.requests, requests);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(again[i], 0);
    prt_arena_release(arena);
    prt_arena_release(NULL);
    ck_assert_uint_eq(c.live, 0);
}
END_TEST

START_TEST(every_refusal_is_reported)
{
    for (size_t refuse_at = 1; refuse_at < 20; refuse_at++) {
        counter c = { .refuse_at = refuse_at };
        const prt_allocator allocator = { .user = &c,
            .alloc = counted_alloc,
            .release = counted_release };
        prt_arena *arena = NULL;
        if (prt_arena_create(&allocator, 0, &arena) == POPRT_OK) {
            for (int i = 0; i < 30; i++) {
                char *text = prt_arena_text(arena, "abc", 3);
                ck_assert(text == NULL || strcmp(text, "abc") == 0);
                (void)prt_arena_alloc(arena, 3000);
            }
        }
        prt_arena_release(arena);
        ck_assert_uint_eq(c.live, 0);
    }
}
END_TEST

START_TEST(vectors_grow)
{
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    PRT_VEC(int) numbers = { 0 };
    for (int i = 0; i < 1000; i++)
        ck_assert(PRT_VEC_PUSH(arena, &numbers, i));
    ck_assert_uint_eq(numbers.count, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(numbers.data[i], i);
    prt_arena_release(arena);
}
END_TEST

PRT_TEST_MAIN("base/arena", memory_is_zeroed_aligned_and_disjoint, limit_and_overflow_are_refused,
    reset_keeps_one_block, every_refusal_is_reported, vectors_grow)
