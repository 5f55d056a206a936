/* SPDX-License-Identifier: MIT */
/*
 * poprt/runner.h — a runner: an executable behind a queue of requests, for programs that serve many
 * clients. It has sessions and threads of its own. It gathers small requests into batches, splits
 * large ones, and copies the data of the next batch while the current one runs.
 *
 *     poprt_runner_create -> poprt_runner_execute                           one call, which waits
 *                         -> poprt_runner_submit -> poprt_request_wait      many at a time
 *
 * Options (poprt_config) of the group "Runners" have the names and defaults of PopRT's
 * RuntimeConfig and PackRunnerConfig. Options of sessions and "dim.NAME" apply too: every dimension
 * of the executable must be a number, or be set.
 *
 * Requests
 *  - A request names its inputs and outputs (poprt_runner_io_at lists them). Buffers belong to the
 *    caller. They must stay valid, and inputs unchanged, until the request is finished.
 *  - A tensor of a request may leave out its shape (`dims` NULL); then its size decides. Element
 *    type and size are always checked.
 *  - Without `batching_dim` a request has N times the elements of the model's batch, N >= 1, and is
 *    run as N batches. The same N holds for all tensors of the request.
 *  - With `batching_dim` = d every input and output has the model's batch size B along dimension d,
 *    and a request has R >= 1 rows there in place of B. Requests are served in the order of their
 *    arrival: a batch takes the next rows, of one request or of several. A batch that is not full
 *    runs when its oldest request is `timeout_ns` old; the missing rows are zeros, or rows of
 *    poprt_runner_set_padding, and their results are dropped.
 *  - An executable with several batches per step (`batches_per_step`) gathers requests too: a
 *    request has N >= 1 batches, or rows of them, and a step takes as many as it has.
 *
 * Bits of results
 *  - With `batching_dim` the sessions of a runner are made with strassen=false, because Strassen's
 *    algorithm adds rows. Every run has B rows. A row of a model whose operators treat the rows
 *    independently then has the same bits at each position in the batch, beside any other rows, for
 *    any number of sessions and threads: the bits of a session of the same executable with
 *    strassen=false and B rows, of which the first are the request alone. Operators that compute
 *    over the rows (such as DynamicQuantizeLinear with one scale for a whole tensor) mix requests.
 *  - Without `batching_dim` the bits are the same as in a session with the same options.
 *  - Packed samples (POPRT_RUNNER_PACK) have the results of the sample alone within rounding.
 *
 * Threads
 *  - Any number of threads may use a runner and its requests at the same time, except for
 *    poprt_runner_release, which must be the last call for the runner. Requests may be used and
 *    released after their runner.
 *  - A `done` callback runs on a thread of the runner. It may submit, cancel, query and release,
 *    also the runner. A call that would have to wait for the calling thread fails there with
 *    POPRT_E_STATE: poprt_runner_execute, poprt_runner_drain, poprt_runner_stop,
 *    poprt_runner_reload and poprt_runner_update_weights. There poprt_request_wait returns 0 for a
 *    request that is not finished, and poprt_runner_submit does not wait for a place in the queue.
 *  - Threads start with the first request, so that after fork() the parent and the child may both
 *    go on, if no call was in progress and no request was pending.
 */
#ifndef POPRT_RUNNER_H
#define POPRT_RUNNER_H

#include "poprt/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_runner poprt_runner;
typedef struct poprt_request poprt_request;

/* Kinds of runners; the first three have the values of PopRT's RunnerType. */
enum {
    POPRT_RUNNER_MODEL = 0,
    /* Samples of different lengths are packed into the rows of a batch, see below. */
    POPRT_RUNNER_PACK = 1,
    /* A fused model (poprt_model_fuse): a request has the inputs and outputs of one graph,
     * "graph<i>/<name>"; input `index` may be left out. With `batching_dim` a batch has requests of
     * one graph. */
    POPRT_RUNNER_FUSION = 2,
    /* No threads and no queue: the calling thread runs the request. `replica_to_device` maps the
     * replica of a call to a session. */
    POPRT_RUNNER_LIGHT = 3,
    /* A model of the pass apply_host_concat_split, which has merged inputs. Requests have the
     * inputs from before the pass, and the runner merges them. */
    POPRT_RUNNER_HOST_CONCAT = 4
};

