/* SPDX-License-Identifier: MIT */
/*
 * reduce.c — float32 reductions and related operators, expressed by reductions that have kernels.
 *
 *     ReduceL1            ReduceSum of Abs
 *     ReduceLogSumExp Log(ReduceSum(Exp(x - m))) + m, m: ReduceMax of x, clipped to finite numbers
 *     LpPool              AveragePool of squares or of Abs, times the window size; Sqrt for p = 2
 *     Hardmax             Equal of positions and ArgMax
 */
#include <float.h>

#include "pass/expand/expand.h"

#define UNARY(id, x) prt_build_unary(b, PRT_OP_##id, x)
#define BINARY(id, x, y) prt_build_binary(b, PRT_OP_##id, x, y)

enum { MOST = 1 << 20 }; /* longest axis of Hardmax, in elements */

static prt_value *reduced(prt_build *b, uint32_t id, const void *attrs, prt_value *x,
    prt_value *axes)
{
    prt_value *in[2] = { x, axes };
    return prt_build_op(b, id, attrs, axes != NULL ? 2 : 1, in);
}

bool prt_expand_l1(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return prt_match_is_f32(x) &&
        prt_match_replace(b, root,
            reduced(b, PRT_OP_reduce_sum, root->attrs, UNARY(abs, x), prt_op_input(root, 1)));
}

bool prt_expand_log_sum_exp(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_reduce_log_sum_exp_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0), *axes = prt_op_input(root, 1);
    prt_reduce_max_attrs most = PRT_ATTRS_OF(reduce_max);
    uint32_t set;
    (void)p;
    if (!prt_match_is_f32(x) || !prt_match_reduce_axes(root, &set) || set == 0)
        return false;
    most.noop_with_empty_axes = a->noop_with_empty_axes;
    prt_value *clip[3] = { reduced(b, PRT_OP_reduce_max, &most, x, axes),
        prt_build_scalar(b, PRT_DTYPE_f32, -(double)FLT_MAX),
        prt_build_scalar(b, PRT_DTYPE_f32, (double)FLT_MAX) };
    prt_value *m = prt_build_op(b, PRT_OP_clip, NULL, 3, clip);
    prt_value *sum = reduced(b, PRT_OP_reduce_sum, a, UNARY(exp, BINARY(sub, x, m)), axes);
    if (a->keepdims == 0)
        m = reduced(b, PRT_OP_squeeze, NULL, m, axes);
    return prt_match_replace(b, root, BINARY(add, UNARY(log, sum), m));
}

bool prt_expand_lp_pool(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_lp_pool_attrs *a = root->attrs;
    prt_average_pool_attrs attrs = PRT_ATTRS_OF(average_pool);
    prt_value *x = prt_op_input(root, 0);
    double window = 1.0;
    (void)p;
    if (!prt_match_is_f32(x) || a->ceil_mode != 0 || (a->p != 1 && a->p != 2))
        return false;
    for (uint32_t i = 0; i < a->kernel_shape.count; i++)
        window *= (double)a->kernel_shape.data[i];
    PRT_ATTR_SET(attrs, average_pool, kernel_shape, a->kernel_shape);
    PRT_ATTR_SET(attrs, average_pool, strides, a->strides);
    PRT_ATTR_SET(attrs, average_pool, dilations, a->dilations);
    PRT_ATTR_SET(attrs, average_pool, pads, a->pads);
    PRT_ATTR_SET(attrs, average_pool, auto_pad, a->auto_pad);
    PRT_ATTR_SET(attrs, average_pool, count_include_pad, 1);
    x = a->p == 2 ? BINARY(mul, x, x) : UNARY(abs, x);
    x = prt_build_op(b, PRT_OP_average_pool, &attrs, 1, &x);
    x = BINARY(mul, x, prt_build_scalar(b, PRT_DTYPE_f32, window));
    return prt_match_replace(b, root, a->p == 2 ? UNARY(sqrt, x) : x);
}

bool prt_expand_hardmax(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_type *x = prt_match_ranked(prt_op_input(root, 0));
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax);
    int64_t dims[PRT_MAX_RANK] = { 0 };
    uint32_t axis;
    if (x == NULL || x->dtype != PRT_DTYPE_f32 ||
        !prt_match_axis(((const prt_hardmax_attrs *)root->attrs)->axis, x->rank, &axis))
        return false;
    const int64_t n = x->dims[axis];
    if (!prt_dim_is_number(n) || n < 1 || n > MOST)
        return false;
    float *places = PRT_NEW_N(p->arena, float, (size_t)n);
    if (places == NULL || !prt_pass_reserve(p, (size_t)n * sizeof(float)))
        return false;
    for (int64_t i = 0; i < n; i++)
        places[i] = (float)i;
    for (uint32_t i = 0; i < PRT_MAX_RANK; i++)
        dims[i] = i == 0 ? n : 1;
    PRT_ATTR_SET(attrs, argmax, axis, axis);
    prt_value *in = prt_op_input(root, 0);
    prt_value *best =
        prt_match_add_cast(b, prt_build_op(b, PRT_OP_argmax, &attrs, 1, &in), PRT_DTYPE_f32);
    prt_value *all = prt_build_tensor(b, PRT_DTYPE_f32, (uint32_t)x->rank - axis, dims, places);
    return prt_match_replace(b, root,
        prt_match_add_cast(b, BINARY(equal, all, best), PRT_DTYPE_f32));
}
