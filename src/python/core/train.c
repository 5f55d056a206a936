/* SPDX-License-Identifier: MIT */
/* Flow: data flow of runs. Optimizer. Weights: a copy on the host. Trace: spans of time. */
#include "python/core/session.h"

/* ---- Flow */

static void release_flow(void *handle)
{
    poprt_flow_release(handle);
}

/* Flow(env, batches per step) */
static PyObject *new_flow(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env_object;
    long long batches;
    if (!PyArg_ParseTuple(args, "OL", &env_object, &batches))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    poprt_flow *flow;
    if (env == NULL)
        return NULL;
    CORE_CHECK(state, poprt_flow_create(env, batches, &flow));
    return core_wrap(state, CORE_FLOW, flow, env_object, release_flow);
}

/* anchor(tensor, type, period) */
static PyObject *flow_anchor(PyObject *self, PyObject *args)
{
    const char *tensor;
    int type;
    long long period;
    poprt_flow *flow;
    if (!PyArg_ParseTuple(args, "siL", &tensor, &type, &period) || (flow = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_flow_anchor(flow, tensor, type, period));
    Py_RETURN_NONE;
}

/* input(name, mode) */
static PyObject *flow_input(PyObject *self, PyObject *args)
{
    const char *input;
    int mode;
    poprt_flow *flow;
    if (!PyArg_ParseTuple(args, "si", &input, &mode) || (flow = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_flow_input(flow, input, mode));
    Py_RETURN_NONE;
}

static PyMethodDef flow_methods[] = {
    CORE_CLOSE,
    { "anchor", flow_anchor, METH_VARARGS, "(tensor, type, period)" },
    { "input", flow_input, METH_VARARGS, "(name, mode)" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot flow_slots[] = {
    { Py_tp_new, (void *)new_flow },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, flow_methods },
    { 0, NULL },
};

PyType_Spec core_flow_spec = { "poprt._core.Flow", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    flow_slots };

/* ---- Optimizer */

static void release_optimizer(void *handle)
{
    poprt_optimizer_release(handle);
}

/* Optimizer(env, kind) */
static PyObject *new_optimizer(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env_object;
    const char *kind;
    if (!PyArg_ParseTuple(args, "Os", &env_object, &kind))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    poprt_optimizer *optimizer;
    if (env == NULL)
        return NULL;
    CORE_CHECK(state, poprt_optimizer_create(env, kind, &optimizer));
    return core_wrap(state, CORE_OPTIMIZER, optimizer, env_object, release_optimizer);
}

static PyObject *optimizer_set(PyObject *self, PyObject *args)
{
    const char *key;
    float value;
    int constant;
    poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "sfp", &key, &value, &constant) ||
        (optimizer = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_set(optimizer, key, value, constant));
    Py_RETURN_NONE;
}

static PyObject *optimizer_set_text(PyObject *self, PyObject *args)
{
    const char *key, *value;
    poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "ss", &key, &value) || (optimizer = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_set_text(optimizer, key, value));
    Py_RETURN_NONE;
}

/* get(weight or None, key) -> (value, constant) */
static PyObject *optimizer_get(PyObject *self, PyObject *args)
{
    const char *weight, *key;
    float value;
    int32_t constant;
    const poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "zs", &weight, &key) || (optimizer = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_get(optimizer, weight, key, &value, &constant));
    return Py_BuildValue("(dN)", (double)value, PyBool_FromLong(constant));
}

/* insert_specific(weight, [(key, value, constant)]) */
static PyObject *optimizer_insert_specific(PyObject *self, PyObject *args)
{
    enum { MOST = 32 };
    const char *weight;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sO!", &weight, &PyList_Type, &list))
        return NULL;
    poprt_optimizer_value values[MOST];
    const Py_ssize_t n = PyList_Size(list);
    if (n > MOST)
        return core_refuse(core_state_of(self), POPRT_E_ARG, weight, "%zd values; at most %d", n,
            MOST);
    for (Py_ssize_t i = 0; i < n; i++) {
        int constant;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sfp", &values[i].key, &values[i].value,
                &constant))
            return NULL;
        values[i].constant = constant;
    }
    poprt_optimizer *optimizer = core_self(self);
    if (optimizer == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self),
        poprt_optimizer_insert_specific(optimizer, weight, (size_t)n, values));
    Py_RETURN_NONE;
}

/* clip([weights], max norm): no weights stand for all */
static PyObject *optimizer_clip(PyObject *self, PyObject *args)
{
    PyObject *list;
    float norm;
    poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "O!f", &PyList_Type, &list, &norm) ||
        (optimizer = core_self(self)) == NULL)
        return NULL;
    const size_t n = (size_t)PyList_Size(list);
    const char **weights = PyMem_Malloc((n + 1) * sizeof *weights);
    if (weights == NULL)
        return PyErr_NoMemory();
    int bad = 0;
    for (size_t i = 0; i < n && !bad; i++) {
        weights[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, (Py_ssize_t)i), NULL);
        bad = weights[i] == NULL;
    }
    const poprt_status status = bad ? POPRT_OK : poprt_optimizer_clip(optimizer, n, weights, norm);
    PyMem_Free((void *)weights);
    if (bad)
        return NULL;
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

