/* SPDX-License-Identifier: MIT */
/* regex_code.h — the NFA instructions that regex.c emits and regex_match.c executes. */
#ifndef PRT_OP_SHARE_REGEX_CODE_H
#define PRT_OP_SHARE_REGEX_CODE_H

#include "op/share/regex.h"

typedef enum prt_regex_op {
    PRT_REGEX_SET,   /* consumes one character in (or not in) the ranges [x, x + y) */
    PRT_REGEX_SPLIT, /* continues at +x and at +y */
    PRT_REGEX_JUMP,  /* continues at +x */
    PRT_REGEX_START, /* START to NO_WORD are assertions */
    PRT_REGEX_END,
    PRT_REGEX_WORD,
    PRT_REGEX_NO_WORD,
    PRT_REGEX_MATCH
} prt_regex_op;

typedef struct prt_regex_code {
    uint8_t op;
    bool negated;
    int32_t x, y;
} prt_regex_code;

typedef struct prt_regex_range {
    uint32_t first, last;
} prt_regex_range;

struct prt_regex {
    prt_regex_code *code;
    int32_t n_code;
    prt_regex_range *ranges;
    int32_t n_ranges;
    /* For matching: current and next thread lists, a stack of pcs, and the step in which each pc
     * was added last. */
    int32_t *now, *next, *stack;
    uint64_t *seen;
    uint64_t round;
};

/* Decodes the character at `*at` and advances it; each invalid byte of UTF-8 counts as U+FFFD. */
uint32_t prt_regex_decode(const char **at, const char *end);

/* Returns true for ASCII letters, digits and the underscore. */
bool prt_regex_is_word(uint32_t c);

#endif
