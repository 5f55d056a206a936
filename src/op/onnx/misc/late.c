/* SPDX-License-Identifier: MIT */
/* late.c — CumProd, BitCast and SwiGLU, small operators of opsets 26 to 28. */
#include <math.h>

#include "op/check.h"
#include "op/op.h"

/* ---- CumProd: running products, perhaps backward, perhaps without the element itself ---- */

static poprt_status cum_prod_infer(prt_infer *c)
{
    int64_t axis;
    uint32_t at;
    PRT_TRY(prt_infer_scalar(c, 1, &axis));
    if (prt_infer_ranked(c, 0) && prt_dim_is_number(axis))
        PRT_TRY(prt_infer_axis(c, axis, c->in[0].rank, false, &at));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

/* Line of `n` elements from `at` by `step`. Integers wrap. */
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

static poprt_status cum_prod_eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t axis = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    if (!prt_eval_wants(c, 0) || prt_tensor_count(x) == 0)
        return POPRT_OK;
    if (axis < -(int64_t)x->rank || axis >= (int64_t)x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld of rank %u", (long long)axis, x->rank);
    axis += axis < 0 ? (int64_t)x->rank : 0;
    const size_t outer = prt_dims_product(x->dims, 0, (uint32_t)axis), n = (size_t)x->dims[axis];
    const size_t inner = prt_dims_product(x->dims, (uint32_t)axis + 1, x->rank);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++)
            product_line(x, c->out[0], o * n * inner + i, inner, n, c->attrs);
    return POPRT_OK;
}

/* ---- BitCast: the same bits as another type of the same width ---- */

static poprt_status bit_cast_infer(prt_infer *c)
{
    const prt_bit_cast_attrs *a = c->attrs;
    const int32_t from = c->in[0].dtype;
    PRT_TRY(prt_infer_dtype_attr(c, "to", c->def->types[1].set, a->to));
    const int32_t to = (int32_t)a->to;
    if (from != PRT_DTYPE_undefined && prt_dtype_bits(from) != prt_dtype_bits(to))
        return prt_infer_fail(c, POPRT_E_TYPE, "%s and %s are not equally wide",
            prt_dtype_of(from)->name, prt_dtype_of(to)->name);
    return prt_infer_like(c, 0, 0, to);
}

static poprt_status bit_cast_eval(prt_eval *c)
{
    if (prt_eval_wants(c, 0) && c->in[0]->size != 0)
        memcpy(c->out[0]->data, c->in[0]->data, c->in[0]->size);
    return POPRT_OK;
}

/* ---- SwiGLU: a * sigmoid(alpha * a) * b ---- */

static poprt_status swi_glu_infer(prt_infer *c)
{
    prt_shape s = c->in[0];
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1)) {
        if (c->in[1].rank != s.rank)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the inputs have ranks %d and %d", s.rank,
                c->in[1].rank);
        for (int32_t k = 0; k < s.rank; k++)
            PRT_TRY(prt_infer_merge(c, s.dims[k], c->in[1].dims[k], "a dim", &s.dims[k]));
    } else if (prt_infer_ranked(c, 1)) {
        s = c->in[1];
    }
    return prt_infer_set(c, 0, s.dtype, s.rank, s.dims);
}

static poprt_status swi_glu_eval(prt_eval *c)
{
    const double alpha = (double)((const prt_swi_glu_attrs *)c->attrs)->alpha;
    const prt_tensor *x = c->in[0], *y = c->in[1];
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(x); i++) {
        const double a = prt_load_f64(x->dtype, x->data, i);
        prt_store_f64(x->dtype, c->out[0]->data, i,
            a / (1 + exp(-alpha * a)) * prt_load_f64(y->dtype, y->data, i));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_cum_prod = { .infer = cum_prod_infer, .eval = cum_prod_eval };
const prt_op_hooks prt_op_bit_cast = { .infer = bit_cast_infer, .eval = bit_cast_eval };
const prt_op_hooks prt_op_swi_glu = { .infer = swi_glu_infer, .eval = swi_glu_eval };
