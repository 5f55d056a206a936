/* SPDX-License-Identifier: MIT */
/* deadline.h — cancels a session's runs when the time of --timeout is over. */
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
    bool started, over; /* `over`: the runs are */
} prt_deadline;

/* From now on runs of `session` are cancelled once tool->deadline_ms is past; 0 there: never. */
poprt_status prt_deadline_start(prt_deadline *deadline, prt_tool *tool, poprt_session *session);

/* Before the session is released. */
void prt_deadline_stop(prt_deadline *deadline);

#endif
