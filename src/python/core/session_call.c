/* SPDX-License-Identifier: MIT */
/* Runs of a session: binding values of Python, and the call from a dict to new arrays. */
#include "python/core/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- locks */

poprt_session *core_session_lock(core_session *session)
{
    const unsigned long thread = PyThread_get_thread_ident();
    if (PyThread_acquire_lock(session->lock, NOWAIT_LOCK) != PY_LOCK_ACQUIRED) {
        if (session->owner == thread) {
            core_refuse(core_state_of((PyObject *)session), POPRT_E_STATE, "session",
                "a function that a run calls cannot use the session of this run");
            return NULL;
        }
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(session->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    session->owner = thread;
    if (session->base.handle == NULL) {
        core_session_unlock(session);
        PyErr_SetString(PyExc_ValueError, "the session is closed");
        return NULL;
    }
    return session->base.handle;
}

void core_session_unlock(core_session *session)
{
    session->owner = 0;
    PyThread_release_lock(session->lock);
}

/* ---- Ctrl-C */

/* The run of the main thread that Ctrl-C stops. */
static poprt_session *volatile main_session;
static volatile sig_atomic_t main_interrupted;
static struct sigaction before_interrupt;

static void interrupt(int number)
{
    poprt_session *session = main_session;
    main_interrupted = 1;
    if (session != NULL)
        poprt_session_cancel(session);
    before_interrupt.sa_handler(number);
}

/* Lets SIGINT cancel a run of the main thread, if Python has a handler of the signal. */
static int watch_interrupt(poprt_session *session)
{
    if (main_session != NULL || getpid() != gettid() ||
        sigaction(SIGINT, NULL, &before_interrupt) != 0 || before_interrupt.sa_handler == SIG_DFL ||
        before_interrupt.sa_handler == SIG_IGN || (before_interrupt.sa_flags & SA_SIGINFO) != 0)
        return 0;
    struct sigaction ours = before_interrupt;
    ours.sa_handler = interrupt;
    main_interrupted = 0;
    main_session = session;
    if (sigaction(SIGINT, &ours, NULL) != 0) {
        main_session = NULL;
        return 0;
    }
    return 1;
}

static void unwatch_interrupt(void)
{
    sigaction(SIGINT, &before_interrupt, NULL);
    main_session = NULL;
}

/* ---- runs */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static poprt_status run(poprt_session *session, poprt_stepio *io, const char *program)
{
    return program == NULL ? poprt_session_run(session, io)
                           : poprt_session_run_program(session, program, io);
}

/* Runs without the GIL, and measures the time. `interrupted`: Ctrl-C stopped the run. */
static poprt_status run_measured(core_session *session, poprt_stepio *io, const char *program,
    int *interrupted)
{
    enum { SHORT_NS = 2000000 };
    poprt_session *handle = session->base.handle;
    const int watch =
        (session->last_ns == 0 || session->last_ns > SHORT_NS) && watch_interrupt(handle);
    const uint64_t start = now_ns();
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = run(handle, io, program);
    Py_END_ALLOW_THREADS session->last_ns = now_ns() - start + 1;
    if (watch)
        unwatch_interrupt();
    *interrupted = watch && main_interrupted && status == POPRT_E_CANCELLED;
    return status;
}

int core_session_run(core_session *session, poprt_stepio *io, const char *program, int calls_python)
{
    enum { TINY_NS = 500, UNMEASURED = 64 };
    core_state *state = core_state_of((PyObject *)session);
    poprt_status status;
    state->counters[CORE_RUNS]++;
    if (session->unmeasured > 0 && session->alone && !calls_python) {
        session->unmeasured--; /* shorter than giving the GIL away and taking it back */
        status = run(session->base.handle, io, program);
    } else {
        int interrupted;
        do /* a handler of the program that returns lets the run begin again */
            status = run_measured(session, io, program, &interrupted);
        while (interrupted && PyErr_CheckSignals() == 0);
        session->unmeasured = session->last_ns < TINY_NS ? UNMEASURED : 0;
    }
    if (status == POPRT_OK && PyErr_Occurred() == NULL)
        return 0;
    core_fail(state, status);
    return -1;
}

/* ---- values of slots */

void core_slot_drop(core_slot *slot)
{
    core_array_drop(&slot->array);
    for (size_t i = 0; i < slot->item_count; i++)
        core_array_drop(&slot->items[i]);
    PyMem_Free(slot->items);
    slot->items = NULL;
    slot->item_count = 0;
}

static int take_items(core_state *state, core_slot *slot, PyObject *list, const char *name)
{
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0)
        return -1;
    slot->items = PyMem_Calloc((size_t)n + 1, sizeof(core_array));
    if (slot->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        const int bad = item == NULL || core_array_take(state, item, 0, name, &slot->items[i]) != 0;
        Py_XDECREF(item);
        if (bad)
            return -1;
        slot->item_count++;
    }
    return 0;
}

static int bind_sequence(core_state *state, core_slot *slot, size_t index, poprt_stepio *io,
    PyObject *value, const char *name)
{
    const int present = value != Py_None;
    PyObject *list = value;
    if (!present ||
        (slot->value_kind == POPRT_VALUE_OPTIONAL && slot->item_kind != POPRT_VALUE_SEQUENCE))
        list = present ? PyTuple_Pack(1, value) : PyTuple_New(0);
    else
        Py_INCREF(list);
    poprt_tensor *tensors = NULL;
    int bad = list == NULL || take_items(state, slot, list, name) != 0;
    Py_XDECREF(list);
    if (!bad) {
        tensors = PyMem_Calloc(slot->item_count + 1, sizeof *tensors);
        bad = tensors == NULL;
        if (bad)
            PyErr_NoMemory();
    }
    for (size_t i = 0; i < slot->item_count && !bad; i++)
        tensors[i] = slot->items[i].value;
    if (!bad) {
        const poprt_status status =
            poprt_stepio_bind_sequence(io, index, tensors, slot->item_count, present);
        bad = status != POPRT_OK;
        if (bad)
            core_fail(state, status);
    }
    PyMem_Free(tensors);
    return bad ? -1 : 0;
}

static int bind_map(core_state *state, core_slot *slot, size_t index, poprt_stepio *io,
    PyObject *value, const char *name)
{
    /* (keys, values), which the package makes of a dict */
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        PyErr_Format(PyExc_TypeError, "%s: a map is given as a dict", name);
        return -1;
    }
    if (take_items(state, slot, value, name) != 0)
        return -1;
    const poprt_status status =
        poprt_stepio_bind_map(io, index, &slot->items[0].value, &slot->items[1].value);
    if (status == POPRT_OK)
        return 0;
    core_fail(state, status);
    return -1;
}

