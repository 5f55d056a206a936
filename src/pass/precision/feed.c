/* SPDX-License-Identifier: MIT */
/* feed.c — cuts samples into batches and converts them to the types of the model's inputs. */
#include "pass/precision/feed.h"

#include <stdio.h>

#include "ir/interp.h"

enum { OPEN_BATCH = 8, OPEN_DIM = 2 };

static const prt_feed_array *find(const prt_feed *feed, prt_str name)
{
    for (uint32_t i = 0; i < feed->n_arrays; i++)
        if (prt_str_equal(feed->arrays[i].name, name))
            return &feed->arrays[i];
    return NULL;
}

static poprt_status check_array(const prt_value *v, const prt_feed_array *a, size_t samples)
{
    const prt_type *type = v->type;
    if (type->kind != PRT_VALUE_TENSOR || type->dtype == PRT_DTYPE_undefined ||
        (type->dtype == PRT_DTYPE_string) != (a->tensor.dtype == PRT_DTYPE_string))
        return prt_fail(POPRT_E_TYPE, v->name.data,
            "the element type of the samples does not suit input '%.200s'", v->name.data);
    bool fits = type->rank < 0 || (uint32_t)type->rank == a->tensor.rank;
    for (uint32_t i = 1; fits && type->rank >= 0 && i < a->tensor.rank; i++)
        fits = !prt_dim_is_number(type->dims[i]) || type->dims[i] == a->tensor.dims[i];
    if (!fits || a->tensor.rank == 0)
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "samples of input '%.200s' have another shape than the input", v->name.data);
    if ((size_t)a->tensor.dims[0] != samples)
        return prt_fail(POPRT_E_SHAPE, v->name.data,
            "input '%.200s' has %lld samples, others have %zu", v->name.data,
            (long long)a->tensor.dims[0], samples);
    return POPRT_OK;
}

poprt_status prt_feed_open(prt_feed *feed, const prt_module *module)
{
    const prt_graph *g = module->main;
    const size_t samples = feed->n_arrays != 0 && feed->arrays[0].tensor.rank != 0
        ? (size_t)feed->arrays[0].tensor.dims[0]
        : 0;
    feed->batch = samples < OPEN_BATCH ? samples : OPEN_BATCH;
    feed->batches = 1;
    for (size_t i = 0; feed->n_arrays != 0 && i < g->inputs.count; i++) {
        const prt_value *v = g->inputs.data[i];
        const prt_feed_array *a = find(feed, v->name);
        if (a == NULL && v->constant != NULL)
            continue;
        if (a == NULL)
            return prt_fail(POPRT_E_NOT_FOUND, v->name.data,
                "samples of input '%.200s' are missing", v->name.data);
        PRT_TRY(check_array(v, a, samples));
        if (v->type->rank > 0 && prt_dim_is_number(v->type->dims[0]))
            feed->batch = (size_t)v->type->dims[0];
    }
    if (feed->n_arrays == 0)
        return POPRT_OK;
    if (feed->batch == 0 || samples < feed->batch)
        return prt_fail(POPRT_E_SHAPE, NULL, "%zu samples are given; a batch needs %zu", samples,
            feed->batch);
    feed->batches = samples / feed->batch;
    return POPRT_OK;
}

static poprt_status init(prt_arena *arena, int32_t dtype, uint32_t rank, const int64_t *dims,
    prt_tensor *out)
{
    if (!prt_tensor_init(out, dtype, rank, dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "an input is too large");
    out->data = prt_arena_alloc(arena, out->size);
    return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status cut(const prt_feed *feed, const prt_feed_array *a, int32_t dtype, size_t index,
    prt_arena *arena, prt_tensor *out)
{
    int64_t dims[PRT_MAX_RANK] = { 0 };
    memcpy(dims, a->tensor.dims, sizeof(dims));
    dims[0] = (int64_t)feed->batch;
    PRT_TRY(init(arena, dtype, a->tensor.rank, dims, out));
    const size_t n = prt_tensor_count(out), first = index * n;
    if (dtype == a->tensor.dtype) {
        prt_element_copy(dtype, out->data, 0, a->tensor.data, first, n);
        return POPRT_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (prt_dtype_is_float(dtype))
            prt_store_f64(dtype, out->data, i,
                prt_load_f64(a->tensor.dtype, a->tensor.data, first + i));
        else
            prt_store_i64(dtype, out->data, i,
                prt_load_i64(a->tensor.dtype, a->tensor.data, first + i));
    return POPRT_OK;
}

static int64_t open_dim(const prt_feed *feed, const prt_value *v, int32_t i)
{
    for (size_t k = 0; feed->shapes != NULL && k < feed->shapes->main->inputs.count; k++) {
        const prt_value *other = feed->shapes->main->inputs.data[k];
        if (prt_str_equal(other->name, v->name) && other->type->rank == v->type->rank &&
            prt_dim_is_number(other->type->dims[i]))
            return other->type->dims[i];
    }
    return OPEN_DIM;
}

static poprt_status make_random(const prt_feed *feed, const prt_value *v, uint64_t *state,
    prt_arena *arena, prt_tensor *out)
{
    const prt_type *type = v->type;
    int64_t dims[PRT_MAX_RANK];
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0 || type->rank > PRT_MAX_RANK ||
        type->dtype == PRT_DTYPE_undefined || type->dtype == PRT_DTYPE_string)
        return prt_fail(POPRT_E_UNSUPPORTED, v->name.data,
            "no data for input '%.200s': random data needs a tensor of known rank and numeric type",
            v->name.data);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : open_dim(feed, v, i);
    PRT_TRY(init(arena, type->dtype, (uint32_t)type->rank, dims, out));
    const size_t n = prt_tensor_count(out);
    for (size_t i = 0; i < n; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        if (prt_dtype_is_float(type->dtype))
            prt_store_f64(type->dtype, out->data, i, (double)(*state >> 11) * 0x1p-52 - 1);
        else
            prt_store_i64(type->dtype, out->data, i, (int64_t)(*state >> 63));
    }
    return POPRT_OK;
}

poprt_status prt_feed_set_outputs(prt_module *clone, uint32_t count, prt_value *const *values,
    prt_arena *arena)
{
    prt_str *names = PRT_NEW_N(arena, prt_str, (size_t)count + 1);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "feed_output_%u", i);
        names[i] = prt_module_fresh_name(clone, name);
        if (names[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(clone->main, count, values, names);
}

poprt_status prt_feed_batch(const prt_feed *feed, const prt_module *module, size_t index,
    prt_tensor *out, prt_arena *arena)
{
    const prt_graph *g = module->main;
    const uint32_t n_in = (uint32_t)g->inputs.count;
    const prt_tensor **in = PRT_NEW_N(arena, const prt_tensor *, (size_t)n_in + 1);
    prt_tensor *tensors = PRT_NEW_N(arena, prt_tensor, (size_t)n_in + 1);
    uint64_t state = 88172645463325252u;
    if (in == NULL || tensors == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_in; i++) {
        const prt_value *v = g->inputs.data[i];
        const prt_feed_array *a = find(feed, v->name);
        if (a == NULL && v->constant != NULL)
            continue;
        in[i] = &tensors[i];
        PRT_TRY(a != NULL ? cut(feed, a, v->type->dtype, index, arena, &tensors[i])
                          : make_random(feed, v, &state, arena, &tensors[i]));
    }
    if (feed->run != NULL)
        return feed->run(feed->user, module, index, n_in, in, g->ret->n_in, out, arena);
    return prt_ir_run(g, n_in, in, g->ret->n_in, out, arena);
}
