/* SPDX-License-Identifier: MIT */
/* profile.h — times of the steps of a session's runs, as a table. */
#ifndef PRT_TOOLS_COMMON_PROFILE_H
#define PRT_TOOLS_COMMON_PROFILE_H

#include "base/vec.h"
#include "poprt/poprt.h"

typedef struct prt_profile {
    prt_arena *arena;
    PRT_VEC(poprt_step) steps; /* in the order in which they ended; texts belong to the session */
    size_t runs, missed;       /* missed: steps beyond the limit, not recorded */
} prt_profile;

/* Starts recording the session's steps. `profile` must live until recording is stopped or the
 * session is released. */
poprt_status prt_profile_start(prt_profile *profile, prt_arena *arena, poprt_session *session);
poprt_status prt_profile_stop(poprt_session *session);

/* Prints a line for each step, in order: its time in a run, and its share of the total. */
poprt_status prt_profile_print(const prt_profile *profile);

#endif
