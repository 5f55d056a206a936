/* SPDX-License-Identifier: MIT */
/* dispatch.h — the tool as a function, for the program `poprt` and for the Python package. */
#ifndef PRT_TOOLS_DISPATCH_H
#define PRT_TOOLS_DISPATCH_H

#include "tools/common/host.h"

/* Runs a command line, and returns the exit code. The process goes on, and no state stays behind;
 * one call at a time. `host` may be NULL. */
int prt_dispatch(int argc, char **argv, const prt_tool_host *host);

#endif
