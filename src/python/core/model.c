/* SPDX-License-Identifier: MIT */
/* Model: an ONNX model. PassManager: passes on it. */
#include "python/core/core.h"

#include <stdlib.h>

static void release_model(void *handle)
{
    poprt_model_release(handle);
}

static PyObject *new_model(core_state *state, poprt_model *model, PyObject *keep)
{
    return core_wrap(state, CORE_MODEL, model, keep, release_model);
}

/* Model.load_file(env, path, config or None) */
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
    poprt_model *model;
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = poprt_model_load_file(env, path, config, &model);
    Py_END_ALLOW_THREADS CORE_CHECK(state, status);
    state->counters[CORE_MODELS_READ]++;
    return new_model(state, model, env_object);
}

/* Model.load_bytes(env, bytes, config or None) */
static PyObject *load_bytes(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *env_object, *config_object;
    Py_buffer bytes;
    void *config;
    if (!PyArg_ParseTuple(args, "Oy*O", &env_object, &bytes, &config_object))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    poprt_model *model = NULL;
    poprt_status status = POPRT_OK;
    const int bad = env == NULL || core_optional(state, config_object, CORE_CONFIG, &config) != 0;
    if (!bad) {
        Py_BEGIN_ALLOW_THREADS status =
            poprt_model_load_bytes(env, bytes.buf, (size_t)bytes.len, config, &model);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&bytes);
    if (bad)
        return NULL;
    CORE_CHECK(state, status);
    state->counters[CORE_MODELS_READ]++;
    return new_model(state, model, env_object);
}

/* Model.fuse([models]) */
static PyObject *fuse(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *list;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list))
        return NULL;
    const poprt_model *models[64];
    const Py_ssize_t n = PyList_Size(list);
    if (n < 2 || n > 64)
        return core_refuse(state, POPRT_E_ARG, "fuse", "%zd models; 2 to 64 can be fused", n);
    for (Py_ssize_t i = 0; i < n; i++) {
        models[i] = core_handle_of(state, PyList_GetItem(list, i), CORE_MODEL);
        if (models[i] == NULL)
            return NULL;
    }
    poprt_model *model;
    CORE_CHECK(state, poprt_model_fuse(models, (size_t)n, &model));
    return new_model(state, model, ((core_handle *)PyList_GetItem(list, 0))->keep);
}

static PyObject *model_clone(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_model *model = core_self(self);
    poprt_model *copy;
    if (model == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_model_clone(model, &copy));
    return new_model(core_state_of(self), copy, ((core_handle *)self)->keep);
}

static PyObject *model_set_input_shape(PyObject *self, PyObject *args)
{
    const char *input;
    PyObject *shape;
    int64_t dims[64];
    if (!PyArg_ParseTuple(args, "sO", &input, &shape))
        return NULL;
    const int rank = core_ints(shape, 64, dims);
    poprt_model *model = rank < 0 ? NULL : core_self(self);
    if (model == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self),
        poprt_model_set_input_shape(model, input, dims, (uint32_t)rank));
    Py_RETURN_NONE;
}

PyObject *core_io(const poprt_io_info *info)
{
    const uint32_t rank = info->rank < 0 ? 0 : (uint32_t)info->rank;
    PyObject *names = PyTuple_New(rank);
    for (uint32_t i = 0; i < rank && names != NULL; i++) {
        PyObject *name = PyUnicode_FromString(info->dim_names[i]);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, i, name);
    }
    if (names == NULL)
        return NULL;
    PyObject *dims = info->rank < 0 ? Py_NewRef(Py_None) : core_dims(rank, info->dims);
    if (dims == NULL) {
        Py_DECREF(names);
        return NULL;
    }
    return Py_BuildValue("(siiNNiii)", info->name, (int)info->value_kind, (int)info->dtype, dims,
        names, (int)info->item_kind, (int)info->key_dtype, (int)info->graph);
}

