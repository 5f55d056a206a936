/* SPDX-License-Identifier: MIT */
/*
 * fp8_product.c — FP8MatMul and FP8Conv: products of 8-bit floats, summed in double, multiplied by
 * 2^(sum of both scales) and rounded once to float16; overflow gives infinity. If the left operand
 * is float16, the right operand is rounded to float16 first.
 */
#include <math.h>

#include "op/check.h"
#include "op/share/conv_core.h"
#include "op/graphcore/fp8.h"
#include "op/share/product.h"

/* Operands as tensors of 8-bit floats or doubles, and the factor of the sums. */
typedef struct operands {
    prt_tensor left, right;
    double factor;
} operands;

static poprt_status check(prt_infer *c, prt_str left, prt_str right)
{
    const prt_str formats[2] = { left, right };
    for (uint32_t i = 0; i < 2; i++) {
        int64_t scale;
        if (prt_fp8_format(formats[i]) == PRT_DTYPE_undefined)
            return prt_infer_fail(c, POPRT_E_ARG, "fp8Format%s is \"%.*s\"; accepted: F143, F152",
                i == 0 ? "LHS" : "RHS", PRT_STR_ARG(formats[i]));
        PRT_TRY(prt_infer_scalar(c, 2 + i, &scale));
    }
    return POPRT_OK;
}

static poprt_status scale_of(const prt_eval *c, uint32_t i, double *factor)
{
    const int64_t s = prt_load_i64(c->in[i]->dtype, c->in[i]->data, 0);
    if (s < PRT_FP8_SCALE_MIN || s > PRT_FP8_SCALE_MAX)
        return prt_eval_fail(c, POPRT_E_ARG, "scale %lld of operand %u is outside [%d, %d]",
            (long long)s, i - 2, PRT_FP8_SCALE_MIN, PRT_FP8_SCALE_MAX);
    *factor = ldexp(1.0, (int)s);
    return POPRT_OK;
}

/* Rounds the right operand, times the factor, to float16 values in doubles. */
static poprt_status round_right(prt_eval *c, prt_tensor *t, double factor)
{
    double *reals = prt_eval_reals(c, t);
    const size_t n = prt_tensor_count(t);
    if (reals == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        prt_store_f64(PRT_DTYPE_f16, &half, 0, reals[i] * factor);
        reals[i] = prt_load_f64(PRT_DTYPE_f16, &half, 0);
    }
    t->dtype = PRT_DTYPE_f64;
    t->data = reals;
    t->size = n * sizeof(double);
    return POPRT_OK;
}

static poprt_status load_operands(prt_eval *c, prt_str left, prt_str right, operands *o)
{
    double factors[2];
    *o = (operands){ .left = *c->in[0], .right = *c->in[1] };
    PRT_TRY(scale_of(c, 2, &factors[0]));
    PRT_TRY(scale_of(c, 3, &factors[1]));
    o->right.dtype = prt_fp8_format(right);
    if (o->left.dtype == PRT_DTYPE_f16) {
        o->factor = 1.0;
        return round_right(c, &o->right, factors[1]);
    }
    o->left.dtype = prt_fp8_format(left);
    o->factor = factors[0] * factors[1];
    return POPRT_OK;
}

/* ---- FP8MatMul ---- */

static poprt_status infer_matmul(prt_infer *c)
{
    const prt_gc_fp8_matmul_attrs *a = c->attrs;
    prt_shape out;
    PRT_TRY(check(c, a->fp8FormatLHS, a->fp8FormatRHS));
    PRT_TRY(prt_matmul_infer(c, 0, 1, &out));
    return prt_infer_exact(c, 0, PRT_DTYPE_f16, out.rank, out.dims);
}

typedef struct sink {
    prt_tensor *y;
    size_t first;
    double factor;
} sink;

static void store_matmul(const prt_product *p, size_t i, size_t j, size_t count, double *sums)
{
    const sink *to = p->user;
    for (size_t k = 0; k < count; k++)
        sums[k] *= to->factor;
    prt_reals_store(to->y->dtype, to->y->data, to->first + i * p->n + j, 1, count, sums);
}

static poprt_status eval_matmul(prt_eval *c)
{
    const prt_gc_fp8_matmul_attrs *a = c->attrs;
    operands o;
    prt_matmul mm;
    if (prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    PRT_TRY(load_operands(c, a->fp8FormatLHS, a->fp8FormatRHS, &o));
    prt_matmul_init(&mm, &o.left, &o.right);
    if (o.right.rank <= 2) { /* one right-hand matrix: the batch becomes more rows */
        mm.m *= mm.batches;
        mm.batches = 1;
    }
    sink to = { .y = c->out[0], .factor = o.factor };
    prt_product p = { .m = mm.m, .n = mm.n, .k = mm.k, .store = store_matmul, .user = &to };
    p.a = (prt_operand){ .dtype = o.left.dtype, .data = o.left.data, .row = mm.k, .col = 1 };
    p.b = (prt_operand){ .dtype = o.right.dtype, .data = o.right.data, .row = mm.n, .col = 1 };
    PRT_TRY(prt_product_init(c, &p));
    for (size_t i = 0; i < mm.batches; i++) {
        prt_matmul_at(&mm, i, &p.a.first, &p.b.first);
        to.first = i * p.m * p.n;
        PRT_TRY(prt_product_run(c, &p));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_fp8_matmul = { .infer = infer_matmul, .eval = eval_matmul };

/* ---- FP8Conv ---- */

static const prt_conv_slots SLOTS = { 0, 1, UINT32_MAX };

static poprt_status infer_conv(prt_infer *c)
{
    const prt_gc_fp8_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    PRT_TRY(check(c, a->fp8FormatLHS, a->fp8FormatRHS));
    return prt_conv_infer(c, SLOTS, &spec, a->group, PRT_DTYPE_f16);
}

static void store_conv(const prt_conv *v, size_t n, size_t filter, size_t first, size_t count,
    double *sums)
{
    const double *factor = v->user;
    for (size_t j = 0; j < count; j++)
        sums[j] *= *factor;
    prt_conv_store(v, n, filter, first, count, sums);
}

static poprt_status run_conv(prt_eval *c, const operands *o)
{
    const prt_gc_fp8_conv_attrs *a = c->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_conv v;
    PRT_TRY(prt_conv_init(c, &v, SLOTS, &spec, a->group, NULL));
    v.store = store_conv;
    v.user = &o->factor;
    return prt_conv_run(c, &v);
}

/* prt_conv_run reads its operands from the inputs of the call: they are replaced for its
   duration. */
static poprt_status eval_conv(prt_eval *c)
{
    const prt_gc_fp8_conv_attrs *a = c->attrs;
    operands o;
    PRT_TRY(load_operands(c, a->fp8FormatLHS, a->fp8FormatRHS, &o));
    const prt_tensor *const in[2] = { &o.left, &o.right };
    const prt_tensor *const *const given = c->in;
    const uint32_t n_in = c->n_in;
    c->in = in;
    c->n_in = 2;
    const poprt_status status = run_conv(c, &o);
    c->in = given;
    c->n_in = n_in;
    return status;
}

const prt_op_hooks prt_op_gc_fp8_conv = { .infer = infer_conv, .eval = eval_conv };
