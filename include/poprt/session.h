/* SPDX-License-Identifier: MIT */
/*
 * poprt/session.h — a session runs an executable: it owns the memory between inputs and outputs.
 *
 * One run at a time; `submit` may be called from any thread and queues. Many sessions may share
 * one executable, each on its own thread.
 */
#ifndef POPRT_SESSION_H
#define POPRT_SESSION_H

#include "poprt/executable.h"
#include "poprt/stepio.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called once for each submitted run, on the session's thread. `error` is NULL on success. Every
 * function of the library may be called: of this session, `submit`, `cancel`, `memory` and
 * `release` do what they say; those that would have to wait for the run that calls (`run`, `drain`,
 * `watch`, `read_weight`, `write_weight`) fail with POPRT_E_STATE.
 */
typedef void (*poprt_done_fn)(void *user, poprt_status status, const poprt_error *error);

/*
 * Makes a session; it retains the executable. Options "dim.NAME" fix symbolic dimensions now, so
 * that memory is planned here; others are taken from the inputs of the first run and planned
 * again when they change.
 */
POPRT_API poprt_status poprt_session_create(poprt_executable *exec, const poprt_config *config,
    poprt_session **out);

/*
 * Runs once. Caller buffers are used in place where they are aligned to their element size.
 * After the first call with the same shapes nothing is allocated.
 */
POPRT_API poprt_status poprt_session_run(poprt_session *session, poprt_stepio *io);

/*
 * Queues a run and returns; `done` (may be NULL) is called when it has finished. `io` and the
 * buffers bound to it must stay valid and untouched until then. Waits while the queue is full.
 */
POPRT_API poprt_status poprt_session_submit(poprt_session *session, poprt_stepio *io,
    poprt_done_fn done, void *user);

/* Waits until all submitted runs have finished. */
POPRT_API poprt_status poprt_session_drain(poprt_session *session);

/* Asks a run in progress to stop soon with POPRT_E_CANCELLED. Any thread. A session that is not
 * running is not affected. */
POPRT_API void poprt_session_cancel(poprt_session *session);

/* A step that has ended. Steps of a body come before the step that calls the body, and lie within
 * its time. Texts live as long as the session. */
typedef struct poprt_step {
    size_t struct_size;
    uint32_t block, index; /* as POPRT_FORMAT_STEPS counts them */
    const char *op;        /* what runs, such as "nhwc_conv" */
    const char *form;      /* of the operator, "" where there is but one */
    const char *node;      /* the node of the model that it comes from; "" where there was none */
    uint64_t start_ns, stop_ns; /* of CLOCK_MONOTONIC */
} poprt_step;

/* On the thread that runs, between two steps: what takes long here makes runs longer. */
typedef void (*poprt_step_fn)(void *user, const poprt_step *step);

/*
 * Runs from now on call `fn` after every step that has something to do; NULL ends that. Two
 * readings of the clock a step, nothing when it is off. Not while a run is in progress
 * (POPRT_E_STATE).
 */
POPRT_API poprt_status poprt_session_watch(poprt_session *session, poprt_step_fn fn, void *user);

/* Bytes this session holds now: activations, scratch, copies of caller data, weights that were
 * written to it, and copies of the executable's weights where those lie badly for kernels (which
 * its sessions share). Other weights are the executable's. */
POPRT_API size_t poprt_session_memory(const poprt_session *session);

/* Copies a weight by name into the caller's buffer: `out->data` and `out->size` are given, dtype,
 * rank and dims are filled in; dims point into the session. POPRT_E_ARG when it is too small. */
POPRT_API poprt_status poprt_session_read_weight(poprt_session *session, const char *name,
    poprt_tensor *out);

/* Replaces a weight in this session only; dtype and shape must be the weight's own. */
POPRT_API poprt_status poprt_session_write_weight(poprt_session *session, const char *name,
    const poprt_tensor *in);

/*
 * Waits for submitted runs, then gives everything back. NULL is allowed. Called in `done` it
 * returns at once: runs that were submitted before still finish, with their callbacks, and then
 * the session's thread gives everything back and ends. The caller's reference ends with the call;
 * StepIOs and buffers of those runs stay in use until their callbacks.
 */
POPRT_API void poprt_session_release(poprt_session *session);

#ifdef __cplusplus
}
#endif
#endif