/*
 * Packing (POPRT_RUNNER_PACK). A request is one sample of L tokens: each of its inputs has L tokens
 * in place of the model's [rows, length]. A pack takes samples in the order of their arrival until
 * it has `max_valid_num` samples, or the next sample does not fit, or its oldest sample is
 * `timeout_microseconds` old.
 *
 *  - end to end, the default: one position moves through all rows, and samples may cross rows. For
 *    models of the pass packed_transformer.
 *  - with `disable_data_across_rows`: a sample stays in one row, chosen by `pack_algorithm`, with
 *    `delimiter_num` zeros between two samples. Input `mask_name` gets 1, 2, 3, ... for the samples
 *    of each row and 0 elsewhere. For models of the pass insert_attention_mask.
 *
 * The number of tokens is that of input `dynamic_input_name`. With `enable_padding_remove` the
 * inputs `dynamic_group` and `mask_name` of a request are padded, and L is the position behind the
 * last element of the mask that is not 0. The runner fills input `unpack_info_input_name`, if the
 * model has it, with the length of each sample; a request need not have it. With gaps between
 * samples, a gap takes an entry too, so that a pack then holds half as many samples.
 *
 * Outputs with a row for each sample (behind Unpack) are copied as they are; of outputs [rows,
 * length, ...] the L tokens of the sample are copied. The caller's buffer may be larger; the rest
 * of it stays unchanged.
 */

/* A tensor of a request. The name is needed during the call only, the data until the request is
 * finished. */
typedef struct poprt_named_tensor {
    const char *name;
    poprt_tensor tensor;
} poprt_named_tensor;

/*
 * Called once for each request with a callback, on a thread of the runner, after its outputs are
 * written; for a light runner, on the thread of the call. The request is finished after the
 * callback has returned. `error` is NULL if the request succeeded; it is valid during the call. The
 * request may be released in the callback.
 */
typedef void (*poprt_request_fn)(void *user, poprt_status status, const poprt_error *error);

/* The data of a request. The arrays are needed during the call only. */
typedef struct poprt_runner_call {
    size_t struct_size; /* sizeof(poprt_runner_call) */
    const poprt_named_tensor *inputs;
    size_t n_inputs;
    const poprt_named_tensor *outputs;
    size_t n_outputs;
    poprt_request_fn done; /* may be NULL */
    void *user;
    uint32_t replica;  /* light runners: the replica that runs the request; otherwise 0 */
    uint32_t reserved; /* 0 */
} poprt_runner_call;

/* A time without end, for poprt_runner_submit and poprt_request_wait. */
#define POPRT_WAIT_FOREVER UINT64_MAX

/*
 * Creates a runner, which retains the executable. `config` may be NULL. All inputs and outputs must
 * be tensors of known shape that are not strings. Fails with POPRT_E_SHAPE if a dimension is
 * neither a number nor set, or is not the batch size of all tensors; with POPRT_E_VERSION if
 * another version of the library compiled the executable (option `check_package_hash`); with
 * POPRT_E_UNSUPPORTED for training and for data flow, except batches per step of a runner of kind
 * POPRT_RUNNER_MODEL; with POPRT_E_ARG for options that do not fit the executable.
 */
POPRT_API poprt_status poprt_runner_create(poprt_executable *exec, const poprt_config *config,
    poprt_runner **out);

/* Creates a runner of a PopEF file. `env` may be NULL. */
POPRT_API poprt_status poprt_runner_create_from_file(poprt_env *env, const char *path,
    const poprt_config *config, poprt_runner **out);

