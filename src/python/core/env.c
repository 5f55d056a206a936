/* SPDX-License-Identifier: MIT */
/* Env: threads, log lines and progress. Config: options by name. */
#include "python/core/core.h"

#include <string.h>
#include <time.h>

/* ---- Env */

typedef struct core_env {
    core_handle base;
    PyObject *log;      /* (level, module, text), or NULL */
    PyObject *progress; /* (stage, done, total) -> true to stop, or NULL */
    int64_t next_check; /* time in ns of the next look at signals */
    core_custom *custom;
} core_env;

static void receive_line(void *user, int32_t level, const char *module, const char *text)
{
    const core_env *env = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *result = PyObject_CallFunction(env->log, "iss", (int)level, module, text);
    if (result == NULL)
        PyErr_WriteUnraisable(env->log);
    Py_XDECREF(result);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

/* Looks at signals twenty times a second, so that Ctrl-C ends long work, and tells the caller. */
static int32_t receive_progress(void *user, const char *stage, uint64_t done, uint64_t total)
{
    core_env *env = user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (env->progress == NULL && ns < env->next_check)
        return 0;
    const PyGILState_STATE gil = PyGILState_Ensure();
    int32_t stop = PyErr_Occurred() != NULL;
    if (!stop && ns >= env->next_check) {
        env->next_check = ns + 50000000;
        stop = PyErr_CheckSignals() != 0;
    }
    if (!stop && env->progress != NULL) {
        PyObject *result = PyObject_CallFunction(env->progress, "sKK", stage,
            (unsigned long long)done, (unsigned long long)total);
        stop = result == NULL || PyObject_IsTrue(result) != 0;
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
    return stop;
}

static void free_env(PyObject *self)
{
    core_env *env = (core_env *)self;
    PyTypeObject *type = Py_TYPE(self);
    poprt_env_release(env->base.handle);
    core_custom_free(env->custom);
    Py_XDECREF(env->log);
    Py_XDECREF(env->progress);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Env(threads, spin_us, memory_limit, log, progress) */
static PyObject *new_env(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    unsigned threads, spin;
    Py_ssize_t limit;
    PyObject *log, *progress;
    if (!PyArg_ParseTuple(args, "IInOO", &threads, &spin, &limit, &log, &progress))
        return NULL;
    core_env *env = (core_env *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (env == NULL)
        return NULL;
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.threads = threads;
    options.spin_us = spin;
    options.memory_limit = limit < 0 ? 0 : (size_t)limit;
    options.progress = receive_progress;
    options.progress_user = env;
    if (log != Py_None) {
        Py_INCREF(log);
        env->log = log;
    }
    if (progress != Py_None) {
        Py_INCREF(progress);
        env->progress = progress;
    }
    poprt_env *handle;
    poprt_status status = poprt_env_create(&options, &handle);
    if (status == POPRT_OK) {
        env->base.handle = handle;
        if (env->log != NULL)
            status = poprt_env_set_log_callback(handle, receive_line, env);
    }
    if (status != POPRT_OK) {
        core_fail(PyType_GetModuleState(type), status);
        Py_CLEAR(env);
    }
    return (PyObject *)env;
}

static PyObject *env_set_log_level(PyObject *self, PyObject *args)
{
    const char *module;
    int level;
    poprt_env *env;
    if (!PyArg_ParseTuple(args, "zi", &module, &level) || (env = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_env_set_log_level(env, module, level));
    Py_RETURN_NONE;
}

static PyObject *env_get_log_level(PyObject *self, PyObject *args)
{
    const char *module;
    int32_t level;
    const poprt_env *env;
    if (!PyArg_ParseTuple(args, "s", &module) || (env = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_env_get_log_level(env, module, &level));
    return PyLong_FromLong(level);
}

static PyObject *env_set_log_destination(PyObject *self, PyObject *args)
{
    const char *destination;
    poprt_env *env;
    if (!PyArg_ParseTuple(args, "z", &destination) || (env = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_env_set_log_destination(env, destination));
    Py_RETURN_NONE;
}

static PyObject *env_load_plugin(PyObject *self, PyObject *args)
{
    const char *path;
    poprt_env *env;
    if (!PyArg_ParseTuple(args, "s", &path) || (env = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_env_load_plugin(env, path));
    Py_RETURN_NONE;
}

static PyObject *env_set_infer(PyObject *self, PyObject *args)
{
    return core_set_infer(self, args, &((core_env *)self)->custom);
}

static PyObject *env_add_model_pass(PyObject *self, PyObject *args)
{
    return core_add_model_pass(self, args, &((core_env *)self)->custom);
}

/* Lists the passes of plug-ins: names. */
static PyObject *env_passes(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_env *env = core_self(self);
    PyObject *list = env == NULL ? NULL : PyList_New(0);
    poprt_pass_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_env_pass_at(env, i, &info) == POPRT_OK; i++) {
        PyObject *name = PyUnicode_FromString(info.name);
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *env_operators(PyObject *self, PyObject *args)
{
    int format;
    poprt_env *env;
    if (!PyArg_ParseTuple(args, "i", &format) || (env = core_self(self)) == NULL)
        return NULL;
    core_sink sink = { 0 };
    const poprt_status status = poprt_operators_describe(env, format, core_sink_write, &sink);
    return core_sink_text(core_state_of(self), &sink, status);
}

static PyObject *env_width(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_env *env = core_self(self);
    return env == NULL ? NULL : PyLong_FromUnsignedLong(poprt_env_width(env));
}

static PyMethodDef env_methods[] = {
    { "set_log_level", env_set_log_level, METH_VARARGS, "(module or None, level)" },
    { "get_log_level", env_get_log_level, METH_VARARGS, "(module) -> level" },
    { "set_log_destination", env_set_log_destination, METH_VARARGS, "(destination or None)" },
    { "load_plugin", env_load_plugin, METH_VARARGS, "(path)" },
    { "set_infer", env_set_infer, METH_VARARGS, "(fn)" },
    { "add_model_pass", env_add_model_pass, METH_VARARGS, "(name, help, fn)" },
    { "passes", env_passes, METH_NOARGS, "() -> names of the passes of plug-ins" },
    { "operators", env_operators, METH_VARARGS, "(format) -> text" },
    { "width", env_width, METH_NOARGS, "() -> threads, the caller included" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot env_slots[] = {
    { Py_tp_new, (void *)new_env },
    { Py_tp_dealloc, (void *)free_env },
    { Py_tp_methods, env_methods },
    { 0, NULL },
};

PyType_Spec core_env_spec = { "poprt._core.Env", sizeof(core_env), 0, Py_TPFLAGS_DEFAULT,
    env_slots };

/* ---- Config */

static void release_config(void *handle)
{
    poprt_config_release(handle);
}

/* Config(env) */
static PyObject *new_config(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env;
    if (!PyArg_ParseTuple(args, "O", &env))
        return NULL;
    poprt_env *handle = core_handle_of(state, env, CORE_ENV);
    poprt_config *config;
    if (handle == NULL)
        return NULL;
    CORE_CHECK(state, poprt_config_create(handle, &config));
    return core_wrap(state, CORE_CONFIG, config, env, release_config);
}

static PyObject *config_set(PyObject *self, PyObject *args)
{
    const char *key, *value;
    poprt_config *config;
    if (!PyArg_ParseTuple(args, "ss", &key, &value) || (config = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_config_set(config, key, value));
    Py_RETURN_NONE;
}

static PyObject *config_get(PyObject *self, PyObject *args)
{
    const char *key, *value;
    const poprt_config *config;
    if (!PyArg_ParseTuple(args, "s", &key) || (config = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_config_get(config, key, &value));
    return PyUnicode_FromString(value);
}

static PyObject *config_merge_json(PyObject *self, PyObject *args)
{
    const char *text;
    Py_ssize_t size;
    poprt_config *config;
    if (!PyArg_ParseTuple(args, "s#", &text, &size) || (config = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_config_merge_json(config, text, (size_t)size));
    Py_RETURN_NONE;
}

static PyObject *config_load_text(PyObject *self, PyObject *args)
{
    const char *file, *text;
    Py_ssize_t size;
    poprt_config *config;
    if (!PyArg_ParseTuple(args, "zs#", &file, &text, &size) || (config = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_config_load_text(config, file, text, (size_t)size));
    Py_RETURN_NONE;
}

static PyObject *config_clone(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_config *config = core_self(self);
    poprt_config *copy;
    if (config == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_config_clone(config, &copy));
    return core_wrap(core_state_of(self), CORE_CONFIG, copy, ((core_handle *)self)->keep,
        release_config);
}

static PyObject *config_freeze(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_config *config = core_self(self);
    if (config == NULL)
        return NULL;
    poprt_config_freeze(config);
    Py_RETURN_NONE;
}

static PyObject *config_pattern(PyObject *self, PyObject *args)
{
    const char *name;
    int32_t on;
    const poprt_config *config;
    if (!PyArg_ParseTuple(args, "s", &name) || (config = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_pattern_is_enabled(config, name, &on));
    return PyBool_FromLong(on);
}

static PyMethodDef config_methods[] = {
    CORE_CLOSE,
    { "set", config_set, METH_VARARGS, "(key, text)" },
    { "get", config_get, METH_VARARGS, "(key) -> text" },
    { "merge_json", config_merge_json, METH_VARARGS, "(text)" },
    { "load_text", config_load_text, METH_VARARGS, "(file or None, text)" },
    { "clone", config_clone, METH_NOARGS, "() -> Config" },
    { "freeze", config_freeze, METH_NOARGS, "()" },
    { "is_pattern_enabled", config_pattern, METH_VARARGS, "(name) -> bool" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot config_slots[] = {
    { Py_tp_new, (void *)new_config },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, config_methods },
    { 0, NULL },
};

PyType_Spec core_config_spec = { "poprt._core.Config", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    config_slots };
