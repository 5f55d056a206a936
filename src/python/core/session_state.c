/* SPDX-License-Identifier: MIT */
/* What a session keeps between runs: weights, optimizer, random state, checkpoints. */
#include "python/core/session.h"

#include <stdlib.h>

/* Ends a call on a locked session: unlocks, then returns None or raises. */
static PyObject *finish(core_session *session, poprt_status status)
{
    core_session_unlock(session);
    CORE_CHECK(core_state_of((PyObject *)session), status);
    Py_RETURN_NONE;
}

/* Type and size of a weight: a call with a buffer that is too small fills in the type. */
static poprt_status read_into(poprt_session *handle, const char *name, poprt_tensor *out,
    void **memory)
{
    size_t capacity = 4096;
    for (;;) {
        void *data = malloc(capacity);
        if (data == NULL)
            return POPRT_E_NOMEM;
        *out = (poprt_tensor){ .data = data, .size = capacity };
        const poprt_status status = poprt_session_read_weight(handle, name, out);
        if (status == POPRT_OK) {
            *memory = data;
            return status;
        }
        free(data);
        if (status != POPRT_E_ARG || capacity > SIZE_MAX / 8)
            return status;
        capacity *= 8;
    }
}

static poprt_status find_tensor(poprt_session *handle, const char *name, poprt_tensor_info *out)
{
    const size_t n = poprt_session_tensor_count(handle);
    for (size_t i = 0; i < n; i++) {
        out->struct_size = sizeof *out;
        const poprt_status status = poprt_session_tensor_at(handle, i, out);
        if (status != POPRT_OK)
            return status;
        const char *a = out->name, *b = name;
        while (*a != 0 && *a == *b)
            a++, b++;
        if (*a == *b && out->size > 0)
            return POPRT_OK;
    }
    return POPRT_E_NOT_FOUND;
}

/* read_weight(name, array or None): fills the array, or returns a new one. */
PyObject *core_session_read_weight(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    core_state *state = core_state_of(self);
    const char *name;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "sO", &name, &object))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    if (object != Py_None) {
        core_array array = { 0 };
        poprt_status status = POPRT_OK;
        if (core_array_take(state, object, 1, name, &array) == 0) {
            poprt_tensor out = { .data = array.value.data, .size = array.value.size };
            status = poprt_session_read_weight(handle, name, &out);
            if (status == POPRT_OK && out.dtype != array.value.dtype)
                core_refuse(state, POPRT_E_TYPE, name, "the array is of %s, the weight of %s",
                    poprt_dtype_name(array.value.dtype), poprt_dtype_name(out.dtype));
            else if (status == POPRT_OK && out.size != array.value.size)
                core_refuse(state, POPRT_E_SHAPE, name, "the array has %zu bytes, the weight %zu",
                    array.value.size, out.size);
        }
        core_array_drop(&array);
        core_session_unlock(session);
        if (status != POPRT_OK || PyErr_Occurred() != NULL)
            return core_fail(state, status);
        return Py_NewRef(object);
    }
    poprt_tensor_info info;
    poprt_tensor out;
    void *memory = NULL;
    poprt_status status;
    if (find_tensor(handle, name, &info) == POPRT_OK && (memory = malloc(info.size)) != NULL) {
        out = (poprt_tensor){ .data = memory, .size = info.size };
        status = poprt_session_read_weight(handle, name, &out);
        if (status == POPRT_E_ARG) {
            free(memory);
            status = read_into(handle, name, &out, &memory);
        }
    } else {
        status = read_into(handle, name, &out, &memory);
    }
    PyObject *array = status == POPRT_OK ? core_array_copy(state, &out) : NULL;
    free(memory);
    core_session_unlock(session);
    CORE_CHECK(state, status);
    return array;
}

PyObject *core_session_write_weight(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    core_state *state = core_state_of(self);
    const char *name;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "sO", &name, &object))
        return NULL;
    core_array array = { 0 };
    if (core_array_take(state, object, 0, name, &array) != 0)
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL) {
        core_array_drop(&array);
        return NULL;
    }
    const poprt_status status = poprt_session_write_weight(handle, name, &array.value);
    core_array_drop(&array);
    return finish(session, status);
}

