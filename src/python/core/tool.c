/* SPDX-License-Identifier: MIT */
/* The command line as a function of the module. */
#include "python/core/core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/dispatch.h"

/* A call of the command line. */
struct call {
    core_state *state;
    PyObject *load;      /* path -> ([(name, help, function)], shape function or None) */
    core_custom *custom; /* functions of Python that the environment has */
    int64_t next_check;  /* time in ns of the next look at signals */
};

/* Adds what a file registered, and what the environment does not have yet. */
static int add_functions(struct call *call, poprt_env *env, PyObject *loaded)
{
    PyObject *passes, *infer;
    if (!PyArg_ParseTuple(loaded, "OO", &passes, &infer) || !PyList_Check(passes))
        return -1;
    for (Py_ssize_t i = 0; i < PyList_Size(passes); i++) {
        const char *name, *help;
        PyObject *fn;
        if (!PyArg_ParseTuple(PyList_GetItem(passes, i), "ssO", &name, &help, &fn))
            return -1;
        const poprt_status status =
            core_custom_add(call->state, env, name, help, fn, &call->custom);
        if (status != POPRT_OK) {
            core_fail(call->state, status);
            return -1;
        }
    }
    if (infer == Py_None)
        return 0;
    const poprt_status status = core_custom_add(call->state, env, NULL, NULL, infer, &call->custom);
    if (status != POPRT_OK)
        core_fail(call->state, status);
    return status == POPRT_OK ? 0 : -1;
}

static poprt_status load_script(void *user, poprt_env *env, const char *path)
{
    struct call *call = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *loaded =
        PyErr_Occurred() != NULL ? NULL : PyObject_CallFunction(call->load, "s", path);
    const int bad = loaded == NULL || add_functions(call, env, loaded) != 0;
    Py_XDECREF(loaded);
    PyGILState_Release(gil);
    return bad ? POPRT_E_PLUGIN : POPRT_OK;
}

/* Looks at signals twenty times a second. */
static bool stops(void *user)
{
    struct call *call = user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (ns < call->next_check)
        return false;
    call->next_check = ns + 50000000;
    const PyGILState_STATE gil = PyGILState_Ensure();
    const bool stop = PyErr_Occurred() != NULL || PyErr_CheckSignals() != 0;
    PyGILState_Release(gil);
    return stop;
}

/* Copies the texts of a list, which the tool may reorder; NULL: raised. */
static char **copy_texts(PyObject *list, int *count)
{
    const Py_ssize_t n = PyList_Size(list);
    char **argv = PyMem_Calloc((size_t)n + 1, sizeof *argv);
    if (argv == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; argv != NULL && i < n; i++) {
        PyObject *bytes = NULL;
        if (PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes) == 0)
            break;
        argv[i] = strdup(PyBytes_AsString(bytes));
        Py_DECREF(bytes);
        *count = (int)i + 1;
    }
    return argv;
}

/* tool(arguments, load) -> exit code */
static PyObject *run_tool(PyObject *module, PyObject *args)
{
    PyObject *list;
    struct call call = { .state = PyModule_GetState(module) };
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &call.load))
        return NULL;
    const prt_tool_host host = { .user = &call, .load_script = load_script, .stops = stops };
    int argc = 0, code = 1;
    char **argv = copy_texts(list, &argc);
    if (PyErr_Occurred() == NULL && argc > 0) {
        char **line = PyMem_Calloc((size_t)argc + 1, sizeof *line);
        for (int i = 0; line != NULL && i < argc; i++)
            line[i] = argv[i];
        if (line == NULL) {
            PyErr_NoMemory();
        } else {
            Py_BEGIN_ALLOW_THREADS code = prt_dispatch(argc, line, &host);
            Py_END_ALLOW_THREADS
        }
        PyMem_Free(line);
    }
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    PyMem_Free(argv);
    core_custom_free(call.custom);
    return PyErr_Occurred() != NULL ? NULL : PyLong_FromLong(code);
}

PyMethodDef core_tool_methods[] = {
    { "tool", run_tool, METH_VARARGS, "(arguments, load) -> exit code" },
    { NULL, NULL, 0, NULL },
};
