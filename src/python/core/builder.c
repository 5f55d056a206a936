/* SPDX-License-Identifier: MIT */
/* Builder: makes models. Tensors are numbers; 0 is an absent one. */
#include "python/core/builder.h"

static void release_builder(void *handle)
{
    poprt_builder_release(handle);
}

/* Raises the failure of a call, and undoes it, so that the builder can be used on. */
PyObject *core_builder_fail(PyObject *self, poprt_status status)
{
    core_fail(core_state_of(self), status);
    (void)poprt_builder_undo(((core_handle *)self)->handle);
    return NULL;
}

/* Builder(env, opset) */
static PyObject *new_builder(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    core_state *state = PyType_GetModuleState(type);
    PyObject *env_object;
    long long opset;
    if (!PyArg_ParseTuple(args, "OL", &env_object, &opset))
        return NULL;
    poprt_env *env = core_handle_of(state, env_object, CORE_ENV);
    poprt_builder *builder;
    if (env == NULL)
        return NULL;
    CORE_CHECK(state, poprt_builder_create(env, opset, &builder));
    return core_wrap(state, CORE_BUILDER, builder, env_object, release_builder);
}

/* Builder.from_model(model) */
static PyObject *from_model(PyObject *type, PyObject *args)
{
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    PyObject *object;
    if (!PyArg_ParseTuple(args, "O", &object))
        return NULL;
    const poprt_model *model = core_handle_of(state, object, CORE_MODEL);
    poprt_builder *builder;
    if (model == NULL)
        return NULL;
    CORE_CHECK(state, poprt_builder_create_from(model, &builder));
    return core_wrap(state, CORE_BUILDER, builder, ((core_handle *)object)->keep, release_builder);
}

static PyObject *subgraph(PyObject *self, PyObject *args)
{
    const char *name;
    poprt_builder *parent = core_self(self), *builder;
    if (parent == NULL || !PyArg_ParseTuple(args, "z", &name))
        return NULL;
    const poprt_status status = poprt_builder_create_subgraph(parent, name, &builder);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    return core_wrap(core_state_of(self), CORE_BUILDER, builder, ((core_handle *)self)->keep,
        release_builder);
}

static PyObject *set_opset(PyObject *self, PyObject *args)
{
    const char *domain;
    long long version;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "sL", &domain, &version) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_set_opset(builder, domain, version);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

static PyObject *accept_newer_types(PyObject *self, PyObject *args)
{
    int on;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "p", &on) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_accept_newer_types(builder, on);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

static PyObject *set_graph_name(PyObject *self, PyObject *args)
{
    const char *name;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "s", &name) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_set_graph_name(builder, name);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* ---- inputs and weights */

static PyObject *id_or_fail(PyObject *self, poprt_id id)
{
    return id != 0 ? PyLong_FromUnsignedLong(id)
                   : core_builder_fail(self, poprt_builder_status(core_self(self)));
}

/* input(name or None, dtype, dims or None): without dims the type is unknown, in a subgraph. A dim
 * is a number, -1 for an open one, or a name. */
static PyObject *input(PyObject *self, PyObject *args)
{
    const char *name, *names[POPRT_PLUGIN_MAX_RANK];
    int dtype;
    PyObject *dims;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "ziO", &name, &dtype, &dims) || (builder = core_self(self)) == NULL)
        return NULL;
    if (dims == Py_None && dtype == POPRT_DTYPE_UNDEFINED)
        return id_or_fail(self, poprt_builder_input(builder, name, NULL, NULL));
    poprt_type type = { .dtype = dtype, .rank = -1 };
    if (dims != Py_None) {
        const Py_ssize_t rank = PyTuple_Size(dims);
        if (rank < 0 || rank > POPRT_PLUGIN_MAX_RANK)
            return rank < 0 ? NULL
                            : core_refuse(core_state_of(self), POPRT_E_LIMIT, name ? name : "input",
                                  "rank %zd; at most %d is possible", rank, POPRT_PLUGIN_MAX_RANK);
        type.rank = (int32_t)rank;
        for (Py_ssize_t i = 0; i < rank; i++) {
            PyObject *dim = PyTuple_GetItem(dims, i);
            names[i] = NULL;
            if (PyUnicode_Check(dim)) {
                type.dims[i] = -1;
                names[i] = PyUnicode_AsUTF8AndSize(dim, NULL);
            } else {
                type.dims[i] = PyLong_AsLongLong(dim);
            }
            if (PyErr_Occurred() != NULL)
                return NULL;
        }
    }
    builder = core_self(self); /* numbers may be objects of a program, which closed it */
    if (builder == NULL)
        return NULL;
    return id_or_fail(self, poprt_builder_input(builder, name, &type, names));
}

