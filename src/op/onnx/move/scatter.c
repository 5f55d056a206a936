/* SPDX-License-Identifier: MIT */
/*
 * scatter.c — ScatterElements, ScatterND, TensorScatter: copy a tensor and write or combine
 * elements or blocks at the positions of index tensors. Updates are applied in order.
 */
#include "op/share/shape_values.h"

typedef enum reduction { NONE, ADD, MUL, MAX, MIN } reduction;

static bool find_reduction(prt_str text, reduction *out)
{
    static const char *const names[] = { "none", "add", "mul", "max", "min" };
    for (uint32_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(text, names[i])) {
            *out = (reduction)i;
            return true;
        }
    return false;
}

static poprt_status check_reduction(const prt_infer *c, prt_str text)
{
    reduction r;
    if (!find_reduction(text, &r))
        return prt_infer_fail(c, POPRT_E_ARG,
            "reduction is \"%.*s\"; accepted: none, add, mul, max, min", PRT_STR_ARG(text));
    const uint8_t kind = prt_dtype_of(c->in[0].dtype)->kind;
    if (r != NONE && (kind == PRT_KIND_string || kind == PRT_KIND_complex))
        return prt_infer_fail(c, POPRT_E_TYPE,
            "reduction \"%.*s\" does not support element type %s", PRT_STR_ARG(text),
            prt_dtype_of(c->in[0].dtype)->name);
    return POPRT_OK;
}

static double reduce_f64(reduction r, double a, double b)
{
    switch (r) {
    case ADD:
        return a + b;
    case MUL:
        return a * b;
    case MAX:
        return b > a || b != b ? b : a;
    default:
        return b < a || b != b ? b : a;
    }
}

/* Reduces integers in two's complement; XOR with `sign` maps signed numbers to unsigned numbers
 * of the same order. */
static uint64_t reduce_u64(reduction r, uint64_t a, uint64_t b, uint64_t sign)
{
    switch (r) {
    case ADD:
        return a + b;
    case MUL:
        return a * b;
    case MAX:
        return (a ^ sign) > (b ^ sign) ? a : b;
    default:
        return (a ^ sign) < (b ^ sign) ? a : b;
    }
}

/* Reduces float32. The sum or product of doubles, rounded, is that of the floats. */
static void combine_f32(reduction r, float *restrict to, const float *restrict from, size_t count)
{
    if (r == ADD)
        for (size_t i = 0; i < count; i++)
            to[i] += from[i];
    else
        for (size_t i = 0; i < count; i++)
            to[i] = (float)reduce_f64(r, (double)to[i], (double)from[i]);
}

/* Combines `count` elements of `from` into `to`. For bool, add is "or" and mul is "and". */
static void combine(int32_t dtype, reduction r, void *to, size_t to_index, const void *from,
    size_t from_index, size_t count)
{
    const uint8_t kind = prt_dtype_of(dtype)->kind;
    const uint64_t sign = kind == PRT_KIND_int ? (uint64_t)1 << 63 : 0;
    if (r == NONE) {
        prt_element_copy(dtype, to, to_index, from, from_index, count);
        return;
    }
    if (dtype == PRT_DTYPE_f32) {
        combine_f32(r, (float *)to + to_index, (const float *)from + from_index, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (kind == PRT_KIND_float) {
            const double a = prt_load_f64(dtype, to, to_index + i);
            const double b = prt_load_f64(dtype, from, from_index + i);
            prt_store_f64(dtype, to, to_index + i, reduce_f64(r, a, b));
        } else {
            const uint64_t a = prt_load_u64(dtype, to, to_index + i);
            const uint64_t b = prt_load_u64(dtype, from, from_index + i);
            const uint64_t v = reduce_u64(r, a, b, sign);
            prt_store_u64(dtype, to, to_index + i, kind == PRT_KIND_bool ? v != 0 : v);
        }
    }
}

/* Copies input 0 to output 0. */
static void copy_data(const prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    prt_element_copy(x->dtype, c->out[0]->data, 0, x->data, 0, prt_tensor_count(x));
}

/* ---- ScatterElements */

static poprt_status infer_elements(prt_infer *c)
{
    const prt_scatter_elements_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1], *update = &c->in[2];
    uint32_t axis;
    PRT_TRY(check_reduction(c, a->reduction));
    if (x->rank >= 0)
        PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if ((x->rank >= 0 && index->rank >= 0 && x->rank != index->rank) ||
        (index->rank >= 0 && update->rank >= 0 && index->rank != update->rank))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "data, indices and updates have ranks %d, %d and %d, which must be equal", x->rank,
            index->rank, update->rank);
    for (int32_t i = 0; update->rank >= 0 && i < index->rank; i++) {
        int64_t dim;
        PRT_TRY(prt_infer_merge(c, index->dims[i], update->dims[i], "a dim of the indices", &dim));
        if (x->rank >= 0 && (uint32_t)i != axis && prt_dim_is_number(dim) &&
            prt_dim_is_number(x->dims[i]) && dim > x->dims[i])
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %d of the indices is %lld; the dim of the data, %lld, is the limit", i,
                (long long)dim, (long long)x->dims[i]);
    }
    return prt_infer_like(c, 0, 0, x->dtype);
}

