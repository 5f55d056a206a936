/* SPDX-License-Identifier: MIT */
/*
 * gather_blocks.c — GatherBlockQuantized: batches_passes slices of a quantised tensor and
 * dequantises them, with one scale for each block along one axis.
 *
 * A uint8 holds 8 / bits numbers, packed along the last axis from the low bits up. An index outside
 * the axis gives zeros.
 */
#include "op/microsoft/n_bits.h"

enum { IN_DATA, IN_INDICES, IN_SCALES, IN_ZEROS };

static bool is_float(int32_t dtype)
{
    return prt_dtype_is_float(dtype);
}

/* Returns the number of values that one element of the data holds; more than one in uint8. */
static int64_t packing(const prt_ms_gather_block_quantized_attrs *a, int32_t dtype)
{
    return dtype == PRT_DTYPE_u8 ? 8 / a->bits : 1;
}

static poprt_status check_attrs(const prt_infer *c)
{
    const prt_ms_gather_block_quantized_attrs *a = c->attrs;
    const int32_t dtype = c->in[IN_DATA].dtype;
    const int64_t block = a->block_size;
    if (a->bits != 2 && a->bits != 4 && a->bits != 8)
        return prt_infer_fail(c, POPRT_E_ARG, "bits is %lld; accepted: 2, 4, 8",
            (long long)a->bits);
    if (block == 0 && is_float(dtype))
        return POPRT_OK;
    if (block < 16 || block > INT32_MAX || (block & (block - 1)) != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "block_size is %lld; a power of two from 16 on is needed", (long long)block);
    return POPRT_OK;
}

/* Returns the dims of the data after unpacking. */
static void logical(const prt_infer *c, int64_t *dims)
{
    const prt_shape *x = &c->in[IN_DATA];
    memcpy(dims, x->dims, sizeof(x->dims));
    if (x->rank > 0)
        dims[x->rank - 1] = prt_dim_mul(c->dims, dims[x->rank - 1], packing(c->attrs, x->dtype));
}

static poprt_status check_scales(const prt_infer *c, const int64_t *dims, uint32_t axis)
{
    const prt_ms_gather_block_quantized_attrs *a = c->attrs;
    const prt_shape *s = &c->in[IN_SCALES], *z = &c->in[IN_ZEROS];
    const int32_t rank = c->in[IN_DATA].rank, dtype = c->in[IN_DATA].dtype;
    int64_t merged;
    PRT_TRY(prt_infer_rank(c, IN_SCALES, rank));
    PRT_TRY(prt_infer_rank(c, IN_ZEROS, rank));
    for (int32_t k = 0; k < rank && prt_infer_ranked(c, IN_SCALES); k++) {
        const bool shared = is_float(dtype) && k != (int32_t)axis && s->dims[k] == 1;
        const int64_t want = k != (int32_t)axis ? dims[k]
            : a->block_size == 0                ? 1
                                                : prt_dim_ceildiv(c->dims, dims[k], a->block_size);
        if (!shared)
            PRT_TRY(prt_infer_merge(c, want, s->dims[k], "a dim of the scales", &merged));
        if (!prt_infer_ranked(c, IN_ZEROS))
            continue;
        const int64_t zeros =
            k == rank - 1 ? prt_dim_ceildiv(c->dims, s->dims[k], packing(a, dtype)) : s->dims[k];
        PRT_TRY(prt_infer_merge(c, zeros, z->dims[k], "a dim of the zero points", &merged));
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_gather_block_quantized_attrs *a = c->attrs;
    const prt_shape *x = &c->in[IN_DATA], *index = &c->in[IN_INDICES];
    int64_t dims[PRT_MAX_RANK], out[2 * PRT_MAX_RANK];
    uint32_t axis, gather;
    int32_t rank = 0;
    PRT_TRY(check_attrs(c));
    if (prt_infer_has(c, IN_ZEROS) && is_float(x->dtype))
        return prt_infer_fail(c, POPRT_E_ARG, "float data has no zero points");
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, c->in[IN_SCALES].dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->quantize_axis, x->rank, false, &axis));
    PRT_TRY(prt_infer_axis(c, a->gather_axis, x->rank, false, &gather));
    if (x->dtype == PRT_DTYPE_u8 && (gather != 0 || (a->bits != 8 && axis == gather)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "uint8 data needs gather_axis 0 and, with 2 or 4 bits, another quantize_axis");
    logical(c, dims);
    PRT_TRY(check_scales(c, dims, axis));
    if (index->rank < 0)
        return prt_infer_unranked(c, 0, c->in[IN_SCALES].dtype, PRT_RANK_UNKNOWN);
    for (uint32_t i = 0; i < gather; i++)
        out[rank++] = dims[i];
    for (int32_t i = 0; i < index->rank; i++)
        out[rank++] = index->dims[i];
    for (int32_t i = (int32_t)gather + 1; i < x->rank; i++)
        out[rank++] = dims[i];
    return prt_infer_set(c, 0, c->in[IN_SCALES].dtype, rank, out);
}