/*
 * Ends a runner. Runs in progress finish; requests that still wait end with POPRT_E_CANCELLED.
 * Returns after the last callback, but at once if a `done` callback makes the call. `runner` may
 * be NULL.
 */
POPRT_API void poprt_runner_release(poprt_runner *runner);

/* Returns the kind of a runner, POPRT_RUNNER_*. */
POPRT_API int32_t poprt_runner_kind(const poprt_runner *runner);

/*
 * Runs a request and waits until it is finished. Fails before anything runs with POPRT_E_NOT_FOUND
 * for an unknown or missing name (unless `validate_io_params` is false: then unknown names are
 * skipped, missing inputs are zeros, and missing outputs are dropped), with POPRT_E_TYPE,
 * POPRT_E_SHAPE or POPRT_E_ARG for data that does not fit, and with POPRT_E_STATE while the runner
 * is stopped. Otherwise returns the status of the request.
 */
POPRT_API poprt_status poprt_runner_execute(poprt_runner *runner, const poprt_runner_call *call);

/*
 * Queues a request. If the queue is full, waits at most `wait_ns` nanoseconds for a free place, and
 * fails with POPRT_E_LIMIT if there is none. The queue holds `ring_buffer_size_multiplier` times as
 * many requests as a batch has rows, for each session. `out` may be NULL; otherwise the caller
 * releases the request, at any time. Fails as poprt_runner_execute. A request that was not queued
 * has no callback.
 *
 * A light runner runs the request before it returns.
 */
POPRT_API poprt_status poprt_runner_submit(poprt_runner *runner, const poprt_runner_call *call,
    uint64_t wait_ns, poprt_request **out);

/* Waits until a request is finished, at most `wait_ns` nanoseconds. Returns 1 if it is finished,
 * and 0 otherwise. */
POPRT_API int32_t poprt_request_wait(poprt_request *request, uint64_t wait_ns);

/* Returns the status of a finished request, whose detail becomes that of the calling thread
 * (poprt_last_error). Fails with POPRT_E_STATE if poprt_request_wait would return 0 at once. */
POPRT_API poprt_status poprt_request_result(poprt_request *request);

/*
 * Asks a request to end soon with POPRT_E_CANCELLED. Rows that wait are removed from the queue. A
 * run in progress is stopped if it has no rows of other requests; otherwise it finishes first. The
 * request is finished when poprt_request_wait says so: until then its buffers stay in use.
 */
POPRT_API void poprt_request_cancel(poprt_request *request);

/* Times of a request, in nanoseconds of CLOCK_MONOTONIC; 0: not reached so far. */
typedef struct poprt_request_times {
    size_t struct_size; /* set by the caller */
    uint64_t queued;    /* it was accepted */
    uint64_t started;   /* the first run with data of it began */
    uint64_t finished;  /* its outputs are written, or it failed or was cancelled */
} poprt_request_times;
POPRT_API poprt_status poprt_request_get_times(poprt_request *request, poprt_request_times *out);

/* Releases the caller's reference. A request that is not finished goes on. `request` may be
 * NULL. */
POPRT_API void poprt_request_release(poprt_request *request);

/* Cancels every request that is queued or running, and runs of a light runner. Later requests are
 * not affected. Not to be called from a signal handler. */
POPRT_API void poprt_runner_cancel(poprt_runner *runner);

/* Runs batches that are not full without further waiting, and waits until all requests that were
 * queued before the call are finished. */
POPRT_API poprt_status poprt_runner_drain(poprt_runner *runner);

/*
 * Sets rows that stand in place of the missing ones of a batch that is not full: one row (or batch,
 * without `batching_dim`) of each input named. The data is copied. Inputs that were never named
 * have zeros. Their results are dropped in any case. Fails with POPRT_E_STATE after the first
 * request, until poprt_runner_stop, and for a runner that gathers no requests; with
 * POPRT_E_NOT_FOUND, POPRT_E_TYPE or POPRT_E_SHAPE for a tensor that is not like a row of the
 * input.
 */
