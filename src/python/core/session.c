/* SPDX-License-Identifier: MIT */
/* Session: its creation and end, its description, and profiles of its runs. */
#include "python/core/session.h"

#include <string.h>

void core_session_hold(PyObject **place, PyObject *object)
{
    PyObject *before = *place;
    *place = object == NULL || object == Py_None ? NULL : Py_NewRef(object);
    core_use(*place);
    core_unuse(before);
    Py_XDECREF(before);
}

/* Lets go of the trace and the weights, after the handle. */
static void drop_used(core_session *session)
{
    core_session_hold(&session->trace, NULL);
    core_session_hold(&session->weights, NULL);
}

static void free_session(PyObject *self)
{
    core_session *session = (core_session *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (size_t i = 0; session->slots != NULL && i < session->n_in + session->n_out; i++) {
        core_slot_drop(&session->slots[i]);
        Py_XDECREF(session->slots[i].name);
        Py_XDECREF(session->slots[i].fresh);
    }
    PyMem_Free(session->slots);
    poprt_stepio_release(session->io);
    poprt_session *handle = session->base.handle;
    session->base.handle = NULL;
    Py_BEGIN_ALLOW_THREADS poprt_session_release(handle);
    Py_END_ALLOW_THREADS if (session->lock != NULL) PyThread_free_lock(session->lock);
    drop_used(session);
    Py_XDECREF(session->base.keep);
    Py_XDECREF(session->watcher);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Fills a slot; an output of known size gets the arguments of numpy.empty. */
static int describe_slot(core_state *state, core_slot *slot, const poprt_executable *exec,
    int32_t direction, size_t index)
{
    poprt_io_info info = { .struct_size = sizeof info };
    poprt_batching b = { .struct_size = sizeof b };
    poprt_status status = poprt_executable_io_at(exec, direction, index, &info);
    if (status == POPRT_OK)
        status = poprt_executable_get_batching(exec, direction, index, &b);
    if (status != POPRT_OK) {
        core_fail(state, status);
        return -1;
    }
    slot->name = PyUnicode_FromString(info.name);
    if (slot->name == NULL)
        return -1;
    PyUnicode_InternInPlace(&slot->name);
    slot->value_kind = info.value_kind;
    slot->item_kind = info.item_kind;
    slot->dtype = info.dtype;
    slot->required = info.graph < 0 && info.value_kind != POPRT_VALUE_OPTIONAL;
    int known = direction == POPRT_OUTPUT && info.value_kind == POPRT_VALUE_TENSOR &&
        info.rank >= 0 && info.graph < 0 && b.batches_per_step == 1 && b.accumulation_factor == 1 &&
        b.replication_factor == 1 && info.dtype < PyTuple_Size(state->dtypes) &&
        PyTuple_GetItem(state->dtypes, info.dtype) != Py_None;
    for (int32_t i = 0; i < info.rank; i++)
        known = known && info.dims[i] >= 0;
    if (!known)
        return 0;
    PyObject *dims = core_dims((uint32_t)info.rank, info.dims);
    if (dims == NULL)
        return -1;
    slot->fresh = PyTuple_Pack(2, dims, PyTuple_GetItem(state->dtypes, info.dtype));
    Py_DECREF(dims);
    return slot->fresh == NULL ? -1 : 0;
}

static int describe_slots(core_state *state, core_session *session, const poprt_executable *exec)
{
    session->n_in = poprt_executable_io_count(exec, POPRT_INPUT);
    session->n_out = poprt_executable_io_count(exec, POPRT_OUTPUT);
    session->slots = PyMem_Calloc(session->n_in + session->n_out + 1, sizeof *session->slots);
    if (session->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < session->n_in + session->n_out; i++) {
        const int is_output = i >= session->n_in;
        if (describe_slot(state, &session->slots[i], exec, is_output ? POPRT_OUTPUT : POPRT_INPUT,
                is_output ? i - session->n_in : i) != 0)
            return -1;
    }
    return 0;
}

/* Session(executable, config or None, alone): alone tells that the environment has one thread. */
static PyObject *new_session(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *exec_object, *config_object;
    int alone;
    void *config;
    if (!PyArg_ParseTuple(args, "OOp", &exec_object, &config_object, &alone))
        return NULL;
    poprt_executable *exec = core_handle_of(state, exec_object, CORE_EXECUTABLE);
    if (exec == NULL || core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_session *handle;
    poprt_status status;
    core_use(exec_object);
    core_use(config_object);
    Py_BEGIN_ALLOW_THREADS status = poprt_session_create(exec, config, &handle);
    Py_END_ALLOW_THREADS core_unuse(exec_object);
    core_unuse(config_object);
    CORE_CHECK(state, status);
    core_session *session = (core_session *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (session == NULL) {
        poprt_session_release(handle);
        return NULL;
    }
    session->base.handle = handle;
    Py_INCREF(exec_object);
    session->base.keep = exec_object;
    session->alone = alone;
    session->lock = PyThread_allocate_lock();
    status = POPRT_OK;
    if (session->lock == NULL)
        PyErr_NoMemory();
    else if ((status = poprt_stepio_create(handle, &session->io)) != POPRT_OK)
        core_fail(state, status);
    if (PyErr_Occurred() != NULL || describe_slots(state, session, exec) != 0)
        Py_CLEAR(session);
    else
        state->counters[CORE_SESSIONS]++;
    return (PyObject *)session;
}

static PyObject *close_session(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    if (session->base.handle == NULL)
        Py_RETURN_NONE;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    poprt_stepio_release(session->io);
    session->io = NULL;
    session->base.handle = NULL;
    core_session_unlock(session);
    Py_BEGIN_ALLOW_THREADS poprt_session_release(handle);
    Py_END_ALLOW_THREADS drop_used(session);
    Py_RETURN_NONE;
}

static PyObject *cancel(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_session *handle = ((core_handle *)self)->handle;
    if (handle != NULL)
        poprt_session_cancel(handle);
    Py_RETURN_NONE;
}

static PyObject *recover(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_recover(handle);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *memory(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_session *handle = ((core_handle *)self)->handle;
    return PyLong_FromSize_t(handle == NULL ? 0 : poprt_session_memory(handle));
}

static PyObject *cycle_count(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    poprt_session *handle = core_session_lock(session);
    uint64_t ns;
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_get_cycle_count(handle, &ns);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    return PyLong_FromUnsignedLongLong(ns);
}

/* ---- inspection */

/* tensors() -> [(name, kind, value kind, dtype, dims or None, bytes, block)] */
static PyObject *tensors(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    poprt_session *handle = core_session_lock(session);
    PyObject *list = handle == NULL ? NULL : PyList_New(0);
    const size_t n = handle == NULL ? 0 : poprt_session_tensor_count(handle);
    for (size_t i = 0; i < n && list != NULL; i++) {
        poprt_tensor_info t = { .struct_size = sizeof t };
        if (poprt_session_tensor_at(handle, i, &t) != POPRT_OK)
            break;
        PyObject *dims = t.rank < 0 ? Py_NewRef(Py_None) : core_dims((uint32_t)t.rank, t.dims);
        PyObject *item = dims == NULL
            ? NULL
            : Py_BuildValue("(siiiNnI)", t.name, (int)t.kind, (int)t.value_kind, (int)t.dtype, dims,
                  (Py_ssize_t)t.size, (unsigned)t.block);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (handle != NULL)
        core_session_unlock(session);
    return list;
}

static PyObject *profile(PyObject *self, PyObject *args)
{
    int on;
    core_session *session = (core_session *)self;
    if (!PyArg_ParseTuple(args, "p", &on))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_profile(handle, on);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *reset_profile(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_reset_profile(handle);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *report(PyObject *self, PyObject *args)
{
    int format;
    core_session *session = (core_session *)self;
    if (!PyArg_ParseTuple(args, "i", &format))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    core_sink sink = { 0 };
    const poprt_status status = poprt_session_report(handle, format, core_sink_write, &sink);
    core_session_unlock(session);
    return core_sink_text(core_state_of(self), &sink, status);
}

static void receive_step(void *user, const poprt_step *step)
{
    core_session *session = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (PyErr_Occurred() == NULL) {
        PyObject *result = PyObject_CallFunction(session->watcher, "IIsssKKs",
            (unsigned)step->block, (unsigned)step->index, step->op, step->form, step->node,
            (unsigned long long)step->start_ns, (unsigned long long)step->stop_ns, step->location);
        if (result == NULL)
            poprt_session_cancel(session->base.handle);
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
}

/* watch(fn or None): fn(block, index, op, form, node, start_ns, stop_ns, location) */
static PyObject *watch(PyObject *self, PyObject *args)
{
    PyObject *fn;
    core_session *session = (core_session *)self;
    if (!PyArg_ParseTuple(args, "O", &fn))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status =
        poprt_session_watch(handle, fn == Py_None ? NULL : receive_step, session);
    PyObject *before = NULL;
    if (status == POPRT_OK) {
        before = session->watcher;
        session->watcher = fn == Py_None ? NULL : Py_NewRef(fn);
    }
    core_session_unlock(session);
    Py_XDECREF(before);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *trace(PyObject *self, PyObject *args)
{
    PyObject *object;
    core_session *session = (core_session *)self;
    void *spans;
    if (!PyArg_ParseTuple(args, "O", &object) ||
        core_optional(core_state_of(self), object, CORE_TRACE, &spans) != 0)
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_trace(handle, spans);
    if (status == POPRT_OK)
        core_session_hold(&session->trace, object);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "close", close_session, METH_NOARGS, "() releases the handle" },
    { "call", core_session_call, METH_VARARGS, "(feed, wanted) -> list of arrays, or None" },
    { "cancel", cancel, METH_NOARGS, "() from any thread" },
    { "recover", recover, METH_NOARGS, "()" },
    { "memory", memory, METH_NOARGS, "() -> bytes" },
    { "cycle_count", cycle_count, METH_NOARGS, "() -> ns of the last run" },
    { "tensors", tensors, METH_NOARGS,
        "() -> [(name, kind, value kind, dtype, dims, bytes, block)]" },
    { "profile", profile, METH_VARARGS, "(on)" },
    { "reset_profile", reset_profile, METH_NOARGS, "()" },
    { "report", report, METH_VARARGS, "(format) -> text" },
    { "watch", watch, METH_VARARGS, "(fn or None)" },
    { "trace", trace, METH_VARARGS, "(trace or None)" },
    { "read_weight", core_session_read_weight, METH_VARARGS, "(name, array or None) -> array" },
    { "write_weight", core_session_write_weight, METH_VARARGS, "(name, array)" },
    { "update_optimizer", core_session_update_optimizer, METH_VARARGS, "(optimizer)" },
    { "progress", core_session_progress, METH_NOARGS, "() -> (updates, micro-batches, seed)" },
    { "set_random_seed", core_session_set_random_seed, METH_VARARGS, "(seed)" },
    { "set_random_state", core_session_set_random_state, METH_VARARGS, "(seed, micro-batches)" },
    { "save_checkpoint", core_session_save_checkpoint, METH_VARARGS, "(path, keep)" },
    { "load_checkpoint", core_session_load_checkpoint, METH_VARARGS, "(path)" },
    { "save_variables", core_session_save_variables, METH_VARARGS, "(path)" },
    { "load_variables", core_session_load_variables, METH_VARARGS, "(path)" },
    { "export_model", core_session_export_model, METH_VARARGS, "(model, with state) -> Model" },
    { "reset_weights", core_session_reset_weights, METH_VARARGS, "(model, flags)" },
    { "share_weights", core_session_share_weights, METH_VARARGS, "(weights or None)" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, (void *)new_session },
    { Py_tp_dealloc, (void *)free_session },
    { Py_tp_methods, methods },
    { 0, NULL },
};

PyType_Spec core_session_spec = { "poprt._core.Session", sizeof(core_session), 0,
    Py_TPFLAGS_DEFAULT, slots };
