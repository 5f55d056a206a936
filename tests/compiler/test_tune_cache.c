/* SPDX-License-Identifier: MIT */
/*
 * test_tune_cache.c — the file of tuning results: valid lines, hostile lines, and two concurrent
 * writers.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "base/status.h"
#include "compiler/tune_cache.h"
#include "support/check_main.h"

#define HEADER "poprt tune cache 1\n"

static prt_tune_cache new_cache(void)
{
    prt_tune_cache cache = { 0 };
    ck_assert_int_eq(prt_arena_create(NULL, 0, &cache.arena), POPRT_OK);
    return cache;
}

static prt_tune_cache parsed(const char *text, size_t size)
{
    prt_tune_cache cache = new_cache();
    ck_assert_int_eq(prt_tune_cache_parse(&cache, text, size), POPRT_OK);
    return cache;
}

static void check_candidate(const prt_tune_cache *cache, const char *machine, const char *key,
    const char *candidate)
{
    const prt_tune_entry *e = prt_tune_cache_find(cache, machine, key);
    ck_assert_ptr_nonnull(e);
    ck_assert(prt_str_is(e->candidate, candidate));
}

START_TEST(lines_are_found_by_machine_version_and_key)
{
    static const char text[] = HEADER "m " POPRT_VERSION_STRING " full k panels\n"
                                      "n " POPRT_VERSION_STRING " fast k winograd\n"
                                      "m 0.0.1 full old panels\n";
    prt_tune_cache cache = parsed(text, sizeof(text) - 1);
    ck_assert_uint_eq(cache.entries.count, 3);
    ck_assert_uint_eq(cache.ignored, 0);
    check_candidate(&cache, "m", "k", "panels");
    check_candidate(&cache, "n", "k", "winograd");
    ck_assert_ptr_null(prt_tune_cache_find(&cache, "m", "old"));
    ck_assert_ptr_null(prt_tune_cache_find(&cache, "o", "k"));
    ck_assert_ptr_null(prt_tune_cache_find(&cache, "m", ""));
    prt_arena_release(cache.arena);
}
END_TEST

START_TEST(malformed_lines_are_skipped)
{
    static const char *const lines[] = { "", " ", "m", "m 1 full k", "m 1 full k w x",
        "m 1 slow k w", "m  1 full k w", "m 1 full k w ", " m 1 full k w", "m 1 full k\tz w",
        "m 1 full k\x01 w", "m 1 full k\xff w", "m 1 full k w\r", "m 1 FULL k w" };
    char text[1024] = HEADER;
    for (size_t i = 0; i < PRT_COUNT_OF(lines); i++) {
        const size_t n = strlen(text);
        (void)snprintf(text + n, sizeof(text) - n, "%s\n", lines[i]);
    }
    const size_t n = strlen(text);
    (void)snprintf(text + n, sizeof(text) - n, "m " POPRT_VERSION_STRING " full k w");
    prt_tune_cache cache = parsed(text, strlen(text));
    ck_assert_uint_eq(cache.ignored, PRT_COUNT_OF(lines));
    ck_assert_uint_eq(cache.entries.count, 1);
    check_candidate(&cache, "m", "k", "w");
    prt_arena_release(cache.arena);
}
END_TEST

START_TEST(zero_bytes_and_long_lines_are_handled)
{
    static char text[PRT_TUNE_LINE * 4] = HEADER;
    const size_t head = strlen(HEADER);
    memcpy(text + head, "m 1 full k\0 w\nm 1 full ", 23);
    memset(text + head + 23, 'k', PRT_TUNE_LINE);
    memcpy(text + head + 23 + PRT_TUNE_LINE, " w\n\0\n", 5);
    prt_tune_cache cache = parsed(text, head + 23 + PRT_TUNE_LINE + 5);
    ck_assert_uint_eq(cache.entries.count, 0);
    ck_assert_uint_eq(cache.ignored, 3);
    prt_arena_release(cache.arena);
}
END_TEST

/* Random bytes are parsed without a crash. */
START_TEST(random_bytes_are_handled)
{
    static const char alphabet[] = "m 1fulk\n\n  \t\0\xff";
    char text[600] = HEADER;
    uint32_t state = 7;
    for (int round = 0; round < 2000; round++) {
        const size_t head = strlen(HEADER), size = head + (size_t)round % 500;
        for (size_t i = head; i < size; i++) {
            state = state * 1664525u + 1013904223u;
            text[i] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
        }
        prt_tune_cache cache = parsed(text, size);
        ck_assert_uint_le(cache.entries.count, size);
        ck_assert(!cache.foreign);
        prt_arena_release(cache.arena);
    }
}
END_TEST

