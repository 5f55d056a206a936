/* SPDX-License-Identifier: MIT */
/*
 * text.h — what printing and parsing the text form share: which names go without quotes, single
 * elements as text, and a growing buffer.
 */
#ifndef PRT_IR_TEXT_H
#define PRT_IR_TEXT_H

#include "ir/ir.h"

enum {
    PRT_TEXT_DEPTH = 64,      /* nesting of regions */
    PRT_TEXT_ELEMENTS = 64,   /* constants with more are not printed in full */
    PRT_TEXT_ELEMENT_MAX = 48 /* bytes of one printed number, the zero byte included */
};

/* [A-Za-z0-9_.:/-] */
bool prt_text_name_char(char c);

/* May be written as it is: name characters only, and none of the words of the grammar. */
bool prt_text_is_plain(prt_str name);

/* Element `index` as text that reads back to the same bits. No strings. */
void prt_text_of_element(int32_t dtype, const void *data, size_t index, char *to, size_t size);

/* The inverse; false when the text is no element of this type (out of range, say). */
bool prt_text_to_element(int32_t dtype, prt_str text, void *data, size_t index);

/* Text under construction. Sticky: after a failure the calls do nothing, `finish` reports it. */
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
