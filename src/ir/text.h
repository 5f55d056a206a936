/* SPDX-License-Identifier: MIT */
/*
 * text.h — functions shared by printing and parsing the text form: names that need no quotes,
 * elements as text, and a growing buffer.
 */
#ifndef PRT_IR_TEXT_H
#define PRT_IR_TEXT_H

#include "ir/ir.h"

enum {
    PRT_TEXT_DEPTH = 64,      /* deepest nesting of regions */
    PRT_TEXT_ELEMENTS = 64,   /* constants with more elements are not printed in full */
    PRT_TEXT_ELEMENT_MAX = 48 /* bytes of one printed number, including the terminating zero */
};

/* Returns whether `c` is one of [A-Za-z0-9_.:/-]. */
bool prt_text_name_char(char c);

/* Returns whether the name needs no quotes: it has name characters only and is not a keyword. */
bool prt_text_is_plain(prt_str name);

/* Writes element `index` as text that reads back to the same bits. Not for strings. */
void prt_text_of_element(int32_t dtype, const void *data, size_t index, char *to, size_t size);

/* Inverse of prt_text_of_element; returns false when the text is not a value of this type (for
 * instance out of range). */
bool prt_text_to_element(int32_t dtype, prt_str text, void *data, size_t index);

/* Growing text buffer. After a failure all calls do nothing, and prt_text_finish reports it. */
typedef struct prt_text_out {
    prt_arena *arena;
    char *data;
    size_t size, capacity;
    bool failed;
} prt_text_out;

void prt_text_put(prt_text_out *out, const char *bytes, size_t size);
void prt_text_format(prt_text_out *out, const char *fmt, ...) PRT_PRINTF(2, 3);
void prt_text_quote(prt_text_out *out, const char *bytes, size_t size);
poprt_status prt_text_finish(prt_text_out *out, prt_str *text);

#endif
