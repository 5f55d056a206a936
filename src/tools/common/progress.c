/* SPDX-License-Identifier: MIT */
/* progress.c — draws the bar at most ten times a second, and not in the first second. */
#include "tools/common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tool.h"

enum { WAIT_MS = 1000, EVERY_MS = 100, WIDTH = 30 };

void prt_progress_init(prt_progress *progress)
{
    const char *term = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");
    const bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    *progress = (prt_progress){ .enabled = isatty(STDERR_FILENO) == 1 && !dumb,
        .colour = no_colour == NULL || no_colour[0] == '\0' };
}

static void print_bar(const prt_progress *p, uint64_t done, uint64_t total, double spent_ms)
{
    const double part = total != 0 ? (double)done / (double)total : 0;
    const unsigned spent = (unsigned)(spent_ms / 1000);
    const unsigned left = part > 0 ? (unsigned)(spent_ms * (1 / part - 1) / 1000) : 0;
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < (int)(part * WIDTH) ? '#' : ' ';
    bar[WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K%s: %3u%%|%s%s%s| %llu/%llu [%02u:%02u<%02u:%02u]%s%s", p->label,
        (unsigned)(part * 100), p->colour ? "\033[32m" : "", bar, p->colour ? "\033[0m" : "",
        (unsigned long long)done, (unsigned long long)total, spent / 60, spent % 60, left / 60,
        left % 60, p->note != NULL ? " " : "", p->note != NULL ? p->note : "");
    (void)fflush(stderr);
}

void prt_progress_show(prt_progress *progress, const char *label, uint64_t done, uint64_t total)
{
    if (!progress->enabled)
        return;
    const double now = prt_tool_now_ms();
    if (progress->label == NULL || strcmp(progress->label, label) != 0) {
        prt_progress_clear(progress);
        progress->label = label;
        progress->started_ms = now;
        progress->shown_ms = 0;
    }
    if (now - progress->started_ms < WAIT_MS || now - progress->shown_ms < EVERY_MS)
        return;
    progress->shown_ms = now;
    progress->drawn = true;
    print_bar(progress, done < total ? done : total, total, now - progress->started_ms);
}

void prt_progress_hide(prt_progress *progress)
{
    if (progress->drawn) {
        (void)fprintf(stderr, "\r\033[K");
        (void)fflush(stderr);
    }
    progress->drawn = false;
}

void prt_progress_clear(prt_progress *progress)
{
    prt_progress_hide(progress);
    progress->label = NULL;
}
