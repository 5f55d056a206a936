/* SPDX-License-Identifier: MIT */
/*
 * session.h — running a program: frames of buffers, one per block, bound to a program; runs with
 * inputs and outputs given as tensors. Single-threaded; queues and callbacks stand above
 * (runtime/stepio.c, runtime/queue.c).
 */
#ifndef PRT_RUNTIME_SESSION_H
#define PRT_RUNTIME_SESSION_H

#include "kern/kern.h"
#include "par/pool.h"
#include "program/program.h"
#include "tensor/tensor.h"

typedef struct prt_session prt_session;

/* A line that an operator prints, without line break. On the thread that runs. */
typedef void (*prt_print_fn)(void *user, const char *line);

/* A step that has ended: `index` of the program's block `block`; times of prt_clock_ns. On the
 * thread that runs. */
typedef void (
    *prt_step_fn)(void *user, uint32_t block, uint32_t index, uint64_t start_ns, uint64_t stop_ns);

typedef struct prt_session_options {
    const prt_allocator *allocator;
    const prt_par *par;  /* NULL: the caller's thread alone */
    size_t memory_limit; /* most bytes of all that prt_session_memory counts; 0: none */
    uint64_t seed;       /* of random operators that have none of their own */
    uint32_t n_dims;     /* symbolic dims fixed now */
    const prt_str *dim_names;
    const int64_t *dim_values;
    const prt_kern *kern;  /* of fast forms; NULL: reference kernels only */
    bool strassen, bf16x3; /* as prt_eval has them */
    prt_print_fn print;    /* NULL: nothing is printed */
    void *print_user;
} prt_session_options;

poprt_status prt_session_create(prt_program *program, const prt_session_options *options,
    prt_session **out);
void prt_session_release(prt_session *session);

/* Bytes that prt_session_memory counts. */
typedef struct prt_session_needs {
    size_t created;  /* once the session is made */
    size_t scratch;  /* added by its first runs */
    size_t outputs;  /* added by a run in which the caller binds no output */
    bool is_planned; /* no symbolic dim is open */
} prt_session_needs;

/*
 * The needs of such a session, without its planned memory being allocated; no limit is looked at.
 * Scratch and outputs are 0 while symbolic dims are open. Exact where every step is static: steps
 * whose shapes only a run tells are left out, and reference kernels of large tensors.
 */
poprt_status prt_session_measure(prt_program *program, const prt_session_options *options,
    prt_session_needs *out);

/*
 * Runs once. `in[i]` is input i of the program (tensor, or sequence/optional with items); used in
 * place when aligned to its element size, else copied. `out[i]` on entry is either kind ABSENT (the
 * session provides memory) or a tensor with data and size where the result is to go (dims are
 * ignored; too small a size is POPRT_E_ARG); on return it describes the result.
 *
 * An input and an output may be a cache, both with the same `data` and the same `room` (tensor.h)
 * and dims that are those of the cache but for the rows, and a `size` that is all of it: the output
 * is written over the input, whose rows it has room for.
 */
poprt_status prt_session_run(prt_session *session, const prt_tensor *in, prt_tensor *out);

/* Any thread: the run in progress stops soon with POPRT_E_CANCELLED. */
void prt_session_cancel(prt_session *session);

/* Runs from now on tell of every step that they look at; NULL: no longer. */
void prt_session_watch(prt_session *session, prt_step_fn fn, void *user);

/* Bytes held, weights excluded. */
size_t prt_session_memory(const prt_session *session);

/* Weights by name: a view of the current bytes, and replacement for this session alone. What the
 * last run wrote to a weight is current when that run succeeded. */
poprt_status prt_session_weight(prt_session *session, prt_str name, prt_tensor *out);
poprt_status prt_session_set_weight(prt_session *session, prt_str name, const prt_tensor *from);

#endif
