/* SPDX-License-Identifier: MIT */
/*
 * session.h — executes a program: frames of buffers, one for each block, and runs with inputs and
 * outputs given as tensors. Single-threaded; queues and callbacks are built on top of it.
 */
#ifndef PRT_RUNTIME_SESSION_H
#define PRT_RUNTIME_SESSION_H

#include "kern/kern.h"
#include "par/pool.h"
#include "program/program.h"
#include "tensor/tensor.h"

typedef struct prt_session prt_session;

/* Receives a line that an operator prints, without line break, on the thread of the run. */
typedef void (*prt_print_fn)(void *user, const char *line);

/* Receives a step that has ended: step `index` of the program's block `block`, with times of
 * prt_clock_ns, on the thread of the run. */
typedef void (
    *prt_step_fn)(void *user, uint32_t block, uint32_t index, uint64_t start_ns, uint64_t stop_ns);

typedef struct prt_session_options {
    const prt_allocator *allocator;
    const prt_par *par;  /* NULL: only the caller's thread */
    size_t memory_limit; /* maximum of prt_session_memory, in bytes; 0: unlimited */
    uint64_t seed;       /* seed of random operators without a seed of their own */
    uint32_t n_dims;     /* number of symbolic dims fixed at creation */
    const prt_str *dim_names;
    const int64_t *dim_values;
    const prt_kern *kern;  /* kernels of the fast operators; NULL: reference kernels only */
    bool strassen, bf16x3; /* as in prt_eval */
    bool any_log2_scale;   /* as in prt_eval */
    /* By input, the most blocks that data flow asks for at once, 1 or more; NULL: 1 each. */
    const uint32_t *buffering_depths;
    bool flush_denormals;      /* runs take denormals for 0 (cpu/denormals.h) */
    bool check_floating_point; /* a step that makes infinities or NaN of finite inputs fails */
    bool check_kernels;        /* a step that changes its inputs fails */
    prt_print_fn print;        /* NULL: nothing is printed */
    void *print_user;
} prt_session_options;

poprt_status prt_session_create(prt_program *program, const prt_session_options *options,
    prt_session **out);
void prt_session_release(prt_session *session);

/* Bytes counted by prt_session_memory. */
typedef struct prt_session_needs {
    size_t created; /* after the creation of the session */
    size_t scratch; /* added by its first runs */
    size_t outputs; /* added by a run for which the caller binds no output */
    /* Held besides `created` and `scratch` for moments of the creation and of the first runs. */
    size_t transient;
    bool is_planned; /* no symbolic dim is left unbound */
} prt_session_needs;

/*
 * Measures the needs of a session with these options, without allocating its planned memory and
 * without applying a limit. Scratch and outputs are 0 while symbolic dims are unbound. The result
 * is exact if every step is static: it excludes steps whose shapes are known only in a run, and the
 * scratch of reference kernels of large tensors.
 */
poprt_status prt_session_measure(prt_program *program, const prt_session_options *options,
    prt_session_needs *out);

/*
 * Runs once. `in[i]` is input i of the program (a tensor, or a sequence or optional with items). It
 * is used in place if it is aligned to its element size, and copied otherwise. On entry `out[i]` is
 * of kind ABSENT, and the session provides the memory; or it is a tensor whose data and size
 * describe the destination. Its dims are ignored; too small a size is POPRT_E_ARG. On return
 * `out[i]` describes the result.
 *
 * An input and an output may be one KV cache. Then both have the same `data` and `capacity`
 * (tensor.h), the dims of the cache except for the rows, and the `size` of the whole cache. The
 * output is written over the input, after whose rows there is spare capacity.
 */
poprt_status prt_session_run(prt_session *session, const prt_tensor *in, prt_tensor *out);

/* Stops the run in progress soon with POPRT_E_CANCELLED. Any thread may call it. */
void prt_session_cancel(prt_session *session);

/* recover.c: returns the memory that runs have added, and makes the session as after its creation,
 * with the variables and weights of the last whole update. */
