/* SPDX-License-Identifier: MIT */
/* regex_code.h — the NFA instructions that regex.c emits and regex_match.c executes. */
#ifndef PRT_OP_SHARE_REGEX_CODE_H
#define PRT_OP_SHARE_REGEX_CODE_H

#include "op/share/regex.h"

typedef enum prt_regex_op {
    PRT_REGEX_SET,   /* consumes one character in (or not in) the ranges [x, x + y) */
    PRT_REGEX_SPLIT, /* continues at +x, which is preferred, and at +y */
    PRT_REGEX_JUMP,  /* continues at +x */
    PRT_REGEX_SAVE,  /* records the position as bound x of the spans */
    PRT_REGEX_START, /* START to NO_WORD are assertions */
    PRT_REGEX_END,
    PRT_REGEX_LINE_START,
    PRT_REGEX_LINE_END,
    PRT_REGEX_WORD,
    PRT_REGEX_NO_WORD,
    PRT_REGEX_MATCH
} prt_regex_op;

typedef struct prt_regex_code {
    uint8_t op;
    bool negated, fold; /* fold: a letter counts in both cases */
    int32_t x, y;
} prt_regex_code;

typedef struct prt_regex_range {
    uint32_t first, last;
} prt_regex_range;

/* A pc that a search has to follow, or (pc -1) the older position of a bound to restore. */
typedef struct prt_regex_todo {
    int32_t pc, bound;
    size_t position;
} prt_regex_todo;

/* The surroundings of a position in the text, for assertions. */
typedef struct prt_regex_place {
    bool start, end, line_start, line_end, word_before, word_after;
} prt_regex_place;

struct prt_regex {
    prt_regex_code *code;
    int32_t n_code;
    prt_regex_range *ranges;
    int32_t n_ranges;
    uint32_t n_groups; /* number of groups of the pattern */
    uint32_t n_spans;  /* number of spans that a search records, that of the match included */
    /* For matching: current and next thread lists, a stack of pcs, and the step in which each pc
     * was added last. */
    int32_t *now, *next, *stack;
    uint64_t *seen;
    uint64_t round;
    /* For searches, NULL without spans: the stack, and a row of 2 * n_spans positions for each
     * thread of both lists and for the thread that is followed. */
    prt_regex_todo *todo;
    size_t *spans_now, *spans_next, *spans;
};

enum { PRT_REGEX_NO_CHARACTER = 0xfffd }; /* for a byte that is not valid UTF-8 */

/* Decodes the character at `*at` and advances it; each invalid byte of UTF-8 counts as U+FFFD. */
uint32_t prt_regex_decode(const char **at, const char *end);

/* Returns true for ASCII letters, digits and the underscore. */
bool prt_regex_is_word(uint32_t c);

/* Returns the surroundings of byte `at`. */
prt_regex_place prt_regex_place_of(const char *text, size_t size, size_t at);

/* Returns whether an assertion holds at a place. */
bool prt_regex_holds(prt_regex_op op, const prt_regex_place *at);

/* Returns whether a SET instruction consumes a character. */
bool prt_regex_takes(const prt_regex *r, const prt_regex_code *c, uint32_t character);

#endif
