/* SPDX-License-Identifier: MIT */
/*
 * progress.h — a progress bar on the terminal for work that takes more than a second: "LABEL:
 * 40%|####  | 2/5 [00:03<00:04]". It goes to stderr, and only if stderr is a terminal. It is
 * coloured unless NO_COLOR is set.
 */
#ifndef PRT_TOOLS_COMMON_PROGRESS_H
#define PRT_TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct prt_progress {
    bool enabled, colour, drawn;
    const char *label;
    const char *note; /* text behind the bar, set by the caller; NULL: none */
    double started_ms, shown_ms;
} prt_progress;

void prt_progress_init(prt_progress *progress);

/* Shows the progress. A new `label` (static text) starts a new bar. */
void prt_progress_show(prt_progress *progress, const char *label, uint64_t done, uint64_t total);

/* Removes the bar. Must be called before anything else is printed. */
void prt_progress_clear(prt_progress *progress);

/* Does the same, but the next call with the same label continues the bar. */
void prt_progress_hide(prt_progress *progress);

#endif
