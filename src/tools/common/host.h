/* SPDX-License-Identifier: MIT */
/* host.h — the program that runs the tool, if that is not `poprt` itself. */
#ifndef PRT_TOOLS_COMMON_HOST_H
#define PRT_TOOLS_COMMON_HOST_H

#include <stdbool.h>

#include "poprt/env.h"

typedef struct prt_tool_host {
    void *user;
    /* Loads a Python file for its passes and shape functions. */
    poprt_status (*load_script)(void *user, poprt_env *env, const char *path);
    /* Returns whether the work in progress should end; called often. */
    bool (*stops)(void *user);
} prt_tool_host;

#endif
