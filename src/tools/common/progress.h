/* SPDX-License-Identifier: MIT */
/*
 * progress.h — a bar on the terminal for what takes over a second: "LABEL: 40%|####  | 2/5
 * [00:03<00:04]". Goes to stderr, and only when that is a terminal. Colour unless NO_COLOR is set.
 */
#ifndef PRT_TOOLS_COMMON_PROGRESS_H
#define PRT_TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct prt_progress {
    bool enabled, colour, drawn;
    const char *label;
    double started_ms, shown_ms;
} prt_progress;

void prt_progress_init(prt_progress *progress);

/* Begins something new under `label` (static text) when it is another one than before. */
void prt_progress_show(prt_progress *progress, const char *label, uint64_t done, uint64_t total);

/* Takes the bar away: to be called before anything else is printed. */
void prt_progress_clear(prt_progress *progress);

#endif
