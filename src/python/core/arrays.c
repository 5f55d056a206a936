/* SPDX-License-Identifier: MIT */
/* Arrays: memory of Python objects as tensors of the library, and results as new numpy arrays. */
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes of buffers are used as they are");

/* Type of an integer of `bytes` bytes, signed or not. */
static int32_t integer_type(Py_ssize_t bytes, int is_signed)
{
    switch (bytes) {
    case 1:
        return is_signed ? POPRT_DTYPE_INT8 : POPRT_DTYPE_UINT8;
    case 2:
        return is_signed ? POPRT_DTYPE_INT16 : POPRT_DTYPE_UINT16;
    case 4:
        return is_signed ? POPRT_DTYPE_INT32 : POPRT_DTYPE_UINT32;
    case 8:
        return is_signed ? POPRT_DTYPE_INT64 : POPRT_DTYPE_UINT64;
    default:
        return POPRT_DTYPE_UNDEFINED;
    }
}

/* Element type of a buffer's format; POPRT_DTYPE_UNDEFINED: none of the library. */
static int32_t format_type(const char *format, Py_ssize_t bytes)
{
    if (format == NULL)
        return POPRT_DTYPE_UINT8;
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    if (format[0] == 'Z' && format[1] != 0 && format[2] == 0)
        return format[1] == 'f' ? POPRT_DTYPE_COMPLEX64
            : format[1] == 'd'  ? POPRT_DTYPE_COMPLEX128
                                : POPRT_DTYPE_UNDEFINED;
    if (format[0] == 0 || format[1] != 0)
        return POPRT_DTYPE_UNDEFINED;
    switch (*format) {
    case 'f':
        return POPRT_DTYPE_FLOAT32;
    case 'd':
        return POPRT_DTYPE_FLOAT64;
    case 'e':
        return POPRT_DTYPE_FLOAT16;
    case '?':
        return POPRT_DTYPE_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
        return integer_type(bytes, 1);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
        return integer_type(bytes, 0);
    default:
        return POPRT_DTYPE_UNDEFINED;
    }
}

/* ---- Tensor: an element type and a shape over a buffer of bytes, or strings */

typedef struct core_tensor {
    PyObject_HEAD Py_buffer view;
    PyObject *strings; /* tuple of bytes, or NULL */
    poprt_string *items;
    int64_t *dims;
    poprt_tensor value;
} core_tensor;

static void free_tensor(PyObject *self)
{
    core_tensor *tensor = (core_tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (tensor->view.obj != NULL)
        PyBuffer_Release(&tensor->view);
    Py_XDECREF(tensor->strings);
    PyMem_Free(tensor->items);
    PyMem_Free(tensor->dims);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Reads the shape; returns the number of elements, or -1. */
static int64_t take_shape(core_tensor *tensor, PyObject *shape)
{
    const Py_ssize_t rank = PySequence_Size(shape);
    if (rank < 0)
        return -1;
    tensor->dims = PyMem_Malloc((size_t)(rank + 1) * sizeof(int64_t));
    if (tensor->dims == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    const int taken = core_ints(shape, (uint32_t)rank, tensor->dims);
    if (taken != rank) {
        if (taken >= 0)
            PyErr_SetString(PyExc_ValueError, "the shape changed while it was read");
        return -1;
    }
    int64_t n = 1;
    for (Py_ssize_t i = 0; i < rank; i++) {
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(n, tensor->dims[i], &n)) {
            PyErr_SetString(PyExc_ValueError, "dimensions of a tensor are numbers from 0");
            return -1;
        }
    }
    tensor->value.rank = (uint32_t)rank;
    tensor->value.dims = tensor->dims;
    return n;
}

static int take_strings(core_tensor *tensor, int64_t n)
{
    if (PyTuple_Size(tensor->strings) != n) {
        PyErr_Format(PyExc_ValueError, "the shape has %lld elements, the list %zd", (long long)n,
            PyTuple_Size(tensor->strings));
        return -1;
    }
    tensor->items = PyMem_Calloc((size_t)n + 1, sizeof(poprt_string));
    if (tensor->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        char *data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(tensor->strings, i), &data, &size) != 0)
            return -1;
        tensor->items[i] = (poprt_string){ data, (size_t)size };
    }
    tensor->value.data = tensor->items;
    tensor->value.size = (size_t)n * sizeof(poprt_string);
    return 0;
}

