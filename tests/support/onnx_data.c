/* SPDX-License-Identifier: MIT */
/* onnx_data.c — stored inputs and outputs of a case. */
#define _GNU_SOURCE
#include "onnx_data.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "converter/onnx.h"
#include "ir/interp.h"

enum { MAX_PATH_SIZE = 4096 };

void onnx_data_error(const char *what, char *why, size_t size)
{
    const poprt_error *e = prt_error_last();
    (void)snprintf(why, size, "%s: %s: %s: %s", what, prt_status_name(e->status), e->subject,
        e->message);
}

/* Returns the kind of a graph's input or output; a value without a known type is a tensor. */
static int32_t kind_of(const prt_value *v)
{
    const int32_t kind = v != NULL ? v->type->kind : PRT_VALUE_TENSOR;
    return kind == PRT_VALUE_UNKNOWN || kind == PRT_VALUE_ABSENT ? PRT_VALUE_TENSOR : kind;
}

typedef enum found { ABSENT, READ, BROKEN } found;

/* Old data sets store bfloat16 as uint16, because numpy lacks bfloat16. */
static found read_pb(prt_arena *arena, const char *folder, const char *stem, uint32_t i,
    const prt_value *value, prt_tensor *out)
{
    const int32_t kind = kind_of(value);
    char path[MAX_PATH_SIZE + 64];
    prt_blob *bytes = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s_%u.pb", folder, stem, i);
    if (access(path, F_OK) != 0)
        return ABSENT;
    if (prt_file_map(&prt_mem_libc, path, &bytes) != POPRT_OK)
        return BROKEN;
    const poprt_status status = prt_onnx_read_value(arena, bytes, kind, out);
    if (status != POPRT_OK)
        return BROKEN;
    if (value != NULL && out->kind == PRT_VALUE_TENSOR && out->dtype == PRT_DTYPE_u16 &&
        value->type->kind == PRT_VALUE_TENSOR && value->type->dtype == PRT_DTYPE_bf16)
        out->dtype = PRT_DTYPE_bf16;
    return READ; /* the map is kept until the process ends, because `out` may point into it */
}

static bool run_set(const prt_module *m, const char *folder, tolerance within, prt_arena *arena,
    char *why, size_t size)
{
    const prt_graph *g = m->main;
    const uint32_t n_in = (uint32_t)g->inputs.count, n_out = g->ret->n_in;
    prt_tensor *in = PRT_NEW_N(arena, prt_tensor, n_in), *out = PRT_NEW_N(arena, prt_tensor, n_out);
    const prt_tensor **refs = PRT_NEW_N(arena, const prt_tensor *, n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        const found f = read_pb(arena, folder, "input", i, g->inputs.data[i], &in[i]);
        if (f == BROKEN) {
            onnx_data_error(folder, why, size);
            return false;
        }
        refs[i] = f == READ ? &in[i] : NULL;
    }
    if (prt_ir_run(g, n_in, refs, n_out, out, arena) != POPRT_OK) {
        onnx_data_error("run", why, size);
        return false;
    }
    for (uint32_t i = 0; i < n_out; i++) {
        prt_tensor want;
        char text[512];
        const found f = read_pb(arena, folder, "output", i, g->ret->in[i].value, &want);
        if (f == BROKEN) {
            onnx_data_error(folder, why, size);
            return false;
        }
        if (f == READ && !values_equal(&out[i], &want, within, text, sizeof(text))) {
            (void)snprintf(why, size, "output %u %s", i, text);
            return false;
        }
    }
    return true;
}

bool onnx_data_run(const prt_module *m, const char *folder, tolerance within, uint32_t *sets,
    char *why, size_t size)
{
    char path[MAX_PATH_SIZE];
    for (*sets = 0;; ++*sets) {
        prt_arena *arena = NULL;
        (void)snprintf(path, sizeof(path), "%s/test_data_set_%u", folder, *sets);
        if (access(path, F_OK) != 0)
            return true;
        if (prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK)
            return false;
        const bool passed = run_set(m, path, within, arena, why, size);
        prt_arena_release(arena);
        if (!passed)
            return false;
    }
}
