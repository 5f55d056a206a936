/* SPDX-License-Identifier: MIT */
/* What session.c, session_call.c, session_state.c and stepio.c share. */
#ifndef PRT_PYTHON_CORE_SESSION_H
#define PRT_PYTHON_CORE_SESSION_H

#include "python/core/core.h"

#include <pythread.h>

/* An input or output of a session. */
typedef struct core_slot {
    PyObject *name; /* interned text */
    int32_t value_kind, dtype, item_kind;
    PyObject *fresh;   /* arguments of numpy.empty for a new array, or NULL: size not known */
    core_array array;  /* what the slot is bound to */
    core_array *items; /* of sequences and maps */
    size_t item_count;
    int bound;
    int required; /* an input that every run needs */
} core_slot;

typedef struct core_session {
    core_handle base; /* poprt_session; keeps the executable */
    PyThread_type_lock lock;
    unsigned long owner; /* thread that has the lock */
    poprt_stepio *io;    /* of call() */
    size_t n_in, n_out;
    core_slot *slots; /* inputs, then outputs */
    PyObject *watcher;
    PyObject *trace;
    PyObject *weights;   /* shared weights */
    uint64_t last_ns;    /* time of the last run that was measured; 0: none */
    unsigned unmeasured; /* runs until the next measurement */
    int alone;           /* runs use the calling thread only */
} core_session;

/* Locks a session for the calling thread, which waits for other threads. Returns NULL and raises if
 * the session is closed, or the thread has the lock already. */
poprt_session *core_session_lock(core_session *session);
void core_session_unlock(core_session *session);

/* Replaces an object that the session uses, a trace or weights; None and NULL: no object. */
void core_session_hold(PyObject **place, PyObject *object);

/* Runs a session that is locked. `program` may be NULL. `calls_python`: the run calls functions of
 * Python. Returns 0, or -1: raised. */
int core_session_run(core_session *session, poprt_stepio *io, const char *program,
    int calls_python);

/* Binds a value of Python to a slot: an array, or a sequence or dict for inputs of these kinds. */
int core_slot_bind(core_state *state, core_slot *slot, size_t index, int is_output,
    poprt_stepio *io, PyObject *value);
void core_slot_drop(core_slot *slot);
/* Ends the binding of a slot, if there is one, and drops its array. */
void core_slot_unbind(core_slot *slot, size_t index, poprt_stepio *io);
/* Returns the value of an output after a run, as a new object. */
PyObject *core_slot_value(core_state *state, const core_slot *slot, size_t index,
    const poprt_stepio *io);

/* Methods of Session that are not in session.c. */
PyObject *core_session_call(PyObject *self, PyObject *args);
PyObject *core_session_read_weight(PyObject *self, PyObject *args);
PyObject *core_session_write_weight(PyObject *self, PyObject *args);
PyObject *core_session_update_optimizer(PyObject *self, PyObject *args);
PyObject *core_session_progress(PyObject *self, PyObject *args);
PyObject *core_session_set_random_seed(PyObject *self, PyObject *args);
PyObject *core_session_set_random_state(PyObject *self, PyObject *args);
PyObject *core_session_save_checkpoint(PyObject *self, PyObject *args);
PyObject *core_session_load_checkpoint(PyObject *self, PyObject *args);
PyObject *core_session_save_variables(PyObject *self, PyObject *args);
PyObject *core_session_load_variables(PyObject *self, PyObject *args);
PyObject *core_session_export_model(PyObject *self, PyObject *args);
PyObject *core_session_reset_weights(PyObject *self, PyObject *args);
PyObject *core_session_share_weights(PyObject *self, PyObject *args);

#endif
