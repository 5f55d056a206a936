/* SPDX-License-Identifier: MIT */
/* test_accepts.c — accepted values of options: words, numbers within bounds, and their wording. */
#include "base/accepts.h"

#include <string.h>

#include "support/check_main.h"

static const char *describe(const char *accepts, char *to)
{
    prt_accepts_describe(accepts, to, 128);
    return to;
}

START_TEST(words_are_compared_as_a_whole)
{
    ck_assert(prt_accepts("off|fast|full", "fast"));
    ck_assert(!prt_accepts("off|fast|full", "fas"));
    ck_assert(!prt_accepts("off|fast|full", "off|fast"));
    ck_assert(!prt_accepts("off|fast|full", ""));
    ck_assert(prt_accepts(NULL, "anything"));
    ck_assert(prt_accepts_words("off|fast|full"));
    ck_assert(prt_accepts_words("integer|real"));
    ck_assert(!prt_accepts_words("int 0.."));
    ck_assert(!prt_accepts_words("real"));
    ck_assert(!prt_accepts_words("bool"));
    ck_assert(!prt_accepts_words(NULL));
}
END_TEST

START_TEST(numbers_are_within_their_bounds)
{
    ck_assert(prt_accepts("int 0..8", "8"));
    ck_assert(!prt_accepts("int 0..8", "9"));
    ck_assert(!prt_accepts("int 0..8", "-1"));
    ck_assert(!prt_accepts("int 0..8", "1.5"));
    ck_assert(!prt_accepts("int 0..8", ""));
    ck_assert(!prt_accepts("int 0..8", " 1"));
    ck_assert(prt_accepts("int -1..", "-1"));
    ck_assert(!prt_accepts("int -1..", "99999999999999999999"));
    ck_assert(prt_accepts("real >0..1", "1"));
    ck_assert(!prt_accepts("real >0..1", "0"));
    ck_assert(!prt_accepts("real >0..1", "nan"));
    ck_assert(!prt_accepts("real >0..1", "0.5x"));
    ck_assert(prt_accepts("bool", "False"));
    ck_assert(!prt_accepts("bool", "no"));
}
END_TEST

START_TEST(descriptions_state_words_and_bounds)
{
    char text[128], small[16 + 128];
    ck_assert_str_eq(describe("off|fast", text), "one of off, fast");
    ck_assert_str_eq(describe("int 0..8", text), "a whole number from 0 to 8");
    ck_assert_str_eq(describe("real >0..1", text), "a number above 0 to 1");
    ck_assert_str_eq(describe("real", text), "a number");
    ck_assert_str_eq(describe("bool", text), "True or False");
    ck_assert_str_eq(describe(NULL, text), "a text");
    memset(small, 'w', sizeof(small));
    small[sizeof(small) - 1] = '\0';
    ck_assert_uint_lt(strlen(describe(small, text)), sizeof(text));
}
END_TEST

PRT_TEST_MAIN("base/accepts", words_are_compared_as_a_whole, numbers_are_within_their_bounds,
    descriptions_state_words_and_bounds)
