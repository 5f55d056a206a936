/* SPDX-License-Identifier: MIT */
/* regex_code.h — what regex.c writes and regex_match.c runs. */
#ifndef PRT_OP_SHARE_REGEX_CODE_H
#define PRT_OP_SHARE_REGEX_CODE_H

#include "op/share/regex.h"

typedef enum prt_regex_op {
    PRT_REGEX_SET,   /* one character in (or not in) the ranges [x, x + y) */
    PRT_REGEX_SPLIT, /* go on at +x and at +y */
    PRT_REGEX_JUMP,  /* go on at +x */
    PRT_REGEX_START, /* assertions */
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
    /* For matching: threads now and next, pcs to follow, and when each pc was last added. */
    int32_t *now, *next, *stack;
    uint64_t *seen;
    uint64_t turn;
};

/* The character at `*at`, which moves on; bytes that are no UTF-8 count as U+FFFD each. */
uint32_t prt_regex_decode(const char **at, const char *end);

/* Letters, digits and the underscore of ASCII. */
bool prt_regex_is_word(uint32_t c);

#endif
