/* SPDX-License-Identifier: MIT */
/*
 * fused_linear.c — fused_linear: a product with one matrix on the right, which may be packed and
 * stored in a low-precision type, then scale, bias, residual and activation in double.
 */
#include <math.h>

#include "kern/int8/dot.h"
#include "num/float.h"
#include "op/internal/fused.h"
#include "op/share/delegate.h"
#include "op/share/low_precision.h"
#include "op/share/product.h"

int prt_low_precision_of(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_f16:
        return PRT_LOW_PRECISION_f16;
    case PRT_DTYPE_bf16:
        return PRT_LOW_PRECISION_bf16;
    case PRT_DTYPE_f8e4m3fnuz:
        return PRT_LOW_PRECISION_e4m3;
    case PRT_DTYPE_f8e5m2fnuz:
        return PRT_LOW_PRECISION_e5m2;
    case PRT_DTYPE_i8:
        return PRT_LOW_PRECISION_i8;
    case PRT_DTYPE_i4:
        return PRT_LOW_PRECISION_i4;
    default:
        return PRT_LOW_PRECISION_COUNT;
    }
}

/* Finds the number of columns of B, and its depth K. A packed B is a vector of K rows of all its
   panels. Rows come in groups, of which the last may be partial: K is then the depth of A. */
static poprt_status infer_right(prt_infer *c, int64_t columns, bool transposed, int64_t *n,
    int64_t *k)
{
    const int32_t dtype = c->in[1].dtype;
    if (columns == 0) {
        if (dtype != PRT_DTYPE_f32 && dtype != PRT_DTYPE_undefined)
            return prt_infer_fail(c, POPRT_E_TYPE,
                "B is %s and not packed; only float32 may be unpacked", prt_dtype_of(dtype)->name);
        PRT_TRY(prt_infer_rank(c, 1, 2));
        *n = prt_infer_dim(c, 1, !transposed);
        *k = prt_infer_dim(c, 1, transposed);
        return POPRT_OK;
    }
    if (columns < 0 || columns > INT32_MAX || transposed)
        return prt_infer_fail(c, POPRT_E_ARG,
            "columns is %lld; a packed B needs at least 1, and transB 0", (long long)columns);
    PRT_TRY(prt_infer_rank(c, 1, 1));
    const int64_t group = (int64_t)prt_low_precision_group(prt_low_precision_of(dtype));
    const int64_t width = (int64_t)prt_gemm_width((size_t)columns);
    const int64_t size = prt_infer_dim(c, 1, 0);
    *n = columns;
    *k = prt_dim_is_number(size) ? size / width : PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(size) && size % (width * group) != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements are not panels of %lld columns",
            (long long)size, (long long)columns);
    const int64_t depth = prt_infer_ranked(c, 0) && c->in[0].rank > 0
        ? c->in[0].dims[c->in[0].rank - 1]
        : PRT_DIM_UNKNOWN;
    if (group > 1 && !prt_dim_is_number(depth))
        *k = PRT_DIM_UNKNOWN;
    else if (group > 1 && *k > depth && *k - depth < group)
        *k = depth;
    return POPRT_OK;
}

/* Checks that input i has one element for each block of K and each column of the panels. */
static poprt_status infer_blocks(prt_infer *c, uint32_t i, int64_t block, int64_t n, int64_t k)
{
    if (!prt_infer_has(c, i))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, 1));
    const int64_t size = prt_infer_dim(c, i, 0), width = (int64_t)prt_gemm_width((size_t)n);
    size_t want;
    if (prt_dim_is_number(size) && prt_dim_is_number(k) &&
        (!prt_size_mul(prt_low_precision_blocks((size_t)block, (size_t)k), (size_t)width, &want) ||
            want != (size_t)size))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "input %u has %lld elements; one is needed for "
            "each block of %lld of %lld rows and each of %lld columns",
            i, (long long)size, (long long)block, (long long)k, (long long)width);
    return POPRT_OK;
}

static poprt_status infer_scales(prt_infer *c, int64_t block, int64_t n, int64_t k)
{
    const int32_t dtype = c->in[1].dtype;
    if (block == 0 ? prt_infer_has(c, 5) : !prt_infer_has(c, 4))
        return prt_infer_fail(c, POPRT_E_ARG, "%s",
            block == 0 ? "offset needs blocks" : "blocks need a scale");
    if (block == 0)
        return prt_infer_vector(c, 4, n);
    if (block < 0 || block > INT32_MAX || block % PRT_LOW_PRECISION_I4_ROWS != 0)
        return prt_infer_fail(c, POPRT_E_ARG, "block is %lld; a multiple of %d is needed",
            (long long)block, PRT_LOW_PRECISION_I4_ROWS);
    if (dtype != PRT_DTYPE_i4 && dtype != PRT_DTYPE_i8 && dtype != PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_TYPE, "block is for a B of i4 or i8, not %s",
            prt_dtype_of(dtype)->name);
    PRT_TRY(infer_blocks(c, 4, block, n, k));
    return infer_blocks(c, 5, block, n, k);
}

