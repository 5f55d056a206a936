/* SPDX-License-Identifier: MIT */
/* watch.h — what a session does with the times of its steps: watching, profile, trace. */
#ifndef PRT_API_WATCH_H
#define PRT_API_WATCH_H

#include "api/handles.h"
#include "poprt/trace.h"

/* Times of a step, in nanoseconds. */
typedef struct prt_step_times {
    uint64_t calls, total, least, most;
} prt_step_times;

/* Sums of the times of all steps since the last reset. */
typedef struct prt_step_profile {
    bool on;
    uint64_t runs, run_ns; /* runs that succeeded, and their time */
    uint32_t n_steps;      /* of all blocks */
    uint32_t *first;       /* by block: index of its first step in `steps` */
    prt_step_times *steps;
} prt_step_profile;

/* The times of step `index` of a block. */
static inline prt_step_times *prt_step_times_of(const prt_step_profile *p, uint32_t block,
    uint32_t index)
{
    return &p->steps[p->first[block] + index];
}

/* Returns whether runs are timed. prt_watch_run reports a run that has ended. */
bool prt_watch_is_on(const poprt_session *session);
void prt_watch_run(poprt_session *session, poprt_status status, uint64_t start_ns,
    uint64_t stop_ns);
void prt_watch_release(poprt_session *session);

/* trace.c: record a run, and a step of a run. The trace keeps the executable, which has their
 * texts. */
void prt_trace_add_run(poprt_trace *trace, const char *file, uint64_t start_ns, uint64_t stop_ns);
void prt_trace_add_step(poprt_trace *trace, const poprt_step *step);
poprt_status prt_trace_keep(poprt_trace *trace, poprt_executable *exec);

#endif
