/* SPDX-License-Identifier: MIT */
/* memory_check.h — whether a session fits into the option memory_limit. */
#ifndef PRT_API_MEMORY_CHECK_H
#define PRT_API_MEMORY_CHECK_H

#include "api/handles.h"

/* Fails with POPRT_E_NOMEM if a session of the executable, and its first run, need more than
 * memory_limit. Not checked: values whose shapes are known only in a run. */
poprt_status prt_memory_check(const poprt_executable *exec, const poprt_config *config);

#endif
