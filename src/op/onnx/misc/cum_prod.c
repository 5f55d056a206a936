/* SPDX-License-Identifier: MIT */
/* cum_prod.c — CumProd: running products along an axis, optionally in reverse or exclusive. */
#include "op/check.h"
#include "op/internal/gradient.h"
#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    int64_t axis;
    uint32_t at;
    PRT_TRY(prt_infer_scalar(c, 1, &axis));
    if (prt_infer_ranked(c, 0) && prt_dim_is_number(axis))
        PRT_TRY(prt_infer_axis(c, axis, c->in[0].rank, false, &at));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

/* Computes one line of `n` elements from `at` on, `step` apart. Integers wrap. */
static void product_line(const prt_tensor *x, prt_tensor *y, size_t at, size_t step, size_t n,
    const prt_cum_prod_attrs *a)
{
    const bool integer = prt_dtype_is_integer(x->dtype);
    uint64_t whole = 1;
    double real = 1;
    for (size_t k = 0; k < n; k++) {
        const size_t i = at + (a->reverse != 0 ? n - 1 - k : k) * step;
        const uint64_t w = integer ? (uint64_t)prt_load_i64(x->dtype, x->data, i) : 0;
        const double r = integer ? 0 : prt_load_f64(x->dtype, x->data, i);
        if (a->exclusive == 0) {
            whole *= w;
            real *= r;
        }
        if (integer)
            prt_store_u64(y->dtype, y->data, i, whole);
        else
            prt_store_f64(y->dtype, y->data, i, real);
        if (a->exclusive != 0) {
            whole *= w;
            real *= r;
        }
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t axis = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    if (!prt_eval_wants(c, 0) || prt_tensor_count(x) == 0)
        return POPRT_OK;
    if (axis < -(int64_t)x->rank || axis >= (int64_t)x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside the rank %u", (long long)axis,
            x->rank);
    axis += axis < 0 ? (int64_t)x->rank : 0;
    const size_t outer = prt_dims_product(x->dims, 0, (uint32_t)axis), n = (size_t)x->dims[axis];
    const size_t inner = prt_dims_product(x->dims, (uint32_t)axis + 1, x->rank);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++)
            product_line(x, c->out[0], o * n * inner + i, inner, n, c->attrs);
    return POPRT_OK;
}

const prt_op_hooks prt_op_cum_prod = { .infer = infer, .eval = eval };

/* ---- CumProdGrad */

static poprt_status infer_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_cum_prod_grad_attrs *a = c->attrs;
    prt_cum_prod_attrs forward = PRT_ATTRS_OF(cum_prod);
    forward.reverse = a->reverse;
    forward.exclusive = a->exclusive;
    const prt_gradient g = { PRT_OP_cum_prod, &forward, 2, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

/*
 * The gradient of one line without division. In the order of the products, with P_k the product of
 * x_0 to x_(k-1), the gradient of x_k is P_k s_k. Here s_k = dy_k + x_(k+1) s_(k+1), or, if the
 * products are exclusive, dy_(k+1) + x_(k+1) s_(k+1).
 */
static void grad_line(const prt_eval *c, size_t at, size_t step, size_t n, double *product)
{
    const prt_cum_prod_grad_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *dy = c->in[2];
    double before = 1.0, s = 0.0;
    for (size_t k = 0; k < n; k++) {
        product[k] = before;
        before *= prt_real_at(x, at + (a->reverse != 0 ? n - 1 - k : k) * step);
    }
    for (size_t k = n; k-- > 0;) {
        const size_t i = at + (a->reverse != 0 ? n - 1 - k : k) * step;
        const double d = prt_real_at(dy, i), factor = prt_real_at(x, i);
        if (a->exclusive == 0)
            s += d;
        const double dx = product[k] * s;
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &dx);
        s = a->exclusive == 0 ? s * factor : s * factor + d;
    }
}

static poprt_status eval_grad(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t axis = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    if (axis < -(int64_t)x->rank || axis >= (int64_t)x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside the rank %u", (long long)axis,
            x->rank);
    axis += axis < 0 ? (int64_t)x->rank : 0;
    const size_t outer = prt_dims_product(x->dims, 0, (uint32_t)axis), n = (size_t)x->dims[axis];
    const size_t inner = prt_dims_product(x->dims, (uint32_t)axis + 1, x->rank);
    double *product = prt_eval_scratch(c, n, sizeof(double));
    if (product == NULL)
        return POPRT_E_NOMEM;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++)
            grad_line(c, o * n * inner + i, inner, n, product);
    return POPRT_OK;
}

const prt_op_hooks prt_op_cum_prod_grad = { .infer = infer_grad, .eval = eval_grad };