/* Whether `n` elements of a type have as many bytes as the buffer of a Tensor. */
static int fits(const core_tensor *tensor, int64_t n)
{
    const size_t bits = poprt_dtype_bits(tensor->value.dtype);
    size_t total;
    return bits > 0 && !__builtin_mul_overflow((size_t)n, bits, &total) &&
        total / 8 + (total % 8 != 0) == (size_t)tensor->view.len;
}

/* Tensor(source, dtype, shape): a buffer of bytes, or for strings a list of bytes. */
static PyObject *new_tensor(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    PyObject *source, *shape;
    int dtype;
    if (!PyArg_ParseTuple(args, "OiO", &source, &dtype, &shape))
        return NULL;
    core_tensor *tensor = (core_tensor *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (tensor == NULL)
        return NULL;
    const int64_t n = take_shape(tensor, shape);
    int bad = n < 0;
    tensor->value.dtype = dtype;
    if (!bad && dtype == POPRT_DTYPE_STRING) {
        bad = !PyList_Check(source);
        if (bad)
            PyErr_SetString(PyExc_TypeError, "a tensor of strings needs a list of bytes");
        tensor->strings = bad ? NULL : PyList_AsTuple(source);
        bad = tensor->strings == NULL || take_strings(tensor, n) != 0;
    } else if (!bad) {
        bad = PyObject_GetBuffer(source, &tensor->view, PyBUF_SIMPLE) != 0;
        if (!bad && !fits(tensor, n)) {
            PyErr_Format(PyExc_ValueError, "%lld elements of %s do not fit %zd bytes", (long long)n,
                poprt_dtype_name(dtype), tensor->view.len);
            bad = 1;
        }
        if (!bad) {
            tensor->value.data = tensor->view.buf;
            tensor->value.size = (size_t)tensor->view.len;
        }
    }
    if (bad)
        Py_CLEAR(tensor);
    return (PyObject *)tensor;
}

static PyType_Slot tensor_slots[] = {
    { Py_tp_new, (void *)new_tensor },
    { Py_tp_dealloc, (void *)free_tensor },
    { Py_tp_doc, (void *)"Tensor(source, dtype, shape): bytes, or a list of bytes, as a tensor." },
    { 0, NULL },
};

PyType_Spec core_tensor_spec = { "poprt._core.Tensor", sizeof(core_tensor), 0, Py_TPFLAGS_DEFAULT,
    tensor_slots };

/* ---- arrays in */

static int take_tensor(PyObject *object, int writable, const char *name, core_array *out)
{
    const core_tensor *tensor = (const core_tensor *)object;
    if (writable && (tensor->strings != NULL || tensor->view.readonly)) {
        PyErr_Format(PyExc_TypeError, "%s: results cannot be written into a Tensor of %s", name,
            tensor->strings != NULL ? "strings" : "read-only memory");
        return -1;
    }
    Py_INCREF(object);
    out->tensor = object;
    out->view.obj = NULL;
    out->value = tensor->value;
    return 0;
}

/* Takes a buffer as it is. Returns 0, -1 (an exception is set), or 1: not possible. */
static int take_buffer(core_state *state, PyObject *object, int writable, const char *name,
    core_array *out)
{
    const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &out->view, flags) != 0) {
        out->view.obj = NULL;
        if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return -1;
        PyErr_Clear();
        return 1;
    }
    const char *format = out->view.format;
    const int32_t dtype = format_type(format, out->view.itemsize);
    if (dtype == POPRT_DTYPE_UNDEFINED) {
        const int swapped = format != NULL && (*format == '>' || *format == '!');
        PyBuffer_Release(&out->view);
        out->view.obj = NULL;
        if (!swapped)
            return 1;
        core_refuse(state, POPRT_E_TYPE, name,
            "the array has the byte order of another machine; use array.astype(dtype.newbyteorder"
            "('='))");
        return -1;
    }
    out->tensor = NULL;
    out->value = (poprt_tensor){ out->view.buf, (size_t)out->view.len,
        (const int64_t *)out->view.shape, (uint32_t)out->view.ndim, dtype };
    return 0;
}

