/* SPDX-License-Identifier: MIT */
/* report.h — several failures in one record: a line each, with the status and subject of the
 * first. */
#ifndef PRT_BASE_REPORT_H
#define PRT_BASE_REPORT_H

#include "base/status.h"

typedef struct prt_report {
    poprt_status status;
    uint32_t count, shown;
    size_t at;
    char subject[256];
    char location[256]; /* of the first failure */
    char text[1800];
} prt_report;

/* Adds this thread's last failure. */
void prt_report_add(prt_report *report, poprt_status status);

/* Returns POPRT_OK, or records one failure with all lines. */
poprt_status prt_report_end(const prt_report *report);

#endif