static PyObject *contents(PyObject *self, PyObject *args,
    poprt_id (*add)(poprt_builder *, const char *, const poprt_tensor *, int32_t))
{
    const char *name;
    PyObject *object;
    core_array array = { 0 };
    if (!PyArg_ParseTuple(args, "zO", &name, &object) ||
        core_array_take(core_state_of(self), object, 0, name ? name : "weight", &array) != 0)
        return NULL;
    poprt_builder *builder = core_self(self);
    if (builder == NULL) {
        core_array_drop(&array);
        return NULL;
    }
    const poprt_id id = add(builder, name, &array.value, 0);
    core_array_drop(&array);
    return id_or_fail(self, id);
}

static PyObject *weight(PyObject *self, PyObject *args)
{
    return contents(self, args, poprt_builder_weight);
}

static PyObject *constant(PyObject *self, PyObject *args)
{
    return contents(self, args, poprt_builder_constant);
}

static PyObject *output(PyObject *self, PyObject *args)
{
    unsigned id;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "I", &id) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_output(builder, id);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* ---- settings of the model's file */

static PyObject *property(PyObject *self, PyObject *args)
{
    const char *key, *value;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "sz", &key, &value) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_property(builder, key, value);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* variable_settings(id, group, size, retrieval) */
static PyObject *variable_settings(PyObject *self, PyObject *args)
{
    unsigned id;
    poprt_variable_settings settings;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "Iiii", &id, &settings.group, &settings.size,
            &settings.retrieval) ||
        (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_variable_settings(builder, id, &settings);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* input_settings(id, tile set, exchange, stream mode) */
static PyObject *input_settings(PyObject *self, PyObject *args)
{
    unsigned id;
    poprt_input_settings settings;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "Iiii", &id, &settings.tile_set, &settings.exchange,
            &settings.stream_mode) ||
        (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_input_settings(builder, id, &settings);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

static PyObject *replication_factor(PyObject *self, PyObject *args)
{
    long long factor;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "L", &factor) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_replication_factor(builder, factor);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* ---- questions */

static PyObject *name_of(PyObject *self, PyObject *args)
{
    unsigned id;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "I", &id) || (builder = core_self(self)) == NULL)
        return NULL;
    const char *name = poprt_builder_name(builder, id);
    return name == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(name);
}

static PyObject *find(PyObject *self, PyObject *args)
{
    const char *name;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "s", &name) || (builder = core_self(self)) == NULL)
        return NULL;
    return PyLong_FromUnsignedLong(poprt_builder_find(builder, name));
}

/* type(id) -> (dtype, dims or None) */
static PyObject *type_of(PyObject *self, PyObject *args)
{
    unsigned id;
    poprt_type type;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "I", &id) || (builder = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_builder_type(builder, id, &type));
    PyObject *dims = type.rank < 0 ? Py_NewRef(Py_None) : core_dims((uint32_t)type.rank, type.dims);
    return dims == NULL ? NULL : Py_BuildValue("(iN)", (int)type.dtype, dims);
}

static PyObject *is_initializer(PyObject *self, PyObject *args)
{
    unsigned id;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "I", &id) || (builder = core_self(self)) == NULL)
        return NULL;
    return PyBool_FromLong(poprt_builder_is_initializer(builder, id));
}

/* list(POPRT_BUILDER_...) -> ids */
static PyObject *list_ids(PyObject *self, PyObject *args)
{
    int which;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "i", &which) || (builder = core_self(self)) == NULL)
        return NULL;
    const size_t n = poprt_builder_count(builder, which);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; i < n && list != NULL; i++)
        PyList_SetItem(list, (Py_ssize_t)i,
            PyLong_FromUnsignedLong(poprt_builder_at(builder, which, i)));
    return list;
}