/* Scatters one row along the last dim of the indices, from index element `from` on: element i is
 * written to row + i * step + index * stride. */
static poprt_status scatter_row(prt_eval *c, reduction r, size_t from, size_t row, size_t step,
    size_t stride, int64_t dim)
{
    const prt_tensor *index = c->in[1], *update = c->in[2];
    const size_t n = (size_t)index->dims[index->rank - 1];
    const int64_t *wide =
        index->dtype == PRT_DTYPE_i64 ? (const int64_t *)index->data + from : NULL;
    const bool words = r == NONE && prt_dtype_bits(update->dtype) == 32;
    const uint32_t *from_words = update->data;
    uint32_t *to_words = c->out[0]->data;
    for (size_t i = 0; i < n; i++) {
        const int64_t given =
            wide != NULL ? wide[i] : prt_load_i64(index->dtype, index->data, from + i);
        int64_t picked;
        PRT_TRY(prt_shape_index(c, given, dim, &picked));
        const size_t to = row + i * step + (size_t)picked * stride;
        if (words)
            to_words[to] = from_words[from + i];
        else
            combine(update->dtype, r, c->out[0]->data, to, update->data, from + i, 1);
    }
    return POPRT_OK;
}

static poprt_status eval_elements(prt_eval *c)
{
    const prt_scatter_elements_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1], *update = c->in[2];
    reduction r = NONE;
    uint32_t axis;
    size_t stride[PRT_MAX_RANK];
    (void)find_reduction(a->reduction, &r);
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    for (uint32_t i = 0; i < x->rank; i++) {
        stride[i] = prt_dims_product(x->dims, i + 1, x->rank);
        if (index->dims[i] != update->dims[i] || (i != axis && index->dims[i] > x->dims[i]))
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "dim %u of indices, updates and data does not match", i);
    }
    copy_data(c);
    int64_t at[PRT_MAX_RANK] = { 0 };
    const uint32_t last = x->rank - 1;
    const size_t n = prt_tensor_count(index), run = (size_t)index->dims[last];
    for (size_t from = 0; from < n; from += run) {
        size_t row = 0;
        for (uint32_t i = 0; i < last; i++)
            row += i == axis ? 0 : stride[i] * (size_t)at[i];
        PRT_TRY(scatter_row(c, r, from, row, axis == last ? 0 : 1, stride[axis], x->dims[axis]));
        (void)prt_at_next(last, index->dims, at);
    }
    return POPRT_OK;
}

/* ---- ScatterND */

/* Updates have the dims of the indices without the last, then the dims of the data that an index
 * tuple does not cover. */
static poprt_status infer_nd(prt_infer *c)
{
    const prt_scatter_nd_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1], *update = &c->in[2];
    PRT_TRY(check_reduction(c, a->reduction));
    PRT_TRY(prt_infer_like(c, 0, 0, x->dtype));
    if (x->rank < 0 || index->rank < 0)
        return POPRT_OK;
    if (index->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the indices are a scalar; a rank of at least 1 is required");
    const int64_t depth = index->dims[index->rank - 1];
    if (!prt_dim_is_number(depth))
        return POPRT_OK;
    if (depth < 0 || depth > x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "index tuples have %lld members, but the data has rank %d", (long long)depth, x->rank);
    const int32_t outer = index->rank - 1, rank = outer + x->rank - (int32_t)depth;
    if (update->rank < 0)
        return POPRT_OK;
    if (update->rank != rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "updates have rank %d, not %d", update->rank, rank);
    for (int32_t i = 0; i < rank; i++) {
        int64_t dim;
        const int64_t want = i < outer ? index->dims[i] : x->dims[i - outer + (int32_t)depth];
        PRT_TRY(prt_infer_merge(c, update->dims[i], want, "a dim of the updates", &dim));
    }
    return POPRT_OK;
}

