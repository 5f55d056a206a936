/* SPDX-License-Identifier: MIT */
/*
 * poprt/session.h — a session runs an executable. It owns the memory between inputs and outputs.
 *
 * A session does one run at a time. `submit` queues a run and may be called from any thread. Many
 * sessions may share one executable, each on its own thread.
 */
#ifndef POPRT_SESSION_H
#define POPRT_SESSION_H

#include "poprt/executable.h"
#include "poprt/stepio.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called once for each submitted run, on the session's thread. `error` is NULL if the run
 * succeeded. The callback may call every function of the library. For this session, `submit`,
 * `cancel`, `memory` and `release` work as usual. Functions that would wait for the calling run
 * (`run`, `drain`, `watch`, `read_weight`, `write_weight`) fail with POPRT_E_STATE.
 */
typedef void (*poprt_done_fn)(void *user, poprt_status status, const poprt_error *error);

/*
 * Creates a session, which retains the executable. If options "dim.NAME" set all symbolic
 * dimensions, memory is planned here. Otherwise the first run takes dimensions from its inputs, and
 * memory is planned again when they change. Fails with POPRT_E_ARG if `config` sets an option that
 * the executable of an opened file keeps from its compilation (poprt_option_info::is_fixed) to
 * another value; for an executable that was compiled here such options are not compared.
 */
POPRT_API poprt_status poprt_session_create(poprt_executable *exec, const poprt_config *config,
    poprt_session **out);

/* Compiles a model with `config` (may be NULL) and creates a session of the executable, which the
 * session owns. The model may be released. Absent from a library without compiler. */
POPRT_API poprt_status poprt_session_create_from_model(const poprt_model *model,
    const poprt_config *config, poprt_session **out);

/* Creates a session of a file: ONNX, which is compiled, or PopEF. `env` may be NULL. A library
 * without compiler refuses ONNX with POPRT_E_UNSUPPORTED. */
POPRT_API poprt_status poprt_session_create_from_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_session **out);

/* Creates a session of the executable of another session, which may be in use and may be released.
 * Its weights are those of the executable, also if the other session has written weights. */
POPRT_API poprt_status poprt_session_create_from_session(const poprt_session *session,
    const poprt_config *config, poprt_session **out);

/*
 * Runs a program of an executable of several (poprt_compile_programs), and waits for the result.
 * `io` may have inputs of other programs bound. Fails with POPRT_E_NOT_FOUND, with the nearest
 * names, if the executable has no program of this name. See poprt_session_run.
 */
POPRT_API poprt_status poprt_session_run_program(poprt_session *session, const char *program,
    poprt_stepio *io);

/*
 * Runs once and waits for the result. Caller buffers are used in place if they are aligned to their
 * element size. After the first run with the same shapes a run allocates nothing.
 */
POPRT_API poprt_status poprt_session_run(poprt_session *session, poprt_stepio *io);

/*
 * Queues a run and returns. After the run the session calls `done` (may be NULL). `io` and the
 * buffers bound to it must stay valid and unchanged until then. If the queue is full, the call
 * waits.
 */
POPRT_API poprt_status poprt_session_submit(poprt_session *session, poprt_stepio *io,
    poprt_done_fn done, void *user);

/* Waits until all submitted runs have finished. */
POPRT_API poprt_status poprt_session_drain(poprt_session *session);

/* Requests a run in progress to stop soon with POPRT_E_CANCELLED. Any thread. The call has no
 * effect on a session that is not running. */
POPRT_API void poprt_session_cancel(poprt_session *session);

/* A finished step. Steps of a body (If, Loop, Scan) are reported before the step that calls the
 * body, and their times lie within its time. The strings live as long as the session. */
typedef struct poprt_step {
    size_t struct_size;
    uint32_t block, index;      /* numbers of block and step in POPRT_FORMAT_STEPS */
    const char *op;             /* operator of the step, such as "nhwc_conv" */
    const char *form;           /* algorithm of the operator; "" if it has only one */
    const char *node;           /* node of the model; "" if there is none */
    uint64_t start_ns, stop_ns; /* times of CLOCK_MONOTONIC */
    /* Place of the node in the program that made the model, as in poprt_error; "": unknown. */
    const char *location;
} poprt_step;

/* Called on the thread of the run, between two steps. Time spent here makes the run longer. */
typedef void (*poprt_step_fn)(void *user, const poprt_step *step);

/*
 * From now on a run calls `fn` after every step that does work. NULL ends this. Watching costs two
 * clock readings a step; without it there is no cost. Fails with POPRT_E_STATE while a run is in
 * progress.
 */
POPRT_API poprt_status poprt_session_watch(poprt_session *session, poprt_step_fn fn, void *user);

/*
 * Makes the session fit for the next run after a run that failed, was cancelled or found no memory:
 * weights, states and statistics are those of the last whole update, and the session is as after
 * its creation in all other respects. It returns the memory that runs have added, and drops a
 * request to cancel. Outputs of earlier runs that the
 * session owns are no longer valid. Without a failure the call does the same.
 *
 * A failed run changes nothing that a later run reads, so that a program may also repeat a run
 * without this call. Fails with POPRT_E_STATE while a run is in progress, and after a failure of
 * the category POPRT_ERROR_UNRECOVERABLE: release the session.
 */