int core_array_take(core_state *state, PyObject *object, int writable, const char *name,
    core_array *out)
{
    int taken = 1;
    if (PyObject_CheckBuffer(object))
        taken = take_buffer(state, object, writable, name, out);
    if (taken <= 0)
        return taken;
    if (Py_TYPE(object) == state->types[CORE_TENSOR])
        return take_tensor(object, writable, name, out);
    PyObject *array = PyObject_CallFunction(state->convert, "Oiy", object, writable, name);
    if (array == NULL)
        return -1;
    if (Py_TYPE(array) == state->types[CORE_TENSOR]) {
        taken = take_tensor(array, writable, name, out);
    } else {
        taken = take_buffer(state, array, writable, name, out);
        if (taken > 0)
            PyErr_Format(PyExc_TypeError, "%s: an array of this type cannot be used", name);
    }
    Py_DECREF(array); /* the buffer holds it */
    return taken == 0 ? 0 : -1;
}

void core_array_drop(core_array *array)
{
    if (array->view.obj != NULL)
        PyBuffer_Release(&array->view);
    array->view.obj = NULL;
    Py_CLEAR(array->tensor);
}

/* ---- arrays out */

PyObject *core_dims(uint32_t rank, const int64_t *dims)
{
    PyObject *tuple = PyTuple_New(rank);
    for (uint32_t i = 0; i < rank && tuple != NULL; i++) {
        PyObject *dim = PyLong_FromLongLong(dims[i]);
        if (dim == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, dim);
    }
    return tuple;
}

int core_ints(PyObject *sequence, uint32_t most, int64_t *out)
{
    const Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0)
        return -1;
    if (n > (Py_ssize_t)most) {
        PyErr_Format(PyExc_ValueError, "%zd numbers; at most %u are possible", n, (unsigned)most);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        if (item == NULL)
            return -1;
        PyObject *number = PyNumber_Index(item);
        Py_DECREF(item);
        if (number == NULL)
            return -1;
        out[i] = PyLong_AsLongLong(number);
        Py_DECREF(number);
        if (out[i] == -1 && PyErr_Occurred() != NULL)
            return -1;
    }
    return (int)n;
}

/* Bytes, or for strings a list of bytes, for the hook that makes arrays of special types. */
static PyObject *contents(const poprt_tensor *tensor)
{
    if (tensor->dtype != POPRT_DTYPE_STRING)
        return PyBytes_FromStringAndSize(tensor->data, (Py_ssize_t)tensor->size);
    int64_t n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        n *= tensor->dims[i];
    const poprt_string *items = tensor->data;
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; i < n && list != NULL; i++) {
        PyObject *item = PyBytes_FromStringAndSize(items[i].data, (Py_ssize_t)items[i].size);
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, item);
    }
    return list;
}

PyObject *core_array_copy(core_state *state, const poprt_tensor *tensor)
{
    PyObject *dims = core_dims(tensor->rank, tensor->dims);
    PyObject *dtype = tensor->dtype < PyTuple_Size(state->dtypes)
        ? PyTuple_GetItem(state->dtypes, tensor->dtype)
        : Py_None;
    PyObject *array = NULL;
    if (dims != NULL && dtype == Py_None) {
        PyObject *bytes = contents(tensor);
        if (bytes != NULL)
            array = PyObject_CallFunction(state->wrap, "NiO", bytes, (int)tensor->dtype, dims);
    } else if (dims != NULL) {
        array = PyObject_CallFunctionObjArgs(state->empty, dims, dtype, NULL);
        Py_buffer view;
        if (array != NULL && PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) == 0) {
            if (view.len > 0)
                memcpy(view.buf, tensor->data, (size_t)view.len);
            PyBuffer_Release(&view);
        } else {
            Py_CLEAR(array);
        }
    }
    Py_XDECREF(dims);
    return array;
}
