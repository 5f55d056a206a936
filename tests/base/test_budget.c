/* SPDX-License-Identifier: MIT */
/*
 * test_budget.c — memory budgets: allocated bytes count, and a request above the limit is refused
 * with a message that has the numbers.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/blob.h"
#include "base/budget.h"
#include "base/file.h"
#include "support/check_main.h"

START_TEST(no_limit_needs_no_budget)
{
    prt_budget *b = NULL;
    ck_assert_int_eq(prt_budget_create(NULL, 0, &b), POPRT_OK);
    ck_assert_ptr_null(b);
    ck_assert_ptr_eq(prt_budget_allocator(b, &prt_mem_libc), &prt_mem_libc);
    prt_budget_release(b);
}
END_TEST

START_TEST(the_sum_is_limited)
{
    prt_budget *b = NULL;
    ck_assert_int_eq(prt_budget_create(NULL, 10000, &b), POPRT_OK);
    const prt_allocator *a = prt_budget_allocator(b, NULL);
    void *first = prt_mem_alloc(a, 6000), *second = prt_mem_alloc(a, 3000);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert_uint_eq((uintptr_t)second % 64, 0);
    ck_assert_uint_eq(prt_budget_held(b), 9128);
    ck_assert_ptr_null(prt_mem_alloc(a, 1000));
    ck_assert_int_eq(prt_error_last()->status, POPRT_E_NOMEM);
    ck_assert_str_eq(prt_error_last()->message,
        "memory_limit of 10000 bytes reached: 9128 are held, and 1064 more are needed");
    ck_assert_ptr_null(prt_mem_alloc(a, SIZE_MAX - 10));
    prt_mem_free(a, first);
    ck_assert_uint_eq(prt_budget_held(b), 3064);
    first = prt_mem_alloc(a, 6000);
    ck_assert_ptr_nonnull(first);
    prt_mem_free(a, first);
    prt_mem_free(a, second);
    prt_budget_release(b);
}
END_TEST

/* An executable keeps memory of the model that it was compiled from. */
START_TEST(pieces_outlive_the_creator)
{
    prt_budget *b = NULL;
    prt_blob *blob = NULL;
    prt_arena *arena = NULL;
    ck_assert_int_eq(prt_budget_create(NULL, 1 << 20, &b), POPRT_OK);
    const prt_allocator *a = prt_budget_allocator(b, NULL);
    ck_assert_int_eq(prt_blob_create(a, 100, &blob), POPRT_OK);
    ck_assert_int_eq(prt_arena_create(a, 0, &arena), POPRT_OK);
    prt_budget_release(b);
    ck_assert_ptr_nonnull(prt_arena_alloc(arena, 10000));
    ck_assert_ptr_null(prt_arena_alloc(arena, 2 << 20));
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "memory_limit of 1048576 bytes"));
    prt_arena_release(arena);
    prt_blob_release(blob);
}
END_TEST

START_TEST(mapped_files_count_against_the_limit)
{
    enum { SIZE = 50000 };
    char path[] = "/tmp/poprt-budget-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, SIZE), 0);
    ck_assert_int_eq(close(fd), 0);
    prt_budget *b = NULL;
    prt_blob *file = NULL, *second = NULL;
    ck_assert_int_eq(prt_budget_create(NULL, 2 * SIZE, &b), POPRT_OK);
    const prt_allocator *a = prt_budget_allocator(b, NULL);
    ck_assert_int_eq(prt_file_map(a, path, &file), POPRT_OK);
    const size_t held = prt_budget_held(b);
    ck_assert_uint_ge(held, SIZE);
    ck_assert_int_eq(prt_file_map(a, path, &second), POPRT_E_NOMEM);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "memory_limit of 100000 bytes"));
    ck_assert_uint_eq(prt_budget_held(b), held);
    prt_budget_release(b); /* the file holds it */
    prt_blob_release(file);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static void *allocate_and_release(void *arg)
{
    const prt_allocator *a = arg;
    for (int i = 0; i < 20000; i++)
        prt_mem_free(a, prt_mem_alloc_raw(a, (size_t)(i % 700)));
    return NULL;
}

START_TEST(threads_share_a_budget)
{
    pthread_t threads[4];
    prt_budget *b = NULL;
    ck_assert_int_eq(prt_budget_create(NULL, 1500, &b), POPRT_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_and_release,
                             (void *)(uintptr_t)prt_budget_allocator(b, NULL)),
            0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(prt_budget_held(b), 0);
    prt_budget_release(b);
}
END_TEST

PRT_TEST_MAIN("base/budget", no_limit_needs_no_budget, the_sum_is_limited,
    pieces_outlive_the_creator, mapped_files_count_against_the_limit, threads_share_a_budget)
