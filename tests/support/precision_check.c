/* SPDX-License-Identifier: MIT */
/* precision_check.c — the trained models before and after a pass. */
#include "support/precision_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "converter/onnx.h"
#include "data/npy.h"
#include "ir/interp.h"
#include "support/graph_text.h"

enum { MOST = 8, SETS = 3 };

static void require_ok(poprt_status status, const char *what)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s: %s", what, prt_error_last()->subject, prt_error_last()->message);
}

prt_graph *trained_model(const char *name)
{
    char path[512];
    prt_module *m = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s/model.onnx", PRT_TEST_DATA, name);
    require_ok(prt_onnx_read_file(&prt_mem_libc, path, NULL, &m), path);
    (void)run_pass(m->main, "constant_folding", NULL);
    (void)run_pass(m->main, "shape_inference", NULL);
    return m->main;
}

void tensor_as(prt_arena *arena, const prt_tensor *from, int32_t dtype, prt_tensor *out)
{
    ck_assert(prt_tensor_init(out, dtype, from->rank, from->dims, NULL));
    out->data = prt_arena_alloc(arena, out->size);
    for (size_t i = 0; i < prt_tensor_count(from); i++)
        if (prt_dtype_is_float(dtype))
            prt_store_f64(dtype, out->data, i, prt_load_f64(from->dtype, from->data, i));
        else
            prt_store_i64(dtype, out->data, i, prt_load_i64(from->dtype, from->data, i));
}

static void run_as(const prt_graph *g, prt_arena *arena, const prt_tensor *in, prt_tensor *out)
{
    prt_tensor as[MOST];
    const prt_tensor *pointers[MOST];
    ck_assert_uint_le(g->inputs.count, MOST);
    ck_assert_uint_le(g->ret->n_in, MOST);
    for (size_t i = 0; i < g->inputs.count; i++) {
        tensor_as(arena, &in[i], g->inputs.data[i]->type->dtype, &as[i]);
        pointers[i] = &as[i];
    }
    require_ok(prt_ir_run(g, (uint32_t)g->inputs.count, pointers, g->ret->n_in, out, arena), "run");
}

static void compare(const prt_tensor *a, const prt_tensor *b, model_distance *d)
{
    double largest = 0, worst = 0, xx = 0, yy = 0, xy = 0;
    ck_assert_uint_eq(prt_tensor_count(a), prt_tensor_count(b));
    for (size_t i = 0; i < prt_tensor_count(a); i++) {
        const double x = prt_load_f64(a->dtype, a->data, i), y = prt_load_f64(b->dtype, b->data, i);
        ck_assert(isfinite(x) && isfinite(y));
        largest = fmax(largest, fabs(x));
        worst = fmax(worst, fabs(x - y));
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    d->worst = fmax(d->worst, worst / largest);
    d->cosine = fmax(d->cosine, 1 - xy / sqrt(xx * yy));
}

static void read_input(prt_arena *arena, const char *name, uint32_t set, uint32_t k,
    prt_tensor *out)
{
    char path[512];
    prt_blob *bytes = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s/test_data_set_%u/input_%u.pb", PRT_TEST_DATA, name,
        set, k);
    require_ok(prt_file_map(&prt_mem_libc, path, &bytes), path);
    prt_tensor t;
    require_ok(prt_onnx_read_value(arena, bytes, PRT_VALUE_TENSOR, &t), path);
    tensor_as(arena, &t, t.dtype, out);
    prt_blob_release(bytes);
}

static bool has_set(const char *name, uint32_t set)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s/test_data_set_%u/input_0.pb", PRT_TEST_DATA, name,
        set);
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        (void)fclose(file);
    return file != NULL;
}

model_distance distance_of(const char *name, const prt_graph *before, const prt_graph *after)
{
    model_distance d = { 0, 0 };
    for (uint32_t set = 0; set < SETS && has_set(name, set); set++) {
        prt_arena *arena = NULL;
        prt_tensor in[MOST], x[MOST], y[MOST];
        require_ok(prt_arena_create(NULL, 0, &arena), "arena");
        for (uint32_t k = 0; k < before->inputs.count; k++)
            read_input(arena, name, set, k, &in[k]);
        run_as(before, arena, in, x);
        run_as(after, arena, in, y);
        for (uint32_t k = 0; k < before->ret->n_in; k++)
            compare(&x[k], &y[k], &d);
        prt_arena_release(arena);
    }
    return d;
}

void assert_model_stays_close(const char *name, const char *pass, const char *options,
    double tolerance)
{
    prt_graph *before = trained_model(name), *after = trained_model(name);
    ck_assert(run_pass(after, pass, options));
    const model_distance d = distance_of(name, before, after);
    ck_assert_msg(d.worst <= tolerance, "%s of %s: results differ by %g of the largest", pass, name,
        d.worst);
    module_free(before);
    module_free(after);
}

void read_digits(prt_arena *arena, const char *file, prt_tensor *out)
{
    char path[512];
    prt_blob *bytes = NULL;
    prt_tensor t;
    (void)snprintf(path, sizeof(path), "%s/digits/%s.npy", PRT_TEST_DATA, file);
    require_ok(prt_file_map(&prt_mem_libc, path, &bytes), path);
    require_ok(prt_npy_read(arena, bytes, PRT_DTYPE_undefined, &t), path);
    tensor_as(arena, &t, t.dtype, out);
    prt_blob_release(bytes);
}

uint32_t digits_read(const prt_graph *graph)
{
    prt_arena *arena = NULL;
    prt_tensor images, labels, logits;
    uint32_t right = 0;
    require_ok(prt_arena_create(NULL, 0, &arena), "arena");
    read_digits(arena, "images", &images);
    read_digits(arena, "labels", &labels);
    run_as(graph, arena, &images, &logits);
    for (size_t i = 0; i < prt_tensor_count(&labels); i++) {
        size_t best = 0;
        for (size_t k = 1; k < 10; k++)
            if (prt_load_f64(logits.dtype, logits.data, i * 10 + k) >
                prt_load_f64(logits.dtype, logits.data, i * 10 + best))
                best = k;
        right += best == (size_t)prt_load_i64(labels.dtype, labels.data, i);
    }
    prt_arena_release(arena);
    return right;
}