static PyObject *model_io(PyObject *self, PyObject *args)
{
    int direction;
    const poprt_model *model;
    if (!PyArg_ParseTuple(args, "i", &direction) || (model = core_self(self)) == NULL)
        return NULL;
    PyObject *list = PyList_New(0);
    const size_t n = poprt_model_io_count(model, direction);
    for (size_t i = 0; i < n && list != NULL; i++) {
        poprt_io_info info = { .struct_size = sizeof info };
        PyObject *item = NULL;
        if (poprt_model_io_at(model, direction, i, &info) == POPRT_OK)
            item = core_io(&info);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

poprt_model_info core_info_size(void)
{
    return (poprt_model_info){ .struct_size = sizeof(poprt_model_info) };
}

PyObject *core_info(const poprt_model_info *info)
{
    PyObject *properties = PyDict_New();
    for (size_t i = 0; i < info->property_count && properties != NULL; i++) {
        PyObject *value = PyUnicode_FromString(info->properties[i].value);
        if (value == NULL || PyDict_SetItemString(properties, info->properties[i].key, value) != 0)
            Py_CLEAR(properties);
        Py_XDECREF(value);
    }
    if (properties == NULL)
        return NULL;
    return Py_BuildValue("{sssssssssssssLsLsLsN}", "producer_name", info->producer_name,
        "producer_version", info->producer_version, "domain", info->domain, "doc_string",
        info->doc_string, "graph_name", info->graph_name, "graph_doc_string",
        info->graph_doc_string, "model_version", (long long)info->model_version, "ir_version",
        (long long)info->ir_version, "opset", (long long)info->opset, "properties", properties);
}

static PyObject *model_info(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_model *model = core_self(self);
    poprt_model_info info = core_info_size();
    if (model == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_model_get_info(model, &info));
    return core_info(&info);
}

static PyObject *model_set_property(PyObject *self, PyObject *args)
{
    const char *key, *value;
    poprt_model *model;
    if (!PyArg_ParseTuple(args, "sz", &key, &value) || (model = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_model_set_property(model, key, value));
    Py_RETURN_NONE;
}

/* (path, config or None) */
static PyObject *model_save_file(PyObject *self, PyObject *args)
{
    const char *path;
    PyObject *config_object;
    void *config;
    core_state *state = core_state_of(self);
    const poprt_model *model;
    if (!PyArg_ParseTuple(args, "sO", &path, &config_object) || (model = core_self(self)) == NULL ||
        core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_status status;
    CORE_BEGIN(self)
    status = poprt_model_save_file_as(model, path, config);
    CORE_END
    CORE_CHECK(state, status);
    Py_RETURN_NONE;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_model *model = core_self(self);
    if (model == NULL)
        return NULL;
    core_sink sink = { 0 };
    poprt_status status;
    CORE_BEGIN(self)
    status = poprt_model_save(model, core_sink_write, &sink);
    CORE_END
    return core_sink_bytes(core_state_of(self), &sink, status);
}

static PyObject *model_describe(PyObject *self, PyObject *args)
{
    int format;
    const poprt_model *model;
    if (!PyArg_ParseTuple(args, "i", &format) || (model = core_self(self)) == NULL)
        return NULL;
    core_sink sink = { 0 };
    const poprt_status status = poprt_model_describe(model, format, core_sink_write, &sink);
    return core_sink_text(core_state_of(self), &sink, status);
}

static PyObject *model_relocate(PyObject *self, PyObject *args)
{
    const char *from, *to;
    poprt_model *model;
    if (!PyArg_ParseTuple(args, "ss", &from, &to) || (model = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_model_relocate_external(model, from, to));
    Py_RETURN_NONE;
}

static PyMethodDef model_methods[] = {
    CORE_CLOSE,
    { "load_file", load_file, METH_VARARGS | METH_CLASS, "(env, path, config) -> Model" },
    { "load_bytes", load_bytes, METH_VARARGS | METH_CLASS, "(env, bytes, config) -> Model" },
    { "fuse", fuse, METH_VARARGS | METH_CLASS, "(models) -> Model" },
    { "clone", model_clone, METH_NOARGS, "() -> Model" },
    { "set_input_shape", model_set_input_shape, METH_VARARGS, "(input, dims)" },
    { "io", model_io, METH_VARARGS, "(direction) -> list" },
    { "info", model_info, METH_NOARGS, "() -> dict" },
    { "set_property", model_set_property, METH_VARARGS, "(key, value or None)" },
    { "save_file", model_save_file, METH_VARARGS, "(path, config)" },
    { "to_bytes", model_to_bytes, METH_NOARGS, "() -> bytes" },
    { "describe", model_describe, METH_VARARGS, "(format) -> text" },
    { "replace", core_model_replace, METH_VARARGS, "(bytes)" },
    { "relocate_external", model_relocate, METH_VARARGS, "(from, to)" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot model_slots[] = {
    { Py_tp_new, (void *)core_no_new },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, model_methods },
    { 0, NULL },
};

PyType_Spec core_model_spec = { "poprt._core.Model", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    model_slots };

/* ---- PassManager */

static void release_passes(void *handle)
{
    poprt_pass_manager_release(handle);
}

static PyObject *new_passes(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env;
    if (!PyArg_ParseTuple(args, "O", &env))
        return NULL;
    poprt_env *handle = core_handle_of(state, env, CORE_ENV);
    poprt_pass_manager *passes;
    if (handle == NULL)
        return NULL;
    CORE_CHECK(state, poprt_pass_manager_create(handle, &passes));
    return core_wrap(state, CORE_PASSES, passes, env, release_passes);
}

/* add(pass, [(key, text)]) */
static PyObject *passes_add(PyObject *self, PyObject *args)
{
    enum { MOST = 64 };
    const char *pass;
    PyObject *list;
    poprt_pass_manager *passes;
    if (!PyArg_ParseTuple(args, "sO!", &pass, &PyList_Type, &list) ||
        (passes = core_self(self)) == NULL)
        return NULL;
    poprt_pass_arg values[MOST];
    const Py_ssize_t n = PyList_Size(list);
    if (n > MOST)
        return core_refuse(core_state_of(self), POPRT_E_ARG, pass, "%zd arguments; at most %d", n,
            MOST);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "ss", &values[i].key, &values[i].value))
            return NULL;
    CORE_CHECK(core_state_of(self), poprt_pass_manager_add_args(passes, pass, values, (size_t)n));
    Py_RETURN_NONE;
}

static PyObject *passes_add_pipeline(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *config_object;
    void *config;
    core_state *state = core_state_of(self);
    poprt_pass_manager *passes;
    if (!PyArg_ParseTuple(args, "sO", &name, &config_object) ||
        (passes = core_self(self)) == NULL ||
        core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    CORE_CHECK(state, poprt_pass_manager_add_pipeline(passes, name, config));
    Py_RETURN_NONE;
}

static PyObject *passes_sort(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_pass_manager *passes = core_self(self);
    if (passes == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_pass_manager_sort(passes));
    Py_RETURN_NONE;
}

static PyObject *passes_gather(PyObject *self, PyObject *args)
{
    int on;
    poprt_pass_manager *passes;
    if (!PyArg_ParseTuple(args, "p", &on) || (passes = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_pass_manager_gather_ir_passes(passes, on));
    Py_RETURN_NONE;
}

static PyObject *passes_names(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_pass_manager *passes = core_self(self);
    PyObject *list = passes == NULL ? NULL : PyList_New(0);
    poprt_pass_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_pass_manager_at(passes, i, &info) == POPRT_OK; i++) {
        PyObject *name = PyUnicode_FromString(info.name);
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* set_reference(model or None, path or None): the list keeps a copy of the model, because the
 * program may change or close its own. */
static PyObject *passes_set_reference(PyObject *self, PyObject *args)
{
    PyObject *origin_object;
    const char *data;
    void *origin;
    core_state *state = core_state_of(self);
    core_handle *object = (core_handle *)self;
    poprt_pass_manager *passes;
    if (!PyArg_ParseTuple(args, "Oz", &origin_object, &data) ||
        (passes = core_self(self)) == NULL ||
        core_optional(state, origin_object, CORE_MODEL, &origin) != 0)
        return NULL;
    PyObject *env = PyTuple_Check(object->keep) ? PyTuple_GetItem(object->keep, 0) : object->keep;
    PyObject *copy = origin == NULL ? Py_NewRef(Py_None) : model_clone(origin_object, NULL);
    PyObject *keep = copy == NULL ? NULL : PyTuple_Pack(2, env, copy);
    Py_XDECREF(copy);
    if (keep == NULL)
        return NULL;
    const poprt_model *model = origin == NULL ? NULL : ((core_handle *)copy)->handle;
    const poprt_status status = poprt_pass_manager_set_reference(passes, model, data);
    PyObject *unused = keep;
    if (status == POPRT_OK) {
        unused = object->keep;
        object->keep = keep;
    }
    Py_DECREF(unused);
    CORE_CHECK(state, status);
    Py_RETURN_NONE;
}

struct observer {
    PyObject *list; /* events, or NULL after a failure */
    core_state *state;
};

static void observe(void *user, const poprt_pass_event *event)
{
    struct observer *observer = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    observer->state->counters[CORE_PASSES_RUN]++;
    PyObject *item = Py_BuildValue("(ssdiII)", event->pass, event->stage, event->ms,
        (int)event->changed, (unsigned)event->nodes_before, (unsigned)event->nodes_after);
    if (observer->list != NULL && (item == NULL || PyList_Append(observer->list, item) != 0))
        Py_CLEAR(observer->list);
    Py_XDECREF(item);
    PyGILState_Release(gil);
}

/* run(model) -> [(pass, stage, ms, changed, nodes before, nodes after)] */
static PyObject *passes_run(PyObject *self, PyObject *args)
{
    PyObject *model_object;
    core_state *state = core_state_of(self);
    poprt_pass_manager *passes;
    if (!PyArg_ParseTuple(args, "O", &model_object) || (passes = core_self(self)) == NULL)
        return NULL;
    poprt_model *model = core_handle_of(state, model_object, CORE_MODEL);
    if (model == NULL)
        return NULL;
    struct observer observer = { PyList_New(0), state };
    poprt_pass_manager_observe(passes, observe, &observer);
    poprt_status status;
    ((core_handle *)model_object)->busy = 1;
    CORE_BEGIN(self)
    status = poprt_pass_manager_run(passes, model);
    CORE_END((core_handle *)model_object)->busy = 0;
    poprt_pass_manager_observe(passes, NULL, NULL);
    if (status != POPRT_OK || PyErr_Occurred() != NULL) {
        Py_XDECREF(observer.list);
        return core_fail(state, status);
    }
    return observer.list;
}

static PyMethodDef passes_methods[] = {
    CORE_CLOSE,
    { "add", passes_add, METH_VARARGS, "(pass, [(key, text)])" },
    { "add_pipeline", passes_add_pipeline, METH_VARARGS, "(name, config or None)" },
    { "sort", passes_sort, METH_NOARGS, "()" },
    { "gather_ir_passes", passes_gather, METH_VARARGS, "(on)" },
    { "set_reference", passes_set_reference, METH_VARARGS, "(model or None, path or None)" },
    { "names", passes_names, METH_NOARGS, "() -> names of the list" },
    { "run", passes_run, METH_VARARGS, "(model) -> events" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot passes_slots[] = {
    { Py_tp_new, (void *)new_passes },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, passes_methods },
    { 0, NULL },
};

PyType_Spec core_passes_spec = { "poprt._core.PassManager", sizeof(core_handle), 0,
    Py_TPFLAGS_DEFAULT, passes_slots };
