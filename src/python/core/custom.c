/* SPDX-License-Identifier: MIT */
/* Functions of Python that the library calls: shape functions, and passes on a whole model. */
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

struct core_custom {
    core_custom *next;
    core_state *state;
    PyObject *owner; /* the Env, which has the list; NULL: no object */
    PyObject *fn;
    poprt_model_pass pass; /* of a pass; the texts are copies */
};

void core_custom_free(core_custom *custom)
{
    while (custom != NULL) {
        core_custom *next = custom->next;
        Py_DECREF(custom->fn);
        free((void *)(uintptr_t)custom->pass.name);
        free((void *)(uintptr_t)custom->pass.help);
        free(custom);
        custom = next;
    }
}

static core_custom *new_custom(core_state *state, PyObject *fn)
{
    core_custom *custom = calloc(1, sizeof *custom);
    if (custom == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(fn);
    custom->fn = fn;
    custom->state = state;
    return custom;
}

/* ---- shape functions */

static PyObject *list_names(const char *const *names, uint32_t count)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; i < count && list != NULL; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL || PyList_SetItem(list, i, name) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* [(dtype, dims or None)] */
static PyObject *list_types(const poprt_type *types, uint32_t count)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; i < count && list != NULL; i++) {
        PyObject *dims = types[i].rank < 0 ? Py_NewRef(Py_None)
                                           : core_dims((uint32_t)types[i].rank, types[i].dims);
        PyObject *type = dims == NULL ? NULL : Py_BuildValue("(iN)", (int)types[i].dtype, dims);
        if (type == NULL || PyList_SetItem(list, i, type) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* [array or None] */
static PyObject *list_constants(core_state *state, const poprt_tensor *tensors, uint32_t count)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; i < count && list != NULL; i++) {
        PyObject *array =
            tensors[i].data == NULL ? Py_NewRef(Py_None) : core_array_copy(state, &tensors[i]);
        if (array == NULL || PyList_SetItem(list, i, array) != 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Reads [(dtype, dims or None) or None for an output without a type]. */
static int read_types(PyObject *list, uint32_t count, poprt_type *types)
{
    if (!PyList_Check(list) || PyList_Size(list) != (Py_ssize_t)count) {
        PyErr_SetString(PyExc_TypeError,
            "a shape function returns a list with an item for each "
            "output");
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, i), *dims;
        int dtype;
        if (item == Py_None)
            continue;
        if (!PyArg_ParseTuple(item, "iO", &dtype, &dims))
            return -1;
        types[i].dtype = dtype;
        types[i].rank =
            dims == Py_None ? -1 : core_ints(dims, POPRT_PLUGIN_MAX_RANK, types[i].dims);
        if (types[i].rank < 0 && dims != Py_None)
            return -1;
    }
    return 0;
}

/* Calls fn(domain, op_type, name, attributes, input names, output names, input types, constants,
 * output types). */
static PyObject *call_infer(const core_custom *custom, const poprt_unknown_node *node,
    const poprt_type *outputs)
{
    PyObject *attributes =
        PyBytes_FromStringAndSize(node->attributes, (Py_ssize_t)node->attributes_size);
    PyObject *lists[] = { list_names(node->input_names, node->n_inputs),
        list_names(node->output_names, node->n_outputs), list_types(node->inputs, node->n_inputs),
        list_constants(custom->state, node->constants, node->n_inputs),
        list_types(outputs, node->n_outputs) };
    PyObject *result = NULL;
    if (attributes != NULL && lists[0] != NULL && lists[1] != NULL && lists[2] != NULL &&
        lists[3] != NULL && lists[4] != NULL)
        result = PyObject_CallFunction(custom->fn, "sssOOOOOO", node->domain, node->op_type,
            node->name, attributes, lists[0], lists[1], lists[2], lists[3], lists[4]);
    Py_XDECREF(attributes);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        Py_XDECREF(lists[i]);
    return result;
}

static poprt_status infer(void *user, const poprt_unknown_node *node, poprt_type *outputs)
{
    const core_custom *custom = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = PyErr_Occurred() != NULL ? NULL : call_infer(custom, node, outputs);
    const int bad = result == NULL || read_types(result, node->n_outputs, outputs) != 0;
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return bad ? POPRT_E_PLUGIN : POPRT_OK;
}

/* ---- passes */

static void release_nothing(void *handle)
{
    (void)handle;
}

/* Calls fn(Model), which returns whether it changed the model. The object is closed afterwards. */
static poprt_status run_pass(void *user, poprt_model *model, int32_t *changed)
{
    core_custom *custom = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *object = NULL, *result = NULL;
    int answer = -1;
    if (PyErr_Occurred() == NULL)
        object = core_wrap(custom->state, CORE_MODEL, model, custom->owner, release_nothing);
    if (object != NULL)
        result = PyObject_CallFunction(custom->fn, "O", object);
    if (result != NULL)
        answer = PyObject_IsTrue(result);
    if (object != NULL)
        ((core_handle *)object)->handle = NULL;
    Py_XDECREF(result);
    Py_XDECREF(object);
    PyGILState_Release(gil);
    if (answer < 0)
        return POPRT_E_PLUGIN;
    *changed = answer;
    return POPRT_OK;
}

/* ---- methods */

poprt_status core_custom_add(core_state *state, poprt_env *env, const char *name, const char *help,
    PyObject *fn, core_custom **list)
{
    core_custom *custom = new_custom(state, fn);
    poprt_status status = POPRT_E_NOMEM;
    if (custom == NULL)
        return status;
    if (name == NULL) {
        status = poprt_env_set_infer(env, infer, custom);
    } else {
        custom->pass = (poprt_model_pass){ .struct_size = sizeof custom->pass,
            .name = strdup(name),
            .help = strdup(help),
            .run = run_pass,
            .user = custom };
        if (custom->pass.name == NULL || custom->pass.help == NULL)
            PyErr_NoMemory();
        else
            status = poprt_env_add_model_pass(env, &custom->pass);
    }
    if (status != POPRT_OK) {
        core_custom_free(custom);
        return status;
    }
    custom->next = *list;
    *list = custom;
    return POPRT_OK;
}

PyObject *core_set_infer(PyObject *self, PyObject *args, core_custom **list)
{
    PyObject *fn;
    core_state *state = core_state_of(self);
    poprt_env *env = core_self(self);
    if (env == NULL || !PyArg_ParseTuple(args, "O", &fn))
        return NULL;
    CORE_CHECK(state, core_custom_add(state, env, NULL, NULL, fn, list));
    (*list)->owner = self;
    Py_RETURN_NONE;
}

PyObject *core_add_model_pass(PyObject *self, PyObject *args, core_custom **list)
{
    const char *name, *help;
    PyObject *fn;
    core_state *state = core_state_of(self);
    poprt_env *env = core_self(self);
    if (env == NULL || !PyArg_ParseTuple(args, "ssO", &name, &help, &fn))
        return NULL;
    CORE_CHECK(state, core_custom_add(state, env, name, help, fn, list));
    (*list)->owner = self;
    Py_RETURN_NONE;
}

PyObject *core_model_replace(PyObject *self, PyObject *args)
{
    Py_buffer bytes;
    poprt_model *model;
    if (!PyArg_ParseTuple(args, "y*", &bytes) || (model = core_self(self)) == NULL)
        return NULL;
    poprt_status status;
    CORE_BEGIN(self)
    status = poprt_model_replace(model, bytes.buf, (size_t)bytes.len);
    CORE_END
    PyBuffer_Release(&bytes);
    CORE_CHECK(core_state_of(self), status);
    Py_RETURN_NONE;
}
