/* SPDX-License-Identifier: MIT */
/* Runner: an executable behind a queue of requests. Request: one of them. Any number of threads may
 * use both. */
#include "python/core/core.h"

#include <stdlib.h>

#include "poprt/runner.h"

/* The arrays of a request, which are kept until it is finished. */
typedef struct pending {
    struct pending *next;
    poprt_request *request;
    core_array *arrays; /* inputs, then outputs */
    Py_ssize_t count;
    PyObject *items; /* lists of the dicts' items, which keep the names */
} pending;

typedef struct core_runner {
    core_handle base;
    Py_ssize_t active; /* calls in progress */
    pending *orphans;  /* of requests whose objects are gone */
} core_runner;

typedef struct core_request {
    core_handle base; /* `keep` is the runner */
    pending *held;
} core_request;

static void free_pending(pending *p)
{
    if (p == NULL)
        return;
    poprt_request_release(p->request);
    for (Py_ssize_t i = 0; i < p->count; i++)
        core_array_drop(&p->arrays[i]);
    free(p->arrays);
    Py_XDECREF(p->items);
    free(p);
}

/* Frees the arrays of finished requests, or of all. */
static void reap(core_runner *runner, int all)
{
    pending **at = &runner->orphans;
    while (*at != NULL) {
        pending *p = *at;
        if (!all && poprt_request_wait(p->request, 0) == 0) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free_pending(p);
    }
}

/* ---- Runner */

static void release_runner(void *handle)
{
    Py_BEGIN_ALLOW_THREADS poprt_runner_release(handle);
    Py_END_ALLOW_THREADS
}