POPRT_API poprt_status poprt_session_recover(poprt_session *session);

/* Returns the bytes that the session holds now: activations, scratch, copies of caller data,
 * weights that were written to it, and copies of weights that were not aligned for the kernels (its
 * sessions share these). All other weights belong to the executable. */
POPRT_API size_t poprt_session_memory(const poprt_session *session);

/* Returns the nanoseconds that the last run took. Fails with POPRT_E_STATE before the first run,
 * while a run is in progress, and unless the session was made with the option
 * instrument_with_hardware_cycle_counter. */
POPRT_API poprt_status poprt_session_get_cycle_count(poprt_session *session, uint64_t *out);

/* ---- inspection */

/* Kinds of the tensors of a session. */
enum {
    POPRT_TENSOR_INPUT = 0,
    POPRT_TENSOR_OUTPUT = 1,
    POPRT_TENSOR_CONSTANT = 2, /* a weight or constant of the executable */
    POPRT_TENSOR_VARIABLE = 3, /* outlives a run: weight in training, optimizer state, statistic */
    POPRT_TENSOR_VALUE = 4     /* between two steps */
};

/* A tensor of a session. Texts live as long as the session. */
typedef struct poprt_tensor_info {
    size_t struct_size; /* set by the caller */
    const char *name;   /* "" if it has none */
    int32_t kind;       /* POPRT_TENSOR_* */
    int32_t value_kind; /* POPRT_VALUE_*; 0: unknown */
    int32_t dtype;      /* POPRT_DTYPE_*, of the elements */
    int32_t rank;       /* -1: unknown */
    /* `rank` dimensions. -1: known only during a run. Symbolic dimensions have the values of the
     * last run. */
    int64_t dims[8];
    size_t size;       /* bytes; 0: unknown */
    uint32_t block;    /* number in POPRT_FORMAT_STEPS; 0 for constants and variables */
    uint32_t reserved; /* 0 */
} poprt_tensor_info;

/* Number of tensors of a session, and one of them: first constants and variables, then the inputs,
 * outputs and values of each block. Fails with POPRT_E_NOT_FOUND past the end, and with
 * POPRT_E_STATE while a run is in progress. */
POPRT_API size_t poprt_session_tensor_count(const poprt_session *session);
POPRT_API poprt_status poprt_session_tensor_at(poprt_session *session, size_t index,
    poprt_tensor_info *out);

/*
 * From now on (`on` 1) the session adds up the time of each step, or (0) stops to; the sums stay.
 * This costs two clock readings a step; without it there is no cost. poprt_session_reset_profile
 * sets the sums to 0. Both fail with POPRT_E_STATE while a run is in progress.
 */
POPRT_API poprt_status poprt_session_profile(poprt_session *session, int32_t on);
POPRT_API poprt_status poprt_session_reset_profile(poprt_session *session);

/*
 * Reports on a session: memory by kind, the ten largest tensors, and the time by operator since the
 * last reset, if poprt_session_profile is or was on. POPRT_FORMAT_SUMMARY is for people.
 * POPRT_FORMAT_JSON is one object, which also has the bytes that are alive at each step of the main
 * block, and the time of each step. Fails with POPRT_E_STATE while a run is in progress.
 */
POPRT_API poprt_status poprt_session_report(poprt_session *session, int32_t format,
    poprt_write_fn write, void *user);

/* ---- weights
 *
 * Weights have the names of the model's initializers. A weight that was only rearranged for a
 * kernel (transposed, packed into panels, merged with others) is read with the bits that the model
 * has. A weight is no longer there if other constants were computed from it, such as the filters of
 * a convolution from BatchNormalization, or transforms of Winograd's algorithm, or numbers of fewer
 * bits.
 *
 * An executable that trains has all weights that are trained, and they can be written. With the
 * option constant_weights=false this holds for all floating-point weights, integers of 8 bits, and
 * int32 biases of quantised convolutions and products. Integers of 2 and 4 bits, and other
 * integers, from which shapes and layouts are computed, stay constants.
 */

/* Copies a weight into the caller's buffer, in the order of the model. The caller sets `out->data`
 * and `out->size`; the library fills in dtype, rank and dims. `dims` belongs to the session. Fails
 * with POPRT_E_ARG if the buffer is too small, and with POPRT_E_NOT_FOUND for an unknown name, and
 * for a weight whose value is no longer in the executable; the error says which pass used it. */
POPRT_API poprt_status poprt_session_read_weight(poprt_session *session, const char *name,
    poprt_tensor *out);

/* Replaces a weight in this session only. dtype and shape must be the same as the weight's. Fails
 * with POPRT_E_STATE for a constant that no operator of the model writes. */
POPRT_API poprt_status poprt_session_write_weight(poprt_session *session, const char *name,
    const poprt_tensor *in);

/*
 * Waits for submitted runs, then releases the session. `session` may be NULL.
 *
 * If a `done` callback makes the call, it returns at once. Runs that were submitted before still
 * finish and call their callbacks. Then the session's thread releases everything and ends. The
 * caller must not use its handle after the callback; StepIOs and buffers of those runs stay in use
 * until their callbacks.
 */
POPRT_API void poprt_session_release(poprt_session *session);

#ifdef __cplusplus
}
#endif
#endif