static int bind_value(core_state *state, core_slot *slot, size_t index, int is_output,
    poprt_stepio *io, PyObject *value)
{
    if (slot->value_kind != POPRT_VALUE_TENSOR) {
        const char *name = PyUnicode_AsUTF8AndSize(slot->name, NULL);
        if (is_output) {
            PyErr_Format(PyExc_TypeError, "%s: only outputs that are tensors can be bound", name);
            return -1;
        }
        return (slot->value_kind == POPRT_VALUE_MAP ? bind_map : bind_sequence)(state, slot, index,
            io, value, name);
    }
    const char *name = "";
    if (!PyObject_CheckBuffer(value))
        name = PyUnicode_AsUTF8AndSize(slot->name, NULL);
    if (core_array_take(state, value, is_output, name, &slot->array) != 0)
        return -1;
    const poprt_status status = poprt_stepio_bind_at(io, index, &slot->array.value);
    if (status == POPRT_OK)
        return 0;
    core_fail(state, status);
    return -1;
}

int core_slot_bind(core_state *state, core_slot *slot, size_t index, int is_output,
    poprt_stepio *io, PyObject *value)
{
    core_slot_drop(slot);
    slot->bound = 1;
    Py_INCREF(value); /* reading it may call functions of Python, which may forget it */
    const int bad = bind_value(state, slot, index, is_output, io, value);
    Py_DECREF(value);
    if (bad) /* what was bound before is dropped */
        core_slot_unbind(slot, index, io);
    return bad;
}