/* set_step(weight or None, step) */
static PyObject *optimizer_set_step(PyObject *self, PyObject *args)
{
    const char *weight;
    long long step;
    poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "zL", &weight, &step) || (optimizer = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_set_step(optimizer, weight, step));
    Py_RETURN_NONE;
}

/* check_replacement(optimizer): whether it may replace this one in a running program */
static PyObject *optimizer_check(PyObject *self, PyObject *args)
{
    PyObject *other;
    const poprt_optimizer *optimizer;
    if (!PyArg_ParseTuple(args, "O", &other) || (optimizer = core_self(self)) == NULL)
        return NULL;
    const poprt_optimizer *now = core_handle_of(core_state_of(self), other, CORE_OPTIMIZER);
    if (now == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_check_replacement(optimizer, now));
    Py_RETURN_NONE;
}

static PyObject *optimizer_copy(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_optimizer *optimizer = core_self(self);
    poprt_optimizer *copy;
    if (optimizer == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_optimizer_copy(optimizer, &copy));
    return core_wrap(core_state_of(self), CORE_OPTIMIZER, copy, ((core_handle *)self)->keep,
        release_optimizer);
}

static PyMethodDef optimizer_methods[] = {
    CORE_CLOSE,
    { "set", optimizer_set, METH_VARARGS, "(key, value, constant)" },
    { "set_text", optimizer_set_text, METH_VARARGS, "(key, word)" },
    { "get", optimizer_get, METH_VARARGS, "(weight or None, key) -> (value, constant)" },
    { "insert_specific", optimizer_insert_specific, METH_VARARGS,
        "(weight, [(key, value, constant)])" },
    { "clip", optimizer_clip, METH_VARARGS, "(weights, max norm)" },
    { "set_step", optimizer_set_step, METH_VARARGS, "(weight or None, step)" },
    { "check_replacement", optimizer_check, METH_VARARGS, "(optimizer)" },
    { "copy", optimizer_copy, METH_NOARGS, "() -> Optimizer" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot optimizer_slots[] = {
    { Py_tp_new, (void *)new_optimizer },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, optimizer_methods },
    { 0, NULL },
};

PyType_Spec core_optimizer_spec = { "poprt._core.Optimizer", sizeof(core_handle), 0,
    Py_TPFLAGS_DEFAULT, optimizer_slots };

/* ---- Weights */

static void release_weights(void *handle)
{
    poprt_weights_release(handle);
}

/* Locks a session that is an argument; NULL: raised. */
static poprt_session *locked(core_state *state, PyObject *object)
{
    return core_handle_of(state, object, CORE_SESSION) == NULL
        ? NULL
        : core_session_lock((core_session *)object);
}

/* Weights(session) */
static PyObject *new_weights(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *object;
    if (!PyArg_ParseTuple(args, "O", &object))
        return NULL;
    poprt_session *session = locked(state, object);
    poprt_weights *weights;
    if (session == NULL)
        return NULL;
    const poprt_status status = poprt_weights_create(session, &weights);
    core_session_unlock((core_session *)object);
    CORE_CHECK(state, status);
    return core_wrap(state, CORE_WEIGHTS, weights, object, release_weights);
}

static PyObject *weights_names(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_weights *weights = core_self(self);
    PyObject *list = weights == NULL ? NULL : PyList_New(0);
    for (size_t i = 0; list != NULL && i < poprt_weights_count(weights); i++) {
        const char *text = "";
        poprt_tensor tensor;
        (void)poprt_weights_at(weights, i, &text, &tensor);
        PyObject *name = PyUnicode_FromString(text);
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* read(name) -> a copy */
static PyObject *weights_read(PyObject *self, PyObject *args)
{
    const char *name;
    poprt_tensor tensor;
    const poprt_weights *weights;
    if (!PyArg_ParseTuple(args, "s", &name) || (weights = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_weights_find(weights, name, &tensor));
    return core_array_copy(core_state_of(self), &tensor);
}

static PyObject *weights_write(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *object;
    poprt_tensor tensor;
    core_array array = { 0 };
    core_state *state = core_state_of(self);
    poprt_weights *weights;
    if (!PyArg_ParseTuple(args, "sO", &name, &object) ||
        core_array_take(state, object, 0, name, &array) != 0)
        return NULL;
    poprt_status status = POPRT_E_STATE;
    if ((weights = core_self(self)) == NULL ||
        (status = poprt_weights_find(weights, name, &tensor)) != POPRT_OK) {
        core_array_drop(&array);
        return core_fail(state, status);
    }
    if (array.value.dtype != tensor.dtype || array.value.size != tensor.size) {
        core_refuse(state, POPRT_E_SHAPE, name,
            "the array has %zu bytes of %s; the weight has %zu bytes of %s", array.value.size,
            poprt_dtype_name(array.value.dtype), tensor.size, poprt_dtype_name(tensor.dtype));
    } else {
        char *to = tensor.data;
        const char *from = array.value.data;
        for (size_t i = 0; i < tensor.size; i++)
            to[i] = from[i];
        (void)poprt_weights_changed(weights);
    }
    core_array_drop(&array);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

/* load_model(model, flags) */
static PyObject *weights_load_model(PyObject *self, PyObject *args)
{
    PyObject *object;
    int flags;
    poprt_weights *weights;
    if (!PyArg_ParseTuple(args, "Oi", &object, &flags) || (weights = core_self(self)) == NULL)
        return NULL;
    const poprt_model *model = core_handle_of(core_state_of(self), object, CORE_MODEL);
    if (model == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_weights_load_model(weights, model, flags));
    Py_RETURN_NONE;
}

/* A call on a copy and a session. */
static PyObject *with_session(PyObject *self, PyObject *args,
    poprt_status (*to)(poprt_session *, poprt_weights *),
    poprt_status (*from)(poprt_session *, const poprt_weights *))
{
    PyObject *object;
    if (!PyArg_ParseTuple(args, "O", &object))
        return NULL;
    poprt_session *session = locked(core_state_of(self), object);
    if (session == NULL)
        return NULL;
    poprt_weights *weights = core_self(self); /* waiting for the lock may have let it be closed */
    poprt_status status = POPRT_OK;
    if (weights != NULL)
        status = to != NULL ? to(session, weights) : from(session, weights);
    core_session_unlock((core_session *)object);
    if (weights == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *weights_to_host(PyObject *self, PyObject *args)
{
    return with_session(self, args, poprt_session_weights_to_host, NULL);
}

static PyObject *weights_from_host(PyObject *self, PyObject *args)
{
    return with_session(self, args, NULL, poprt_session_weights_from_host);
}

static PyObject *weights_in_sync(PyObject *self, PyObject *args)
{
    PyObject *object;
    int32_t same = 0;
    if (!PyArg_ParseTuple(args, "O", &object))
        return NULL;
    poprt_session *session = locked(core_state_of(self), object);
    if (session == NULL)
        return NULL;
    const poprt_weights *weights = core_self(self);
    poprt_status status = POPRT_OK;
    if (weights != NULL)
        status = poprt_weights_in_sync(weights, session, &same);
    core_session_unlock((core_session *)object);
    if (weights == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), status);
    return PyBool_FromLong(same);
}

static PyMethodDef weights_methods[] = {
    CORE_CLOSE,
    { "names", weights_names, METH_NOARGS, "() -> names" },
    { "read", weights_read, METH_VARARGS, "(name) -> array" },
    { "write", weights_write, METH_VARARGS, "(name, array)" },
    { "load_model", weights_load_model, METH_VARARGS, "(model, flags)" },
    { "to_host", weights_to_host, METH_VARARGS, "(session): copies from the session" },
    { "from_host", weights_from_host, METH_VARARGS, "(session): copies to the session" },
    { "in_sync", weights_in_sync, METH_VARARGS, "(session) -> bool" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot weights_slots[] = {
    { Py_tp_new, (void *)new_weights },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, weights_methods },
    { 0, NULL },
};

PyType_Spec core_weights_spec = { "poprt._core.Weights", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    weights_slots };

/* ---- Trace */

static void release_trace(void *handle)
{
    poprt_trace_release(handle);
}

/* Trace(env, most spans) */
static PyObject *new_trace(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env_object;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "On", &env_object, &most))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    poprt_trace *trace;
    if (env == NULL)
        return NULL;
    CORE_CHECK(state, poprt_trace_create(env, (size_t)most, &trace));
    return core_wrap(state, CORE_TRACE, trace, env_object, release_trace);
}

static PyObject *trace_begin(PyObject *self, PyObject *args)
{
    const char *channel, *name;
    poprt_trace *trace;
    if (!PyArg_ParseTuple(args, "ss", &channel, &name) || (trace = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_trace_begin(trace, channel, name));
    Py_RETURN_NONE;
}

static PyObject *trace_end(PyObject *self, PyObject *args)
{
    const char *channel;
    poprt_trace *trace;
    if (!PyArg_ParseTuple(args, "s", &channel) || (trace = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_trace_end(trace, channel));
    Py_RETURN_NONE;
}

static PyObject *trace_count(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_trace *trace = core_self(self);
    return trace == NULL ? NULL : PyLong_FromSize_t(poprt_trace_count(trace));
}

static PyObject *trace_write_file(PyObject *self, PyObject *args)
{
    const char *path;
    poprt_trace *trace;
    if (!PyArg_ParseTuple(args, "s", &path) || (trace = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_trace_write_file(trace, path));
    Py_RETURN_NONE;
}

static PyMethodDef trace_methods[] = {
    CORE_CLOSE,
    { "begin", trace_begin, METH_VARARGS, "(channel, name)" },
    { "end", trace_end, METH_VARARGS, "(channel)" },
    { "count", trace_count, METH_NOARGS, "() -> spans" },
    { "write_file", trace_write_file, METH_VARARGS, "(path)" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot trace_slots[] = {
    { Py_tp_new, (void *)new_trace },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, trace_methods },
    { 0, NULL },
};

PyType_Spec core_trace_spec = { "poprt._core.Trace", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    trace_slots };
