/* SPDX-License-Identifier: MIT */
/* Builder: operators, their attributes, and scopes. */
#include "python/core/builder.h"

/* ---- attributes */

/* An attribute, and what holds its value. */
typedef struct attribute {
    poprt_attr attr;
    void *memory;
    core_array array;
    poprt_type type;
} attribute;

static int take_list(PyObject *list, attribute *a, size_t item)
{
    const Py_ssize_t n = PySequence_Size(list);
    if (n < 0)
        return -1;
    a->memory = PyMem_Calloc((size_t)n + 1, item);
    if (a->memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    a->attr.count = (uint32_t)n;
    return 0;
}

static int take_floats(PyObject *list, attribute *a)
{
    if (take_list(list, a, sizeof(float)) != 0)
        return -1;
    float *values = a->memory;
    for (uint32_t i = 0; i < a->attr.count; i++) {
        PyObject *item = PySequence_GetItem(list, (Py_ssize_t)i);
        values[i] = item == NULL ? 0.0f : (float)PyFloat_AsDouble(item);
        Py_XDECREF(item);
        if (PyErr_Occurred() != NULL)
            return -1;
    }
    a->attr.floats = values;
    return 0;
}

/* Texts are bytes, in a list that the caller keeps. */
static int take_strings(PyObject *list, attribute *a)
{
    if (take_list(list, a, sizeof(poprt_string)) != 0)
        return -1;
    poprt_string *values = a->memory;
    if (!PyList_Check(list)) {
        PyErr_Format(PyExc_TypeError, "%s: texts are a list of bytes", a->attr.name);
        return -1;
    }
    for (uint32_t i = 0; i < a->attr.count; i++) {
        char *data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyList_GetItem(list, (Py_ssize_t)i), &data, &size) != 0)
            return -1;
        values[i] = (poprt_string){ data, (size_t)size };
    }
    a->attr = poprt_attr_strings(a->attr.name, values, a->attr.count);
    return 0;
}

/* Reads (name, kind, value). Returns 0, or -1: raised. */
static int take_attribute(core_state *state, PyObject *tuple, attribute *a)
{
    PyObject *value;
    const char *name;
    int kind;
    if (!PyArg_ParseTuple(tuple, "siO", &name, &kind, &value))
        return -1;
    a->attr = poprt_attr_of(name, kind, 0, NULL);
    char *text;
    Py_ssize_t size;
    switch (kind) {
    case POPRT_ATTR_INT:
        a->attr.integer = PyLong_AsLongLong(value);
        break;
    case POPRT_ATTR_FLOAT:
        a->attr.real = (float)PyFloat_AsDouble(value);
        break;
    case POPRT_ATTR_STRING:
        if (PyBytes_AsStringAndSize(value, &text, &size) != 0)
            return -1;
        a->attr = poprt_attr_of(name, kind, (uint32_t)size, text);
        break;
    case POPRT_ATTR_INTS:
        if (take_list(value, a, sizeof(int64_t)) != 0 ||
            core_ints(value, a->attr.count, a->memory) < 0)
            return -1;
        a->attr.ints = a->memory;
        break;
    case POPRT_ATTR_FLOATS:
        return take_floats(value, a);
    case POPRT_ATTR_STRINGS:
        return take_strings(value, a);
    case POPRT_ATTR_TENSOR:
        if (core_array_take(state, value, 0, name, &a->array) != 0)
            return -1;
        a->attr = poprt_attr_tensor(name, &a->array.value);
        break;
    case POPRT_ATTR_GRAPH: {
        const poprt_builder *graph = core_handle_of(state, value, CORE_BUILDER);
        if (graph == NULL)
            return -1;
        a->attr = poprt_attr_graph(name, graph);
        break;
    }
    default:
        PyErr_Format(PyExc_ValueError, "%s: no such kind of attribute", name);
    }
    return PyErr_Occurred() != NULL ? -1 : 0;
}

static void drop_attributes(attribute *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PyMem_Free(list[i].memory);
        core_array_drop(&list[i].array);
    }
    PyMem_Free(list);
}

/* ---- operators */

enum { MOST_INPUTS = 4096 };

typedef struct op_arguments {
    poprt_id *ids; /* inputs, then outputs */
    attribute *attributes;
    poprt_attr *attrs;
    const char **names;
} op_arguments;

static void drop_arguments(op_arguments *a, size_t n_attrs)
{
    PyMem_Free(a->ids);
    if (a->attributes != NULL)
        drop_attributes(a->attributes, n_attrs);
    PyMem_Free(a->attrs);
    PyMem_Free((void *)a->names);
}

int core_builder_ids(PyObject *list, poprt_id *out)
{
    const Py_ssize_t n = PyList_Size(list);
    for (Py_ssize_t i = 0; i < n; i++) {
        const unsigned long id = PyLong_AsUnsignedLong(PyList_GetItem(list, i));
        if (PyErr_Occurred() != NULL)
            return -1;
        out[i] = (poprt_id)id;
    }
    return 0;
}