typedef struct blocks {
    const prt_tensor *x, *scales, *zeros; /* zeros NULL: the zero point is `middle` */
    uint32_t rank, axis, bits;            /* bits of a packed number; 0 for other types */
    int64_t dims[PRT_MAX_RANK];
    size_t block;
    double middle;
} blocks;

/* Returns number `index` of a row-major tensor with rows of `last` numbers. */
static double number_at(const blocks *b, const prt_tensor *t, size_t index, size_t last)
{
    if (b->bits == 0)
        return prt_load_f64(t->dtype, t->data, index);
    const size_t bytes = (last * b->bits + 7) / 8;
    return (double)prt_packed_load(b->bits, (const uint8_t *)t->data + index / last * bytes,
        index % last);
}

/* Dequantises `count` numbers along the last axis, from coordinates `at` on. Scale and zero point
   are those of each number's block. */
static void load_run(const blocks *b, const int64_t *at, size_t count, double *to)
{
    const prt_tensor *s = b->scales;
    const uint32_t last = b->rank - 1;
    const size_t row = (size_t)b->dims[last], begin = (size_t)at[last];
    size_t index = 0, first = 0, known = SIZE_MAX;
    double scale = 0, zero = b->middle;
    for (uint32_t k = 0; k < last; k++) {
        const size_t place = k == b->axis ? (size_t)at[k] / b->block : (size_t)at[k];
        index = index * (size_t)b->dims[k] + (size_t)at[k];
        first = first * (size_t)s->dims[k] + (s->dims[k] == 1 ? 0 : place);
    }
    for (size_t i = begin; i < begin + count; i++) {
        const size_t block = s->dims[last] == 1 ? 0 : b->axis == last ? i / b->block : i;
        if (block != known) {
            known = block;
            scale = prt_load_f64(s->dtype, s->data, first * (size_t)s->dims[last] + block);
            if (b->zeros != NULL)
                zero = number_at(b, b->zeros, first * (size_t)s->dims[last] + block,
                    (size_t)s->dims[last]);
        }
        *to++ = (number_at(b, b->x, index * row + i, row) - zero) * scale;
    }
}

static void init(const prt_eval *c, blocks *b)
{
    const prt_ms_gather_block_quantized_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_DATA];
    const bool bytes = x->dtype == PRT_DTYPE_u8;
    *b = (blocks){ .x = x,
        .scales = c->in[IN_SCALES],
        .rank = x->rank,
        .zeros = prt_eval_has(c, IN_ZEROS) ? c->in[IN_ZEROS] : NULL,
        .axis = (uint32_t)(a->quantize_axis < 0 ? a->quantize_axis + x->rank : a->quantize_axis),
        .bits = bytes ? (uint32_t)a->bits : 0,
        .block = (size_t)a->block_size,
        .middle = bytes ? (double)(1u << (a->bits - 1)) : 0 };
    memcpy(b->dims, x->dims, sizeof(x->dims));
    b->dims[x->rank - 1] *= packing(a, x->dtype);
    if (b->block == 0)
        b->block = b->dims[b->axis] != 0 ? (size_t)b->dims[b->axis] : 1;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_gather_block_quantized_attrs *a = c->attrs;
    const prt_tensor *index = c->in[IN_INDICES];
    prt_tensor *y = c->out[0];
    blocks b;
    init(c, &b);
    const uint32_t gather =
        (uint32_t)(a->gather_axis < 0 ? a->gather_axis + b.rank : a->gather_axis);
    const uint32_t last = b.rank - 1;
    const size_t n = prt_tensor_count(index), total = prt_tensor_count(y);
    const size_t run = gather != last ? (size_t)b.dims[last] : 1;
    double *values = prt_eval_scratch(c, run + 1, sizeof(double));
    if (values == NULL)
        return POPRT_E_NOMEM;
    const size_t inner = gather != last ? prt_dims_product(b.dims, gather + 1, last) : 1;
    for (size_t i = 0; i * run < total; i++) {
        int64_t at[PRT_MAX_RANK] = { 0 };
        const size_t pick = i / inner % n;
        int64_t place = prt_load_i64(index->dtype, index->data, pick);
        if (place < 0)
            place += b.dims[gather];
        if (gather != last)
            prt_unravel(i % inner, last - gather - 1, b.dims + gather + 1, at + gather + 1);
        prt_unravel(i / inner / n, gather, b.dims, at);
        at[gather] = place;
        if (place >= 0 && place < b.dims[gather])
            load_run(&b, at, run, values);
        else
            memset(values, 0, run * sizeof(double));
        prt_reals_store(y->dtype, y->data, i * run, 1, run, values);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gather_block_quantized = { .infer = infer, .eval = eval };
