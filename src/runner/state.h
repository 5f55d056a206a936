/* SPDX-License-Identifier: MIT */
/*
 * state.h — the state of a runner, its requests and its workers.
 *
 * `lock` guards everything below it. Requests that are not finished are in one list, in the order
 * of their arrival. `cursor` is the first of them with rows that no batch has taken.
 *
 * One worker at a time composes: it takes rows from `cursor` on, copies them to its own memory, and
 * waits until its batch may run and a session is free. There is one worker more than sessions, so
 * that a batch is composed while every session runs. A worker then runs its batch without the lock,
 * copies the results to the requests, and finishes them.
 */
#ifndef PRT_RUNNER_STATE_H
#define PRT_RUNNER_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "api/handles.h"
#include "poprt/runner.h"

/* An input or output of the executable. */
typedef struct prt_runner_tensor {
    const char *name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    size_t size;
    int32_t graph;  /* of a fused model; else -1 */
    uint32_t field; /* the only field of it, which lies in it as in a request; else PRT_NO_FIELD */
} prt_runner_tensor;
#define PRT_NO_FIELD UINT32_MAX

/*
 * An input or output of requests. In a tensor of the executable it begins at `offset`, and has
 * `outer` blocks of `capacity` rows of `inner` bytes. A request with R rows has blocks of R rows.
 * A row is a row of the batch, a whole batch, or a token.
 */
typedef struct prt_runner_field {
    const char *name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK]; /* for `capacity` rows; of packs, for the longest sample */
    size_t size;
    int32_t open_dim; /* as in poprt_runner_io */
    int32_t graph;
    uint32_t tensor;
    size_t offset, outer, inner;
    unsigned char *padding; /* a row in place of zeros; NULL: zeros */
    bool is_optional;       /* requests may leave it out, and the runner makes it */
    bool is_padded;         /* of packs, input: padding is removed */
    bool is_by_sample;      /* of packs, output: has a row of `inner` bytes for each sample */
} prt_runner_field;

/* The inputs or outputs. */
typedef struct prt_runner_list {
    uint32_t n_tensors, n_fields;
    prt_runner_tensor *tensors;
    prt_runner_field *fields;
    uint32_t n_weights; /* of inputs: weights of the executable */
    prt_runner_tensor *weights;
} prt_runner_list;

/* How samples are packed. */
typedef struct prt_runner_packing {
    size_t rows, length; /* of the executable, in tokens */
    size_t most;         /* most samples of a pack */
    size_t delimiters;
    bool one_row, first_fit, removes_padding;
    bool one_dim;           /* the first dimension has the rows and the tokens */
    uint32_t counted, mask; /* fields among the inputs; mask: or PRT_NO_FIELD */
    uint32_t info;          /* tensor among the inputs; or PRT_NO_FIELD */
} prt_runner_packing;

/* The data of a request for one field. */
typedef struct prt_request_data {
    unsigned char *data; /* NULL: the request does not have it */
    size_t size;
} prt_request_data;

struct poprt_request {
    _Atomic uint32_t refs; /* the caller, the list */
    poprt_runner *runner;  /* holds a reference */
    poprt_request *before, *after;
    uint64_t sequence;
    uint64_t arrival, start, end; /* times of prt_clock_ns; 0: not reached */
    size_t rows, next, left;      /* all; not taken by batches from here on; not finished */
    int32_t graph;
    uint32_t running; /* batches that have rows of it */
    uint32_t waiters; /* threads in poprt_request_wait */
    bool is_linked, is_cancelled, is_failed, is_finished;
    pthread_cond_t finished;
    poprt_request_fn done;
    void *user;
    poprt_status status;
    prt_error_copy error;    /* if `status` is not POPRT_OK; not cleared before */
    prt_request_data data[]; /* inputs, then outputs */
};

/* Rows of a request in a batch. */
typedef struct prt_runner_part {
    poprt_request *request;
    size_t first, count; /* rows of the request */
    size_t at;           /* row of the batch; of packs, the token of the executable */
    size_t slot;         /* of packs, the entry of unpack_info */
    int64_t number;      /* of packs, the number of the sample in its row, from 1 */
} prt_runner_part;

