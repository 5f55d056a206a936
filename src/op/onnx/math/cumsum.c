/* SPDX-License-Identifier: MIT */
/* cumsum.c — CumSum: running sums along an axis; floats are summed in double, integers wrap. */
#include "op/share/shape_values.h"

static poprt_status infer(prt_infer *c)
{
    int64_t axis;
    uint32_t unused;
    if (prt_infer_ranked(c, 0) && prt_infer_number(c, 1, &axis))
        PRT_TRY(prt_infer_axis(c, axis, c->in[0].rank, false, &unused));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

enum { WIDE = 64 }; /* number of adjacent lines summed together */

/* `wide` adjacent lines of `n` elements each; the first starts at `first`. Elements of a line
 * are `step` apart, which may be negative. */
typedef struct lines {
    int64_t first, step, n;
    size_t wide;
    bool exclusive;
} lines;

#define SUM_LINES(type, sum_type)                                                                  \
    {                                                                                              \
        sum_type sum[WIDE] = { 0 };                                                                \
        int64_t at = l->first;                                                                     \
        for (int64_t k = 0; k < l->n; k++, at += l->step) {                                        \
            const type *from = (const type *)x->data + at;                                         \
            type *to = (type *)y->data + at;                                                       \
            for (size_t i = 0; i < l->wide; i++) {                                                 \
                const sum_type before = sum[i];                                                    \
                sum[i] += (sum_type)from[i];                                                       \
                to[i] = (type)(l->exclusive ? before : sum[i]);                                    \
            }                                                                                      \
        }                                                                                          \
        return;                                                                                    \
    }

static void sum_lines(const prt_tensor *x, prt_tensor *y, const lines *l)
{
    if (x->dtype == PRT_DTYPE_f32)
        SUM_LINES(float, double)
    if (x->dtype == PRT_DTYPE_i64)
        SUM_LINES(uint64_t, uint64_t)
    const bool floats = prt_dtype_is_float(x->dtype);
    for (size_t i = 0; i < l->wide; i++) {
        double f = 0;
        uint64_t u = 0;
        for (int64_t k = 0; k < l->n; k++) {
            const size_t at = (size_t)(l->first + k * l->step) + i;
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
    PRT_TRY(prt_shape_axis(c, given, x->rank, &axis));
    const int64_t outer = (int64_t)prt_dims_product(x->dims, 0, axis);
    const int64_t inner = (int64_t)prt_dims_product(x->dims, axis + 1, x->rank);
    const int64_t n = x->dims[axis];
    for (int64_t o = 0; n != 0 && o < outer; o++)
        for (int64_t i = 0; i < inner; i += WIDE) {
            const int64_t first = o * n * inner + i, left = inner - i;
            lines l = { first, inner, n, left < WIDE ? (size_t)left : WIDE, a->exclusive != 0 };
            if (a->reverse != 0) {
                l.first += (n - 1) * inner;
                l.step = -inner;
            }
            sum_lines(x, c->out[0], &l);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_cumsum = { .infer = infer, .eval = eval };
