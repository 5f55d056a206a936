/* SPDX-License-Identifier: MIT */
/* shape_values.c — helpers of operators that move elements. */
#include "op/share/shape_values.h"

/* ---- for infer hooks */

bool prt_shape_values_count(const prt_infer *c, uint32_t i, int64_t *count)
{
    if (!prt_infer_ranked(c, i) || c->in[i].rank > 1)
        return false;
    *count = c->in[i].rank == 0 ? 1 : c->in[i].dims[0];
    return prt_dim_is_number(*count);
}

bool prt_shape_values(const prt_infer *c, uint32_t i, int64_t to[PRT_CONTENT_MAX], uint32_t *count)
{
    int64_t size;
    if (c->dims == NULL || !prt_infer_has(c, i) || c->in[i].rank > 1 ||
        (c->in[i].dtype != PRT_DTYPE_i64 && c->in[i].dtype != PRT_DTYPE_i32))
        return false;
    if (prt_infer_ints(c, i, to, PRT_CONTENT_MAX, count))
        return true;
    if (!prt_shape_values_count(c, i, &size) || size < 0 || size > PRT_CONTENT_MAX)
        return false;
    *count = (uint32_t)size;
    for (uint32_t k = 0; k < *count; k++)
        to[k] = PRT_DIM_UNKNOWN;
    return true;
}

poprt_status prt_shape_values_set(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values)
{
    for (uint32_t k = 0; k < count; k++)
        if (values[k] != PRT_DIM_UNKNOWN)
            return prt_infer_set_content(c, i, count, values);
    return POPRT_OK;
}

poprt_status prt_shape_values_pass(prt_infer *c)
{
    int64_t values[PRT_CONTENT_MAX];
    uint32_t count;
    if (!prt_infer_wants(c, 0) || c->out[0].rank < 0 || c->out[0].rank > 1 ||
        !prt_shape_values(c, 0, values, &count))
        return POPRT_OK;
    return prt_shape_values_set(c, 0, count, values);
}

bool prt_shape_axes(const int64_t *axes, uint32_t count, uint32_t rank, uint32_t *set)
{
    *set = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];
        if (axis < 0 || axis >= (int64_t)rank)
            return false;
        *set |= 1u << axis;
    }
    return true;
}

/* ---- for eval hooks */

poprt_status prt_shape_output(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims)
{
    if (!prt_eval_wants(c, i))
        return POPRT_OK;
    const prt_tensor *out = c->out[i];
    if (out->kind == PRT_VALUE_TENSOR && out->data != NULL && out->dtype == dtype) {
        if (out->rank != rank)
            return prt_eval_fail(c, POPRT_E_SHAPE, "output %u has rank %u where %u was declared", i,
                rank, out->rank);
        for (uint32_t k = 0; k < rank; k++)
            if (out->dims[k] != dims[k])
                return prt_eval_fail(c, POPRT_E_SHAPE,
                    "dim %u of output %u is %lld where %lld was declared", k, i, (long long)dims[k],
                    (long long)out->dims[k]);
        return POPRT_OK;
    }
    for (uint32_t k = 0; k < rank; k++)
        if (dims[k] < 0)
            return prt_eval_fail(c, POPRT_E_SHAPE, "dim %u of output %u would be %lld", k, i,
                (long long)dims[k]);
    return prt_eval_shape(c, i, dtype, rank, dims);
}

poprt_status prt_copy_flat(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(x);
    if (y->data == NULL || prt_tensor_count(y) != n)
        return prt_eval_fail(c, POPRT_E_SHAPE, "%zu elements do not fit the output's shape", n);
    prt_element_copy(x->dtype, y->data, 0, x->data, 0, n);
    return POPRT_OK;
}

poprt_status prt_shape_axis(const prt_eval *c, int64_t axis, uint32_t rank, uint32_t *out)
{
    const int64_t r = rank;
    if (axis < -r || axis >= r)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside [%lld, %lld]", (long long)axis,
            (long long)-r, (long long)r - 1);
    *out = (uint32_t)(axis < 0 ? axis + r : axis);
    return POPRT_OK;
}

poprt_status prt_shape_index_fail(const prt_eval *c, int64_t index, int64_t dim)
{
    return prt_eval_fail(c, POPRT_E_ARG, "index %lld is outside [%lld, %lld]", (long long)index,
        (long long)-dim, (long long)dim - 1);
}

enum {
    LOOP_LIMIT = 16, /* below this number, elements are filled one by one */
    FILLED = 1 << 14 /* block size in bytes of copies while filling; it fits the L1 cache */
};

/* Fills with an element size that is known at compile time. */
#define FILL(size)                                                                                 \
    for (size_t i = 0; i < count; i++)                                                             \
    memcpy(d + i * (size), s, size)

/* Fills by copying the filled part, whose size doubles up to FILLED bytes. */
static void fill_wide(char *d, const char *s, size_t size, size_t count)
{
    const size_t total = count * size;
    memcpy(d, s, size);
    for (size_t done = size, more; done < total; done += more) {
        more = done < FILLED ? done : FILLED / size * size;
        more = more < total - done ? more : total - done;
        memcpy(d + done, d, more);
    }
}

void prt_fill_elements(int32_t dtype, void *to, size_t to_index, const void *from,
    size_t from_index, size_t count)
{
    const uint32_t bits = prt_dtype_bits(dtype);
    if (bits < 8) {
        for (size_t i = 0; i < count; i++)
            prt_element_copy(dtype, to, to_index + i, from, from_index, 1);
        return;
    }
    char *d = (char *)to + to_index * (bits / 8);
    const char *s = (const char *)from + from_index * (bits / 8);
    if (bits == 8 && count != 0)
        memset(d, *s, count);
    else if (bits == 32 && count < LOOP_LIMIT)
        FILL(4);
    else if (bits == 64 && count < LOOP_LIMIT)
        FILL(8);
    else if (count != 0)
        fill_wide(d, s, bits / 8, count);
}

void prt_zero_elements(int32_t dtype, void *to, size_t to_index, size_t count)
{
    static const poprt_string empty = { "", 0 };
    const uint32_t bits = prt_dtype_bits(dtype);
    if (dtype == PRT_DTYPE_string)
        prt_fill_elements(dtype, to, to_index, &empty, 0, count);
    else if (bits >= 8 && count != 0)
        memset((char *)to + to_index * (bits / 8), 0, count * (bits / 8));
    else
        prt_fill_elements(dtype, to, to_index, &(char){ 0 }, 0, count);
}
