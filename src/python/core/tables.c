/* SPDX-License-Identifier: MIT */
/* Tables of the library: options, passes, patterns, element types, replica groupings. */
#include "python/core/core.h"

/* Appends a new item to a list, which the function takes; clears the list on failure. */
static void append(PyObject **list, PyObject *item)
{
    if (item == NULL || PyList_Append(*list, item) != 0)
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

static PyObject *list_options(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    poprt_option_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_config_option_at(i, &info) == POPRT_OK; i++)
        append(&list,
            Py_BuildValue("(sssiLL)", info.key, info.help, info.default_value, (int)info.type,
                (long long)info.min, (long long)info.max));
    return list;
}

static PyObject *list_names(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    poprt_option_name info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_config_name_at(i, &info) == POPRT_OK; i++)
        append(&list,
            Py_BuildValue("(sszssi)", info.name, info.system, info.key, info.default_value,
                info.help, (int)info.effect));
    return list;
}

static PyObject *list_passes(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    poprt_pass_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_pass_at(i, &info) == POPRT_OK; i++)
        append(&list,
            Py_BuildValue("(sssdd)", info.name, info.help, info.since, info.bound, info.typical));
    return list;
}

static PyObject *list_pass_options(PyObject *module, PyObject *args)
{
    (void)module;
    const char *pass;
    if (!PyArg_ParseTuple(args, "s", &pass))
        return NULL;
    PyObject *list = PyList_New(0);
    poprt_pass_option_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_pass_option_at(pass, i, &info) == POPRT_OK; i++)
        append(&list, Py_BuildValue("(ssss)", info.name, info.kind, info.default_value, info.help));
    return list;
}

static PyObject *list_patterns(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    poprt_pattern_info info = { .struct_size = sizeof info };
    for (size_t i = 0; list != NULL && poprt_pattern_at(i, &info) == POPRT_OK; i++)
        append(&list,
            Py_BuildValue("(sssii)", info.name, info.passes, info.help, (int)info.initial,
                (int)info.mandatory));
    return list;
}

static PyObject *list_log_modules(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < poprt_log_module_count(); i++)
        append(&list, PyUnicode_FromString(poprt_log_module_name(i)));
    return list;
}

static PyObject *dtype_name(PyObject *module, PyObject *args)
{
    (void)module;
    int dtype;
    if (!PyArg_ParseTuple(args, "i", &dtype))
        return NULL;
    return PyUnicode_FromString(poprt_dtype_name(dtype));
}

static PyObject *dtype_bits(PyObject *module, PyObject *args)
{
    (void)module;
    int dtype;
    if (!PyArg_ParseTuple(args, "i", &dtype))
        return NULL;
    return PyLong_FromUnsignedLong(poprt_dtype_bits(dtype));
}

PyMethodDef core_table_methods[] = {
    { "options", list_options, METH_NOARGS, "() -> [(key, help, default, type, min, max)]" },
    { "option_names", list_names, METH_NOARGS,
        "() -> [(name, system, key or None, default, help, effect)]" },
    { "passes", list_passes, METH_NOARGS, "() -> [(name, help, since, bound, typical)]" },
    { "pass_options", list_pass_options, METH_VARARGS, "(pass) -> [(name, kind, default, help)]" },
    { "patterns", list_patterns, METH_NOARGS, "() -> [(name, passes, help, initial, mandatory)]" },
    { "log_modules", list_log_modules, METH_NOARGS, "() -> names" },
    { "dtype_name", dtype_name, METH_VARARGS, "(dtype) -> name" },
    { "dtype_bits", dtype_bits, METH_VARARGS, "(dtype) -> bits of an element" },
    { NULL, NULL, 0, NULL },
};
