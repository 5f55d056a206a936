/* SPDX-License-Identifier: MIT */
/* What builder.c and builder_ops.c share. */
#ifndef PRT_PYTHON_CORE_BUILDER_H
#define PRT_PYTHON_CORE_BUILDER_H

#include "python/core/core.h"

/* Raises the failure of a call, and undoes it, so that the builder can be used on. */
PyObject *core_builder_fail(PyObject *self, poprt_status status);
/* Reads a list of ids. Returns 0, or -1: raised. */
int core_builder_ids(PyObject *list, poprt_id *out);

/* Methods of Builder that are not in builder.c. */
PyObject *core_builder_op(PyObject *self, PyObject *args);
PyObject *core_builder_checkpoint(PyObject *self, PyObject *args);
PyObject *core_builder_push_name(PyObject *self, PyObject *args);
PyObject *core_builder_push(PyObject *self, PyObject *args);
PyObject *core_builder_pop(PyObject *self, PyObject *args);
PyObject *core_builder_set_location(PyObject *self, PyObject *args);
PyObject *core_builder_set_attribute(PyObject *self, PyObject *args);
PyObject *core_builder_remove_attribute(PyObject *self, PyObject *args);
PyObject *core_builder_get_attribute(PyObject *self, PyObject *args);
PyObject *core_builder_attribute_names(PyObject *self, PyObject *args);

#endif
