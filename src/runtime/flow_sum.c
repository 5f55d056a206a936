/* SPDX-License-Identifier: MIT */
/*
 * flow_sum.c — outputs with return type `sum`: the values of all micro-batches of a replica, added
 * in order. Float16 and bfloat16 are summed in float32, integers in int64.
 */
#include "runtime/flow_run.h"

static int32_t sum_dtype(int32_t dtype)
{
    if (!prt_dtype_is_float(dtype))
        return PRT_DTYPE_i64;
    return dtype == PRT_DTYPE_f64 ? PRT_DTYPE_f64 : PRT_DTYPE_f32;
}

static poprt_status make(prt_session *s, uint32_t at, const prt_tensor *value, prt_arena **arena)
{
    prt_tensor *sum = &s->flow->sums[at];
    if (*arena == NULL)
        PRT_TRY(prt_arena_create(&s->memory.allocator, 0, arena));
    prt_arena_reset(*arena);
    if (!prt_tensor_init(sum, sum_dtype(value->dtype), value->rank, value->dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "the sum is too large");
    sum->data = prt_arena_alloc_raw(*arena, sum->size);
    return sum->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_flow_reserve_sums(prt_session *s, uint32_t output, const prt_tensor *value)
{
    const uint32_t replicas = (uint32_t)s->program->flow.replicas;
    if (!prt_frame_is_final(value))
        return POPRT_OK;
    for (uint32_t i = output * replicas; i < (output + 1) * replicas; i++)
        PRT_TRY(make(s, i, value, &s->flow->sum_memory[i]));
    return POPRT_OK;
}

poprt_status prt_flow_add_sum(prt_session *s, uint32_t output, uint32_t replica,
    const prt_tensor *value, bool first)
{
    const uint32_t at = output * (uint32_t)s->program->flow.replicas + replica;
    const char *name = s->program->outputs[output].name.data;
    prt_tensor *sum = &s->flow->sums[at];
    if (value->kind != PRT_VALUE_TENSOR || value->dtype == PRT_DTYPE_string ||
        value->dtype == PRT_DTYPE_bool || prt_dtype_bits(value->dtype) < 8)
        return prt_fail(POPRT_E_TYPE, name,
            "its values cannot be summed; accepted: numeric tensors");
    const size_t n = prt_tensor_count(value);
    if (first) {
        PRT_TRY(make(s, at, value, &s->flow->sum_memory[at]));
        prt_convert(value->dtype, value->data, sum->dtype, sum->data, n);
        return POPRT_OK;
    }
    if (sum->rank != value->rank || !prt_dims_equal(sum->dims, value->dims, value->rank))
        return prt_fail(POPRT_E_SHAPE, name,
            "micro-batches give different shapes, which cannot be summed");
    if (value->dtype == sum->dtype) {
        prt_add_elements(s->par, sum->dtype, n, sum->data, value->data);
        return POPRT_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (sum->dtype == PRT_DTYPE_i64)
            ((int64_t *)sum->data)[i] += prt_load_i64(value->dtype, value->data, i);
        else
            ((float *)sum->data)[i] += (float)prt_load_f64(value->dtype, value->data, i);
    return POPRT_OK;
}

poprt_status prt_flow_return_sum(prt_session *s, uint32_t output, uint32_t replica, prt_tensor *out)
{
    const uint32_t at = output * (uint32_t)s->program->flow.replicas + replica;
    const prt_tensor *sum = &s->flow->sums[at];
    const int32_t dtype = s->program->outputs[output].type->dtype;
    const char *name = s->program->outputs[output].name.data;
    prt_tensor value;
    if (!prt_tensor_init(&value, dtype, sum->rank, sum->dims, NULL))
        return prt_fail(POPRT_E_LIMIT, name, "the sum is too large");
    const bool given = out->kind == PRT_VALUE_TENSOR;
    if (given && out->size < value.size)
        return prt_fail(POPRT_E_ARG, name, "output needs %zu bytes, the buffer has %zu", value.size,
            out->size);
    value.data = given ? out->data : prt_session_alloc_result(s, output, &value);
    if (value.data == NULL)
        return POPRT_E_NOMEM;
    prt_convert(sum->dtype, sum->data, dtype, value.data, prt_tensor_count(sum));
    *out = value;
    return POPRT_OK;
}
