/* SPDX-License-Identifier: MIT */
/*
 * poprt/trace.h — a trace: the steps of sessions and the spans of the caller on one time line, for
 * chrome://tracing and Perfetto.
 *
 *     poprt_trace_create -> poprt_session_trace, poprt_trace_begin, poprt_trace_end
 *         -> poprt_trace_write_file
 *
 * Any number of threads may use a trace at the same time.
 */
#ifndef POPRT_TRACE_H
#define POPRT_TRACE_H

#include "poprt/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_trace poprt_trace;

/* Creates an empty trace, which keeps at most `most` spans; 0: 4,194,304. Later ones are counted
 * only. `env` may be NULL. */
POPRT_API poprt_status poprt_trace_create(poprt_env *env, size_t most, poprt_trace **out);

/* Releases a trace. No session may record to it any more. `trace` may be NULL. */
POPRT_API void poprt_trace_release(poprt_trace *trace);

/*
 * From now on each run of the session is a span of the channel "runs", and each of its steps a span
 * of the channel "steps". A NULL `trace` ends this; without a trace there is no cost. The trace
 * must live until then, or until the session is released. Fails with POPRT_E_STATE while a run is
 * in progress.
 */
POPRT_API poprt_status poprt_session_trace(poprt_session *session, poprt_trace *trace);

/*
 * Begin and end a span of a channel, which is a row of the trace and exists once it is used. Spans
 * of a channel are nested: an end belongs to the latest begin. Both do nothing if `trace` is NULL,
 * so that calls may stay in a program that does not trace. poprt_trace_end fails with POPRT_E_STATE
 * if the channel has no open span.
 */
POPRT_API poprt_status poprt_trace_begin(poprt_trace *trace, const char *channel, const char *name);
POPRT_API poprt_status poprt_trace_end(poprt_trace *trace, const char *channel);

/* Returns the number of spans, and of those that were not kept because there were too many. */
POPRT_API size_t poprt_trace_count(poprt_trace *trace);
POPRT_API size_t poprt_trace_missed(poprt_trace *trace);

/* Write the spans as JSON trace events, to a function or to a file, which is complete or absent.
 * Spans without an end last until now. */
POPRT_API poprt_status poprt_trace_write(poprt_trace *trace, poprt_write_fn write, void *user);
POPRT_API poprt_status poprt_trace_write_file(poprt_trace *trace, const char *path);

#ifdef __cplusplus
}
#endif
#endif