typedef struct prt_runner_session {
    poprt_session *session;
    poprt_stepio **io; /* by graph */
    bool is_busy;
    pthread_mutex_t lock;   /* of light runners: one call at a time */
    prt_request_data *call; /* of light runners: the data of the call in progress */
} prt_runner_session;

typedef struct prt_runner_worker {
    poprt_runner *runner;
    pthread_t thread;
    size_t n_parts, rows; /* rows, or samples of a pack */
    int32_t graph;
    bool is_closed;              /* the next request does not fit */
    prt_runner_session *session; /* NULL: nothing runs */
    prt_runner_part *parts;
    unsigned char **in, **out; /* by tensor: memory of the worker; NULL: not needed so far */
    size_t *fill;              /* of packs: tokens in each row */
    int64_t *numbers;          /* of packs: samples in each row */
    size_t next_row;           /* of packs: row begun last; end to end: the next token */
} prt_runner_worker;

/* A weight that was set. */
typedef struct prt_runner_weight {
    struct prt_runner_weight *after;
    bool is_staged; /* newer than the last update */
    poprt_tensor tensor;
    int64_t dims[PRT_MAX_RANK];
    char *name;
} prt_runner_weight;

struct poprt_runner {
    _Atomic uint32_t refs; /* the caller, requests, workers */
    poprt_env *env;
    poprt_executable *exec;
    poprt_config *config; /* of the sessions */
    prt_arena *arena;     /* tables, names */
    int32_t kind;
    bool validates, thread_safe, auto_reset, waits_for_waiters;
    bool has_rows;              /* batches have rows along `batching_dim` */
    bool batches;               /* requests share batches */
    size_t blocks;              /* batches per step of the executable */
    uint64_t limit_ns;          /* age at which a batch runs that is not full; UINT64_MAX: never */
    size_t capacity;            /* rows of a batch */
    prt_runner_list lists[2];   /* by direction */
    prt_runner_packing packing; /* of POPRT_RUNNER_PACK */
    uint32_t n_sessions, n_workers, n_replicas;
    prt_runner_session *sessions;
    prt_runner_worker *workers;
    uint32_t *replicas;   /* of light runners: session by replica */
    unsigned char *zeros; /* of light runners: inputs that requests need not have; or NULL */
    uint64_t most_queued;
    _Atomic uint32_t cancels; /* of light runners: calls of poprt_runner_cancel */

    pthread_mutex_t lock;
    pthread_cond_t role;    /* the composing worker has its batch */
    pthread_cond_t work;    /* for the composing worker: anything has changed */
    pthread_cond_t space;   /* for submitting threads: a request has left the queue */
    pthread_cond_t changed; /* for other threads: a request is finished, or a session is free */
    pid_t owner;            /* process that the threads belong to */
    uint32_t n_started, n_active;
    bool is_composing, is_stopping, is_stopped, is_detached;
    uint32_t holds;       /* calls that keep sessions from running */
    uint64_t flush_until; /* batches with requests up to this one do not wait */
    poprt_request *first, *last, *cursor;
    prt_runner_weight *weights;
    poprt_runner_stats stats;
};

/* Returns whether the executable is one of fused models. */
static inline bool prt_runner_is_fused(const poprt_runner *runner)
{
    return runner->exec->program->n_graphs != 0;
}

/* Returns whether a tensor takes part in a run of a graph; -1: the executable is not fused. */
static inline bool prt_runner_takes_part(int32_t tensor_graph, int32_t graph)
{
    return graph < 0 || tensor_graph == graph;
}

/* ---- create.c */
poprt_runner *prt_runner_retain(poprt_runner *runner);
void prt_runner_unref(poprt_runner *runner);
/* Create and release the sessions, with the weights of the last update. */
poprt_status prt_runner_open(poprt_runner *runner);
void prt_runner_close(poprt_runner *runner);
/* Creates the condition variables and mutexes; timed waits use CLOCK_MONOTONIC. */
poprt_status prt_runner_init_locks(poprt_runner *runner);
poprt_status prt_cond_init(pthread_cond_t *cond);