PyObject *core_session_update_optimizer(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "O", &object))
        return NULL;
    const poprt_optimizer *optimizer = core_handle_of(core_state_of(self), object, CORE_OPTIMIZER);
    poprt_session *handle = optimizer == NULL ? NULL : core_session_lock(session);
    if (handle == NULL)
        return NULL;
    return finish(session, poprt_session_update_optimizer(handle, optimizer));
}

PyObject *core_session_progress(PyObject *self, PyObject *args)
{
    (void)args;
    core_session *session = (core_session *)self;
    poprt_session *handle = core_session_lock(session);
    poprt_train_progress p = { .struct_size = sizeof p };
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_get_progress(handle, &p);
    core_session_unlock(session);
    CORE_CHECK(core_state_of(self), status);
    return Py_BuildValue("(KKK)", (unsigned long long)p.updates,
        (unsigned long long)p.micro_batches, (unsigned long long)p.seed);
}

PyObject *core_session_set_random_seed(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "K", &seed))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    return finish(session, poprt_session_set_random_seed(handle, seed));
}

PyObject *core_session_set_random_state(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    unsigned long long seed, micro_batches;
    if (!PyArg_ParseTuple(args, "KK", &seed, &micro_batches))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    return finish(session, poprt_session_set_random_state(handle, seed, micro_batches));
}

/* ---- files */

PyObject *core_session_save_checkpoint(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    const char *path;
    int keep;
    if (!PyArg_ParseTuple(args, "si", &path, &keep))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = poprt_session_save_checkpoint(handle, path, keep);
    Py_END_ALLOW_THREADS return finish(session, status);
}

/* A call on the session and a path. */
static PyObject *with_path(PyObject *self, PyObject *args,
    poprt_status (*call)(poprt_session *, const char *))
{
    core_session *session = (core_session *)self;
    const char *path;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    poprt_status status;
    Py_BEGIN_ALLOW_THREADS status = call(handle, path);
    Py_END_ALLOW_THREADS return finish(session, status);
}

PyObject *core_session_load_checkpoint(PyObject *self, PyObject *args)
{
    return with_path(self, args, poprt_session_load_checkpoint);
}

PyObject *core_session_save_variables(PyObject *self, PyObject *args)
{
    return with_path(self, args, poprt_session_save_variables);
}

PyObject *core_session_load_variables(PyObject *self, PyObject *args)
{
    return with_path(self, args, poprt_session_load_variables);
}

/* ---- models and weights of the host */

static void release_model(void *handle)
{
    poprt_model_release(handle);
}

PyObject *core_session_export_model(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    core_state *state = core_state_of(self);
    PyObject *object;
    int with_state;
    if (!PyArg_ParseTuple(args, "Op", &object, &with_state))
        return NULL;
    const poprt_model *model = core_handle_of(state, object, CORE_MODEL);
    poprt_session *handle = model == NULL ? NULL : core_session_lock(session);
    if (handle == NULL)
        return NULL;
    poprt_model *copy;
    const poprt_status status = poprt_session_export_model(handle, model, with_state, &copy);
    core_session_unlock(session);
    CORE_CHECK(state, status);
    return core_wrap(state, CORE_MODEL, copy, ((core_handle *)object)->keep, release_model);
}

PyObject *core_session_reset_weights(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    PyObject *object;
    int flags;
    if (!PyArg_ParseTuple(args, "Oi", &object, &flags))
        return NULL;
    const poprt_model *model = core_handle_of(core_state_of(self), object, CORE_MODEL);
    poprt_session *handle = model == NULL ? NULL : core_session_lock(session);
    if (handle == NULL)
        return NULL;
    return finish(session, poprt_session_reset_weights(handle, model, flags));
}

PyObject *core_session_share_weights(PyObject *self, PyObject *args)
{
    core_session *session = (core_session *)self;
    PyObject *object;
    void *weights;
    if (!PyArg_ParseTuple(args, "O", &object) ||
        core_optional(core_state_of(self), object, CORE_WEIGHTS, &weights) != 0)
        return NULL;
    poprt_session *handle = core_session_lock(session);
    if (handle == NULL)
        return NULL;
    const poprt_status status = poprt_session_share_weights(handle, weights);
    if (status == POPRT_OK)
        core_session_hold(&session->weights, object);
    return finish(session, status);
}
