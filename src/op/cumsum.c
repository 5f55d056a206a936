/* SPDX-License-Identifier: MIT */
/* cumsum.c — CumSum: running sums along an axis, floats in doubles, integers wrapping. */
#include "op/move.h"

static poprt_status infer(prt_infer *c)
{
    int64_t axis;
    uint32_t unused;
    if (prt_infer_ranked(c, 0) && prt_infer_number(c, 1, &axis))
        PRT_TRY(prt_infer_axis(c, axis, c->in[0].rank, false, &unused));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

/* Where a line of elements is: `n` from `first` on, `step` (which may be negative) apart. */
typedef struct line {
    int64_t first, step, n;
    bool exclusive;
} line;

#define SUM_LINE(type, sum_type)                                                                   \
    {                                                                                              \
        const type *from = x->data;                                                                \
        type *to = y->data;                                                                        \
        sum_type sum = 0;                                                                          \
        for (int64_t i = 0, at = l->first; i < l->n; i++, at += l->step) {                         \
            const sum_type before = sum;                                                           \
            sum += (sum_type)from[at];                                                             \
            to[at] = (type)(l->exclusive ? before : sum);                                          \
        }                                                                                          \
        return;                                                                                    \
    }

static void sum_line(const prt_tensor *x, prt_tensor *y, const line *l)
{
    double f = 0;
    uint64_t u = 0;
    if (x->dtype == PRT_DTYPE_f32)
        SUM_LINE(float, double)
    if (x->dtype == PRT_DTYPE_i64)
        SUM_LINE(uint64_t, uint64_t)
    const bool floats = prt_dtype_is_float(x->dtype);
    for (int64_t i = 0; i < l->n; i++) {
        const size_t at = (size_t)(l->first + i * l->step);
        const double f_before = f;
        const uint64_t u_before = u;
        if (floats) {
            f += prt_load_f64(x->dtype, x->data, at);
            prt_store_f64(y->dtype, y->data, at, l->exclusive ? f_before : f);
        } else {
            u += prt_load_u64(x->dtype, x->data, at);
            prt_store_u64(y->dtype, y->data, at, l->exclusive ? u_before : u);
        }
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_cumsum_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t given;
    uint32_t axis, count;
    PRT_TRY(prt_eval_ints(c, 1, &given, 1, &count));
    if (count != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis must be one number");
    PRT_TRY(prt_move_axis(c, given, x->rank, &axis));
    const int64_t outer = (int64_t)prt_dims_product(x->dims, 0, axis);
    const int64_t inner = (int64_t)prt_dims_product(x->dims, axis + 1, x->rank);
    const int64_t n = x->dims[axis];
    for (int64_t o = 0; n != 0 && o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const int64_t first = o * n * inner + i;
            line l = { first, inner, n, a->exclusive != 0 };
            if (a->reverse != 0)
                l = (line){ first + (n - 1) * inner, -inner, n, l.exclusive };
            sum_line(x, c->out[0], &l);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_cumsum = { .infer = infer, .eval = eval };
