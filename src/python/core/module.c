/* SPDX-License-Identifier: MIT */
/* The module: its state, its exceptions, and what all handle types share. */
#include "python/core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

core_state *core_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* ---- exceptions */

static PyObject *raise_error(core_state *state, poprt_status status, const char *stage,
    const char *file, const char *subject, const char *message, const char *location)
{
    if (state->make_error == NULL) {
        PyErr_Format(PyExc_RuntimeError, "%s: %s", subject, message);
        return NULL;
    }
    PyObject *error = PyObject_CallFunction(state->make_error, "ssysss", poprt_status_name(status),
        stage, file, subject, message, location);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *core_fail(core_state *state, poprt_status status)
{
    if (PyErr_Occurred() != NULL)
        return NULL;
    const poprt_error *e = poprt_last_error();
    return raise_error(state, status, e->stage, e->file, e->subject, e->message, e->location);
}

PyObject *core_refuse(core_state *state, poprt_status status, const char *subject,
    const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return raise_error(state, status, "python", "", subject, text, "");
}

/* ---- handles */

PyObject *core_wrap(core_state *state, enum core_type type, void *handle, PyObject *keep,
    void (*release)(void *))
{
    allocfunc make = (allocfunc)PyType_GetSlot(state->types[type], Py_tp_alloc);
    core_handle *object = (core_handle *)make(state->types[type], 0);
    if (object == NULL) {
        release(handle);
        return NULL;
    }
    object->handle = handle;
    object->release = release;
    Py_XINCREF(keep);
    object->keep = keep;
    return (PyObject *)object;
}

static const char *const type_names[] = { "Env", "Config", "Model", "PassManager", "Executable",
    "Session", "StepIO", "Builder", "Flow", "Optimizer", "Weights", "Trace", "Runner", "Request",
    "Tensor" };

void *core_handle_of(core_state *state, PyObject *object, enum core_type type)
{
    if (Py_TYPE(object) != state->types[type]) {
        PyErr_Format(PyExc_TypeError, "expected a %s of poprt._core", type_names[type]);
        return NULL;
    }
    return core_self(object);
}

int core_optional(core_state *state, PyObject *object, enum core_type type, void **out)
{
    *out = NULL;
    if (object == NULL || object == Py_None)
        return 0;
    *out = core_handle_of(state, object, type);
    return *out == NULL ? -1 : 0;
}

void *core_self(PyObject *self)
{
    const core_handle *object = (const core_handle *)self;
    if (object->handle == NULL) {
        PyErr_SetString(PyExc_ValueError, "the object is closed");
        return NULL;
    }
    if (object->busy) {
        core_refuse(core_state_of(self), POPRT_E_STATE, "",
            "another thread is using the object: wait for it, or use an object for each thread");
        return NULL;
    }
    return object->handle;
}

void core_use(PyObject *object)
{
    if (object != NULL && object != Py_None)
        ((core_handle *)object)->users++;
}

void core_unuse(PyObject *object)
{
    if (object != NULL && object != Py_None)
        ((core_handle *)object)->users--;
}

void core_free(PyObject *self)
{
    core_handle *object = (core_handle *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (object->handle != NULL)
        object->release(object->handle);
    Py_XDECREF(object->keep);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject *core_close(PyObject *self, PyObject *args)
{
    (void)args;
    core_handle *object = (core_handle *)self;
    if (object->handle == NULL)
        Py_RETURN_NONE;
    if (core_self(self) == NULL)
        return NULL;
    if (object->users > 0)
        return core_refuse(core_state_of(self), POPRT_E_STATE, "",
            "another object or thread uses this one: close that one first");
    object->release(object->handle);
    object->handle = NULL;
    Py_CLEAR(object->keep);
    Py_RETURN_NONE;
}

PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)args, (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "objects of this type are made by functions of poprt._core");
    return NULL;
}

/* ---- bytes that the library writes */

int32_t core_sink_write(void *user, const void *bytes, size_t size)
{
    core_sink *sink = user;
    if (sink->capacity - sink->size < size) {
        size_t capacity = sink->capacity < 4096 ? 4096 : sink->capacity;
        while (capacity - sink->size < size)
            capacity *= 2;
        char *data = realloc(sink->data, capacity);
        if (data == NULL) {
            sink->failed = 1;
            return 1;
        }
        sink->data = data;
        sink->capacity = capacity;
    }
    if (size > 0)
        memcpy(sink->data + sink->size, bytes, size);
    sink->size += size;
    return 0;
}

static PyObject *finish_sink(core_state *state, core_sink *sink, poprt_status status,
    PyObject *(*make)(const char *, Py_ssize_t))
{
    PyObject *result = NULL;
    if (sink->failed)
        PyErr_NoMemory();
    else if (status != POPRT_OK)
        core_fail(state, status);
    else
        result = make(sink->data == NULL ? "" : sink->data, (Py_ssize_t)sink->size);
    free(sink->data);
    return result;
}

PyObject *core_sink_bytes(core_state *state, core_sink *sink, poprt_status status)
{
    return finish_sink(state, sink, status, PyBytes_FromStringAndSize);
}

PyObject *core_sink_text(core_state *state, core_sink *sink, poprt_status status)
{
    return finish_sink(state, sink, status, PyUnicode_FromStringAndSize);
}

/* ---- the module */

/* Takes the hooks of the package poprt: make_error, convert, wrap, numpy.empty, dtypes. */
static PyObject *setup(PyObject *module, PyObject *args)
{
    core_state *state = PyModule_GetState(module);
    PyObject *hooks[5];
    if (!PyArg_ParseTuple(args, "OOOOO!", &hooks[0], &hooks[1], &hooks[2], &hooks[3], &PyTuple_Type,
            &hooks[4]))
        return NULL;
    PyObject **places[] = { &state->make_error, &state->convert, &state->wrap, &state->empty,
        &state->dtypes };
    for (size_t i = 0; i < 5; i++) {
        PyObject *before = *places[i];
        Py_INCREF(hooks[i]);
        *places[i] = hooks[i];
        Py_XDECREF(before);
    }
    Py_RETURN_NONE;
}

static PyObject *statistics(PyObject *module, PyObject *args)
{
    (void)args;
    static const char *const names[] = { "models_read", "models_built", "nodes_built", "passes_run",
        "compilations", "executables_read", "sessions", "runs" };
    const core_state *state = PyModule_GetState(module);
    PyObject *result = PyDict_New();
    for (size_t i = 0; i < CORE_COUNTERS && result != NULL; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(state->counters[i]);
        if (number == NULL || PyDict_SetItemString(result, names[i], number) != 0)
            Py_CLEAR(result);
        Py_XDECREF(number);
    }
    return result;
}

static PyMethodDef methods[] = {
    { "setup", setup, METH_VARARGS, "Takes the hooks of the package." },
    { "statistics", statistics, METH_NOARGS, "Returns counters since the module was loaded." },
    { NULL, NULL, 0, NULL },
};

static int add_types(PyObject *module, core_state *state)
{
    PyType_Spec *const specs[CORE_TYPES] = { &core_env_spec, &core_config_spec, &core_model_spec,
        &core_passes_spec, &core_executable_spec, &core_session_spec, &core_stepio_spec,
        &core_builder_spec, &core_flow_spec, &core_optimizer_spec, &core_weights_spec,
        &core_trace_spec, &core_runner_spec, &core_request_spec, &core_tensor_spec };
    for (size_t i = 0; i < CORE_TYPES; i++) {
        state->types[i] = (PyTypeObject *)PyType_FromModuleAndSpec(module, specs[i], NULL);
        if (state->types[i] == NULL ||
            PyModule_AddObjectRef(module, type_names[i], (PyObject *)state->types[i]) != 0)
            return -1;
    }
    return 0;
}

static int exec_module(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    if (poprt_abi_version() < POPRT_ABI_VERSION) {
        PyErr_Format(PyExc_ImportError, "libpoprt has ABI version %u; the module needs %u",
            (unsigned)poprt_abi_version(), (unsigned)POPRT_ABI_VERSION);
        return -1;
    }
    if (PyModule_AddFunctions(module, core_table_methods) != 0 ||
        PyModule_AddFunctions(module, core_popef_methods) != 0 ||
        PyModule_AddFunctions(module, core_tool_methods) != 0)
        return -1;
    if (PyModule_AddStringConstant(module, "version", poprt_version()) != 0)
        return -1;
    return add_types(module, state);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = PyModule_GetState(module);
    if (state == NULL)
        return 0;
    for (size_t i = 0; i < CORE_TYPES; i++)
        Py_VISIT(state->types[i]);
    Py_VISIT(state->make_error);
    Py_VISIT(state->convert);
    Py_VISIT(state->wrap);
    Py_VISIT(state->empty);
    Py_VISIT(state->dtypes);
    return 0;
}

static int clear_module(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    if (state == NULL)
        return 0;
    for (size_t i = 0; i < CORE_TYPES; i++)
        Py_CLEAR(state->types[i]);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->convert);
    Py_CLEAR(state->wrap);
    Py_CLEAR(state->empty);
    Py_CLEAR(state->dtypes);
    return 0;
}

static void free_module(void *module)
{
    clear_module(module);
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, (void *)exec_module },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "poprt._core",
    .m_doc = "Handles of libpoprt. Private: use the packages above.",
    .m_size = sizeof(core_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
