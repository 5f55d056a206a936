/* SPDX-License-Identifier: MIT */
/* log_text.h — builder of log texts in an arena; numbers do not depend on the locale. Sticky: after
 * a failure the calls do nothing. */
#ifndef PRT_PASS_PRECISION_LOG_TEXT_H
#define PRT_PASS_PRECISION_LOG_TEXT_H

#include "base/str.h"
#include "base/vec.h"
#include "pass/precision/stats.h"

typedef struct prt_log_text {
    prt_arena *arena;
    PRT_VEC(char) text;
    bool failed;
} prt_log_text;

void prt_log_text_add(prt_log_text *to, prt_str text);
/* Appends a number with the precision of float32. */
void prt_log_text_add_number(prt_log_text *to, double value);
/* Appends a literal or text. */
void prt_log_text_add_literal(prt_log_text *to, const char *text);
/* Appends " name value". */
void prt_log_text_add_field(prt_log_text *to, const char *name, double value);
/* Appends " mean ... variance ... skewness ... kurtosis ...". */
void prt_log_text_add_moments(prt_log_text *to, const prt_moments *m);

poprt_status prt_log_text_finish(prt_log_text *to, prt_str *out);
/* Finishes the text and writes it to FOLDER/NAME; on failure no file is written. */
poprt_status prt_log_text_write(prt_log_text *to, const prt_allocator *allocator,
    const char *folder, const char *name);
poprt_status prt_log_text_write_str(prt_str text, const prt_allocator *allocator,
    const char *folder, const char *name);

#endif
