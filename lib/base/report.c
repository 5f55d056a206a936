/* SPDX-License-Identifier: MIT */
/* report.c — collects failures; failures that do not fit are counted. */
#include "base/report.h"

#include <stdio.h>

void prt_report_add(prt_report *report, poprt_status status)
{
    const poprt_error *e = prt_error_last();
    const bool first = report->count++ == 0;
    if (first) {
        report->status = status;
        (void)snprintf(report->subject, sizeof(report->subject), "%s", e->subject);
        (void)snprintf(report->location, sizeof(report->location), "%s", e->location);
    }
    const size_t left = sizeof(report->text) - report->at;
    const int n = snprintf(report->text + report->at, left, "%s%s%s%s", first ? "" : "\n",
        first ? "" : e->subject, first ? "" : ": ", e->message);
    if (n > 0 && (size_t)n < left) {
        report->at += (size_t)n;
        report->shown++;
    } else {
        report->text[report->at] = '\0';
    }
}

poprt_status prt_report_end(const prt_report *report)
{
    if (report->count == 0)
        return POPRT_OK;
    if (report->count > report->shown)
        (void)prt_fail_lines(report->status, report->subject, "%s\nand %u more", report->text,
            report->count - report->shown);
    else
        (void)prt_fail_lines(report->status, report->subject, "%s", report->text);
    return prt_fail_at_location(report->status, report->location);
}
