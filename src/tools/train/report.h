/* SPDX-License-Identifier: MIT */
/* report.h — losses and times of `poprt train`: the bar on a terminal, and a line for each report.
 */
#ifndef PRT_TOOLS_TRAIN_REPORT_H
#define PRT_TOOLS_TRAIN_REPORT_H

#include "tools/common/tool.h"

typedef struct prt_train_report {
    int64_t first, steps; /* steps done before this process; steps of the whole training */
    int64_t per_step;     /* samples of a step */
    double begun_ms, since_ms;
    double loss;   /* sum of the losses since the last report */
    int64_t count; /* steps since the last report */
    char note[64]; /* of the bar */
} prt_train_report;

/* A line. A number that was not computed is NAN. */
typedef struct prt_train_line {
    int64_t step;
    double epoch; /* epochs done */
    double loss;  /* mean of the steps since the last report */
    double validation_loss, accuracy, rate, samples_per_second;
} prt_train_line;

void prt_train_report_start(prt_train_report *r, int64_t first, int64_t steps, int64_t per_step);

/* Adds a step, the `step`-th of all, and shows it in the bar. */
void prt_train_report_add(prt_train_report *r, prt_progress *progress, int64_t step, double loss);

/* Sets step, loss and speed of a line. */
void prt_train_report_take(const prt_train_report *r, int64_t step, prt_train_line *line);

/* Prints a line of text, or a JSON object in one line, to standard output. */
poprt_status prt_train_report_print(const prt_train_report *r, prt_arena *arena,
    const prt_train_line *line, bool json);

/* Begins the steps of the next report. The time of the report itself does not count. */
void prt_train_report_restart(prt_train_report *r);

/* Prints the summary of `done` steps; `output` is the file that was written, or NULL. */
void prt_train_report_end(const prt_train_report *r, int64_t done, const char *output);

#endif