static poprt_status eval_nd(prt_eval *c)
{
    const prt_scatter_nd_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1], *update = c->in[2];
    reduction r = NONE;
    const uint32_t last = index->rank - 1, depth = (uint32_t)index->dims[last];
    const size_t tuples = prt_dims_product(index->dims, 0, last);
    const size_t block = prt_dims_product(x->dims, depth, x->rank);
    (void)find_reduction(a->reduction, &r);
    if (prt_tensor_count(update) != tuples * block)
        return prt_eval_fail(c, POPRT_E_SHAPE, "updates have %zu elements, not %zu blocks of %zu",
            prt_tensor_count(update), tuples, block);
    copy_data(c);
    for (size_t t = 0; t < tuples; t++) {
        size_t to = 0;
        for (uint32_t k = 0; k < depth; k++) {
            int64_t at;
            PRT_TRY(prt_shape_index(c, prt_load_i64(index->dtype, index->data, t * depth + k),
                x->dims[k], &at));
            to = to * (size_t)x->dims[k] + (size_t)at;
        }
        combine(x->dtype, r, c->out[0]->data, to * block, update->data, t * block, block);
    }
    return POPRT_OK;
}

/* ---- TensorScatter */

static poprt_status infer_tensor_scatter(prt_infer *c)
{
    const prt_tensor_scatter_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *update = &c->in[1];
    uint32_t axis;
    int64_t dim;
    if (!prt_str_is(a->mode, "linear") && !prt_str_is(a->mode, "circular"))
        return prt_infer_fail(c, POPRT_E_ARG, "mode is \"%.*s\"; accepted: linear, circular",
            PRT_STR_ARG(a->mode));
    PRT_TRY(prt_infer_like(c, 0, 0, x->dtype));
    if (x->rank < 0)
        return POPRT_OK;
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (axis == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axis cannot be 0, which is the batch axis");
    if (update->rank >= 0 && update->rank != x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the update has rank %d, but the cache has rank %d",
            update->rank, x->rank);
    for (int32_t i = 0; i < update->rank; i++)
        if ((uint32_t)i != axis)
            PRT_TRY(
                prt_infer_merge(c, x->dims[i], update->dims[i], "a dim other than the axis", &dim));
    if (prt_infer_ranked(c, 2)) {
        if (c->in[2].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "write_indices has rank %d, not 1",
                c->in[2].rank);
        PRT_TRY(prt_infer_merge(c, x->dims[0], c->in[2].dims[0], "the batch", &dim));
    }
    return POPRT_OK;
}

static poprt_status eval_tensor_scatter(prt_eval *c)
{
    const prt_tensor_scatter_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *update = c->in[1];
    const bool circular = prt_str_is(a->mode, "circular"), given = prt_eval_has(c, 2);
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const size_t batch = (size_t)x->dims[0], per_batch = prt_dims_product(x->dims, 1, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const int64_t most = x->dims[axis], n = update->dims[axis];
    if (n > most || prt_tensor_count(update) != batch * per_batch * (size_t)n * inner ||
        (given && prt_tensor_count(c->in[2]) != batch))
        return prt_eval_fail(c, POPRT_E_SHAPE, "the shape of the update does not match the cache");
    copy_data(c);
    for (size_t b = 0; n > 0 && b < batch; b++) {
        const int64_t at = given ? prt_load_i64(c->in[2]->dtype, c->in[2]->data, b) : 0;
        if (at < 0 || (!circular && at > most - n))
            return prt_eval_fail(c, POPRT_E_ARG, "write index %lld is outside [0, %lld]",
                (long long)at, (long long)(most - n));
        for (size_t o = b * per_batch; o < (b + 1) * per_batch; o++)
            for (int64_t i = 0; i < n; i++)
                prt_element_copy(x->dtype, c->out[0]->data,
                    (o * (size_t)most + (size_t)((at % most + i) % most)) * inner, update->data,
                    (o * (size_t)n + (size_t)i) * inner, inner);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_scatter_elements = { .infer = infer_elements, .eval = eval_elements };
const prt_op_hooks prt_op_scatter_nd = { .infer = infer_nd, .eval = eval_nd };
const prt_op_hooks prt_op_tensor_scatter = { .infer = infer_tensor_scatter,
    .eval = eval_tensor_scatter };
