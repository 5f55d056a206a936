/* SPDX-License-Identifier: MIT */
/* memory_check.h — whether a session fits into the option memory_limit. */
#ifndef PRT_API_MEMORY_CHECK_H
#define PRT_API_MEMORY_CHECK_H

#include "api/handles.h"

/* session.c: measures a session of the executable; `created` has the handle too. */
poprt_status prt_executable_needs(const poprt_executable *exec, const poprt_config *config,
    prt_session_needs *out);

/* Fails with POPRT_E_NOMEM if a session of the executable, and its first run, need more than
 * memory_limit. Not checked: values whose shapes are known only in a run. Otherwise sets `limit` to
 * the bytes that the session may hold at a time, 0 for any number: memory_limit and the bytes that
 * its creation and first runs hold for moments. */
poprt_status prt_memory_check(const poprt_executable *exec, const poprt_config *config,
    size_t *limit);

#endif