static poprt_status infer(prt_infer *c)
{
    const prt_fused_linear_attrs *a = c->attrs;
    int64_t n = PRT_DIM_UNKNOWN, k = PRT_DIM_UNKNOWN, inner;
    if (a->compute == PRT_LINEAR_i8 &&
        (a->columns == 0 || a->block < 1 || a->block > PRT_DOT_DEPTH ||
            (c->in[1].dtype != PRT_DTYPE_i4 && c->in[1].dtype != PRT_DTYPE_undefined)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "compute 'i8' needs a packed B of i4 in blocks of at most %d", PRT_DOT_DEPTH);
    PRT_TRY(infer_right(c, a->columns, a->transB != 0, &n, &k));
    PRT_TRY(prt_infer_vector(c, 2, n));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, c->in[0].dtype, PRT_RANK_UNKNOWN);
    prt_shape y = c->in[0];
    if (y.rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "A has rank 0; at least 1 is needed");
    PRT_TRY(prt_infer_merge(c, y.dims[y.rank - 1], k, "inner dim", &inner));
    PRT_TRY(infer_scales(c, a->block, n, inner));
    y.dims[y.rank - 1] = n;
    PRT_TRY(prt_fused_check_residual(c, 3, &y));
    return prt_infer_exact(c, 0, y.dtype, y.rank, y.dims);
}

static const prt_tensor *input(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}

/* Returns the value of an element of B. For byte 0x80 of FP8 see kern/gemm/low_precision.h. */
static float element(const prt_tensor *b, size_t at)
{
    const uint8_t *bytes = b->data;
    if ((b->dtype == PRT_DTYPE_f8e4m3fnuz || b->dtype == PRT_DTYPE_f8e5m2fnuz) && bytes[at] == 0x80)
        return 0.0f;
    return (float)prt_load_f64(b->dtype, b->data, at);
}

/* A packed B. */
typedef struct panels {
    const prt_tensor *b, *scale, *offset; /* scale and offset: by block; NULL: absent */
    size_t k, n, block;
} panels;

static void column(const void *user, size_t j, double *to, size_t step)
{
    const panels *p = user;
    const int kind = prt_low_precision_of(p->b->dtype);
    const size_t first = j / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    const size_t width = prt_gemm_panel_width(p->n, first);
    for (size_t i = 0; i < p->k; i++) {
        const size_t at = p->block != 0
            ? first * prt_low_precision_blocks(p->block, p->k) + i / p->block * width + j - first
            : 0;
        double x = (double)element(p->b,
            first * prt_low_precision_rows(kind, p->k) +
                prt_low_precision_at(kind, width, i, j - first));
        if (p->scale != NULL)
            x *= prt_real_at(p->scale, at);
        if (p->offset != NULL)
            x += prt_real_at(p->offset, at);
        to[i * step] = x;
    }
}

static void store(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    float *y = (float *)p->user + i * p->n + j;
    for (size_t k = 0; k < count; k++)
        y[k] = (float)sums[k];
}

static poprt_status eval_packed(prt_eval *c, const prt_tensor *x, size_t n, size_t block)
{
    const panels b = { .b = c->in[1],
        .k = (size_t)x->dims[1],
        .n = n,
        .block = block,
        .scale = block != 0 ? input(c, 4) : NULL,
        .offset = input(c, 5) };
    prt_product p = { .m = (size_t)x->dims[0],
        .n = n,
        .k = b.k,
        .store = store,
        .user = c->out[0]->data,
        .a = { .dtype = x->dtype, .data = x->data, .row = b.k, .col = 1 },
        .b = { .dtype = PRT_DTYPE_f64, .column = column, .user = &b } };
    PRT_TRY(prt_product_init(c, &p));
    return prt_product_run(c, &p);
}

/* Rounds n floats to values that int8 with one scale can represent; all are NaN if one is not
   finite. */
static void round_block(size_t n, const float *from, float *to)
{
    float most = 0.0f;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        most = fabsf(from[i]) > most ? fabsf(from[i]) : most;
        finite = finite && isfinite(from[i]);
    }
    const float scale = !finite ? NAN : most == 0.0f ? 1.0f : most / 127.0f;
    for (size_t i = 0; i < n; i++)
        to[i] = nearbyintf(from[i] / scale) * scale;
}

/* Rounds the elements of A to bfloat16, or to int8 by blocks. */
static poprt_status round_left(prt_eval *c, const prt_fused_linear_attrs *attrs, prt_tensor *a)
{
    prt_tensor to;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f32, a->rank, a->dims, &to));
    const float *from = a->data;
    float *data = to.data;
    const size_t k = (size_t)a->dims[1], block = (size_t)attrs->block;
    for (size_t i = 0; i < prt_tensor_count(a); i++)
        if (attrs->compute != PRT_LINEAR_i8)
            data[i] = prt_bf16_to_f32(prt_f32_to_bf16(from[i]));
        else if (i % k % block == 0)
            round_block(k - i % k < block ? k - i % k : block, from + i, data + i);
    *a = to;
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_fused_linear_attrs *a = c->attrs;
    const prt_gemm_attrs gemm = { .alpha = 1.0f, .beta = 1.0f, .transB = a->transB };
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor x = *c->in[0], y = *c->out[0];
    const int64_t k = x.dims[x.rank - 1], n = y.dims[y.rank - 1];
    x.dims[0] = y.dims[0] = (int64_t)prt_dims_product(x.dims, 0, x.rank - 1);
    x.dims[1] = k;
    y.dims[1] = n;
    x.rank = y.rank = 2;
    if (a->compute != PRT_LINEAR_float)
        PRT_TRY(round_left(c, a, &x));
    const prt_tensor *in[2] = { &x, c->in[1] };
    prt_tensor *out[1] = { &y };
    if (a->columns != 0)
        PRT_TRY(eval_packed(c, &x, (size_t)n, (size_t)a->block));
    else
        PRT_TRY(prt_delegate_eval(c, PRT_OP_gemm, &gemm, 2, in, 1, out));
    prt_fused_finish_scaled(c, a->block == 0 ? input(c, 4) : NULL, input(c, 2), input(c, 3), &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_fused_linear = { .infer = infer, .eval = eval };
