/* SPDX-License-Identifier: MIT */
/*
 * The extension module poprt._core: objects for the handles of libpoprt. It reaches the library
 * only through include/poprt. Its functions take positional arguments and know nothing of PopRT or
 * PopART; the packages above it, in Python, make their classes from it.
 *
 * Threads. Handles that one thread at a time may use are marked busy while a call on them has
 * released the GIL, and a second call on them raises poprt.StateError. Sessions have a lock.
 */
#ifndef PRT_PYTHON_CORE_CORE_H
#define PRT_PYTHON_CORE_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "poprt/builder.h"
#include "poprt/custom.h"
#include "poprt/poprt.h"
#include "poprt/train.h"

/* Types of the module. */
enum core_type {
    CORE_ENV,
    CORE_CONFIG,
    CORE_MODEL,
    CORE_PASSES,
    CORE_EXECUTABLE,
    CORE_SESSION,
    CORE_STEPIO,
    CORE_BUILDER,
    CORE_FLOW,
    CORE_OPTIMIZER,
    CORE_WEIGHTS,
    CORE_TRACE,
    CORE_RUNNER,
    CORE_REQUEST,
    CORE_TENSOR,
    CORE_TYPES
};

/* Counters since the module was loaded. */
enum core_counter {
    CORE_MODELS_READ,
    CORE_MODELS_BUILT,
    CORE_NODES_BUILT,
    CORE_PASSES_RUN,
    CORE_COMPILATIONS,
    CORE_EXECUTABLES_READ,
    CORE_SESSIONS,
    CORE_RUNS,
    CORE_COUNTERS
};

/* State of the module in one interpreter. The hooks are functions of the package poprt. */
typedef struct core_state {
    PyTypeObject *types[CORE_TYPES];
    PyObject *make_error; /* (status, stage, file, subject, message, location) -> exception */
    PyObject *convert;    /* object without a usable buffer -> array or Tensor */
    PyObject *wrap;       /* (bytes or list, dtype, shape) -> array of a type without a buffer */
    PyObject *empty;      /* numpy.empty */
    PyObject *dtypes;     /* tuple: numpy.dtype or None for each POPRT_DTYPE_* */
    uint64_t counters[CORE_COUNTERS];
} core_state;

/* An object that owns a handle of the library. */
typedef struct core_handle {
    PyObject_HEAD void *handle; /* NULL: closed */
    PyObject *keep;             /* object that must outlive the handle, or NULL */
    void (*release)(void *);
    int busy;  /* a call without the GIL uses the handle alone */
    int users; /* calls without the GIL, and objects, that read the handle: it cannot be closed */
} core_handle;

core_state *core_state_of(PyObject *self);

/* Raises the exception of the last failure, and returns NULL. An exception that is set already,
 * such as of a callback, stays. */
PyObject *core_fail(core_state *state, poprt_status status);

