/* SPDX-License-Identifier: MIT */
/*
 * scan.h — scanner of the text form: words, quoted strings, numbers, and errors that name line and
 * column; types and constant data (scan_type.c, scan_data.c).
 */
#ifndef PRT_IR_SCAN_H
#define PRT_IR_SCAN_H

#include "ir/text.h"

typedef struct prt_scan {
    const char *text;
    size_t size, at;
    prt_module *module;         /* owns the types, symbols and constants that are read */
    prt_arena *arena;           /* scratch, needed until the call returns */
    uint32_t depth, type_depth; /* nesting of regions; nesting of types and dimensions */
} prt_scan;

/* Fails at the current position: "line 3, column 7: ...". */
poprt_status prt_scan_fail(const prt_scan *s, poprt_status status, const char *fmt, ...)
    PRT_PRINTF(3, 4);
/* Puts the current position before the message of the last recorded failure. */
poprt_status prt_scan_place(const prt_scan *s, poprt_status status);

/* Skips blanks and comments; with `lines`, also line ends and ';'. */
void prt_scan_space(prt_scan *s, bool lines);

/* Returns the next character after blanks of this line, without consuming it; 0 at the end of the
 * text. */
char prt_scan_peek(prt_scan *s);
bool prt_scan_accept(prt_scan *s, char c);
/* the word must not be followed by a name character */
bool prt_scan_accept_word(prt_scan *s, const char *word);
poprt_status prt_scan_expect(prt_scan *s, char c);

/* Returns a run of name characters, which points into the text; size 0 when there is none here. */
prt_str prt_scan_word(prt_scan *s);
/* Reads a word or a quoted string. */
poprt_status prt_scan_name(prt_scan *s, prt_str *out);
/* Returns the characters of a number: digits, letters, sign, point. */
prt_str prt_scan_number(prt_scan *s);
poprt_status prt_scan_u32(prt_scan *s, uint32_t *out);

/* Reads a type: "f32[2,(seq+1),?]", "seq(i64[])", "?". */
poprt_status prt_scan_type(prt_scan *s, const prt_type **out);

/* Reads the data that follows the type of a constant: "{1, 2}", "zeros", "ones", "fill 0.5". The
 * bytes are a new blob, which also contains the characters of strings. */
poprt_status prt_scan_data(prt_scan *s, const prt_type *type, prt_blob **out);

/* Reads the value of attribute `index` of `op` into its struct and sets its bit in `present`. */
poprt_status prt_scan_attr(prt_scan *s, prt_op *op, uint32_t index);

#endif
