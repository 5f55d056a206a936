/* SPDX-License-Identifier: MIT */
/* StepIO: arrays bound to inputs and outputs for many runs, or functions that give them. */
#include "python/core/session.h"

typedef struct core_stepio {
    core_handle base; /* poprt_stepio; keeps the session */
    core_slot *slots;
    size_t n_in, n;
    PyObject *in, *in_done, *out, *out_done; /* functions, or NULL */
} core_stepio;

/* ---- functions that give arrays */

/* Keeps the array that a function returned, and describes it. */
static poprt_status hold(core_stepio *io, const char *name, int writable, PyObject *array,
    poprt_tensor *tensor)
{
    core_state *state = core_state_of((PyObject *)io);
    core_slot *slot = NULL;
    for (size_t i = writable ? io->n_in : 0; i < io->n && slot == NULL; i++)
        if (PyUnicode_CompareWithASCIIString(io->slots[i].name, name) == 0)
            slot = &io->slots[i];
    if (slot == NULL)
        return POPRT_E_INTERNAL;
    core_array_drop(&slot->array);
    if (core_array_take(state, array, writable, name, &slot->array) != 0)
        return POPRT_E_CANCELLED;
    *tensor = slot->array.value;
    return POPRT_OK;
}

static poprt_status ask(core_stepio *io, PyObject *fn, const char *name, int prefetch, int writable,
    poprt_tensor *tensor)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    poprt_status status = POPRT_E_CANCELLED;
    if (PyErr_Occurred() == NULL) {
        PyObject *array = prefetch < 0
            ? PyObject_CallFunction(fn, "s", name)
            : PyObject_CallFunction(fn, "sO", name, prefetch ? Py_True : Py_False);
        if (array == Py_None && prefetch > 0) {
            tensor->data = NULL;
            tensor->size = 0;
            status = POPRT_OK;
        } else if (array != NULL) {
            status = hold(io, name, writable, array, tensor);
        }
        Py_XDECREF(array);
    }
    PyGILState_Release(gil);
    return status;
}

static void tell(PyObject *fn, const char *name)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (PyErr_Occurred() == NULL)
        Py_XDECREF(PyObject_CallFunction(fn, "s", name));
    PyGILState_Release(gil);
}

static poprt_status provide_input(void *user, const char *name, poprt_tensor *tensor)
{
    core_stepio *io = user;
    return ask(io, io->in, name, 0, 0, tensor);
}

static poprt_status provide_block(void *user, const char *name, int32_t prefetch, int32_t broadcast,
    poprt_tensor *tensor)
{
    (void)broadcast;
    core_stepio *io = user;
    return ask(io, io->in, name, prefetch != 0, 0, tensor);
}

static poprt_status provide_output(void *user, const char *name, poprt_tensor *tensor)
{
    core_stepio *io = user;
    return ask(io, io->out, name, -1, 1, tensor);
}

static void input_done(void *user, const char *name)
{
    tell(((core_stepio *)user)->in_done, name);
}

static void output_done(void *user, const char *name)
{
    tell(((core_stepio *)user)->out_done, name);
}

static poprt_status create(core_stepio *io, poprt_session *session, poprt_stepio **out)
{
    if (io->in == NULL)
        return poprt_stepio_create(session, out);
    poprt_stepio_callbacks callbacks = { .struct_size = sizeof callbacks, .user = io };
    callbacks.in = provide_input;
    callbacks.prefetch = provide_block;
    callbacks.out = provide_output;
    if (io->in_done != NULL)
        callbacks.in_complete = input_done;
    if (io->out_done != NULL)
        callbacks.out_complete = output_done;
    return poprt_stepio_create_callbacks(session, &callbacks, out);
}

/* ---- the type */

static void drop_arrays(core_stepio *io)
{
    for (size_t i = 0; io->slots != NULL && i < io->n; i++)
        core_slot_drop(&io->slots[i]);
}