POPRT_API poprt_status poprt_runner_set_padding(poprt_runner *runner,
    const poprt_named_tensor *inputs, size_t count);

/* ---- descriptions */

/* The tensors of requests (POPRT_RUNNER_EXECUTE) and the tensors of the executable. They differ
 * for POPRT_RUNNER_PACK and POPRT_RUNNER_HOST_CONCAT, and the latter list has the weights too. */
enum { POPRT_RUNNER_EXECUTE = 0, POPRT_RUNNER_EXECUTABLE = 1 };

/* A tensor of a runner. The strings live as long as the runner. */
typedef struct poprt_runner_io {
    size_t struct_size; /* set by the caller */
    const char *name;
    int32_t direction; /* POPRT_INPUT or POPRT_OUTPUT */
    int32_t dtype;     /* POPRT_DTYPE_* */
    int32_t rank;
    int64_t dims[8]; /* for the model's batch; of packed samples, for the longest sample */
    size_t size;     /* bytes of a tensor of these dims */
    /* Dimension whose size each request chooses: `batching_dim`, or 0 for the tokens of packed
     * samples; -1: there is none. */
    int32_t open_dim;
    int32_t has_data; /* 1: a weight, whose data is in the executable */
    int32_t graph;    /* of a fused model: index of its graph; else -1 */
    uint32_t reserved;
} poprt_runner_io;

/* Returns the number of tensors of a list (POPRT_RUNNER_EXECUTE, POPRT_RUNNER_EXECUTABLE) and
 * direction, and describes one. Fails with POPRT_E_NOT_FOUND past the end. */
POPRT_API size_t poprt_runner_io_count(const poprt_runner *runner, int32_t list, int32_t direction);
POPRT_API poprt_status poprt_runner_io_at(const poprt_runner *runner, int32_t list,
    int32_t direction, size_t index, poprt_runner_io *out);

/* Counters of a runner since its creation. */
typedef struct poprt_runner_stats {
    size_t struct_size; /* set by the caller */
    uint64_t requests;  /* accepted */
    uint64_t finished;  /* of them, with any status */
    uint64_t failed;    /* finished with another status than POPRT_OK */
    uint64_t batches;   /* runs of a session that succeeded */
    uint64_t rows;      /* rows, batches or samples of requests in these runs */
    uint64_t padding;   /* rows of zeros in these runs */
    uint64_t queued;    /* requests that wait in the queue now */
    uint64_t capacity;  /* most requests that may wait in the queue; 0: there is no queue */
} poprt_runner_stats;
POPRT_API poprt_status poprt_runner_get_stats(poprt_runner *runner, poprt_runner_stats *out);

/* ---- weights and memory */

/*
 * Replaces weights in all sessions of a runner. poprt_runner_set_weight copies the data;
 * poprt_runner_update_weights makes all weights set since the last update current between two runs,
 * so that no run sees some old and some new weights. Other requests wait meanwhile. The executable
 * must have been compiled with constant_weights=false or updatable_named_buffers: otherwise
 * poprt_runner_set_weight fails with POPRT_E_STATE. It fails with POPRT_E_NOT_FOUND for an unknown
 * name, and with POPRT_E_TYPE or POPRT_E_SHAPE if the tensor is not like the weight.
 */
POPRT_API poprt_status poprt_runner_set_weight(poprt_runner *runner, const char *name,
    const poprt_tensor *tensor);
POPRT_API poprt_status poprt_runner_update_weights(poprt_runner *runner);

/*
 * poprt_runner_stop ends like poprt_runner_release, but keeps the runner: its sessions and their
 * memory are released, and requests fail with POPRT_E_STATE. poprt_runner_reload makes the sessions
 * again, with the weights of the last update. Neither call does anything the second time.
 */
POPRT_API poprt_status poprt_runner_stop(poprt_runner *runner);
POPRT_API poprt_status poprt_runner_reload(poprt_runner *runner);

#ifdef __cplusplus
}
#endif
#endif
