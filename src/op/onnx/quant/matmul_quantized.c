/* SPDX-License-Identifier: MIT */
/*
 * matmul_quantized.c — MatMulInteger and QLinearMatMul. Zero points and scales are one number for
 * all, one per row of A or column of B, or one per row or column of each matrix of the batch.
 */
#include "op/share/quant_params.h"
#include "op/share/product.h"
#include "op/share/quant.h"

typedef struct sink {
    prt_tensor *y;
    size_t first;
    prt_quant_params a_zero, b_zero, a_scale, b_scale, y_scale, y_zero;
} sink;

static void init_product(const prt_eval *c, uint32_t a, uint32_t b, const prt_matmul *mm, sink *to,
    prt_product *p)
{
    *p = (prt_product){ .m = mm->m, .n = mm->n, .k = mm->k, .user = to };
    p->a =
        (prt_operand){ .dtype = c->in[a]->dtype, .data = c->in[a]->data, .row = mm->k, .col = 1 };
    p->b =
        (prt_operand){ .dtype = c->in[b]->dtype, .data = c->in[b]->data, .row = mm->n, .col = 1 };
}

/* ---- MatMulInteger ---- */

static poprt_status infer_integer(prt_infer *c)
{
    prt_shape out;
    PRT_TRY(prt_matmul_infer(c, 0, 1, &out));
    return prt_infer_exact(c, 0, PRT_DTYPE_i32, out.rank, out.dims);
}

static void store_integer(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; k < count; k++)
        prt_store_i64(PRT_DTYPE_i32, to->y->data, to->first + i * p->n + j + k, (int64_t)sums[k]);
}

static poprt_status eval_integer(prt_eval *c)
{
    sink to = { .y = c->out[0] };
    prt_matmul mm;
    prt_product p;
    prt_matmul_init(&mm, c->in[0], c->in[1]);
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    init_product(c, 0, 1, &mm, &to, &p);
    p.store = store_integer;
    PRT_TRY(prt_product_init(c, &p));
    PRT_TRY(prt_quant_params_init(c, &to.a_zero, 2, mm.m, 0.0));
    PRT_TRY(prt_quant_params_init(c, &to.b_zero, 3, mm.n, 0.0));
    p.a.zeros = to.a_zero.values;
    p.b.zeros = to.b_zero.values;
    for (size_t i = 0; i < mm.batches; i++) {
        PRT_TRY(prt_quant_params_load(c, &to.a_zero, i, mm.batches));
        PRT_TRY(prt_quant_params_load(c, &to.b_zero, i, mm.batches));
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * mm.m * mm.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_matmul_integer = { .infer = infer_integer, .eval = eval_integer };

/* ---- QLinearMatMul ---- */

static poprt_status infer_qlinear(prt_infer *c)
{
    prt_shape out;
    PRT_TRY(prt_matmul_infer(c, 0, 3, &out));
    return prt_infer_exact(c, 0, c->in[7].dtype, out.rank, out.dims);
}

static void store_qlinear(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    const bool integer = prt_dtype_is_integer(to->y->dtype);
    for (size_t k = 0; k < count; k++) {
        const double scale =
            to->a_scale.values[i] * to->b_scale.values[j + k] / to->y_scale.values[i];
        const double value = sums[k] * scale, zero = to->y_zero.values[i];
        const size_t at = to->first + i * p->n + j + k;
        if (integer)
            prt_quant_store(to->y->dtype, to->y->data, at, value, zero);
        else
            prt_store_f64(to->y->dtype, to->y->data, at, value + zero);
    }
}

static poprt_status init_all(prt_eval *c, const prt_matmul *mm, sink *to)
{
    PRT_TRY(prt_quant_params_init(c, &to->a_scale, 1, mm->m, 1.0));
    PRT_TRY(prt_quant_params_init(c, &to->a_zero, 2, mm->m, 0.0));
    PRT_TRY(prt_quant_params_init(c, &to->b_scale, 4, mm->n, 1.0));
    PRT_TRY(prt_quant_params_init(c, &to->b_zero, 5, mm->n, 0.0));
    PRT_TRY(prt_quant_params_init(c, &to->y_scale, 6, mm->m, 1.0));
    return prt_quant_params_init(c, &to->y_zero, 7, mm->m, 0.0);
}

static poprt_status eval_qlinear(prt_eval *c)
{
    sink to = { .y = c->out[0] };
    prt_matmul mm;
    prt_product p;
    prt_matmul_init(&mm, c->in[0], c->in[3]);
    if (prt_tensor_count(to.y) == 0)
        return POPRT_OK;
    init_product(c, 0, 3, &mm, &to, &p);
    p.store = store_qlinear;
    PRT_TRY(prt_product_init(c, &p));
    PRT_TRY(init_all(c, &mm, &to));
    p.a.zeros = to.a_zero.values;
    p.b.zeros = to.b_zero.values;
    for (size_t i = 0; i < mm.batches; i++) {
        prt_quant_params *all[] = { &to.a_zero, &to.b_zero, &to.a_scale, &to.b_scale, &to.y_scale,
            &to.y_zero };
        for (size_t k = 0; k < PRT_COUNT_OF(all); k++)
            PRT_TRY(prt_quant_params_load(c, all[k], i, mm.batches));
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * mm.m * mm.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_qlinear_matmul = { .infer = infer_qlinear, .eval = eval_qlinear };