static void free_stepio(PyObject *self)
{
    core_stepio *io = (core_stepio *)self;
    PyTypeObject *type = Py_TYPE(self);
    poprt_stepio_release(io->base.handle);
    drop_arrays(io);
    for (size_t i = 0; io->slots != NULL && i < io->n; i++)
        Py_XDECREF(io->slots[i].name);
    PyMem_Free(io->slots);
    Py_XDECREF(io->in);
    Py_XDECREF(io->in_done);
    Py_XDECREF(io->out);
    Py_XDECREF(io->out_done);
    Py_XDECREF(io->base.keep);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int copy_slots(core_stepio *io, const core_session *session)
{
    io->n_in = session->n_in;
    io->n = session->n_in + session->n_out;
    io->slots = PyMem_Calloc(io->n + 1, sizeof *io->slots);
    if (io->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < io->n; i++) {
        io->slots[i].name = Py_NewRef(session->slots[i].name);
        io->slots[i].value_kind = session->slots[i].value_kind;
        io->slots[i].item_kind = session->slots[i].item_kind;
        io->slots[i].dtype = session->slots[i].dtype;
    }
    return 0;
}

/* StepIO(session, functions): functions is None or (in, in_complete, out, out_complete), where in
 * is called with (name, prefetch) and may return None to a prefetch, out with (name), and the
 * others, which may be None, with (name). */
static PyObject *new_stepio(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *session_object, *functions;
    if (!PyArg_ParseTuple(args, "OO", &session_object, &functions))
        return NULL;
    poprt_session *handle = core_handle_of(state, session_object, CORE_SESSION);
    if (handle == NULL)
        return NULL;
    core_stepio *io = (core_stepio *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (io == NULL)
        return NULL;
    PyObject *in = NULL, *in_done = NULL, *out = NULL, *out_done = NULL;
    int bad = copy_slots(io, (const core_session *)session_object) != 0 ||
        (functions != Py_None &&
            !PyArg_ParseTuple(functions, "OOOO", &in, &in_done, &out, &out_done));
    if (!bad) {
        io->in = Py_XNewRef(in);
        io->out = Py_XNewRef(out);
        io->in_done = in_done == Py_None ? NULL : Py_XNewRef(in_done);
        io->out_done = out_done == Py_None ? NULL : Py_XNewRef(out_done);
        poprt_stepio *made = NULL;
        const poprt_status status = create(io, handle, &made);
        io->base.handle = made;
        io->base.keep = Py_NewRef(session_object);
        bad = status != POPRT_OK;
        if (bad)
            core_fail(state, status);
    }
    if (bad)
        Py_CLEAR(io);
    return (PyObject *)io;
}

/* Locks the session of a StepIO; NULL: raised. */
static core_session *lock(core_stepio *io)
{
    core_session *session = (core_session *)io->base.keep;
    if (core_self((PyObject *)io) == NULL || core_session_lock(session) == NULL)
        return NULL;
    if (core_self((PyObject *)io) == NULL) { /* closed while this thread waited for the lock */
        core_session_unlock(session);
        return NULL;
    }
    return session;
}

/* Index of a slot from its index or name; inputs come first. -1: raised. */
static Py_ssize_t find_slot(core_stepio *io, PyObject *key)
{
    if (PyLong_Check(key)) {
        const Py_ssize_t i = PyLong_AsSsize_t(key);
        if (i >= 0 && (size_t)i < io->n)
            return i;
        if (PyErr_Occurred() == NULL)
            PyErr_SetString(PyExc_IndexError, "no such input or output");
        return -1;
    }
    for (size_t i = 0; i < io->n; i++)
        if (PyUnicode_Compare(io->slots[i].name, key) == 0)
            return (Py_ssize_t)i;
    if (PyErr_Occurred() == NULL)
        core_refuse(core_state_of((PyObject *)io), POPRT_E_NOT_FOUND,
            PyUnicode_AsUTF8AndSize(key, NULL), "the session has no input or output of this name");
    return -1;
}

/* bind(slot, value or None): an array is used in place until another is bound. */
static PyObject *bind(PyObject *self, PyObject *args)
{
    core_stepio *io = (core_stepio *)self;
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO", &key, &value))
        return NULL;
    const Py_ssize_t i = find_slot(io, key);
    core_session *session = i < 0 ? NULL : lock(io);
    if (session == NULL)
        return NULL;
    core_slot *slot = &io->slots[i];
    int bad = 0;
    if (value == Py_None && (slot->value_kind == POPRT_VALUE_TENSOR || (size_t)i >= io->n_in)) {
        const poprt_status status = poprt_stepio_bind_at(io->base.handle, (size_t)i, NULL);
        bad = status != POPRT_OK;
        if (bad)
            core_fail(core_state_of(self), status);
        else
            core_slot_drop(slot);
    } else {
        bad = core_slot_bind(core_state_of(self), slot, (size_t)i, (size_t)i >= io->n_in,
                  io->base.handle, value) != 0;
    }
    core_session_unlock(session);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

/* bind_cache(input, output, array, rows) */
static PyObject *bind_cache(PyObject *self, PyObject *args)
{
    core_stepio *io = (core_stepio *)self;
    core_state *state = core_state_of(self);
    PyObject *input, *output, *array;
    long long rows;
    if (!PyArg_ParseTuple(args, "UUOL", &input, &output, &array, &rows))
        return NULL;
    const Py_ssize_t i = find_slot(io, input);
    const char *in = PyUnicode_AsUTF8AndSize(input, NULL);
    const char *out = PyUnicode_AsUTF8AndSize(output, NULL);
    core_session *session = i < 0 || in == NULL || out == NULL ? NULL : lock(io);
    if (session == NULL)
        return NULL;
    core_slot *slot = &io->slots[i];
    core_slot_unbind(slot, (size_t)i, io->base.handle);
    int bad = core_array_take(state, array, 1, in, &slot->array) != 0;
    if (!bad) {
        const poprt_status status =
            poprt_stepio_bind_cache(io->base.handle, in, out, &slot->array.value, rows);
        bad = status != POPRT_OK;
        slot->bound = !bad;
        if (bad)
            core_fail(state, status);
    }
    core_session_unlock(session);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *cache_rows(PyObject *self, PyObject *args)
{
    const char *input;
    int64_t rows;
    const poprt_stepio *io;
    if (!PyArg_ParseTuple(args, "s", &input) || (io = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_stepio_cache_rows(io, input, &rows));
    return PyLong_FromLongLong(rows);
}

/* run(program or None) */
static PyObject *run(PyObject *self, PyObject *program)
{
    core_stepio *io = (core_stepio *)self;
    const char *name = NULL;
    if (program != Py_None && (name = PyUnicode_AsUTF8AndSize(program, NULL)) == NULL)
        return NULL;
    core_session *session = lock(io);
    if (session == NULL)
        return NULL;
    const int bad = core_session_run(session, io->base.handle, name,
        io->in != NULL || session->watcher != NULL);
    core_session_unlock(session);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

/* output(slot): a copy of an output after a run, wherever it is. */
static PyObject *output(PyObject *self, PyObject *key)
{
    core_stepio *io = (core_stepio *)self;
    const Py_ssize_t i = find_slot(io, key);
    core_session *session = i < 0 ? NULL : lock(io);
    if (session == NULL)
        return NULL;
    PyObject *value =
        core_slot_value(core_state_of(self), &io->slots[i], (size_t)i, io->base.handle);
    core_session_unlock(session);
    return value;
}

static PyObject *close_stepio(PyObject *self, PyObject *args)
{
    (void)args;
    core_stepio *io = (core_stepio *)self;
    if (io->base.handle == NULL)
        Py_RETURN_NONE;
    core_session *session = (core_session *)io->base.keep;
    const int closed = session->base.handle == NULL;
    if (!closed && core_session_lock(session) == NULL)
        return NULL;
    poprt_stepio_release(io->base.handle);
    io->base.handle = NULL;
    drop_arrays(io);
    if (!closed)
        core_session_unlock(session);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "close", close_stepio, METH_NOARGS, "() releases the handle" },
    { "bind", bind, METH_VARARGS, "(slot or name, array or None)" },
    { "bind_cache", bind_cache, METH_VARARGS, "(input, output, array, rows)" },
    { "cache_rows", cache_rows, METH_VARARGS, "(input) -> rows" },
    { "run", run, METH_O, "(program or None)" },
    { "output", output, METH_O, "(slot or name) -> array" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, (void *)new_stepio },
    { Py_tp_dealloc, (void *)free_stepio },
    { Py_tp_methods, methods },
    { 0, NULL },
};

PyType_Spec core_stepio_spec = { "poprt._core.StepIO", sizeof(core_stepio), 0, Py_TPFLAGS_DEFAULT,
    slots };