/* Raises the exception of a mistake that the extension itself finds; returns NULL. */
PyObject *core_refuse(core_state *state, poprt_status status, const char *subject,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Makes an object of a type, which owns `handle`. After a failure the handle is released, and the
 * function returns NULL. */
PyObject *core_wrap(core_state *state, enum core_type type, void *handle, PyObject *keep,
    void (*release)(void *));

/* Returns the handle of an object of a type. Raises and returns NULL if the object has another
 * type, is closed, or is in use by another thread. */
void *core_handle_of(core_state *state, PyObject *object, enum core_type type);
/* As core_handle_of; None stands for no handle: *out is NULL, and the function returns 0. */
int core_optional(core_state *state, PyObject *object, enum core_type type, void **out);
void *core_self(PyObject *self);

/* Marks handles as busy, and releases the GIL; the second does the opposite. */
#define CORE_BEGIN(object)                                                                         \
    {                                                                                              \
        core_handle *const core_busy = (core_handle *)(object);                                    \
        core_busy->busy = 1;                                                                       \
        PyThreadState *const core_thread = PyEval_SaveThread();
#define CORE_END                                                                                   \
    PyEval_RestoreThread(core_thread);                                                             \
    core_busy->busy = 0;                                                                           \
    }

/* Counts a user of the handle of an object, or ends one. None and NULL stand for no handle. */
void core_use(PyObject *object);
void core_unuse(PyObject *object);

#define CORE_CHECK(state, status)                                                                  \
    do {                                                                                           \
        const poprt_status core_status = (status);                                                 \
        if (core_status != POPRT_OK)                                                               \
            return core_fail(state, core_status);                                                  \
    } while (0)

/* Functions of types of core_handle: the end of an object, its method close, and the refusal of a
 * call of its type. */
void core_free(PyObject *self);
PyObject *core_close(PyObject *self, PyObject *args);
PyObject *core_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
#define CORE_CLOSE                                                                                 \
    {                                                                                              \
        "close", core_close, METH_NOARGS, "() releases the handle"                                 \
    }

/* ---- bytes that the library writes */

typedef struct core_sink {
    char *data;
    size_t size, capacity;
    int failed;
} core_sink;

int32_t core_sink_write(void *user, const void *bytes, size_t size);
/* Return bytes or a text, and free the sink; raise if `status` is a failure. */
PyObject *core_sink_bytes(core_state *state, core_sink *sink, poprt_status status);
PyObject *core_sink_text(core_state *state, core_sink *sink, poprt_status status);

/* ---- arrays */

/* A tensor whose memory belongs to a Python object. */
typedef struct core_array {
    Py_buffer view;
    PyObject *tensor; /* a Tensor whose memory it is, or NULL */
    poprt_tensor value;
} core_array;

/* Takes the memory of an array, or of a copy if the array is not contiguous. With `writable` there
 * is no copy: the array's own memory, or an exception. `name` is for messages. */
int core_array_take(core_state *state, PyObject *object, int writable, const char *name,
    core_array *out);
void core_array_drop(core_array *array);

/* Returns a new array with the contents of a tensor. */
PyObject *core_array_copy(core_state *state, const poprt_tensor *tensor);
/* Returns (dims) as a tuple. */
PyObject *core_dims(uint32_t rank, const int64_t *dims);
/* Reads a sequence of at most `most` integers; -1: raised. */
int core_ints(PyObject *sequence, uint32_t most, int64_t *out);

extern PyType_Spec core_tensor_spec;

/* ---- types, each with the functions that make it */

extern PyType_Spec core_env_spec, core_config_spec, core_model_spec, core_passes_spec,
    core_executable_spec, core_session_spec, core_stepio_spec, core_builder_spec, core_flow_spec,
    core_optimizer_spec, core_weights_spec, core_trace_spec, core_runner_spec, core_request_spec;

/* Description of an input or output: (name, value kind, dtype, dims or None, names of dims, item
 * kind, dtype of keys, graph). */
PyObject *core_io(const poprt_io_info *info);
/* Metadata as a dict. */
PyObject *core_info(const poprt_model_info *info);
poprt_model_info core_info_size(void);

/* ---- functions of the program that the library calls (custom.c) */

/* Functions of an environment. */
typedef struct core_custom core_custom;

/* Methods of Env: set_infer(fn), add_model_pass(name, help, fn). `custom` is the place of the list
 * that belongs to the object. */
PyObject *core_set_infer(PyObject *self, PyObject *args, core_custom **custom);
PyObject *core_add_model_pass(PyObject *self, PyObject *args, core_custom **custom);
/* Frees the list, after the environment. */
void core_custom_free(core_custom *custom);
/* Method of Model: replace(bytes). */
PyObject *core_model_replace(PyObject *self, PyObject *args);

/* custom.c: adds functions of Python to an environment that no object has: an entry of the list is
 * for poprt_env_set_infer (`name` NULL), or a pass. */
poprt_status core_custom_add(core_state *state, poprt_env *env, const char *name, const char *help,
    PyObject *fn, core_custom **list);

/* Function of the module that runs the command line. */
extern PyMethodDef core_tool_methods[];

/* Functions of the module that read tables of the library. */
extern PyMethodDef core_table_methods[];
/* Functions of the module on blobs of PopEF files. */
extern PyMethodDef core_popef_methods[];

#endif