/* ---- fields.c: fills the lists of a runner from its first session. */
poprt_status prt_runner_list_fields(poprt_runner *runner);

/* ---- host_concat.c: replaces the fields of merged inputs by fields of their parts. */
poprt_status prt_runner_split_fields(poprt_runner *runner);

/* ---- pack.c */
/* Reads the options of packing, and makes fields of tokens. */
poprt_status prt_runner_set_packing(poprt_runner *runner);
/* Checks a request and sets its length, `rows`. */
poprt_status prt_pack_measure(const poprt_runner *runner, poprt_request *request);
/* Finds a place for a sample; returns false if it does not fit. */
bool prt_pack_place(prt_runner_worker *worker, size_t length, prt_runner_part *part);
void prt_pack_reset(prt_runner_worker *worker);
/* Copies a sample into the batch; fills the lengths of the samples, with the lock; copies the
 * results. */
poprt_status prt_pack_gather(prt_runner_worker *worker, const prt_runner_part *part);
void prt_pack_finish(prt_runner_worker *worker);
void prt_pack_scatter(prt_runner_worker *worker, const prt_runner_part *part);

/* ---- call.c: checks the tensors of a call and stores them by field, inputs first. `rows` is set
 * to the number of rows; of packs, where each tensor has its own, to 0. */
poprt_status prt_runner_read_call(const poprt_runner *runner, const poprt_runner_call *call,
    prt_request_data *data, size_t *rows, int32_t *graph);

/* Fails with POPRT_E_NOT_FOUND and the nearest names of fields. */
poprt_status prt_runner_fail_unknown(const prt_runner_list *list, const char *name, bool is_input);
/* Returns the index of the field of a name, `n_fields` if there is none. Most callers name tensors
 * in the order of the list, so that `hint` is tried first. */
uint32_t prt_runner_find_field(const prt_runner_list *list, const char *name, size_t hint);

/* ---- batch.c: a batch in the memory of a worker. */
/* Take rows of requests from the cursor on, with the lock; return whether the batch is full. */
void prt_batch_reset(prt_runner_worker *worker);
void prt_batch_take(prt_runner_worker *worker);
bool prt_batch_is_full(const prt_runner_worker *worker);
/* Returns the memory of the worker for a tensor of the executable, which is allocated when it is
 * first needed; NULL: it was refused. */
unsigned char *prt_batch_memory(prt_runner_worker *worker, int32_t direction, uint32_t tensor);
/* Copies the rows of a part. */
poprt_status prt_batch_gather(prt_runner_worker *worker, const prt_runner_part *part);
/* Runs the batch in the worker's session, and copies the results to the requests. */
poprt_status prt_batch_run(prt_runner_worker *worker);

/* ---- bind.c: binds one tensor of the executable; data NULL removes the binding. */
poprt_status prt_runner_bind(poprt_stepio *io, const poprt_runner *runner, int32_t direction,
    uint32_t tensor, void *data);

/* ---- work.c */
/* Start the threads, with the lock. */
poprt_status prt_runner_start(poprt_runner *runner);
/* Takes a runner over after fork, with no thread of its own. */
poprt_status prt_runner_own(poprt_runner *runner);
bool prt_runner_is_inside(const poprt_runner *runner);
/* Stops the runs all of whose requests were cancelled, with the lock. */
void prt_runner_cancel_runs(const poprt_runner *runner);
/* Ends all requests and threads, and waits for them. */
void prt_runner_end(poprt_runner *runner);

/* ---- request.c */
void prt_request_unref(poprt_request *request);
/* Waits for a condition variable until a time of prt_clock_ns, with the lock; UINT64_MAX: without
 * end. Returns false when the time is over. */
bool prt_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until);

/* ---- light.c: runs a call on the calling thread. */
poprt_status prt_light_run(poprt_runner *runner, const poprt_runner_call *call);

/* ---- weights.c */
poprt_status prt_runner_apply_weights(poprt_runner *runner, bool staged);
void prt_runner_free_weights(poprt_runner *runner);

#endif
