/* SPDX-License-Identifier: MIT */
/* deadline.h — cancels the runs of a session when the time of --timeout is over. */
#ifndef PRT_TOOLS_COMMON_DEADLINE_H
#define PRT_TOOLS_COMMON_DEADLINE_H

#include <pthread.h>

#include "tools/common/tool.h"

typedef struct prt_deadline {
    prt_tool *tool;
    poprt_session *session;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool started, over; /* `over`: the runs have ended */
} prt_deadline;

/* Starts cancelling runs of `session` after tool->deadline_ms; 0: never. */
poprt_status prt_deadline_start(prt_deadline *deadline, prt_tool *tool, poprt_session *session);

/* Stops the thread. Must be called before the session is released. */
void prt_deadline_stop(prt_deadline *deadline);

#endif
