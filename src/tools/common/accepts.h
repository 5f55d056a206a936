/* SPDX-License-Identifier: MIT */
/*
 * accepts.h — the values that an option of the command line accepts, as a text in its row:
 *
 *     NULL             any text
 *     "bool"           True, true, 1, False, false or 0
 *     "int", "real"    a whole number, or any number
 *     "int 0..8"       a whole number from 0 to 8; without the 8: from 0
 *     "real >0..1"     a number above 0, at most 1; without '>': from 0; without the 1: no maximum
 *     "a|b"            one of these words
 */
#ifndef PRT_TOOLS_COMMON_ACCEPTS_H
#define PRT_TOOLS_COMMON_ACCEPTS_H

#include <stdbool.h>
#include <stddef.h>

bool prt_accepts(const char *accepts, const char *text);

/* Writes the accepted values, worded to follow "expected". `size` must be at least 128. */
void prt_accepts_say(const char *accepts, char *to, size_t size);

/* Tells whether `accepts` is a list of words, which completion and help show. */
bool prt_accepts_words(const char *accepts);

/* Calls `put` with each word of a list. */
void prt_accepts_each_word(const char *words,
    void (*put)(void *user, const char *word, size_t size), void *user);

#endif
