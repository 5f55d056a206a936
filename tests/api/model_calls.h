/* SPDX-License-Identifier: MIT */
/*
 * model_calls.h — the calls that take a model from its file to a result, one at a time, so that a
 * test can look at the thread around each.
 */
#ifndef PRT_TESTS_API_MODEL_CALLS_H
#define PRT_TESTS_API_MODEL_CALLS_H

#include <unistd.h>

#include "api_test.h"

typedef enum model_step {
    STEP_LOAD,
    STEP_CONVERT,
    STEP_SAVE_ONNX,
    STEP_COMPILE,
    STEP_SAVE,
    STEP_LOAD_POPEF,
    STEP_SESSION,
    STEP_RUN,
    STEPS
} model_step;

enum { MODEL_INPUTS = 128 }; /* the most inputs of a model */

/* A model that is read from `path`, or from `bytes` if `path` is NULL. */
typedef struct model_calls {
    const char *path;
    buffer bytes;
    model_step step;
    poprt_status status; /* of the last step */
    poprt_env *env;
    poprt_model *model;
    poprt_pass_manager *passes;
    poprt_executable *exec, *again;
    buffer popef;
    char onnx[40]; /* the file of STEP_SAVE_ONNX */
    poprt_session *session;
    poprt_stepio *io;
    void *bound[2 * MODEL_INPUTS]; /* dims and elements of the inputs */
} model_calls;

static inline size_t model_element_size(int32_t dtype)
{
    switch (dtype) {
    case POPRT_DTYPE_FLOAT32:
    case POPRT_DTYPE_INT32:
    case POPRT_DTYPE_UINT32:
        return 4;
    case POPRT_DTYPE_INT64:
    case POPRT_DTYPE_UINT64:
    case POPRT_DTYPE_FLOAT64:
        return 8;
    case POPRT_DTYPE_FLOAT16:
    case POPRT_DTYPE_BFLOAT16:
        return 2;
    default:
        return 1;
    }
}

/* Binds ones to every input; dimensions that are not numbers are 4. */
static inline void model_bind(model_calls *m)
{
    ck_assert_ok(poprt_stepio_create(m->session, &m->io));
    const size_t inputs = poprt_executable_io_count(m->exec, POPRT_INPUT);
    ck_assert_uint_le(inputs, MODEL_INPUTS);
    for (size_t i = 0; i < inputs; i++) {
        poprt_io_info info = { .struct_size = sizeof(info) };
        ck_assert_ok(poprt_executable_io_at(m->exec, POPRT_INPUT, i, &info));
        int64_t *dims = calloc((size_t)info.rank + 1, sizeof(int64_t));
        ck_assert_ptr_nonnull(dims);
        size_t count = 1;
        for (int32_t k = 0; k < info.rank; k++) {
            dims[k] = info.dims[k] < 0 ? 4 : info.dims[k];
            count *= (size_t)dims[k];
        }
        poprt_tensor t = { .dims = dims, .rank = (uint32_t)info.rank, .dtype = info.dtype };
        t.size = count * model_element_size(info.dtype);
        t.data = calloc(1, t.size + 1);
        ck_assert_ptr_nonnull(t.data);
        m->bound[2 * i] = dims;
        m->bound[2 * i + 1] = t.data;
        for (size_t k = 0; k < count; k++) {
            if (info.dtype == POPRT_DTYPE_FLOAT32)
                ((float *)t.data)[k] = 1;
            else if (info.dtype == POPRT_DTYPE_INT64)
                ((int64_t *)t.data)[k] = 1;
            else if (info.dtype == POPRT_DTYPE_BOOL)
                ((unsigned char *)t.data)[k] = 1;
        }
        ck_assert_ok(poprt_stepio_bind(m->io, info.name, &t));
    }
}

/* Prepares the next step; model_call then makes only the calls of the library. */
static inline void model_prepare(model_calls *m)
{
    if (m->step == STEP_CONVERT) {
        ck_assert_ok(poprt_pass_manager_create(m->env, &m->passes));
        ck_assert_ok(poprt_pass_manager_add_pipeline(m->passes, "convert", NULL));
    }
    if (m->step == STEP_SAVE_ONNX)
        (void)snprintf(m->onnx, sizeof(m->onnx), "/tmp/poprt-api-%ld.onnx", (long)getpid());
    if (m->step == STEP_RUN)
        model_bind(m);
}

/* Makes the call of `step`; the argument is a model_calls. */
static inline void *model_call(void *arg)
{
    model_calls *m = arg;
    switch (m->step) {
    case STEP_LOAD:
        m->status = m->path != NULL
            ? poprt_model_load_file(m->env, m->path, NULL, &m->model)
            : poprt_model_load_bytes(m->env, m->bytes.data, m->bytes.size, NULL, &m->model);
        break;
    case STEP_CONVERT:
        m->status = poprt_pass_manager_run(m->passes, m->model);
        break;
    case STEP_SAVE_ONNX:
        m->status = poprt_model_save_file(m->model, m->onnx);
        break;
    case STEP_COMPILE:
        m->status = poprt_compile(m->model, NULL, &m->exec);
        break;
    case STEP_SAVE:
        m->status = poprt_executable_save(m->exec, buffer_write, &m->popef);
        break;
    case STEP_LOAD_POPEF:
        m->status =
            poprt_executable_load_bytes(m->env, m->popef.data, m->popef.size, NULL, &m->again);
        break;
    case STEP_SESSION:
        m->status = poprt_session_create(m->again, NULL, &m->session);
        break;
    case STEP_RUN:
        m->status = poprt_session_run(m->session, m->io);
        break;
    case STEPS:
        break;
    }
    return NULL;
}

static inline void model_release(model_calls *m)
{
    poprt_stepio_release(m->io);
    poprt_session_release(m->session);
    poprt_executable_release(m->again);
    poprt_executable_release(m->exec);
    poprt_pass_manager_release(m->passes);
    poprt_model_release(m->model);
    poprt_env_release(m->env);
    free(m->popef.data);
    for (size_t i = 0; i < 2 * MODEL_INPUTS; i++)
        free(m->bound[i]);
    if (m->onnx[0] != '\0')
        (void)unlink(m->onnx);
}

#endif
