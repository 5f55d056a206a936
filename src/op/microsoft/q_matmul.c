/* SPDX-License-Identifier: MIT */
/*
 * q_matmul.c — quantised matrix products: MatMulIntegerToFloat, DynamicQuantizeMatMul,
 * MatMulInteger16 and QGemm. Sums are exact; scales are applied to the sums.
 */
#include "op/check.h"
#include "op/share/quant_params.h"
#include "op/share/delegate.h"
#include "op/share/product.h"
#include "op/share/quant.h"

/* ---- products with a float result ---- */

typedef struct sink {
    prt_tensor *y;
    size_t first;
    double a_scale;
    prt_quant_params b_scale, b_zero;
    const double *bias; /* one number for each column; NULL: absent */
} sink;

/* Input indices. */
typedef struct slots {
    uint32_t b_scale, b_zero, bias;
} slots;

static void store_scaled(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; k < count; k++) {
        sums[k] *= to->a_scale * to->b_scale.values[j + k];
        if (to->bias != NULL)
            sums[k] += to->bias[j + k];
    }
    prt_reals_store(to->y->dtype, to->y->data, to->first + i * p->n + j, 1, count, sums);
}

static poprt_status infer_scaled(prt_infer *c, slots s, int32_t dtype)
{
    prt_shape out;
    PRT_TRY(prt_matmul_infer(c, 0, 1, &out));
    const int32_t rank = c->in[1].rank;
    PRT_TRY(prt_infer_vector(c, s.bias,
        rank == 1      ? 1
            : rank < 0 ? PRT_DIM_UNKNOWN
                       : c->in[1].dims[rank - 1]));
    return prt_infer_exact(c, 0, dtype, out.rank, out.dims);
}