void core_slot_unbind(core_slot *slot, size_t index, poprt_stepio *io)
{
    if (slot->bound)
        (void)poprt_stepio_bind_at(io, index, NULL); /* a StepIO of functions has no bindings */
    slot->bound = 0;
    core_slot_drop(slot);
}

/* A map as a tuple (keys, values); the package makes a dict of it. */
static PyObject *map_value(core_state *state, const poprt_stepio *io, size_t index, size_t item)
{
    poprt_tensor keys, values;
    CORE_CHECK(state, poprt_stepio_output_map(io, index, item, &keys, &values));
    PyObject *k = core_array_copy(state, &keys);
    PyObject *v = k == NULL ? NULL : core_array_copy(state, &values);
    if (v == NULL) {
        Py_XDECREF(k);
        return NULL;
    }
    return Py_BuildValue("(NN)", k, v);
}

PyObject *core_slot_value(core_state *state, const core_slot *slot, size_t index,
    const poprt_stepio *io)
{
    poprt_tensor tensor;
    if (slot->value_kind == POPRT_VALUE_TENSOR) {
        CORE_CHECK(state, poprt_stepio_output(io, index, &tensor));
        return core_array_copy(state, &tensor);
    }
    if (slot->value_kind == POPRT_VALUE_MAP)
        return map_value(state, io, index, 0);
    size_t n;
    int32_t present;
    CORE_CHECK(state, poprt_stepio_output_count(io, index, &n, &present));
    if (!present)
        Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < n && list != NULL; i++) {
        PyObject *item = NULL;
        poprt_status status = POPRT_OK;
        if (slot->item_kind == POPRT_VALUE_MAP)
            item = map_value(state, io, index, i);
        else if ((status = poprt_stepio_output_item(io, index, i, &tensor)) == POPRT_OK)
            item = core_array_copy(state, &tensor);
        else
            core_fail(state, status);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (list != NULL && slot->value_kind == POPRT_VALUE_OPTIONAL &&
        slot->item_kind != POPRT_VALUE_SEQUENCE) {
        PyObject *only = Py_XNewRef(PyList_GetItem(list, 0));
        Py_DECREF(list);
        return only;
    }
    return list;
}

/* ---- call(feed, wanted) */

/* Binds the inputs of a feed. Returns 0; -1: raised; 1: an input is missing, or a name unknown. */
static int bind_inputs(core_state *state, core_session *session, PyObject *feed)
{
    Py_ssize_t found = 0;
    for (size_t i = 0; i < session->n_in; i++) {
        core_slot *slot = &session->slots[i];
        PyObject *value = PyDict_GetItemWithError(feed, slot->name);
        if (value == NULL) {
            if (PyErr_Occurred() != NULL)
                return -1;
            core_slot_unbind(slot, i, session->io);
            if (slot->required)
                return 1;
            continue;
        }
        found++;
        if (core_slot_bind(state, slot, i, 0, session->io, value) != 0)
            return -1;
    }
    return found == PyDict_Size(feed) ? 0 : 1;
}

/* Makes a new array for an output of known size, and binds it. NULL without an exception: the
 * session provides the memory. */
static PyObject *bind_fresh(core_state *state, core_session *session, size_t index)
{
    core_slot *slot = &session->slots[index];
    if (slot->fresh == NULL) {
        core_slot_unbind(slot, index, session->io);
        return NULL;
    }
    PyObject *array = PyObject_Call(state->empty, slot->fresh, NULL);
    if (array != NULL && core_slot_bind(state, slot, index, 1, session->io, array) != 0)
        Py_CLEAR(array);
    return array;
}