START_TEST(the_number_of_lines_is_bounded)
{
    const size_t line = 40, n = PRT_TUNE_LINES + 10;
    char *text = malloc(n * line + 64);
    size_t size = (size_t)sprintf(text, HEADER);
    for (size_t i = 0; i < n; i++)
        size += (size_t)sprintf(text + size, "m " POPRT_VERSION_STRING " full k%zu w\n", i);
    prt_tune_cache cache = parsed(text, size);
    ck_assert_uint_eq(cache.entries.count, PRT_TUNE_LINES);
    ck_assert_uint_eq(cache.ignored, 10);
    prt_arena_release(cache.arena);
    free(text);
}
END_TEST

/* ---- files ---- */

static char folder[64], path[96];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/poprt-tune-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/cache", folder);
}

static void remove_folder(void)
{
    (void)unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no other file was left there */
}

static void add(prt_tune_cache *cache, const char *key, const char *candidate)
{
    ck_assert_int_eq(prt_tune_cache_set(cache, "m", "full", key, candidate), POPRT_OK);
}

START_TEST(two_writers_lose_nothing)
{
    make_folder();
    prt_tune_cache one = new_cache(), two = new_cache(), all = new_cache();
    ck_assert_int_eq(prt_tune_cache_read(&one, path), POPRT_OK);
    ck_assert_int_eq(prt_tune_cache_read(&two, path), POPRT_OK);
    add(&one, "a", "panels");
    add(&one, "both", "panels");
    add(&two, "b", "winograd");
    add(&two, "both", "panels");
    add(&two, "both", "winograd");
    ck_assert_int_eq(prt_tune_cache_write(&one, path), POPRT_OK);
    ck_assert_int_eq(prt_tune_cache_write(&two, path), POPRT_OK);
    ck_assert_int_eq(prt_tune_cache_read(&all, path), POPRT_OK);
    ck_assert_uint_eq(all.entries.count, 3);
    check_candidate(&all, "m", "a", "panels");
    check_candidate(&all, "m", "b", "winograd");
    check_candidate(&all, "m", "both", "winograd");
    prt_arena_release(one.arena);
    prt_arena_release(two.arena);
    prt_arena_release(all.arena);
    remove_folder();
}
END_TEST

START_TEST(other_files_are_not_overwritten)
{
    char found[32] = "";
    make_folder();
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    (void)fputs("a letter\n", file);
    (void)fclose(file);
    prt_tune_cache cache = new_cache();
    ck_assert_int_eq(prt_tune_cache_read(&cache, path), POPRT_OK);
    ck_assert(cache.foreign);
    add(&cache, "a", "panels");
    ck_assert_int_eq(prt_tune_cache_write(&cache, path), POPRT_E_STATE);
    file = fopen(path, "rb");
    ck_assert_ptr_nonnull(fgets(found, sizeof(found), file));
    (void)fclose(file);
    ck_assert_str_eq(found, "a letter\n");
    prt_arena_release(cache.arena);
    remove_folder();
}
END_TEST

START_TEST(overlong_words_are_not_stored)
{
    static char word[PRT_TUNE_LINE + 1];
    memset(word, 'k', PRT_TUNE_LINE);
    prt_tune_cache cache = new_cache();
    add(&cache, "two words", "panels");
    add(&cache, "", "panels");
    add(&cache, "line\n", "panels");
    add(&cache, word, "panels");
    ck_assert_uint_eq(cache.entries.count, 0);
    prt_arena_release(cache.arena);
}
END_TEST

PRT_TEST_MAIN("compiler/tune_cache", lines_are_found_by_machine_version_and_key,
    malformed_lines_are_skipped, zero_bytes_and_long_lines_are_handled, random_bytes_are_handled,
    the_number_of_lines_is_bounded, two_writers_lose_nothing, other_files_are_not_overwritten,
    overlong_words_are_not_stored)