/* Multiplies a, which has one scale and zero point, by input 1. */
static poprt_status eval_scaled(prt_eval *c, const prt_tensor *a, prt_quant q, slots s)
{
    const prt_tensor *b = c->in[1];
    sink to = { .y = c->out[0], .a_scale = q.scale };
    prt_matmul mm;
    prt_matmul_init(&mm, a, b);
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    prt_product p = { .m = mm.m, .n = mm.n, .k = mm.k, .store = store_scaled, .user = &to };
    double *zeros = prt_eval_scratch(c, mm.m, sizeof(double));
    if (zeros == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < mm.m; i++)
        zeros[i] = q.zero;
    PRT_TRY(prt_quant_params_init(c, &to.b_scale, s.b_scale, mm.n, 1));
    PRT_TRY(prt_quant_params_init(c, &to.b_zero, s.b_zero, mm.n, 0));
    if (prt_eval_has(c, s.bias) && (to.bias = prt_eval_reals(c, c->in[s.bias])) == NULL)
        return POPRT_E_NOMEM;
    p.a =
        (prt_operand){ .dtype = a->dtype, .data = a->data, .row = mm.k, .col = 1, .zeros = zeros };
    p.b = (prt_operand){ .dtype = b->dtype,
        .data = b->data,
        .row = mm.n,
        .col = 1,
        .zeros = to.b_zero.values };
    PRT_TRY(prt_product_init(c, &p));
    for (size_t i = 0; i < mm.batches; i++) {
        PRT_TRY(prt_quant_params_load(c, &to.b_scale, i, mm.batches));
        PRT_TRY(prt_quant_params_load(c, &to.b_zero, i, mm.batches));
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * mm.m * mm.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

/* ---- MatMulIntegerToFloat: inputs are A, B, their scales, their zero points, bias ---- */

static const slots TO_FLOAT = { .b_scale = 3, .b_zero = 5, .bias = 6 };

static poprt_status infer_to_float(prt_infer *c)
{
    int64_t unused;
    PRT_TRY(prt_infer_scalar(c, 2, &unused));
    PRT_TRY(prt_infer_scalar(c, 4, &unused));
    return infer_scaled(c, TO_FLOAT, c->in[2].dtype);
}

static poprt_status eval_to_float(prt_eval *c)
{
    const prt_quant q = { prt_quant_number(c, 2, 1), prt_quant_number(c, 4, 0) };
    return eval_scaled(c, c->in[0], q, TO_FLOAT);
}

const prt_op_hooks prt_op_ms_matmul_integer_to_float = { .infer = infer_to_float,
    .eval = eval_to_float };

/* ---- DynamicQuantizeMatMul: inputs are A, B, B's scale and zero point, bias ---- */

static const slots DYNAMIC = { .b_scale = 2, .b_zero = 3, .bias = 4 };

static poprt_status infer_dynamic(prt_infer *c)
{
    return infer_scaled(c, DYNAMIC, PRT_DTYPE_f32);
}

static poprt_status eval_dynamic(prt_eval *c)
{
    prt_tensor a;
    prt_quant q;
    PRT_TRY(prt_quant_dynamic(c, c->in[0], &a, &q));
    return eval_scaled(c, &a, q, DYNAMIC);
}

const prt_op_hooks prt_op_ms_dynamic_quantize_matmul = { .infer = infer_dynamic,
    .eval = eval_dynamic };

/* ---- MatMulInteger16 ---- */

static poprt_status infer_16(prt_infer *c)
{
    const bool is_unsigned = c->in[0].dtype == PRT_DTYPE_u16 && c->in[1].dtype == PRT_DTYPE_u16;
    prt_shape out;
    PRT_TRY(prt_matmul_infer(c, 0, 1, &out));
    return prt_infer_exact(c, 0, is_unsigned ? PRT_DTYPE_u32 : PRT_DTYPE_i32, out.rank, out.dims);
}

/* Sums wrap modulo 2^32. */
static poprt_status eval_16(prt_eval *c)
{
    const prt_tensor *a = c->in[0], *b = c->in[1];
    prt_tensor *y = c->out[0];
    prt_matmul mm;
    prt_matmul_init(&mm, a, b);
    if (prt_tensor_count(y) == 0)
        return POPRT_OK;
    prt_product p = { .m = mm.m, .n = mm.n, .k = mm.k };
    p.a = (prt_operand){ .dtype = a->dtype, .data = a->data, .row = mm.k, .col = 1 };
    p.b = (prt_operand){ .dtype = b->dtype, .data = b->data, .row = mm.n, .col = 1 };
    uint64_t *sums = prt_eval_scratch(c, mm.m, mm.n * sizeof(uint64_t));
    if (sums == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < mm.batches; i++) {
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        PRT_TRY(prt_product_words(c, &p, sums));
        for (size_t k = 0; k < mm.m * mm.n; k++)
            prt_store_u64(y->dtype, y->data, i * mm.m * mm.n + k, sums[k]);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_matmul_integer16 = { .infer = infer_16, .eval = eval_16 };

/* ---- QGemm: inputs are A and B with scales and zero points, C in units of scale_A * scale_B,
   scale and zero point of Y ---- */

enum { G_A, G_A_SCALE, G_A_ZERO, G_B, G_B_SCALE, G_B_ZERO, G_C, G_Y_SCALE, G_Y_ZERO };

static poprt_status infer_gemm(prt_infer *c)
{
    const prt_ms_qgemm_attrs *a = c->attrs;
    const prt_gemm_attrs attrs = { .alpha = 1,
        .beta = 1,
        .transA = a->transA,
        .transB = a->transB };
    const bool quantised = prt_infer_has(c, G_Y_ZERO);
    const prt_shape in[3] = { c->in[G_A], c->in[G_B],
        prt_infer_has(c, G_C) ? c->in[G_C] : (prt_shape){ .kind = PRT_VALUE_ABSENT } };
    prt_shape y;
    int64_t unused;
    PRT_TRY(prt_quant_check(c, G_A_SCALE));
    if (quantised != prt_infer_has(c, G_Y_SCALE))
        return prt_infer_fail(c, POPRT_E_ARG, "y_scale and y_zero_point must be given together");
    for (uint32_t i = G_Y_SCALE; i <= G_Y_ZERO; i++)
        PRT_TRY(prt_infer_scalar(c, i, &unused));
    PRT_TRY(prt_delegate_infer(c, PRT_OP_gemm, &attrs, 3, in, NULL, 1, &y));
    return prt_infer_set(c, 0, quantised ? c->in[G_Y_ZERO].dtype : PRT_DTYPE_f32, y.rank, y.dims);
}

typedef struct gemm {
    prt_tensor *y;
    double scale; /* alpha times A's scale */
    prt_quant_params b_scale, b_zero;
    const prt_tensor *c;
    size_t c_row, c_col;
    bool quantised;
    prt_quant to;
} gemm;

static void store_gemm(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const gemm *g = p->user;
    for (size_t k = 0; k < count; k++) {
        const size_t at = i * p->n + j + k;
        double sum = sums[k];
        if (g->c != NULL)
            sum += (double)prt_load_i64(g->c->dtype, g->c->data, i * g->c_row + (j + k) * g->c_col);
        sum *= g->scale * g->b_scale.values[j + k];
        if (g->quantised)
            prt_quant_store(g->y->dtype, g->y->data, at, sum / g->to.scale, g->to.zero);
        else
            prt_store_f64(g->y->dtype, g->y->data, at, sum);
    }
}

static void place_c(const prt_eval *c, gemm *g)
{
    if (!prt_eval_has(c, G_C))
        return;
    g->c = c->in[G_C];
    const uint32_t rank = g->c->rank;
    const int64_t cols = rank > 0 ? g->c->dims[rank - 1] : 1;
    g->c_col = cols != 1;
    g->c_row = rank > 1 && g->c->dims[0] != 1 ? (size_t)cols : 0;
}

static poprt_status eval_gemm(prt_eval *c)
{
    const prt_ms_qgemm_attrs *a = c->attrs;
    const prt_tensor *x = c->in[G_A], *w = c->in[G_B];
    const prt_quant q = prt_quant_of(c, G_A_SCALE);
    gemm g = { .y = c->out[0],
        .scale = (double)a->alpha * q.scale,
        .quantised = prt_eval_has(c, G_Y_ZERO),
        .to = prt_quant_of(c, G_Y_SCALE) };
    const size_t m = (size_t)g.y->dims[0], n = (size_t)g.y->dims[1];
    const size_t k = (size_t)x->dims[a->transA == 0];
    prt_product p = { .m = m, .n = n, .k = k, .store = store_gemm, .user = &g };
    double *zeros = prt_eval_scratch(c, m, sizeof(double));
    if (zeros == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < m; i++)
        zeros[i] = q.zero;
    place_c(c, &g);
    PRT_TRY(prt_quant_params_init(c, &g.b_scale, G_B_SCALE, n, 1));
    PRT_TRY(prt_quant_params_init(c, &g.b_zero, G_B_ZERO, n, 0));
    PRT_TRY(prt_quant_params_load(c, &g.b_scale, 0, 1));
    PRT_TRY(prt_quant_params_load(c, &g.b_zero, 0, 1));
    p.a = (prt_operand){ .dtype = x->dtype,
        .data = x->data,
        .row = a->transA != 0 ? 1 : k,
        .col = a->transA != 0 ? m : 1,
        .zeros = zeros };
    p.b = (prt_operand){ .dtype = w->dtype,
        .data = w->data,
        .row = a->transB != 0 ? 1 : n,
        .col = a->transB != 0 ? k : 1,
        .zeros = g.b_zero.values };
    PRT_TRY(prt_product_init(c, &p));
    return prt_product_run(c, &p);
}

const prt_op_hooks prt_op_ms_qgemm = { .infer = infer_gemm, .eval = eval_gemm };
