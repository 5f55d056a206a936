/* SPDX-License-Identifier: MIT */
/* report_page.h — the page of `poprt report`: one HTML file with tables and plots, without scripts
 * and without addresses of other files. */
#ifndef PRT_TOOLS_COMMANDS_REPORT_PAGE_H
#define PRT_TOOLS_COMMANDS_REPORT_PAGE_H

#include <stdio.h>

#include "base/json.h"

/* Writes the page. `report` is the object of poprt_session_report, `summary` the description of the
 * executable for people. */
void prt_report_page(FILE *to, const char *model, const prt_json *report, const char *summary);

#endif
