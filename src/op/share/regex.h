/* SPDX-License-Identifier: MIT */
/*
 * regex.h — regular expressions for operators on strings: the common part of RE2's syntax,
 * matched in time proportional to text size times pattern size for every input.
 *
 * Supported: characters, `.`, classes with ranges, negation and [:names:], \d \w \s and their
 * opposites, \n \t \r \f \v \a, \xHH, \x{H…}, \Q…\E, anchors ^ $ \A \z, \b \B, groups ( ),
 * (?: ), (?P<name> ), flags (?imsU-imsU) and (?imsU-imsU: ), alternatives, and * + ? {n} {n,}
 * {n,m}, lazy or greedy. Not supported: \p{…}, \C, and octal numbers. The flag i knows the letters
 * of letter_case.h.
 */
#ifndef PRT_OP_SHARE_REGEX_H
#define PRT_OP_SHARE_REGEX_H

#include "base/str.h"

enum {
    PRT_REGEX_MAX_CODE = 1 << 15, /* maximum number of instructions, with repetitions written out */
    PRT_REGEX_MAX_DEPTH = 128,    /* maximum nesting of groups */
    PRT_REGEX_MAX_REPEAT = 1000,  /* maximum repetition count, as in RE2 */
    PRT_REGEX_MAX_SPANS = 10      /* the match, and groups 1 to 9 */
};

typedef struct prt_regex prt_regex;

/* Allocator; it returns NULL, with the error recorded, if memory is refused. Nothing is freed. */
typedef struct prt_regex_memory {
    void *(*alloc)(void *user, size_t size);
    void *user;
} prt_regex_memory;

/* The bytes [first, end) of a text; SIZE_MAX: of a group that took no part in the match. */
typedef struct prt_regex_span {
    size_t first, end;
} prt_regex_span;

/* Compiles a pattern. `n_spans` is 0, or for prt_regex_search the number of spans to record: that
 * of the match, and those of the first groups. On failure `*why` is the reason: POPRT_E_ARG for a
 * syntax error, POPRT_E_UNSUPPORTED, POPRT_E_LIMIT or POPRT_E_NOMEM. */
poprt_status prt_regex_create(prt_str pattern, uint32_t n_spans, prt_regex_memory memory,
    prt_regex **out, const char **why);

/* Returns the number of groups ( ) and (?P<name> ) of the pattern. */
uint32_t prt_regex_groups(const prt_regex *regex);

/* Returns true if the whole text matches (UTF-8; each invalid byte counts as U+FFFD). */
bool prt_regex_matches(prt_regex *regex, const char *text, size_t size);

/* Returns the end of the longest match that begins at byte `from`; SIZE_MAX if there is no
 * match. */
size_t prt_regex_longest(prt_regex *regex, const char *text, size_t size, size_t from);

/* Finds the first match that begins at byte `from` or later and, of those that begin there, the one
 * that a backtracking search would find first, as RE2 does. Writes the `n_spans` spans of
 * prt_regex_create. Invalid bytes of UTF-8 match nothing. Returns false if there is no match. */
bool prt_regex_search(prt_regex *regex, const char *text, size_t size, size_t from,
    prt_regex_span *spans);

#endif