/* `attrs` is a tuple. */
static int take_arguments(core_state *state, PyObject *inputs, PyObject *attrs, PyObject *names,
    size_t n_outputs, op_arguments *a)
{
    const size_t n_inputs = (size_t)PyList_Size(inputs), n_attrs = (size_t)PyTuple_Size(attrs);
    a->ids = PyMem_Calloc(n_inputs + n_outputs + 1, sizeof *a->ids);
    a->attributes = PyMem_Calloc(n_attrs + 1, sizeof *a->attributes);
    a->attrs = PyMem_Calloc(n_attrs + 1, sizeof *a->attrs);
    if (a->ids == NULL || a->attributes == NULL || a->attrs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (core_builder_ids(inputs, a->ids) != 0)
        return -1;
    for (size_t i = 0; i < n_attrs; i++) {
        if (take_attribute(state, PyTuple_GetItem(attrs, (Py_ssize_t)i), &a->attributes[i]) != 0)
            return -1;
        a->attrs[i] = a->attributes[i].attr;
    }
    if (names == Py_None)
        return 0;
    if (PyList_Size(names) != (Py_ssize_t)n_outputs) {
        PyErr_SetString(PyExc_ValueError, "a name for each output");
        return -1;
    }
    a->names = PyMem_Calloc(n_outputs + 1, sizeof *a->names);
    for (size_t i = 0; i < n_outputs && a->names != NULL; i++)
        a->names[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(names, (Py_ssize_t)i), NULL);
    return PyErr_Occurred() != NULL || a->names == NULL ? -1 : 0;
}

/* op(domain, type, inputs, attributes, n_outputs, name or None, output names or None): inputs is a
 * list of ids, attributes a list of (name, kind, value). Returns a tuple of ids. */
PyObject *core_builder_op(PyObject *self, PyObject *args)
{
    core_state *state = core_state_of(self);
    PyObject *inputs, *attrs, *names;
    const char *domain, *type, *name;
    unsigned n_outputs;
    poprt_builder *builder = core_self(self);
    if (builder == NULL ||
        !PyArg_ParseTuple(args, "ssO!O!IzO", &domain, &type, &PyList_Type, &inputs, &PyList_Type,
            &attrs, &n_outputs, &name, &names))
        return NULL;
    if (n_outputs > MOST_INPUTS || PyList_Size(inputs) > MOST_INPUTS)
        return core_refuse(state, POPRT_E_LIMIT, type, "more than %d inputs or outputs",
            MOST_INPUTS);
    PyObject *kept = PyList_AsTuple(attrs); /* the names and values stay while they are read */
    if (kept == NULL)
        return NULL;
    const size_t n_attrs = (size_t)PyTuple_Size(kept), n_inputs = (size_t)PyList_Size(inputs);
    op_arguments a = { 0 };
    PyObject *result = NULL;
    core_use(self); /* numbers may be objects of a program, which cannot close the builder */
    const int bad = take_arguments(state, inputs, kept, names, n_outputs, &a) != 0;
    core_unuse(self);
    if (!bad) {
        poprt_id *out = a.ids + n_inputs;
        poprt_builder_op_info info = { .struct_size = sizeof info };
        info.domain = domain;
        info.op_type = type;
        info.name = name;
        info.inputs = a.ids;
        info.attrs = a.attrs;
        info.output_names = a.names;
        info.n_inputs = (uint32_t)n_inputs;
        info.n_attrs = (uint32_t)n_attrs;
        info.n_outputs = n_outputs;
        poprt_builder_op(builder, &info, out);
        const poprt_status status = poprt_builder_status(builder);
        if (status == POPRT_OK) {
            state->counters[CORE_NODES_BUILT]++;
            result = PyTuple_New(n_outputs);
        } else {
            core_builder_fail(self, status);
        }
        for (unsigned i = 0; i < n_outputs && result != NULL; i++)
            PyTuple_SetItem(result, i, PyLong_FromUnsignedLong(out[i]));
    }
    drop_arguments(&a, n_attrs);
    Py_DECREF(kept);
    return result;
}

/* checkpoint(ids) -> ids */
PyObject *core_builder_checkpoint(PyObject *self, PyObject *args)
{
    PyObject *list;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &list) || (builder = core_self(self)) == NULL)
        return NULL;
    const size_t n = (size_t)PyList_Size(list);
    poprt_id *ids = PyMem_Calloc(2 * n + 1, sizeof *ids);
    if (ids == NULL)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    if (core_builder_ids(list, ids) == 0) {
        const poprt_status status = poprt_builder_checkpoint(builder, (uint32_t)n, ids, ids + n);
        if (status != POPRT_OK)
            core_builder_fail(self, status);
        else
            result = PyTuple_New((Py_ssize_t)n);
        for (size_t i = 0; i < n && result != NULL; i++)
            PyTuple_SetItem(result, (Py_ssize_t)i, PyLong_FromUnsignedLong(ids[n + i]));
    }
    PyMem_Free(ids);
    return result;
}

/* ---- scopes */