/* ---- results */

static PyObject *save_externally(PyObject *self, PyObject *args)
{
    PyObject *list;
    const char *path;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "O!s", &PyList_Type, &list, &path) ||
        (builder = core_self(self)) == NULL)
        return NULL;
    const size_t n = (size_t)PyList_Size(list);
    poprt_id *ids = PyMem_Calloc(n + 1, sizeof *ids);
    if (ids == NULL)
        return PyErr_NoMemory();
    poprt_status status = POPRT_OK;
    const int bad = core_builder_ids(list, ids) != 0;
    if (!bad)
        status = poprt_builder_save_externally(builder, (uint32_t)n, ids, path);
    PyMem_Free(ids);
    if (bad)
        return NULL;
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

static void release_model(void *handle)
{
    poprt_model_release(handle);
}

static PyObject *finish(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_builder *builder = core_self(self);
    poprt_model *model;
    if (builder == NULL)
        return NULL;
    core_state *state = core_state_of(self);
    CORE_CHECK(state, poprt_builder_finish(builder, &model));
    state->counters[CORE_MODELS_BUILT]++;
    return core_wrap(state, CORE_MODEL, model, ((core_handle *)self)->keep, release_model);
}

static PyMethodDef methods[] = {
    CORE_CLOSE,
    { "from_model", from_model, METH_VARARGS | METH_CLASS, "(model) -> Builder" },
    { "subgraph", subgraph, METH_VARARGS, "(name or None) -> Builder" },
    { "set_opset", set_opset, METH_VARARGS, "(domain, version)" },
    { "accept_newer_types", accept_newer_types, METH_VARARGS, "(on)" },
    { "set_graph_name", set_graph_name, METH_VARARGS, "(name)" },
    { "input", input, METH_VARARGS, "(name or None, dtype, dims or None) -> id" },
    { "weight", weight, METH_VARARGS, "(name or None, array) -> id" },
    { "constant", constant, METH_VARARGS, "(name or None, array) -> id" },
    { "output", output, METH_VARARGS, "(id)" },
    { "op", core_builder_op, METH_VARARGS,
        "(domain, type, inputs, attributes, n_outputs, name, output names) -> ids" },
    { "checkpoint", core_builder_checkpoint, METH_VARARGS, "(ids) -> ids" },
    { "push_name", core_builder_push_name, METH_VARARGS, "(name)" },
    { "push", core_builder_push, METH_VARARGS, "((name, kind, value))" },
    { "pop", core_builder_pop, METH_NOARGS, "()" },
    { "set_location", core_builder_set_location, METH_VARARGS,
        "(file or None, line, function or None)" },
    { "set", core_builder_set_attribute, METH_VARARGS, "(id, (name, kind, value))" },
    { "remove", core_builder_remove_attribute, METH_VARARGS, "(id, name)" },
    { "get", core_builder_get_attribute, METH_VARARGS, "(id, name, kind or 0) -> (kind, value)" },
    { "attributes", core_builder_attribute_names, METH_VARARGS, "(id) -> names" },
    { "property", property, METH_VARARGS, "(key, value or None)" },
    { "variable_settings", variable_settings, METH_VARARGS, "(id, group, size, retrieval)" },
    { "input_settings", input_settings, METH_VARARGS, "(id, tile set, exchange, stream mode)" },
    { "replication_factor", replication_factor, METH_VARARGS, "(factor)" },
    { "name", name_of, METH_VARARGS, "(id) -> name or None" },
    { "find", find, METH_VARARGS, "(name) -> id or 0" },
    { "type", type_of, METH_VARARGS, "(id) -> (dtype, dims or None)" },
    { "is_initializer", is_initializer, METH_VARARGS, "(id) -> bool" },
    { "list", list_ids, METH_VARARGS, "(list) -> ids" },
    { "save_externally", save_externally, METH_VARARGS, "(ids, path)" },
    { "finish", finish, METH_NOARGS, "() -> Model" },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, (void *)new_builder },
    { Py_tp_dealloc, (void *)core_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

PyType_Spec core_builder_spec = { "poprt._core.Builder", sizeof(core_handle), 0, Py_TPFLAGS_DEFAULT,
    slots };
