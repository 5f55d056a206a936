/* SPDX-License-Identifier: MIT */
/*
 * quantized_linear.c — quantized_linear: a product of int8 or uint8 rows with packed int8 weights,
 * result in float32. Rows of float32 are quantised to uint8 first.
 */
#include <math.h>

#include "op/check.h"
#include "op/internal/fused.h"
#include "op/share/delegate.h"
#include "op/internal/nhwc.h"
#include "op/share/product.h"
#include "op/share/quant.h"

static prt_nhwc_weights layout_of(size_t k, size_t n)
{
    return (prt_nhwc_weights){ .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = k,
        .filters = n,
        .taps = 1 };
}

/* Checks that input i is one number or has one number for each column. */
static poprt_status infer_scale(prt_infer *c, uint32_t i, int64_t n)
{
    if (!prt_infer_ranked(c, i) || c->in[i].rank == 0)
        return POPRT_OK;
    return c->in[i].rank == 1 && c->in[i].dims[0] == 1 ? POPRT_OK : prt_infer_vector(c, i, n);
}

static poprt_status infer_packed(prt_infer *c, int64_t k, int64_t n)
{
    const int64_t size = prt_infer_dim(c, 2, 0);
    size_t want;
    if (!prt_dim_is_number(k) || !prt_dim_is_number(size))
        return POPRT_OK;
    const prt_nhwc_weights layout = layout_of((size_t)k, (size_t)n);
    if (k < 0 || !prt_nhwc_qconv_size(&layout, &want) || want != (size_t)size)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements are not panels of %lld columns",
            (long long)size, (long long)n);
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_quantized_linear_attrs *a = c->attrs;
    int64_t zero;
    if (a->columns < 1 || a->columns > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "columns is %lld; at least 1 is needed",
            (long long)a->columns);
    if (prt_infer_has(c, 1) == (c->in[0].dtype == PRT_DTYPE_f32))
        return prt_infer_fail(c, POPRT_E_ARG,
            "A_zero_point goes with integers A; a float32 A has none");
    if (prt_infer_has(c, 1))
        PRT_TRY(prt_infer_scalar(c, 1, &zero));
    PRT_TRY(prt_infer_rank(c, 2, 1));
    PRT_TRY(prt_infer_vector(c, 3, a->columns));
    PRT_TRY(infer_scale(c, 4, a->columns));
    PRT_TRY(prt_infer_vector(c, 5, a->columns));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_f32, PRT_RANK_UNKNOWN);
    prt_shape y = c->in[0];
    if (y.rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "A has rank 0; at least 1 is needed");
    PRT_TRY(infer_packed(c, y.dims[y.rank - 1], a->columns));
    y.dims[y.rank - 1] = a->columns;
    PRT_TRY(prt_fused_check_residual(c, 6, &y));
    return prt_infer_exact(c, 0, PRT_DTYPE_f32, y.rank, y.dims);
}

typedef struct packed_b {
    prt_nhwc_weights layout;
    const int8_t *bytes;
    const float *row_scale; /* factor of each row; NULL: absent */
    float *y;
} packed_b;

static void column(const void *user, size_t j, double *to, size_t step)
{
    const packed_b *b = user;
    for (size_t i = 0; i < b->layout.channels; i++)
        to[i * step] = (double)b->bytes[prt_nhwc_qconv_at(&b->layout, 0, j, i, 0)];
}

static void store(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const packed_b *b = p->user;
    float *y = b->y + i * p->n + j;
    for (size_t k = 0; k < count; k++) {
        y[k] = (float)(int32_t)(uint32_t)(int64_t)sums[k];
        if (b->row_scale != NULL)
            y[k] *= b->row_scale[i];
    }
}

/* Quantises the rows of A to uint8, each with its own scale and zero point. */
static poprt_status quantize_rows(prt_eval *c, const prt_product *p, const prt_tensor *x,
    uint8_t **bytes, float **row_scale, double *zeros)
{
    *bytes = prt_eval_scratch(c, p->m, p->k);
    *row_scale = prt_eval_scratch(c, p->m, sizeof(float));
    if (*bytes == NULL || *row_scale == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < p->m; i++) {
        const float *row = (const float *)x->data + i * p->k;
        uint8_t zero;
        prt_quant_dynamic_run(p->k, row, *bytes + i * p->k, *row_scale + i, &zero);
        for (size_t k = 0; k < p->k; k++)
            if (!isfinite(row[k]))
                (*row_scale)[i] = NAN;
        zeros[i] = (double)zero;
    }
    return POPRT_OK;
}

static const prt_tensor *input(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}

static poprt_status eval(prt_eval *c)
{
    const prt_quantized_linear_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (!prt_eval_wants(c, 0) || prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    prt_product p = { .m = prt_dims_product(x->dims, 0, x->rank - 1),
        .k = (size_t)x->dims[x->rank - 1],
        .n = (size_t)a->columns,
        .store = store };
    packed_b b = { .layout = layout_of(p.k, p.n), .bytes = c->in[2]->data, .y = c->out[0]->data };
    double *zeros = prt_eval_scratch(c, p.m, sizeof(double));
    if (zeros == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < p.m; i++)
        zeros[i] = prt_quant_number(c, 1, 0);
    p.user = &b;
    p.a = (prt_operand){ .dtype = x->dtype, .data = x->data, .row = p.k, .col = 1, .zeros = zeros };
    if (x->dtype == PRT_DTYPE_f32) {
        uint8_t *bytes;
        float *row_scale;
        PRT_TRY(quantize_rows(c, &p, x, &bytes, &row_scale, zeros));
        p.a.dtype = PRT_DTYPE_u8;
        p.a.data = bytes;
        b.row_scale = row_scale;
    }
    p.b = (prt_operand){ .dtype = PRT_DTYPE_i8, .column = column, .user = &b };
    PRT_TRY(prt_product_init(c, &p));
    PRT_TRY(prt_product_run(c, &p));
    prt_fused_finish_scaled(c, c->in[4], input(c, 5), input(c, 6), &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_quantized_linear = { .infer = infer, .eval = eval };