static void free_runner(PyObject *self)
{
    core_runner *runner = (core_runner *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (runner->base.handle != NULL)
        release_runner(runner->base.handle);
    reap(runner, 1);
    Py_XDECREF(runner->base.keep);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Runner(executable, config or None) */
static PyObject *new_runner(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *exec_object, *config_object;
    void *config;
    if (!PyArg_ParseTuple(args, "OO", &exec_object, &config_object))
        return NULL;
    poprt_executable *exec = core_handle_of(state, exec_object, CORE_EXECUTABLE);
    if (exec == NULL || core_optional(state, config_object, CORE_CONFIG, &config) != 0)
        return NULL;
    poprt_runner *runner;
    poprt_status status;
    core_use(exec_object);
    core_use(config_object);
    Py_BEGIN_ALLOW_THREADS status = poprt_runner_create(exec, config, &runner);
    Py_END_ALLOW_THREADS core_unuse(exec_object);
    core_unuse(config_object);
    CORE_CHECK(state, status);
    state->counters[CORE_SESSIONS]++;
    return core_wrap(state, CORE_RUNNER, runner, exec_object, release_runner);
}

static PyObject *close_runner(PyObject *self, PyObject *args)
{
    (void)args;
    core_runner *runner = (core_runner *)self;
    if (runner->base.handle == NULL)
        Py_RETURN_NONE;
    if (runner->active > 0)
        return core_refuse(core_state_of(self), POPRT_E_STATE, "",
            "another thread is using the runner: wait for its call first");
    void *handle = runner->base.handle;
    runner->base.handle = NULL;
    release_runner(handle);
    reap(runner, 1);
    Py_RETURN_NONE;
}

/* Takes the arrays of the items of a dict into the request's list; 0, or -1: raised. */
static int take_arrays(core_state *state, PyObject *items, int writable, pending *p,
    poprt_named_tensor *tensors)
{
    for (Py_ssize_t i = 0; i < PyList_Size(items); i++) {
        PyObject *item = PyList_GetItem(items, i);
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(item, 0), NULL);
        if (name == NULL ||
            core_array_take(state, PyTuple_GetItem(item, 1), writable, name,
                &p->arrays[p->count]) != 0)
            return -1;
        poprt_named_tensor *t = &tensors[p->count++];
        t->name = name;
        t->tensor = p->arrays[p->count - 1].value;
        t->tensor.dims = NULL; /* the size decides */
        t->tensor.rank = 0;
    }
    return 0;
}

/* Queues the request of two dicts. Returns NULL if the function has raised. */
static pending *submit(PyObject *self, PyObject *inputs, PyObject *outputs, unsigned replica)
{
    core_state *state = core_state_of(self);
    core_runner *runner = (core_runner *)self;
    reap(runner, 0);
    PyObject *in_items = PyDict_Items(inputs);
    PyObject *out_items = in_items == NULL ? NULL : PyDict_Items(outputs);
    PyObject *items = out_items == NULL ? NULL : PyTuple_Pack(2, in_items, out_items);
    Py_XDECREF(in_items);
    Py_XDECREF(out_items);
    if (items == NULL)
        return NULL;
    const Py_ssize_t n_in = PyList_Size(in_items), n_out = PyList_Size(out_items);
    pending *p = calloc(1, sizeof *p);
    poprt_named_tensor *tensors = calloc((size_t)(n_in + n_out + 1), sizeof *tensors);
    if (p == NULL || tensors == NULL ||
        (p->arrays = calloc((size_t)(n_in + n_out + 1), sizeof *p->arrays)) == NULL) {
        Py_DECREF(items);
        free(tensors);
        free(p);
        PyErr_NoMemory();
        return NULL;
    }
    p->items = items;
    poprt_runner *handle = NULL;
    int bad = take_arrays(state, in_items, 0, p, tensors) != 0 ||
        take_arrays(state, out_items, 1, p, tensors) != 0 || (handle = core_self(self)) == NULL;
    if (!bad) {
        const poprt_runner_call call = { .struct_size = sizeof call,
            .inputs = tensors,
            .n_inputs = (size_t)n_in,
            .outputs = tensors + n_in,
            .n_outputs = (size_t)n_out,
            .replica = replica };
        poprt_status status;
        runner->active++;
        Py_BEGIN_ALLOW_THREADS status =
            poprt_runner_submit(handle, &call, POPRT_WAIT_FOREVER, &p->request);
        Py_END_ALLOW_THREADS runner->active--;
        state->counters[CORE_RUNS]++;
        if (status != POPRT_OK) {
            core_fail(state, status);
            bad = 1;
        }
    }
    free(tensors);
    if (bad) {
        free_pending(p);
        return NULL;
    }
    return p;
}

/* Waits at most `ns`, and looks at signals twenty times a second. Returns 1: finished, 0: not yet,
 * -1: raised; then the request is cancelled and finished. */
static int wait_for(poprt_request *request, uint64_t ns)
{
    const uint64_t slice = 50000000;
    for (;;) {
        const uint64_t now = ns < slice ? ns : slice;
        int finished;
        Py_BEGIN_ALLOW_THREADS finished = poprt_request_wait(request, now);
        Py_END_ALLOW_THREADS if (finished) return 1;
        if (PyErr_CheckSignals() != 0) {
            poprt_request_cancel(request);
            Py_BEGIN_ALLOW_THREADS(void) poprt_request_wait(request, POPRT_WAIT_FOREVER);
            Py_END_ALLOW_THREADS return -1;
        }
        if (ns != POPRT_WAIT_FOREVER)
            ns -= now;
        if (ns == 0)
            return 0;
    }
}

/* execute(inputs, outputs, replica): dicts of names and arrays */
static PyObject *runner_execute(PyObject *self, PyObject *args)
{
    PyObject *inputs, *outputs;
    unsigned replica;
    if (!PyArg_ParseTuple(args, "O!O!I", &PyDict_Type, &inputs, &PyDict_Type, &outputs, &replica))
        return NULL;
    pending *p = submit(self, inputs, outputs, replica);
    if (p == NULL)
        return NULL;
    core_runner *runner = (core_runner *)self;
    runner->active++;
    const int finished = wait_for(p->request, POPRT_WAIT_FOREVER);
    runner->active--;
    const poprt_status status = finished == 1 ? poprt_request_result(p->request) : POPRT_OK;
    PyObject *result = finished == 1 ? Py_NewRef(Py_None) : NULL;
    if (status != POPRT_OK) {
        Py_CLEAR(result);
        core_fail(core_state_of(self), status);
    }
    free_pending(p);
    return result;
}

static void release_nothing(void *handle)
{
    (void)handle;
}

/* submit(inputs, outputs, replica) -> Request */
static PyObject *runner_submit(PyObject *self, PyObject *args)
{
    PyObject *inputs, *outputs;
    unsigned replica;
    if (!PyArg_ParseTuple(args, "O!O!I", &PyDict_Type, &inputs, &PyDict_Type, &outputs, &replica))
        return NULL;
    pending *p = submit(self, inputs, outputs, replica);
    if (p == NULL)
        return NULL;
    PyObject *request =
        core_wrap(core_state_of(self), CORE_REQUEST, p->request, self, release_nothing);
    if (request == NULL) {
        p->next = ((core_runner *)self)->orphans;
        ((core_runner *)self)->orphans = p;
        return NULL;
    }
    ((core_request *)request)->held = p;
    return request;
}

/* io(list, direction) -> [(name, dtype, dims, size, open dim, has data, graph)] */
static PyObject *runner_io(PyObject *self, PyObject *args)
{
    int list_of, direction;
    const poprt_runner *runner;
    if (!PyArg_ParseTuple(args, "ii", &list_of, &direction) || (runner = core_self(self)) == NULL)
        return NULL;
    PyObject *list = PyList_New(0);
    const size_t n = poprt_runner_io_count(runner, list_of, direction);
    for (size_t i = 0; i < n && list != NULL; i++) {
        poprt_runner_io io = { .struct_size = sizeof io };
        PyObject *item = NULL, *dims = NULL;
        if (poprt_runner_io_at(runner, list_of, direction, i, &io) == POPRT_OK)
            dims = core_dims((uint32_t)io.rank, io.dims);
        if (dims != NULL)
            item = Py_BuildValue("(siNniii)", io.name, (int)io.dtype, dims, (Py_ssize_t)io.size,
                (int)io.open_dim, (int)io.has_data, (int)io.graph);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *runner_kind(PyObject *self, PyObject *args)
{
    (void)args;
    const poprt_runner *runner = core_self(self);
    return runner == NULL ? NULL : PyLong_FromLong(poprt_runner_kind(runner));
}

static PyObject *runner_stats(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_runner *runner = core_self(self);
    poprt_runner_stats s = { .struct_size = sizeof s };
    if (runner == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_runner_get_stats(runner, &s));
    return Py_BuildValue("{sKsKsKsKsKsKsKsK}", "requests", s.requests, "finished", s.finished,
        "failed", s.failed, "batches", s.batches, "rows", s.rows, "padding", s.padding, "queued",
        s.queued, "capacity", s.capacity);
}

/* set_weight(name, array) */
static PyObject *runner_set_weight(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *object;
    core_array array;
    core_state *state = core_state_of(self);
    if (!PyArg_ParseTuple(args, "sO", &name, &object) ||
        core_array_take(state, object, 0, name, &array) != 0)
        return NULL;
    poprt_runner *runner = core_self(self);
    poprt_status status = POPRT_E_STATE;
    if (runner != NULL)
        status = poprt_runner_set_weight(runner, name, &array.value);
    core_array_drop(&array);
    CORE_CHECK(state, status);
    Py_RETURN_NONE;
}

/* Calls a function of the runner without the GIL. */
static PyObject *call(PyObject *self, poprt_status (*fn)(poprt_runner *))
{
    poprt_runner *runner = core_self(self);
    if (runner == NULL)
        return NULL;
    poprt_status status;
    ((core_runner *)self)->active++;
    Py_BEGIN_ALLOW_THREADS status = fn(runner);
    Py_END_ALLOW_THREADS((core_runner *)self)->active--;
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}

static PyObject *runner_update_weights(PyObject *self, PyObject *args)
{
    (void)args;
    return call(self, poprt_runner_update_weights);
}

static PyObject *runner_stop(PyObject *self, PyObject *args)
{
    (void)args;
    return call(self, poprt_runner_stop);
}

static PyObject *runner_reload(PyObject *self, PyObject *args)
{
    (void)args;
    return call(self, poprt_runner_reload);
}

static PyObject *runner_drain(PyObject *self, PyObject *args)
{
    (void)args;
    return call(self, poprt_runner_drain);
}

static PyObject *runner_cancel(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_runner *runner = core_self(self);
    if (runner == NULL)
        return NULL;
    poprt_runner_cancel(runner);
    Py_RETURN_NONE;
}

static PyMethodDef runner_methods[] = {
    { "close", close_runner, METH_NOARGS, "() releases the handle" },
    { "execute", runner_execute, METH_VARARGS, "(inputs, outputs, replica)" },
    { "submit", runner_submit, METH_VARARGS, "(inputs, outputs, replica) -> Request" },
    { "io", runner_io, METH_VARARGS,
        "(list, direction) -> [(name, dtype, dims, size, open dim, has data, graph)]" },
    { "kind", runner_kind, METH_NOARGS, "() -> kind" },
    { "stats", runner_stats, METH_NOARGS, "() -> dict" },
    { "set_weight", runner_set_weight, METH_VARARGS, "(name, array)" },
    { "update_weights", runner_update_weights, METH_NOARGS, "()" },
    { "stop", runner_stop, METH_NOARGS, "()" },
    { "reload", runner_reload, METH_NOARGS, "()" },
    { "drain", runner_drain, METH_NOARGS, "()" },
    { "cancel", runner_cancel, METH_NOARGS, "()" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot runner_slots[] = {
    { Py_tp_new, (void *)new_runner },
    { Py_tp_dealloc, (void *)free_runner },
    { Py_tp_methods, runner_methods },
    { 0, NULL },
};

PyType_Spec core_runner_spec = { "poprt._core.Runner", sizeof(core_runner), 0, Py_TPFLAGS_DEFAULT,
    runner_slots };

/* ---- Request */

static void free_request(PyObject *self)
{
    core_request *request = (core_request *)self;
    core_runner *runner = (core_runner *)request->base.keep;
    PyTypeObject *type = Py_TYPE(self);
    if (request->held != NULL) {
        request->held->next = runner->orphans;
        runner->orphans = request->held;
        reap(runner, runner->base.handle == NULL);
    }
    Py_XDECREF(request->base.keep);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* wait(seconds or None) -> whether the request is finished */
static PyObject *request_wait(PyObject *self, PyObject *args)
{
    PyObject *seconds;
    poprt_request *request;
    if (!PyArg_ParseTuple(args, "O", &seconds) || (request = core_self(self)) == NULL)
        return NULL;
    uint64_t ns = POPRT_WAIT_FOREVER;
    if (seconds != Py_None) {
        const double value = PyFloat_AsDouble(seconds);
        if (value == -1.0 && PyErr_Occurred() != NULL)
            return NULL;
        if (!(value >= 9e9)) /* also for a value that is not a number */
            ns = value > 0 ? (uint64_t)(value * 1e9) : 0;
    }
    const int finished = wait_for(request, ns);
    return finished < 0 ? NULL : PyBool_FromLong(finished);
}

/* Raises the failure of a finished request. */
static PyObject *request_result(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_request *request = core_self(self);
    if (request == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_request_result(request));
    Py_RETURN_NONE;
}

static PyObject *request_cancel(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_request *request = core_self(self);
    if (request == NULL)
        return NULL;
    poprt_request_cancel(request);
    Py_RETURN_NONE;
}

static PyMethodDef request_methods[] = {
    { "wait", request_wait, METH_VARARGS, "(seconds or None) -> bool" },
    { "result", request_result, METH_NOARGS, "()" },
    { "cancel", request_cancel, METH_NOARGS, "()" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot request_slots[] = {
    { Py_tp_new, (void *)core_no_new },
    { Py_tp_dealloc, (void *)free_request },
    { Py_tp_methods, request_methods },
    { 0, NULL },
};

PyType_Spec core_request_spec = { "poprt._core.Request", sizeof(core_request), 0,
    Py_TPFLAGS_DEFAULT, request_slots };
