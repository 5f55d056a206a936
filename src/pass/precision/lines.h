/* SPDX-License-Identifier: MIT */
/* lines.h — builder of log texts in an arena; numbers do not depend on the locale. Sticky: after a
 * failure the calls do nothing. */
#ifndef PRT_PASS_PRECISION_LINES_H
#define PRT_PASS_PRECISION_LINES_H

#include "base/str.h"
#include "base/vec.h"
#include "pass/precision/stats.h"

typedef struct prt_lines {
    prt_arena *arena;
    PRT_VEC(char) text;
    bool failed;
} prt_lines;

void prt_lines_text(prt_lines *to, prt_str text);
void prt_lines_number(prt_lines *to, double value); /* printed with the precision of float32 */
/* Appends a literal or text. */
void prt_lines_append(prt_lines *to, const char *text);
void prt_lines_field(prt_lines *to, const char *name, double value); /* appends " name value" */
/* Appends " mean ... variance ... skewness ... kurtosis ...". */
void prt_lines_moments(prt_lines *to, const prt_moments *m);

poprt_status prt_lines_finish(prt_lines *to, prt_str *out);
/* Finishes the text and writes it to FOLDER/NAME; on failure no file is written. */
poprt_status prt_lines_write(prt_lines *to, const prt_allocator *allocator, const char *folder,
    const char *name);
poprt_status prt_lines_write_text(prt_str text, const prt_allocator *allocator, const char *folder,
    const char *name);

#endif
