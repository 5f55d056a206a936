/* SPDX-License-Identifier: MIT */
/* Executable: a compiled model. */
#include "python/core/core.h"

#include <stdlib.h>

static void release_executable(void *handle)
{
    poprt_executable_release(handle);
}

static PyObject *new_executable(core_state *state, poprt_executable *exec, PyObject *keep)
{
    return core_wrap(state, CORE_EXECUTABLE, exec, keep, release_executable);
}

/* Counts a compilation and makes its object. */
static PyObject *compiled(core_state *state, poprt_executable *exec, PyObject *keep)
{
    state->counters[CORE_COMPILATIONS]++;
    return new_executable(state, exec, keep);
}

/* Executable.compile(model, flow or None, config or None) */
static PyObject *compile(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *model_object, *flow_object, *config_object;
    void *flow, *config;
    if (!PyArg_ParseTuple(args, "OOO", &model_object, &flow_object, &config_object))
        return NULL;
    const poprt_model *model = core_handle_of(state, model_object, CORE_MODEL);
    if (model == NULL || core_optional(state, flow_object, CORE_FLOW, &flow) != 0 ||
        core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_executable *exec;
    poprt_status status;
    CORE_BEGIN(model_object)
    status = flow == NULL ? poprt_compile(model, config, &exec)
                          : poprt_compile_flow(model, flow, config, &exec);
    CORE_END
    CORE_CHECK(state, status);
    return compiled(state, exec, ((core_handle *)model_object)->keep);
}

/* Reads a list of texts, which live as long as the list; None: *out is NULL. */
static int take_texts(PyObject *list, const char ***out, size_t *count)
{
    *out = NULL;
    *count = 0;
    if (list == Py_None)
        return 0;
    const Py_ssize_t n = PyList_Size(list);
    if (n < 0)
        return -1;
    *out = PyMem_Malloc(((size_t)n + 1) * sizeof **out);
    if (*out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        (*out)[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if ((*out)[i] == NULL)
            return -1;
    }
    *count = (size_t)n;
    return 0;
}

/* Executable.train(model, loss, optimizer, flow or None, weights or None, frozen or None, config or
 * None) */
static PyObject *train(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *model_object, *optimizer, *flow_object, *weights, *frozen, *config_object;
    const char *loss;
    void *flow, *config;
    if (!PyArg_ParseTuple(args, "OsOOOOO", &model_object, &loss, &optimizer, &flow_object, &weights,
            &frozen, &config_object))
        return NULL;
    poprt_training task = { .struct_size = sizeof task, .loss = loss };
    const poprt_model *model = core_handle_of(state, model_object, CORE_MODEL);
    if (model == NULL || core_optional(state, flow_object, CORE_FLOW, &flow) != 0 ||
        core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    task.flow = flow;
    task.optimizer = core_handle_of(state, optimizer, CORE_OPTIMIZER);
    if (task.optimizer == NULL)
        return NULL;
    const char **trained = NULL, **kept = NULL;
    poprt_executable *exec = NULL;
    poprt_status status = POPRT_OK;
    const int bad = take_texts(weights, &trained, &task.weight_count) != 0 ||
        take_texts(frozen, &kept, &task.frozen_count) != 0;
    if (!bad) {
        task.weights = trained;
        task.frozen = kept;
        CORE_BEGIN(model_object)
        status = poprt_compile_training(model, &task, config, &exec);
        CORE_END
    }
    PyMem_Free((void *)trained);
    PyMem_Free((void *)kept);
    if (bad)
        return NULL;
    CORE_CHECK(state, status);
    return compiled(state, exec, ((core_handle *)model_object)->keep);
}

/* Executable.compile_programs([(name, model)], config or None) */
static PyObject *compile_programs(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *list, *config_object, *model;
    void *config;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &config_object) ||
        core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_named_model programs[64];
    const Py_ssize_t n = PyList_Size(list);
    if (n < 2 || n > 64)
        return core_refuse(state, POPRT_E_ARG, "programs", "%zd models; 2 to 64 are possible", n);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sO", &programs[i].name, &model))
            return NULL;
        programs[i].model = core_handle_of(state, model, CORE_MODEL);
        if (programs[i].model == NULL)
            return NULL;
    }
    poprt_executable *exec;
    CORE_CHECK(state, poprt_compile_programs(programs, (size_t)n, config, &exec));
    return compiled(state, exec, ((core_handle *)model)->keep);
}

/* Executable.load_file(env, path, config or None) */
static PyObject *load_file(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *env_object, *config_object;
    const char *path;
    void *config;
    if (!PyArg_ParseTuple(args, "OsO", &env_object, &path, &config_object))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    if (env == NULL || core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_executable *exec;
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = poprt_executable_load_file(env, path, config, &exec);
    Py_END_ALLOW_THREADS CORE_CHECK(state, status);
    state->counters[CORE_EXECUTABLES_READ]++;
    return new_executable(state, exec, env_object);
}

/* Executable.load_bytes(env, bytes, config or None): the object keeps the bytes. */
static PyObject *load_bytes(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *env_object, *bytes, *config_object;
    void *config;
    char *data;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "OSO", &env_object, &bytes, &config_object) ||
        PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    if (env == NULL || core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_executable *exec;
    CORE_CHECK(state, poprt_executable_load_bytes(env, data, (size_t)size, config, &exec));
    state->counters[CORE_EXECUTABLES_READ]++;
    PyObject *keep = PyTuple_Pack(2, env_object, bytes);
    if (keep == NULL) {
        release_executable(exec);
        return NULL;
    }
    PyObject *object = new_executable(state, exec, keep);
    Py_DECREF(keep);
    return object;
}

static PyObject *save_file(PyObject *self, PyObject *args)
{
    const char *path;
    const poprt_executable *exec;
    if (!PyArg_ParseTuple(args, "s", &path) || (exec = core_self(self)) == NULL)
        return NULL;
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = poprt_executable_save_file(exec, path);
    Py_END_ALLOW_THREADS CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *to_bytes(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_executable *exec = core_self(self);
    if (exec == NULL)
        return NULL;
    core_sink sink = { 0 };
    const poprt_status status = poprt_executable_save(exec, core_sink_write, &sink);
    return core_sink_bytes(core_state_of(self), &sink, status);
}

static PyObject *list_io(PyObject *self, PyObject *args)
{
    int direction;
    const poprt_executable *exec;
    if (!PyArg_ParseTuple(args, "i", &direction) || (exec = core_self(self)) == NULL)
        return NULL;
    PyObject *list = PyList_New(0);
    const size_t n = poprt_executable_io_count(exec, direction);
    for (size_t i = 0; i < n && list != NULL; i++) {
        poprt_io_info info = { .struct_size = sizeof info };
        PyObject *item = NULL;
        if (poprt_executable_io_at(exec, direction, i, &info) == POPRT_OK)
            item = core_io(&info);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* batching(direction, index) -> (batches, accumulation, replicas, group, type, period) */
static PyObject *batching(PyObject *self, PyObject *args)
{
    int direction;
    Py_ssize_t index;
    const poprt_executable *exec;
    if (!PyArg_ParseTuple(args, "in", &direction, &index) || (exec = core_self(self)) == NULL)
        return NULL;
    poprt_batching b = { .struct_size = sizeof b };
    CORE_CHECK(core_state_of(self),
        poprt_executable_get_batching(exec, direction, (size_t)index, &b));
    return Py_BuildValue("(LLLLiL)", (long long)b.batches_per_step,
        (long long)b.accumulation_factor, (long long)b.replication_factor,
        (long long)b.input_group_size, (int)b.type, (long long)b.period);
}

static PyObject *info(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_executable *exec = core_self(self);
    poprt_model_info details = core_info_size();
    if (exec == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_executable_get_info(exec, &details));
    return core_info(&details);
}

static PyObject *programs(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_executable *exec = core_self(self);
    PyObject *list = exec == NULL ? NULL : PyList_New(0);
    for (size_t i = 0; list != NULL && i < poprt_executable_program_count(exec); i++) {
        PyObject *name = PyUnicode_FromString(poprt_executable_program_at(exec, i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *graph_count(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_executable *exec = core_self(self);
    return exec == NULL ? NULL : PyLong_FromSize_t(poprt_executable_graph_count(exec));
}

static PyObject *describe(PyObject *self, PyObject *args)
{
    int format;
    PyObject *config_object;
    void *config;
    const poprt_executable *exec;
    if (!PyArg_ParseTuple(args, "iO", &format, &config_object) ||
        (exec = core_self(self)) == NULL ||
        core_optional(core_state_of(self), config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    core_sink sink = { 0 };
    const poprt_status status =
        poprt_executable_describe_as(exec, format, config, core_sink_write, &sink);
    return core_sink_text(core_state_of(self), &sink, status);
}

/* memory(config or None) -> (created, scratch, outputs, is_planned) */
static PyObject *memory(PyObject *self, PyObject *args)
{
    PyObject *config_object;
    void *config;
    const poprt_executable *exec;
    if (!PyArg_ParseTuple(args, "O", &config_object) || (exec = core_self(self)) == NULL ||
        core_optional(core_state_of(self), config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_memory_info m = { .struct_size = sizeof m };
    CORE_CHECK(core_state_of(self), poprt_executable_get_memory(exec, config, &m));
    return Py_BuildValue("(nnni)", (Py_ssize_t)m.created, (Py_ssize_t)m.scratch,
        (Py_ssize_t)m.outputs, (int)m.is_planned);
}

static PyMethodDef methods[] = {
    CORE_CLOSE,
    { "compile", compile, METH_VARARGS | METH_CLASS, "(model, flow, config) -> Executable" },
    { "train", train, METH_VARARGS | METH_CLASS,
        "(model, loss, optimizer, flow, weights, frozen, config) -> Executable" },
    { "compile_programs", compile_programs, METH_VARARGS | METH_CLASS,
        "([(name, model)], config) -> Executable" },
    { "load_file", load_file, METH_VARARGS | METH_CLASS, "(env, path, config) -> Executable" },
    { "load_bytes", load_bytes, METH_VARARGS | METH_CLASS, "(env, bytes, config) -> Executable" },
    { "save_file", save_file, METH_VARARGS, "(path)" },
    { "to_bytes", to_bytes, METH_NOARGS, "() -> bytes" },
    { "io", list_io, METH_VARARGS, "(direction) -> list" },
    { "batching", batching, METH_VARARGS, "(direction, index) -> tuple" },
    { "info", info, METH_NOARGS, "() -> dict" },
    { "programs", programs, METH_NOARGS, "() -> names" },
    { "graph_count", graph_count, METH_NOARGS, "() -> number of fused models" },
    { "describe", describe, METH_VARARGS, "(format, config) -> text" },
    { "memory", memory, METH_VARARGS, "(config) -> (created, scratch, outputs, is_planned)" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, (void *)core_no_new },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

PyType_Spec core_executable_spec = { "poprt._core.Executable", sizeof(core_handle), 0,
    Py_TPFLAGS_DEFAULT, slots };
