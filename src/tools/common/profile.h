/* SPDX-License-Identifier: MIT */
/* profile.h — what the steps of a session's runs took: a table, and a trace for a viewer. */
#ifndef PRT_TOOLS_COMMON_PROFILE_H
#define PRT_TOOLS_COMMON_PROFILE_H

#include "base/vec.h"
#include "poprt/poprt.h"

typedef struct prt_profile {
    prt_arena *arena;
    PRT_VEC(poprt_step) steps; /* as they ended; texts are the session's */
    size_t runs, missed;       /* steps that were too many to keep */
} prt_profile;

/* From now on the session's steps go to `profile`, which must live until it is stopped or released.
 */
poprt_status prt_profile_start(prt_profile *profile, prt_arena *arena, poprt_session *session);
poprt_status prt_profile_stop(poprt_session *session);

/* Writes what there is as a trace of events: the JSON that chrome://tracing and Perfetto read. */
poprt_status prt_profile_write(const prt_profile *profile, const char *path);

/* Prints a line for each step, in order: what it took in a run, and its share of all. */
poprt_status prt_profile_print(const prt_profile *profile);

#endif
