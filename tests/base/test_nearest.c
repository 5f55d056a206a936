/* SPDX-License-Identifier: MIT */
/* test_nearest.c — suggestions for misspelled words. */
#include "base/nearest.h"

#include <string.h>

#include "support/check_main.h"

static const char *const names[] = { "input", "input-dir", "iterations", "seed", "threads" };

static const char *list_nearest(const char *word, char *to, size_t size)
{
    prt_nearest(word, names, sizeof(names) / sizeof(names[0]), to, size);
    return to;
}

START_TEST(the_nearest_come_first)
{
    char text[64];
    ck_assert_str_eq(list_nearest("inptu", text, sizeof(text)), "input, input-dir, seed");
    ck_assert_int_eq(strncmp(list_nearest("thread", text, sizeof(text)), "threads", 7), 0);
    ck_assert_int_eq(strncmp(list_nearest("iteration", text, sizeof(text)), "iterations", 10), 0);
    ck_assert_int_eq(strncmp(list_nearest("dir", text, sizeof(text)), "input-dir", 9), 0);
}
END_TEST

START_TEST(lists_that_do_not_fit_are_cut)
{
    char text[8] = "xxxxxxx", one[1] = { 'x' };
    ck_assert_str_eq(list_nearest("threads", text, sizeof(text)), "threads");
    ck_assert_str_eq(list_nearest("threads", one, sizeof(one)), "");
    prt_nearest("x", names, 0, text, sizeof(text));
    ck_assert_str_eq(text, "");
    prt_nearest("x", names, 1, text, 0);
}
END_TEST

START_TEST(long_words_are_compared_by_their_start)
{
    char text[64], word[500];
    memset(word, 'i', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    ck_assert_str_ne(list_nearest(word, text, sizeof(text)), "");
}
END_TEST

START_TEST(errors_name_the_nearest)
{
    ck_assert_int_eq(prt_fail_nearest("inptu", names, PRT_COUNT_OF(names),
                         "there is no %s of this name", "one"),
        POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->subject, "inptu");
    ck_assert_str_eq(prt_error_last()->message,
        "there is no one of this name; nearest: input, input-dir, seed");
    ck_assert_int_eq(prt_fail_nearest("inptu", NULL, 0, "there is none"), POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->message, "there is none");
}
END_TEST

PRT_TEST_MAIN("base/nearest", the_nearest_come_first, lists_that_do_not_fit_are_cut,
    long_words_are_compared_by_their_start, errors_name_the_nearest)
