/* SPDX-License-Identifier: MIT */
/* lines.h — text of logs that grows in an arena, numbers the same in every locale. Sticky: after a
 * failure nothing more is added. */
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
void prt_lines_number(prt_lines *to, double value); /* as float32 has it */
/* A literal, a number and so on: "mse ", 0.5, … */
void prt_lines_put(prt_lines *to, const char *text);
void prt_lines_field(prt_lines *to, const char *name, double value); /* " name value" */
/* " mean … variance … skewness … kurtosis …" */
void prt_lines_moments(prt_lines *to, const prt_moments *m);

poprt_status prt_lines_finish(prt_lines *to, prt_str *out);
/* Ends the text and writes it to FOLDER/NAME, whole or not at all. */
poprt_status prt_lines_write(prt_lines *to, const prt_allocator *allocator, const char *folder,
    const char *name);
poprt_status prt_lines_write_text(prt_str text, const prt_allocator *allocator, const char *folder,
    const char *name);

#endif
