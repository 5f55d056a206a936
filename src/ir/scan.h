/* SPDX-License-Identifier: MIT */
/*
 * scan.h — reading the text form: words, quoted strings, numbers, and failures that name the line
 * and column; types and constant data on top of them (scan_type.c, scan_data.c).
 */
#ifndef PRT_IR_SCAN_H
#define PRT_IR_SCAN_H

#include "ir/text.h"

typedef struct prt_scan {
    const char *text;
    size_t size, at;
    prt_module *module;         /* pools for types, symbols and constants */
    prt_arena *arena;           /* for what lives as long as the call */
    uint32_t depth, type_depth; /* of regions; of types and dimensions */
} prt_scan;

/* A failure at the current place: "line 3, column 7: …". */
poprt_status prt_scan_fail(const prt_scan *s, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);
/* Puts the place before the message of the failure that was just recorded. */
poprt_status prt_scan_place(const prt_scan *s, poprt_status status);

/* Skips blanks and comments; with `lines`, line ends and ';' too. */
void prt_scan_space(prt_scan *s, bool lines);

/* Next character after blanks of this line; 0 at the end of the text. */
char prt_scan_peek(prt_scan *s);
bool prt_scan_accept(prt_scan *s, char c);
bool prt_scan_accept_word(prt_scan *s, const char *word); /* followed by no name character */
poprt_status prt_scan_expect(prt_scan *s, char c);

/* A run of name characters; size 0 when there is none. Points into the text. */
prt_str prt_scan_word(prt_scan *s);
/* A word or a quoted string. */
poprt_status prt_scan_name(prt_scan *s, prt_str *out);
/* Characters of a number: digits, letters, sign, point. */
prt_str prt_scan_number(prt_scan *s);
poprt_status prt_scan_u32(prt_scan *s, uint32_t *out);

/* "f32[2,(seq+1),?]", "seq(i64[])", "?". */
poprt_status prt_scan_type(prt_scan *s, const prt_type **out);

/* What follows the type of a constant: "{1, 2}", "zeros", "ones", "fill 0.5". The bytes are a new
 * blob; characters of strings are in it too. */
poprt_status prt_scan_data(prt_scan *s, const prt_type *type, prt_blob **out);

/* The value of attribute `index` of `op` into its struct, and its bit in `present`. */
poprt_status prt_scan_attr(prt_scan *s, prt_op *op, uint32_t index);

#endif