PyObject *core_builder_push_name(PyObject *self, PyObject *args)
{
    const char *name;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "s", &name) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_push_name(builder, name);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* A call with one attribute (name, kind, value), and a tensor where `set` is not NULL. */
static PyObject *with_attribute(PyObject *self, PyObject *tuple, unsigned id,
    poprt_status (*push)(poprt_builder *, const poprt_attr *),
    poprt_status (*set)(poprt_builder *, poprt_id, const poprt_attr *))
{
    poprt_builder *builder = core_self(self);
    attribute *a = PyMem_Calloc(1, sizeof *a);
    if (builder == NULL || a == NULL) {
        PyMem_Free(a);
        return builder == NULL ? NULL : PyErr_NoMemory();
    }
    poprt_status status = POPRT_OK;
    core_use(self);
    int bad = take_attribute(core_state_of(self), tuple, a) != 0;
    core_unuse(self);
    if (!bad) {
        status = push != NULL ? push(builder, &a->attr) : set(builder, id, &a->attr);
        bad = status != POPRT_OK;
        if (bad)
            core_builder_fail(self, status);
    }
    drop_attributes(a, 1);
    if (bad)
        return NULL;
    Py_RETURN_NONE;
}

PyObject *core_builder_push(PyObject *self, PyObject *args)
{
    PyObject *tuple;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &tuple))
        return NULL;
    return with_attribute(self, tuple, 0, poprt_builder_push, NULL);
}

PyObject *core_builder_pop(PyObject *self, PyObject *args)
{
    (void)args;
    poprt_builder *builder = core_self(self);
    if (builder == NULL)
        return NULL;
    const poprt_status status = poprt_builder_pop(builder);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

PyObject *core_builder_set_location(PyObject *self, PyObject *args)
{
    const char *file, *function;
    unsigned line;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "zIz", &file, &line, &function) ||
        (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_set_location(builder, file, line, function);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* ---- attributes of nodes */

PyObject *core_builder_set_attribute(PyObject *self, PyObject *args)
{
    PyObject *tuple;
    unsigned id;
    if (!PyArg_ParseTuple(args, "IO!", &id, &PyTuple_Type, &tuple))
        return NULL;
    return with_attribute(self, tuple, id, NULL, poprt_builder_set);
}

PyObject *core_builder_remove_attribute(PyObject *self, PyObject *args)
{
    unsigned id;
    const char *name;
    poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "Is", &id, &name) || (builder = core_self(self)) == NULL)
        return NULL;
    const poprt_status status = poprt_builder_remove(builder, id, name);
    if (status != POPRT_OK)
        return core_builder_fail(self, status);
    Py_RETURN_NONE;
}

/* Value of an attribute as an object of Python; None for kinds without contents. */
static PyObject *attribute_value(core_state *state, const poprt_attr *a)
{
    PyObject *list = NULL;
    switch (a->kind) {
    case POPRT_ATTR_INT:
        return PyLong_FromLongLong(a->integer);
    case POPRT_ATTR_FLOAT:
        return PyFloat_FromDouble((double)a->real);
    case POPRT_ATTR_STRING:
        return PyBytes_FromStringAndSize(a->string, (Py_ssize_t)a->count);
    case POPRT_ATTR_TENSOR:
        return core_array_copy(state, poprt_attr_object(a));
    case POPRT_ATTR_INTS:
    case POPRT_ATTR_FLOATS:
    case POPRT_ATTR_STRINGS:
        list = PyList_New((Py_ssize_t)a->count);
        break;
    default:
        Py_RETURN_NONE;
    }
    for (uint32_t i = 0; i < a->count && list != NULL; i++) {
        const poprt_string *text = poprt_attr_object(a);
        PyObject *item = a->kind == POPRT_ATTR_INTS ? PyLong_FromLongLong(a->ints[i])
            : a->kind == POPRT_ATTR_FLOATS
            ? PyFloat_FromDouble((double)a->floats[i])
            : PyBytes_FromStringAndSize(text[i].data, (Py_ssize_t)text[i].size);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

/* get(id, name, kind or 0) -> (kind, value) */
PyObject *core_builder_get_attribute(PyObject *self, PyObject *args)
{
    unsigned id;
    const char *name;
    int kind;
    poprt_attr attr;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "Isi", &id, &name, &kind) || (builder = core_self(self)) == NULL)
        return NULL;
    CORE_CHECK(core_state_of(self), poprt_builder_get(builder, id, name, kind, &attr));
    PyObject *value = attribute_value(core_state_of(self), &attr);
    return value == NULL ? NULL : Py_BuildValue("(iN)", (int)attr.kind, value);
}

PyObject *core_builder_attribute_names(PyObject *self, PyObject *args)
{
    unsigned id;
    const poprt_builder *builder;
    if (!PyArg_ParseTuple(args, "I", &id) || (builder = core_self(self)) == NULL)
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < poprt_builder_attr_count(builder, id); i++) {
        PyObject *name = PyUnicode_FromString(poprt_builder_attr_name(builder, id, i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}