poprt_status prt_session_recover(prt_session *session);

/* Reports every executed step of later runs to `fn`; NULL ends the reports. */
void prt_session_watch(prt_session *session, prt_step_fn fn, void *user);

/* Returns the bytes held, without the program's weights. */
size_t prt_session_memory(const prt_session *session);

/* Weights by name: a view of the current bytes, and a replacement for this session alone. A weight
 * written by the last run is current if that run succeeded. Fail with POPRT_E_NOT_FOUND for an
 * unknown name, and with POPRT_E_STATE for a weight that a constant holds in another form. */
poprt_status prt_session_weight(prt_session *session, prt_str name, prt_tensor *out);
poprt_status prt_session_set_weight(prt_session *session, prt_str name, const prt_tensor *from);
/* Return the type of a weight in the model, which lives as long as the program, and copy its
 * elements, in the order of the model, to `to`. They restore what passes rearranged. */
poprt_status prt_session_weight_type(prt_session *session, prt_str name, const prt_type **out);
poprt_status prt_session_copy_weight(prt_session *session, prt_str name, void *to);
/* Sets `out` to false for a constant that no operator writes: callers of the library may not
 * replace it, since other constants may have been computed from it; to true for an unknown name.
 * Fails without memory. */
poprt_status prt_session_may_set_weight(prt_session *session, prt_str name, bool *out);
/* Sets the value of a variable of role scalar, without the factor of the loss scale. A name that
 * the program does not have is ignored, since a scalar that no step reads is not a variable. */
poprt_status prt_session_set_scalar(prt_session *session, prt_str name, double value);

/* Fails with POPRT_E_STATE if a variable has no contents yet: the file of the executable was
 * written without them, and nobody has set them since. */
poprt_status prt_session_check_contents(const prt_session *session);

/* Return a variable of the program, and its contents as of the last update. */
const prt_variable *prt_session_variable_of(const prt_session *session, uint32_t variable);
prt_tensor prt_session_variable(const prt_session *session, uint32_t variable);

/* checkpoint.c: writes and reads weights, states, statistics, scalars and counters. Reading fails
 * before it changes anything: with POPRT_E_PARSE for a damaged file, POPRT_E_ARG for one of another
 * optimizer, POPRT_E_NOT_FOUND or POPRT_E_SHAPE for one of another model. The program must have
 * variables. */
poprt_status prt_session_write_checkpoint(prt_session *session, poprt_write_fn write, void *user);
poprt_status prt_session_read_checkpoint(prt_session *session, const prt_blob *file);

/* checkpoint.c: writes weights, statistics and states as DATA_TENSOR blobs alone, and reads such a
 * file. Tensors that the file does not have stay. Reading fails before it changes anything: with
 * POPRT_E_PARSE for a damaged file or one without tensors, POPRT_E_NOT_FOUND for a tensor that is
 * not a variable, POPRT_E_SHAPE for one of another type. */
poprt_status prt_session_write_variables(prt_session *session, poprt_write_fn write, void *user);
poprt_status prt_session_read_variables(prt_session *session, const prt_blob *file);

/* save.c: writes the program as PopEF. With `variables` they begin with the contents that they have
 * now, otherwise weights, statistics and states that begin as constants have no contents. `bare`:
 * see prt_program_derive. */
poprt_status prt_session_write_program(prt_session *session, bool variables, bool bare,
    poprt_write_fn write, void *user);

/* Counters of training, which decide random numbers and the order of a loader. */
typedef struct prt_session_counters {
    uint64_t updates;       /* whole updates since the first step */
    uint64_t micro_batches; /* micro-batches of them since the seed was set */
    uint64_t seed;
} prt_session_counters;
void prt_session_progress(const prt_session *session, prt_session_counters *out);
/* Sets the seed of random operators, and the number of micro-batches drawn from it already. */
void prt_session_set_seed(prt_session *session, uint64_t seed, uint64_t micro_batches);

#endif
