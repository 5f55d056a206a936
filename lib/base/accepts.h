/* SPDX-License-Identifier: MIT */
/*
 * accepts.h — the values that an option accepts, as a text in the row of the option:
 *
 *     NULL             any text
 *     "bool"           True, true, 1, False, false or 0
 *     "int", "real"    a whole number, or any number
 *     "int 0..8"       a whole number from 0 to 8; without the 8: from 0
 *     "real >0..1"     a number above 0, at most 1; without '>': from 0; without the 1: no maximum
 *     "a|b"            one of these words
 */
#ifndef PRT_BASE_ACCEPTS_H
#define PRT_BASE_ACCEPTS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether `text` is one of the accepted values. */
bool prt_accepts(const char *accepts, const char *text);

/* Writes the accepted values, worded to follow "expected". `size` must be at least 128. */
void prt_accepts_describe(const char *accepts, char *to, size_t size);

/* Returns whether `accepts` is a list of words, which completion and help show. */
bool prt_accepts_words(const char *accepts);

/* Calls `visit` with each word of a list. */
void prt_accepts_each_word(const char *words,
    void (*visit)(void *user, const char *word, size_t size), void *user);

#endif
