/* SPDX-License-Identifier: MIT */
/*
 * deadline.c — a thread that waits until the time of --timeout is over and then cancels repeatedly
 * until the runs end, because a cancellation between two runs has no effect.
 */
#define _DEFAULT_SOURCE
#include "tools/common/deadline.h"

#include <time.h>

enum { AGAIN_MS = 10 };

static struct timespec time_of(double ms)
{
    const double seconds = ms / 1e3;
    return (struct timespec){ .tv_sec = (time_t)seconds,
        .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
}

static void *watch(void *arg)
{
    prt_deadline *d = arg;
    double next = d->tool->deadline_ms;
    (void)pthread_mutex_lock(&d->lock);
    while (!d->over) {
        const struct timespec until = time_of(next);
        if (prt_tool_now_ms() < next) {
            (void)pthread_cond_timedwait(&d->change, &d->lock, &until);
            continue;
        }
        poprt_session_cancel(d->session);
        next = prt_tool_now_ms() + AGAIN_MS;
    }
    (void)pthread_mutex_unlock(&d->lock);
    return NULL;
}

poprt_status prt_deadline_start(prt_deadline *deadline, prt_tool *tool, poprt_session *session)
{
    *deadline = (prt_deadline){ .tool = tool, .session = session };
    if (!(tool->deadline_ms > 0))
        return POPRT_OK;
    pthread_condattr_t attr;
    bool good = pthread_mutex_init(&deadline->lock, NULL) == 0;
    good = good && pthread_condattr_init(&attr) == 0;
    /* The same clock as prt_tool_now_ms. */
    good = good && pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0;
    good = good && pthread_cond_init(&deadline->change, &attr) == 0;
    good = good && pthread_create(&deadline->thread, NULL, watch, deadline) == 0;
    deadline->started = good;
    return good
        ? POPRT_OK
        : prt_fail(POPRT_E_NOMEM, "--timeout", "cannot start the thread that watches --timeout");
}

void prt_deadline_stop(prt_deadline *deadline)
{
    if (!deadline->started)
        return;
    (void)pthread_mutex_lock(&deadline->lock);
    deadline->over = true;
    (void)pthread_cond_signal(&deadline->change);
    (void)pthread_mutex_unlock(&deadline->lock);
    (void)pthread_join(deadline->thread, NULL);
    (void)pthread_cond_destroy(&deadline->change);
    (void)pthread_mutex_destroy(&deadline->lock);
    deadline->started = false;
}
