/* SPDX-License-Identifier: MIT */
/* Functions of the module on the blobs of PopEF files. */
#include "python/core/core.h"

#include "poprt/popef.h"

/* Lists the blobs; payloads of tensors and feeds only on request. */
static PyObject *list_blobs(core_state *state, const poprt_popef *file, int payloads)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < poprt_popef_count(file); i++) {
        poprt_popef_blob b = { .struct_size = sizeof b };
        if (poprt_popef_at(file, i, &b) != POPRT_OK) {
            Py_DECREF(list);
            return core_fail(state, POPRT_E_STATE);
        }
        const int wanted = payloads || (b.type != POPRT_POPEF_TENSOR && b.type != POPRT_POPEF_FEED);
        PyObject *payload = wanted
            ? PyBytes_FromStringAndSize(b.payload, (Py_ssize_t)b.payload_size)
            : Py_NewRef(Py_None);
        PyObject *item = payload == NULL
            ? NULL
            : Py_BuildValue("(iss#KKKnN)", (int)b.type, b.version, b.descriptor,
                  (Py_ssize_t)b.descriptor_size, (unsigned long long)b.offset,
                  (unsigned long long)b.size, (unsigned long long)b.payload_offset,
                  (Py_ssize_t)b.payload_size, payload);
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* popef_file(path, verify, payloads) -> [(type, version, descriptor, offset, size, offset of the
 * payload, its size, payload or None)] */
static PyObject *popef_file(PyObject *module, PyObject *args)
{
    const char *path;
    int verify, payloads;
    core_state *state = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "spp", &path, &verify, &payloads))
        return NULL;
    poprt_popef *file;
    CORE_CHECK(state, poprt_popef_open_file(path, verify, &file));
    PyObject *list = list_blobs(state, file, payloads);
    poprt_popef_release(file);
    return list;
}

/* popef_bytes(bytes, verify, payloads): the same */
static PyObject *popef_bytes(PyObject *module, PyObject *args)
{
    Py_buffer bytes;
    int verify, payloads;
    core_state *state = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "y*pp", &bytes, &verify, &payloads))
        return NULL;
    poprt_popef *file;
    PyObject *list = NULL;
    const poprt_status status = poprt_popef_open_bytes(bytes.buf, (size_t)bytes.len, verify, &file);
    if (status != POPRT_OK) {
        core_fail(state, status);
    } else {
        list = list_blobs(state, file, payloads);
        poprt_popef_release(file);
    }
    PyBuffer_Release(&bytes);
    return list;
}

/* popef_blob(type, descriptor, payload, offset) -> bytes */
static PyObject *popef_blob(PyObject *module, PyObject *args)
{
    Py_buffer payload;
    int type;
    const char *descriptor;
    Py_ssize_t size;
    unsigned long long offset;
    core_state *state = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "is#y*K", &type, &descriptor, &size, &payload, &offset))
        return NULL;
    const poprt_popef_blob blob = { .struct_size = sizeof blob,
        .type = type,
        .descriptor = descriptor,
        .descriptor_size = (size_t)size,
        .payload = payload.buf,
        .payload_size = (size_t)payload.len,
        .offset = offset };
    core_sink sink = { 0 };
    const poprt_status status = poprt_popef_write(&blob, core_sink_write, &sink);
    PyBuffer_Release(&payload);
    return core_sink_bytes(state, &sink, status);
}

PyMethodDef core_popef_methods[] = {
    { "popef_file", popef_file, METH_VARARGS, "(path, verify, payloads) -> blobs" },
    { "popef_bytes", popef_bytes, METH_VARARGS, "(bytes, verify, payloads) -> blobs" },
    { "popef_blob", popef_blob, METH_VARARGS, "(type, descriptor, payload, offset) -> bytes" },
    { NULL, NULL, 0, NULL },
};