static PyObject *call_outputs(core_state *state, core_session *session, const size_t *wanted,
    size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    if (list == NULL)
        return NULL;
    for (size_t i = session->n_in; n < session->n_out && i < session->n_in + session->n_out; i++)
        core_slot_unbind(&session->slots[i], i, session->io); /* arrays of an earlier run */
    for (size_t i = 0; i < n; i++) {
        PyObject *array = bind_fresh(state, session, wanted[i]);
        if (array == NULL && PyErr_Occurred() != NULL)
            goto failed;
        PyList_SetItem(list, (Py_ssize_t)i, array != NULL ? array : Py_NewRef(Py_None));
    }
    if (core_session_run(session, session->io, NULL, session->watcher != NULL) != 0)
        goto failed;
    for (size_t i = 0; i < n; i++) {
        const core_slot *slot = &session->slots[wanted[i]];
        if (slot->fresh != NULL)
            continue;
        PyObject *value = core_slot_value(state, slot, wanted[i], session->io);
        if (value == NULL)
            goto failed;
        PyList_SetItem(list, (Py_ssize_t)i, value);
    }
    return list;
failed:
    Py_DECREF(list);
    return NULL;
}

/* Slots of the wanted outputs. Returns 0, or -1: raised. */
static int find_wanted(const core_session *session, PyObject *wanted, size_t n, size_t *indexes)
{
    for (size_t i = 0; i < n; i++) {
        const size_t output =
            wanted == Py_None ? i : PyLong_AsSize_t(PyTuple_GetItem(wanted, (Py_ssize_t)i));
        if (output >= session->n_out) {
            if (PyErr_Occurred() == NULL)
                PyErr_SetString(PyExc_IndexError, "no such output");
            return -1;
        }
        indexes[i] = session->n_in + output;
        for (size_t j = 0; wanted != Py_None && j < i; j++) {
            if (indexes[j] == indexes[i]) {
                PyErr_SetString(PyExc_ValueError, "an output is wanted twice");
                return -1;
            }
        }
    }
    return 0;
}

/* call(feed, wanted): wanted is None, for all outputs, or a tuple of their indexes, each once.
 * Returns a list of new arrays, or None if the names of the feed are not those of the inputs. */
PyObject *core_session_call(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    core_state *state = core_state_of(self);
    PyObject *feed, *wanted;
    if (!PyArg_UnpackTuple(args, "call", 2, 2, &feed, &wanted))
        return NULL;
    if (!PyDict_Check(feed)) {
        PyErr_SetString(PyExc_TypeError, "the inputs are a dict of names and arrays");
        return NULL;
    }
    if (wanted != Py_None && !PyTuple_Check(wanted)) {
        PyErr_SetString(PyExc_TypeError, "the wanted outputs are a tuple of indexes, or None");
        return NULL;
    }
    if (core_session_lock(session) == NULL)
        return NULL;
    size_t some[32], *indexes = some;
    const size_t n = wanted == Py_None ? session->n_out : (size_t)PyTuple_Size(wanted);
    PyObject *result = NULL;
    if (n > 32)
        indexes = PyMem_Malloc(n * sizeof *indexes);
    if (indexes == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (find_wanted(session, wanted, n, indexes) != 0)
        goto done;
    const int taken = bind_inputs(state, session, feed);
    if (taken == 0)
        result = call_outputs(state, session, indexes, n);
    else if (taken > 0)
        result = Py_NewRef(Py_None);
done:
    for (size_t i = 0; i < session->n_in + session->n_out; i++)
        core_slot_drop(&session->slots[i]);
    if (indexes != some)
        PyMem_Free(indexes);
    core_session_unlock(session);
    return result;
}
