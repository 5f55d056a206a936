/* SPDX-License-Identifier: MIT */
/*
 * regex.h — regular expressions for RegexFullMatch and Tokenizer: the common part of RE2's syntax,
 * matched in time proportional to text times pattern whatever either holds.
 *
 * Known: characters, `.`, classes with ranges, negation and [:names:], \d \w \s and their
 * opposites, \n \t \r \f \v \a, \xHH, \x{H…}, anchors ^ $ \A \z, \b \B, groups ( ), (?: ),
 * (?P<name> ), alternatives, and * + ? {n} {n,} {n,m}, lazy or not. Flags, \p{…} and \Q are not.
 */
#ifndef PRT_OP_SHARE_REGEX_H
#define PRT_OP_SHARE_REGEX_H

#include "base/str.h"

enum {
    PRT_REGEX_MAX_CODE = 1 << 15, /* instructions, after repetitions are written out */
    PRT_REGEX_MAX_DEPTH = 128,    /* groups in groups */
    PRT_REGEX_MAX_REPEAT = 1000   /* as RE2 */
};

typedef struct prt_regex prt_regex;

/* Where memory comes from; NULL is a refusal (recorded). Nothing is given back. */
typedef struct prt_regex_memory {
    void *(*alloc)(void *user, size_t size);
    void *user;
} prt_regex_memory;

/* On failure `why` says what is wrong: POPRT_E_ARG for no expression, POPRT_E_UNSUPPORTED,
 * POPRT_E_LIMIT or POPRT_E_NOMEM. */
poprt_status prt_regex_create(prt_str pattern, prt_regex_memory memory, prt_regex **out,
    const char **why);

/* Whether all of the text (UTF-8; other bytes count as U+FFFD) matches. */
bool prt_regex_matches(prt_regex *regex, const char *text, size_t size);

/* Where the longest match that begins at byte `from` ends; SIZE_MAX when there is none. */
size_t prt_regex_longest(prt_regex *regex, const char *text, size_t size, size_t from);

#endif
